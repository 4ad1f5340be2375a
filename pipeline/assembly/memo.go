package assembly

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// memoCapacity is how many assemblies are kept.
const memoCapacity = 8

// MemoMode says when a kept assembly runs out.
type MemoMode string

// The modes.
const (
	// MemoTTL: with the first probe verdict that the assembly rests on. The
	// default.
	MemoTTL MemoMode = ""
	// MemoReference: never, and the oldest goes first. This is how the
	// reference behaves; a tool whose probe turns false stays visible, and one
	// whose probe turns true stays invisible, until something else changes.
	MemoReference MemoMode = "reference"
	// MemoOff keeps nothing.
	MemoOff MemoMode = "off"
)

// memo keeps the last assemblies, most recently used first.
type memo struct {
	mode    MemoMode
	entries []memoEntry
}

type memoEntry struct {
	key       string
	assembled *Assembled
	// until is when the entry runs out; the zero time means never.
	until time.Time
}

// key writes down everything that an assembly depends on. The order in which
// toolsets are named does not matter, nor does naming one twice; naming none is
// not the same as naming nothing at all.
func (m *memo) key(generation uint64, r Request) string {
	if m.mode == MemoOff {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d|%v|%d|%t|%t|%t|", generation, r.Config, r.ContextLength, r.SkipBridge, r.KanbanWorker, r.DelegatedChild)
	if r.Enabled == nil {
		b.WriteString("nil")
	}
	for _, list := range [][]string{r.Enabled, r.Disabled} {
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		for _, name := range slices.Compact(sorted) {
			fmt.Fprintf(&b, "%q", name)
		}
		b.WriteByte('|')
	}
	return b.String()
}

func (m *memo) get(key string, now time.Time) (*Assembled, bool) {
	i := slices.IndexFunc(m.entries, func(e memoEntry) bool { return e.key == key })
	if i < 0 || m.mode == MemoOff {
		return nil, false
	}
	e := m.entries[i]
	if m.mode == MemoReference {
		return e.assembled, true
	}
	m.entries = slices.Delete(m.entries, i, i+1)
	if !e.until.IsZero() && !now.Before(e.until) {
		return nil, false
	}
	m.entries = slices.Insert(m.entries, 0, e)
	return e.assembled, true
}

func (m *memo) put(key string, a *Assembled, now, until time.Time) {
	if m.mode == MemoOff || (m.mode == MemoTTL && !until.IsZero() && !now.Before(until)) {
		return
	}
	m.entries = slices.Insert(m.entries, 0, memoEntry{key: key, assembled: a, until: until})
	if len(m.entries) > memoCapacity {
		m.entries = m.entries[:memoCapacity]
	}
}
