package search_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// vector is what these tests read of one case of the golden vectors.
type vector struct {
	ID    string
	Tools []struct {
		Name, Description, Toolset string
		Parameters                 json.RawMessage
	}
	Want struct {
		Config struct {
			DefaultLimit int `json:"search_default_limit"`
		}
		Deferrable []string
		Search     []struct {
			Request struct {
				Query, Queries string
				Limit          json.RawMessage
			}
			Error   bool
			Matches []string
			Scores  map[string]float64 `json:"bm25"`

			// Of september's vectors alone.
			Tokens     []string
			Gate       string
			Answerable []string
			Required   int `json:"required_terms"`
		}
		Tokenize []struct {
			In  string
			Out []string
		}
	}
}

func readVectors(t *testing.T, name string) (vectors []vector) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "golden", name)
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
			docs = append(docs, search.Doc{
				Name: tool.Name, Description: tool.Description, Parameters: parameterNames(t, tool.Parameters),
				Source: strings.TrimPrefix(tool.Toolset, "mcp-"),
			})
		}
	}
	return docs
}

// TestGoldenSearches compares every rank, every score and what is not found. A request's limit is the bridge's to clamp, so
// the vector's number of matches stands for it here, and all positive scores are compared beside.
func TestGoldenSearches(t *testing.T) {
	searches, sameBits, scores := 0, 0, 0
	for _, v := range readVectors(t, "bridge-july.jsonl") {
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

// TestGoldenGatedSearches compares every rank of bm25-gated, every score, of tools turned away too, and what decided.
func TestGoldenGatedSearches(t *testing.T) {
	searches, scores, sameBits, exact, rejected := 0, 0, 0, 0, 0
	for _, v := range readVectors(t, "bridge-september.jsonl") {
		docs := v.catalog(t)
		x := indexBy(t, "bm25-gated", docs)
		for _, want := range v.Want.Search {
			query := strings.TrimSpace(want.Request.Queries)
			searches++
			e := x.Explain(query, len(docs))
			matches, got := []string{}, map[string]float64{}
			for _, judged := range e.Hits {
				matches = append(matches, docs[judged.Doc].Name)
				if judged.Reason == search.FoundByExactName {
					exact++
				}
			}
			for _, judged := range slices.Concat(e.Hits, e.Rejected) {
				if judged.TermScore == 0 {
					continue
				}
				name := docs[judged.Doc].Name
				got[name] = judged.TermScore
				scores++
				if judged.TermScore == want.Scores[name] {
					sameBits++
				}
			}
			rejected += len(e.Rejected)
			limit := len(want.Matches) // of odd limits, the bridge's to clamp
			if len(want.Request.Limit) == 0 {
				limit = v.Want.Config.DefaultLimit
			} else if limit == 0 {
				limit = 1
			}
			if diff := cmp.Diff(want.Matches, matches[:min(limit, len(matches))]); diff != "" {
				t.Errorf("%s, query %q: ranks (-want +got):\n%s", v.ID, query, diff)
			}
			if diff := cmp.Diff(want.Scores, got, near(1e-9)); diff != "" {
				t.Errorf("%s, query %q: scores (-want +got):\n%s", v.ID, query, diff)
			}
			if len(want.Tokens) > 0 {
				checkDecision(t, v.ID+", query "+strconv.Quote(query), e, want.Tokens, want.Answerable, want.Gate, want.Required)
			} else if len(e.Tokens) > 0 {
				t.Errorf("%s, query %q: tokens %v, want none", v.ID, query, e.Tokens)
			}
		}
	}
	if searches == 0 || scores == 0 || exact == 0 || rejected == 0 {
		t.Errorf("%d searches, %d scores, %d exact names, %d rejected tools: the vectors should have all", searches, scores, exact, rejected)
	}
	t.Logf("%d searches, %d scores, of which %d to the last bit, %d exact names, %d rejected tools", searches, scores, sameBits, exact, rejected)
}

func checkDecision(t *testing.T, what string, e *search.Explanation, wantTokens, wantAnswerable []string, wantGate string, wantRequired int) {
	t.Helper()
	var tokens []string
	for _, token := range e.Tokens {
		tokens = append(tokens, token.Text)
	}
	if diff := cmp.Diff(wantTokens, tokens); diff != "" {
		t.Errorf("%s: tokens (-want +got):\n%s", what, diff)
		return
	}
	if diff := cmp.Diff(wantAnswerable, append([]string{}, e.Answerable...)); diff != "" {
		t.Errorf("%s: answerable tokens (-want +got):\n%s", what, diff)
	}
	if got := e.Tokens[e.Gate].Text; got != wantGate {
		t.Errorf("%s: gate %q, want %q", what, got, wantGate)
	}
	if e.Required != wantRequired {
		t.Errorf("%s: %d tokens required, want %d", what, e.Required, wantRequired)
	}
}

func TestGoldenTokens(t *testing.T) {
	for _, v := range readVectors(t, "bridge-july.jsonl") {
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
