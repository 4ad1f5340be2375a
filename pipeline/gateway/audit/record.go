// Package audit keeps one record of every call that a gateway was asked for. A
// call whose record cannot be handed to the operating system is not answered.
//
// A Log appends records to a file of JSON Lines, Read gives them back, and a Tally
// counts them by tool.
//
// The promise of a Log is about processes that write through this package, however
// many share a file: when Write returns nil the record's whole line is in the hands of
// the operating system, when it returns an error nothing of the line is in the file,
// and no line is cut or mixed with another. A process that is killed loses no record
// that it wrote, only ever a line that it had not finished; whoever writes next takes
// that half away. Programs that append to the file by other means are not waited for:
// if one does so in the moment in which a line fails half-way, the half stays in
// front of what it wrote, since cutting it would lose the other's. Read reports such a
// line and goes on.
package audit

import (
	"encoding/json"
	"time"
)

// Recorder keeps records. A record is not changed after it was written.
type Recorder interface {
	// Write returns when the record is kept. An error means that it is not.
	Write(*Record) error
}

// Record is what is kept of one call. Everything in it is redacted by who makes it.
type Record struct {
	Time      time.Time // when the gateway took the call, by the session's clock
	TraceID   string
	SessionID string
	Principal string
	Tool      string // id of the tool that answered; the name asked for where there is none
	Name      string // model-visible
	CallID    string // gen_ai.tool.call.id
	ModelCall string // which model output asked for it
	Arguments json.RawMessage

	Outcome string // ok, error or denied
	Code    string // of the error; empty for ok
	Rule    string // that denied; empty otherwise
	Phase   string // in which it ended

	Attempts    int    // tries at the endpoint
	CacheHit    bool   // answered from the cache, or by another call's answer
	Confirmed   string // who agreed: asked, unattended; empty: nobody had to
	Throttled   bool   // waited for the tool's bucket, or was turned away by it
	TimedOut    int    // attempts that ran out of time
	Opened      bool   // its failure opened the endpoint's breaker
	Undecodable int    // bytes of the result that were not of its encoding

	ResultSHA256    string // of the result as it was returned
	ResultBytes     int
	ResultTokens    int
	TruncatedTokens int // left out of the result

	Waiting   time.Duration // for the model's other calls that go first, and for leave
	Queued    time.Duration // for buckets, limits, backoff
	Executing time.Duration // at the endpoint, all attempts
	Shaping   time.Duration
	Steps     Steps // of Shaping
}

// Steps are how long the steps of shaping a result took.
type Steps struct {
	Cap, Decode, Redact, Fit time.Duration
}

// Add adds to the step of a name; to none that is not among them.
func (s *Steps) Add(step string, took time.Duration) {
	switch step {
	case "cap":
		s.Cap += took
	case "decode":
		s.Decode += took
	case "redact":
		s.Redact += took
	case "fit":
		s.Fit += took
	}
}
