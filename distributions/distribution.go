// Package distributions says which toolsets, and how many MCP servers, a session is given, and it owns the random
// streams that every draw of the project comes from.
//
// The steps:
//
//  1. A [Set] holds the built-in presets and the custom distributions read from YAML.
//  2. A [Stream] is derived by hash from (seed, label, index), so draw number 734,211 can be made alone, anywhere.
//  3. [Distribution.Sample] rolls once for every toolset, falls back on the likeliest one if nothing came up, then
//     draws MCP servers.
//  4. [Distribution.Marginals], [Distribution.SizeDistribution] and their kin give the exact probabilities of step 3,
//     and [Distribution.Observed] compares a sample with them.
//
// The opinion it holds: a percentage is the chance of one toolset, taken on its own. Percentages are never
// normalised, and they need not sum to 100. A distribution produces variety in generated data; it does not route
// requests, and two draws from one stream may well differ.
//
// The promise: equal input gives equal draws, on every machine. Nothing here reads a clock, the order of a map or
// global state. The package does not know which toolsets there are: it asks a function that the caller gives.
package distributions

import "slices"

// Entry is one toolset of a distribution and the chance that a draw includes it.
type Entry struct {
	// Toolset is the name of a toolset. An MCP server's toolset ("mcp-github") stands here like any other.
	Toolset string `json:"toolset"`
	// Percent is the chance in percent, 0 to 100. It is independent of the other entries.
	Percent float64 `json:"percent"`
}

// Distribution is a named rule for drawing a combination of toolsets and MCP servers.
type Distribution struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Entries stand in declaration order. The order decides which uniform each entry gets, and which of several
	// equally likely entries is the fallback.
	Entries []Entry `json:"toolsets"`
	// Servers is the number of MCP servers drawn besides the toolsets, 0 or more. A corpus that has fewer gives all.
	Servers int `json:"servers"`
}

// clone returns a copy that shares no memory with d.
func (d Distribution) clone() Distribution {
	d.Entries = slices.Clone(d.Entries)
	return d
}

// fallback is the position of the entry that a draw falls back on: the first one with the highest percentage, whether
// or not its toolset exists. It is -1 if there are no entries.
func (d Distribution) fallback() int {
	best := -1
	for i, e := range d.Entries {
		if best < 0 || e.Percent > d.Entries[best].Percent {
			best = i
		}
	}
	return best
}

// everyToolset answers for callers that give no exists function.
func everyToolset(string) bool { return true }
