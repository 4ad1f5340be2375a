package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// wire is a line as encoding/json reads it.
type wire struct {
	SchemaVersion   int             `json:"schema_version"`
	Time            time.Time       `json:"time"`
	TraceID         string          `json:"trace_id"`
	SessionID       string          `json:"session_id"`
	Principal       string          `json:"principal"`
	Tool            string          `json:"tool"`
	Name            string          `json:"gen_ai.tool.name"`
	CallID          string          `json:"gen_ai.tool.call.id"`
	ModelCall       string          `json:"model_call"`
	Arguments       json.RawMessage `json:"arguments"`
	Outcome         string          `json:"outcome"`
	Code            string          `json:"error.type"`
	Rule            string          `json:"rule"`
	Phase           string          `json:"phase"`
	Attempts        int             `json:"attempts"`
	CacheHit        bool            `json:"cache_hit"`
	Confirmed       string          `json:"confirmed"`
	Throttled       bool            `json:"throttled"`
	TimedOut        int             `json:"timed_out"`
	Opened          bool            `json:"opened"`
	Undecodable     int             `json:"undecodable"`
	ResultSHA256    string          `json:"result_sha256"`
	ResultBytes     int             `json:"result_bytes"`
	ResultTokens    int             `json:"result_tokens"`
	TruncatedTokens int             `json:"truncated_tokens"`
	Waiting         millis          `json:"waiting_ms"`
	Queued          millis          `json:"queued_ms"`
	Executing       millis          `json:"executing_ms"`
	Shaping         millis          `json:"shaping_ms"`
	Steps           struct {
		Cap    millis `json:"cap_ms"`
		Decode millis `json:"decode_ms"`
		Redact millis `json:"redact_ms"`
		Fit    millis `json:"fit_ms"`
	} `json:"shaping_steps"`
}

// Read goes through the records of a log in the order in which they were written. An
// error names the file and the line; the lines behind one that cannot be read still
// come. A last line that is not whole is no record yet, and is passed over.
func Read(path string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(nil, failure(path, "read", err))
			return
		}
		defer file.Close()
		half := false
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, lineMax+1)
		lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
			advance, token, err := bufio.ScanLines(data, atEOF)
			half = atEOF && advance > 0 && data[advance-1] != '\n'
			return advance, token, err
		})
		n := 0
		for lines.Scan() {
			n++
			r, err := parse(lines.Bytes())
			if half && err != nil {
				return
			}
			if err != nil {
				err = fmt.Errorf("%s:%d: %w", path, n, err)
			}
			if !yield(r, err) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, fmt.Errorf("%s:%d: the line is longer than %d bytes\nhint: this is no audit log", path, n+1, lineMax))
		case err != nil:
			yield(nil, failure(path, "read", err))
		}
	}
}

// parse reads one line.
func parse(line []byte) (*Record, error) {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || !json.Valid(line) {
			return nil, errors.New("the line is not whole, or no JSON\nhint: remove it; the lines around it are not affected")
		}
		return nil, fmt.Errorf("%w\nhint: this is no audit record", err)
	}
	if w.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("schema_version %d is not known\nhint: read it with the version that wrote it; this one writes %d", w.SchemaVersion, SchemaVersion)
	}
	if string(w.Arguments) == "null" {
		w.Arguments = nil
	}
	return &Record{
		Time: w.Time, TraceID: w.TraceID, SessionID: w.SessionID, Principal: w.Principal,
		Tool: w.Tool, Name: w.Name, CallID: w.CallID, ModelCall: w.ModelCall, Arguments: w.Arguments,
		Outcome: w.Outcome, Code: w.Code, Rule: w.Rule, Phase: w.Phase,
		Attempts: w.Attempts, CacheHit: w.CacheHit, Confirmed: w.Confirmed, Throttled: w.Throttled,
		TimedOut: w.TimedOut, Opened: w.Opened, Undecodable: w.Undecodable,
		ResultSHA256: w.ResultSHA256, ResultBytes: w.ResultBytes, ResultTokens: w.ResultTokens, TruncatedTokens: w.TruncatedTokens,
		Waiting: time.Duration(w.Waiting), Queued: time.Duration(w.Queued),
		Executing: time.Duration(w.Executing), Shaping: time.Duration(w.Shaping),
		Steps: Steps{time.Duration(w.Steps.Cap), time.Duration(w.Steps.Decode), time.Duration(w.Steps.Redact), time.Duration(w.Steps.Fit)},
	}, nil
}

// millis is a duration that is written in milliseconds.
type millis time.Duration

// UnmarshalJSON reads what appendMillis writes, without a detour over floating point.
func (m *millis) UnmarshalJSON(raw []byte) error {
	whole, rest, _ := strings.Cut(strings.TrimPrefix(string(raw), "-"), ".")
	if len(rest) > 6 {
		return fmt.Errorf("%s is no duration in milliseconds with at most six decimals", raw)
	}
	nanos, err := strconv.ParseUint(whole+rest+strings.Repeat("0", 6-len(rest)), 10, 64)
	negative := raw[0] == '-'
	switch {
	case err != nil, !negative && nanos > math.MaxInt64, nanos > 1<<63:
		return fmt.Errorf("%s is no duration in milliseconds", raw)
	case negative:
		*m = millis(-nanos)
	default:
		*m = millis(nanos)
	}
	return nil
}
