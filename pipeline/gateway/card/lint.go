package card

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/toolgauge/toolgauge/internal/rawjson"
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
	Tool     string   `json:"tool,omitempty"` // id
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

// Lint looks for what is allowed and hardly meant, by line. home is the user's home
// folder; empty means the one of the environment.
func (c *Config) Lint(home string) []Finding {
	if home == "" {
		home, _ = os.UserHomeDir() // without one nothing is compared with it
	}
	l := linter{config: c}
	for _, folder := range c.Folders {
		if Risky(folder, home) {
			l.add("risky_folder", SeverityError, nil, "name the folders that are needed", "list_files may look into %s", folder)
		}
	}
	l.servers(home)
	cards, err := c.Complete()
	if err != nil {
		return nil // a faulty configuration is refused before it is looked at
	}
	for _, card := range cards {
		l.card(card)
	}
	for _, r := range c.Rules {
		probe := Card{line: r.Line, ID: "rule " + r.Match}
		r.set(&probe)
		l.limits(&probe)
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

// Risky reports whether a folder is one that nobody should hand over whole: the root, a
// home folder, or one that holds it.
func Risky(folder, home string) bool {
	folder = filepath.Clean(folder)
	if folder == string(filepath.Separator) || folder == filepath.VolumeName(folder)+string(filepath.Separator) {
		return true
	}
	if home != "" {
		if relative, err := filepath.Rel(folder, filepath.Clean(home)); err == nil && !startsWithUp(relative) {
			return true
		}
	}
	parent := filepath.Dir(folder)
	return folder == "/root" || folder == "/home" || folder == "/Users" || parent == "/home" || parent == "/Users"
}

func startsWithUp(path string) bool {
	return path == ".." || len(path) > 2 && path[:2] == ".." && path[2] == filepath.Separator
}

// servers looks at the folders that MCP servers are given.
func (l *linter) servers(home string) {
	fields, err := rawjson.Object(l.config.Servers)
	if err != nil || len(fields) == 0 {
		return
	}
	var entries []rawjson.Field
	if list, err := rawjson.Array(fields[0].Value); err == nil {
		for i, raw := range list {
			entries = append(entries, rawjson.Field{Key: l.config.ServerNames[i], Value: raw})
		}
	} else if entries, err = rawjson.Object(fields[0].Value); err != nil {
		return
	}
	for _, e := range entries {
		server, err := rawjson.Object(e.Value)
		if err != nil {
			continue
		}
		for _, field := range []string{"allowed_directories", "args"} {
			raw, _ := rawjson.Get(server, field)
			list, _ := rawjson.Array(raw) // what is none is refused elsewhere
			for _, item := range list {
				folder, ok := rawjson.Text(item)
				if ok && (filepath.IsAbs(folder) || folder == "~" || folder == "$HOME" || folder == "${HOME}") && (folder[0] != '/' || Risky(folder, home)) {
					l.add("risky_folder", SeverityError, nil, "name the folders that the server needs", "MCP server %q may use %s", e.Key, folder)
				}
			}
		}
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
