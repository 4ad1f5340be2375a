package metrics

// Assumptions name what a figure rests on. They are columns of every table,
// never footnotes.
type Assumptions struct {
	Variant   string // behaviour of the pipeline: july or september
	Bridge    bool   // false: every schema stays on the surface
	Retriever string // what ranks tools, as search.New knows it
	Agent     string // agent model
	Writer    string // query writer
	Tokenizer string
	Gateway   string // "off": calls go straight to the registry
	Memo      string // how long an assembly is kept: ttl, reference or off
	Cache     string // what a provider's prompt cache keeps: prefix or none
	// Settings are those of the arm that differ from its variant's defaults, as
	// "threshold_pct=0.5 listing=off"; empty if none does.
	Settings string
	// The weights that effective tokens are made with.
	WeightFresh, WeightCached, WeightWrite, WeightOutput float64
}

// SessionArm is one session played under one arm.
type SessionArm struct {
	SessionID     string
	RowIndex      int64
	Arm           string
	Assumptions   Assumptions
	Distribution  string
	ContextLength int // tokens; 0 unknown
	Servers       int // enabled at the start
	Turns         int

	Activated     bool
	Tier          int
	Form          string
	BudgetTokens  int
	VisibleTools  int
	DeferredTools int

	// Tokens of the first request's tools array. Surface is the sum of
	// Visible, Bridge and Listing.
	EagerTokens   int
	SurfaceTokens int
	VisibleTokens int
	BridgeTokens  int
	ListingTokens int

	// DeferredSchemaTokens is EagerTokens less VisibleTokens: what the bridge
	// takes off the first request.
	DeferredSchemaTokens int

	Requests     int
	PromptTokens int64 // summed over the requests
	CachedTokens int64 // those of them that the prompt cache held
	OutputTokens int64 // of the tool calls
	// EffectiveTokens are all of them, weighted.
	EffectiveTokens float64

	// PromptByTurn and EffectiveByTurn are the cumulative tokens after each turn.
	// Where nothing was weighed there are no effective tokens, and the second is
	// empty.
	PromptByTurn    []int64
	EffectiveByTurn []float64

	// DescribedTokens are those of the tool schemas that tool results brought
	// into the messages, counted when they came.
	DescribedTokens int64
	// Invalidations are the requests whose tools array differs from that of the
	// request before; CacheLostTokens is what these could have had from the cache
	// with the same tools array, and had not.
	Invalidations   int
	CacheLostTokens int64
	WrongCalls      int // calls of deferred tools that are not gold
	Traffic

	// ByteIdentical reports that repeated assemblies from shuffled registries
	// gave the same bytes. False is a fault.
	ByteIdentical bool
	Retained      Retained
	SurfaceSHA256 string // hex
}

// Retained is the share, 0..1, of the changed surface's tokens that stand in
// its common prefix with the surface before, for each kind of change; nil where
// a session has nothing to change so.
type Retained struct {
	ToolAdded          *float64
	ToolRemoved        *float64
	DescriptionEdited  *float64
	ServerConnected    *float64
	ServerDisconnected *float64
}

// Path is the way a call of a gold tool took.
type Path string

// The paths. Reached calls took one of those before PathLost.
const (
	// PathDirect: the tool is on the surface.
	PathDirect Path = "direct"
	// PathWarm: a deferred tool that the session called before; its schema is
	// in the history. Not a cold call.
	PathWarm Path = "warm"
	// PathDescribed: named in the listing, described, called.
	PathDescribed Path = "described"
	// PathSearched: found by one search, described, called.
	PathSearched Path = "searched"
	// PathRetried: as searched, after more than one search.
	PathRetried Path = "retried"
	// PathBlind: called by its listed name, without a description, and dispatched.
	PathBlind Path = "blind"
	// PathRepaired: a blind call that came back with the schema, then a right one.
	PathRepaired Path = "repaired"
	// PathLost: in scope and available, never reached.
	PathLost Path = "lost"
	// PathUnavailable: its server or probe was down when it was asked for.
	PathUnavailable Path = "unavailable"
	// PathDeclined: an absent intent; it has no gold, and the row has no tool.
	PathDeclined Path = "declined"
)

// Reached reports whether a call on this path was dispatched.
func (p Path) Reached() bool {
	switch p {
	case PathDirect, PathWarm, PathDescribed, PathSearched, PathRetried, PathBlind, PathRepaired:
		return true
	default:
		return false
	}
}

// Call is one gold of one turn under one arm, or the one row of an absent
// intent.
type Call struct {
	SessionID string
	RowIndex  int64
	Arm       string
	Turn      int // from 0
	IntentID  string
	Class     string
	Gold      int    // position among the intent's golds, from 0
	Tool      string // empty for an absent intent
	Deferred  bool
	Cold      bool // first use of a deferred tool in its session
	Path      Path
	// ExtraRequests are the requests from the intent's first to the call's
	// dispatch, less what the eager arm needs. For a call that was not
	// reached: the requests spent on trying.
	ExtraRequests int
	Searches      int
	WrongCalls    int  // calls of other tools on the way
	Failed        bool // the tool answered with an error
	Dispatch
}

// Outcome is how a call ended that was dispatched.
type Outcome string

// The outcomes.
const (
	OutcomeNone   Outcome = "" // it was not dispatched
	OutcomeOK     Outcome = "ok"
	OutcomeError  Outcome = "error"
	OutcomeDenied Outcome = "denied" // a rule of the gateway forbids it
)

// Dispatch is how a call was carried out. All of it is zero for a call that was not
// dispatched. Times are of the session's clock, in milliseconds; LatencyMS is the sum of
// the four others.
type Dispatch struct {
	Outcome  Outcome
	Code     string // of the gateway's error; empty without one
	Rule     string // that denied the call; empty otherwise
	Attempts int    // tries at the tool; 0 where it was not asked

	LatencyMS   float64
	WaitingMS   float64 // for other calls of the same request that go first, and for leave
	QueuedMS    float64 // for limits, and between attempts
	ExecutingMS float64
	ShapingMS   float64

	CacheHit        bool // answered from the cache, or by another call's answer
	Throttled       bool // the tool's rate limit held it up, or turned it away
	TimedOut        int  // attempts that ran out of time
	TruncatedTokens int  // left out of the result
}

// Denied counts denied calls by the rule that denied them.
type Denied struct{ Visibility, Surface, System, Admin, Session, Scope, Confirm int }

// Of is the count of a rule; nil for one that is not known.
func (d *Denied) Of(rule string) *int {
	switch rule {
	case "visibility":
		return &d.Visibility
	case "surface":
		return &d.Surface
	case "system":
		return &d.System
	case "admin":
		return &d.Admin
	case "session":
		return &d.Session
	case "scope":
		return &d.Scope
	case "confirm":
		return &d.Confirm
	default:
		return nil
	}
}

// DenialRules are the rules that deny calls, in the order in which a gateway asks them.
func DenialRules() []string {
	return []string{"visibility", "surface", "system", "admin", "session", "scope", "confirm"}
}

// Traffic is the calls that one session dispatched, added up: those of golds, wrong ones,
// and the steps of composite actions.
type Traffic struct {
	Dispatched      int // calls of the model, without the steps of composite actions
	Attempts        int
	Retries         int // attempts behind the first of a call
	Throttled       int
	CacheHits       int
	BreakerOpenings int
	Denied          Denied
	Timeouts        int // attempts that ran out of time
	TruncatedTokens int64
	// SerialMS is what calls took at their tools and their results in shaping, TakenMS
	// how long the requests that made them waited for all of theirs.
	SerialMS, TakenMS float64
	// DuplicatedSideEffects are those beyond the first of one call; LeakedSecrets the
	// secrets at endpoints that got into the messages. Both must be 0.
	DuplicatedSideEffects, LeakedSecrets int
}

// Hit is one ranked tool.
type Hit struct {
	Tool  string
	Rank  int // from 1
	Score float64
}

// Search is one query of an intent's writer against the session's deferred
// catalog: each one where the catalog has a gold or the intent is absent, and
// elsewhere those that the agent made.
type Search struct {
	SessionID string
	RowIndex  int64
	Arm       string
	Turn      int
	IntentID  string
	Class     string
	Step      int // position among the writer's queries, from 0
	Query     string
	Retriever string
	Issued    bool     // the agent made this search
	PoolSize  int      // deferred tools searched
	Limit     int      // search_default_limit
	Gold      []string // golds in the deferred catalog; none for an absent intent, or where all are visible or gone
	Hits      []Hit    // best first; the ten best, or Limit if that is more, also where the agent was shown fewer
}

// Surface is one distinct tools array.
type Surface struct {
	SHA256        string
	Activated     bool
	Tier          int
	Form          string
	BudgetTokens  int
	VisibleTools  int
	DeferredTools int
	Bytes         int
	Tokenizer     string
	SurfaceTokens int
	VisibleTokens int
	BridgeTokens  int
	ListingTokens int
}

// Observations are everything that one session gave, over all arms.
type Observations struct {
	Arms     []SessionArm
	Calls    []Call
	Searches []Search
	Surfaces []Surface
}
