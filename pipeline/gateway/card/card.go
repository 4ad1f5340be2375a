// Package card says what a gateway knows of a tool beside its schema: where its
// calls go, who may make them, how often, how long, and what becomes of the
// result. It reads the cards and the settings of a gateway from a file, checks
// all of it before anything is used, and reports every fault at once.
package card

import (
	"encoding/json"
	"time"
)

// Auth is what a session must be to use a tool at all.
type Auth string

// The kinds of authorisation, from the most open.
const (
	AuthNone    Auth = "none"           // anybody
	AuthSession Auth = "session_scoped" // a session with a principal; the default
	AuthAdmin   Auth = "admin"          // a session of the role admin
	AuthSystem  Auth = "system"         // computer use: a session authorised for the tool's surface
)

// Summary is how a result that is too long is shortened.
type Summary string

// The ways to shorten.
const (
	SummaryNone  Summary = ""      // cut it at the end
	SummaryRules Summary = "rules" // keep first lines and key fields
	SummaryModel Summary = "model" // ask the model endpoint
)

// Card is one tool as the gateway carries it out. Cards are never changed once
// they are in use: a reload makes new ones.
type Card struct {
	ID          string // unique; of an MCP server's tool hermes://mcp/SERVER/TOOL
	Name        string // model-visible, unique; the ID where that is a name
	Description string
	InputSchema json.RawMessage // JSON Schema, an object
	Toolset     string          // under which it registers
	Target      string          // endpoint.target: internal://, mcp://, http(s)://, sim://; empty: the registry's own handler

	Auth       Auth
	Visibility []string // teams that see the tool and may call it; none: all
	Scope      string   // noun:verb that the session must hold; empty: none
	Surface    string   // of computer use, such as browser or shell; empty: none
	Confirm    bool     // somebody must agree to each call

	ReadOnly   bool     // has no effect: may be cached, and run beside others
	Idempotent bool     // a second call has no second effect
	DependsOn  []string // ids of tools whose calls in one model output go first
	Group      string   // tools of one goal; the available one of highest priority answers
	Priority   int

	RateLimit RateLimit
	Retry     Retry
	Timeout   time.Duration // of one attempt, above 0
	CacheTTL  time.Duration // 0: not kept

	MaxResultTokens int // 0: no bound of its own
	Summary         Summary
	Lazy            bool   // return a handle and metadata, not the result
	Encoding        string // WHATWG label of the bytes; empty: what the endpoint says, else UTF-8

	Steps []Step // of a composite action; such a tool has no target

	line int // of its file; 0 elsewhere
}

// ResultReadTarget is the target of the tool that reads on in a result that was cut.
const ResultReadTarget = "internal://builtin/result_read"

// RateLimit is a token bucket for one session and tool.
type RateLimit struct {
	BucketCapacity int     // calls that may come at once, 1 or more; 0: no limit
	RefillRate     float64 // calls a second
}

// Retry says how often a call that failed is tried again.
type Retry struct {
	MaxAttempts int // retries after the first try
	Backoff     time.Duration
}

// Step is one call of a composite action.
type Step struct {
	Tool string // id
	// Arguments is a JSON object; a text ${NAME} in it stands for the parameter
	// of that name.
	Arguments json.RawMessage
}

// Defaults of a card.
const (
	DefaultTimeout  = 8 * time.Second
	DefaultCacheTTL = 30 * time.Second
)

// SystemTools are the tools of computer use. Where no card says otherwise they
// are closed to ordinary sessions.
func SystemTools() []string {
	return []string{"click", "input_text", "screenshot", "scroll", "send_hotkey", "start_app", "type"}
}
