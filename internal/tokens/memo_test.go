package tokens

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// compact encodes v as the requests do: no HTML escapes, no line end.
func compact(t *rapid.T, v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

type parameter struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

type function struct {
	Name        string               `json:"name"`
	Description string               `json:"description"`
	Parameters  map[string]parameter `json:"parameters,omitempty"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []tool `json:"tool_calls,omitempty"`
}

// phrase draws descriptions: words, restless text, and the seams themselves.
func phrase() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,9}`),
		rapid.SampledFrom([]string{"the", "Lists", "it's", `{"type`, `"type"`, `{"role`, `\n- `, "\n- ", "- ", ", ", ",", "/", "\n", "中文", "1234", "…", "'", `\`}),
		restless(12),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "between"))
	})
}

func toolName() *rapid.Generator[string] {
	return rapid.StringMatching(`(mcp_)?[a-z]{2,8}[_.-][a-zA-Z]{2,8}[0-9]?`)
}

func drawTools(t *rapid.T, longest int) []tool {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tool {
		described := parameter{Type: "string", Description: phrase().Draw(t, "parameter")}
		return tool{"function", function{toolName().Draw(t, "name"), phrase().Draw(t, "description"), map[string]parameter{"q": described, "n": {Type: "integer"}}}}
	}), 0, longest).Draw(t, "tools")
}

// drawListing gives a listing's text, in full lines or in names.
func drawListing(t *rapid.T) string {
	var listing strings.Builder
	listing.WriteString("Tools that can be searched:\n")
	for _, label := range rapid.SliceOfN(phrase(), 1, 3).Draw(t, "labels") {
		names := rapid.SliceOfN(toolName(), 0, 12).Draw(t, "names")
		listing.WriteString(label + " tools:\n")
		if rapid.Bool().Draw(t, "full") {
			for _, name := range names {
				listing.WriteString("- " + name + ": " + phrase().Draw(t, "line") + "\n")
			}
		} else {
			listing.WriteString(strings.Join(names, ", ") + "\n")
		}
	}
	return listing.String()
}

// Cut at each documented seam, the texts of requests measure what the library
// counts for them whole.
func TestMeasureCutAgainstLibrary(t *testing.T) {
	seams := []struct {
		seam string
		at   int
	}{
		{`{"type`, 2}, {`{"type":"function"`, 2}, {`{"role`, 2}, {`\n- `, 2}, {"\n- ", 1}, {", ", 1},
	}
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		memo := NewMemo(c)
		texts := map[string]func(t *rapid.T) string{
			"tools":   func(t *rapid.T) string { return compact(t, drawTools(t, 6)) },
			"listing": drawListing,
			"surface": func(t *rapid.T) string {
				tools := drawTools(t, 3)
				return compact(t, append(tools, tool{"function", function{Name: "tool_search", Description: drawListing(t)}}))
			},
			"messages": func(t *rapid.T) string {
				return compact(t, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message {
					role := rapid.SampledFrom([]string{"system", "user", "assistant", "tool"}).Draw(t, "role")
					return message{role, phrase().Draw(t, "content"), drawTools(t, 2)}
				}), 0, 5).Draw(t, "messages"))
			},
		}
		for name, draw := range texts {
			t.Run(name, func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					text := draw(rt)
					want := o.count(text)
					for _, seam := range seams {
						if got := memo.MeasureCut(text, seam.seam, seam.at); got != want {
							rt.Fatalf("%q cut at %q measures %d, want %d", text, seam.seam, got, want)
						}
					}
					if got := memo.Measure(text); got != want {
						rt.Fatalf("%q measures %d, want %d", text, got, want)
					}
				})
			})
		}
	})
}

// Any seam and any place in it give the measure of the whole.
func TestMeasureCutAtAnySeam(t *testing.T) {
	for _, name := range Names() {
		c := counter(t, name)
		memo := NewMemo(c)
		rapid.Check(t, func(rt *rapid.T) {
			seam := restless(3).Draw(rt, "seam")
			at := rapid.IntRange(-1, 6).Draw(rt, "at")
			text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.Just(seam), restless(5)), 0, 12).Draw(rt, "parts"), "")
			if got, want := memo.MeasureCut(text, seam, at), c.Measure(text); got != want {
				rt.Fatalf("%s: %q cut at %d in %q measures %d, want %d", name, text, at, seam, got, want)
			}
		})
	}
}

func TestMeasureCutRemembersChunks(t *testing.T) {
	memo := NewMemo(counter(t, o200kBase))
	memo.MeasureCut("alpha, beta, beta, gamma", ", ", 1)
	for _, chunk := range []string{"alpha,", " beta,", " gamma"} {
		if _, known := memo.measures[chunk]; !known {
			t.Errorf("chunk %q is not remembered", chunk)
		}
	}
	if len(memo.measures) != 3 {
		t.Errorf("%d chunks remembered, want 3: %v", len(memo.measures), memo.measures)
	}
	memo.MeasureCut("x},{y", "},{", 1) // no exact seam
	if _, whole := memo.measures["x},{y"]; !whole || len(memo.measures) != 4 {
		t.Errorf("a text without exact seam is not remembered whole: %v", memo.measures)
	}
}

func TestMemoIsBounded(t *testing.T) {
	memo := NewMemo(counter(t, cl100kBase))
	memo.bytesMax = 3 * (memoEntryBytes + 2)
	for _, text := range []string{"aa", "bb", "cc"} {
		memo.Measure(text)
	}
	if len(memo.measures) != 3 {
		t.Errorf("%d texts kept within the bound, want 3", len(memo.measures))
	}
	memo.Measure("dd")
	if _, kept := memo.measures["dd"]; !kept || len(memo.measures) != 1 {
		t.Errorf("beyond the bound %v is kept, want dd alone", memo.measures)
	}
	if got := memo.Measure(strings.Repeat("word ", 100)); got != 101 {
		t.Errorf("a text larger than the bound measures %d, want 101", got)
	}
	if len(memo.measures) != 1 {
		t.Errorf("a text larger than the bound was kept, or others lost: %d kept", len(memo.measures))
	}
}

func TestMemoWarmAllocatesNothing(t *testing.T) {
	memo := NewMemo(counter(t, o200kBase))
	text := strings.Repeat(`\n- mcp_ledger_read: Reads one ledger.`, 100)
	if allocs := testing.AllocsPerRun(20, func() { memo.MeasureCut(text, `\n- `, 2) }); allocs != 0 {
		t.Errorf("%v allocations per warm cut, want none", allocs)
	}
	if allocs := testing.AllocsPerRun(20, func() { memo.Measure(text) }); allocs != 0 {
		t.Errorf("%v allocations per warm measure, want none", allocs)
	}
}
