package card

import (
	"time"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
)

// Config is a gateway's whole configuration.
type Config struct {
	File  string  // that it was read from; empty if none
	Tools []*Card // of the file, by id
	// Rules change what cards of other sources say: those of MCP servers, and of
	// tools that are in the registry already.
	Rules []Rule
	// Defaults are those of cards that say nothing.
	Defaults Defaults

	Session   Session
	Confirm   Confirm
	Limits    Limits
	Breaker   Breaker
	Memory    FailureMemory
	Audit     Audit
	Redact    Redact
	Model     *Model                 // nil: none
	Embed     *Model                 // an endpoint for embeddings; nil: candidates come from the retriever vector
	Folders   []string               // that internal://builtin/list_files may look into; absolute
	Servers   []mcpserver.Server     // MCP servers that are switched on
	Simulated map[string]*Simulation // models of sim://NAME
}

// Rule changes the cards that it matches. Rules apply in their order, the later
// over the earlier.
type Rule struct {
	Line  int    // of the file
	Match string // id or model-visible name, * for any run of characters
	set   func(*Card)
}

// Session is who calls where nobody says it: bench gateway call, and replays.
type Session struct {
	Principal string
	Role      string // ordinary or admin
	Teams     []string
	Scopes    []string
	Surfaces  []string // of computer use; with any the session may use their tools only
	Confirm   bool     // every action asks
}

// The roles of a session.
const (
	RoleOrdinary = "ordinary"
	RoleAdmin    = "admin"
)

// Defaults are what cards have that say nothing.
type Defaults struct {
	Timeout         time.Duration
	CacheTTL        time.Duration
	MaxResultTokens int
	RateLimit       RateLimit
}

// Confirm says what becomes of calls that somebody must agree to when nobody can
// be asked.
type Confirm struct {
	Unattended string // audit: they run and are recorded; deny: they are refused
}

// What an unattended session does with calls to be confirmed.
const (
	UnattendedAudit = "audit"
	UnattendedDeny  = "deny"
)

// Limits protect what is behind the gateway.
type Limits struct {
	Concurrent         int     // calls at once, 1 or more
	Queue              int     // calls that wait for their turn
	CallsPerSecond     float64 // over all sessions; 0: no limit
	EndpointConcurrent int     // calls at once to one endpoint, 1 or more
	MaxResultBytes     int64   // of a result that is read
}

// Breaker is when an endpoint is left alone.
type Breaker struct {
	Failures int           // in a row that open it, 1 or more; 0: never
	Open     time.Duration // until the probe
}

// FailureMemory is when a tool counts as degraded.
type FailureMemory struct {
	Failures int           // on one parameter, 1 or more; 0: never
	Window   time.Duration // in which they happen
	Probe    time.Duration // after which one call is let through to see
}

// Audit is where records go.
type Audit struct {
	Path  string // JSON Lines, appended to; empty: none are kept
	Fsync bool
}

// Redact adds to what is never written.
type Redact struct {
	Off    bool     // fixed at start
	Keys   []string // names of members, compared without case
	Values []string // exact
}

// Model is a model endpoint.
type Model struct {
	Type     string // openai_compatible
	BaseURL  string
	APIKey   string
	Name     string // model_name
	ToolCall bool   // the surface goes in tools; false: in the system prompt
	Timeout  time.Duration
}

// Simulation is how an endpoint behaves that is not there. Every draw comes from a
// stream of the call alone, so that it does not matter what else goes on.
type Simulation struct {
	Latency  Latency
	Failures []Failure
	Result   Result
	// Commits: a call that gets through has an effect, which is counted.
	Commits bool
	// LosesReply is the share, 0..1, of calls that have their effect and whose reply is lost.
	LosesReply float64
	// Deduplicates: all attempts of one call have one effect, as behind an endpoint that
	// keeps the ids of the calls it has served.
	Deduplicates bool
	// Reloads: a call makes the gateway read its configuration anew meanwhile.
	Reloads bool
}

// Latency is how long an answer takes: Base plus an exponential part of mean Spread;
// a share Slow of the answers takes SlowBy in addition.
type Latency struct {
	Base, Spread, SlowBy time.Duration
	Slow                 float64 // 0..1
}

// FailureKinds are the ways in which a simulated call fails: no connection, no answer,
// the HTTP statuses of those numbers, and an error that the tool itself answers.
func FailureKinds() []string {
	return []string{"transport", "hang", "status_500", "status_429", "status_400", "tool_error"}
}

// Failure is a time in which calls fail, or a share of calls that do.
type Failure struct {
	Kind  string        // one of FailureKinds
	Share float64       // 0..1 of the calls within its time
	From  time.Duration // of session time
	For   time.Duration // 0: until the end
	Every time.Duration // it comes again; 0: once
}

// Result is what an answer holds.
type Result struct {
	Bytes    int    // about its size; 0: what was asked, sent back
	Form     string // json or text
	Encoding string // WHATWG label; empty: UTF-8
	Broken   int    // bytes that are not of the encoding
	Secrets  int    // planted in it
}
