package survey

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/internal/tokens"
)

// load reads a corpus of a text.
func load(t testing.TB, text string) *corpus.Corpus {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const twoServers = `{"servers": {
	"notes": [{"name": "find", "description": "Look for a text among the notes."}, {"name": "add", "description": "Write a new entry."}],
	"mail": [{"name": "find", "description": "Look for a letter of somebody."}]}}`

func TestMeasure(t *testing.T) {
	c := load(t, twoServers)
	s, err := Measure(c, "bm25")
	if err != nil {
		t.Fatal(err)
	}
	if s.Servers != 2 || s.Plugins != 0 || s.Tools-s.BuiltinTools != 3 || s.Intents != 0 || s.DerivedIntents != 3 || s.Synthetic || s.SHA256 != c.SHA256 {
		t.Errorf("%+v", s)
	}
	if want := (Spread{Sum: 3, Min: 1, P25: 1, P50: 1, P75: 2, P90: 2, P99: 2, Max: 2}); s.ServerTools != want {
		t.Errorf("tools of a server: %+v", s.ServerTools)
	}
	if diff := cmp.Diff([]Collision{{"find", []string{"mail/find", "notes/find"}}}, s.Collisions); diff != "" {
		t.Errorf("collisions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Count{{"derived", 3}}, s.Classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	if want := (Retrieved{"bm25", 3, s.DeferrableTools, 3, 3}); s.Retrieval != want {
		t.Errorf("retrieval %+v", s.Retrieval)
	}
	if len(s.Largest) != 3 || s.Tokens.Tools != 3 || !slices.IsSortedFunc(s.Largest, func(a, b Sized) int { return b.Tokens - a.Tokens }) || s.Largest[0].Tokens != s.Tokens.Tool.Max {
		t.Errorf("largest %+v", s.Largest)
	}
	if _, err := Measure(c, "bm52"); err == nil {
		t.Error("an unknown retriever measures")
	}
	embedded, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = Measure(embedded, "bm25"); err != nil || s.Intents != len(embedded.Intents) || s.DerivedIntents != 0 || len(s.Languages) < 5 || len(s.Largest) != largestMax || s.Tokens.Tools != s.DeferrableTools {
		t.Errorf("embedded: %+v, %v", s, err)
	}
}

func TestSpread(t *testing.T) {
	upTo := func(n int) (numbers []int) {
		for i := n; i > 0; i-- {
			numbers = append(numbers, i)
		}
		return numbers
	}
	for _, c := range []struct {
		numbers []int
		want    Spread
	}{
		{nil, Spread{}},
		{[]int{7}, Spread{7, 7, 7, 7, 7, 7, 7, 7}},
		{[]int{2, 1}, Spread{3, 1, 1, 1, 2, 2, 2, 2}},
		{upTo(100), Spread{5050, 1, 25, 50, 75, 90, 99, 100}},
		{upTo(1000), Spread{500500, 1, 250, 500, 750, 900, 990, 1000}},
	} {
		if got := spread(c.numbers); got != c.want {
			t.Errorf("%d numbers: %+v, want %+v", len(c.numbers), got, c.want)
		}
	}
}

// TestTokensAreExact holds the sums to the count of the whole array.
func TestTokensAreExact(t *testing.T) {
	counter, err := tokens.New(Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.IntRange(0, len(c.Tools)).Draw(t, "first")
		tools := c.Tools[first:min(first+rapid.IntRange(0, 20).Draw(t, "n"), len(c.Tools))]
		var entries []string
		sum := 0
		for _, tool := range tools {
			entries = append(entries, tool.Definition.JSON)
			sum += toolTokens(counter, tool)
		}
		whole := counter.Count("[" + strings.Join(entries, ",") + "]")
		if got := arrayTokens(counter, tools); got != whole {
			t.Fatalf("%d tokens, want %d", got, whole)
		}
		if off := sum - whole; off < -2 || off > 2 {
			t.Fatalf("tools sum to %d tokens, the array has %d", sum, whole)
		}
	})
}

func TestEvenlySpread(t *testing.T) {
	for _, c := range []struct {
		items string
		n     int
		want  string
	}{{"abcdefgh", 4, "aceg"}, {"abcdefgh", 3, "acf"}, {"abc", 3, "abc"}, {"abc", 9, "abc"}, {"", 2, ""}} {
		if got := string(EvenlySpread([]byte(c.items), c.n)); got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.n, c.items, got, c.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := numerals.Count(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// diffPair is a catalog and what became of it: b lost its words, c went, d came,
// e changed its schema, f what no model sees, g stayed.
var diffPair = [2]string{
	`{"server": "s", "tools": [
		{"name": "b", "description": "Water the tomatoes."}, {"name": "c", "description": "Open a window."},
		{"name": "e", "description": "Feed the fish.", "inputSchema": {"type": "object"}},
		{"name": "f", "description": "Count clouds."}, {"name": "g", "description": "Sing songs."}]}`,
	`{"server": "s", "tools": [
		{"name": "b", "description": "B."}, {"name": "d", "description": "Close a window."},
		{"name": "e", "description": "Feed the fish.", "inputSchema": {"type": "object", "properties": {"pond": {"type": "string"}}}},
		{"name": "f", "description": "Count clouds.", "annotations": {"readOnlyHint": true}}, {"name": "g", "description": "Sing songs."}]}`,
}

func TestCompare(t *testing.T) {
	a, b := load(t, diffPair[0]), load(t, diffPair[1])
	d, err := Compare(a, b, "bm25")
	if err != nil {
		t.Fatal(err)
	}
	words := func(list []Changed) (texts []string) {
		for _, c := range list {
			texts = append(texts, fmt.Sprintf("%s%s %d→%d", c.Tool, c.remark(), c.RankBefore, c.RankAfter))
		}
		return texts
	}
	for _, row := range []struct {
		what string
		got  []Changed
		want []string
	}{
		{"added", d.Added, []string{"s/d 0→1"}}, {"removed", d.Removed, []string{"s/c 1→0"}},
		{"edited", d.Edited, []string{"s/b  (description) 1→0", "s/e  (schema) 1→1", "s/f  (card) 1→1"}},
		{"gained", d.Gained, nil}, {"lost", d.Lost, []string{"s/b  (description) 1→0"}},
	} {
		if got := words(row.got); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
	sum := 0
	for _, list := range [][]Changed{d.Added, d.Removed, d.Edited} {
		for _, c := range list {
			sum += c.TokensAfter - c.TokensBefore
		}
	}
	if sum != d.After.Tokens-d.Before.Tokens || sum == 0 {
		t.Errorf("tools change by %d tokens, the arrays by %d", sum, d.After.Tokens-d.Before.Tokens)
	}
	back, err := Compare(b, a, "bm25")
	if err != nil || len(back.Gained) != 1 || len(back.Added) != 1 || back.Before != d.After {
		t.Errorf("the way back: %+v, %v", back, err)
	}
	same, err := Compare(a, a, "bm25")
	if err != nil || len(same.Added)+len(same.Removed)+len(same.Edited)+len(same.Gained)+len(same.Lost) > 0 {
		t.Errorf("a corpus differs from itself: %+v, %v", same, err)
	}
	for other, want := range map[*corpus.Corpus]string{a: "No difference between their tools.\n", reworded(a): "Their toolsets, intents or distributions differ.\n"} {
		d, err := Compare(a, other, "bm25")
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := d.WriteText(&text); err != nil || !strings.HasSuffix(text.String(), want) {
			t.Errorf("error %v, %s lacks %q", err, &text, want)
		}
	}
}

// reworded is a corpus of the same tools with another digest.
func reworded(c *corpus.Corpus) *corpus.Corpus {
	other := *c
	other.SHA256 = "0123456789abcdef"
	return &other
}

// TestRenamed: of tools added, those that were there under other names are told.
func TestRenamed(t *testing.T) {
	d, err := Compare(
		load(t, `{"server":"s","tools":[{"name":"a","description":"Open a window."},{"name":"b","description":"Open a window."},{"name":"c","description":"Sing."}]}`),
		load(t, `{"server":"s","tools":[{"name":"x","description":"Open a window."},{"name":"y","description":"Open a window."},{"name":"z","description":"Open a window."},{"name":"s","description":"Sing.","inputSchema":{"type":"object"}}]}`), "bm25")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range d.Added {
		got += c.Tool + c.remark() + "; "
	}
	if want := "s/s; s/x  (was s/a); s/y  (was s/b); s/z; "; got != want || len(d.Removed) != 3 {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLostBehindOthers: a tool that is found sixth is lost, and its rank is told.
func TestLostBehindOthers(t *testing.T) {
	catalog := func(last string) string {
		tools := ""
		for _, name := range strings.Fields("a b c d e") {
			tools += fmt.Sprintf(`{"name":%q,"description":"Open a window."},`, name)
		}
		return `{"server":"s","tools":[` + tools + fmt.Sprintf(`{"name":"z","description":%q}]}`, last)
	}
	d, err := Compare(load(t, catalog("Feed the fish.")), load(t, catalog("Open a window.")), "bm25")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Lost) != 1 || d.Lost[0].Tool != "s/z" || d.Lost[0].RankBefore != 1 || d.Lost[0].RankAfter != 6 || len(d.Gained) > 0 {
		t.Errorf("lost %+v, gained %+v", d.Lost, d.Gained)
	}
}

// TestSyntheticIsSaid holds every text to telling what was made by rule.
func TestSyntheticIsSaid(t *testing.T) {
	c, err := corpus.Scale(20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(c, "bm25")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Compare(c, c, "bm25")
	if err != nil {
		t.Fatal(err)
	}
	var stats, diff bytes.Buffer
	if err := s.WriteText(&stats); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteText(&diff); err != nil {
		t.Fatal(err)
	}
	if !s.Synthetic || !d.Before.Synthetic || !d.After.Synthetic || !strings.Contains(stats.String(), "synthetic:20 1, synthetic") || strings.Count(diff.String(), ", synthetic,") != 2 {
		t.Errorf("%s\n%s", &stats, &diff)
	}
}
