package duckdb_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

const (
	madeUp = 700 // enough for rows to fill more than one batch
	seed   = uint64(18446744073709551615)
)

// observations are those of one made-up session under two arms.
func observations(index int) metrics.Observations {
	id := fmt.Sprintf("%016x", index)
	o := metrics.Observations{}
	for i, arm := range []string{"eager", "july-listing"} {
		surface := fmt.Sprintf("%064x", 10*(index%7)+i)
		s := metrics.SessionArm{
			SessionID: id, RowIndex: int64(index), Arm: arm, Turns: 2, ContextLength: 128_000, Activated: i == 1, Form: []string{"none", "full"}[i],
			Assumptions: metrics.Assumptions{Variant: "july", Bridge: i == 1, Retriever: "bm25", Agent: "aware", Writer: "utterance", Tokenizer: "o200k_base", Gateway: "off"},
			EagerTokens: 1000, SurfaceTokens: 1000 - 600*i, PromptTokens: int64(5000 - 1000*i), PromptByTurn: []int64{2000, int64(5000 - 1000*i)}, SurfaceSHA256: surface,
		}
		if index%2 == 0 {
			s.Retained.ToolAdded = new(0.25)
		}
		o.Arms = append(o.Arms, s)
		o.Surfaces = append(o.Surfaces, metrics.Surface{SHA256: surface, SurfaceTokens: s.SurfaceTokens, Bytes: 4000, Tokenizer: "o200k_base"})
		o.Calls = append(o.Calls,
			metrics.Call{SessionID: id, RowIndex: int64(index), Arm: arm, IntentID: "i1", Class: "obvious", Tool: "create_issue", Deferred: i == 1, Cold: i == 1, Path: []metrics.Path{"direct", "described"}[i], ExtraRequests: i},
			metrics.Call{SessionID: id, RowIndex: int64(index), Arm: arm, Turn: 1, IntentID: "i2", Class: metrics.ClassAbsent, Path: metrics.PathDeclined})
	}
	o.Searches = []metrics.Search{
		{SessionID: id, RowIndex: int64(index), Arm: "july-listing", IntentID: "i1", Class: "obvious", Query: "open an “issue”", Retriever: "bm25", PoolSize: 9, Limit: 5,
			Gold: []string{"create_issue", "label_issue"}, Hits: []metrics.Hit{{Tool: "list_issues", Rank: 1, Score: 2.5}, {Tool: "create_issue", Rank: 2, Score: 1.25}}},
		{SessionID: id, RowIndex: int64(index), Arm: "july-listing", Turn: 1, IntentID: "i2", Class: metrics.ClassAbsent, Query: "", Retriever: "bm25", PoolSize: 9, Limit: 5},
	}
	return o
}

// database is DuckDB with the tables of a run folder of made-up sessions.
func database(t *testing.T) *sql.DB {
	t.Helper()
	w, err := reports.Create(t.TempDir(), reports.Manifest{Seed: seed, Config: map[string]any{"seed": seed}, Corpus: reports.Corpus{Name: "made-up", SHA256: "c0ffee"}})
	if err != nil {
		t.Fatal(err)
	}
	figures := metrics.NewAccumulator()
	for i := range madeUp {
		o := observations(i)
		if err := w.Add(o); err != nil {
			t.Fatal(err)
		}
		if err := figures.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	result, err := w.Finish(reports.StatusSuccess, reports.Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens()})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, result)
}

// open makes a view of each table of a run folder.
func open(t *testing.T, result *reports.Result) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, file := range result.Manifest.Files {
		name, isTable := strings.CutSuffix(file.Name, ".parquet")
		if !isTable {
			continue
		}
		path := strings.ReplaceAll(filepath.Join(result.Dir, file.Name), "'", "''")
		if _, err := db.Exec(fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM read_parquet('%s'); CREATE VIEW %s_metadata AS SELECT * FROM parquet_kv_metadata('%s')", name, path, name, path)); err != nil {
			t.Fatal(err)
		}
		if got := query(t, db, "SELECT count(*) FROM "+name); got != fmt.Sprint(*file.Rows) {
			t.Errorf("%s has %s rows, the manifest says %d", name, got, *file.Rows)
		}
	}
	return db
}

// query returns the result of a query as text: values apart by |, rows by ;, NULL for NULL.
func query(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, v := range values {
			if v == nil {
				v = "NULL"
			}
			fields = append(fields, fmt.Sprint(v))
		}
		lines = append(lines, strings.Join(fields, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.Join(lines, ";")
}

func TestQueries(t *testing.T) {
	db := database(t)
	for _, c := range []struct{ name, sql, want string }{
		{"counts", "SELECT (SELECT count(*) FROM session_arms), (SELECT count(*) FROM calls), (SELECT count(*) FROM searches), (SELECT count(*) FROM surfaces)", "1400|2800|1400|14"},
		{"order", "SELECT min(row_index), max(row_index), count(DISTINCT session_id) FROM session_arms", "0|699|700"},
		{"means", "SELECT arm, avg(surface_tokens), avg(eager_tokens - surface_tokens) FROM session_arms GROUP BY arm ORDER BY arm", "eager|1000|0;july-listing|400|600"},
		{"assumptions", "SELECT DISTINCT variant, bridge, retriever, agent, writer, tokenizer, gateway FROM calls ORDER BY bridge",
			"july|false|bm25|aware|utterance|o200k_base|off;july|true|bm25|aware|utterance|o200k_base|off"},
		{"a join of calls and session arms", "SELECT arm, count(*), sum(c.extra_requests) FROM calls c JOIN session_arms s USING (session_id, arm) WHERE c.cold AND s.activated GROUP BY arm", "july-listing|700|700"},
		{"a join of session arms and surfaces", "SELECT count(*), sum(u.surface_tokens - s.surface_tokens) FROM session_arms s JOIN surfaces u USING (surface_sha256)", "1400|0"},
		{"NULL text", "SELECT count(*), count(tool), count(*) FILTER (tool = '') FROM calls", "2800|1400|0"},
		{"empty text is no NULL", "SELECT count(query), count(*) FILTER (query = '') FROM searches", "1400|700"},
		{"NULL measures", "SELECT class, count(*), count(recall_at_1), count(ndcg_at_limit), count(rr) FROM searches GROUP BY class ORDER BY class", "absent|700|0|0|0;obvious|700|700|700|700"},
		{"zero is no NULL", "SELECT DISTINCT recall_at_1, recall_at_3, rr, ap FROM searches WHERE recall_at_1 IS NOT NULL", "0|0.5|0.5|0.25"},
		{"NULL shares", "SELECT count(*), count(prefix_retained_tool_added), avg(prefix_retained_tool_added) FROM session_arms", "1400|700|0.25"},
		{"a list of text", "SELECT DISTINCT len(gold), gold[2] FROM searches ORDER BY 1", "0|NULL;2|label_issue"},
		{"a list of structs", "SELECT DISTINCT hit.tool, hit.rank, hit.score FROM searches, unnest(hits) AS _(hit) ORDER BY 2", "list_issues|1|2.5;create_issue|2|1.25"},
		{"a list of numbers", "SELECT arm, prompt_tokens_by_turn[-1] = prompt_tokens, len(prompt_tokens_by_turn) FROM session_arms WHERE row_index = 1 ORDER BY arm", "eager|true|2;july-listing|true|2"},
		{"metadata", "SELECT decode(key), decode(value) FROM searches_metadata WHERE decode(key) IN ('schema_version', 'corpus_sha256') ORDER BY 1", "corpus_sha256|c0ffee;schema_version|1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := query(t, db, c.sql); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.sql, got, c.want)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	db := database(t)
	for table, columns := range map[string]map[string]string{
		"session_arms": {"session_id": "VARCHAR", "row_index": "BIGINT", "bridge": "BOOLEAN", "context_length_tokens": "BIGINT", "surface_tokens": "BIGINT",
			"prompt_tokens_by_turn": "BIGINT[]", "byte_identical": "BOOLEAN", "prefix_retained_tool_added": "DOUBLE", "surface_sha256": "VARCHAR"},
		"calls": {"turn": "BIGINT", "gold_index": "BIGINT", "tool": "VARCHAR", "cold": "BOOLEAN", "path": "VARCHAR", "extra_requests": "BIGINT"},
		"searches": {"query": "VARCHAR", "gold": "VARCHAR[]", "hits": "STRUCT(tool VARCHAR, rank BIGINT, score DOUBLE)[]", "issued": "BOOLEAN", "search_limit": "BIGINT",
			"recall_at_10": "DOUBLE", "precision_at_limit": "DOUBLE", "success_at_1": "DOUBLE", "completeness_at_3": "DOUBLE", "ndcg_at_5": "DOUBLE", "rr": "DOUBLE", "ap": "DOUBLE"},
		"surfaces": {"surface_sha256": "VARCHAR", "tier": "BIGINT", "form": "VARCHAR", "budget_tokens": "BIGINT", "surface_bytes": "BIGINT", "listing_tokens": "BIGINT"},
	} {
		for column, want := range columns {
			got := query(t, db, fmt.Sprintf("SELECT column_type FROM (DESCRIBE %s) WHERE column_name = '%s'", table, column))
			if got != want {
				t.Errorf("%s.%s is a %q, want %s", table, column, got, want)
			}
		}
	}
}
