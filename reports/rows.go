package reports

import (
	"github.com/toolgauge/toolgauge/metrics"
)

// Assumptions are metrics.Assumptions as files spell them.
type Assumptions struct {
	Variant   string `parquet:"variant,dict" json:"variant"`
	Bridge    bool   `parquet:"bridge" json:"bridge"`
	Retriever string `parquet:"retriever,dict" json:"retriever"`
	Agent     string `parquet:"agent,dict" json:"agent"`
	Writer    string `parquet:"writer,dict" json:"writer"`
	Tokenizer string `parquet:"tokenizer,dict" json:"tokenizer"`
	Gateway   string `parquet:"gateway,dict" json:"gateway"`
	Memo      string `parquet:"memo,dict" json:"memo"`
	Cache     string `parquet:"cache,dict" json:"cache"`

	Settings string `parquet:"settings,dict" json:"settings"`

	WeightFresh  float64 `parquet:"weight_fresh" json:"weight_fresh"`
	WeightCached float64 `parquet:"weight_cached" json:"weight_cached"`
	WeightWrite  float64 `parquet:"weight_write" json:"weight_write"`
	WeightOutput float64 `parquet:"weight_output" json:"weight_output"`
}

// sessionArmRow is a row of session_arms.parquet.
type sessionArmRow struct {
	SessionID string `parquet:"session_id,dict"`
	RowIndex  int64  `parquet:"row_index"`
	Arm       string `parquet:"arm,dict"`
	Assumptions
	Distribution          string    `parquet:"distribution,dict"`
	ContextLengthTokens   int64     `parquet:"context_length_tokens"`
	Servers               int64     `parquet:"servers"`
	Turns                 int64     `parquet:"turns"`
	Activated             bool      `parquet:"activated"`
	Tier                  int64     `parquet:"tier"`
	Form                  string    `parquet:"form,dict"`
	BudgetTokens          int64     `parquet:"budget_tokens"`
	VisibleTools          int64     `parquet:"visible_tools"`
	DeferredTools         int64     `parquet:"deferred_tools"`
	EagerTokens           int64     `parquet:"eager_tokens"`
	SurfaceTokens         int64     `parquet:"surface_tokens"`
	VisibleTokens         int64     `parquet:"visible_tokens"`
	BridgeTokens          int64     `parquet:"bridge_tokens"`
	ListingTokens         int64     `parquet:"listing_tokens"`
	DeferredSchemaTokens  int64     `parquet:"deferred_schema_tokens"`
	Requests              int64     `parquet:"requests"`
	PromptTokens          int64     `parquet:"prompt_tokens"`
	CachedTokens          int64     `parquet:"cached_tokens"`
	OutputTokens          int64     `parquet:"output_tokens"`
	EffectiveTokens       float64   `parquet:"effective_tokens"`
	PromptTokensByTurn    []int64   `parquet:"prompt_tokens_by_turn,list"`
	EffectiveTokensByTurn []float64 `parquet:"effective_tokens_by_turn,list"`
	DescribedTokens       int64     `parquet:"described_tokens"`
	Invalidations         int64     `parquet:"invalidations"`
	CacheLostTokens       int64     `parquet:"cache_lost_tokens"`
	WrongCalls            int64     `parquet:"wrong_calls"`
	trafficColumns
	ByteIdentical            bool     `parquet:"byte_identical"`
	RetainedToolAdded        *float64 `parquet:"prefix_retained_tool_added,optional"`
	RetainedToolRemoved      *float64 `parquet:"prefix_retained_tool_removed,optional"`
	RetainedDescription      *float64 `parquet:"prefix_retained_description_edited,optional"`
	RetainedServerConnect    *float64 `parquet:"prefix_retained_server_connected,optional"`
	RetainedServerDisconnect *float64 `parquet:"prefix_retained_server_disconnected,optional"`
	SurfaceSHA256            string   `parquet:"surface_sha256,dict"`
}

func sessionArmRowOf(s metrics.SessionArm) sessionArmRow {
	return sessionArmRow{
		SessionID:                s.SessionID,
		RowIndex:                 s.RowIndex,
		Arm:                      s.Arm,
		Assumptions:              Assumptions(s.Assumptions),
		Distribution:             s.Distribution,
		ContextLengthTokens:      int64(s.ContextLength),
		Servers:                  int64(s.Servers),
		Turns:                    int64(s.Turns),
		Activated:                s.Activated,
		Tier:                     int64(s.Tier),
		Form:                     s.Form,
		BudgetTokens:             int64(s.BudgetTokens),
		VisibleTools:             int64(s.VisibleTools),
		DeferredTools:            int64(s.DeferredTools),
		EagerTokens:              int64(s.EagerTokens),
		SurfaceTokens:            int64(s.SurfaceTokens),
		VisibleTokens:            int64(s.VisibleTokens),
		BridgeTokens:             int64(s.BridgeTokens),
		ListingTokens:            int64(s.ListingTokens),
		DeferredSchemaTokens:     int64(s.DeferredSchemaTokens),
		Requests:                 int64(s.Requests),
		PromptTokens:             s.PromptTokens,
		CachedTokens:             s.CachedTokens,
		OutputTokens:             s.OutputTokens,
		EffectiveTokens:          s.EffectiveTokens,
		PromptTokensByTurn:       s.PromptByTurn,
		EffectiveTokensByTurn:    s.EffectiveByTurn,
		DescribedTokens:          s.DescribedTokens,
		Invalidations:            int64(s.Invalidations),
		CacheLostTokens:          s.CacheLostTokens,
		WrongCalls:               int64(s.WrongCalls),
		trafficColumns:           trafficColumnsOf(s.Traffic),
		ByteIdentical:            s.ByteIdentical,
		RetainedToolAdded:        s.Retained.ToolAdded,
		RetainedToolRemoved:      s.Retained.ToolRemoved,
		RetainedDescription:      s.Retained.DescriptionEdited,
		RetainedServerConnect:    s.Retained.ServerConnected,
		RetainedServerDisconnect: s.Retained.ServerDisconnected,
		SurfaceSHA256:            s.SurfaceSHA256,
	}
}

func (r sessionArmRow) observation() metrics.SessionArm {
	return metrics.SessionArm{
		SessionID:            r.SessionID,
		RowIndex:             r.RowIndex,
		Arm:                  r.Arm,
		Assumptions:          metrics.Assumptions(r.Assumptions),
		Distribution:         r.Distribution,
		ContextLength:        int(r.ContextLengthTokens),
		Servers:              int(r.Servers),
		Turns:                int(r.Turns),
		Activated:            r.Activated,
		Tier:                 int(r.Tier),
		Form:                 r.Form,
		BudgetTokens:         int(r.BudgetTokens),
		VisibleTools:         int(r.VisibleTools),
		DeferredTools:        int(r.DeferredTools),
		EagerTokens:          int(r.EagerTokens),
		SurfaceTokens:        int(r.SurfaceTokens),
		VisibleTokens:        int(r.VisibleTokens),
		BridgeTokens:         int(r.BridgeTokens),
		ListingTokens:        int(r.ListingTokens),
		DeferredSchemaTokens: int(r.DeferredSchemaTokens),
		Requests:             int(r.Requests),
		PromptTokens:         r.PromptTokens,
		CachedTokens:         r.CachedTokens,
		OutputTokens:         r.OutputTokens,
		EffectiveTokens:      r.EffectiveTokens,
		PromptByTurn:         r.PromptTokensByTurn,
		EffectiveByTurn:      r.EffectiveTokensByTurn,
		DescribedTokens:      r.DescribedTokens,
		Invalidations:        int(r.Invalidations),
		CacheLostTokens:      r.CacheLostTokens,
		WrongCalls:           int(r.WrongCalls),
		Traffic:              r.traffic(),
		ByteIdentical:        r.ByteIdentical,
		Retained: metrics.Retained{
			ToolAdded:          r.RetainedToolAdded,
			ToolRemoved:        r.RetainedToolRemoved,
			DescriptionEdited:  r.RetainedDescription,
			ServerConnected:    r.RetainedServerConnect,
			ServerDisconnected: r.RetainedServerDisconnect,
		},
		SurfaceSHA256: r.SurfaceSHA256,
	}
}

// callRow is a row of calls.parquet.
type callRow struct {
	SessionID string `parquet:"session_id,dict"`
	RowIndex  int64  `parquet:"row_index"`
	Arm       string `parquet:"arm,dict"`
	Assumptions
	Turn          int64   `parquet:"turn"`
	IntentID      string  `parquet:"intent_id,dict"`
	Class         string  `parquet:"class,dict"`
	GoldIndex     int64   `parquet:"gold_index"`
	Tool          *string `parquet:"tool,optional,dict"` // NULL for an absent intent
	Deferred      bool    `parquet:"deferred"`
	Cold          bool    `parquet:"cold"`
	Path          string  `parquet:"path,dict"`
	ExtraRequests int64   `parquet:"extra_requests"`
	Searches      int64   `parquet:"searches"`
	WrongCalls    int64   `parquet:"wrong_calls"`
	Failed        bool    `parquet:"failed"`
	dispatchColumns
}

func callRowOf(c metrics.Call, a Assumptions) callRow {
	row := callRow{
		SessionID:     c.SessionID,
		RowIndex:      c.RowIndex,
		Arm:           c.Arm,
		Assumptions:   a,
		Turn:          int64(c.Turn),
		IntentID:      c.IntentID,
		Class:         c.Class,
		GoldIndex:     int64(c.Gold),
		Deferred:      c.Deferred,
		Cold:          c.Cold,
		Path:          string(c.Path),
		ExtraRequests: int64(c.ExtraRequests),
		Searches:      int64(c.Searches),
		WrongCalls:    int64(c.WrongCalls),
		Failed:        c.Failed,

		dispatchColumns: dispatchColumnsOf(c.Dispatch),
	}
	if c.Tool != "" {
		row.Tool = &c.Tool
	}
	return row
}

func (r callRow) observation() metrics.Call {
	c := metrics.Call{
		SessionID:     r.SessionID,
		RowIndex:      r.RowIndex,
		Arm:           r.Arm,
		Turn:          int(r.Turn),
		IntentID:      r.IntentID,
		Class:         r.Class,
		Gold:          int(r.GoldIndex),
		Deferred:      r.Deferred,
		Cold:          r.Cold,
		Path:          metrics.Path(r.Path),
		ExtraRequests: int(r.ExtraRequests),
		Searches:      int(r.Searches),
		WrongCalls:    int(r.WrongCalls),
		Failed:        r.Failed,
		Dispatch:      r.dispatch(),
	}
	if r.Tool != nil {
		c.Tool = *r.Tool
	}
	return c
}

// hitColumns is an element of a search's hits.
type hitColumns struct {
	Tool  string  `parquet:"tool,dict"`
	Rank  int64   `parquet:"rank"`
	Score float64 `parquet:"score"`
}

// judgedColumns hold the measures of one query, 0 to 1; all NULL where the query has no gold and is not judged.
type judgedColumns struct {
	RecallAt1           *float64 `parquet:"recall_at_1,optional"`
	RecallAt3           *float64 `parquet:"recall_at_3,optional"`
	RecallAt5           *float64 `parquet:"recall_at_5,optional"`
	RecallAt10          *float64 `parquet:"recall_at_10,optional"`
	RecallAtLimit       *float64 `parquet:"recall_at_limit,optional"`
	PrecisionAt1        *float64 `parquet:"precision_at_1,optional"`
	PrecisionAt3        *float64 `parquet:"precision_at_3,optional"`
	PrecisionAt5        *float64 `parquet:"precision_at_5,optional"`
	PrecisionAt10       *float64 `parquet:"precision_at_10,optional"`
	PrecisionAtLimit    *float64 `parquet:"precision_at_limit,optional"`
	SuccessAt1          *float64 `parquet:"success_at_1,optional"`
	SuccessAt3          *float64 `parquet:"success_at_3,optional"`
	SuccessAt5          *float64 `parquet:"success_at_5,optional"`
	SuccessAt10         *float64 `parquet:"success_at_10,optional"`
	SuccessAtLimit      *float64 `parquet:"success_at_limit,optional"`
	CompletenessAt1     *float64 `parquet:"completeness_at_1,optional"`
	CompletenessAt3     *float64 `parquet:"completeness_at_3,optional"`
	CompletenessAt5     *float64 `parquet:"completeness_at_5,optional"`
	CompletenessAt10    *float64 `parquet:"completeness_at_10,optional"`
	CompletenessAtLimit *float64 `parquet:"completeness_at_limit,optional"`
	NDCGAt1             *float64 `parquet:"ndcg_at_1,optional"`
	NDCGAt3             *float64 `parquet:"ndcg_at_3,optional"`
	NDCGAt5             *float64 `parquet:"ndcg_at_5,optional"`
	NDCGAt10            *float64 `parquet:"ndcg_at_10,optional"`
	NDCGAtLimit         *float64 `parquet:"ndcg_at_limit,optional"`
	RR                  *float64 `parquet:"rr,optional"`
	AP                  *float64 `parquet:"ap,optional"`
}

// judgedColumnsOf points into r.
func judgedColumnsOf(r *metrics.Retrieval) judgedColumns {
	at1, at3, at5, at10, limit := &r.At[0], &r.At[1], &r.At[2], &r.At[3], &r.AtLimit
	return judgedColumns{
		RecallAt1:           &at1.Recall,
		RecallAt3:           &at3.Recall,
		RecallAt5:           &at5.Recall,
		RecallAt10:          &at10.Recall,
		RecallAtLimit:       &limit.Recall,
		PrecisionAt1:        &at1.Precision,
		PrecisionAt3:        &at3.Precision,
		PrecisionAt5:        &at5.Precision,
		PrecisionAt10:       &at10.Precision,
		PrecisionAtLimit:    &limit.Precision,
		SuccessAt1:          &at1.Success,
		SuccessAt3:          &at3.Success,
		SuccessAt5:          &at5.Success,
		SuccessAt10:         &at10.Success,
		SuccessAtLimit:      &limit.Success,
		CompletenessAt1:     &at1.Completeness,
		CompletenessAt3:     &at3.Completeness,
		CompletenessAt5:     &at5.Completeness,
		CompletenessAt10:    &at10.Completeness,
		CompletenessAtLimit: &limit.Completeness,
		NDCGAt1:             &at1.NDCG,
		NDCGAt3:             &at3.NDCG,
		NDCGAt5:             &at5.NDCG,
		NDCGAt10:            &at10.NDCG,
		NDCGAtLimit:         &limit.NDCG,
		RR:                  &r.ReciprocalRank,
		AP:                  &r.AveragePrecision,
	}
}

// searchRow is a row of searches.parquet. Its retriever is the one that answered.
type searchRow struct {
	SessionID string `parquet:"session_id,dict"`
	RowIndex  int64  `parquet:"row_index"`
	Arm       string `parquet:"arm,dict"`
	Assumptions
	Turn     int64        `parquet:"turn"`
	IntentID string       `parquet:"intent_id,dict"`
	Class    string       `parquet:"class,dict"`
	Step     int64        `parquet:"step"`
	Query    string       `parquet:"query,dict"`
	Issued   bool         `parquet:"issued"`
	PoolSize int64        `parquet:"pool_size"`
	Limit    int64        `parquet:"search_limit"` // LIMIT is a word of SQL
	Gold     []string     `parquet:"gold,list" parquet-element:",dict"`
	Hits     []hitColumns `parquet:"hits,list"`
	judgedColumns
}

func searchRowOf(s metrics.Search, a Assumptions) searchRow {
	a.Retriever = s.Retriever
	row := searchRow{
		SessionID:   s.SessionID,
		RowIndex:    s.RowIndex,
		Arm:         s.Arm,
		Assumptions: a,
		Turn:        int64(s.Turn),
		IntentID:    s.IntentID,
		Class:       s.Class,
		Step:        int64(s.Step),
		Query:       s.Query,
		Issued:      s.Issued,
		PoolSize:    int64(s.PoolSize),
		Limit:       int64(s.Limit),
		Gold:        s.Gold,
		Hits:        make([]hitColumns, len(s.Hits)),
	}
	for i, hit := range s.Hits {
		row.Hits[i] = hitColumns{hit.Tool, int64(hit.Rank), hit.Score}
	}
	if judged, ok := metrics.Evaluate(s); ok {
		row.judgedColumns = judgedColumnsOf(&judged)
	}
	return row
}

func (r searchRow) observation() metrics.Search {
	s := metrics.Search{
		SessionID: r.SessionID,
		RowIndex:  r.RowIndex,
		Arm:       r.Arm,
		Turn:      int(r.Turn),
		IntentID:  r.IntentID,
		Class:     r.Class,
		Step:      int(r.Step),
		Query:     r.Query,
		Retriever: r.Retriever,
		Issued:    r.Issued,
		PoolSize:  int(r.PoolSize),
		Limit:     int(r.Limit),
		Gold:      r.Gold,
		Hits:      make([]metrics.Hit, len(r.Hits)),
	}
	for i, hit := range r.Hits {
		s.Hits[i] = metrics.Hit{Tool: hit.Tool, Rank: int(hit.Rank), Score: hit.Score}
	}
	return s
}

// surfaceRow is a row of surfaces.parquet. What the bytes do not decide (the budget, the tokenizer and its counts) is
// that of the first session and arm that had the surface.
type surfaceRow struct {
	SurfaceSHA256 string `parquet:"surface_sha256"`
	Activated     bool   `parquet:"activated"`
	Tier          int64  `parquet:"tier"`
	Form          string `parquet:"form,dict"`
	BudgetTokens  int64  `parquet:"budget_tokens"`
	VisibleTools  int64  `parquet:"visible_tools"`
	DeferredTools int64  `parquet:"deferred_tools"`
	SurfaceBytes  int64  `parquet:"surface_bytes"`
	Tokenizer     string `parquet:"tokenizer,dict"`
	SurfaceTokens int64  `parquet:"surface_tokens"`
	VisibleTokens int64  `parquet:"visible_tokens"`
	BridgeTokens  int64  `parquet:"bridge_tokens"`
	ListingTokens int64  `parquet:"listing_tokens"`
}

func surfaceRowOf(s metrics.Surface) surfaceRow {
	return surfaceRow{
		SurfaceSHA256: s.SHA256,
		Activated:     s.Activated,
		Tier:          int64(s.Tier),
		Form:          s.Form,
		BudgetTokens:  int64(s.BudgetTokens),
		VisibleTools:  int64(s.VisibleTools),
		DeferredTools: int64(s.DeferredTools),
		SurfaceBytes:  int64(s.Bytes),
		Tokenizer:     s.Tokenizer,
		SurfaceTokens: int64(s.SurfaceTokens),
		VisibleTokens: int64(s.VisibleTokens),
		BridgeTokens:  int64(s.BridgeTokens),
		ListingTokens: int64(s.ListingTokens),
	}
}

func (r surfaceRow) observation() metrics.Surface {
	return metrics.Surface{
		SHA256:        r.SurfaceSHA256,
		Activated:     r.Activated,
		Tier:          int(r.Tier),
		Form:          r.Form,
		BudgetTokens:  int(r.BudgetTokens),
		VisibleTools:  int(r.VisibleTools),
		DeferredTools: int(r.DeferredTools),
		Bytes:         int(r.SurfaceBytes),
		Tokenizer:     r.Tokenizer,
		SurfaceTokens: int(r.SurfaceTokens),
		VisibleTokens: int(r.VisibleTokens),
		BridgeTokens:  int(r.BridgeTokens),
		ListingTokens: int(r.ListingTokens),
	}
}
