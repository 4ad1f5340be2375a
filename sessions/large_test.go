package sessions

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
)

// catalog is a corpus of made-up servers, imported from JSON Lines, with about
// nine tools a server and an intent derived from each.
func catalog(t testing.TB, servers, tools int) *corpus.Corpus {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range tools {
		fmt.Fprintf(w, `{"server":"s%04d","name":"tool_%d","description":"Handle matter number %d of the house.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}`+"\n",
			i%servers, i, i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c.WithDerived()
}

func TestDerivedIntentsOfALargeCatalog(t *testing.T) {
	c := catalog(t, 200, 1800)
	d := newDrawer(t, c, Options{Seed: 1})
	if len(d.Notes()) > 0 {
		t.Errorf("notes: %q", d.Notes())
	}
	servers := map[string]int{}
	for s, err := range d.Sessions(Range{Count: 500}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"few": 3, "ten": 10, "forty": 40}[s.Distribution]; len(s.Servers) != want {
			t.Fatalf("session %d of %s has %d servers", s.RowIndex, s.Distribution, len(s.Servers))
		}
		for _, e := range turnsOf(s) {
			if e.Turn.Class != corpus.Derived {
				t.Fatalf("a turn of class %s in a catalog without intents", e.Turn.Class)
			}
		}
		for _, name := range s.Servers {
			servers[name]++
		}
	}
	if len(servers) != 200 {
		t.Errorf("%d of 200 servers were ever enabled", len(servers))
	}
	// A distribution without servers enables built-in toolsets alone, and intents
	// are derived for the tools of servers.
	_, err := NewDrawer(c, Options{Mix: only("development")})
	wantError(t, err, "no intent can be asked for", "more toolsets or servers")
}

func BenchmarkDraw(b *testing.B) {
	for _, bench := range []struct {
		name string
		load func(testing.TB) *corpus.Corpus
	}{
		{"embedded", embedded},
		{"servers=1868,tools=17000", func(t testing.TB) *corpus.Corpus { return catalog(t, 1868, 17000) }},
		{"servers=1,tools=17000", func(t testing.TB) *corpus.Corpus { return catalog(t, 1, 17000) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			d := newDrawer(b, bench.load(b), Options{Seed: 1})
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if _, err := d.Draw(int64(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewDrawer(b *testing.B) {
	c := catalog(b, 1868, 17000)
	for b.Loop() {
		newDrawer(b, c, Options{})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, format := range []Format{Parquet, JSONLines} {
		b.Run(string(format), func(b *testing.B) {
			d := newDrawer(b, embedded(b), Options{Seed: 1})
			var into encoder = newLinesEncoder(io.Discard)
			if format == Parquet {
				into = newParquetEncoder(io.Discard)
			}
			s := draw(b, d, 0)
			for b.Loop() {
				if err := into.encode(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	d := newDrawer(b, embedded(b), Options{Seed: 1})
	const rows = 2000
	for _, path := range formats(b.TempDir()) {
		if _, err := WriteFile(path, d.Sessions(Range{Count: rows})); err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Ext(path)[1:], func(b *testing.B) {
			for b.Loop() {
				for _, err := range Read(path) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/session")
		})
	}
}
