package tokens

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Both ways of merging agree with the library on pieces of any make.
func TestMergeAgainstLibrary(t *testing.T) {
	pieces := rapid.OneOf(
		sized(rapid.SampledFrom([]rune("aeinrst")), 600),
		sized(rapid.SampledFrom([]rune("ab")), 600),
		sized(rapid.SampledFrom([]rune("-=_*.")), 600),
		sized(rapid.SampledFrom([]rune("中文字あいう한글")), 200),
		sized(rapid.SampledFrom([]rune("😀👩🏽\u200d")), 150),
	).Filter(func(piece string) bool { return piece != "" })
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		rapid.Check(t, func(rt *rapid.T) {
			piece := pieces.Draw(rt, "piece")
			want := o.count(piece)
			if got := c.bpe.countPiece(piece, new(mergeQueue)); got != want {
				rt.Fatalf("%q is %d tokens, want %d", piece, got, want)
			}
			if _, whole := c.bpe.rank[piece]; whole {
				return
			}
			if got := c.bpe.countLong(piece, new(mergeQueue)); got != want {
				rt.Fatalf("%q merged by queue is %d tokens, want %d", piece, got, want)
			}
		})
	})
}

// Every length around the change of method, and the queue's reuse.
func TestMergeAcrossLengths(t *testing.T) {
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		queue := new(mergeQueue)
		for _, unit := range []string{"a", "ab", "xyz", "=", "é", "中"} {
			for n := scanMax - 8; n <= scanMax+8; n++ {
				piece := strings.Repeat(unit, n)[:n/len(unit)*len(unit)]
				if got, want := c.bpe.countPiece(piece, queue), o.count(piece); got != want {
					t.Errorf("%d × %q is %d tokens, want %d", n/len(unit), unit, got, want)
				}
			}
		}
	})
}

// A long run is exact. The counts are the library's, which takes seconds for the
// first rows; BenchmarkCountLongRun says how long we take.
func TestLongRuns(t *testing.T) {
	rows := []struct {
		text          string
		o200k, cl100k int
	}{
		{strings.Repeat("a", 100_000), 12_500, 12_500},
		{strings.Repeat(" ", 100_000), 782, 782},
		{strings.Repeat("ab", 20_000), 10_000, 20_000},
		{strings.Repeat("中", 10_000), 10_000, 10_000},
	}
	for _, row := range rows {
		for name, want := range map[string]int{o200kBase: row.o200k, cl100kBase: row.cl100k} {
			if got := counter(t, name).Count(row.text); got != want {
				t.Errorf("%s: %d × %q… is %d tokens, want %d", name, len(row.text), row.text[:3], got, want)
			}
		}
	}
}
