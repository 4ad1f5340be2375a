package search_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

var update = flag.Bool("update", false, "rewrite the ranking goldens in testdata/rankings")

// rankedQuery is one line of testdata/queries.txt.
type rankedQuery struct {
	target string // "-" for none
	text   string
}

// file is the golden's name: the query's tokens.
func (q rankedQuery) file() string { return strings.Join(search.Tokenize(q.text), "-") + ".txt" }

func readRankedQueries(t *testing.T) (queries []rankedQuery) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		target, text, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("testdata/queries.txt: no target in %q", line)
		}
		queries = append(queries, rankedQuery{target, text})
	}
	return queries
}

func readCatalog(t *testing.T) (docs []search.Doc) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &docs); err != nil {
		t.Fatal(err)
	}
	return docs
}

// rankOf is the target's rank from 1, or 0 if it is not among the hits.
func rankOf(docs []search.Doc, hits []search.Hit, target string) int {
	return 1 + slices.IndexFunc(hits, func(hit search.Hit) bool { return docs[hit.Doc].Name == target })
}

// ranking shows the hits of a query with the target between asterisks, and what each token adds to each.
func ranking(x search.Index, docs []search.Doc, q rankedQuery, hits []search.Hit) string {
	e := x.Explain(q.text, len(docs))
	var text strings.Builder
	fmt.Fprintf(&text, "query:  %s\ntarget: %s\nrank:   %d of %d\n\n", q.text, q.target, rankOf(docs, hits, q.target), len(hits))
	for i, hit := range e.Hits {
		name := docs[hit.Doc].Name
		if name == q.target {
			name = "**" + name + "**"
		}
		score := fmt.Sprintf("%.4f", hit.Score)
		if hit.Score == search.ExactScore {
			score = "exact"
		}
		fmt.Fprintf(&text, "%2d  %s  %s", i+1, score, name)
		separator := "  = "
		for _, part := range hit.Contributions {
			fmt.Fprintf(&text, "%s%s %.4f", separator, part.Token, part.Score)
			separator = " + "
		}
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "\n%s\n", e.Rule())
	return text.String()
}

// TestRankings compares the ranked list of every query, and the figures over all of them, with what was last accepted.
func TestRankings(t *testing.T) {
	for _, name := range []string{"bm25", "bm25-gated"} {
		t.Run(name, func(t *testing.T) { testRankings(t, name) })
	}
}

func testRankings(t *testing.T, name string) {
	docs := readCatalog(t)
	x := indexBy(t, name, docs)
	want := map[string]string{}
	recall1, recall5, reciprocal, targets := 0, 0, 0.0, 0
	for _, q := range readRankedQueries(t) {
		hits := x.Search(nil, q.text, len(docs))
		want[q.file()] = ranking(x, docs, q, hits)
		if q.target == "-" {
			continue
		}
		targets++
		if rank := rankOf(docs, hits, q.target); rank > 0 {
			reciprocal += 1 / float64(rank)
			if rank == 1 {
				recall1++
			}
			if rank <= 5 {
				recall5++
			}
		}
	}
	want["stats.txt"] = fmt.Sprintf("queries with a target: %d\nrecall@1: %d (%.0f %%)\nrecall@5: %d (%.0f %%)\nMRR: %.4f\n", targets,
		recall1, 100*float64(recall1)/float64(targets), recall5, 100*float64(recall5)/float64(targets), reciprocal/float64(targets))
	compareGoldens(t, filepath.Join("testdata", "rankings", name), want)
}

// compareGoldens compares the files of a folder with texts by file name, or rewrites them.
func compareGoldens(t *testing.T, folder string, texts map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if _, ok := texts[entry.Name()]; !ok {
			t.Errorf("%s belongs to no query: delete it", filepath.Join(folder, entry.Name()))
		}
	}
	for name, got := range texts {
		path := filepath.Join(folder, name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v\nhint: run the test with -update, and look at what it wrote", err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\nhint: if this is meant, run the test with -update", path, diff)
		}
	}
}

// TestFourTools has the behaviours that any catalog with these four tools must show, whatever their descriptions say.
func TestFourTools(t *testing.T) {
	docs := readCatalog(t)[:4]
	x := index(t, docs)
	search := func(query string, limit int) []string { return names(docs, x.Search(nil, query, limit)) }
	if got := search("create a github issue", 3); len(got) == 0 || got[0] != "github_create_issue" {
		t.Errorf("%q: %v, want github_create_issue first", "create a github issue", got)
	}
	if got := search("asdf qwerty foobar", 5); len(got) > 0 {
		t.Errorf("%q: %v, want none", "asdf qwerty foobar", got)
	}
	if got := search("calendar", 5); len(got) == 0 || !strings.HasPrefix(got[0], "calendar_") {
		t.Errorf("%q: %v, want a calendar tool first", "calendar", got)
	}
	if got := search("github", 1); len(got) != 1 {
		t.Errorf("%q: %v, want one", "github", got)
	}
}

// TestScopedCatalog searches a catalog of twelve tools of one source: nothing else can come up.
func TestScopedCatalog(t *testing.T) {
	docs := make([]search.Doc, 12)
	for i := range docs {
		docs[i].Name = fmt.Sprintf("mcp_scoped_gh_%d", i)
	}
	x := index(t, docs)
	if got, want := names(docs, x.Search(nil, "mcp_scoped_gh", 5)), names(docs, []search.Hit{{Doc: 0}, {Doc: 1}, {Doc: 2}, {Doc: 3}, {Doc: 4}}); !slices.Equal(got, want) {
		t.Errorf("got %v, want the first five in catalog order: %v", got, want)
	}
}
