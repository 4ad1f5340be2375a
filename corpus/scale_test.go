package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/toolname"
)

func scaled(t testing.TB, n int) *Corpus {
	t.Helper()
	c, err := Scale(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestScaleDigest holds Scale to the bytes that it has always made, on every
// machine. Another digest needs another scaleVersion.
func TestScaleDigest(t *testing.T) {
	const want = "e384e45840307789671fc2d99dd1aeac4b1f62b72ccce36e676037114a83ff62"
	h := sha256.New()
	for _, tool := range scaled(t, 500).Own() {
		fmt.Fprintf(h, "%s %s %s %t\n", tool.ID, tool.Definition.JSON, tool.Raw, tool.ReadOnly)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

func TestScaleShape(t *testing.T) {
	const n = 4_000
	c := scaled(t, n)
	if !c.Synthetic || c.Name != "synthetic:4000" || len(c.Notes) != 1 || len(c.Intents) != 0 {
		t.Errorf("not marked: %q, synthetic %v, notes %q, %d intents", c.Name, c.Synthetic, c.Notes, len(c.Intents))
	}
	own, silent := c.Own(), 0
	servers, names, counts := make(map[string]int), make(map[string]bool), make(map[string]int)
	for _, tool := range own {
		servers[tool.Server]++
		d := tool.Definition
		if tool.Builtin || names[d.Name] || len(d.Name) > toolname.Max || !json.Valid(tool.Raw) || len(words(d.Description)) < 5 {
			t.Fatalf("tool %s, seen as %s: %s", tool.ID, d.Name, tool.Raw)
		}
		names[d.Name] = true
		for _, w := range words(d.Description) {
			counts[w]++
		}
		if _, ok := tool.DerivedIntent(); !ok {
			silent++
		}
	}
	largest := 0
	for _, size := range servers {
		largest = max(largest, size)
	}
	if silent > n/100 {
		t.Errorf("%d tools give no intent", silent)
	}
	if len(own) != n || len(servers) < n/20 || len(servers) > n/5 || largest < 100 || largest > scaleServerMax {
		t.Errorf("%d tools of %d servers, the largest of %d", len(own), len(servers), largest)
	}
	// By Zipf's law the first noun is 1.2 times as frequent as the next two
	// together; that no server draws a noun twice makes it fewer.
	first, next := counts["user"], counts["file"]+counts["project"]
	if len(counts) < 1000 || first*10 < next*6 || first*10 > next*16 {
		t.Errorf("%d words; the first noun %d times, the next two %d times", len(counts), first, next)
	}
}

// TestScaleGrows shows that a larger corpus has the tools of a smaller one.
func TestScaleGrows(t *testing.T) {
	definitions := func(c *Corpus) (all []string) {
		for _, tool := range c.Own() {
			all = append(all, tool.ID+" "+tool.Definition.JSON)
		}
		return all
	}
	large := make(map[string]bool)
	for _, d := range definitions(scaled(t, 300)) {
		large[d] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		c, err := Scale(n)
		if err != nil {
			t.Fatal(err)
		}
		small := definitions(c)
		if len(small) != n {
			t.Fatalf("%d tools, want %d", len(small), n)
		}
		for _, d := range small {
			if !large[d] {
				t.Fatalf("of %d tools, but not of 300: %s", n, d)
			}
		}
	})
}

func TestScaleRefuses(t *testing.T) {
	for path, want := range map[string]string{
		"synthetic:0":      "corpus synthetic:0: 0 is no number of tools that can be made\nhint: write synthetic:N for N tools, 1 to 100000",
		"synthetic:100001": "corpus synthetic:100001: 100001 is no number of tools that can be made\nhint: write synthetic:N for N tools, 1 to 100000",
		"synthetic:-1":     "corpus synthetic:-1: -1 is no number of tools that can be made\nhint: write synthetic:N for N tools, 1 to 100000",
		"synthetic:many":   "corpus synthetic:many: \"many\" is no number of tools\nhint: write synthetic:N for N tools, 1 to 100000",
		"synthetic:":       "corpus synthetic:: \"\" is no number of tools\nhint: write synthetic:N for N tools, 1 to 100000",
	} {
		if _, err := Load(path); err == nil || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if c, err := Load("synthetic:7"); err != nil || c.SHA256 != scaled(t, 7).SHA256 {
		t.Errorf("synthetic:7: %v", err)
	}
}

func TestVocabularyHasNoWordTwice(t *testing.T) {
	all := vocabulary(scaleWords)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != scaleWords {
		t.Errorf("%d different words of %d", n, scaleWords)
	}
	for _, w := range all {
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("word %q", w)
		}
	}
}

// BenchmarkScale makes the largest corpus.
func BenchmarkScale(b *testing.B) {
	for b.Loop() {
		scaled(b, scaleMax)
	}
}
