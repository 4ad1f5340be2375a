package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/sessions"
)

var workerCounts = []int{0, 1, 2, 8}

// tinySessions are sessions of the tiny corpus without an end, of different
// lengths. What stands in place of one is put there by swap: a session, or an
// error.
func tinySessions(c *corpus.Corpus, swap map[int]any) iter.Seq2[*sessions.Session, error] {
	return func(yield func(*sessions.Session, error) bool) {
		for i := 0; ; i++ {
			if err, ok := swap[i].(error); ok {
				if !yield(nil, err) {
					return
				}
				continue
			}
			var turns []sessions.Turn
			for n := range 1 + (i*7)%5 {
				turns = append(turns, asks(fmt.Sprint("turn ", n), saysLetter, gold(sendLetter, "address", "Ada", "body", fmt.Sprint(i))))
			}
			s := tinySession(c, turns...)
			if other, ok := swap[i].(*sessions.Session); ok {
				s = other
			}
			s.SessionID, s.RowIndex = fmt.Sprint("s", i), int64(i)
			if !yield(s, nil) {
				return
			}
		}
	}
}

func first(n int, all iter.Seq2[*sessions.Session, error]) iter.Seq2[*sessions.Session, error] {
	return func(yield func(*sessions.Session, error) bool) {
		left := n
		for s, err := range all {
			if left == 0 || !yield(s, err) {
				return
			}
			left--
		}
	}
}

func cheapArms() []Arm {
	arms := julyArms()
	for i := range arms {
		arms[i].Tokenizer = "chars4"
	}
	return arms
}

// emitted collects observations and checks that they are whole and in order.
type emitted struct {
	t    testing.TB
	arms int
	all  []metrics.Observations
}

func (e *emitted) emit(o metrics.Observations) error {
	if len(o.Arms) != e.arms || len(o.Surfaces) < e.arms || len(o.Calls) == 0 {
		e.t.Errorf("observations %d: %d arms, %d surfaces, %d calls", len(e.all), len(o.Arms), len(o.Surfaces), len(o.Calls))
	} else if o.Arms[0].RowIndex != int64(len(e.all)) {
		e.t.Errorf("observations of session %d emitted as number %d", o.Arms[0].RowIndex, len(e.all))
	}
	e.all = append(e.all, o)
	return nil
}

// The same observations come in the order of the sessions, whatever the number
// of workers, and whichever sessions a worker played before.
func TestRunGivesTheSameForAnyWorkers(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 11})
	var want []metrics.Observations
	for _, workers := range []int{1, 2, 8} {
		got := emitted{t: t, arms: 3}
		err := Run(t.Context(), Options{Corpus: c, Arms: cheapArms()}, d.Sessions(sessions.Range{Count: 12}), workers, got.emit)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			// Each session alone, with a player that has played no other.
			for i := range int64(12) {
				if i%5 == 0 {
					want = append(want, playOne(t, c, cheapArms(), drawSession(t, d, i)))
				} else {
					want = append(want, got.all[i])
				}
			}
		}
		if len(got.all) != 12 || !reflect.DeepEqual(got.all, want) {
			t.Fatalf("%d workers: %d observations, not those of one worker and of sessions played alone", workers, len(got.all))
		}
	}
}

// An error ends a run behind the sessions before it, all of which are emitted,
// and nothing keeps running.
func TestRunStopsAtTheFirstError(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	broken := errors.New("broken")
	stray := tinySession(tiny, asks("x", saysNote, gold(readNote, "title", "rent")))
	stray.Servers = []string{"mcp-depo"}
	for _, c := range []struct {
		name    string
		all     iter.Seq2[*sessions.Session, error]
		emit    func(n int) error
		emitted int
		want    string
	}{
		{"of the sequence", tinySessions(tiny, map[int]any{5: broken}), nil, 5, "broken"},
		{"of the sequence, at once", tinySessions(tiny, map[int]any{0: broken}), nil, 0, "broken"},
		{"of a session", tinySessions(tiny, map[int]any{5: stray}), nil, 5, `session s5: unknown server "mcp-depo"`},
		{"of the first of two", tinySessions(tiny, map[int]any{5: stray, 6: broken}), nil, 5, `session s5: unknown server "mcp-depo"`},
		{"of emit", tinySessions(tiny, nil), func(n int) error {
			if n == 5 {
				return broken
			}
			return nil
		}, 5, "broken"},
	} {
		for _, workers := range workerCounts {
			t.Run(fmt.Sprintf("%s, %d workers", c.name, workers), func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				got := emitted{t: t, arms: 3}
				err := Run(t.Context(), Options{Corpus: tiny, Arms: cheapArms(), Repeats: 1}, c.all, workers, func(o metrics.Observations) error {
					if c.emit != nil {
						if err := c.emit(len(got.all)); err != nil {
							return err
						}
					}
					return got.emit(o)
				})
				if err == nil || !strings.HasPrefix(err.Error(), c.want) || c.want == "broken" && !errors.Is(err, broken) {
					t.Errorf("error %v, want %s", err, c.want)
				}
				if len(got.all) != c.emitted {
					t.Errorf("%d sessions emitted, want %d", len(got.all), c.emitted)
				}
			})
		}
	}
}

// A cancelled run ends with the context's error; what was emitted is whole and
// in order, and nothing keeps running.
func TestRunCancelled(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	for _, workers := range workerCounts {
		for _, at := range []int{0, 1, 7} {
			t.Run(fmt.Sprintf("%d workers, at %d", workers, at), func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				got := emitted{t: t, arms: 3}
				if at == 0 {
					cancel(nil)
				}
				err := Run(ctx, Options{Corpus: tiny, Arms: cheapArms(), Repeats: 1}, tinySessions(tiny, nil), workers, func(o metrics.Observations) error {
					if len(got.all) == at-1 {
						cancel(nil)
					}
					return got.emit(o)
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want the context's", err)
				}
				if len(got.all) != at {
					t.Errorf("%d sessions emitted, want %d", len(got.all), at)
				}
			})
		}
	}
}

// A run is not held up by sessions that take long to come: it ends when the
// sequence does, and an empty one emits nothing.
func TestRunOfNoSessions(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	tiny := loadCorpus(t, tinyFiles)
	for _, n := range []int{0, 1, 3} {
		got := emitted{t: t, arms: 3}
		if err := Run(t.Context(), Options{Corpus: tiny, Arms: cheapArms(), Repeats: 1}, first(n, tinySessions(tiny, nil)), 2, got.emit); err != nil || len(got.all) != n {
			t.Errorf("%d sessions: error %v, %d emitted", n, err, len(got.all))
		}
	}
}

func TestRunRefusesWhatNewPlayerRefuses(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	err := Run(t.Context(), Options{Corpus: loadCorpus(t, tinyFiles)}, tinySessions(nil, nil), 2, func(metrics.Observations) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "no arms given") {
		t.Errorf("error %v", err)
	}
}

// A session that does not fit the corpus is an error that names the session and
// says what to do, and gives no observations.
func TestPlayRefusesWhatDoesNotFit(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	p := newPlayer(t, Options{Corpus: tiny, Arms: julyArms()})
	for _, c := range []struct {
		name   string
		change func(*sessions.Session)
		want   string
	}{
		{"another corpus", func(s *sessions.Session) { s.CorpusSHA256 = strings.Repeat("0", 64) }, "session s1: drawn from corpus 000000000000"},
		{"an unknown server", func(s *sessions.Session) { s.Servers[1] = "mcp-pots" }, `session s1: unknown server "mcp-pots"`},
		{"an unknown toolset", func(s *sessions.Session) { s.Toolsets[0] = "dest" }, `session s1: unknown toolset "dest"`},
		{"an unknown gold", func(s *sessions.Session) { s.Events[1].Turn.Gold[0].Tool = "post/send_leter" }, `session s1: turn 1 under arm eager: unknown gold tool "post/send_leter"`},
		{"an unknown event", func(s *sessions.Session) { s.Events[1] = sessions.Event{Kind: "server_gone"} }, `session s1: events[1]: event of kind "server_gone" cannot be played`},
		{"changes without tools", func(s *sessions.Session) { s.Events[1] = sessions.Event{Kind: sessions.KindToolsChanged} }, `session s1: events[1]: event of kind "tools_changed" cannot be played`},
		{"settings without any", func(s *sessions.Session) { s.Events[1] = sessions.Event{Kind: sessions.KindConfig} }, `session s1: events[1]: event of kind "config" cannot be played`},
		{"a turn without an intent", func(s *sessions.Session) { s.Events[1].Turn = nil }, `session s1: events[1]: event of kind "turn" cannot be played`},
		{"an event of an unknown server", func(s *sessions.Session) {
			s.Events[1] = sessions.Event{Kind: sessions.KindServerUp, Server: "mcp-pots"}
		}, `session s1: events[1]: unknown server "mcp-pots"`},
		{"an unknown probe", func(s *sessions.Session) {
			s.Events[1] = sessions.Event{Kind: sessions.KindProbeFail, Probe: "mcp-pots"}
		}, `session s1: events[1]: unknown probe "mcp-pots"`},
		{"a tool of another server", func(s *sessions.Session) {
			s.Events[1] = sessions.Event{Kind: sessions.KindToolsChanged, Server: "mcp-depot", Tools: &sessions.ToolChanges{Removed: []string{"post/send_letter"}}}
		}, `session s1: events[1]: server "mcp-depot" has no tool "post/send_letter"`},
		{"a switch of an unknown toolset", func(s *sessions.Session) {
			s.Events[1] = sessions.Event{Kind: sessions.KindConfig, Config: &sessions.ConfigChange{Enable: []string{"dest"}}}
		}, `session s1: events[1]: unknown toolset "dest"`},
		{"a gold that depends on itself", func(s *sessions.Session) { s.Events[1].Turn.Gold[0].DependsOn = []int{0} }, "session s1: turn 1 under arm eager: gold 0 depends on 0"},
		{"a gold that depends on none", func(s *sessions.Session) { s.Events[0].Turn.Gold[0].DependsOn = []int{-1} }, "session s1: turn 0 under arm eager: gold 0 depends on -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tinySession(tiny, asks("x", saysNote, gold(readNote, "title", "rent")), asks("y", saysLetter, gold(sendLetter)))
			c.change(s)
			o, err := p.Play(t.Context(), s)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("error %v, want %s and a hint", err, c.want)
			}
			if !reflect.DeepEqual(o, metrics.Observations{}) {
				t.Errorf("observations beside the error: %+v", o)
			}
		})
	}
}
