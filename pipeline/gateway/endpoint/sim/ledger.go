package sim

import (
	"sync"

	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// Ledger takes down what simulated endpoints did: effects, by the call that had them,
// and the secrets that their results held. The zero value is ready to use. It is safe
// for concurrent use.
type Ledger struct {
	mu      sync.Mutex
	effects map[effect]int
	planted []string
	known   map[string]bool
}

type effect struct{ session, tool, call string }

// commit takes an effect down; once only for all attempts of a call if it is to be.
func (l *Ledger) commit(r endpoint.Request, once bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.effects == nil {
		l.effects = make(map[effect]int)
	}
	of := effect{r.SessionID, r.Tool, r.CallID}
	if !once || l.effects[of] == 0 {
		l.effects[of]++
	}
}

func (l *Ledger) plant(secret string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = make(map[string]bool)
	}
	if !l.known[secret] {
		l.known[secret] = true
		l.planted = append(l.planted, secret)
	}
}

// Effects counts the effects of all calls.
func (l *Ledger) Effects() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.effects {
		n += times
	}
	return n
}

// Duplicates counts the effects of calls beyond the first of each.
func (l *Ledger) Duplicates() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.effects {
		n += times - 1
	}
	return n
}

// Secrets are those that results held, each once, in the order of the answers.
func (l *Ledger) Secrets() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.planted...)
}
