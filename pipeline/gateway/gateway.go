// Package gateway carries calls out: the one place that every tool call passes
// through, whether in a replay, with a live model or for another program.
//
// The steps of a call, in their order: find the tool (route), see whether this
// session may use it (authorise), check its arguments (validate), let somebody
// agree to it (confirm), wait for its turn (queue), try it, with a deadline, retries
// and a breaker (execute), bring the result into shape (shape), and record all of it
// (audit). A step that stops the call gives a structured error that says what to do
// instead; the model reads it as the call's result.
//
// Everything that waits or expires asks the timeline that the gateway is given. The
// same code therefore runs live and in a replay, where an hour takes no time and
// parallel calls always interleave alike.
//
// The gateway promises that no call is answered that was not recorded, that a call
// without idempotence is never sent twice, and that no secret it knows of leaves it.
package gateway

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/limit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact"
	"github.com/toolgauge/toolgauge/pipeline/gateway/shape"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Options sets up a Gateway.
type Options struct {
	Config *card.Config // required
	// Cards are those of other sources than the configuration: MCP servers.
	Cards []*card.Card
	// Registry has tools that are called through the gateway although it has no card
	// of them; nil means that there are none.
	Registry *registry.Registry
	// Publish registers the cards in Registry, and keeps it up to date.
	Publish bool
	// Open opens what a card's target names. A nil endpoint without an error means
	// the registry's own handler.
	Open func(*card.Card) (endpoint.Endpoint, error)
	// Timeline is the session's time; nil means the machine's.
	Timeline clock.Timeline
	// Audit takes the records; nil means that nobody keeps any.
	Audit audit.Recorder
	// Tokens counts a text's tokens; nil means a quarter of its code points, rounded up.
	Tokens func(string) int
	// Summarise asks a model for a shorter text; nil means that there is none.
	Summarise func(ctx context.Context, text string, maxTokens int) (string, error)
	// Embed asks a model for the vectors of texts, by which candidates are then found;
	// nil means the retriever vector.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
	// Shared keeps what depends on tools alone; nil means that nothing is shared.
	Shared *Shared
}

// Shared keeps compiled schemas for several gateways. It is safe for concurrent use.
type Shared struct {
	mu     sync.Mutex
	judges map[string]*judge.Judge // by schema
}

// NewShared returns an empty Shared.
func NewShared() *Shared { return &Shared{judges: make(map[string]*judge.Judge)} }

// judgesMax bounds the schemas that are kept.
const judgesMax = 1 << 14

func (s *Shared) judge(schema string) *judge.Judge {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, ok := s.judges[schema]
	if !ok {
		if len(s.judges) >= judgesMax {
			clear(s.judges)
		}
		j = judge.New([]byte(schema))
		s.judges[schema] = j
	}
	return j
}

// Gateway carries calls out. It is safe for concurrent use where its timeline is.
type Gateway struct {
	options  Options
	time     clock.Timeline
	redactor *redact.Redactor
	snapshot atomic.Pointer[snapshot]
	reload   sync.Mutex

	buckets  *limit.Buckets
	gate     *limit.Gate
	rate     *limit.Rate
	gates    *limit.Gates
	breakers *limit.Breakers
	memory   *limit.Memory
	cache    *limit.Cache
	results  *shape.Store
	tally    *audit.Tally
	log      ledger
}

// The bounds of the result cache.
const (
	cacheEntriesMax = 10_000
	cacheBytesMax   = 64 << 20
)

// New checks the configuration and everything that it names, and returns a gateway
// that is ready for calls.
func New(o Options) (*Gateway, error) {
	if o.Config == nil {
		return nil, errors.New("no gateway configuration\nhint: load a gateway.yaml, or take the defaults with card.Parse")
	}
	if o.Publish && o.Registry == nil {
		return nil, errors.New("nowhere to publish the gateway's tools\nhint: give it a registry")
	}
	if o.Timeline == nil {
		o.Timeline = clock.Wall{}
	}
	if o.Tokens == nil {
		o.Tokens = quarter
	}
	if o.Shared == nil {
		o.Shared = NewShared()
	}
	c := o.Config
	g := &Gateway{
		options: o, time: o.Timeline,
		redactor: redact.New(c.Redact),
		buckets:  limit.NewBuckets(o.Timeline),
		gate:     limit.NewGate(o.Timeline, c.Limits.Concurrent, c.Limits.Queue),
		rate:     limit.NewRate(o.Timeline, c.Limits.CallsPerSecond),
		gates:    limit.NewGates(o.Timeline, c.Limits.EndpointConcurrent, c.Limits.Queue),
		breakers: limit.NewBreakers(o.Timeline, c.Breaker),
		memory:   limit.NewMemory(o.Timeline, c.Memory),
		cache:    limit.NewCache(o.Timeline, cacheEntriesMax, cacheBytesMax),
		results:  shape.NewStore(o.Timeline),
		tally:    audit.NewTally(),
		log:      ledger{to: o.Audit},
	}
	return g, g.Reload(c, o.Cards)
}

// quarter is the estimate of tokens of the reference system.
func quarter(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// Tally returns what was counted of each tool so far.
func (g *Gateway) Tally() *audit.Tally { return g.tally }

// ledger hands records to whoever keeps them. What could not be kept of a call that
// was carried out stays here until it can: nothing else is carried out before.
type ledger struct {
	to audit.Recorder

	mu     sync.Mutex
	unkept []*audit.Record
}

// ready returns an error if a call could not be recorded.
func (l *ledger) ready() error {
	if l.to == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.unkept) > 0 {
		if err := l.to.Write(l.unkept[0]); err != nil {
			return err
		}
		l.unkept = l.unkept[1:]
	}
	return nil
}

// keep records a call. If that fails, a record that matters is kept for later.
func (l *ledger) keep(r *audit.Record, matters bool) error {
	if l.to == nil {
		return nil
	}
	err := l.to.Write(r)
	if err != nil && matters {
		l.mu.Lock()
		l.unkept = append(l.unkept, r)
		l.mu.Unlock()
	}
	return err
}
