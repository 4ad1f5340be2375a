package audit

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"time"
)

// unknownTool is the code of calls that no tool answers.
const unknownTool = "unknown_tool"

// Metrics is what was counted of one tool.
type Metrics struct {
	Tool      string // id; empty: of no tool, since models make up any number of names
	Calls     int
	Failures  []Failures // by code, in the order of the codes
	Latency   Latency
	TokensIn  int // of the arguments
	TokensOut int // of the results
	Attempts  int // at the endpoint
	CacheHits int
}

// Failures counts the calls that ended with one code.
type Failures struct {
	Code  string
	Calls int
}

// Latency is how long calls took that were tried at the endpoint at least once, all
// their phases together. Refused and cached calls would flatter it.
type Latency struct {
	Count int
	Sum   time.Duration
	// The quantiles are by nearest rank. Each is the mean of those latencies that
	// differ from it by less than one part in 128: exact where they are equal.
	P50, P95, P99 time.Duration
}

// Tally counts records by tool. What it has counted does not depend on the order in
// which records came. It is safe for concurrent use.
type Tally struct {
	mu    sync.Mutex
	tools map[string]*counts
}

type counts struct {
	metrics  Metrics
	failures map[string]int
	buckets  map[int]*bucket
}

// bucket holds latencies that are nearly alike.
type bucket struct {
	count int
	sum   time.Duration
}

// NewTally returns an empty Tally.
func NewTally() *Tally { return &Tally{tools: make(map[string]*counts)} }

// Add counts a record. tokensIn are the tokens of its arguments.
func (t *Tally) Add(r *Record, tokensIn int) {
	tool := r.Tool
	if r.Code == unknownTool {
		tool = ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.tools[tool]
	if c == nil {
		c = &counts{failures: make(map[string]int), buckets: make(map[int]*bucket)}
		c.metrics.Tool = tool
		t.tools[tool] = c
	}
	m := &c.metrics
	m.Calls++
	m.TokensIn += tokensIn
	m.TokensOut += r.ResultTokens
	m.Attempts += r.Attempts
	if r.CacheHit {
		m.CacheHits++
	}
	if r.Code != "" {
		c.failures[r.Code]++
	}
	if r.Attempts > 0 {
		c.observe(max(r.Waiting+r.Queued+r.Executing+r.Shaping, 0))
	}
}

func (c *counts) observe(d time.Duration) {
	c.metrics.Latency.Count++
	c.metrics.Latency.Sum += d
	i := bucketOf(d)
	b := c.buckets[i]
	if b == nil {
		b = &bucket{}
		c.buckets[i] = b
	}
	b.count++
	b.sum += d
}

// precision is how many bits of a latency tell its bucket from the next, below the
// highest one.
const precision = 7

// bucketOf is the number of a latency's bucket. Buckets are one nanosecond wide up to
// 256 ns, and double their width with every doubling of the latency from there.
func bucketOf(d time.Duration) int {
	shift := max(bits.Len64(uint64(d))-precision-1, 0)
	return shift<<precision + int(d>>shift)
}

// Tools returns what was counted so far, by tool.
func (t *Tally) Tools() []Metrics {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Metrics, 0, len(t.tools))
	for _, c := range t.tools {
		m := c.metrics
		for code, calls := range c.failures {
			m.Failures = append(m.Failures, Failures{code, calls})
		}
		slices.SortFunc(m.Failures, func(a, b Failures) int { return cmp.Compare(a.Code, b.Code) })
		m.Latency.P50, m.Latency.P95, m.Latency.P99 = c.quantile(50), c.quantile(95), c.quantile(99)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Metrics) int { return cmp.Compare(a.Tool, b.Tool) })
	return all
}

// quantile is the latency that percent of the calls do not exceed; 0 without calls.
func (c *counts) quantile(percent int) time.Duration {
	rank := (c.metrics.Latency.Count*percent + 99) / 100
	for _, i := range slices.Sorted(maps.Keys(c.buckets)) {
		b := c.buckets[i]
		rank -= b.count
		if rank <= 0 {
			return b.sum / time.Duration(b.count)
		}
	}
	return 0
}
