package replay

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint/sim"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Gateway is what the calls of an arm go through.
type Gateway struct {
	// Name tells gateways apart: the base name of the file and the beginning of its
	// digest, as in "gateway.yaml@1a2b3c4d".
	Name string
	// SHA256 is the digest of the configuration as it was read, in hex.
	SHA256 string
	Config *card.Config
}

// gatewayDigits is how much of a digest stands in a gateway's name.
const gatewayDigits = 8

// LoadGateway reads a gateway's configuration from a file.
func LoadGateway(path string) (*Gateway, error) {
	config, err := card.Load(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w\nhint: name a gateway.yaml", path, err)
	}
	return NewGateway(text, config), nil
}

// NewGateway returns the gateway of a configuration and the text that it was parsed from.
func NewGateway(text []byte, config *card.Config) *Gateway {
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	return &Gateway{Name: filepath.Base(config.File) + "@" + sum[:gatewayDigits], SHA256: sum, Config: config}
}

// GatewayArms returns the arms that a gateway is judged by: calls without it and with it,
// with every schema on the surface, and the same with every tool behind the september
// bridge, whose tool_call the gateway must see through.
func GatewayArms(g *Gateway) []Arm {
	off := NewArm("gateway-off", bridge.July)
	off.Bridge = false
	deferring := NewArm("bridged-off", bridge.September)
	on, deferringOn := off, deferring
	on.Name, deferringOn.Name = "gateway-on", "bridged-on"
	on.Behind(g)
	deferringOn.Behind(g)
	return []Arm{off, on, deferring, deferringOn}
}

// Behind puts a gateway in front of the arm's calls.
func (a *Arm) Behind(g *Gateway) {
	a.Gateway, a.GatewaySHA256, a.GatewayConfig = g.Name, g.SHA256, g.Config
}

// timed reports whether time passes in an arm's calls.
func (o *Options) timed(a Arm) bool { return a.GatewayConfig != nil || o.World != nil }

// wiring is where a replay meets what is built elsewhere.
type wiring struct {
	// gateway puts a gateway in front of a lane's registry, for the calls of one
	// session. It tells observe of every call before the call's batch is done.
	gateway func(arm *armState, l *lane, sessionID string, observe func(*audit.Record)) (Dispatcher, error)
	// simulate carries out the calls of a tool as a model of its endpoint does.
	simulate func(model *card.Simulation, t *corpus.Tool, l *lane) (registry.Handler, error)
}

// effects are what the simulations of a lane have done so far.
type effects interface {
	// Duplicates counts the side effects of calls beyond the first of each.
	Duplicates() int
	// Secrets are those that results held at their endpoints, each once.
	Secrets() []string
}

// ungated dispatches without a gateway, and lets each call know what it serves.
type ungated struct {
	registry  *registry.Registry
	sessionID string
}

// DispatchAll carries out calls one after another.
func (d ungated) DispatchAll(ctx context.Context, calls []registry.Call) []registry.Result {
	results := make([]registry.Result, len(calls))
	for i, c := range calls {
		for _, on := range c.DependsOn {
			if on >= 0 && on < i && results[on].Failed {
				results[i] = registry.NotMade(c.Name)
			}
		}
		if results[i].Failed {
			continue
		}
		in := endpoint.WithRequest(ctx, endpoint.Request{Tool: c.Name, Arguments: c.Arguments, SessionID: d.sessionID, CallID: c.ID, Attempt: 1})
		c.DependsOn = nil
		results[i] = d.registry.DispatchAll(in, []registry.Call{c})[0]
	}
	return results
}

// dispatcher is what a lane's calls go to: a gateway, or the registry.
func (p *Player) dispatcher(st *stage, l *lane, arm *armState) (Dispatcher, error) {
	switch {
	case arm.GatewayConfig != nil:
		return p.wiring.gateway(arm, l, st.session.SessionID, func(r *audit.Record) { l.records = append(l.records, r) })
	case p.options.World != nil:
		return ungated{l.registry, st.session.SessionID}, nil
	default:
		return l.registry, nil
	}
}

// handlerOf carries out the calls of a tool in a lane: the world's simulation of it,
// else an answer that comes at once.
func (p *Player) handlerOf(t *corpus.Tool, l *lane) (registry.Handler, error) {
	if model := p.simulated[t]; model != nil {
		return p.wiring.simulate(model, t, l)
	}
	return p.registrations[t].Handler, nil
}

// simulations finds the tools that a world gives a simulated endpoint.
func simulations(world *card.Config, tools []*corpus.Tool) (map[*corpus.Tool]*card.Simulation, error) {
	if world == nil {
		return nil, nil
	}
	found := make(map[*corpus.Tool]*card.Simulation)
	for _, t := range tools {
		id := t.Definition.Name
		if t.Server != "" {
			id = card.MCPID(t.Server, t.Name)
		}
		c := world.Derive(card.Card{ID: id, Name: t.Definition.Name})
		name, simulated := strings.CutPrefix(c.Target, "sim://")
		if !simulated {
			continue
		}
		if found[t] = world.Simulated[name]; found[t] == nil {
			return nil, fmt.Errorf("tool %s: no simulation %q\nhint: describe it under simulations of %s", t.ID, name, world.File)
		}
	}
	return found, nil
}

// wired is the wiring to the gateway and the simulations of the pipeline.
func (p *Player) wired() wiring {
	shared := gateway.NewShared()
	return wiring{
		gateway: func(arm *armState, l *lane, sessionID string, observe func(*audit.Record)) (Dispatcher, error) {
			g, err := gateway.New(gateway.Options{Config: arm.GatewayConfig, Registry: l.registry, Timeline: l.clock, Tokens: arm.counter.counter.Count, Shared: shared})
			if err != nil {
				return nil, err
			}
			l.gateway = g
			return g.Session(gateway.SessionOptions{ID: sessionID, Who: arm.GatewayConfig.Session, Observe: observe}), nil
		},
		simulate: func(model *card.Simulation, t *corpus.Tool, l *lane) (registry.Handler, error) {
			ledger, ok := l.effects.(*sim.Ledger)
			if !ok {
				ledger = &sim.Ledger{}
				l.effects = ledger
			}
			s := sim.New(model, sim.Options{Timeline: l.clock, Ledger: ledger, Reload: l.reload})
			return simulated(t, s), nil
		},
	}
}

// reload lets a lane's gateway read its configuration anew, which has not changed: what
// that may disturb is calls under way.
func (l *lane) reload() {
	if l.gateway != nil {
		if err := l.gateway.Reload(l.gateway.Config(), nil); err != nil {
			panic(fmt.Sprintf("replay: a configuration that was in use is refused: %v", err))
		}
	}
}

// simulated is a simulation as a registry's handler. Its faults are errors with a name
// that models know.
func simulated(t *corpus.Tool, s *sim.Simulation) registry.Handler {
	return func(ctx context.Context, args json.RawMessage) (any, error) {
		in, _ := endpoint.RequestOf(ctx)
		in.Tool, in.Arguments = t.ID, args
		answer, err := s.Call(ctx, in)
		switch {
		case err != nil:
			return nil, err
		case answer.IsError:
			return nil, toolError(answer.Body)
		}
		return string(answer.Body), nil
	}
}

// toolError is what a tool itself answers of its failure.
type toolError []byte

func (e toolError) Error() string { return string(e) }

// ErrorType names the error as models know it.
func (toolError) ErrorType() string { return "ToolError" }

// filters reports whether an arm's gateway keeps tools from the session.
func (arm *armState) filters() bool { return arm.GatewayConfig != nil && arm.GatewayConfig.Filters() }

// hides is what an arm's gateway keeps from the session.
func (arm *armState) hides(l *lane) func(name string) bool {
	return func(name string) bool {
		toolset, _ := l.registry.Toolset(name)
		return arm.GatewayConfig.Hides(gateway.IDOf(toolset, name), name)
	}
}
