package replay

import (
	"context"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/sessions"
)

// BenchmarkReplay plays drawn sessions of the embedded corpus under the default
// arms with two workers, drawing and exact token counts included. An operation
// is one session; session-arms/s is what the speed goal is stated in.
func BenchmarkReplay(b *testing.B) {
	cli.SettleGC() // as the command does
	c, err := corpus.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	drawer, err := sessions.NewDrawer(c, sessions.Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	arms := DefaultArms()
	play := func(count int64) {
		err := Run(context.Background(), Options{Corpus: c, Arms: arms}, drawer.Sessions(sessions.Range{Count: count}), 2,
			func(metrics.Observations) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	play(100)
	b.ReportAllocs()
	b.ResetTimer()
	play(int64(b.N))
	b.ReportMetric(float64(b.N*len(arms))/b.Elapsed().Seconds(), "session-arms/s")
}
