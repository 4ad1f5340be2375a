package distributions

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// Draw is what one draw of a distribution gave.
type Draw struct {
	// Toolsets are the names drawn, in declaration order. Empty only if the fallback's toolset does not exist, or if
	// the distribution has no entries.
	Toolsets []string `json:"toolsets"`
	// Servers are the MCP servers drawn, in the corpus's order. They stand apart from Toolsets: a server may be drawn
	// here and also stand there by its toolset's name.
	Servers []string `json:"servers"`
	// Fallback says that no roll came up and that Toolsets holds the likeliest entry instead.
	Fallback bool `json:"fallback"`
	// Warnings say what could not be given, one sentence each.
	Warnings []string `json:"warnings,omitempty"`
}

// Sample draws once.
//
// Toolsets: every entry whose toolset exists is rolled once, in declaration order, and is included if
// uniform*100 < percent (strictly: 0.9 does not include 90 %). An entry whose toolset does not exist takes no uniform
// and leaves a warning. If nothing was included, the entry with the highest percentage is, the first of equals, counted
// over all entries; if that toolset does not exist, the draw is empty.
//
// Servers: min(d.Servers, len(servers)) of servers are then drawn without replacement, one uniform each, and returned
// in the order of servers.
//
// uniform gives numbers in [0,1): a [Stream]'s Float64, or a [Recording]'s. exists says whether there is a toolset of
// that name; nil means that there is. servers are the corpus's MCP servers, each once.
func (d Distribution) Sample(uniform func() float64, exists func(string) bool, servers []string) Draw {
	if exists == nil {
		exists = everyToolset
	}
	draw := Draw{Toolsets: make([]string, 0, len(d.Entries)), Servers: []string{}}
	fallback, fallbackExists := d.fallback(), false
	for i, e := range d.Entries {
		if !exists(e.Toolset) {
			draw.warn("distribution %q: toolset %q does not exist, skipped", d.Name, e.Toolset)
			continue
		}
		if i == fallback {
			fallbackExists = true
		}
		if uniform()*100 < e.Percent {
			draw.Toolsets = append(draw.Toolsets, e.Toolset)
		}
	}
	switch {
	case len(draw.Toolsets) > 0 || fallback < 0:
	case fallbackExists:
		draw.Toolsets = append(draw.Toolsets, d.Entries[fallback].Toolset)
		draw.Fallback = true
	default:
		draw.warn("distribution %q: nothing came up and the likeliest toolset %q does not exist, no toolset drawn",
			d.Name, d.Entries[fallback].Toolset)
	}
	draw.addServers(d, uniform, servers)
	return draw
}

// addServers draws d.Servers of all. Numbers come from uniform and not from a stream's IntN, so that a recorded list of
// uniforms replays the whole draw.
func (draw *Draw) addServers(d Distribution, uniform func() float64, all []string) {
	if d.Servers <= 0 {
		return
	}
	if len(all) < d.Servers {
		draw.warn("distribution %q: asks for %d MCP servers, the corpus has %d", d.Name, d.Servers, len(all))
	}
	picked := sampleK(len(all), d.Servers, func(m int) int {
		// A source that strays from [0,1) must not lead out of the slice.
		return min(max(int(uniform()*float64(m)), 0), m-1)
	})
	slices.Sort(picked)
	for _, i := range picked {
		draw.Servers = append(draw.Servers, all[i])
	}
}

func (draw *Draw) warn(format string, args ...any) {
	draw.Warnings = append(draw.Warnings, fmt.Sprintf(format, args...))
}

// Row is one numbered draw.
type Row struct {
	Distribution string `json:"distribution"`
	Seed         uint64 `json:"seed"`
	RowIndex     uint64 `json:"row_index"`
	Draw
}

// RowLabel is the label of the streams that [Distribution.Rows] draws from, before a slash and the distribution's name.
const RowLabel = "distribution"

// Rows yields n draws, numbered from first. Row i comes from NewStream(seed, RowLabel+"/"+d.Name, i) alone, so any
// range of rows equals the same range of a longer run. exists and servers are those of [Distribution.Sample].
func (d Distribution) Rows(seed, first uint64, n int, exists func(string) bool, servers []string) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range max(n, 0) {
			index := first + uint64(i)
			stream := NewStream(seed, RowLabel+"/"+d.Name, index)
			row := Row{Distribution: d.Name, Seed: seed, RowIndex: index, Draw: d.Sample(stream.Float64, exists, servers)}
			if !yield(row) {
				return
			}
		}
	}
}

// Recording plays recorded uniforms back, so that draws made elsewhere can be compared with ours.
type Recording struct {
	uniforms []float64
	taken    int
}

// NewRecording returns a recording at its beginning. It reads uniforms, which must not change meanwhile.
func NewRecording(uniforms []float64) *Recording { return &Recording{uniforms: uniforms} }

// Float64 returns the next recorded uniform. After the last one it returns the highest number below 1, which no roll
// under 100 % includes.
func (r *Recording) Float64() float64 {
	r.taken++
	if r.taken > len(r.uniforms) {
		return math.Nextafter(1, 0)
	}
	return r.uniforms[r.taken-1]
}

// Unused returns how many recorded uniforms are left. A negative number says how many were asked for and not recorded.
func (r *Recording) Unused() int { return len(r.uniforms) - r.taken }
