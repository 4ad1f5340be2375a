package reports

import "github.com/toolgauge/toolgauge/metrics"

// trafficColumns are the calls of a session, added up.
type trafficColumns struct {
	DispatchedCalls       int64   `parquet:"dispatched_calls"`
	CallAttempts          int64   `parquet:"call_attempts"`
	CallRetries           int64   `parquet:"call_retries"`
	CallTimeouts          int64   `parquet:"call_timeouts"`
	BreakerOpenings       int64   `parquet:"breaker_openings"`
	ThrottledCalls        int64   `parquet:"throttled_calls"`
	CallCacheHits         int64   `parquet:"call_cache_hits"`
	TruncatedTokens       int64   `parquet:"truncated_tokens"`
	DeniedVisibility      int64   `parquet:"denied_visibility"`
	DeniedSurface         int64   `parquet:"denied_surface"`
	DeniedSystem          int64   `parquet:"denied_system"`
	DeniedAdmin           int64   `parquet:"denied_admin"`
	DeniedSession         int64   `parquet:"denied_session"`
	DeniedScope           int64   `parquet:"denied_scope"`
	DeniedConfirm         int64   `parquet:"denied_confirm"`
	CallsSerialMS         float64 `parquet:"calls_serial_ms"`
	CallsTakenMS          float64 `parquet:"calls_taken_ms"`
	DuplicatedSideEffects int64   `parquet:"duplicated_side_effects"`
	LeakedSecrets         int64   `parquet:"leaked_secrets"`
}

func trafficColumnsOf(t metrics.Traffic) trafficColumns {
	return trafficColumns{
		DispatchedCalls:       int64(t.Dispatched),
		CallAttempts:          int64(t.Attempts),
		CallRetries:           int64(t.Retries),
		CallTimeouts:          int64(t.Timeouts),
		BreakerOpenings:       int64(t.BreakerOpenings),
		ThrottledCalls:        int64(t.Throttled),
		CallCacheHits:         int64(t.CacheHits),
		TruncatedTokens:       t.TruncatedTokens,
		DeniedVisibility:      int64(t.Denied.Visibility),
		DeniedSurface:         int64(t.Denied.Surface),
		DeniedSystem:          int64(t.Denied.System),
		DeniedAdmin:           int64(t.Denied.Admin),
		DeniedSession:         int64(t.Denied.Session),
		DeniedScope:           int64(t.Denied.Scope),
		DeniedConfirm:         int64(t.Denied.Confirm),
		CallsSerialMS:         t.SerialMS,
		CallsTakenMS:          t.TakenMS,
		DuplicatedSideEffects: int64(t.DuplicatedSideEffects),
		LeakedSecrets:         int64(t.LeakedSecrets),
	}
}

func (c trafficColumns) traffic() metrics.Traffic {
	return metrics.Traffic{
		Dispatched:      int(c.DispatchedCalls),
		Attempts:        int(c.CallAttempts),
		Retries:         int(c.CallRetries),
		Timeouts:        int(c.CallTimeouts),
		BreakerOpenings: int(c.BreakerOpenings),
		Throttled:       int(c.ThrottledCalls),
		CacheHits:       int(c.CallCacheHits),
		TruncatedTokens: c.TruncatedTokens,
		Denied: metrics.Denied{
			Visibility: int(c.DeniedVisibility), Surface: int(c.DeniedSurface), System: int(c.DeniedSystem),
			Admin: int(c.DeniedAdmin), Session: int(c.DeniedSession), Scope: int(c.DeniedScope), Confirm: int(c.DeniedConfirm),
		},
		SerialMS:              c.CallsSerialMS,
		TakenMS:               c.CallsTakenMS,
		DuplicatedSideEffects: int(c.DuplicatedSideEffects),
		LeakedSecrets:         int(c.LeakedSecrets),
	}
}

// dispatchColumns are how one call was carried out; empty and 0 where it was not.
type dispatchColumns struct {
	Outcome         string  `parquet:"outcome,dict"`
	Code            string  `parquet:"code,dict"`
	Rule            string  `parquet:"rule,dict"`
	Attempts        int64   `parquet:"attempts"`
	LatencyMS       float64 `parquet:"latency_ms"`
	WaitingMS       float64 `parquet:"waiting_ms"`
	QueuedMS        float64 `parquet:"queued_ms"`
	ExecutingMS     float64 `parquet:"executing_ms"`
	ShapingMS       float64 `parquet:"shaping_ms"`
	CacheHit        bool    `parquet:"cache_hit"`
	Throttled       bool    `parquet:"throttled"`
	TimedOut        int64   `parquet:"timed_out"`
	TruncatedTokens int64   `parquet:"truncated_tokens"`
}

func dispatchColumnsOf(d metrics.Dispatch) dispatchColumns {
	return dispatchColumns{
		Outcome:         string(d.Outcome),
		Code:            d.Code,
		Rule:            d.Rule,
		Attempts:        int64(d.Attempts),
		LatencyMS:       d.LatencyMS,
		WaitingMS:       d.WaitingMS,
		QueuedMS:        d.QueuedMS,
		ExecutingMS:     d.ExecutingMS,
		ShapingMS:       d.ShapingMS,
		CacheHit:        d.CacheHit,
		Throttled:       d.Throttled,
		TimedOut:        int64(d.TimedOut),
		TruncatedTokens: int64(d.TruncatedTokens),
	}
}

func (c dispatchColumns) dispatch() metrics.Dispatch {
	return metrics.Dispatch{
		Outcome:         metrics.Outcome(c.Outcome),
		Code:            c.Code,
		Rule:            c.Rule,
		Attempts:        int(c.Attempts),
		LatencyMS:       c.LatencyMS,
		WaitingMS:       c.WaitingMS,
		QueuedMS:        c.QueuedMS,
		ExecutingMS:     c.ExecutingMS,
		ShapingMS:       c.ShapingMS,
		CacheHit:        c.CacheHit,
		Throttled:       c.Throttled,
		TimedOut:        int(c.TimedOut),
		TruncatedTokens: int(c.TruncatedTokens),
	}
}
