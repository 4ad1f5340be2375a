package search

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFeatures(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" -- ", nil},
		{"a", []string{"=a", " a "}},
		{"To-do", []string{"=to", " to", "to ", "=do", " do", "do "}},
		{"Größe2", []string{"=größe2", " gr", "grö", "röß", "öße", "ße2", "e2 "}},
		{"列出问题", []string{"=列出问题", " 列出", "列出问", "出问题", "问题 "}},
	} {
		if diff := cmp.Diff(c.want, appendFeatures(nil, c.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

// cosine is the formula, worked out over whole vectors.
func cosine(docs []Doc, query string, doc int) float64 {
	count := func(texts ...string) map[string]float64 {
		counts := map[string]float64{}
		for _, text := range texts {
			for _, feature := range appendFeatures(nil, text) {
				counts[feature]++
			}
		}
		return counts
	}
	text := func(d Doc) map[string]float64 {
		return count(append([]string{d.Name, d.Description}, d.Parameters...)...)
	}
	df := map[string]float64{}
	for _, d := range docs {
		for feature := range text(d) {
			df[feature]++
		}
	}
	weigh := func(counts map[string]float64) {
		for feature, n := range counts {
			counts[feature] = (1 + math.Log(n)) * (1 + math.Log((1+float64(len(docs)))/(1+df[feature])))
		}
	}
	q, d := count(query), text(docs[doc])
	weigh(q)
	weigh(d)
	dot, qq, dd := 0.0, 0.0, 0.0
	for _, feature := range slices.Sorted(maps.Keys(q)) {
		dot += q[feature] * d[feature]
		qq += q[feature] * q[feature]
	}
	for _, feature := range slices.Sorted(maps.Keys(d)) {
		dd += d[feature] * d[feature]
	}
	return dot / math.Sqrt(qq*dd)
}

// TestVectorIsTheCosine compares every score with the formula, and the hits with the tools that share a feature.
func TestVectorIsTheCosine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(gatedDoc(), 1, 12).Draw(t, "docs")
		query := gatedQuery(docs).Draw(t, "query")
		r := newVector()
		hits := r.Index(analyze(r, docs)).Search(nil, query, len(docs))
		found := map[int]bool{}
		for i, hit := range hits {
			found[hit.Doc] = true
			if want := cosine(docs, query, hit.Doc); math.Abs(hit.Score-want) > 1e-9 || hit.Score > 1+1e-9 {
				t.Fatalf("score %v of doc %d, want %v", hit.Score, hit.Doc, want)
			}
			if i > 0 && !better(hits[i-1], hit) {
				t.Fatalf("hits out of order: %+v", hits)
			}
		}
		for doc := range docs {
			if want := cosine(docs, query, doc) > 0; want != found[doc] {
				t.Fatalf("doc %d is a hit: %t, want %t", doc, found[doc], want)
			}
		}
	})
}

// TestVectorMeetsForms: what bm25 cannot join, inflected words, slips of the pen and other scripts.
func TestVectorMeetsForms(t *testing.T) {
	docs := []Doc{
		{Name: "create_issue", Description: "Open a ticket."},
		{Name: "list_branches", Description: "Show branches."},
		{Name: "send_mail", Description: "发送邮件。"},
	}
	r := newVector()
	x := r.Index(analyze(r, docs))
	for query, want := range map[string]int{"creating issues": 0, "branchs": 1, "请发送邮件": 2, "tickets": 0} {
		if hits := x.Search(nil, query, 1); len(hits) != 1 || hits[0].Doc != want {
			t.Errorf("%q: hits %+v, want doc %d", query, hits, want)
		}
	}
	if hits := x.Search(nil, strings.Join([]string{docs[1].Name, docs[1].Description}, " "), 3); hits[0].Doc != 1 || math.Abs(hits[0].Score-1) > 1e-12 {
		t.Errorf("a tool's own text: %+v, want doc 1 with 1", hits)
	}
	if hits := x.Search(nil, "!?", 3); hits != nil {
		t.Errorf("no words: %+v", hits)
	}
}

// TestHybridFuses works one fusion out by hand: the tool that both rankings have stands before those that are first in one.
func TestHybridFuses(t *testing.T) {
	docs := []Doc{
		{Name: "alpha", Description: "report report report"}, // bm25: 1st
		{Name: "beta", Description: "reporting reports"},     // vector only
		{Name: "gamma", Description: "a report of sorts"},
		{Name: "delta", Description: "zzz"},
	}
	r := newHybrid()
	x := r.Index(analyze(r, docs))
	want := map[int]float64{}
	for _, part := range []Retriever{newBM25(), newVector()} {
		for rank, hit := range part.Index(analyze(part, docs)).Search(nil, "report", 10) {
			want[hit.Doc] += 1 / float64(60+rank+1)
		}
	}
	hits := x.Search(nil, "report", 10)
	if len(hits) != len(want) || len(hits) != 3 {
		t.Fatalf("hits %+v, want %v", hits, want)
	}
	for i, hit := range hits {
		if hit.Score != want[hit.Doc] || i > 0 && hits[i-1].Score < hit.Score {
			t.Errorf("hit %d: %+v, want score %v", i, hit, want[hit.Doc])
		}
	}
	if hits[2].Doc != 1 {
		t.Errorf("the tool that one ranking lacks is not the last: %+v", hits)
	}
}
