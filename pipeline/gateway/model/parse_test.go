package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

func TestParseCalls(t *testing.T) {
	const f, g = `{"name": "f", "arguments": {"a": 1}}`, `{"name":"g","arguments":{}}`
	for _, c := range []struct{ text, calls, rest string }{
		{"", "", ""},
		{"no call at all <b> ``` ", "", "no call at all <b> ``` "},
		{"<tool_call>" + f + "</tool_call>", `f{"a":1}`, ""},
		{"I look.\n<tool_call>\n" + f + "\n</tool_call>\n<tool_call>" + g + "</tool_call> Done.", `f{"a":1} g{}`, "I look.\n\n Done."},
		{"<tool_call>" + f + "\n" + g + "</tool_call>", `f{"a":1} g{}`, ""},
		{"<tool_call>[" + f + "," + g + "]</tool_call>", `f{"a":1} g{}`, ""},
		{"so:\n```json\n" + f + "\n```\nok", `f{"a":1}`, "so:\n\nok"},
		{"```json" + g + "```<tool_call>" + f + "</tool_call>", `g{} f{"a":1}`, ""},
		{`<tool_call>{"name":"f","arguments":{"t":"}</tool_call>{\"","d":{"e":["}"]}}}</tool_call>`, `f{"t":"}</tool_call>{\"","d":{"e":["}"]}}`, ""},
		{`<tool_call>{"arguments":"{\"a\":1}","id":7,"name":"f"}</tool_call>`, `f{"a":1}`, ""},
		{`<tool_call>{"name":"\u0066","arguments":{}}</tool_call>`, `f{}`, ""},
		// Half calls.
		{"a <tool_call>" + f, "", "a <tool_call>" + f},
		{"<tool_call>" + f + "</tool_ca", "", "<tool_call>" + f + "</tool_ca"},
		{"<tool_call>" + f[:20], "", "<tool_call>" + f[:20]},
		{"```json\n" + f + "\n``", "", "```json\n" + f + "\n``"},
		{"<tool_call>" + f + "</tool_call><tool_call>" + g[:9], `f{"a":1}`, "<tool_call>" + g[:9]},
		{"<tool_call><tool_call>" + f + "</tool_call>", `f{"a":1}`, "<tool_call>"},
		// What is no call.
		{"```json\n{\"name\": \"Ann\", \"age\": 7}\n```", "", "```json\n{\"name\": \"Ann\", \"age\": 7}\n```"},
		{`<tool_call>{"name":"f"}</tool_call>`, "", `<tool_call>{"name":"f"}</tool_call>`},
		{`<tool_call>{"name":"","arguments":{}}</tool_call>`, "", `<tool_call>{"name":"","arguments":{}}</tool_call>`},
		{`<tool_call>{"name":7,"arguments":{}}</tool_call>`, "", `<tool_call>{"name":7,"arguments":{}}</tool_call>`},
		{`<tool_call>{"name":"f","arguments":[1]}</tool_call>`, "", `<tool_call>{"name":"f","arguments":[1]}</tool_call>`},
		{`<tool_call>{"name":"f","arguments":"a"}</tool_call>`, "", `<tool_call>{"name":"f","arguments":"a"}</tool_call>`},
		{"<tool_call>" + f + " junk</tool_call>", "", "<tool_call>" + f + " junk</tool_call>"},
		{"<tool_call>[" + f + ",1]</tool_call>", "", "<tool_call>[" + f + ",1]</tool_call>"},
		{"<tool_call></tool_call>", "", "<tool_call></tool_call>"},
		{"<tool_call>[]</tool_call>", "", "<tool_call>[]</tool_call>"},
		{"```python\n" + f + "\n```", "", "```python\n" + f + "\n```"},
		// Thoughts.
		{"<think>perhaps <tool_call>" + f + "</tool_call></think><tool_call>" + g + "</tool_call>", "g{}", "<think>perhaps <tool_call>" + f + "</tool_call></think>"},
		{"<think>perhaps <tool_call>" + f + "</tool_call>", "", "<think>perhaps <tool_call>" + f + "</tool_call>"},
	} {
		calls, rest := ParseCalls(c.text)
		var got []string
		for i, call := range calls {
			if want := fmt.Sprintf("call_%d", i+1); call.ID != want {
				t.Errorf("%s: id %s, want %s", c.text, call.ID, want)
			}
			compact, err := rawjson.Compact(call.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, call.Name+string(compact))
		}
		if joined := strings.Join(got, " "); joined != c.calls || rest != c.rest {
			t.Errorf("%s:\ncalls %s, want %s\nrest  %q, want %q", c.text, joined, c.calls, rest, c.rest)
		}
	}
}

// TestCallsSurviveTheirText: calls that are written as the instruction says come back,
// whatever is in their arguments.
func TestCallsSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var want []string
		hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{callBegin, callEnd, fenceBegin, fenceEnd, thoughtBegin, `"}}`, `\`}))
		for range rapid.IntRange(0, 4).Draw(t, "calls") {
			arguments := rawjson.AppendObject(nil, []rawjson.Field{{Key: hostile.Draw(t, "key"), Value: rawjson.String(hostile.Draw(t, "value"))}})
			name := rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "name")
			fmt.Fprintf(&text, "%s{\"name\": %q, \"arguments\": %s}%s\n", callBegin, name, arguments, callEnd)
			want = append(want, name+string(arguments))
		}
		calls, _ := ParseCalls(text.String())
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+string(c.Arguments))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func FuzzParseCalls(f *testing.F) {
	for _, seed := range []string{
		"", `<tool_call>{"name":"f","arguments":{}}</tool_call>`, "```json\n[{\"name\":\"f\",\"arguments\":\"{}\"}]```", "<think></think><tool_call>", "<tool_call>\"\xff", "```json",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		calls, rest := ParseCalls(text)
		for _, c := range calls {
			if c.Name == "" || !json.Valid(c.Arguments) || rawjson.Kind(c.Arguments) != "object" {
				t.Fatalf("%q is taken for a call: %+v", text, c)
			}
		}
		if len(calls) == 0 && rest != text {
			t.Fatalf("no call, but %q became %q", text, rest)
		}
		if half, _ := ParseCalls(strings.TrimSuffix(text, ">")); strings.HasSuffix(text, callEnd) && len(half) > len(calls) {
			t.Fatalf("%q has more calls when it is cut", text)
		}
		withoutThoughts(text)
	})
}

func BenchmarkParseCalls(b *testing.B) {
	text := strings.Repeat("words `code` <b> and more ", 400) + `<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>`
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseCalls(text)
	}
}
