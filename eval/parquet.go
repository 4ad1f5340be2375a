package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

const (
	// SchemaVersion is that of queries.parquet.
	SchemaVersion = "1"
	// batchRows is how many rows the library gets at once; it decides where pages end, and so the bytes.
	batchRows    = 512
	rowGroupRows = 32 * 1024
	pageBytes    = 64 * 1024
	createdBy    = "toolgauge"
)

// queryRow is a row of queries.parquet. Measures are NULL for a query that no tool serves.
type queryRow struct {
	Set       string     `parquet:"set,dict"`
	Retriever string     `parquet:"retriever,dict"`
	QueryID   string     `parquet:"query_id"`
	Class     string     `parquet:"class,dict"`
	Query     string     `parquet:"query"`
	PoolSize  int64      `parquet:"pool_size"`
	Gold      []goldCell `parquet:"gold,list"`
	HitCount  int64      `parquet:"hit_count"`
	Hits      []hitCell  `parquet:"hits,list"`
	RR        *float64   `parquet:"rr,optional"`
	AP        *float64   `parquet:"ap,optional"`
	Cuts      []cutCell  `parquet:"cuts,list"`
}

type goldCell struct {
	Tool  string `parquet:"tool"`
	Grade int64  `parquet:"grade"`
}

type hitCell struct {
	Tool  string  `parquet:"tool"`
	Rank  int64   `parquet:"rank"`
	Score float64 `parquet:"score"`
}

type cutCell struct {
	K            int64   `parquet:"k"`
	Recall       float64 `parquet:"recall"`
	Precision    float64 `parquet:"precision"`
	Success      float64 `parquet:"success"`
	Completeness float64 `parquet:"completeness"`
	NDCG         float64 `parquet:"ndcg"`
}

// writeQueries writes queries.parquet. Of the hits, those within the largest cutoff are kept; the runs have all.
func (r *Report) writeQueries(w io.Writer) error {
	table := parquet.NewGenericWriter[queryRow](w,
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.PageBufferSize(pageBytes),
		parquet.CreatedBy(createdBy, SchemaVersion, ""),
		parquet.KeyValueMetadata("schema_version", SchemaVersion),
		parquet.KeyValueMetadata("sets_sha256", r.setsSHA256()),
	)
	var batch []queryRow
	for _, s := range r.Sets {
		for i, list := range s.judged {
			for j := range list {
				batch = append(batch, rowOf(s, s.rankings[i].Retriever, &list[j]))
				if len(batch) < batchRows {
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

func rowOf(s *SetReport, retriever string, j *judged) queryRow {
	row := queryRow{
		Set: s.Set, Retriever: retriever, QueryID: j.query.ID, Class: j.query.Class, Query: j.query.Text,
		PoolSize: int64(s.PoolTools), HitCount: int64(len(j.hits)),
	}
	for tool, grade := range j.query.Grades {
		row.Gold = append(row.Gold, goldCell{tool, int64(grade)})
	}
	slices.SortFunc(row.Gold, func(a, b goldCell) int { return cmp.Or(cmp.Compare(b.Grade, a.Grade), cmp.Compare(a.Tool, b.Tool)) })
	deepest := 0
	for _, c := range j.cuts {
		deepest = max(deepest, c.k)
		if j.relevant > 0 {
			row.Cuts = append(row.Cuts, cutCell{int64(c.k), c.recall, c.precision, c.success, c.completeness, c.ndcg})
		}
	}
	for i, hit := range j.hits[:min(deepest, len(j.hits))] {
		row.Hits = append(row.Hits, hitCell{hit.Tool, int64(i + 1), hit.Score})
	}
	if j.relevant > 0 {
		row.RR, row.AP = &j.rr, &j.ap
	}
	return row
}

// setsSHA256 is a digest of the tools and queries of all sets.
func (r *Report) setsSHA256() string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, s := range r.Sets {
		_ = e.Encode([]any{s.set.Name, s.set.Tools, s.set.Queries}) // texts and numbers, into a hash
	}
	return hex.EncodeToString(h.Sum(nil))
}
