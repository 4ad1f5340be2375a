package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Switch is a setting with three positions.
type Switch string

// The positions of a Switch.
const (
	Auto Switch = "auto"
	On   Switch = "on"
	Off  Switch = "off"
)

// Ranges and defaults of the settings.
const (
	defaultThresholdPct = 5.0
	defaultSearchLimit  = 5

	julyMaxSearchLimit        = 20
	julyListingMaxTokens      = 20_000
	septemberMaxSearchLimit   = 25
	septemberListingMaxTokens = 4000

	maxSearchLimitMax   = 50
	listingMaxTokensMin = 200
	listingMaxTokensMax = 60_000

	// unknownContextTokens is the listing's budget, before the cap, for a model
	// whose context length nobody knows; threshold_pct has no say in it.
	unknownContextTokens = 10_000
)

// Config holds the tool_search settings, always within their ranges. Two
// configurations are the same if == says so.
type Config struct {
	// Enabled: off passes every tool through; auto and on mean the same.
	Enabled Switch `json:"enabled" yaml:"enabled"`
	// ThresholdPct is the listing's budget in percent of the context, 0..100.
	ThresholdPct float64 `json:"threshold_pct" yaml:"threshold_pct"`
	// SearchDefaultLimit is how many hits a search without a limit returns,
	// 1..MaxSearchLimit.
	SearchDefaultLimit int `json:"search_default_limit" yaml:"search_default_limit"`
	// MaxSearchLimit is the most hits that a search may ask for, 1..50.
	MaxSearchLimit int `json:"max_search_limit" yaml:"max_search_limit"`
	// Listing: off embeds no listing; auto and on mean the same.
	Listing Switch `json:"listing" yaml:"listing"`
	// ListingMaxTokens caps the listing's budget, 200..60,000 estimated tokens.
	ListingMaxTokens int `json:"listing_max_tokens" yaml:"listing_max_tokens"`
	// Defer is September's list of core tools that defer, in place of the
	// toolset table's. It says so to whoever makes the bridge (see DeferNames);
	// the bridge itself goes by its Options.
	Defer DeferList `json:"defer,omitempty" yaml:"defer,omitempty"`
}

// DefaultConfig returns July's settings of an agent that configures nothing.
func DefaultConfig() Config { return July.DefaultConfig() }

// DefaultConfig returns the settings of an agent that configures nothing.
func (v Variant) DefaultConfig() Config { return v.rules().config }

func julyConfig() Config {
	return Config{
		Enabled:            Auto,
		ThresholdPct:       defaultThresholdPct,
		SearchDefaultLimit: defaultSearchLimit,
		MaxSearchLimit:     julyMaxSearchLimit,
		Listing:            Auto,
		ListingMaxTokens:   julyListingMaxTokens,
	}
}

func septemberConfig() Config {
	c := julyConfig()
	c.MaxSearchLimit, c.ListingMaxTokens = septemberMaxSearchLimit, septemberListingMaxTokens
	return c
}

// errOverflow is what the reference's integer and float conversions raise for
// values that have no representation; it resets the whole configuration.
var errOverflow = errors.New("number too large")

// errNotNumber marks a value that no number can be read from.
var errNotNumber = errors.New("not a number")

// ParseConfig reads settings as July does; see Variant.ParseConfig.
func ParseConfig(raw any) (Config, []string) { return July.ParseConfig(raw) }

// ParseConfig reads raw tool_search settings as a user may have written them
// and never fails: a typo must not stop an agent. Values out of range are
// clamped, unreadable ones replaced by the variant's default. raw is a decoded
// JSON or YAML value: a map, a boolean (false turns the bridge off; true is the
// old way to write the defaults), or anything else, which means the defaults.
// Numbers may be json.Number, any Go number, or text. Keys that the variant does
// not know change nothing; July knows no `defer`. The second result says, one
// sentence a setting, what was not taken as written.
func (v Variant) ParseConfig(raw any) (Config, []string) {
	rules := v.rules()
	c := rules.config
	settings, ok := raw.(map[string]any)
	if !ok {
		if raw == false {
			c.Enabled = Off
			return c, nil
		}
		if raw != nil && raw != true {
			return c, []string{fmt.Sprintf("tool_search: %v is not a mapping; defaults used", raw)}
		}
		return c, nil
	}
	p := parser{settings: settings, read: make(map[string]bool)}
	c.Enabled = p.tristate("enabled")
	c.ThresholdPct = p.percent("threshold_pct")
	c.MaxSearchLimit = p.integer("max_search_limit", c.MaxSearchLimit, 1, maxSearchLimitMax)
	c.SearchDefaultLimit = p.integer("search_default_limit", c.SearchDefaultLimit, 1, c.MaxSearchLimit)
	c.Listing = p.tristate("listing")
	c.ListingMaxTokens = p.integer("listing_max_tokens", c.ListingMaxTokens, listingMaxTokensMin, listingMaxTokensMax)
	if rules.defers {
		c.Defer = p.names("defer")
	}
	if p.overflow != "" {
		return rules.config, []string{fmt.Sprintf("%s: number too large; defaults used for every setting", p.overflow)}
	}
	p.noteUnread()
	return c, p.notes
}

type parser struct {
	settings map[string]any
	read     map[string]bool // the settings asked for
	notes    []string
	overflow string
}

// setting returns what is written under a key.
func (p *parser) setting(key string) (raw any, ok bool) {
	p.read[key] = true
	raw, ok = p.settings[key]
	return raw, ok
}

// noteUnread notes the keys that no setting has: a misspelt one would otherwise
// pass for a setting that changes nothing.
func (p *parser) noteUnread() {
	for _, key := range slices.Sorted(maps.Keys(p.settings)) {
		if !p.read[key] {
			p.notes = append(p.notes, fmt.Sprintf("%s: no such setting here; left out", key))
		}
	}
}

func (p *parser) note(key string, raw, used any) {
	p.notes = append(p.notes, fmt.Sprintf("%s: %v is not usable; %v used", key, raw, used))
}

func (p *parser) tristate(key string) Switch {
	raw, ok := p.setting(key)
	if !ok {
		return Auto
	}
	switch text := strings.ToLower(pyStrip(scalarText(raw))); text {
	case "true", "1", "yes", "on":
		return On
	case "false", "0", "no", "off":
		return Off
	case "auto":
		return Auto
	default:
		p.note(key, raw, Auto)
		return Auto
	}
}

// names reads a list of tool names; white space around them and blank ones are
// no part of it.
func (p *parser) names(key string) DeferList {
	raw, ok := p.setting(key)
	if !ok || raw == nil {
		return ""
	}
	elements, ok := raw.([]any)
	if !ok {
		p.note(key, raw, "the default list")
		return ""
	}
	names := []string{}
	for _, e := range elements {
		name, ok := e.(string)
		if !ok {
			p.notes = append(p.notes, fmt.Sprintf("%s: %v is no tool name; left out", key, e))
			continue
		}
		if name = pyStrip(name); name != "" {
			names = append(names, name)
		}
	}
	return NewDeferList(names)
}

func (p *parser) percent(key string) float64 {
	raw, ok := p.setting(key)
	if !ok {
		return defaultThresholdPct
	}
	f, err := toFloat(raw)
	switch {
	case errors.Is(err, errOverflow):
		p.overflow = key
		return defaultThresholdPct
	case err != nil:
		p.note(key, raw, defaultThresholdPct)
		return defaultThresholdPct
	}
	// Written so that NaN ends at 100, as the reference's min and max do.
	clamped := 100.0
	if f < 100 {
		clamped = max(f, 0)
	}
	if clamped != f {
		p.note(key, raw, clamped)
	}
	return clamped
}

func (p *parser) integer(key string, fallback, low, high int) int {
	raw, ok := p.setting(key)
	if !ok {
		return min(max(fallback, low), high)
	}
	n, err := toInt(raw)
	switch {
	case errors.Is(err, errOverflow):
		p.overflow = key
		return fallback
	case err != nil:
		clamped := min(max(fallback, low), high)
		p.note(key, raw, clamped)
		return clamped
	}
	clamped := min(max(n, low), high)
	if clamped != n {
		p.note(key, raw, clamped)
	}
	return clamped
}

// scalarText writes a value the way the reference's str() does, as far as the
// tri-state settings can tell the difference.
func scalarText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if v == "-0" { // a whole number, and those have no negative zero
			return "0"
		}
		return v.String()
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e16 {
			return strconv.FormatFloat(v, 'f', 1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// toFloat converts as the reference's float() does: booleans count as 0 and 1,
// text may carry white space, underscores between digits, inf and nan.
func toFloat(v any) (float64, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		return parseFloatText(v)
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		if err != nil && isIntegerLiteral(v.String()) {
			return 0, errOverflow // an integer has no infinity to become
		}
		return f, nil
	case float64:
		return v, nil
	default:
		return parseFloatText(goInteger(v))
	}
}

// toInt converts as the reference's int() does: floats are truncated, text must
// be a whole number, infinities overflow.
func toInt(v any) (int, error) {
	switch v := v.(type) {
	case string:
		return parseIntText(v)
	case json.Number:
		if isIntegerLiteral(v.String()) {
			return parseIntText(v.String())
		}
	case float64, bool:
	default:
		return parseIntText(goInteger(v))
	}
	f, err := toFloat(v)
	switch {
	case err != nil:
		return 0, err
	case math.IsInf(f, 0):
		return 0, errOverflow
	case math.IsNaN(f):
		return 0, errNotNumber
	}
	return saturate(f), nil
}

// goInteger writes Go's integer types (YAML decodes to them) as digits; other
// values become text that no number parser accepts.
func goInteger(v any) string {
	switch v.(type) {
	case int, int64, uint64, *big.Int:
		return fmt.Sprint(v)
	default:
		return "-"
	}
}

func saturate(f float64) int {
	return int(max(min(f, math.MaxInt32), math.MinInt32))
}

func isIntegerLiteral(s string) bool { return !strings.ContainsAny(s, ".eE") }

func parseIntText(s string) (int, error) {
	digits, ok := joinDigits(strings.TrimSpace(s))
	if !ok {
		return 0, errNotNumber
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return 0, errNotNumber
	}
	if !n.IsInt64() {
		return saturate(float64(n.Sign()) * math.Inf(1)), nil
	}
	return saturate(float64(n.Int64())), nil
}

func parseFloatText(s string) (float64, error) {
	digits, ok := joinDigits(strings.TrimSpace(s))
	if !ok || strings.ContainsAny(digits, "xXpP") {
		return 0, errNotNumber
	}
	if strings.EqualFold(strings.TrimLeft(digits, "+-"), "nan") && len(digits) <= len("-nan") {
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errNotNumber
	}
	return f, nil
}

// joinDigits writes the decimal digits of any script in ASCII and removes
// underscores that stand between two digits; any other underscore makes the
// text no number.
func joinDigits(s string) (string, bool) {
	s = strings.Map(asciiDigit, s)
	if !strings.Contains(s, "_") {
		return s, s != ""
	}
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	for i := range len(s) {
		if s[i] == '_' && (!digit(i-1) || !digit(i+1)) {
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// asciiDigit maps the decimal digits of all scripts to 0..9 and leaves other
// characters alone. Unicode lists such digits in runs from zero to nine.
func asciiDigit(r rune) rune {
	if r < utf8.RuneSelf || !unicode.IsDigit(r) {
		return r
	}
	for _, digits := range unicode.Nd.R16 {
		if uint32(digits.Lo) <= uint32(r) && uint32(r) <= uint32(digits.Hi) {
			return '0' + (r-rune(digits.Lo))%10
		}
	}
	for _, digits := range unicode.Nd.R32 {
		if digits.Lo <= uint32(r) && uint32(r) <= digits.Hi {
			return '0' + (r-rune(digits.Lo))%10
		}
	}
	return r
}

// isSpace is the reference's idea of white space in text: Unicode's, and the
// four separators U+001C to U+001F. Around numbers it takes Unicode's alone.
func isSpace(r rune) bool { return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f) }

func pyStrip(s string) string { return strings.TrimFunc(s, isSpace) }

// Budget returns the listing's budget in estimated tokens for a context of that
// many tokens; a context of 0 or less is unknown. The arithmetic is the
// reference's, in doubles and truncated.
func (c Config) Budget(contextLength int) int {
	budget := unknownContextTokens
	if contextLength > 0 {
		budget = c.share(contextLength)
	}
	return max(0, min(c.ListingMaxTokens, budget))
}

// Shown is what of the settings a surface depends on.
type Shown struct {
	Bridged, Listed bool
	BudgetTokens    int // of a listing; 0 where there is none
}

// Shown returns what of the settings decides on a surface for a context of that
// many tokens: of the same definitions, settings that agree in it show the same.
func (c Config) Shown(contextLength int) Shown {
	s := Shown{Bridged: c.Enabled != Off, Listed: c.Enabled != Off && c.Listing != Off}
	if s.Listed {
		s.BudgetTokens = c.Budget(contextLength)
	}
	return s
}

// shareMax keeps a share within what every CPU converts to an int alike.
const shareMax = 1 << 53

func (c Config) share(contextLength int) int {
	return int(min(float64(contextLength)*(c.ThresholdPct/100.0), shareMax))
}
