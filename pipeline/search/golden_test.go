package search_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// vector is what these tests read of one case of the golden vectors.
type vector struct {
	ID    string
	Tools []struct {
		Name, Description string
		Parameters        json.RawMessage
	}
	Want struct {
		Deferrable []string
		Search     []struct {
			Request struct{ Query string }
			Error   bool
			Matches []string
			Scores  map[string]float64 `json:"bm25"`
		}
		Tokenize []struct {
			In  string
			Out []string
		}
	}
}

func readVectors(t *testing.T) (vectors []vector) {
	path := filepath.Join("..", "..", "..", "shared", "golden", "bridge-july.jsonl")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the golden vectors are not beside the repository")
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s, case %d: %v", path, len(vectors)+1, err)
		}
		vectors = append(vectors, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// parameterNames lists the keys of a schema's properties in the order in which they stand.
func parameterNames(t *testing.T, schema json.RawMessage) (names []string) {
	t.Helper()
	var object struct{ Properties json.RawMessage }
	if len(schema) == 0 {
		return nil
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(object.Properties))
	if brace, err := decoder.Token(); err != nil || brace != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, key.(string))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// catalog is the case's deferrable tools, in the order of its input.
func (v *vector) catalog(t *testing.T) (docs []search.Doc) {
	deferrable := map[string]bool{}
	for _, name := range v.Want.Deferrable {
		deferrable[name] = true
	}
	for _, tool := range v.Tools {
		if deferrable[tool.Name] {
			docs = append(docs, search.Doc{Name: tool.Name, Description: tool.Description, Parameters: parameterNames(t, tool.Parameters)})
		}
	}
	return docs
}

// TestGoldenSearches compares every rank, every score and what is not found. A request's limit is the bridge's to clamp, so
// the vector's number of matches stands for it here, and all positive scores are compared beside.
func TestGoldenSearches(t *testing.T) {
	searches, sameBits, scores := 0, 0, 0
	for _, v := range readVectors(t) {
		docs := v.catalog(t)
		x := index(t, docs)
		for _, want := range v.Want.Search {
			if want.Error {
				continue
			}
			searches++
			all := x.Search(nil, want.Request.Query, len(docs))
			if diff := cmp.Diff(want.Matches, names(docs, all[:min(len(want.Matches), len(all))])); diff != "" {
				t.Errorf("%s, query %q: ranks (-want +got):\n%s", v.ID, want.Request.Query, diff)
			}
			if len(want.Scores) == 0 {
				continue
			}
			got := map[string]float64{}
			for _, hit := range all {
				got[docs[hit.Doc].Name] = hit.Score
				scores++
				if hit.Score == want.Scores[docs[hit.Doc].Name] {
					sameBits++
				}
			}
			if diff := cmp.Diff(want.Scores, got, near(1e-9)); diff != "" {
				t.Errorf("%s, query %q: scores (-want +got):\n%s", v.ID, want.Request.Query, diff)
			}
			if diff := cmp.Diff(all[:min(3, len(all))], x.Search(nil, want.Request.Query, 3)); diff != "" {
				t.Errorf("%s, query %q: limit 3 (-want +got):\n%s", v.ID, want.Request.Query, diff)
			}
		}
	}
	if searches == 0 || scores == 0 {
		t.Error("the vectors hold no searches")
	}
	t.Logf("%d searches, %d scores, of which %d to the last bit", searches, scores, sameBits)
}

func TestGoldenTokens(t *testing.T) {
	for _, v := range readVectors(t) {
		for _, row := range v.Want.Tokenize {
			got := search.Tokenize(row.In)
			if len(got) == 0 && len(row.Out) == 0 {
				continue
			}
			if diff := cmp.Diff(row.Out, got); diff != "" {
				t.Errorf("%s, text %q (-want +got):\n%s", v.ID, row.In, diff)
			}
		}
	}
}
