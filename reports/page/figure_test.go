package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestFront(t *testing.T) {
	s := source{evidence: &evidence{}, values: make(map[[4]string]*metrics.Figure)}
	add := func(arm string, values map[string]float64, warnings ...metrics.Warning) {
		s.arms = append(s.arms, arm)
		for measure, x := range values {
			s.values[[4]string{measure, arm, "", ""}] = &metrics.Figure{Value: x, Warnings: warnings}
		}
	}
	bargain := func(tokens, requests, lost float64) map[string]float64 {
		return map[string]float64{"effective_tokens": tokens, "extra_requests": requests, "lost_rate": lost, "cold_calls": 9, "net_saved": 1}
	}
	add("eager", map[string]float64{"effective_tokens": 100, "lost_rate": 0})
	add("cheap", bargain(10, 3, .5))
	add("sure", bargain(20, 1, 0))
	add("beaten", bargain(20, 1, .1))
	add("its equal", bargain(20, 1, 0))
	add("fewer lost than cheap", bargain(11, 3, .4))
	add("nothing reached", map[string]float64{"effective_tokens": 1, "cold_calls": 9, "lost_rate": 1})
	add("not weighed", map[string]float64{"extra_requests": 1})
	add("counted otherwise", bargain(1, 0, 0), metrics.WarnCountedOtherwise)
	var got []string
	for _, b := range s.bargains() {
		got = append(got, fmt.Sprint(b.arm, " ", b.front))
	}
	want := []string{"eager true", "cheap true", "sure true", "beaten false", "its equal true", "fewer lost than cheap true"}
	if !slices.Equal(got, want) {
		t.Errorf("bargains %q, want %q", got, want)
	}
}

func TestBudgets(t *testing.T) {
	few := map[int]map[string]int{6400: {"full": 3}, 1600: {"names": 1, "mixed": 2}}
	got := budgets(few)
	if len(got) != 2 || got[0].name != "1,600" || got[0].sessions() != 3 || got[1].name != "6,400" || got[1].forms["full"] != 3 {
		t.Errorf("budgets %+v", got)
	}
	many := make(map[int]map[string]int)
	for i := range 10 {
		many[1000+10*i] = map[string]int{"full": 1}
	}
	if got := budgets(many); len(got) != 2 || got[0].name != "512-1023" || got[0].sessions() != 3 || got[1].name != "1024-2047" || got[1].sessions() != 7 {
		t.Errorf("budgets %+v", got)
	}
}

func TestGrouped(t *testing.T) {
	none := math.NaN()
	values := map[string][]float64{"a": {1, none}, "b": {1, 2}, "c": {1, none}, "d": {none, none}}
	groups := grouped([]string{"a", "b", "c", "d"}, func(arm string) []float64 { return values[arm] })
	if len(groups) != 2 || !slices.Equal(groups[0].arms, []string{"a", "c"}) || !slices.Equal(groups[1].arms, []string{"b"}) {
		t.Errorf("groups %+v", groups)
	}
}

func TestThinned(t *testing.T) {
	var ticks []string
	for i := range 25 {
		ticks = append(ticks, fmt.Sprint(i+1))
	}
	thinned(ticks)
	if got := slices.DeleteFunc(ticks, func(s string) bool { return s == "" }); !slices.Equal(got, []string{"1", "4", "7", "10", "13", "16", "19", "22", "25"}) {
		t.Errorf("ticks %v", got)
	}
	if got := thinned([]string{"1", "2"}); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("ticks %v", got)
	}
}

func TestWorst(t *testing.T) {
	of := func(id string, lost, recall float64, asked int) *intent {
		i := &intent{id: id, lost: make([]mean, 1), recall: make([]mean, 1)}
		for range asked {
			i.lost[0].add(lost)
			i.recall[0].add(recall)
		}
		return i
	}
	all := []*intent{of("never lost", 0, 1, 5), of("found badly", .5, .1, 1), of("b", .5, .2, 3), of("a", .5, .2, 3), of("asked more", .5, .2, 4), of("lost", 1, .9, 1)}
	var got []string
	for _, i := range worst(all, 5) {
		got = append(got, i.id)
	}
	if want := []string{"lost", "found badly", "asked more", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("worst %q, want %q", got, want)
	}
}

func TestDifferences(t *testing.T) {
	base := reports.Summary{Corpus: reports.Corpus{Name: "a", SHA256: "0123456789abcdef"}, Sessions: 10, Seed: 1, Assumptions: []reports.Arm{{Name: "eager"}}}
	arms := base
	arms.Assumptions = []reports.Arm{{Name: "eager", Assumptions: reports.Assumptions{Tokenizer: "chars4"}}, {Name: "more"}}
	file := base
	file.SessionsSHA256 = "ff"
	for _, c := range []struct {
		name string
		s    reports.Summary
		want int
	}{{"none", base, 0}, {"arms", arms, 1}, {"sessions", file, 1}} {
		if got := differences([]*reports.Run{{Summary: base}, {Summary: c.s}}); len(got) != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestSigned(t *testing.T) {
	for x, want := range map[float64]string{-76.31: "−76.3%", 1.2: "+1.2%", 0: "0.0%"} {
		if got := signed(x); got != want {
			t.Errorf("signed(%v) = %q, want %q", x, got, want)
		}
	}
}
