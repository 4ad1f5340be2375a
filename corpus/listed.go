package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// Listed is what an MCP server answered to tools/list: all its tools, byte for
// byte.
type Listed struct {
	Server string
	Tools  []json.RawMessage
	// File is the card file that holds the tools, within the corpus folder, and
	// SHA256 the hex digest of its content. WriteListed sets both.
	File, SHA256 string
}

// CheckListed says why a tool that a server listed cannot be in a corpus: it has
// no name, or a description or schema of the wrong type. The error names the
// server.
func CheckListed(server string, tool json.RawMessage) error {
	d := &document{file: server, data: tool}
	if err := textfile.CheckUTF8(server, tool); err != nil {
		return err
	}
	n, err := d.value(0, len(tool))
	if err != nil {
		return err
	}
	return newLoader("").listedTool(n, server)
}

// WriteListed writes what servers listed as a corpus folder: corpus.yaml, and in
// tools a card file for each server that listed any. provenance, given the
// servers with their files and digests, returns a further file of the folder.
// The folder must not exist; it is there in full or not at all. The corpus
// returned is the folder's.
func WriteListed(out, name string, sources []string, servers []Listed, provenance func([]Listed) (file string, data []byte, err error)) (*Corpus, error) {
	if err := refuseExisting(out); err != nil {
		return nil, err
	}
	var manifest bytes.Buffer
	fmt.Fprintf(&manifest, "schema_version: %d\nname: %s\n", SchemaVersion, rawjson.String(name))
	if len(sources) > 0 {
		manifest.WriteString("sources:\n")
		for _, s := range sources {
			fmt.Fprintf(&manifest, "  - %s\n", rawjson.String(s))
		}
	}
	files := []cardFile{{manifestFile, manifest.Bytes()}}
	names := make(fileNames)
	written := append([]Listed(nil), servers...)
	for i := range written {
		s := &written[i]
		if len(s.Tools) == 0 {
			continue
		}
		data := s.cardFile()
		sum := sha256.Sum256(data)
		s.File, s.SHA256 = names.of(serverPrefix+s.Server), hex.EncodeToString(sum[:])
		files = append(files, cardFile{s.File, data})
	}
	file, data, err := provenance(written)
	if err != nil {
		return nil, err
	}
	return createFolder(out, append(files, cardFile{file, data}))
}

// cardFile writes the tools as a card file, each on a line of its own but for the
// line breaks that the server put into it.
func (s Listed) cardFile() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"schema_version\": %d,\n  \"server\": %s,\n  \"listed\": [", SchemaVersion, rawjson.String(s.Server))
	for i, tool := range s.Tools {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(tool)
	}
	out.WriteString("\n  ]\n}\n")
	return out.Bytes()
}

// listed reads a card file of what a server listed: {"server": …, "listed": [tool,
// …]}, the tools as they stood in its answer. As in any answer, fields of the
// server's own are kept and repeats are settled, not refused.
func (l *loader) listed(n node, o *object) error {
	if _, err := readForeign(n); err != nil { // its own keys may not come twice
		return err
	}
	if at, ok := o.fields["tools"]; ok {
		o.fail(at, "keep one of the two", "a card file has tools and listed")
	}
	o.require("server")
	o.version()
	server := o.text("server")
	if o.err == nil && server == "" {
		o.fail(o.fields["server"], "name the MCP server", "server is empty")
	}
	tools := o.list("listed")
	if o.err != nil {
		return o.err
	}
	for _, tool := range tools {
		if err := l.listedTool(tool, server); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) listedTool(n node, server string) error {
	if n.kind() != "object" {
		return n.errorAt(importHint, "a tool is %s, want object", n.kind())
	}
	f, err := readForeign(n)
	if err != nil {
		return err
	}
	return l.importListed(n, f, server)
}
