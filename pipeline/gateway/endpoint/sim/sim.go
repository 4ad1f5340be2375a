// Package sim is a model of endpoints that are not there: how long they take, how they
// fail, how large their results are and what effects they have.
//
// What a call meets is drawn from a stream of the call and its attempt alone, so that it
// does not matter what else goes on or in which order; the time of the session decides
// the rest. All waiting is by the timeline.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// Options sets up a simulation.
type Options struct {
	Timeline clock.Timeline
	Start    time.Time // of the session, from which the times of failures count
	Seed     uint64    // of every draw
	Ledger   *Ledger   // takes effects and secrets; nil: nobody looks
	// Reload makes the gateway read its configuration anew; nil: nothing happens.
	Reload func()
}

// Simulation is an endpoint that behaves as its model says.
type Simulation struct {
	model   *card.Simulation
	options Options
}

// New returns a simulation of a model.
func New(model *card.Simulation, o Options) *Simulation { return &Simulation{model, o} }

// hangs is how long a call takes that hangs.
const hangs = time.Hour

// retryAfter is what an endpoint says that turns calls away.
const retryAfter = 2 * time.Second

// Call plays one attempt.
func (s *Simulation) Call(ctx context.Context, r endpoint.Request) (endpoint.Answer, error) {
	draw := streamOf(s.options.Seed, r)
	began := s.options.Timeline.Now().Sub(s.options.Start)
	latency := s.latency(draw)
	failure := s.failure(draw, began)
	lost := draw.float() < s.model.LosesReply

	if failure == "hang" {
		s.wait(hangs)
		return endpoint.Answer{}, fault(endpoint.Timeout, "no answer")
	}
	if s.model.Reloads && s.options.Reload != nil {
		s.wait(latency / 2)
		s.options.Reload()
		latency -= latency / 2
	}
	s.wait(latency)
	switch failure {
	case "transport":
		return endpoint.Answer{}, fault(endpoint.Transport, "the connection was reset")
	case "status_500":
		return endpoint.Answer{}, fault(endpoint.ServerError, "HTTP status 500")
	case "status_429":
		f := fault(endpoint.Throttled, "HTTP status 429")
		f.RetryAfter = retryAfter
		return endpoint.Answer{}, f
	case "status_400":
		return endpoint.Answer{Body: []byte(`{"error":"the request cannot be served"}`), IsError: true}, nil
	case "tool_error":
		return endpoint.Answer{Body: []byte("nothing was found that fits the request"), IsError: true}, nil
	}
	if s.model.Commits && s.options.Ledger != nil {
		s.options.Ledger.commit(r, s.model.Deduplicates)
	}
	if lost {
		return endpoint.Answer{}, fault(endpoint.Transport, "the connection broke before the answer came")
	}
	return s.answer(draw, r), nil
}

func fault(kind endpoint.Kind, text string) *endpoint.Fault {
	return &endpoint.Fault{Kind: kind, Err: errors.New(text)}
}

// wait waits whether somebody still wants the answer or not: what is sent is sent.
func (s *Simulation) wait(d time.Duration) {
	s.options.Timeline.Wait(context.Background(), nil, max(d, 0))
}

// latency draws how long the answer takes: the base, an exponential part, and for some
// the slow tail.
func (s *Simulation) latency(draw *stream) time.Duration {
	l := s.model.Latency
	d := l.Base
	exponential, slow := draw.float(), draw.float()
	if l.Spread > 0 {
		d += time.Duration(-math.Log1p(-exponential) * float64(l.Spread)).Round(time.Microsecond)
	}
	if slow < l.Slow {
		d += l.SlowBy
	}
	return d
}

// failure is the kind of the first failure that the call runs into; empty if none.
func (s *Simulation) failure(draw *stream, at time.Duration) string {
	kind := ""
	for _, f := range s.model.Failures {
		if hit := draw.float() < f.Share; hit && kind == "" && covers(f, at) {
			kind = f.Kind
		}
	}
	return kind
}

// covers reports whether a failure's time has come: it begins at From, lasts For, and
// comes again after Every.
func covers(f card.Failure, at time.Duration) bool {
	at -= f.From
	if at < 0 {
		return false
	}
	if f.Every > 0 {
		at %= f.Every
	}
	return f.For <= 0 || at < f.For
}

// stream is a SplitMix64 generator (Steele, Lea and Flood, 2014), started from what the
// draws may depend on.
type stream struct{ state uint64 }

func streamOf(seed uint64, r endpoint.Request) *stream {
	h := uint64(14695981039346656037) // FNV-1a, 64 bits
	for _, text := range [...]string{r.SessionID, r.CallID, fmt.Sprint(seed, "/", r.Attempt)} {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return &stream{h}
}

func (s *stream) uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float is in [0, 1).
func (s *stream) float() float64 { return float64(s.uint64()>>11) * 0x1p-53 }

func (s *stream) intn(n int) int { return int(s.uint64() % uint64(n)) }
