package conformance

import (
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// distributionVector is one distribution and its exact figures.
type distributionVector struct {
	Name         string          `json:"name"`
	Toolsets     []rawjson.Field `json:"toolsets"` // percentages by toolset, in declaration order
	Sum          float64         `json:"sum"`
	PFallback    float64         `json:"p_fallback"`
	ExpectedSize float64         `json:"expected_size"`
}

// samplingVector is one roll: the uniforms fed in declaration order, and what it draws.
type samplingVector struct {
	Distribution string    `json:"distribution"`
	Uniforms     []float64 `json:"uniforms"`
	Sample       []string  `json:"sample"`
	Unused       int       `json:"unused"` // uniforms left over
}

func distributionsFormat() format {
	return format{
		name:   "distributions",
		fields: fieldsOf[distributionVector](),
		kinds:  []string{"name", "toolsets", "sum", "p_fallback", "expected_size"},
		begin:  func(r *runner, t *tally) checker { return &distributionChecker{r, t} },
	}
}

func samplingFormat() format {
	return format{
		name:   "sampling",
		fields: fieldsOf[samplingVector](),
		kinds:  []string{"distribution", "sample"},
		begin:  func(r *runner, t *tally) checker { return &samplingChecker{r, t} },
	}
}

type distributionChecker struct {
	*runner
	tally *tally
}

func (x *distributionChecker) finish() {}

func (x *distributionChecker) check(vector) {
	var v distributionVector
	if !x.tally.read(&v, func() string { return v.Name }) {
		return
	}
	var s strict
	want := make([]distributions.Entry, len(v.Toolsets))
	for i, f := range v.Toolsets {
		want[i].Toolset = f.Key
		s.decode(join("toolsets", f.Key), f.Value, &want[i].Percent)
	}
	if !x.tally.readable(s.faults) {
		return
	}
	d, ok := x.distribution(x.tally, "name", v.Name)
	if !ok {
		return
	}
	sum := 0.0
	for _, e := range d.Entries {
		sum += e.Percent
	}
	var c comparison
	c.equal("toolsets", want, append([]distributions.Entry{}, d.Entries...))
	x.tally.decide("toolsets", c)
	x.close("sum", v.Sum, sum)
	x.close("p_fallback", v.PFallback, d.PFallback(x.corpus.HasToolset))
	x.close("expected_size", v.ExpectedSize, d.ExpectedSize(x.corpus.HasToolset))
}

func (x *distributionChecker) close(field string, want, got float64) {
	var c comparison
	c.close(field, want, got)
	x.tally.decide(field, c)
}

type samplingChecker struct {
	*runner
	tally *tally
}

func (x *samplingChecker) finish() {}

func (x *samplingChecker) check(vector) {
	var v samplingVector
	if !x.tally.read(&v, func() string { return v.Distribution }) {
		return
	}
	d, ok := x.distribution(x.tally, "distribution", v.Distribution)
	if !ok {
		return
	}
	uniforms := distributions.NewRecording(v.Uniforms)
	draw := d.Sample(uniforms.Float64, x.corpus.HasToolset, nil)
	var c comparison
	c.names("sample", v.Sample, draw.Toolsets)
	c.equal("unused", v.Unused, uniforms.Unused())
	x.tally.decide("sample", c)
}

// distribution finds a distribution by name and counts whether there is one.
func (r *runner) distribution(t *tally, field, name string) (distributions.Distribution, bool) {
	d, err := r.corpus.Distributions.Get(name)
	var c comparison
	if err != nil {
		c.fault(field, "%s", firstLine(err))
	}
	t.decide(field, c)
	return d, err == nil
}
