package limit

import (
	"container/list"
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/toolgauge/toolgauge/internal/clock"
)

// Value is what the cache keeps.
type Value struct {
	Content any
	Size    int // bytes, about
}

// Cache keeps values for a time, and makes concurrent calls for one key a single one.
// It is bounded by entries and by bytes; those used longest ago go first. (otter's
// clock can be set, but its policy runs on goroutines of its own, whose order a replay
// could not repeat.)
type Cache struct {
	time                 clock.Timeline
	entriesMax, bytesMax int

	mu      sync.Mutex
	entries map[string]*list.Element // of *entry
	recent  *list.List               // the latest first
	bytes   int
	flights map[string]*flight
	epoch   int // counts the clearings
}

type entry struct {
	key     string
	value   Value
	expires time.Time
}

// size is what an entry takes, in bytes: the key holds the arguments of a call.
func (e *entry) size() int { return len(e.key) + e.value.Size }

// flight is a value that somebody is getting.
type flight struct {
	landed clock.Event
	value  Value
	ok     bool // false if whoever was getting it gave up
}

// NewCache returns an empty cache.
func NewCache(t clock.Timeline, entriesMax, bytesMax int) *Cache {
	return &Cache{time: t, entriesMax: entriesMax, bytesMax: bytesMax,
		entries: make(map[string]*list.Element), recent: list.New(), flights: make(map[string]*flight)}
}

// Do returns the value of a key, from the cache or from whoever is getting it already,
// which shared reports; else it gets it with fill, which says whether to keep it. The
// error is the context's.
func (c *Cache) Do(ctx context.Context, key string, ttl time.Duration, fill func() (value Value, keep bool)) (value Value, shared bool, err error) {
	for {
		c.mu.Lock()
		if kept, ok := c.get(key); ok {
			c.mu.Unlock()
			return kept, true, nil
		}
		f := c.flights[key]
		if f == nil {
			f = &flight{}
			c.flights[key] = f
			epoch := c.epoch
			c.mu.Unlock()
			return c.fly(ctx, f, key, epoch, ttl, fill), false, nil
		}
		c.mu.Unlock()
		if c.time.Wait(ctx, &f.landed, clock.Forever) == clock.Cancelled {
			return Value{}, false, ctx.Err()
		}
		if f.ok {
			return f.value, true, nil
		}
		if err := ctx.Err(); err != nil { // do not take over what cannot be brought to its end
			return Value{}, false, err
		}
	}
}

// fly gets a value. If the context ended meanwhile, whoever waits gets it anew.
func (c *Cache) fly(ctx context.Context, f *flight, key string, epoch int, ttl time.Duration, fill func() (Value, bool)) Value {
	defer func() {
		c.mu.Lock()
		if c.flights[key] == f {
			delete(c.flights, key)
		}
		c.mu.Unlock()
		f.landed.Happen()
	}()
	value, keep := fill()
	f.value, f.ok = value, ctx.Err() == nil
	if keep && f.ok && ttl > 0 {
		c.mu.Lock()
		if c.epoch == epoch {
			c.put(&entry{key, value, c.time.Now().Add(ttl)})
		}
		c.mu.Unlock()
	}
	return value
}

// Clear forgets everything. What is being got now is not kept either, and those who ask
// from now on do not wait for it.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	clear(c.entries)
	clear(c.flights)
	c.recent.Init()
	c.bytes = 0
}

func (c *Cache) get(key string) (Value, bool) {
	at, ok := c.entries[key]
	if !ok {
		return Value{}, false
	}
	e := at.Value.(*entry)
	if !c.time.Now().Before(e.expires) {
		c.drop(at)
		return Value{}, false
	}
	c.recent.MoveToFront(at)
	return e.value, true
}

func (c *Cache) put(e *entry) {
	if at, ok := c.entries[e.key]; ok {
		c.drop(at)
	}
	if e.size() > c.bytesMax {
		return // it would take the place of all others
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.bytes += e.size()
	for c.bytes > c.bytesMax || len(c.entries) > c.entriesMax {
		c.drop(c.recent.Back())
	}
}

func (c *Cache) drop(at *list.Element) {
	e := at.Value.(*entry)
	c.recent.Remove(at)
	delete(c.entries, e.key)
	c.bytes -= e.size()
}

// inexact matches numbers that a float64 may not tell apart: those of more than 15
// digits, or of exponents near its ends. Canonical JSON (RFC 8785) writes numbers as
// doubles, and would make 9007199254740993 and 9007199254740992 alike.
var inexact = regexp.MustCompile(`(?:[0-9]\.?){16}|[eE][+-]?[0-9]{3}`)

// Key is the key of a call: tool, the card's serial, who calls, and the arguments in
// canonical form. Arguments with numbers that a double may not hold stay as they were
// written. It fails for arguments that are no JSON, or have no canonical form: a name
// twice in one object, half a surrogate pair, a number that no double reaches.
func Key(id string, serial uint64, principal string, arguments json.RawMessage) (string, error) {
	canonical, err := jcs.Transform(arguments)
	if err != nil {
		return "", err
	}
	if inexact.Match(arguments) {
		canonical = arguments
	}
	var b strings.Builder
	b.Grow(len(id) + len(principal) + len(canonical) + 24)
	b.WriteString(id)
	b.WriteByte(0)
	b.WriteString(strconv.FormatUint(serial, 10))
	b.WriteByte(0)
	b.WriteString(strconv.Itoa(len(principal)))
	b.WriteByte(0)
	b.WriteString(principal)
	b.Write(canonical)
	return b.String(), nil
}
