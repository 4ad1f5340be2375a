package distributions

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// golden yields the lines of a vector file, or skips the test where the vectors are absent.
func golden(t *testing.T, name string) [][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "golden", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("golden vectors are not beside the repository: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines [][]byte
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		lines = append(lines, slices.Clone(scanner.Bytes()))
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func preset(t testing.TB, name string) Distribution {
	t.Helper()
	d, err := NewSet().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func not(missing ...string) func(string) bool {
	return func(toolset string) bool { return !slices.Contains(missing, toolset) }
}

func TestGoldenRolls(t *testing.T) {
	lines := golden(t, "sampling.jsonl")
	for i, line := range lines {
		var v struct {
			Distribution string
			Uniforms     []float64
			Sample       []string
			Unused       int
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		recording := NewRecording(v.Uniforms)
		draw := preset(t, v.Distribution).Sample(recording.Float64, nil, []string{"github", "slack"})
		if !slices.Equal(draw.Toolsets, v.Sample) || recording.Unused() != v.Unused || len(draw.Servers) > 0 {
			t.Errorf("line %d, %s %v: drew %v with %d unused, want %v with %d", i+1, v.Distribution, v.Uniforms,
				draw.Toolsets, recording.Unused(), v.Sample, v.Unused)
		}
	}
	if len(lines) != 204 {
		t.Errorf("read %d rolls, want 204", len(lines))
	}
}

func TestSample(t *testing.T) {
	below90 := math.Nextafter(0.9, 0)
	for _, c := range []struct {
		name     string
		entries  []Entry
		exists   func(string) bool
		uniforms []float64
		want     Draw
	}{
		{"strict: 0.9*100 is not under 90", []Entry{{"a", 90}, {"b", 100}}, nil, []float64{0.9, 0.5},
			Draw{Toolsets: []string{"b"}}},
		{"just under 0.9 is", []Entry{{"a", 90}, {"b", 100}}, nil, []float64{below90, 0.5},
			Draw{Toolsets: []string{"a", "b"}}},
		{"100 takes the highest uniform", []Entry{{"a", 100}}, nil, []float64{math.Nextafter(1, 0)},
			Draw{Toolsets: []string{"a"}}},
		{"0 takes not even 0", []Entry{{"a", 0}, {"b", 1}}, nil, []float64{0, 0},
			Draw{Toolsets: []string{"b"}}},
		{"only zeros: the first is the fallback", []Entry{{"a", 0}, {"b", 0}}, nil, []float64{0, 0},
			Draw{Toolsets: []string{"a"}, Fallback: true}},
		{"uniforms go by declaration order", []Entry{{"a", 50}, {"b", 50}, {"c", 50}}, nil, []float64{0.6, 0.4, 0.6},
			Draw{Toolsets: []string{"b"}}},
		{"fallback is the likeliest", []Entry{{"a", 20}, {"b", 60}, {"c", 40}}, nil, []float64{0.9, 0.9, 0.9},
			Draw{Toolsets: []string{"b"}, Fallback: true}},
		{"of equals, the first", []Entry{{"a", 20}, {"c", 60}, {"b", 60}}, nil, []float64{0.9, 0.9, 0.9},
			Draw{Toolsets: []string{"c"}, Fallback: true}},
		{"a missing toolset takes no uniform", []Entry{{"a", 50}, {"b", 50}, {"c", 50}}, not("b"), []float64{0.6, 0.4},
			Draw{Toolsets: []string{"c"}, Warnings: []string{`distribution "d": toolset "b" does not exist, skipped`}}},
		{"a missing likeliest is no fallback, and no other is", []Entry{{"a", 20}, {"b", 60}, {"c", 60}}, not("b"), []float64{0.9, 0.9},
			Draw{Warnings: []string{`distribution "d": toolset "b" does not exist, skipped`,
				`distribution "d": nothing came up and the likeliest toolset "b" does not exist, no toolset drawn`}}},
		{"of equals, a later missing one does not matter", []Entry{{"a", 20}, {"b", 60}, {"c", 60}}, not("c"), []float64{0.9, 0.9},
			Draw{Toolsets: []string{"b"}, Fallback: true, Warnings: []string{`distribution "d": toolset "c" does not exist, skipped`}}},
		{"a missing likeliest does not matter if something comes up", []Entry{{"a", 20}, {"b", 60}}, not("b"), []float64{0.1},
			Draw{Toolsets: []string{"a"}, Warnings: []string{`distribution "d": toolset "b" does not exist, skipped`}}},
		{"an MCP server's toolset is one like any other", []Entry{{"web", 50}, {"mcp-github", 50}}, nil, []float64{0.6, 0.1},
			Draw{Toolsets: []string{"mcp-github"}}},
		{"no entries", nil, nil, nil, Draw{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			recording := NewRecording(c.uniforms)
			got := Distribution{Name: "d", Entries: c.entries}.Sample(recording.Float64, c.exists, []string{"s"})
			if c.want.Toolsets == nil {
				c.want.Toolsets = []string{}
			}
			c.want.Servers = []string{}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("draw differs (-want +got):\n%s", diff)
			}
			if recording.Unused() != 0 {
				t.Errorf("%d uniforms unused", recording.Unused())
			}
		})
	}
}

func TestSampleServers(t *testing.T) {
	corpus := []string{"d", "a", "c", "b", "e"}
	for _, c := range []struct {
		name     string
		servers  int
		corpus   []string
		uniforms []float64 // after the one roll
		want     []string
		warning  string
	}{
		{"none asked for", 0, corpus, nil, []string{}, ""},
		{"negative counts as none", -2, corpus, nil, []string{}, ""},
		// 0.9*5 = 4 takes "e"; then "d" stands last, and 0.75*4 = 3 steps past position 1 takes it.
		{"in the corpus's order, not in the order drawn", 2, corpus, []float64{0.9, 0.75}, []string{"d", "e"}, ""},
		{"all of them", 5, corpus, []float64{0.9, 0.1, 0.5, 0.3, 0.7}, corpus, ""},
		{"fewer in the corpus", 9, corpus, []float64{0.9, 0.1, 0.5, 0.3, 0.7}, corpus,
			`distribution "d": asks for 9 MCP servers, the corpus has 5`},
		{"none in the corpus", 3, nil, nil, []string{}, `distribution "d": asks for 3 MCP servers, the corpus has 0`},
		{"a source that strays stays in the slice", 3, corpus, []float64{1, -4, math.NaN()}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			recording := NewRecording(append([]float64{0.5}, c.uniforms...))
			d := Distribution{Name: "d", Entries: []Entry{{"web", 100}}, Servers: c.servers}
			got := d.Sample(recording.Float64, nil, c.corpus)
			if c.want != nil && !slices.Equal(got.Servers, c.want) {
				t.Errorf("servers %v, want %v", got.Servers, c.want)
			}
			if c.want == nil && len(got.Servers) != c.servers {
				t.Errorf("servers %v, want %d", got.Servers, c.servers)
			}
			if w := strings.Join(got.Warnings, "\n"); w != c.warning {
				t.Errorf("warnings %q, want %q", w, c.warning)
			}
			if recording.Unused() != 0 {
				t.Errorf("%d uniforms unused", recording.Unused())
			}
		})
	}
}

func TestServersAreEvenlyDrawn(t *testing.T) {
	corpus := make([]string, 25)
	for i := range corpus {
		corpus[i] = fmt.Sprint("server", i)
	}
	counts := map[string]float64{}
	for row := range preset(t, "ten").Rows(11, 0, 2000, nil, corpus) {
		if len(row.Servers) != 10 {
			t.Fatalf("row %d has %d servers", row.RowIndex, len(row.Servers))
		}
		for _, s := range row.Servers {
			counts[s]++
		}
	}
	for _, s := range corpus {
		// 2000 draws at 10 of 25: mean 800, standard deviation 22.
		if math.Abs(counts[s]-800) > 88 {
			t.Errorf("%s drawn %v times, want about 800", s, counts[s])
		}
	}
}

// genDistribution makes distributions of up to eight toolsets t0, t1, …
func genDistribution(t *rapid.T) Distribution {
	percents := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]float64{0, 50, 90, 100}), rapid.Float64Range(0, 100)), 0, 8).Draw(t, "percents")
	d := Distribution{Name: "d", Servers: rapid.IntRange(0, 5).Draw(t, "servers")}
	for i, p := range percents {
		d.Entries = append(d.Entries, Entry{fmt.Sprint("t", i), p})
	}
	return d
}

func genMissing(t *rapid.T) func(string) bool {
	return not(rapid.SliceOf(rapid.SampledFrom([]string{"t0", "t1", "t2", "t3", "t4"})).Draw(t, "missing")...)
}

// TestSampleProperties checks every draw against what is said of it, entry by entry.
func TestSampleProperties(t *testing.T) {
	corpus := []string{"s0", "s1", "s2"}
	rapid.Check(t, func(t *rapid.T) {
		d, exists := genDistribution(t), genMissing(t)
		uniforms := rapid.SliceOfN(rapid.Float64Range(0, math.Nextafter(1, 0)), 20, 20).Draw(t, "uniforms")
		recording := NewRecording(uniforms)
		draw := d.Sample(recording.Float64, exists, corpus)

		var rolled []string
		next := 0
		for _, e := range d.Entries {
			if exists(e.Toolset) {
				if uniforms[next]*100 < e.Percent {
					rolled = append(rolled, e.Toolset)
				}
				next++
			}
		}
		switch {
		case len(rolled) > 0:
			if !slices.Equal(draw.Toolsets, rolled) || draw.Fallback {
				t.Fatalf("drew %v (fallback %v), rolls say %v", draw.Toolsets, draw.Fallback, rolled)
			}
		case draw.Fallback:
			i := slices.IndexFunc(d.Entries, func(e Entry) bool { return e.Toolset == draw.Toolsets[0] })
			for j, e := range d.Entries {
				if e.Percent > d.Entries[i].Percent || j < i && e.Percent == d.Entries[i].Percent {
					t.Fatalf("fell back on entry %d, though %d comes before it", i, j)
				}
			}
		case len(draw.Toolsets) > 0:
			t.Fatalf("drew %v without a roll or a fallback", draw.Toolsets)
		}
		servers := min(d.Servers, len(corpus))
		if len(draw.Servers) != servers || !slices.IsSorted(draw.Servers) || len(slices.Compact(slices.Clone(draw.Servers))) != servers {
			t.Fatalf("servers %v, want %d distinct ones in order", draw.Servers, servers)
		}
		if want := len(uniforms) - next - servers; recording.Unused() != want {
			t.Fatalf("%d uniforms unused, want %d", recording.Unused(), want)
		}
	})
}

// TestOrderMattersThroughRollsAlone permutes entries together with their uniforms: the same toolsets must come up.
func TestOrderMattersThroughRollsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDistribution(t)
		n := len(d.Entries)
		uniforms := rapid.SliceOfN(rapid.Float64Range(0, math.Nextafter(1, 0)), n, n).Draw(t, "uniforms")
		moved, movedUniforms := d.clone(), slices.Clone(uniforms)
		for i, j := range NewStream(rapid.Uint64().Draw(t, "order"), "order", 0).Perm(n) {
			moved.Entries[i], movedUniforms[i] = d.Entries[j], uniforms[j]
		}
		a := d.Sample(NewRecording(uniforms).Float64, nil, nil)
		b := moved.Sample(NewRecording(movedUniforms).Float64, nil, nil)
		if a.Fallback != b.Fallback {
			t.Fatalf("fallback %v, after reordering %v", a.Fallback, b.Fallback)
		}
		slices.Sort(a.Toolsets)
		slices.Sort(b.Toolsets)
		// Of equally likely entries the order does choose the fallback.
		if !a.Fallback && !slices.Equal(a.Toolsets, b.Toolsets) {
			t.Fatalf("drew %v, after reordering %v", a.Toolsets, b.Toolsets)
		}
	})
}

func TestRowsStandAlone(t *testing.T) {
	d, corpus := preset(t, "few"), []string{"a", "b", "c", "d", "e", "f"}
	d.Entries[0].Percent = 50
	all := slices.Collect(d.Rows(42, 0, 100, nil, corpus))
	if len(all) != 100 {
		t.Fatalf("%d rows, want 100", len(all))
	}
	if diff := cmp.Diff(all[60:80], slices.Collect(d.Rows(42, 60, 20, nil, corpus))); diff != "" {
		t.Errorf("rows 60 to 79 differ when drawn alone:\n%s", diff)
	}
	if rows := slices.Collect(d.Rows(42, 0, -1, nil, corpus)); len(rows) != 0 {
		t.Errorf("-1 rows give %d", len(rows))
	}
	for range d.Rows(42, 0, 10, nil, corpus) {
		break // Leaving the loop must stop the iterator, which panics otherwise.
	}
}

func TestRecordingRunsOut(t *testing.T) {
	r := NewRecording([]float64{0.25})
	if a, b := r.Float64(), r.Float64(); a != 0.25 || b >= 1 || b*100 < 99.99 || r.Unused() != -1 {
		t.Errorf("gives %v, %v, unused %d", a, b, r.Unused())
	}
}

func BenchmarkSample(b *testing.B) {
	servers := make([]string, 200)
	for i := range servers {
		servers[i] = fmt.Sprint("server", i)
	}
	for _, name := range []string{"minimal", "science", "few", "forty"} {
		b.Run(name, func(b *testing.B) {
			d, s := preset(b, name), NewStream(1, "bench", 0)
			b.ReportAllocs()
			for range b.N {
				d.Sample(s.Float64, nil, servers)
			}
		})
	}
}
