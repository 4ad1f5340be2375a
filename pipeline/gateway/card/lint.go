package card

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
)

// Severity is how much a finding matters.
type Severity string

// The severities. An error fails a check.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is something that is allowed, and hardly meant.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // 0: of the whole file
	Tool     string   `json:"tool,omitempty"` // id; empty: of a rule or a setting
	Text     string   `json:"text"`
	Hint     string   `json:"hint"`
}

// Bounds from which a setting is worth a word.
const (
	capacityLarge = 100
	refillLarge   = 50.0 // calls a second
	retriesLarge  = 3
	timeoutLarge  = time.Minute
	tokensLarge   = 10_000
)

// destructive matches names of tools that change what others rely on.
var destructive = regexp.MustCompile(`(?i)(^|[_-])(delete|remove|drop|destroy|purge|wipe|send|pay|transfer|refund|publish)([_-]|$)`)

// Lint looks for what is allowed and hardly meant, by line.
func (c *Config) Lint() []Finding {
	l := linter{config: c}
	for _, folder := range c.Folders {
		l.folder(folder, "list_files may look into %s", folder)
	}
	l.servers()
	cards, err := c.Complete()
	if err != nil {
		return nil // a faulty configuration is refused before it is looked at
	}
	for _, card := range cards {
		l.card(card)
	}
	for _, r := range c.Rules {
		probe, before := Card{line: r.Line}, len(l.found)
		r.set(&probe)
		l.limits(&probe)
		for i := range l.found[before:] {
			f := &l.found[before+i]
			f.Text = fmt.Sprintf("rule %q: %s", r.Match, f.Text)
		}
	}
	slices.SortStableFunc(l.found, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return l.found
}

// Line is where the card stands in its file; 0 if it was not read from one.
func (card *Card) Line() int { return card.line }

type linter struct {
	config *Config
	found  []Finding
}

func (l *linter) add(rule string, severity Severity, c *Card, hint, format string, args ...any) {
	f := Finding{Rule: rule, Severity: severity, File: cmp.Or(l.config.File, "gateway"), Text: fmt.Sprintf(format, args...), Hint: hint}
	if c != nil {
		f.Line, f.Tool = c.line, c.ID
	}
	l.found = append(l.found, f)
}

// servers looks at the folders that MCP servers are given: those that their entry names,
// and arguments that are paths.
func (l *linter) servers() {
	for _, s := range l.config.Servers {
		for _, folder := range s.Directories {
			l.folder(folder, "MCP server %q may use %s", s.Label, folder)
		}
		for _, argument := range s.Args {
			if filepath.IsAbs(argument) || argument == "~" {
				l.folder(argument, "MCP server %q is started with the folder %s", s.Label, argument)
			}
		}
	}
}

// folder looks at one folder, about which a text is.
func (l *linter) folder(path, format string, args ...any) {
	if reason := mcpserver.RiskyDirectory(path); reason != "" {
		l.add("risky_folder", SeverityError, nil, "name the folders that are needed", "%s: %s", fmt.Sprintf(format, args...), reason)
	}
}

func (l *linter) card(c *Card) {
	l.limits(c)
	if !c.ReadOnly && !c.Confirm && destructive.MatchString(c.Name) {
		l.add("unconfirmed", SeverityWarning, c, "say confirm: true, or rename it if it is harmless", "it sounds as if it cannot be undone, and nobody has to agree to it")
	}
	if c.Auth == AuthNone && !c.ReadOnly {
		l.add("open_to_all", SeverityWarning, c, "leave auth at session_scoped", "anybody may call it, and it has effects")
	}
	if c.ReadOnly && c.Confirm {
		l.add("confirms_reading", SeverityWarning, c, "leave confirm to tools with effects", "somebody must agree each time although it only reads")
	}
	if c.Lazy && c.Summary != SummaryNone {
		l.add("lazy_summary", SeverityWarning, c, "keep one of the two", "a lazy result is never summarised")
	}
	if c.Summary != SummaryNone && c.MaxResultTokens == 0 {
		l.add("summary_without_bound", SeverityWarning, c, "set max_result_tokens, such as 3000", "results are summarised only beyond max_result_tokens, which it has not")
	}
	if c.Summary == SummaryModel && l.config.Model == nil {
		l.add("no_model", SeverityWarning, c, "describe one under model", "its results are to be summarised by a model, and there is none: rules take its place")
	}
}

// limits looks at what a card or a rule says of how often and how long.
func (l *linter) limits(c *Card) {
	if r := c.RateLimit; r.BucketCapacity > capacityLarge || r.RefillRate > refillLarge {
		l.add("large_bucket", SeverityWarning, c, fmt.Sprintf("a capacity of at most %d and a refill_rate of at most %g hold up runaway models", capacityLarge, refillLarge),
			"a bucket of %d calls at %g a second hardly limits anything", r.BucketCapacity, r.RefillRate)
	}
	if c.Retry.MaxAttempts > retriesLarge {
		l.add("many_retries", SeverityWarning, c, "2 or 3 are usual", "it is retried %d times", c.Retry.MaxAttempts)
	}
	if c.Timeout > timeoutLarge {
		l.add("long_timeout", SeverityWarning, c, "a model waits meanwhile: return a handle and poll", "it may take %s", c.Timeout)
	}
	if c.MaxResultTokens > tokensLarge {
		l.add("large_result", SeverityWarning, c, "2,000 to 4,000 are recommended; the rest can be read on", "a result may have %d tokens", c.MaxResultTokens)
	}
}
