package limit

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// Each step is one letter: a asks for a permit and keeps it; f, s and w end the oldest
// permit that is kept by failure, success and withdrawal; F, S and W the latest; a
// digit lets so many seconds pass. What each says follows.
func TestBreakers(t *testing.T) {
	rule := card.Breaker{Failures: 3, Open: 5 * time.Second}
	for _, row := range []struct {
		name  string
		rule  card.Breaker
		steps string
		want  string
	}{
		{"opens after so many in a row", rule, "afafafa", "yes - yes - yes opened no(5s)"},
		{"a success begins anew", rule, "afafasafafa", "yes - yes - yes - yes - yes - yes"},
		{"a withdrawal is neither", rule, "afafawafa", "yes - yes - yes - yes opened no(5s)"},
		{"half open after its time", rule, "afafaf4a1aa", "yes - yes - yes opened 4s no(1s) 1s yes no(0s)"},
		{"a probe's success closes", rule, "afafaf5asafafa", "yes - yes - yes opened 5s yes - yes - yes - yes"},
		{"a probe's failure opens again", rule, "afafaf5afa5a", "yes - yes - yes opened 5s yes opened no(5s) 5s yes"},
		{"a probe that is withdrawn makes way", rule, "afafaf5awaa", "yes - yes - yes opened 5s yes - yes no(0s)"},
		{"a permit from before does not close", rule, "aafafafs5aa", "yes yes - yes - yes opened - 5s yes no(0s)"},
		{"nor does it open what is half open", rule, "aaaaffff5af", "yes yes yes yes - - opened - 5s yes opened"},
		{"a permit from before the closing does not count", card.Breaker{Failures: 1, Open: time.Second}, "aaF1aSfa", "yes yes opened 1s yes - - yes"},
		{"one failure suffices", card.Breaker{Failures: 1, Open: time.Second}, "afa1a", "yes opened no(1s) 1s yes"},
		{"never", card.Breaker{Open: time.Second}, "afafafafafa", "yes - yes - yes - yes - yes - yes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := &clock.Virtual{}
			b := NewBreakers(v, row.rule)
			var kept []*Permit
			got := ""
			for _, step := range row.steps {
				said := "-"
				switch step {
				case 'a':
					isOpen := b.IsOpen("e")
					permit, open := b.Allow("e")
					if said = "yes"; open != nil {
						said = fmt.Sprintf("no(%v)", open.RetryAfter)
					} else {
						kept = append(kept, permit)
					}
					if isOpen != (open != nil) {
						t.Errorf("%s: IsOpen says %t", got, isOpen)
					}
				case 'f', 's', 'w', 'F', 'S', 'W':
					at := 0
					if step < 'a' {
						at = len(kept) - 1
					}
					permit := kept[at]
					kept = append(kept[:at:at], kept[at+1:]...)
					switch {
					case step == 'w' || step == 'W':
						permit.Withdraw()
					case permit.Done(step == 'f' || step == 'F'):
						said = "opened"
					}
					if permit.Done(true) || permit.Done(false) { // said once
						t.Errorf("%s: a second Done opened", got)
					}
					permit.Withdraw()
				default:
					d := time.Duration(step-'0') * time.Second
					v.Advance(d)
					said = d.String()
				}
				got += said + " "
			}
			if got != row.want+" " {
				t.Errorf("%s\nsaid %s\nwant %s", row.steps, got, row.want)
			}
			if _, open := b.Allow("other"); open != nil {
				t.Error("another endpoint is not called either")
			}
		})
	}
}

// model is a breaker written down as its description reads.
type model struct {
	state    string // closed, open; half-open is open after its time
	failures int
	since    time.Time // of the opening
	probe    int       // the permit that probes; -1: none
	begun    map[int]int
	changes  int
}

func TestBreakersAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &clock.Virtual{}
		rule := card.Breaker{Failures: rapid.IntRange(1, 3).Draw(t, "failures"), Open: 3 * time.Second}
		b := NewBreakers(v, rule)
		m := model{state: "closed", probe: -1, begun: make(map[int]int)}
		var permits []*Permit
		t.Repeat(map[string]func(*rapid.T){
			"pass": func(t *rapid.T) { v.Advance(time.Duration(rapid.IntRange(1, 3).Draw(t, "s")) * time.Second) },
			"ask": func(t *rapid.T) {
				halfOpen := m.state == "open" && v.Now().Sub(m.since) >= rule.Open
				want := m.state == "closed" || halfOpen && m.probe < 0
				permit, open := b.Allow("e")
				if (open == nil) != want {
					t.Fatalf("let through: %t, want %t", open == nil, want)
				}
				if open == nil {
					if halfOpen {
						m.probe = len(permits)
					}
					m.begun[len(permits)] = m.changes
					permits = append(permits, permit)
				}
			},
			"end": func(t *rapid.T) {
				if len(permits) == 0 {
					t.Skip("no permit")
				}
				i := rapid.IntRange(0, len(permits)-1).Draw(t, "permit")
				how := rapid.SampledFrom([]string{"failed", "succeeded", "withdrawn"}).Draw(t, "how")
				begun, first := m.begun[i]
				delete(m.begun, i)
				counts := first && begun == m.changes
				wantOpened := false
				switch {
				case !counts:
				case how == "withdrawn":
					if m.probe == i {
						m.probe = -1
					}
				case how == "succeeded":
					m.failures = 0
					if m.probe == i {
						m.state, m.probe = "closed", -1
						m.changes++
					}
				default:
					m.failures++
					if wantOpened = m.probe == i || m.failures == rule.Failures; wantOpened {
						m.state, m.failures, m.since, m.probe = "open", 0, v.Now(), -1
						m.changes++
					}
				}
				opened := false
				if how == "withdrawn" {
					permits[i].Withdraw()
				} else {
					opened = permits[i].Done(how == "failed")
				}
				if opened != wantOpened {
					t.Fatalf("opened: %t, want %t", opened, wantOpened)
				}
			},
		})
	})
}

func TestBreakersAmongGoroutines(t *testing.T) {
	b := NewBreakers(clock.Wall{}, card.Breaker{Failures: 5, Open: time.Hour})
	var mu sync.Mutex
	opened := 0
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			permit, open := b.Allow("e")
			if open == nil && permit.Done(true) {
				mu.Lock()
				defer mu.Unlock()
				opened++
			}
		})
	}
	all.Wait()
	if opened != 1 || !b.IsOpen("e") {
		t.Errorf("opened %d times, want once", opened)
	}
}
