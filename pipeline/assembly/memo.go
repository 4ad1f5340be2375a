package assembly

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
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
	// enabled and disabled remember how the last lists of toolsets were written
	// down: one session asks with the same ones again and again.
	enabled, disabled writtenSet
}

// writtenSet is a list of names and the set that it stands for.
type writtenSet struct {
	names []string
	set   string
}

func (w *writtenSet) of(names []string) string {
	if !slices.Equal(w.names, names) {
		w.names, w.set = slices.Clone(names), nameSet(names)
	}
	return w.set
}

type memoEntry struct {
	key       memoKey
	assembled *Assembled
}

// memoKey holds everything that an assembly depends on. The order in which
// toolsets are named does not matter, nor does naming one twice; naming none is
// not the same as naming nothing at all.
type memoKey struct {
	generation, probeEpoch uint64
	config                 bridge.Config
	contextLength          int
	skipBridge             bool
	kanbanWorker           bool
	delegatedChild         bool
	everything             bool
	enabled, disabled      string
}

func (m *memo) key(tools *registry.Registry, r Request) memoKey {
	k := memoKey{
		generation: tools.Generation(), config: r.Config, contextLength: r.ContextLength, skipBridge: r.SkipBridge,
		kanbanWorker: r.KanbanWorker, delegatedChild: r.DelegatedChild,
		everything: r.Enabled == nil, enabled: m.enabled.of(r.Enabled), disabled: m.disabled.of(r.Disabled),
	}
	if m.mode == MemoTTL {
		k.probeEpoch = tools.ProbeEpoch()
	}
	return k
}

// nameSet writes a set of names down, each with its length, so that no two sets
// read the same.
func nameSet(names []string) string {
	size := 0
	for _, name := range names {
		size += len(name) + len("10:")
	}
	var b strings.Builder
	b.Grow(size)
	write := func(name string) {
		var digits [20]byte
		b.Write(strconv.AppendInt(digits[:0], int64(len(name)), 10))
		b.WriteByte(':')
		b.WriteString(name)
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	for i, name := range sorted {
		if i == 0 || name != sorted[i-1] {
			write(name)
		}
	}
	return b.String()
}

func (m *memo) get(key memoKey, now time.Time) (*Assembled, bool) {
	if m.mode == MemoOff {
		return nil, false
	}
	i := slices.IndexFunc(m.entries, func(e memoEntry) bool { return e.key == key })
	if i < 0 {
		return nil, false
	}
	e := m.entries[i]
	if m.mode == MemoReference {
		return e.assembled, true
	}
	m.entries = slices.Delete(m.entries, i, i+1)
	if until := e.assembled.validUntil; !until.IsZero() && !now.Before(until) {
		return nil, false
	}
	m.entries = slices.Insert(m.entries, 0, e)
	return e.assembled, true
}

func (m *memo) put(key memoKey, a *Assembled, now time.Time) {
	if m.mode == MemoOff || (m.mode == MemoTTL && !a.validUntil.IsZero() && !now.Before(a.validUntil)) {
		return
	}
	m.entries = slices.Insert(m.entries, 0, memoEntry{key: key, assembled: a})
	if len(m.entries) > memoCapacity {
		m.entries = m.entries[:memoCapacity]
	}
}
