package reports

import (
	"bytes"
	"fmt"
	"io"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// Server is what the tools of one MCP server take where every schema is sent.
type Server struct {
	Label  string
	Tools  int
	Tokens int // of the tools' definitions, each counted by itself
	// Failure says why the server listed no tools; empty if it answered.
	Failure string
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
	p.out.WriteString("YOUR SERVERS: what their tools add to every request while all schemas are sent\n")
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
		label := "  " + left(s.Label, longest) + "  "
		if s.Failure != "" {
			writeItem(&p.out, label, width(label), "not counted: "+s.Failure)
			continue
		}
		fmt.Fprintf(&p.out, "%s%6s tools  %9s tokens\n", label, numerals.Count(s.Tools), numerals.Count(s.Tokens))
	}
	p.out.WriteByte('\n')
}

// settings is a line for each arm.
func (p *serverPrinter) settings() {
	p.out.WriteString("SETTINGS: what each (see Arms below) would save and cost, with the agent's own tools besides your servers'\n")
	longest := 0
	for _, arm := range p.summary.Assumptions {
		longest = max(longest, width(arm.Name))
	}
	line := func(name, schemas, saved, session, net, extra, lost string) {
		writeLine(&p.out, fmt.Sprintf("  %s  %s %s  %s %s  %s  %s", left(name, longest),
			right(schemas, 9), right(saved, 7), right(session, 9), right(net, 7), right(extra, 15), right(lost, 7)))
	}
	line("", "tools in", "", "whole", "", "more requests", "needed,")
	line("", "a request", "saved", "session", "saved", "at a first use", "missed")
	for _, arm := range p.summary.Assumptions {
		session, net := p.figures.get(metrics.MeasureEffectiveTokens, arm.Name), p.figures.get(metrics.MeasureNetSaved, arm.Name)
		netPercent := noFigure
		if session != nil && net != nil && session.Value+net.Value > 0 {
			netPercent = numerals.Number(100*net.Value/(session.Value+net.Value), 1) + "%"
		}
		line(arm.Name,
			p.value("surface_tokens", arm.Name, 1, 0, ""), p.value("saved_pct", arm.Name, 1, 1, "%"),
			p.value(metrics.MeasureEffectiveTokens, arm.Name, 1, 0, ""), netPercent,
			p.value(metrics.MeasureExtraRequests, arm.Name, 1, 2, ""), p.value(metrics.MeasureLostRate, arm.Name, 100, 1, "%"))
	}
	writeParagraph(&p.out, 0, tableInset, "Columns: tokens of the tools in a session's first request; effective tokens (the cached ones weigh less) of all its requests; "+
		"model requests that the first use of a hidden tool costs besides its call; needed tools that are never found")
	p.out.WriteByte('\n')
}

// value words one figure, or says that there is none.
func (p *serverPrinter) value(measure, arm string, factor float64, decimals int, unit string) string {
	f := p.figures.get(measure, arm)
	if f == nil {
		return noFigure
	}
	return numerals.Number(factor*f.Value, decimals) + unit
}
