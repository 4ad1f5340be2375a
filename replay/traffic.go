package replay

import (
	"context"
	"strings"
	"time"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// carryOut makes the calls of one request, and observes how they were carried out.
func (p *play) carryOut(ctx context.Context, calls []modelCall) {
	p.batch = p.batch[:0]
	for i := range calls {
		c := &calls[i]
		p.batch = append(p.batch, assembly.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments, DependsOn: c.dependsOn})
	}
	l := p.view.lane
	clear(l.records)
	l.records = l.records[:0]
	before := l.clock.Now()
	for i, o := range p.view.session.Calls(ctx, p.batch) {
		calls[i].outcome = o
	}
	t := &p.row.Traffic
	t.TakenMS += inMS(l.clock.Now().Sub(before))
	if p.arm.GatewayConfig != nil {
		p.recorded(calls)
	} else {
		p.bare(calls)
	}
	if l.effects != nil {
		p.lookForSecrets(calls)
	}
}

// bare observes calls that no gateway stood in front of.
func (p *play) bare(calls []modelCall) {
	t := &p.row.Traffic
	for i := range calls {
		c := &calls[i]
		if c.outcome.Tool == "" {
			continue
		}
		took := inMS(c.outcome.Result.Took)
		c.dispatch = metrics.Dispatch{Outcome: metrics.OutcomeOK, Attempts: 1, LatencyMS: took, ExecutingMS: took}
		if c.outcome.Result.Failed {
			c.dispatch.Outcome = metrics.OutcomeError
		}
		t.Dispatched++
		t.Attempts++
		t.SerialMS += took
	}
}

// recorded observes calls by the records that the gateway made of them.
func (p *play) recorded(calls []modelCall) {
	byID := make(map[string]*audit.Record, len(calls))
	t := &p.row.Traffic
	for _, r := range p.view.lane.records {
		byID[r.CallID] = r
		t.Attempts += r.Attempts
		t.Retries += max(0, r.Attempts-1)
		t.Throttled += count(r.Throttled)
		t.CacheHits += count(r.CacheHit)
		t.BreakerOpenings += count(r.Opened)
		if denied := t.Denied.Of(r.Rule); denied != nil {
			*denied++
		}
		t.Timeouts += r.TimedOut
		t.TruncatedTokens += int64(r.TruncatedTokens)
	}
	for i := range calls {
		c := &calls[i]
		r := byID[c.id]
		if c.outcome.Tool == "" || r == nil {
			continue
		}
		c.dispatch = dispatchOf(r)
		t.Dispatched++
		t.SerialMS += c.dispatch.ExecutingMS + c.dispatch.ShapingMS
	}
}

// dispatchOf is a gateway's record as an observation.
func dispatchOf(r *audit.Record) metrics.Dispatch {
	d := metrics.Dispatch{
		Outcome: metrics.Outcome(r.Outcome), Code: r.Code, Rule: r.Rule, Attempts: r.Attempts,
		WaitingMS: inMS(r.Waiting), QueuedMS: inMS(r.Queued), ExecutingMS: inMS(r.Executing), ShapingMS: inMS(r.Shaping),
		CacheHit: r.CacheHit, Throttled: r.Throttled, TimedOut: r.TimedOut, TruncatedTokens: r.TruncatedTokens,
	}
	d.LatencyMS = inMS(r.Waiting + r.Queued + r.Executing + r.Shaping)
	return d
}

// lookForSecrets notes the secrets of endpoints that results brought into the history.
func (p *play) lookForSecrets(calls []modelCall) {
	for _, secret := range p.view.lane.effects.Secrets() {
		for i := range calls {
			if !p.leaked[secret] && holds(calls[i].outcome.Result, secret) {
				if p.leaked == nil {
					p.leaked = make(map[string]bool)
				}
				p.leaked[secret] = true
			}
		}
	}
}

func holds(r registry.Result, secret string) bool {
	return strings.Contains(r.Text, secret) || strings.Contains(string(r.Content), secret)
}

// end observes what is only known when nothing is under way any more.
func (p *play) end() {
	if e := p.view.lane.effects; e != nil {
		p.row.DuplicatedSideEffects, p.row.LeakedSecrets = e.Duplicates(), len(p.leaked)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// inMS is a time in milliseconds, to the nanosecond.
func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
