package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/toolgauge/toolgauge/metrics"
)

// benchText is a run in the format of Go benchmarks, for benchstat: a benchmark for each theme, the arms as its
// sub-benchmarks, a measure as a unit, and the size of the population as the number of iterations.
//
// Figures are the same on any machine and are marked assume=exact, so that one run of each is enough to compare two. What
// was timed comes last, behind the lines that name the machine: benchstat does not compare results whose configuration
// lines differ, and only these may differ between machines.
func benchText(s Summary, m Manifest, sessionArms int64, elapsed time.Duration) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "corpus: %s %s\n", configValue(s.Corpus.Name), configValue(s.Corpus.Version))
	fmt.Fprintf(&text, "corpus-sha256: %s\nseed: %d\n\n", s.Corpus.SHA256, s.Seed)
	figures := slices.Clone(s.Figures)
	for _, b := range s.BreakEvens {
		if b.At > 0 {
			figures = append(figures, breakEvenFigure(b))
		}
	}
	measured := make(map[string]bool)
	for _, f := range figures {
		measured[f.Measure] = true
	}
	for _, measure := range metrics.Measures() {
		if measured[measure.Name] {
			fmt.Fprintf(&text, "Unit %s%s assume=exact\n", measure.Name, better(measure.Better))
		}
	}
	text.WriteByte('\n')
	benchFigures(&text, figures)

	fmt.Fprintf(&text, "\ngoos: %s\ngoarch: %s\n", m.OS, m.Arch)
	if m.CPU != "" {
		fmt.Fprintf(&text, "cpu: %s\n", configValue(m.CPU))
	}
	// A merged run was not played, nor was all of a resumed one: some of their time is that of copying.
	if seconds := elapsed.Seconds(); sessionArms > 0 && seconds > 0 && m.Merged == nil && m.Counts.Skipped == 0 {
		fmt.Fprintf(&text, "\nUnit session-arms/s better=%s\nBenchmarkRun %d %.1f session-arms/s\n",
			metrics.Higher, sessionArms, float64(sessionArms)/seconds)
	}
	return text.Bytes()
}

func better(d metrics.Direction) string {
	if d == metrics.Neither {
		return ""
	}
	return " better=" + string(d)
}

// benchFigures writes a line for each run of figures that share arm, slice, theme and population.
func benchFigures(text *bytes.Buffer, figures []metrics.Figure) {
	previous := ""
	for _, f := range figures {
		start := fmt.Sprintf("Benchmark%s %d", benchName(f), f.N)
		if start != previous {
			if previous != "" {
				text.WriteByte('\n')
			}
			text.WriteString(start)
			previous = start
		}
		fmt.Fprintf(text, " %s %s", strconv.FormatFloat(f.Value, 'f', -1, 64), f.Measure)
	}
	if previous != "" {
		text.WriteByte('\n')
	}
}

// benchName names a figure's benchmark, as in Retrieval/class=obvious/arm=july-listing. The arm comes last, because a
// name's last number is read as a count of processors, and bins of pool sizes end in one.
func benchName(f metrics.Figure) string {
	name := themeOf(f.Measure).benchmark
	if f.Class != "" {
		name += "/class=" + benchWord(f.Class)
	}
	if f.PoolBin != "" {
		name += "/pool=" + benchWord(f.PoolBin)
	}
	name += "/arm=" + benchWord(f.Arm)
	if last := strings.LastIndexByte(name, '-'); last >= 0 && isNumber(name[last+1:]) {
		// The count of processors that the arm's own number would be taken for.
		name += "-1"
	}
	return name
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// benchWord is a name without what separates the parts of a benchmark's.
func benchWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' || r == '=' {
			return '_'
		}
		return r
	}, s)
}

// configValue is text that stays on one line.
func configValue(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
