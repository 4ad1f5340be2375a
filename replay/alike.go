package replay

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/sessions"
)

// Alike is what one session gave under arms that behaved alike in it: to the last
// token the same under each.
type Alike struct {
	Arms []int // positions in Options.Arms, ascending; at least one
	// Row is that of each arm but for its name, its assumptions, the listing's
	// budget and the stability, which are left out.
	Row metrics.SessionArm
	// Calls are those of each arm; their field Arm is left out.
	Calls []metrics.Call
}

// PlayAlike plays one session under every arm, as Play does, but once for all
// arms that behave alike. It judges no searches and no stability. Every arm is in
// one element of the result, and these are in the order of their first arms.
func (p *Player) PlayAlike(ctx context.Context, s *sessions.Session) ([]Alike, error) {
	st, err := p.stage(s)
	if err != nil {
		return nil, err
	}
	defer st.settle()
	c := p.company(st)
	if err := p.timeline(st, func(n int, t *sessions.Turn) error { return c.turn(ctx, n, t) }); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.SessionID, err)
	}
	st.settle()
	all := make([]Alike, len(c.parties))
	for i, party := range c.parties {
		party.play.end()
		row := party.play.row
		row.Arm, row.Assumptions, row.BudgetTokens = "", metrics.Assumptions{}, 0
		for j := range party.play.calls {
			party.play.calls[j].Arm = ""
		}
		all[i] = Alike{Arms: party.arms, Row: row, Calls: party.play.calls}
	}
	slices.SortFunc(all, func(a, b Alike) int { return cmp.Compare(a.Arms[0], b.Arms[0]) })
	return all, nil
}

// RunAlike is Run with PlayAlike in the place of Play.
func RunAlike(ctx context.Context, o Options, all iter.Seq2[*sessions.Session, error], workers int, emit func([]Alike) error) error {
	return run(ctx, o, all, workers, (*Player).PlayAlike, emit)
}

// company is a session's arms, in parties that part as soon as the pipeline
// treats them differently.
type company struct {
	player  *Player
	stage   *stage
	parties []party
}

// party is arms that the session has treated alike so far, and the play that
// stands for all of them: that of the first.
type party struct {
	arms []int
	play *play
}

// company starts a session with one party for all arms that differ in nothing but
// what a surface and the answer to a search can show. An arm that does not keep
// its assemblies by the default rule is alone, and judged as well: what it sees
// depends on what was assembled before, and to judge is to assemble. So is one in
// whose calls time passes: a turn of it cannot be played again. Every arm
// sees its first surface now, before anything happens.
func (p *Player) company(st *stage) *company {
	type group struct {
		rest       Arm
		deferNames string
		alone      int
	}
	c := &company{player: p, stage: st}
	at, seen := make(map[group]int), make(map[sight]*assembly.Assembled)
	judged := make(map[judgedBy][]metrics.Search)
	for i, arm := range p.arms {
		var searches map[judgedBy][]metrics.Search
		g := group{rest: arm.Arm, deferNames: strings.Join(arm.deferNames, " ")}
		if arm.Memo == MemoTTL && !p.options.timed(arm.Arm) {
			c.surface(seen, i)
		} else {
			g.alone, searches = 1+i, judged
			st.views[i].session.Assembler.Assemble(st.views[i].session.Request)
		}
		g.rest.Name, g.rest.Bridge, g.rest.ToolSearch, g.rest.Retriever = "", false, bridge.Config{}, ""
		j, there := at[g]
		if !there {
			j = len(c.parties)
			at[g] = j
			c.parties = append(c.parties, party{play: newPlay(p, st, arm, st.views[i], searches)})
		}
		c.parties[j].arms = append(c.parties[j].arms, i)
	}
	return c
}

// turn plays one intent in every party. Those whose arms see different surfaces
// part before it. Those whose arms would have got other answers to a search that
// was made part too, and play the turn again from its beginning.
func (c *company) turn(ctx context.Context, n int, t *sessions.Turn) error {
	var after []party
	seen := make(map[sight]*assembly.Assembled)
	for _, whole := range c.parties {
		for _, p := range c.part(whole, func(a, b int) bool {
			return sameSurface(c.surface(seen, a).Definitions, c.surface(seen, b).Definitions)
		}) {
			parted, err := c.playTurn(ctx, p, n, t)
			if err != nil {
				return fmt.Errorf("under arm %s: %w", p.play.arm.Name, err)
			}
			after = append(after, parted...)
		}
	}
	c.parties = after
	return nil
}

func (c *company) playTurn(ctx context.Context, p party, n int, t *sessions.Turn) ([]party, error) {
	first := c.answers(p.arms[0])
	if !slices.ContainsFunc(p.arms, func(arm int) bool { return c.answers(arm) != first }) {
		return []party{p}, p.play.turn(ctx, n, t)
	}
	before, searched := p.play.clone(), p.play.searched
	if err := p.play.turn(ctx, n, t); err != nil || p.play.searched == searched {
		return []party{p}, err
	}
	after := p.play
	p.play = before
	parted := c.part(p, func(a, b int) bool { return c.answers(a) == c.answers(b) })
	parted[0].play = after
	for _, p := range parted[1:] {
		if err := p.play.turn(ctx, n, t); err != nil {
			return nil, err
		}
	}
	return parted, nil
}

// part splits a party into those whose arms are alike. The first keeps the play.
func (c *company) part(whole party, alike func(a, b int) bool) []party {
	var parts []party
	for _, arm := range whole.arms {
		i := slices.IndexFunc(parts, func(p party) bool { return alike(p.arms[0], arm) })
		if i < 0 {
			i = len(parts)
			parts = append(parts, party{})
		}
		parts[i].arms = append(parts[i].arms, arm)
	}
	parts[0].play = whole.play
	for i := 1; i < len(parts); i++ {
		parts[i].play = whole.play.clone()
		parts[i].play.arm, parts[i].play.view = c.player.arms[parts[i].arms[0]], c.stage.views[parts[i].arms[0]]
	}
	return parts
}

// sight is what a surface depends on, within one turn.
type sight struct {
	assembler *assembly.Assembler
	shown     bridge.Shown
}

// surface is what an arm sees now.
func (c *company) surface(seen map[sight]*assembly.Assembled, arm int) *assembly.Assembled {
	s := c.stage.views[arm].session
	key := sight{s.Assembler, s.Request.Config.Shown(s.Request.ContextLength)}
	assembled := seen[key]
	if assembled == nil {
		assembled = s.Assembler.Assemble(s.Request)
		seen[key] = assembled
	}
	return assembled
}

// answers is what the answer to a search depends on, where the surface is the
// same.
type answers struct {
	assembler  *assembly.Assembler
	limit, max int
}

func (c *company) answers(arm int) answers {
	s := c.stage.views[arm].session
	return answers{s.Assembler, s.Request.Config.SearchDefaultLimit, s.Request.Config.MaxSearchLimit}
}

// clone is a play that goes on from here by itself.
func (p *play) clone() *play {
	c := *p
	h := *p.history
	h.buffer = nil
	c.history = &h
	c.described, c.called = maps.Clone(p.described), maps.Clone(p.called)
	c.calls, c.surfaces = slices.Clone(p.calls), slices.Clip(p.surfaces)
	c.row.PromptByTurn, c.row.EffectiveByTurn = slices.Clip(p.row.PromptByTurn), slices.Clip(p.row.EffectiveByTurn)
	return &c
}
