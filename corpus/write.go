package corpus

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/internal/toolname"
)

// WriteFolder writes the tools of a corpus that are not built in, and its intents,
// as a corpus folder: corpus.yaml, in tools a card file for each source, and for
// what servers listed a file of their answer, byte for byte, and in intents one
// file. The schemas of cards keep their bytes too. The folder must not exist; it
// is there in full or not at all. The notes tell what cards cannot say, one
// sentence each.
func (c *Corpus) WriteFolder(out string) (notes []string, err error) {
	if err := refuseExisting(out); err != nil {
		return nil, err
	}
	files, notes, err := c.cardFiles()
	if err != nil {
		return nil, err
	}
	again, err := createFolder(out, files)
	if err != nil {
		return nil, err
	}
	if n := c.differing(again); n > 0 {
		notes = append(notes, fmt.Sprintf("tools that lose fields which a card does not have, or the order of name, description and parameters: %d", n))
	}
	return notes, nil
}

// refused words why a folder cannot be created.
func refused(out string, err error) error {
	return fmt.Errorf("cannot create the folder %s: %w\nhint: name a new folder, in one that you may write to", out, textfile.Cause(err))
}

// refuseExisting refuses a folder that is there already.
func refuseExisting(out string) error {
	_, err := os.Lstat(out)
	switch {
	case err == nil:
		return refused(out, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return refused(out, err)
	}
	return nil
}

// createFolder writes the files of a corpus folder under a temporary name, reads
// the corpus back, and gives the folder its name. It leaves the folder in full or
// not at all.
func createFolder(out string, files []cardFile) (c *Corpus, err error) {
	out = filepath.Clean(out)
	temp := filepath.Join(filepath.Dir(out), atomicfile.Prefix+rand.Text())
	if err := os.Mkdir(temp, 0o777); err != nil {
		return nil, refused(out, err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(temp)
		}
	}()
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(temp, f.name)), 0o777); err != nil {
			return nil, refused(out, err)
		}
		if err := writeFile(filepath.Join(temp, f.name), f.data); err != nil {
			return nil, err
		}
	}
	if c, err = loadFolder(out, os.DirFS(temp), Embedded); err != nil {
		return nil, err
	}
	if err := os.Rename(temp, out); err != nil {
		return nil, refused(out, err)
	}
	return c, nil
}

// cardFile is a file of a corpus folder.
type cardFile struct {
	name string // within the folder
	data []byte
}

// cardFiles lays the tools out as files.
func (c *Corpus) cardFiles() (files []cardFile, notes []string, err error) {
	manifest := fmt.Sprintf("schema_version: %d\nname: %s\n", SchemaVersion, rawjson.String(c.Name))
	files = append(files, cardFile{manifestFile, []byte(manifest)})
	base, err := Embedded()
	if err != nil {
		return nil, nil, err
	}
	builtin, names := 0, make(fileNames)
	for i := 0; i < len(c.Tools); {
		first := c.Tools[i]
		if first.Builtin {
			if own, ok := base.Tool(first.ID); !ok || own != first {
				builtin++
			}
			i++
			continue
		}
		end := i + 1
		for end < len(c.Tools) && c.Tools[end].Toolset == first.Toolset { // tools are in the order of toolsets
			end++
		}
		var cards []*Tool
		answer := Listed{Server: first.Server}
		for _, t := range c.Tools[i:end] {
			if t.listed {
				answer.Tools = append(answer.Tools, t.Raw)
			} else {
				cards = append(cards, t)
			}
		}
		if len(answer.Tools) > 0 {
			files = append(files, cardFile{names.of(first.Toolset), answer.cardFile()})
		}
		if len(cards) > 0 {
			data, err := cardsOf(cards)
			if err != nil {
				return nil, nil, err
			}
			files = append(files, cardFile{names.of(first.Toolset), data})
		}
		i = end
	}
	if builtin > 0 {
		notes = append(notes, fmt.Sprintf("tools left out because they bear the names of built-in tools, which every corpus has: %d", builtin))
	}
	if len(files) == 1 {
		return nil, nil, fmt.Errorf("corpus %s: no tools but built-in ones\nhint: a corpus without tools of its own is the embedded one", c.Name)
	}
	if len(c.Intents) > 0 {
		files = append(files, cardFile{intentsFile, c.intentLines()})
	}
	return files, notes, nil
}

// intentsFile is the file that intents are written to, within the folder.
const intentsFile = intentsFolder + "/intents.jsonl"

// intentLines writes the intents, one a line.
func (c *Corpus) intentLines() []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, in := range c.Intents {
		if in.Gold == nil {
			in = &Intent{in.ID, in.Utterance, in.Language, in.Class, []Gold{}}
		}
		_ = e.Encode(in) // texts, into memory
	}
	return out.Bytes()
}

// fileNames are the names of card files taken, in lower case: some disks do not
// tell the cases apart.
type fileNames map[string]bool

// of names the card file of a toolset, within the folder.
func (taken fileNames) of(toolset string) string {
	name := fileName(toolset)
	for taken[strings.ToLower(name)] {
		name += "_" + toolname.Hash(toolset)
	}
	taken[strings.ToLower(name)] = true
	return toolsFolder + "/" + name + ".json"
}

// fileName makes a file's name of a toolset's.
func fileName(toolset string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, toolset)
	if clean == toolset && len(clean) <= toolname.Max {
		return clean
	}
	return toolname.WithHash(clean, toolset)
}

// cardsOf writes the tools of one source as a card file.
func cardsOf(tools []*Tool) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"schema_version\": %d,\n", SchemaVersion)
	if server := tools[0].Server; server != "" {
		fmt.Fprintf(&out, "  \"server\": %s,\n", rawjson.String(server))
	}
	out.WriteString("  \"tools\": [")
	for i, t := range tools {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		card, err := t.card()
		if err != nil {
			return nil, err
		}
		out.Write(card)
	}
	out.WriteString("\n  ]\n}\n")
	return out.Bytes(), nil
}

// card writes a tool as a tool card, the schema as it stands in Raw.
func (t *Tool) card() ([]byte, error) {
	schema, err := t.rawSchema()
	if err != nil {
		return nil, err
	}
	var fields []rawjson.Field
	put := func(key string, value json.RawMessage, given bool) {
		if given {
			fields = append(fields, rawjson.Field{Key: key, Value: value})
		}
	}
	list := func(value any) json.RawMessage {
		text, _ := json.Marshal(value) // lists of text, and of structs of text
		return text
	}
	put("name", rawjson.String(t.Name), true)
	put("toolset", rawjson.String(t.Toolset), t.Server == "")
	put("description", rawjson.String(t.Definition.Description), true)
	put("parameters", schema, schema != nil)
	put("requires_env", list(t.RequiresEnv), len(t.RequiresEnv) > 0)
	put("check", rawjson.String(t.Check), t.Check != "")
	put("max_result_size_chars", json.RawMessage(strconv.Itoa(t.MaxResultSize)), t.MaxResultSize != 0)
	put("async", json.RawMessage("true"), t.Async)
	put("read_only", json.RawMessage("true"), t.ReadOnly)
	put("mentions", list(t.Mentions), len(t.Mentions) > 0)
	return rawjson.AppendObject(nil, fields), nil
}

func writeFile(path string, data []byte) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// differing counts the tools, built-in ones aside, that a model sees otherwise in
// another corpus.
func (c *Corpus) differing(other *Corpus) int {
	n := 0
	for _, t := range c.Tools {
		if t.Builtin {
			continue
		}
		if read, ok := other.Tool(t.ID); !ok || read.Definition.JSON != t.Definition.JSON || !slices.Equal(read.RequiresEnv, t.RequiresEnv) {
			n++
		}
	}
	return n
}
