package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
)

// Server is what the tools of one MCP server take where every schema is sent.
type Server struct {
	Label  string
	Tools  int
	Tokens int // of the tools' definitions, each counted by itself
}

// PrintServers writes what servers cost in each request, and then, a line an arm, what the arm saves of that and what it
// costs in round trips. Lines have at most 100 columns unless a server's or an arm's name is longer than 30.
func PrintServers(w io.Writer, servers []Server, s Summary) error {
	p := serverPrinter{summary: s, figures: indexFigures(s)}
	p.servers(servers)
	p.settings()
	_, err := w.Write(p.out.Bytes())
	return err
}

// serverPrinter prints what servers cost.
type serverPrinter struct {
	summary Summary
	figures figureIndex
	out     bytes.Buffer
}

func (p *serverPrinter) servers(servers []Server) {
	p.out.WriteString("YOUR SERVERS: what their tools take in each request while every schema is sent\n")
	all := Server{Label: "all"}
	for _, s := range servers {
		all.Tools, all.Tokens = all.Tools+s.Tools, all.Tokens+s.Tokens
	}
	if len(servers) != 1 {
		servers = append(servers[:len(servers):len(servers)], all)
	}
	longest := 0
	for _, s := range servers {
		longest = max(longest, width(s.Label))
	}
	for _, s := range servers {
		fmt.Fprintf(&p.out, "  %s  %6s tools  %9s tokens\n", left(s.Label, longest), count(int64(s.Tools)), count(int64(s.Tokens)))
	}
	p.out.WriteByte('\n')
}

// settings is a line for each arm.
func (p *serverPrinter) settings() {
	p.out.WriteString("SETTINGS: schema tokens of a first request, effective tokens of a whole session, round trips\n")
	longest := 0
	for _, arm := range p.summary.Assumptions {
		longest = max(longest, width(arm.Name))
	}
	fmt.Fprintf(&p.out, "  %s  %9s %7s  %9s %7s  %14s  %8s\n", strings.Repeat(" ", longest), "schemas", "saved", "session", "saved", "extra requests", "never")
	fmt.Fprintf(&p.out, "  %s  %9s %7s  %9s %7s  %14s  %8s\n", strings.Repeat(" ", longest), "", "", "", "", "a cold call", "reached")
	for _, arm := range p.summary.Assumptions {
		session, net := p.figures.get(metrics.MeasureEffectiveTokens, arm.Name), p.figures.get(metrics.MeasureNetSaved, arm.Name)
		netPercent := noFigure
		if session != nil && net != nil && session.Value+net.Value > 0 {
			netPercent = number(100*net.Value/(session.Value+net.Value), 1) + "%"
		}
		fmt.Fprintf(&p.out, "  %s  %9s %7s  %9s %7s  %14s  %8s\n", left(arm.Name, longest),
			p.value("surface_tokens", arm.Name, 1, 0, ""), p.value("saved_pct", arm.Name, 1, 1, "%"),
			p.value(metrics.MeasureEffectiveTokens, arm.Name, 1, 0, ""), netPercent,
			p.value(metrics.MeasureExtraRequests, arm.Name, 1, 2, ""), p.value(metrics.MeasureLostRate, arm.Name, 100, 1, "%"))
	}
	p.out.WriteByte('\n')
}

// value words one figure, or says that there is none.
func (p *serverPrinter) value(measure, arm string, factor float64, decimals int, unit string) string {
	f := p.figures.get(measure, arm)
	if f == nil {
		return noFigure
	}
	return number(factor*f.Value, decimals) + unit
}
