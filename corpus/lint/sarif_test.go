package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
)

// sarifRequired has, by the path of an object, the fields that the SARIF 2.1.0
// schema requires there, and those without which code review shows nothing.
var sarifRequired = map[string][]string{
	"":                                {"version", "runs", "$schema"},
	"runs[]":                          {"tool", "results"},
	"runs[].tool":                     {"driver"},
	"runs[].tool.driver":              {"name", "rules"},
	"runs[].tool.driver.rules[]":      {"id", "shortDescription", "fullDescription", "help", "defaultConfiguration"},
	"runs[].results[]":                {"message", "ruleId", "ruleIndex", "level", "locations", "partialFingerprints"},
	"runs[].results[].message":        {"text"},
	"runs[].results[].locations[]":    {"logicalLocations"},
	"runs[].tool.driver.rules[].help": {"text"},
	"runs[].results[].locations[].physicalLocation":                  {"artifactLocation", "region"},
	"runs[].results[].locations[].physicalLocation.artifactLocation": {"uri"},
	"runs[].results[].locations[].physicalLocation.region":           {"startLine", "startColumn"},
}

// sarifFaults walks a decoded log.
func sarifFaults(path string, value any) (faults []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range sarifRequired[path] {
			if v[name] == nil {
				faults = append(faults, fmt.Sprintf("%s lacks %s", path, name))
			}
		}
		for name, member := range v {
			faults = append(faults, sarifFaults(strings.TrimPrefix(path+"."+name, "."), member)...)
		}
	case []any:
		for _, element := range v {
			faults = append(faults, sarifFaults(path+"[]", element)...)
		}
	}
	return faults
}

func TestSARIF(t *testing.T) {
	scaled, err := corpus.Scale(30)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*corpus.Corpus{
		"read": load(t, "{\"server\":\"s\",\"tools\":[\n"+tool("a", "", `"b":{}`)+"\n]}"), "made": scaled, "nothing to find": load(t, `{"server":"s","tools":[`+tool("a", good, "")+`]}`),
	} {
		r := check(t, c)
		var out bytes.Buffer
		if err := r.WriteSARIF(&out, "v1", t.TempDir()); err != nil {
			t.Fatal(err)
		}
		var log any
		if err := json.Unmarshal(out.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		for _, fault := range sarifFaults("", log) {
			t.Errorf("%s: %s", name, fault)
		}
		if physical := strings.Count(out.String(), `"physicalLocation": {`); name == "read" && physical != 2 || name != "read" && physical > 0 {
			t.Errorf("%s: %d places in files", name, physical)
		}
		var read sarifLog
		if err := json.Unmarshal(out.Bytes(), &read); err != nil || read.Version != "2.1.0" || len(read.Runs) != 1 {
			t.Fatalf("%s: version %q, %v", name, read.Version, err)
		}
		run := read.Runs[0]
		if len(run.Results) != len(r.Findings) {
			t.Errorf("%s: %d results of %d findings", name, len(run.Results), len(r.Findings))
		}
		for i, result := range run.Results {
			if run.Tool.Driver.Rules[result.RuleIndex].ID != result.RuleID || result.Level != r.Findings[i].Severity {
				t.Errorf("%s: result %+v", name, result)
			}
			physical := result.Locations[0].Physical
			if (physical != nil) != (r.Findings[i].File != "") {
				t.Errorf("%s: a place without a file, or the other way about: %+v", name, result)
			}
			if physical != nil {
				if _, err := url.Parse(physical.Artifact.URI); err != nil || physical.Region.StartLine < 1 {
					t.Errorf("%s: place %+v", name, *physical)
				}
			}
		}
	}
}

func TestSARIFRequirementsCanFail(t *testing.T) {
	for _, text := range []string{`{}`, `{"version":"2.1.0","$schema":"x","runs":[{"tool":{},"results":[]}]}`,
		`{"version":"2.1.0","$schema":"x","runs":[{"tool":{"driver":{"name":"x","rules":[]}},"results":[{}]}]}`} {
		var log any
		if err := json.Unmarshal([]byte(text), &log); err != nil {
			t.Fatal(err)
		}
		if len(sarifFaults("", log)) == 0 {
			t.Errorf("%s passes", text)
		}
	}
}

func TestFileURIs(t *testing.T) {
	for file, want := range map[string]sarifArtifact{
		"tools/a b.json":    {"tools/a%20b.json", sourceRoot},
		"/home/x/t/b.json":  {"t/b.json", sourceRoot},
		"/x/ä#1.json":       {"file:///x/%C3%A4%231.json", ""},
		"../b.json":         {"file:///home/b.json", ""},
		"a:b.json":          {"./a:b.json", sourceRoot},
		"/home/x/..b.json":  {"..b.json", sourceRoot},
		"/home/xy/two.json": {"file:///home/xy/two.json", ""},
	} {
		at := Finding{File: file, Line: 3, Column: 7}.location("/home/x")
		if at.Physical.Artifact != want || at.Physical.Region != (sarifRegion{3, 7}) {
			t.Errorf("%s: %+v, want %+v", file, *at.Physical, want)
		}
	}
}

// TestFingerprints: a finding keeps its own when lines move, and no two of one
// line share one.
func TestFingerprints(t *testing.T) {
	line := tool("a", "", `"b":{}`) + "," + tool("c", "", "")
	prints := func(text string) (all []string) {
		for _, f := range check(t, load(t, text)).Findings {
			all = append(all, f.fingerprint())
		}
		slices.Sort(all)
		return all
	}
	one := prints(`{"server":"s","tools":[` + line + `]}`)
	if moved := prints("\n\n{\"server\":\"s\",\"tools\":\n[" + line + "]}"); !slices.Equal(one, moved) || len(slices.Compact(one)) != 3 {
		t.Errorf("%q, moved %q", one, moved)
	}
}
