package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// nothing answers at once.
type nothing struct{}

func (nothing) Call(context.Context, endpoint.Request) (endpoint.Answer, error) {
	return endpoint.Answer{Body: []byte(`{"ok":true}`)}, nil
}

const saveTool = `
session: {principal: bench}
tools:
  - id: save
    description: Saves a note.
    input_schema:
      type: object
      required: [title, body]
      properties: {title: {type: string}, body: {type: string}, folder: {type: string}, pinned: {type: boolean}, order: {type: integer}}
    endpoint: {target: "https://x.test.invalid/save"}
`

// saveArguments are five fields, and 1 KB in all.
func saveArguments() json.RawMessage {
	const fixed = `{"title":"Minutes of the meeting","body":"","folder":"work/minutes","pinned":false,"order":12}`
	body := strings.Repeat("We agreed on the plan. ", 50)[:1024-len(fixed)]
	return json.RawMessage(fmt.Sprintf(`{"title":"Minutes of the meeting","body":%q,"folder":"work/minutes","pinned":false,"order":12}`, body))
}

// BenchmarkOverhead is what the gateway costs, on the machine's clock: a call of an
// endpoint that does nothing, with arguments of 1 KB, schema check and audit log.
// Compare with bare, the endpoint called by itself.
func BenchmarkOverhead(b *testing.B) {
	arguments := saveArguments()
	b.Run("bare", func(b *testing.B) {
		var e endpoint.Endpoint = nothing{}
		for b.Loop() {
			if _, err := e.Call(context.Background(), endpoint.Request{Tool: "save", Arguments: arguments}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gateway", func(b *testing.B) {
		log, err := audit.Open(filepath.Join(b.TempDir(), "audit.jsonl"), audit.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer log.Close()
		config := parsed(b, saveTool)
		g, err := gateway.New(gateway.Options{Config: config, Audit: log, Open: func(*card.Card) (endpoint.Endpoint, error) { return nothing{}, nil }})
		if err != nil {
			b.Fatal(err)
		}
		s := g.Session(gateway.SessionOptions{ID: "bench", Who: config.Session})
		calls := []registry.Call{{ID: "call_1", Name: "save", Arguments: arguments}}
		b.ReportAllocs()
		took := make([]time.Duration, 0, 1<<20)
		for b.Loop() {
			start := time.Now()
			if r := s.DispatchAll(context.Background(), calls); r[0].Failed {
				b.Fatal(r[0].Text)
			}
			if len(took) < cap(took) {
				took = append(took, time.Since(start))
			}
		}
		b.ReportMetric(float64(median(took).Nanoseconds()), "p50-ns/op")
	})
}

// BenchmarkBatch is four independent calls of a millisecond each, on the machine's clock.
func BenchmarkBatch(b *testing.B) {
	config := parsed(b, "session: {principal: bench}\n"+tools("a\nread_only: true\ncache_ttl: 0s", "b\nread_only: true\ncache_ttl: 0s", "c\nread_only: true\ncache_ttl: 0s", "d\nread_only: true\ncache_ttl: 0s"))
	g, err := gateway.New(gateway.Options{Config: config, Open: func(*card.Card) (endpoint.Endpoint, error) { return versioned("v"), nil }})
	if err != nil {
		b.Fatal(err)
	}
	s := g.Session(gateway.SessionOptions{ID: "bench", Who: config.Session})
	var calls []registry.Call
	for i, name := range []string{"a", "b", "c", "d"} {
		calls = append(calls, registry.Call{ID: fmt.Sprint(i), Name: name, Arguments: json.RawMessage("{}")})
	}
	for b.Loop() {
		for _, r := range s.DispatchAll(context.Background(), calls) {
			if r.Failed {
				b.Fatal(r.Text)
			}
		}
	}
}

// BenchmarkEleventhCall is the wait of the eleventh call of a bucket of ten that fills
// twice a second, on the machine's clock.
func BenchmarkEleventhCall(b *testing.B) {
	config := parsed(b, "session: {principal: bench}\n"+tools("a\nrate_limit: {bucket_capacity: 10, refill_rate: 2}"))
	g, err := gateway.New(gateway.Options{Config: config, Open: func(*card.Card) (endpoint.Endpoint, error) { return nothing{}, nil }})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		s := g.Session(gateway.SessionOptions{ID: fmt.Sprint(i), Who: config.Session})
		for range 10 {
			s.DispatchAll(context.Background(), one("a"))
		}
		b.StartTimer()
		s.DispatchAll(context.Background(), one("a"))
	}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
