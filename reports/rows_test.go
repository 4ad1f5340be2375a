package reports

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

// draw fills a value of any shape that observations have; text and lists may be empty, pointers nil.
func draw(t *rapid.T, v reflect.Value, label string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "naïve\n\"x\"", "日本", "\x00", strings.Repeat("long ", 40)}).Draw(t, label))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, label))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, label))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, label))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, label+" there") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem(), label)
		}
	case reflect.Slice:
		if rapid.Bool().Draw(t, label+" nil") {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 3).Draw(t, label+" length"), 3))
		for i := range v.Len() {
			draw(t, v.Index(i), fmt.Sprintf("%s[%d]", label, i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i), v.Type().Field(i).Name)
		}
	default:
		t.Fatalf("%s: no value for a %s", label, v.Kind())
	}
}

func drawAll[T any](t *rapid.T, label string) []T {
	rows := make([]T, rapid.IntRange(0, 4).Draw(t, label))
	for i := range rows {
		draw(t, reflect.ValueOf(&rows[i]).Elem(), label)
	}
	return rows
}

// TestRoundTrip: whatever a session gave is read again as it was, field by field and bit by bit: figures made of what was
// read are those of what was written. A field without a column would come back as zero.
func TestRoundTrip(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine writes and reads: there is nothing to race, and compression is slow under -race")
	}
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		o := metrics.Observations{
			Arms:     drawAll[metrics.SessionArm](t, "arms"),
			Calls:    drawAll[metrics.Call](t, "calls"),
			Searches: drawAll[metrics.Search](t, "searches"),
			Surfaces: drawAll[metrics.Surface](t, "surfaces"),
		}
		o.Arms = append(o.Arms, metrics.SessionArm{})
		for i := range o.Arms {
			o.Arms[i].Arm = fmt.Sprint("arm ", i)
		}
		arm := func() string { return o.Arms[rapid.IntRange(0, len(o.Arms)-1).Draw(t, "arm")].Arm }
		for i := range o.Calls {
			o.Calls[i].Arm = arm()
		}
		for i := range o.Searches {
			o.Searches[i].Arm = arm()
		}
		for i := range o.Surfaces {
			o.Surfaces[i].SHA256 = fmt.Sprintf("%064x", i)
		}
		run := finished(t, root, o)
		if got := collect(t, run); !cmp.Equal(got, o, equalLists) {
			t.Fatal(cmp.Diff(o, got, equalLists))
		}
		if err := os.RemoveAll(run.Dir); err != nil {
			t.Fatal(err)
		}
	})
}

// equalLists takes an empty list and none for the same, and numbers only if their bits are.
var equalLists = cmp.Options{
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
	cmp.FilterValues(func(a, b []metrics.Hit) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []string) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []int64) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []float64) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []metrics.Call) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []metrics.Search) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []metrics.Surface) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
}

type failer interface {
	Helper()
	Fatal(...any)
}

// finished writes observations into a run folder and opens it.
func finished(t failer, root string, all ...metrics.Observations) *Run {
	t.Helper()
	w, err := create(root, sampleManifest(), unsynced)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if err := w.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	result, err := w.Finish(StatusSuccess, Summary{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := Open(result.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func collect(t failer, r *Run) (o metrics.Observations) {
	t.Helper()
	for row, err := range r.SessionArms() {
		if err != nil {
			t.Fatal(err)
		}
		o.Arms = append(o.Arms, row)
	}
	for row, err := range r.Calls() {
		if err != nil {
			t.Fatal(err)
		}
		o.Calls = append(o.Calls, row)
	}
	for row, err := range r.Searches() {
		if err != nil {
			t.Fatal(err)
		}
		o.Searches = append(o.Searches, row)
	}
	for row, err := range r.Surfaces() {
		if err != nil {
			t.Fatal(err)
		}
		o.Surfaces = append(o.Surfaces, row)
	}
	return o
}

// firstRows are the columns of a file's first rows, by name, as the file has them.
func firstRows(t *testing.T, path string) []map[string]any {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := make([]map[string]any, 4)
	reader := parquet.NewGenericReader[map[string]any](file, openSchema(t, path))
	for i := range rows {
		rows[i] = map[string]any{}
	}
	n, _ := reader.Read(rows)
	return rows[:n]
}

func openSchema(t *testing.T, path string) *parquet.Schema {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return opened.Schema()
}

// TestSearchMeasures lays the columns of a search beside values worked out by hand.
func TestSearchMeasures(t *testing.T) {
	search := metrics.Search{Arm: "a", Limit: 2, Retriever: "other", Gold: []string{"b", "d"}, Hits: []metrics.Hit{{Tool: "a", Rank: 1}, {Tool: "b", Rank: 2}, {Tool: "c", Rank: 3}, {Tool: "d", Rank: 4, Score: -.5}}}
	unjudged := search
	unjudged.Gold = nil
	arm := metrics.SessionArm{Arm: "a", Assumptions: metrics.Assumptions{Retriever: "bm25", Agent: "aware"}}
	run := finished(t, t.TempDir(), metrics.Observations{Arms: []metrics.SessionArm{arm}, Searches: []metrics.Search{search, unjudged},
		Calls: []metrics.Call{{Arm: "a", Path: metrics.PathDeclined}, {Arm: "a", Tool: "b", Gold: 1}}})

	rows := firstRows(t, filepath.Join(run.Dir, SearchesFile))
	want := map[string]float64{
		"recall_at_1": 0, "recall_at_3": .5, "recall_at_5": 1, "recall_at_10": 1, "recall_at_limit": .5,
		"precision_at_1": 0, "precision_at_3": 1. / 3, "precision_at_5": .4, "precision_at_10": .2, "precision_at_limit": .5,
		"success_at_1": 0, "success_at_3": 1, "success_at_5": 1, "success_at_10": 1, "success_at_limit": 1,
		"completeness_at_1": 0, "completeness_at_3": 0, "completeness_at_5": 1, "completeness_at_10": 1, "completeness_at_limit": 0,
		"ndcg_at_1": 0, "ndcg_at_3": .38685280723454163, "ndcg_at_5": .6509209298071326, "ndcg_at_10": .6509209298071326, "ndcg_at_limit": .38685280723454163,
		"rr": .5, "ap": .5,
	}
	for name, x := range want {
		got, ok := rows[0][name].(float64)
		if !ok || got-x > 1e-12 || x-got > 1e-12 {
			t.Errorf("%s = %v, want %v", name, rows[0][name], x)
		}
		if rows[1][name] != nil {
			t.Errorf("without gold %s = %v, want NULL", name, rows[1][name])
		}
	}
	if rows[0]["retriever"] != "other" || rows[0]["agent"] != "aware" {
		t.Errorf("retriever %v, agent %v", rows[0]["retriever"], rows[0]["agent"])
	}
	calls := firstRows(t, filepath.Join(run.Dir, CallsFile))
	if calls[0]["tool"] != nil || calls[1]["tool"] != "b" || calls[1]["gold_index"] != int64(1) || calls[1]["retriever"] != "bm25" {
		t.Errorf("calls: %v", calls)
	}
}

// TestCutoffsHaveColumns: the columns of searches are for the cutoffs of metrics.
func TestCutoffsHaveColumns(t *testing.T) {
	if got := metrics.Cutoffs(); got != [4]int{1, 3, 5, 10} {
		t.Fatalf("cutoffs are %v: searches.parquet has columns for 1, 3, 5 and 10", got)
	}
	r, _ := metrics.Evaluate(metrics.Search{Gold: []string{"a"}, Limit: 5})
	columns := reflect.ValueOf(judgedColumnsOf(&r))
	seen := map[any]bool{}
	for i := range columns.NumField() {
		if columns.Field(i).IsNil() || seen[columns.Field(i).Interface()] {
			t.Errorf("%s is nil or another column's value", columns.Type().Field(i).Name)
		}
		seen[columns.Field(i).Interface()] = true
	}
}

func TestColumnNames(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	assumptions := []string{"variant", "bridge", "retriever", "agent", "writer", "tokenizer", "gateway", "memo", "cache",
		"weight_fresh", "weight_cached", "weight_write", "weight_output"}
	for name, schema := range map[string]*parquet.Schema{
		SessionArmsFile: parquet.SchemaOf(sessionArmRow{}), CallsFile: parquet.SchemaOf(callRow{}),
		SearchesFile: parquet.SchemaOf(searchRow{}), SurfacesFile: parquet.SchemaOf(surfaceRow{}),
	} {
		var names []string
		for _, field := range schema.Fields() {
			names = append(names, field.Name())
			if !snake.MatchString(field.Name()) || field.Name() == "at" {
				t.Errorf("%s: column %q", name, field.Name())
			}
		}
		for _, a := range assumptions {
			if name != SurfacesFile && !slices.Contains(names, a) {
				t.Errorf("%s: no column %s", name, a)
			}
		}
	}
}

// metadata are the key-value pairs of each table of a run folder.
func metadata(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, name := range []string{SessionArmsFile, CallsFile, SearchesFile, SurfacesFile} {
		text := readFile(t, dir, name)
		opened, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = map[string]string{}
		for _, pair := range opened.Metadata().KeyValueMetadata {
			all[name][pair.Key] = pair.Value
		}
	}
	return all
}

// TestTableFormat checks what every table promises beside its rows.
func TestTableFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	file, err := newRunFile(createOutput, path)
	if err != nil {
		t.Fatal(err)
	}
	table := newTableWriter[surfaceRow](file, inputs{"c", "s", "f", true})
	const rows = 2*rowGroupRows + 1
	for i := range rows {
		if err := table.add(surfaceRow{SurfaceSHA256: fmt.Sprint(i), Form: "full"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	opened, err := parquet.OpenFile(raw, file.bytes)
	if err != nil {
		t.Fatal(err)
	}
	meta := opened.Metadata()
	if meta.CreatedBy != "toolgauge version 1(build )" {
		t.Errorf("created by %q", meta.CreatedBy)
	}
	var groups []int64
	for _, group := range meta.RowGroups {
		groups = append(groups, group.NumRows)
		for _, column := range group.Columns {
			if codec := column.MetaData.Codec.String(); codec != "ZSTD" {
				t.Errorf("column %v is compressed with %s", column.MetaData.PathInSchema, codec)
			}
		}
	}
	if !slices.Equal(groups, []int64{rowGroupRows, rowGroupRows, 1}) {
		t.Errorf("row groups of %v rows", groups)
	}
	keys := map[string]string{}
	for _, pair := range meta.KeyValueMetadata {
		keys[pair.Key] = pair.Value
	}
	if want := map[string]string{"schema_version": "1", "corpus_sha256": "c", "sessions_sha256": "s", "config_sha256": "f", "synthetic": "true"}; !cmp.Equal(keys, want) {
		t.Errorf("metadata %v", keys)
	}
	n := 0
	for row, err := range readTable[surfaceRow](path) {
		if err != nil || row.SurfaceSHA256 != fmt.Sprint(n) {
			t.Fatalf("row %d: %+v, %v", n, row, err)
		}
		n++
	}
	if n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
}
