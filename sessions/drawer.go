package sessions

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// The labels of the streams that sessions are drawn from. Each aspect has its
// own, so that more draws in one never move another. Toolsets and servers come
// from the stream of [distributions.Distribution.Rows]: row i of a distribution
// and session i drawn from it have the same ones.
const (
	ShapeLabel  = "sessions/shape"  // distribution, number of turns, context length
	TurnsLabel  = "sessions/turns"  // intents
	TimeLabel   = "sessions/time"   // gaps between turns
	EventsLabel = "sessions/events" // what happens between turns, and when
)

// drawRule names the rules of Draw. It goes into every session id: other rules
// would draw other sessions from the same options.
const drawRule = "sessions 2"

// Gaps between turns, in milliseconds of session time. Mostly a user reads an
// answer and types on; one gap in ten is a break, long enough to outlive prompt
// caches and probe verdicts. These are assumptions, not observations.
const (
	gapMinMS, gapMaxMS     = 10_000, 120_000
	breakMinMS, breakMaxMS = 300_000, 3_600_000
	breakShare             = 0.1
)

// Drawer draws the sessions of one corpus and one set of options. It may be used
// by several goroutines at once.
type Drawer struct {
	corpus  *corpus.Corpus
	options Options
	mix     *weighted
	sources []string
	// named holds the toolsets that the mix names: does the corpus have it?
	named map[string]bool
	// fixed holds those of them that are no source's.
	fixed map[string]bool
	reach *reach
	// turns holds the turn of each intent; absent, the positions of those whose
	// capability no tool has.
	turns  []Turn
	absent []int
	// tools holds the tools of each source; offered, the toolsets that may be
	// switched on in the course of a session.
	tools    map[string][]*corpus.Tool
	offered  []string
	identity [sha256.Size]byte
	notes    []string
}

// NewDrawer indexes a corpus. It fails on options out of range, on a
// distribution that the corpus does not have, and if there is no intent that any
// session could ask for.
func NewDrawer(c *corpus.Corpus, o Options) (*Drawer, error) {
	o = o.WithDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	mix, err := newWeighted(o.Mix, c.Distributions)
	if err != nil {
		return nil, err
	}
	d := &Drawer{corpus: c, options: o, mix: mix, sources: c.SourceNames(), turns: make([]Turn, len(c.Intents))}
	for i, in := range c.Intents {
		if d.turns[i], err = turnOf(in); err != nil {
			return nil, err
		}
		if in.Class == corpus.Absent && !o.NoAbsent {
			d.absent = append(d.absent, i)
		}
	}
	d.tools, d.offered = sourceTools(c), offeredToolsets(c)
	grants := d.grants()
	d.reach = newReach(c, grants)
	d.takeNotes()
	if served := d.reach.within(grants); served.size+len(d.absent) == 0 {
		return nil, fmt.Errorf("corpus %s: no intent can be asked for with the toolsets and servers of the distributions given\nhint: %s", c.Name, d.noIntentHint())
	}
	return d, d.identify()
}

// turnOf prepares an intent for sessions. Lists are never nil, and argument
// values are compact, so that a session equals itself read back from a file.
func turnOf(in *corpus.Intent) (Turn, error) {
	t := Turn{
		IntentID: in.ID, Utterance: in.Utterance, Language: in.Language, Class: in.Class,
		Gold: make([]corpus.Gold, len(in.Gold)), Queries: []string{},
	}
	for i, g := range in.Gold {
		arguments := make([]corpus.Argument, len(g.Arguments))
		for j, a := range g.Arguments {
			value, err := rawjson.Compact(a.Value)
			if err != nil {
				return Turn{}, fmt.Errorf("intent %q: argument %q of gold %d is no JSON: %w\nhint: correct the value", in.ID, a.Name, i, err)
			}
			arguments[j] = corpus.Argument{Name: a.Name, Value: value, Stated: a.Stated}
		}
		t.Gold[i] = corpus.Gold{Tool: g.Tool, Arguments: arguments, DependsOn: append([]int{}, g.DependsOn...)}
	}
	if err := t.check(); err != nil {
		return Turn{}, fmt.Errorf("intent %q: %w", in.ID, err)
	}
	return t, nil
}

// grants returns the toolsets that a session of the mix may enable, each once:
// those that its distributions name, then the sources if servers are drawn.
func (d *Drawer) grants() []string {
	var names []string
	d.named, d.fixed = make(map[string]bool), make(map[string]bool)
	servers := 0
	for _, dist := range d.mix.members {
		servers = max(servers, dist.Servers)
		for _, e := range dist.Entries {
			if _, seen := d.named[e.Toolset]; seen {
				continue
			}
			d.named[e.Toolset] = d.corpus.HasToolset(e.Toolset)
			_, d.fixed[e.Toolset] = d.corpus.Toolsets.Static(e.Toolset)
			if d.named[e.Toolset] {
				names = append(names, e.Toolset)
			}
		}
	}
	if servers > 0 {
		for _, source := range d.sources {
			if !d.named[source] {
				names = append(names, source)
			}
		}
	}
	return names
}

// takeNotes records what of the options cannot be given.
func (d *Drawer) takeNotes() {
	likely := func() float64 { return 0 } // every toolset comes up, so only what is missing warns
	var short []string
	for _, dist := range d.mix.members {
		servers := d.sources
		if dist.Servers > len(servers) {
			short = append(short, fmt.Sprintf("%q (%d)", dist.Name, dist.Servers))
			dist.Servers = len(servers)
		}
		d.notes = append(d.notes, dist.Sample(likely, d.hasToolset, servers).Warnings...)
	}
	if len(short) > 0 {
		d.notes = append(d.notes, fmt.Sprintf("the corpus has fewer MCP servers (%d) than these distributions ask for, which take what there is: %s",
			len(d.sources), strings.Join(short, ", ")))
	}
	if d.reach.unserved > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%d of %d intents need a tool that no toolset or server of the distributions gives; they are never asked for",
			d.reach.unserved, len(d.corpus.Intents)))
	}
}

func (d *Drawer) hasToolset(name string) bool { return d.named[name] }

func (d *Drawer) noIntentHint() string {
	if len(d.corpus.Intents) == 0 {
		return "the corpus has no intents: add some, or give its tools descriptions that they can be derived from"
	}
	return "draw from a distribution with more toolsets or servers, or add intents for these"
}

// identify hashes what all sessions of the drawer depend on.
func (d *Drawer) identify() error {
	text, err := json.Marshal(struct {
		Rule          string
		CorpusSHA256  string
		Options       Options
		Distributions []distributions.Distribution
	}{drawRule, d.corpus.SHA256, d.options, d.mix.members})
	if err != nil {
		return fmt.Errorf("cannot identify the options: %w\nhint: check their numbers", err)
	}
	d.identity = sha256.Sum256(text)
	return nil
}

// sessionID returns the first 16 hex digits of a digest of (corpus, options,
// index).
func (d *Drawer) sessionID(index int64) string {
	var text [sha256.Size + 8]byte
	copy(text[:], d.identity[:])
	binary.BigEndian.PutUint64(text[sha256.Size:], uint64(index))
	sum := sha256.Sum256(text[:])
	return hex.EncodeToString(sum[:8])
}

// Options returns the options with their defaults.
func (d *Drawer) Options() Options {
	o := d.options
	o.Mix, o.ContextLengths = slices.Clone(o.Mix), slices.Clone(o.ContextLengths)
	return o
}

// Notes returns what of the options the corpus cannot give, a sentence each:
// toolsets that it lacks, fewer servers than asked for, intents out of every
// session's reach.
func (d *Drawer) Notes() []string { return slices.Clone(d.notes) }

// NoIntentError says that a session has no intent to draw from: the toolsets and
// servers that it got serve none, and the corpus has no absent ones. The other
// sessions of the drawer are not touched by it.
type NoIntentError struct {
	RowIndex          int64
	Toolsets, Servers []string
	hint              string
}

func (e *NoIntentError) Error() string {
	return fmt.Sprintf("session %d: no intent is served by its toolsets %q and servers %q\nhint: %s", e.RowIndex, e.Toolsets, e.Servers, e.hint)
}

// Draw draws the session of one index, which must not be negative:
//
//  1. One of the distributions, in proportion to its weight; a number of turns;
//     a context length.
//
//  2. Toolsets and servers, by [distributions.Distribution.Sample]. A toolset of a
//     source ("mcp-github") that the distribution names counts among the servers.
//
//  3. For each turn, with a chance of AbsentShare, an absent intent; otherwise an
//     intent whose golds are all in reach of these toolsets and servers. Every such
//     intent is equally likely, whoever owns its tools: how often a deferred tool
//     is needed follows from the corpus and the distribution and is not steered.
//     No intent comes twice before all in reach have come. If none is in reach,
//     every turn is absent; if the corpus has none of these either, the error is a
//     [*NoIntentError].
//
//  4. When: the first turn at 0; each later one 10 s to 2 min after, or, one time
//     in ten, after a break of 5 min to 1 h, uniformly.
//
//  5. Each turn rolls for an event with a chance of EventShare. It comes at any
//     moment, equally likely, between the turn before and this one; that of the
//     first turn comes before the second, so a session of one turn has none. What
//     happens is drawn by weight among what is possible: a server leaves (25) or
//     its probe fails (25); one that the session never had connects (10); of a
//     server a tool goes, is edited or comes back (25); a toolset is switched off
//     (7), or one on that the session never had (8). A session without servers
//     gets no events of servers, one without toolsets none of toolsets.
//
//  6. What leaves, fails or is switched off is back after one to three turns. Its
//     return takes the place of an event that rolled for a later turn: with ends
//     counted, there are EventShare events a turn on average. If none rolled, such
//     a thing happens only if the return would lie behind the last turn. The last
//     toolset or server that is usable is never taken away.
//
// Events move nothing else, and turns do not heed them: an intent may be asked for
// while its tool is away, and a server that connects late is not asked for more.
//
// The golds of a session belong to the drawer: they may be read, not changed.
func (d *Drawer) Draw(index int64) (*Session, error) {
	if index < 0 {
		return nil, fmt.Errorf("session %d: the index is negative\nhint: rows are counted from 0", index)
	}
	seed, o := d.options.Seed, &d.options
	shape := distributions.NewStream(seed, ShapeLabel, uint64(index))
	dist := d.mix.pick(shape.Float64())
	turns := o.TurnsMin + shape.IntN(o.TurnsMax-o.TurnsMin+1)
	s := &Session{
		SessionID: d.sessionID(index), RowIndex: index, Seed: seed, Distribution: dist.Name,
		ContextLength: o.ContextLengths[shape.IntN(len(o.ContextLengths))],
		CorpusSHA256:  d.corpus.SHA256,
	}
	rolls := distributions.NewStream(seed, distributions.RowLabel+"/"+dist.Name, uint64(index))
	s.Toolsets, s.Servers = d.enable(dist.Sample(rolls.Float64, d.hasToolset, d.sources))
	if err := d.addTurns(s, turns); err != nil {
		return nil, err
	}
	if err := d.addEvents(s); err != nil {
		return nil, err
	}
	return s, nil
}

// enable parts what was drawn into fixed toolsets, in the distribution's order,
// and servers, sorted.
func (d *Drawer) enable(draw distributions.Draw) (toolsets, servers []string) {
	toolsets, servers = []string{}, draw.Servers
	for _, name := range draw.Toolsets {
		if d.fixed[name] {
			toolsets = append(toolsets, name)
		} else {
			servers = append(servers, name)
		}
	}
	slices.Sort(servers)
	return toolsets, slices.Compact(servers)
}

// addTurns draws a number of turns into s, whose toolsets are drawn.
func (d *Drawer) addTurns(s *Session, turns int) error {
	served := d.reach.within(s.Toolsets, s.Servers)
	if served.size+len(d.absent) == 0 {
		return &NoIntentError{RowIndex: s.RowIndex, Toolsets: s.Toolsets, Servers: s.Servers, hint: d.noIntentHint()}
	}
	stream := distributions.NewStream(s.Seed, TurnsLabel, uint64(s.RowIndex))
	time := distributions.NewStream(s.Seed, TimeLabel, uint64(s.RowIndex))
	servedDeck, absentDeck := deck{size: served.size}, deck{size: len(d.absent)}
	s.Events = make([]Event, turns)
	at := int64(0)
	for i := range s.Events {
		// The uniform is taken whether or not it decides, so that turns keep their
		// places in the stream.
		absent := stream.Float64() < AbsentShare && len(d.absent) > 0 || served.size == 0
		var turn Turn
		if absent {
			turn = d.turns[d.absent[absentDeck.deal(stream)]]
		} else {
			turn = d.turns[served.at(servedDeck.deal(stream))]
		}
		if i > 0 {
			at += gapMS(time)
		}
		s.Events[i] = Event{AtMS: at, Kind: KindTurn, Turn: &turn}
	}
	return nil
}

// gapMS draws the time between two turns.
func gapMS(stream *distributions.Stream) int64 {
	low, high := gapMinMS, gapMaxMS
	if stream.Float64() < breakShare {
		low, high = breakMinMS, breakMaxMS
	}
	return int64(low + stream.IntN(high-low+1))
}

// Sessions yields the sessions of a range in order. An error takes the place of
// one session and does not end the sequence; a consumer may stop at it or go on.
func (d *Drawer) Sessions(r Range) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		for i := range max(r.Count, 0) {
			if !yield(d.Draw(r.First + i)) {
				return
			}
		}
	}
}

// Draw draws one session of a corpus: NewDrawer and its Draw in one. For more
// than a few, keep the drawer.
func Draw(c *corpus.Corpus, o Options, index int64) (*Session, error) {
	if c == nil {
		return nil, errors.New("no corpus given\nhint: load one, or take the embedded one")
	}
	d, err := NewDrawer(c, o)
	if err != nil {
		return nil, err
	}
	return d.Draw(index)
}
