//go:build unix

package eval

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
)

// reportUsage adds the processor time and the peak memory of the process to a benchmark's figures.
func reportUsage(b *testing.B) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	b.ReportMetric(seconds(usage.Utime)+seconds(usage.Stime), "cpu-s")
	unit := 1.0 / 1024 // from KiB
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		unit = 1.0 / (1 << 20) // from bytes
	}
	b.ReportMetric(float64(usage.Maxrss)*unit, "peak-MiB")
}

// askThousand imports a catalog, indexes it, and judges 1,000 queries.
func askThousand(b *testing.B, path string) {
	cutoffs := []int{1, 3, 5, 10}
	for b.Loop() {
		c, err := corpus.Load(path)
		if err != nil {
			b.Fatal(err)
		}
		s := FromCorpus("catalog", c)
		s.Queries = s.Queries[:1000]
		r, err := s.Search("bm25")
		if err != nil {
			b.Fatal(err)
		}
		figures(s.judge(r, cutoffs), cutoffs)
	}
	reportUsage(b)
}

// BenchmarkCatalog asks among 17,578 tools of real servers.
func BenchmarkCatalog(b *testing.B) { askThousand(b, public(b, "toucan")+"/tools.jsonl") }

// BenchmarkSynthetic asks among 100,000 tools that nobody wrote.
func BenchmarkSynthetic(b *testing.B) { askThousand(b, "synthetic:100000") }
