package distributions

// Marginal is the chance that a draw includes one toolset.
type Marginal struct {
	Entry
	// Exists says whether the toolset exists. One that does not is never drawn.
	Exists bool `json:"exists"`
	// Probability is the chance of the toolset in a draw, the fallback counted in, 0 to 1.
	Probability float64 `json:"probability"`
}

// odds are the chances behind one distribution: what the exact figures are computed from.
type odds struct {
	// rolled holds the chance that the entry's own roll includes it, 0 where the toolset does not exist.
	rolled []float64
	exists []bool
	// none is the chance that no roll includes anything.
	none float64
	// fallback is the position of the entry to fall back on, or -1 if there is none or its toolset does not exist.
	fallback int
}

func (d Distribution) odds(exists func(string) bool) odds {
	if exists == nil {
		exists = everyToolset
	}
	o := odds{rolled: make([]float64, len(d.Entries)), exists: make([]bool, len(d.Entries)), none: 1, fallback: d.fallback()}
	for i, e := range d.Entries {
		if o.exists[i] = exists(e.Toolset); o.exists[i] {
			o.rolled[i] = chance(e.Percent)
			o.none = float64(o.none * (1 - o.rolled[i]))
		}
	}
	if o.fallback >= 0 && !o.exists[o.fallback] {
		o.fallback = -1
	}
	return o
}

// chance is the probability that a roll includes an entry. Like the roll, it takes what lies over 100 as always and
// what lies under 0, or is not a number, as never.
func chance(percent float64) float64 {
	if !(percent > 0) {
		return 0
	}
	return min(percent/100, 1)
}

// PFallback returns the probability, 0 to 1, that no roll comes up and the likeliest toolset is drawn instead. It is 0
// if that toolset does not exist: see PEmpty. exists is that of [Distribution.Sample], here and below.
func (d Distribution) PFallback(exists func(string) bool) float64 {
	if o := d.odds(exists); o.fallback >= 0 {
		return o.none
	}
	return 0
}

// PEmpty returns the probability, 0 to 1, that a draw has no toolset at all. It is above 0 only if the likeliest
// toolset does not exist, or if there are no entries.
func (d Distribution) PEmpty(exists func(string) bool) float64 {
	if o := d.odds(exists); o.fallback < 0 {
		return o.none
	}
	return 0
}

// ExpectedSize returns the mean number of toolsets in a draw, the fallback counted in. MCP servers drawn besides do not
// count.
func (d Distribution) ExpectedSize(exists func(string) bool) float64 {
	sum := 0.0
	for _, m := range d.Marginals(exists) {
		sum += m.Probability
	}
	return sum
}

// Marginals returns every entry with the probability that a draw includes it, in declaration order. For the fallback's
// entry that is its own roll's chance plus the chance that nothing comes up: the two cannot happen together.
func (d Distribution) Marginals(exists func(string) bool) []Marginal {
	o := d.odds(exists)
	marginals := make([]Marginal, len(d.Entries))
	for i, e := range d.Entries {
		marginals[i] = Marginal{Entry: e, Exists: o.exists[i], Probability: o.rolled[i]}
		if i == o.fallback {
			marginals[i].Probability += o.none
		}
	}
	return marginals
}

// SizeDistribution returns the probability of every number of toolsets in a draw: element k is the chance of exactly k,
// and there are as many elements as toolsets that exist, plus one. They sum to 1.
//
// The rolls alone follow the Poisson binomial distribution, here by the recursion that adds one roll at a time (Hong,
// "On computing the distribution function for the Poisson binomial distribution", Computational Statistics & Data
// Analysis 59, 2013). The fallback then moves the chance of size 0 to size 1.
func (d Distribution) SizeDistribution(exists func(string) bool) []float64 {
	o := d.odds(exists)
	sizes := []float64{1}
	for i, p := range o.rolled {
		if !o.exists[i] {
			continue
		}
		sizes = append(sizes, 0)
		for k := len(sizes) - 1; k > 0; k-- {
			// Products are rounded before they are added: CPUs that fuse the two steps would give other bits.
			sizes[k] = float64(sizes[k]*(1-p)) + float64(sizes[k-1]*p)
		}
		sizes[0] = float64(sizes[0] * (1 - p))
	}
	if o.fallback >= 0 {
		sizes[1] += sizes[0]
		sizes[0] = 0
	}
	return sizes
}
