package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/metrics"
)

// LostTolerance is the lost rate that a setting may have beyond the best listing's
// and still be recommended for its tokens: what a summary of a run allows too.
const LostTolerance = 0.01

// weightMax bounds the weight of a measure.
const weightMax = 1e9

// Objective is what the recommended setting has the least of. The zero value is
// effective tokens, among the settings that lose hardly more tools than the best
// listing.
type Objective struct {
	// Given: a weighted sum was asked for. Without it the weights say nothing.
	Given           bool    `json:"weighted"`
	EffectiveTokens float64 `json:"effective_tokens"`
	ExtraRequests   float64 `json:"extra_requests"`
	LostRate        float64 `json:"lost_rate"`
}

// ParseObjective reads weights as a command line gives them, for example
// "effective_tokens=1,lost_rate=20000": those not named are 0. An empty text is the
// zero value.
func ParseObjective(text string) (o Objective, err error) {
	if text == "" {
		return o, nil
	}
	fields := map[string]*float64{
		metrics.MeasureEffectiveTokens: &o.EffectiveTokens, metrics.MeasureExtraRequests: &o.ExtraRequests, metrics.MeasureLostRate: &o.LostRate,
	}
	given := make(map[string]bool)
	for _, part := range strings.Split(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		if fields[name] == nil {
			return o, fmt.Errorf("unknown measure %q\nhint: %s", name, nearest.Hint(name, axes()))
		}
		if given[name] {
			return o, fmt.Errorf("%s is given twice\nhint: keep one of the two", name)
		}
		w, err := strconv.ParseFloat(number, 64)
		if err != nil || !(w >= 0 && w <= weightMax) {
			return o, fmt.Errorf("%s: %q is no weight\nhint: write a number from 0 to 1e9, as in %s=1", name, number, name)
		}
		*fields[name], given[name] = w, true
	}
	if o == (Objective{}) {
		return o, fmt.Errorf("every weight is 0\nhint: leave one above 0, or every setting is as good as any")
	}
	o.Given = true
	return o, nil
}

// axes are the measures that a front spans, and an objective weighs.
func axes() []string {
	return []string{metrics.MeasureEffectiveTokens, metrics.MeasureExtraRequests, metrics.MeasureLostRate}
}

// weights are those of the axes.
func (o Objective) weights() [3]float64 {
	if !o.Given {
		return [3]float64{1, 0, 0}
	}
	return [3]float64{o.EffectiveTokens, o.ExtraRequests, o.LostRate}
}

// of is the objective's value for figures along the axes.
func (o Objective) of(figures [3]float64) float64 {
	sum := 0.0
	for i, w := range o.weights() {
		sum += float64(w * figures[i])
	}
	return sum
}

// String says what is made as small as can be.
func (o Objective) String() string {
	if !o.Given {
		return fmt.Sprintf("least %s where %s is at most %v above the best listing's", metrics.MeasureEffectiveTokens, metrics.MeasureLostRate, LostTolerance)
	}
	var parts []string
	for i, w := range o.weights() {
		if w > 0 {
			parts = append(parts, strconv.FormatFloat(w, 'g', -1, 64)+" × "+axes()[i])
		}
	}
	return "least " + strings.Join(parts, " + ")
}

// shares are what each session has in a point's objective: their mean is its value.
// A rate enters by its linear part: of a rate r = Σx/Σn each session has
// r + (x - r·n)/mean(n). (The delta method; Cochran, "Sampling techniques", 1977,
// §6.) A rate of nothing is 0.
func (o Objective) shares(t *tally, points, point int) []float64 {
	shares := make([]float64, t.sessions)
	weights := o.weights()
	var extra, lost rate
	for i := range shares {
		c := t.cells[i*points+point]
		extra.add(c.extra, c.reached)
		lost.add(c.lost, c.within)
	}
	for i := range shares {
		c := t.cells[i*points+point]
		shares[i] = float64(weights[0]*c.effective) + float64(weights[1]*extra.share(c.extra, c.reached, t.sessions)) +
			float64(weights[2]*lost.share(c.lost, c.within, t.sessions))
	}
	return shares
}

// rate is a sum over a number of cases.
type rate struct{ sum, cases int64 }

func (r *rate) add(x, n int32) { r.sum, r.cases = r.sum+int64(x), r.cases+int64(n) }

func (r rate) value() float64 {
	if r.cases == 0 {
		return 0
	}
	return float64(r.sum) / float64(r.cases)
}

// share is what one of so many sessions has in the rate.
func (r rate) share(x, n int32, sessions int) float64 {
	if r.cases == 0 {
		return 0
	}
	return r.value() + (float64(x)-float64(r.value()*float64(n)))*float64(sessions)/float64(r.cases)
}

// beaten reports whether another point is nowhere worse and somewhere better.
func beaten(by, figures [3]float64) bool {
	better := false
	for i := range figures {
		if by[i] > figures[i] {
			return false
		}
		better = better || by[i] < figures[i]
	}
	return better
}

// Comparison is what one setting has more than another of the objective, session by
// session: positive is worse.
type Comparison struct {
	Setting    string           `json:"setting"` // that has more
	Against    string           `json:"against"`
	Difference float64          `json:"difference"`
	Interval   metrics.Interval `json:"interval_95"`
	// P is that of a two-sided randomisation test.
	P float64 `json:"p"`
	N int     `json:"sessions"`
}

// Apart reports whether the sessions tell the two settings apart.
func (c *Comparison) Apart() bool { return c.Interval.Low > 0 || c.Interval.High < 0 }

// compare sets two points against each other.
func (o Objective) compare(t *tally, g *Grid, point, against int) *Comparison {
	a, b := o.shares(t, len(g.points), point), o.shares(t, len(g.points), against)
	items := make([][]float64, len(a))
	sum := 0.0
	for i := range a {
		items[i] = []float64{a[i] - b[i]}
		sum += a[i] - b[i]
	}
	return &Comparison{
		Setting: g.name(point), Against: g.name(against), N: t.sessions, Difference: sum / float64(len(a)),
		Interval: metrics.MeanIntervals(items)[0], P: metrics.RandomisationTests(items)[0],
	}
}

// least is the smallest value of those points that count; +Inf if none does.
func least(points []*Point, value func(*Point) (float64, bool)) float64 {
	least := math.Inf(1)
	for _, p := range points {
		if x, counts := value(p); counts {
			least = min(least, x)
		}
	}
	return least
}
