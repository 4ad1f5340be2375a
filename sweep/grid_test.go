package sweep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/replay"
)

func parse(t testing.TB, words ...string) *Grid {
	t.Helper()
	g, err := ParseGrid(words)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGridIsEveryCombination(t *testing.T) {
	for _, row := range []struct {
		words string
		want  []string // settings
	}{
		{"", []string{"eager", "default"}},
		{"threshold_pct=5", []string{"eager", "default"}},
		{"threshold_pct=2,5 listing=off,auto", []string{
			"eager", "threshold_pct=2 listing=off", "threshold_pct=2", "listing=off", "default",
		}},
		{"retriever=hybrid", []string{"eager", "default", "retriever=hybrid"}},
		{"variant=september,july", []string{"eager", "default", "variant=july"}},
		{"threshold_pct=-0,1e1", []string{"eager", "default", "threshold_pct=0", "threshold_pct=10"}},
		{"search_default_limit=25 variant=september", []string{"eager", "default", "search_default_limit=25"}},
	} {
		t.Run(row.words, func(t *testing.T) {
			g := parse(t, strings.Fields(row.words)...)
			var got []string
			for _, s := range g.settings {
				got = append(got, s.Name)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if len(g.points) != len(g.settings) {
				t.Errorf("%d points, want one for each of %d settings", len(g.points), len(g.settings))
			}
		})
	}
}

func TestWithDefaults(t *testing.T) {
	for words, want := range map[string]string{
		"":                       strings.Join(DefaultWords(), " "),
		"context_length=8000":    "context_length=8000 " + strings.Join(DefaultWords(), " "),
		"agent=blind":            "agent=blind " + strings.Join(DefaultWords()[:3], " "),
		"agent=blind listing=on": "agent=blind listing=on",
		"speed=1":                "speed=1",
	} {
		if got := strings.Join(WithDefaults(strings.Fields(words)), " "); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

func TestGridSetsWhatItSays(t *testing.T) {
	g := parse(t, "threshold_pct=0.5", "listing=off", "listing_max_tokens=300", "search_default_limit=7", "retriever=vector", "agent=hasty,blind", "context_length=32000,8000")
	want := replay.NewArm("threshold_pct=0.5 listing=off listing_max_tokens=300 search_default_limit=7 retriever=vector", bridge.July)
	want.ToolSearch.ThresholdPct, want.ToolSearch.Listing, want.ToolSearch.ListingMaxTokens, want.ToolSearch.SearchDefaultLimit = 0.5, bridge.Off, 300, 7
	want.Retriever = "vector"
	if diff := cmp.Diff(want, g.settings[2].Arm); diff != "" {
		t.Errorf("setting (-want +got):\n%s", diff)
	}
	arms := g.arms()
	if len(arms) != 6 || arms[2].Agent != replay.AgentHasty || arms[5].Agent != replay.AgentBlind || arms[5].Retriever != "vector" || arms[3].Bridge {
		t.Errorf("arms: %+v", arms)
	}
	if diff := cmp.Diff([]int{32000, 8000}, g.contexts); diff != "" {
		t.Errorf("contexts (-want +got):\n%s", diff)
	}
}

func TestGridRefuses(t *testing.T) {
	many := make([]string, 50)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	lengths := make([]string, contextsMax+1)
	for i := range lengths {
		lengths[i] = fmt.Sprint(1000 + i)
	}
	for _, row := range []struct{ words, want string }{
		{"threshold=5", "unknown key \"threshold\"\nhint: did you mean \"threshold_pct\"?"},
		{"fast", "\"fast\": not KEY=VALUE,...\nhint: write for example threshold_pct=2,5,10"},
		{"listing=of", "listing: unknown value \"of\"\nhint: did you mean \"on\"?"},
		{"retriever=bm52", "retriever: unknown value \"bm52\"\nhint: did you mean \"bm25\"?"},
		{"agent=awre", "agent: unknown value \"awre\"\nhint: did you mean \"aware\"?"},
		{"variant=june", "variant: unknown value \"june\"\nhint: did you mean \"july\"?"},
		{"threshold_pct=", "threshold_pct: \"\" is no number\nhint: give numbers with commas between, as in threshold_pct=2,5,10"},
		{"threshold_pct=nan", "threshold_pct: \"nan\" is no number\nhint: give numbers with commas between, as in threshold_pct=2,5,10"},
		{"threshold_pct", "threshold_pct: \"\" is no number\nhint: give numbers with commas between, as in threshold_pct=2,5,10"},
		{"threshold_pct=101", "threshold_pct=101: out of range for variant july\nhint: the pipeline would take it as 100"},
		{"listing_max_tokens=5", "listing_max_tokens=5: out of range for variant july\nhint: the pipeline would take it as 200"},
		{"search_default_limit=25", "search_default_limit=25: out of range for variant july\nhint: the pipeline would take it as 20"},
		{"search_default_limit=1.5", "search_default_limit: \"1.5\" is no whole number from 1 up\nhint: give numbers with commas between, as in search_default_limit=2,5,10"},
		{"context_length=0", "context_length: \"0\" is no whole number from 1 up\nhint: give numbers with commas between, as in context_length=32000,200000"},
		{"context_length=" + strings.Join(lengths, ","), "context_length: more than 16 lengths\nhint: give fewer"},
		{"threshold_pct=5,5.0", "threshold_pct: 5 is there twice\nhint: give each value once"},
		{"listing=off listing=auto", "listing is given twice\nhint: give its values once, with commas between"},
		{"threshold_pct=" + strings.Join(many, ",") + " search_default_limit=" + strings.Join(many[1:], ","),
			"more than 2000 points\nhint: give fewer values; the points are all their combinations"},
	} {
		t.Run(row.words, func(t *testing.T) {
			g, err := ParseGrid(strings.Fields(row.words))
			if err == nil {
				t.Fatalf("taken as %+v", g)
			}
			if diff := cmp.Diff(row.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever is given as words, it is a grid or an error with a hint.
func FuzzParseGrid(f *testing.F) {
	for _, word := range append(DefaultWords(), "listing=", "=", "context_length=1,2", "threshold_pct=1e400", "agent") {
		f.Add(word, "variant=september")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		g, err := ParseGrid([]string{a, b})
		if err != nil {
			if !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("no hint: %v", err)
			}
			return
		}
		if g.Points() < 2 || g.Points() > 2*PointsMax {
			t.Errorf("%d points", g.Points())
		}
		names := make(map[string]bool)
		for _, arm := range g.arms() {
			if names[arm.Name] {
				t.Errorf("two points are named %q", arm.Name)
			}
			names[arm.Name] = true
		}
	})
}

func TestArmsAreSettingsUnderModels(t *testing.T) {
	arm := func(name, agent string, threshold float64) replay.Arm {
		a := replay.NewArm(name, bridge.July)
		a.Agent, a.ToolSearch.ThresholdPct = agent, threshold
		return a
	}
	g, err := ArmsGrid([]replay.Arm{arm("wide", "aware", 20), arm("wide-hasty", "hasty", 20), arm("narrow", "hasty", 1), arm("plain", "aware", 5)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range g.arms() {
		got = append(got, a.Name)
	}
	want := []string{
		"eager, agent aware", "default, agent aware", "wide, agent aware",
		"eager, agent hasty", "default, agent hasty", "wide, agent hasty", "narrow, agent hasty",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	for _, row := range []struct {
		arms []replay.Arm
		want string
	}{
		{[]replay.Arm{arm("a", "aware", 1), arm("b", "aware", 1)}, "arm \"b\" is \"a\" once more\nhint: leave one of them out"},
		{[]replay.Arm{arm("default", "aware", 1)}, "arm \"default\" has not the default settings, which bear that name\nhint: give it another name"},
	} {
		if _, err := ArmsGrid(row.arms); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func TestDescribeFindsCombinations(t *testing.T) {
	g := parse(t, "threshold_pct=0,2,5,10", "listing=auto,off", "retriever=bm25,hybrid")
	for _, row := range []struct {
		settings string // by name, commas between
		want     string
	}{
		{"eager", "eager"},
		{"default", "default"},
		{"threshold_pct=2,default,threshold_pct=10", "threshold_pct=2..10 (default among them)"},
		{"threshold_pct=0,threshold_pct=10", "threshold_pct=0,10"},
		{"threshold_pct=0,threshold_pct=0 listing=off,threshold_pct=2 listing=off,listing=off,threshold_pct=10 listing=off", "threshold_pct=0; any threshold_pct listing=off"},
		{"default,retriever=hybrid", "any retriever (default among them)"},
		{"eager,threshold_pct=2", "eager; threshold_pct=2"},
	} {
		var points []int
		for _, name := range strings.Split(row.settings, ",") {
			for i := range g.points {
				if g.name(i) == name {
					points = append(points, i)
				}
			}
		}
		if got := g.describe(points); got != row.want {
			t.Errorf("%s: %q, want %q", row.settings, got, row.want)
		}
	}
	beside := parse(t, "threshold_pct=1,2")
	if got := beside.describe([]int{1, 2, 3}); got != "default; any threshold_pct" {
		t.Errorf("the default beside the grid: %q", got)
	}
}

func TestEdgeIsWhereNothingWasTriedBeyond(t *testing.T) {
	g := parse(t, "threshold_pct=10,1,2", "listing=auto,off")
	for settings, want := range map[string]string{
		"threshold_pct=10": "No larger threshold_pct was tried; one may be better.",
		"threshold_pct=1,threshold_pct=1 listing=off": "No smaller threshold_pct was tried; one may be better.",
		"threshold_pct=2":                  "",
		"threshold_pct=2,threshold_pct=10": "",
		"eager":                            "",
		"default":                          "",
	} {
		var points []int
		for _, name := range strings.Split(settings, ",") {
			for i := range g.points {
				if g.name(i) == name {
					points = append(points, i)
				}
			}
		}
		if got := g.edge(points); got != want {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}

// However settings are merged into combinations, these stand for just them.
func TestMergedBoxesHoldTheSameSettings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := make(map[[3]int]bool)
		var boxes []box
		for range rapid.IntRange(1, 20).Draw(rt, "settings") {
			var s [3]int
			for k := range s {
				s[k] = rapid.IntRange(0, 2).Draw(rt, "value")
			}
			if !all[s] {
				all[s] = true
				boxes = append(boxes, box{{s[0]}, {s[1]}, {s[2]}})
			}
		}
		for k := range 3 {
			boxes = merged(boxes, k)
		}
		seen := 0
		for _, b := range boxes {
			for _, x := range b[0] {
				for _, y := range b[1] {
					for _, z := range b[2] {
						if seen++; !all[[3]int{x, y, z}] {
							rt.Fatalf("%v is in %v, but was not given", [3]int{x, y, z}, b)
						}
					}
				}
			}
		}
		if seen != len(all) {
			rt.Fatalf("boxes hold %d settings of %d: %v", seen, len(all), boxes)
		}
	})
}
