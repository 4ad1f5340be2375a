package search_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

func newRetriever(t testing.TB, name string) search.Retriever {
	t.Helper()
	retriever, err := search.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return retriever
}

// index is by bm25.
func index(t testing.TB, docs []search.Doc) search.Index { return indexBy(t, "bm25", docs) }

func indexBy(t testing.TB, name string, docs []search.Doc) search.Index {
	t.Helper()
	retriever := newRetriever(t, name)
	catalog := make([]*search.Terms, len(docs))
	for i := range docs {
		catalog[i] = retriever.Analyze(&docs[i])
	}
	return retriever.Index(catalog)
}

func names(docs []search.Doc, hits []search.Hit) []string {
	list := []string{}
	for _, hit := range hits {
		list = append(list, docs[hit.Doc].Name)
	}
	return list
}

func TestTokenize(t *testing.T) {
	for _, row := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"  _-.: \t\n", nil},
		{"工具 создать", nil},
		{"create_issue", []string{"create", "issue"}},
		{"mcp__github__create-issue.v2:draft", []string{"mcp", "github", "create", "issue", "v2", "draft"}},
		{"Ünïcode", []string{"n", "code"}},
		{"getUserID", []string{"getuserid"}},
		{"v1.2 ISSUES issues", []string{"v1", "2", "issues", "issues"}},
		{"1 Kelvin is \u212a", []string{"1", "kelvin", "is"}}, // the sign's lower case is an ASCII k, but it is no ASCII letter
		{"a\xffb", []string{"a", "b"}},
	} {
		if diff := cmp.Diff(row.want, search.Tokenize(row.text)); diff != "" {
			t.Errorf("Tokenize(%q) (-want +got):\n%s", row.text, diff)
		}
	}
}

// TestScores checks two scores that were worked out by hand. Both docs have 2 tokens, so their norm is 1.5·(0.25+0.75) =
// 1.5 and a term's part is 2.5·tf/(tf+1.5): 1 for tf 1, and 10/7 for tf 2. An idf is ln(1+1.5/1.5) = ln 2 for a term of one
// doc, and ln(1+0.5/2.5) = ln 1.2 for a term of both.
func TestScores(t *testing.T) {
	const ln2, ln1_2 = 0.6931471805599453, 0.1823215567939546
	x := index(t, []search.Doc{{Name: "a", Parameters: []string{"b"}}, {Description: "b, B!"}})
	for _, row := range []struct {
		query string
		want  []search.Hit
	}{
		{"a", []search.Hit{{Doc: 0, Score: ln2}}},
		{"a c a", []search.Hit{{Doc: 0, Score: 2 * ln2}}},
		{"b", []search.Hit{{Doc: 1, Score: ln1_2 * 10 / 7}, {Doc: 0, Score: ln1_2}}},
		{"A-b", []search.Hit{{Doc: 0, Score: ln2 + ln1_2}, {Doc: 1, Score: ln1_2 * 10 / 7}}},
	} {
		if diff := cmp.Diff(row.want, x.Search(nil, row.query, 9), near(1e-15)); diff != "" {
			t.Errorf("query %q (-want +got):\n%s", row.query, diff)
		}
	}
}

// near compares scores up to a relative difference.
func near(relative float64) cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return a == b || max(a-b, b-a) <= relative*max(a, b) })
}

func TestSubstringFallback(t *testing.T) {
	docs := []search.Doc{{Name: "Create_Issue"}, {Name: "file-ΟΔΟΣ"}, {Name: "İSTANBUL_map"}, {Name: "close_issue", Description: "eat"}}
	x := index(t, docs)
	for _, row := range []struct {
		query string
		limit int
		want  []string
	}{
		{"REATE_iss", 5, []string{"Create_Issue"}},
		{"ssue", 5, []string{"Create_Issue", "close_issue"}},
		{"ssue", 1, []string{"Create_Issue"}},
		{"ssue ", 5, []string{}},                   // the whole query counts, its spaces included
		{"le-οδος", 5, []string{"file-ΟΔΟΣ"}},      // a final sigma
		{"i\u0307st", 5, []string{"İSTANBUL_map"}}, // İ in lower case is an i and a combining dot
		{"οδος", 5, []string{}},                    // no token, no search
	} {
		hits := x.Search(nil, row.query, row.limit)
		if diff := cmp.Diff(row.want, names(docs, hits)); diff != "" {
			t.Errorf("query %q (-want +got):\n%s", row.query, diff)
		}
		for _, hit := range hits {
			if hit.Score != 0.1 {
				t.Errorf("query %q: score %v, want 0.1", row.query, hit.Score)
			}
		}
	}
	// A single token of the catalog rules the fallback out, although Create_Issue contains this query too.
	if hits := x.Search(nil, "eat", 5); len(hits) != 1 || hits[0].Doc != 3 || hits[0].Score <= 0.1 {
		t.Errorf("query %q: hits %v, want doc 3 alone, by its description", "eat", hits)
	}
}

func TestLimits(t *testing.T) {
	docs := make([]search.Doc, 4)
	for i := range docs {
		docs[i].Name = fmt.Sprintf("same %d", i)
	}
	x := index(t, docs)
	for _, row := range []struct {
		limit int
		want  []string
	}{
		{-1, []string{}},
		{0, []string{}},
		{1, []string{"same 0"}},
		{3, []string{"same 0", "same 1", "same 2"}},
		{1 << 62, []string{"same 0", "same 1", "same 2", "same 3"}},
	} {
		if diff := cmp.Diff(row.want, names(docs, x.Search(nil, "same", row.limit))); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", row.limit, diff)
		}
	}
	for _, query := range []string{"", " \n", "工具", "?!"} {
		if hits := x.Search(nil, query, 5); len(hits) > 0 {
			t.Errorf("query %q without tokens has hits %v", query, hits)
		}
	}
	if x.Len() != 4 {
		t.Errorf("Len() = %d, want 4", x.Len())
	}
}

// TestTies has tools of one score that the query's tokens meet in another order than the catalog's.
func TestTies(t *testing.T) {
	docs := []search.Doc{{Name: "c 0"}, {Name: "b 1"}, {Name: "a 2"}, {Name: "b 3"}, {Name: "c 4"}, {Name: "a 5"}}
	x := index(t, docs)
	want := []string{"c 0", "b 1", "a 2", "b 3", "c 4", "a 5"}
	for limit := range want {
		if diff := cmp.Diff(want[:limit], names(docs, x.Search(nil, "a b c", limit))); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
}

func TestSearchAppends(t *testing.T) {
	first := search.Hit{Doc: 99, Score: 99}
	got := index(t, []search.Doc{{Name: "x"}, {Name: "y"}}).Search([]search.Hit{first}, "y", 5)
	if len(got) != 2 || got[0] != first || got[1].Doc != 1 {
		t.Errorf("got %v, want the given hit and then doc 1", got)
	}
}

func TestEmptyCatalog(t *testing.T) {
	x := index(t, nil)
	if hits := x.Search(nil, "anything", 5); hits != nil || x.Len() != 0 {
		t.Errorf("hits %v and length %d in an empty catalog", hits, x.Len())
	}
	if got := x.Explain("anything", 5); len(got.Tokens) != 1 || got.Tokens[0].DF != 0 || len(got.Hits) > 0 {
		t.Errorf("explanation %+v in an empty catalog", got)
	}
}

// TestIndexKeepsNothingOfTheSlice changes the caller's slice after the index was made from it.
func TestIndexKeepsNothingOfTheSlice(t *testing.T) {
	retriever := newRetriever(t, "bm25")
	catalog := []*search.Terms{retriever.Analyze(&search.Doc{Name: "alpha"})}
	x := retriever.Index(catalog)
	catalog[0] = retriever.Analyze(&search.Doc{Name: "beta"})
	if hits := x.Search(nil, "lph", 5); len(hits) != 1 {
		t.Errorf("hits %v, want the tool that was indexed", hits)
	}
}

func TestForeignTermsPanic(t *testing.T) {
	foreign := newRetriever(t, "bm25").Analyze(&search.Doc{Name: "x"})
	for name, terms := range map[string]*search.Terms{"nil": nil, "foreign": foreign} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s terms were indexed", name)
				}
			}()
			newRetriever(t, "bm25").Index([]*search.Terms{terms})
		}()
	}
}

func TestNew(t *testing.T) {
	for _, name := range search.Names() {
		if retriever, err := search.New(name); err != nil || retriever.Name() != name {
			t.Errorf("New(%q) is %v, with error %v", name, retriever, err)
		}
	}
	for _, row := range []struct{ name, want string }{
		{"BM2", "unknown retriever \"BM2\"\nhint: did you mean \"bm25\"?"},
		{"", "unknown retriever \"\"\nhint: did you mean \"bm25\"?"},
	} {
		if _, err := search.New(row.name); err == nil || err.Error() != row.want {
			t.Errorf("New(%q): error %q, want %q", row.name, err, row.want)
		}
	}
}

func ExampleIndex() {
	docs := []search.Doc{
		{Name: "github_create_issue", Description: "Open an issue in a repository.", Parameters: []string{"title", "body"}},
		{Name: "slack_send_message", Description: "Post a message to a channel.", Parameters: []string{"channel", "text"}},
	}
	retriever, err := search.New("bm25")
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog := make([]*search.Terms, len(docs))
	for i := range docs {
		catalog[i] = retriever.Analyze(&docs[i])
	}
	index := retriever.Index(catalog)
	for _, hit := range index.Explain("send a message", 5).Hits {
		fmt.Printf("%s %.3f\n", docs[hit.Doc].Name, hit.Score)
		for _, part := range hit.Contributions {
			fmt.Printf("  %s %.3f\n", part.Token, part.Score)
		}
	}
	// Output:
	// slack_send_message 1.944
	//   send 0.693
	//   a 0.260
	//   message 0.990
	// github_create_issue 0.182
	//   a 0.182
}
