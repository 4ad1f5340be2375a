package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/replay"
)

// The names of the files that Write makes.
const (
	ReportFile = "sweep.json"
	TableFile  = "sweep.parquet"
)

// How the table is laid out, which decides its bytes.
const (
	batchRows    = 512
	rowGroupRows = 32 * 1024
	pageBytes    = 64 * 1024
	createdBy    = "toolgauge"
)

// Write puts a report into a new folder: sweep.json and sweep.parquet. A folder
// that is there already is refused. Neither file is put in place before both are
// written, and a failure leaves no folder.
func (r *Report) Write(folder string) (err error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return folderError(folder, err)
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		return folderError(folder, err)
	}
	var files []*atomicfile.File
	defer func() {
		if err != nil {
			for _, f := range files {
				f.Abort()
			}
			_ = os.Remove(filepath.Join(folder, ReportFile))
			_ = os.Remove(folder)
		}
	}()
	for _, o := range []struct {
		name  string
		write func(io.Writer) error
	}{{ReportFile, r.writeJSON}, {TableFile, r.writeTable}} {
		f, err := atomicfile.Create(filepath.Join(folder, o.name))
		if err != nil {
			return err
		}
		files = append(files, f)
		if err := o.write(f); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func folderError(folder string, err error) error {
	var fault *fs.PathError
	if errors.As(err, &fault) {
		err = fault.Err
	}
	return fmt.Errorf("cannot create the folder %s: %w\nhint: name a new folder that you may make", folder, err)
}

func (r *Report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// row is a row of sweep.parquet: a point in one context.
type row struct {
	Setting             string `parquet:"setting,dict"`
	ContextLengthTokens int64  `parquet:"context_length_tokens"`
	Sessions            int64  `parquet:"sessions"`

	Variant   string `parquet:"variant,dict"`
	Bridge    bool   `parquet:"bridge"`
	Retriever string `parquet:"retriever,dict"`
	Agent     string `parquet:"agent,dict"`
	Writer    string `parquet:"writer,dict"`
	Tokenizer string `parquet:"tokenizer,dict"`
	Gateway   string `parquet:"gateway,dict"`
	Memo      string `parquet:"memo,dict"`
	Cache     string `parquet:"cache,dict"`

	Enabled            string  `parquet:"enabled,dict"`
	ThresholdPct       float64 `parquet:"threshold_pct"`
	SearchDefaultLimit int64   `parquet:"search_default_limit"`
	MaxSearchLimit     int64   `parquet:"max_search_limit"`
	Listing            string  `parquet:"listing,dict"`
	ListingMaxTokens   int64   `parquet:"listing_max_tokens"`
	Defer              string  `parquet:"defer,dict"`
	MaxSearches        int64   `parquet:"max_searches"`

	WeightFresh  float64 `parquet:"weight_fresh"`
	WeightCached float64 `parquet:"weight_cached"`
	WeightWrite  float64 `parquet:"weight_write"`
	WeightOutput float64 `parquet:"weight_output"`

	Group       int64   `parquet:"alike_group"`
	Fits        bool    `parquet:"fits"`
	Eligible    bool    `parquet:"eligible"`
	Front       bool    `parquet:"front"`
	Recommended bool    `parquet:"recommended"`
	Objective   float64 `parquet:"objective"`

	EffectiveTokens  float64  `parquet:"effective_tokens"`
	NetSaved         *float64 `parquet:"net_saved,optional"`
	PromptTokens     float64  `parquet:"prompt_tokens"`
	Requests         float64  `parquet:"requests"`
	SurfaceTokens    float64  `parquet:"surface_tokens"`
	ListingTokens    float64  `parquet:"listing_tokens"`
	OverContext      *float64 `parquet:"over_context,optional"`
	WrongCalls       float64  `parquet:"wrong_calls"`
	ColdCalls        *float64 `parquet:"cold_calls,optional"`
	ExtraRequests    *float64 `parquet:"extra_requests,optional"`
	ReachedColdCalls int64    `parquet:"reached_cold_calls"`
	LostRate         *float64 `parquet:"lost_rate,optional"`
	GoldsWithinReach int64    `parquet:"golds_within_reach"`
}

// writeTable writes sweep.parquet: contexts from the shortest, in each the models,
// in each the points in the order of the grid.
func (r *Report) writeTable(w io.Writer) error {
	table := parquet.NewGenericWriter[row](w,
		parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroupRows), parquet.PageBufferSize(pageBytes),
		parquet.CreatedBy(createdBy, strconv.Itoa(SchemaVersion), ""),
		parquet.KeyValueMetadata("schema_version", strconv.Itoa(SchemaVersion)),
		parquet.KeyValueMetadata("corpus_sha256", r.Source.CorpusSHA256),
		parquet.KeyValueMetadata("objective", r.Objective.String()),
	)
	var batch []row
	for _, c := range r.Contexts {
		for _, o := range c.Outcomes {
			for _, p := range o.Points {
				if batch = append(batch, r.rowOf(c, o, p)); len(batch) < batchRows {
					continue
				}
				if _, err := table.Write(batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
		}
	}
	if _, err := table.Write(batch); err != nil {
		return err
	}
	return table.Close()
}

func (r *Report) rowOf(c *Context, o *Outcome, p *Point) row {
	a := o.Model.under(r.armOf(p))
	best := o.point(o.Recommendation.Setting)
	s := a.ToolSearch
	return row{
		Setting: p.Setting, ContextLengthTokens: int64(c.Length), Sessions: int64(c.Sessions),
		Variant: string(a.Variant), Bridge: a.Bridge, Retriever: a.Retriever, Agent: a.Agent, Writer: a.Writer,
		Tokenizer: a.Tokenizer, Gateway: a.Gateway, Memo: a.Memo, Cache: a.Cache,
		Enabled: string(s.Enabled), ThresholdPct: s.ThresholdPct, SearchDefaultLimit: int64(s.SearchDefaultLimit),
		MaxSearchLimit: int64(s.MaxSearchLimit), Listing: string(s.Listing), ListingMaxTokens: int64(s.ListingMaxTokens),
		Defer: strings.Join(s.Defer.Names(), ","), MaxSearches: int64(a.MaxSearches),
		WeightFresh: r.Weights.Fresh, WeightCached: r.Weights.Cached, WeightWrite: r.Weights.Write, WeightOutput: r.Weights.Output,
		Group: int64(p.Group), Fits: p.Fits, Eligible: p.Eligible, Front: p.Front, Recommended: p == best, Objective: p.Objective,
		EffectiveTokens: p.EffectiveTokens, NetSaved: p.NetSaved, PromptTokens: p.PromptTokens, Requests: p.Requests,
		SurfaceTokens: p.SurfaceTokens, ListingTokens: p.ListingTokens, OverContext: p.OverContext, WrongCalls: p.WrongCalls,
		ColdCalls: p.ColdCalls, ExtraRequests: p.ExtraRequests, ReachedColdCalls: int64(p.ReachedColdCalls),
		LostRate: p.LostRate, GoldsWithinReach: int64(p.GoldsWithinReach),
	}
}

// armOf is the arm of a point's setting.
func (r *Report) armOf(p *Point) replay.Arm { return r.Settings[r.grid.points[p.index].setting] }
