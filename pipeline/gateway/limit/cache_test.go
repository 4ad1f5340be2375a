package limit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/clock"
)

// of returns a fill that gives a value of a size, to be kept.
func of(content any, size int) func() (Value, bool) {
	return func() (Value, bool) { return Value{Content: content, Size: size}, true }
}

// never is a fill that must not be asked.
func never(t *testing.T) func() (Value, bool) {
	return func() (Value, bool) {
		t.Error("it was got anew")
		return Value{}, false
	}
}

func TestCacheKeepsForItsTime(t *testing.T) {
	v := &clock.Virtual{}
	c := NewCache(v, 10, 100)
	do := func(key string, ttl time.Duration, content int) string {
		value, shared, err := c.Do(ctx, key, ttl, of(content, 1))
		return fmt.Sprint(value.Content, shared, err)
	}
	for i, row := range []struct {
		pause time.Duration
		key   string
		ttl   time.Duration
		want  string
	}{
		{0, "a", 30 * time.Second, "0 false <nil>"},
		{30*time.Second - 1, "a", time.Hour, "0 true <nil>"},
		{1, "a", time.Second, "2 false <nil>"}, // the time is over
		{0, "b", time.Second, "3 false <nil>"},
		{time.Second, "a", time.Second, "4 false <nil>"},
		{0, "none", 0, "5 false <nil>"},
		{0, "none", 0, "6 false <nil>"},
	} {
		v.Advance(row.pause)
		if got := do(row.key, row.ttl, i); got != row.want {
			t.Errorf("step %d: %s, want %s", i, got, row.want)
		}
	}
	c.Clear()
	if got := do("a", time.Second, 9); got != "9 false <nil>" {
		t.Errorf("cleared: %s", got)
	}
	for range 2 {
		if got, _, _ := c.Do(ctx, "failed", time.Hour, func() (Value, bool) { return Value{Content: "no"}, false }); got.Content != "no" {
			t.Errorf("not to be kept: %v", got)
		}
	}
	if c.entries["failed"] != nil {
		t.Error("what is not to be kept was")
	}
}

// Whatever goes in, the bounds hold, and what was used last stays: a list that is
// searched from its end tells the same.
func TestCacheAgainstAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entriesMax, bytesMax := rapid.IntRange(0, 5).Draw(t, "entries"), rapid.IntRange(0, 40).Draw(t, "bytes")
		c := NewCache(&clock.Virtual{}, entriesMax, bytesMax)
		type kept struct {
			key  string
			size int
		}
		var list []kept // the latest last
		total := func() (n int) {
			for _, k := range list {
				n += k.size
			}
			return n
		}
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			key := rapid.SampledFrom([]string{"a", "b", "c", "dd", "eeee", "f", "g"}).Draw(t, "key")
			size := rapid.IntRange(0, 15).Draw(t, "size")
			at := -1
			for i, k := range list {
				if k.key == key {
					at = i
				}
			}
			switch {
			case at >= 0:
				k := list[at]
				list = append(append(list[:at:at], list[at+1:]...), k)
			case size+len(key) <= bytesMax:
				list = append(list, kept{key, size + len(key)})
				for len(list) > entriesMax || total() > bytesMax {
					list = list[1:]
				}
			}
			if _, shared, _ := c.Do(ctx, key, time.Hour, of(key, size)); shared != (at >= 0) {
				t.Fatalf("%s from the cache: %t, want %t", key, shared, at >= 0)
			}
			if len(c.entries) != len(list) || c.recent.Len() != len(list) || c.bytes != total() {
				t.Fatalf("%d entries of %d bytes, want %d of %d", len(c.entries), c.bytes, len(list), total())
			}
		}
	})
}

func TestCacheMakesOneCallOfMany(t *testing.T) {
	for _, keep := range []bool{true, false} { // a failure is everybody's answer, too
		onBoth(t, func(t *testing.T, timeline clock.Timeline) {
			c := NewCache(timeline, 10, 100)
			var fills, shared atomic.Int32
			for range 5 {
				timeline.Go(func() {
					value, s, err := c.Do(ctx, "k", time.Hour, func() (Value, bool) {
						sleep(timeline, time.Second)
						return Value{Content: fills.Add(1)}, keep
					})
					if err != nil || value.Content != int32(1) {
						t.Errorf("%v, %v; want the first", value.Content, err)
					}
					if s {
						shared.Add(1)
					}
				})
			}
			sleep(timeline, time.Minute)
			if fills.Load() != 1 || shared.Load() != 4 {
				t.Errorf("got %d times, %d shared it; want once and 4", fills.Load(), shared.Load())
			}
			if _, s, _ := c.Do(ctx, "k", time.Hour, of(int32(2), 1)); s != keep {
				t.Errorf("kept: %t, want %t", s, keep)
			}
		})
	}
}

// One that waits may leave; one that gets the value and gives up leaves it to the next.
func TestCacheCancel(t *testing.T) {
	onBoth(t, func(t *testing.T, timeline clock.Timeline) {
		c := NewCache(timeline, 10, 100)
		first, giveUp := context.WithCancel(ctx)
		second, leave := context.WithCancel(ctx)
		say := make([]string, 4)
		var mu sync.Mutex
		ask := func(i int, ctx context.Context) {
			timeline.Go(func() {
				sleep(timeline, time.Duration(i)*ms)
				value, shared, err := c.Do(ctx, "k", time.Hour, func() (Value, bool) {
					clock.Sleep(ctx, timeline, time.Second)
					return Value{Content: i}, true
				})
				mu.Lock()
				defer mu.Unlock()
				say[i] = fmt.Sprint(value.Content, shared, err)
			})
		}
		ask(0, first)
		ask(1, second)
		ask(2, ctx)
		ask(3, ctx)
		sleep(timeline, 10*ms)
		leave()
		sleep(timeline, 10*ms)
		giveUp()
		sleep(timeline, time.Minute)
		mu.Lock()
		defer mu.Unlock()
		want := []string{"0 false <nil>", "<nil> false context canceled", "2 false <nil>", "2 true <nil>"}
		if say[3] == "3 false <nil>" && timeline == (clock.Wall{}) { // either of the two is next
			want[2], want[3] = "3 true <nil>", "3 false <nil>"
		}
		for i := range say {
			if say[i] != want[i] {
				t.Errorf("caller %d: %s, want %s", i, say[i], want[i])
			}
		}
	})
}

func TestCacheClearedInFlight(t *testing.T) {
	onBoth(t, func(t *testing.T, timeline clock.Timeline) {
		c := NewCache(timeline, 10, 100)
		slow := func(content string) func() (Value, bool) {
			return func() (Value, bool) {
				sleep(timeline, time.Second)
				return Value{Content: content}, true
			}
		}
		check := func(ttl time.Duration, fill func() (Value, bool), want string, wantShared bool) {
			if value, shared, err := c.Do(ctx, "k", ttl, fill); err != nil || value.Content != want || shared != wantShared {
				t.Errorf("%v, shared %t, %v; want %s, %t", value.Content, shared, err, want, wantShared)
			}
		}
		timeline.Go(func() { check(time.Hour, slow("old"), "old", false) })
		timeline.Go(func() {
			sleep(timeline, ms)
			check(time.Hour, never(t), "old", true) // it asked before
		})
		sleep(timeline, 10*ms)
		c.Clear()
		timeline.Go(func() { check(time.Hour, slow("new"), "new", false) })
		sleep(timeline, time.Second) // the old has landed, the new is under way
		check(time.Hour, never(t), "new", true)
		sleep(timeline, time.Minute)
		check(time.Hour, never(t), "new", true)
	})
}

// A fill that panics takes nobody with it.
func TestCachePanic(t *testing.T) {
	onBoth(t, func(t *testing.T, timeline clock.Timeline) {
		c := NewCache(timeline, 10, 100)
		timeline.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was lost")
				}
			}()
			c.Do(ctx, "k", time.Hour, func() (Value, bool) {
				sleep(timeline, time.Second)
				panic("no")
			})
		})
		sleep(timeline, ms)
		value, shared, err := c.Do(ctx, "k", time.Hour, of("yes", 1))
		if value.Content != "yes" || shared || err != nil {
			t.Errorf("%v, %t, %v; want yes of its own", value.Content, shared, err)
		}
	})
}

func TestCacheAmongGoroutines(t *testing.T) {
	c := NewCache(clock.Wall{}, 4, 1000)
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, time.Duration(i%5)*ms)
			defer cancel()
			key := fmt.Sprint(i % 8)
			value, _, err := c.Do(ctx, key, ms, func() (Value, bool) {
				time.Sleep(50 * time.Microsecond)
				return Value{Content: key, Size: 1}, i%3 > 0
			})
			if err == nil && value.Content != key {
				t.Errorf("%v for %s", value.Content, key)
			}
			if i%50 == 0 {
				c.Clear()
			}
		})
	}
	all.Wait()
	if len(c.flights) > 0 || len(c.entries) > 4 {
		t.Errorf("%d flights and %d entries are left", len(c.flights), len(c.entries))
	}
}

func TestKeyOfArguments(t *testing.T) {
	for _, row := range []struct {
		a, b  string
		alike bool
	}{
		{`{"a":1.0}`, `{"a":1}`, true},
		{`{"a":1e2}`, `{ "a" : 100 }`, true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":"\u00e9\/"}`, `{"a":"é/"}`, true},
		{`{"a":9007199254740993}`, `{"a":9007199254740993}`, true},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false}, // 2^53 and its neighbour
		{`{"a":-9007199254740993}`, `{"a":-9007199254740992}`, false},
		{`{"a":123456789.123456789}`, `{"a":123456789.123456788}`, false},
		{`{"a":0.12345678901234567}`, `{"a":0.12345678901234568}`, false},
		{`{"a":1.2345678901234567e3}`, `{"a":1.2345678901234566e3}`, false},
		{`{"a":1e-400}`, `{"a":0}`, false},
		{`{"a":1e20}`, `{"a":100000000000000000000}`, true},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
	} {
		a, errA := Key("t", 1, "p", json.RawMessage(row.a))
		b, errB := Key("t", 1, "p", json.RawMessage(row.b))
		if errA != nil || errB != nil || (a == b) != row.alike {
			t.Errorf("%s and %s: alike %t, want %t (%v, %v)", row.a, row.b, a == b, row.alike, errA, errB)
		}
	}
	for _, bad := range []string{``, `{`, `{"a":1} x`, `{"a":9007199254740993`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, `{"a":1e400}`, strings.Repeat("[", 1e6), "{\"a\":\"\xff\"}"} {
		if key, err := Key("t", 1, "p", json.RawMessage(bad)); err == nil {
			t.Errorf("%.20q has the key %q", bad, key)
		}
	}
}

func TestKeyTellsItsPartsApart(t *testing.T) {
	keys := make(map[string]string)
	for _, id := range []string{"a", "b", ""} {
		for _, serial := range []uint64{1, 11, 1<<64 - 1} {
			for _, principal := range []string{"", "1", "p\x001", `{}`, `x{}`} {
				for _, arguments := range []string{`{}`, `1`, `{"p":1}`} {
					key, err := Key(id, serial, principal, json.RawMessage(arguments))
					if err != nil {
						t.Fatal(err)
					}
					call := fmt.Sprintf("%q", []any{id, serial, principal, arguments})
					if other, ok := keys[key]; ok {
						t.Errorf("%s and %s have one key", call, other)
					}
					keys[key] = call
				}
			}
		}
	}
}

// Two integers have one key only if they are one integer.
func TestKeyOfIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		m := n + rapid.Int64Range(-3, 3).Draw(t, "off")
		a, errA := Key("t", 1, "p", json.RawMessage(fmt.Sprintf(`{"a":%d}`, n)))
		b, errB := Key("t", 1, "p", json.RawMessage(fmt.Sprintf(`{"a":%d}`, m)))
		if errA != nil || errB != nil || (a == b) != (n == m) {
			t.Fatalf("%d and %d: %q, %q, %v, %v", n, m, a, b, errA, errB)
		}
	})
}

func FuzzKey(f *testing.F) {
	for _, seed := range []string{`{"a":1.0}`, `{"a":9007199254740993,"b":[null,true,"\u00e9"]}`, `{"a":1,"a":2}`, `[[[`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		key, err := Key("t", 1, "p", arguments)
		if err != nil {
			return
		}
		if !json.Valid(arguments) {
			t.Fatalf("%q is no JSON, and has the key %q", arguments, key)
		}
		canonical, ok := strings.CutPrefix(key, "t\x001\x001\x00p")
		if !ok {
			t.Fatalf("the key %q", key)
		}
		if again, err := Key("t", 1, "p", json.RawMessage(canonical)); err != nil || again != key {
			t.Fatalf("canonical %q has the key %q, not %q (%v)", canonical, again, key, err)
		}
	})
}
