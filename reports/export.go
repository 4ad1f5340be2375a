package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
)

// Exporter returns the function that writes a summary in the format of another program that keeps figures over time:
//
//   - github-smaller and github-bigger: the two arrays that github-action-benchmark takes as customSmallerIsBetter and
//     customBiggerIsBetter. It has one direction for a whole array, so that the figures that improve downwards stand in the
//     one and those that improve upwards in the other.
//   - bencher: the Bencher Metric Format, arms as benchmarks and measures as measures.
//
// Exported are the figures of the tables over everything that have a direction; those by class or pool stand in
// summary.json.
func Exporter(format string) (func(io.Writer, Summary) error, error) {
	exporters := map[string]func(io.Writer, Summary) error{
		"github-smaller": func(w io.Writer, s Summary) error { return writeGitHub(w, s, metrics.Lower) },
		"github-bigger":  func(w io.Writer, s Summary) error { return writeGitHub(w, s, metrics.Higher) },
		"bencher":        writeBencher,
	}
	write := exporters[format]
	if write == nil {
		return nil, fmt.Errorf("%q is no format\nhint: name one of github-smaller, github-bigger, bencher", format)
	}
	return write, nil
}

// exported are the figures of the tables that have a direction, over everything.
func exported(s Summary) (figures []metrics.Figure) {
	for _, f := range s.Figures {
		if f.Class == "" && f.PoolBin == "" && f.Better != metrics.Neither && !themeOf(f.Measure).hides(f.Measure) {
			figures = append(figures, f)
		}
	}
	return figures
}

// gitHubEntry is an element of github-action-benchmark's custom arrays.
type gitHubEntry struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Extra string  `json:"extra"` // shown beside the point
}

func writeGitHub(w io.Writer, s Summary, better metrics.Direction) error {
	entries := []gitHubEntry{}
	corpus := strings.TrimSpace(s.Corpus.Name + " " + s.Corpus.Version)
	for _, f := range exported(s) {
		if f.Better == better {
			entries = append(entries, gitHubEntry{f.Arm + "/" + f.Measure, f.Unit, f.Value,
				fmt.Sprintf("n %d %s; corpus %s, seed %d", f.N, f.Population, corpus, s.Seed)})
		}
	}
	return writeJSON(w, entries)
}

// bencherValue is a measure of the Bencher Metric Format. Its bounds are left out: figures of one seed have none.
type bencherValue struct {
	Value float64 `json:"value"`
}

func writeBencher(w io.Writer, s Summary) error {
	arms := make(map[string]map[string]bencherValue)
	for _, f := range exported(s) {
		if arms[f.Arm] == nil {
			arms[f.Arm] = make(map[string]bencherValue)
		}
		arms[f.Arm][f.Measure] = bencherValue{f.Value}
	}
	return writeJSON(w, arms) // keys sorted
}

func writeJSON(w io.Writer, value any) error {
	text, err := encodeJSON(value)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
