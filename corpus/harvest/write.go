package harvest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolgauge/toolgauge/corpus"
)

// ProvenanceFile is the file of a harvested corpus that says where it comes from.
const ProvenanceFile = "harvest.json"

// record is the content of the provenance file.
type record struct {
	SchemaVersion int            `json:"schema_version"`
	HarvestedAt   string         `json:"harvested_at"` // UTC, RFC 3339; all else is the same in a second harvest
	Servers       []serverRecord `json:"servers"`
}

type serverRecord struct {
	Server    string `json:"server"`
	Transport string `json:"transport"`
	Package   string `json:"package"`
	Name      string `json:"name,omitempty"`
	Version   string `json:"version,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
	Pages     int    `json:"pages"`
	Tools     int    `json:"tools"`
	// File is the card file, SHA256 the digest of its content.
	File    string   `json:"file,omitempty"`
	SHA256  string   `json:"sha256,omitempty"`
	LeftOut []string `json:"left_out,omitempty"`
	Failure string   `json:"failure,omitempty"`
}

// Write writes what servers answered as a corpus folder, which must not exist, and
// returns the corpus. It fails if no server listed a tool.
func Write(out, name string, answers []Answer, at time.Time) (*corpus.Corpus, error) {
	var sources []string
	servers := make([]corpus.Listed, len(answers))
	tools := 0
	for i, a := range answers {
		servers[i] = corpus.Listed{Server: a.Server.Label, Tools: a.Tools}
		tools += len(a.Tools)
		if len(a.Tools) > 0 {
			sources = append(sources, a.source())
		}
	}
	if tools == 0 {
		return nil, fmt.Errorf("none of %d servers listed a tool\nhint: the notes above say why; a longer --timeout gives packages time to load", len(answers))
	}
	return corpus.WriteListed(out, name, sources, servers, func(written []corpus.Listed) (string, []byte, error) {
		r := record{SchemaVersion: corpus.SchemaVersion, HarvestedAt: at.UTC().Format(time.RFC3339)}
		for i, a := range answers {
			r.Servers = append(r.Servers, serverRecord{
				Server: a.Server.Label, Transport: a.Server.Transport(), Package: a.Server.Package(),
				Name: a.Name, Version: a.Version, Protocol: a.Protocol, Pages: a.Pages, Tools: len(a.Tools),
				File: written[i].File, SHA256: written[i].SHA256, LeftOut: a.LeftOut, Failure: a.Failure,
			})
		}
		data, err := json.MarshalIndent(r, "", "  ")
		return ProvenanceFile, append(data, '\n'), err
	})
}

// source words for corpus.yaml where a server's tools come from.
func (a Answer) source() string {
	text := a.Server.Label + ": " + a.Server.Package()
	if a.Name != "" {
		text += fmt.Sprintf(" (%s %s)", a.Name, a.Version)
	}
	return text
}
