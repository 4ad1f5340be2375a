package bridge_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

func TestParseConfig(t *testing.T) {
	defaults := bridge.DefaultConfig()
	type settings = map[string]any
	for _, row := range []struct {
		name string
		raw  any
		want bridge.Config
		note string // a word of the one note; "" for none
	}{
		{"nothing", nil, defaults, ""},
		{"the old way to say yes", true, defaults, ""},
		{"the old way to say no", false, with(func(c *bridge.Config) { c.Enabled = bridge.Off }), ""},
		{"a list", []any{1}, defaults, "mapping"},
		{"a text", "off", defaults, "mapping"},
		{"a number", 0, defaults, "mapping"},
		{"an empty mapping", settings{}, defaults, ""},
		{"an unknown key", settings{"enable": "off"}, defaults, "enable: no such setting"},

		{"enabled on", settings{"enabled": "on"}, with(func(c *bridge.Config) { c.Enabled = bridge.On }), ""},
		{"enabled as a boolean", settings{"enabled": true}, with(func(c *bridge.Config) { c.Enabled = bridge.On }), ""},
		{"disabled as a boolean", settings{"enabled": false}, with(func(c *bridge.Config) { c.Enabled = bridge.Off }), ""},
		{"letter case and space", settings{"enabled": "  OFF\n"}, with(func(c *bridge.Config) { c.Enabled = bridge.Off }), ""},
		{"yes", settings{"enabled": "yes"}, with(func(c *bridge.Config) { c.Enabled = bridge.On }), ""},
		{"one", settings{"enabled": json.Number("1")}, with(func(c *bridge.Config) { c.Enabled = bridge.On }), ""},
		{"zero", settings{"enabled": 0}, with(func(c *bridge.Config) { c.Enabled = bridge.Off }), ""},
		{"a typo", settings{"enabled": "maybe"}, defaults, "enabled"},
		{"null", settings{"enabled": nil}, defaults, "enabled"},
		{"a float is not the digit", settings{"enabled": 1.0}, defaults, "enabled"},

		{"percent too high", settings{"threshold_pct": 150}, with(func(c *bridge.Config) { c.ThresholdPct = 100 }), "threshold_pct"},
		{"percent too low", settings{"threshold_pct": -5}, with(func(c *bridge.Config) { c.ThresholdPct = 0 }), "threshold_pct"},
		{"percent as text", settings{"threshold_pct": "7.5"}, with(func(c *bridge.Config) { c.ThresholdPct = 7.5 }), ""},
		{"percent null", settings{"threshold_pct": nil}, defaults, "threshold_pct"},
		{"percent unreadable", settings{"threshold_pct": "x"}, defaults, "threshold_pct"},
		{"percent NaN", settings{"threshold_pct": math.NaN()}, with(func(c *bridge.Config) { c.ThresholdPct = 100 }), "threshold_pct"},
		{"percent nan as text", settings{"threshold_pct": "nan"}, with(func(c *bridge.Config) { c.ThresholdPct = 100 }), "threshold_pct"},
		{"percent infinite", settings{"threshold_pct": math.Inf(1)}, with(func(c *bridge.Config) { c.ThresholdPct = 100 }), "threshold_pct"},
		{"percent minus infinite", settings{"threshold_pct": "-inf"}, with(func(c *bridge.Config) { c.ThresholdPct = 0 }), "threshold_pct"},
		{"percent true", settings{"threshold_pct": true}, with(func(c *bridge.Config) { c.ThresholdPct = 1 }), ""},
		{"percent a mapping", settings{"threshold_pct": settings{}}, defaults, "threshold_pct"},

		{"limits too high", settings{"search_default_limit": 999, "max_search_limit": 50}, with(func(c *bridge.Config) { c.SearchDefaultLimit, c.MaxSearchLimit = 50, 50 }), "search_default_limit"},
		{"the default follows the maximum", settings{"max_search_limit": 3}, with(func(c *bridge.Config) { c.SearchDefaultLimit, c.MaxSearchLimit = 3, 3 }), ""},
		{"limit zero", settings{"search_default_limit": 0}, with(func(c *bridge.Config) { c.SearchDefaultLimit = 1 }), "search_default_limit"},
		{"maximum zero", settings{"max_search_limit": 0}, with(func(c *bridge.Config) { c.SearchDefaultLimit, c.MaxSearchLimit = 1, 1 }), "max_search_limit"},
		{"a fraction is cut", settings{"max_search_limit": 12.9}, with(func(c *bridge.Config) { c.MaxSearchLimit = 12 }), ""},
		{"a fraction as text is no whole number", settings{"max_search_limit": "12.5"}, defaults, "max_search_limit"},
		{"a whole number as text", settings{"max_search_limit": " 1_2 "}, with(func(c *bridge.Config) { c.MaxSearchLimit = 12 }), ""},
		{"limit true", settings{"search_default_limit": true}, with(func(c *bridge.Config) { c.SearchDefaultLimit = 1 }), ""},
		{"limit NaN", settings{"max_search_limit": math.NaN()}, defaults, "max_search_limit"},
		{"a whole number beyond all words", settings{"max_search_limit": json.Number("1" + strings.Repeat("0", 400))}, with(func(c *bridge.Config) { c.MaxSearchLimit = 50 }), "max_search_limit"},
		{"an infinite limit resets everything", settings{"max_search_limit": math.Inf(1), "enabled": "off", "listing": "off"}, defaults, "every setting"},
		{"as does one written out", settings{"listing_max_tokens": json.Number("1e999"), "enabled": "off"}, defaults, "every setting"},

		{"listing off, cap too high", settings{"listing": "off", "listing_max_tokens": 999_999}, with(func(c *bridge.Config) { c.Listing, c.ListingMaxTokens = bridge.Off, 60_000 }), "listing_max_tokens"},
		{"cap too low", settings{"listing_max_tokens": -5}, with(func(c *bridge.Config) { c.ListingMaxTokens = 200 }), "listing_max_tokens"},
		{"listing unreadable", settings{"listing": "garbage"}, defaults, "listing"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, notes := bridge.ParseConfig(row.raw)
			if got != row.want {
				t.Errorf("got  %+v\nwant %+v", got, row.want)
			}
			if row.note == "" && len(notes) > 0 {
				t.Errorf("notes %q, want none", notes)
			}
			if row.note != "" && (len(notes) != 1 || !strings.Contains(notes[0], row.note)) {
				t.Errorf("notes %q, want one about %q", notes, row.note)
			}
		})
	}
}

func TestParseConfigClampsTwice(t *testing.T) {
	got, notes := bridge.ParseConfig(map[string]any{"search_default_limit": 999, "max_search_limit": 999})
	if got.MaxSearchLimit != 50 || got.SearchDefaultLimit != 50 || len(notes) != 2 {
		t.Errorf("limits %d of %d, notes %q", got.SearchDefaultLimit, got.MaxSearchLimit, notes)
	}
	got, notes = bridge.ParseConfig(map[string]any{"listing": "garbage", "listing_max_tokens": -5})
	if got.Listing != bridge.Auto || got.ListingMaxTokens != 200 || len(notes) != 2 {
		t.Errorf("listing %s of %d, notes %q", got.Listing, got.ListingMaxTokens, notes)
	}
}

// FuzzParseConfig: whatever stands in a configuration file, the settings are in
// their ranges, and reading them again changes nothing.
func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{
		`null`, `true`, `{"enabled":"maybe","threshold_pct":1e400,"max_search_limit":-1e999}`, `{"threshold_pct":"Infinity","search_default_limit":"٣"}`,
		`{"listing":[],"listing_max_tokens":{"a":1},"max_search_limit":"1__2"}`, `{"threshold_pct":-0.0,"enabled":-0}`, `[{}]`,
		`{"defer":["a"," ",7,"a"]}`, `{"defer":"a"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var raw any
		if d.Decode(&raw) != nil {
			return
		}
		for _, v := range bridge.Variants() {
			checkSettings(t, v, raw)
		}
	})
}

func checkSettings(t *testing.T, v bridge.Variant, raw any) {
	c, _ := v.ParseConfig(raw)
	for _, s := range []bridge.Switch{c.Enabled, c.Listing} {
		if s != bridge.Auto && s != bridge.On && s != bridge.Off {
			t.Fatalf("switch at %q", s)
		}
	}
	if !(c.ThresholdPct >= 0 && c.ThresholdPct <= 100) || c.MaxSearchLimit < 1 || c.MaxSearchLimit > 50 ||
		c.SearchDefaultLimit < 1 || c.SearchDefaultLimit > c.MaxSearchLimit || c.ListingMaxTokens < 200 || c.ListingMaxTokens > 60_000 {
		t.Fatalf("out of range: %+v", c)
	}
	if b := c.Budget(math.MaxInt); b < 0 || b > c.ListingMaxTokens {
		t.Fatalf("budget %d", b)
	}
	written, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	if err := json.Unmarshal(written, &again); err != nil {
		t.Fatal(err)
	}
	if back, notes := v.ParseConfig(again); back != c || len(notes) > 0 {
		t.Fatalf("%+v came back as %+v with %q", c, back, notes)
	}
}

func TestBudget(t *testing.T) {
	capped := with(func(c *bridge.Config) { c.ListingMaxTokens = 8000 })
	percent := func(p float64) bridge.Config { return with(func(c *bridge.Config) { c.ThresholdPct = p }) }
	for _, row := range []struct {
		name          string
		config        bridge.Config
		contextLength int
		want          int
	}{
		{"the cap binds", capped, 200_000, 8000},
		{"the percentage binds", capped, 50_000, 2500},
		{"unknown context, capped", capped, 0, 8000},
		{"unknown context", percent(5), 0, 10_000},
		{"a negative context is unknown", percent(5), -1, 10_000},
		{"unknown context, whatever the percentage", percent(100), 0, 10_000},
		{"5 % of 200,000", percent(5), 200_000, 10_000},
		{"5 % of 50,000", percent(5), 50_000, 2500},
		{"5 % of 128,000", percent(5), 128_000, 6400},
		{"5 % of a million meets the cap", percent(5), 1_000_000, 20_000},
		{"7 % of 99,999 is cut", percent(7), 99_999, 6999},
		{"2.5 % of 8,192 is cut", percent(2.5), 8192, 204},
		{"nothing of anything", percent(0), 200_000, 0},
		{"a context beyond reason", percent(100), math.MaxInt, 20_000},
	} {
		if got := row.config.Budget(row.contextLength); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
