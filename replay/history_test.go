package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/tokens"
)

// restless draws texts that pre-tokenisers and escapes cut in many ways, the
// seams of the count among them.
func restless() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,6}`),
		rapid.StringMatching(`[0-9]{1,5}`),
		rapid.SampledFrom([]string{
			" ", "  ", "\n", "\t", "/", "'s", "'", `"`, `\`, "…", "é", "e\u0301", "中文", "🙂", "{", "}", "]", ",", ", ", ".", "<b>",
			`{"role`, `{"name`, `{"type`, `,{"`, "- ", "\n- ", `\n- `, `{\"name`, "content", `"}`,
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 14).Draw(t, "parts"), "")
	})
}

// After every message the measure of the history is that of the whole array,
// encoded by encoding/json.
func TestHistoryMeasureIsThatOfTheWholeArray(t *testing.T) {
	for _, name := range tokens.Names() {
		counter := counterOf(t, name)
		memo := tokens.NewMemo(counter)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				system := restless().Draw(rt, "system")
				h, messages := newHistory(memo, system), []message{{Role: "system", Content: &system}}
				ids := 0
				check := func() {
					rt.Helper()
					if whole := compactJSON(messages); h.measure() != counter.Measure(whole) {
						rt.Fatalf("measure %d, want %d of %s", h.measure(), counter.Measure(whole), whole)
					}
				}
				check()
				for range rapid.IntRange(1, 6).Draw(rt, "messages") {
					text := restless().Draw(rt, "text")
					if rapid.Bool().Draw(rt, "user") {
						h.user(text)
						messages = append(messages, message{Role: "user", Content: &text})
						check()
						continue
					}
					said, calls := message{Role: "assistant"}, make([]modelCall, rapid.IntRange(1, 3).Draw(rt, "calls"))
					for i := range calls {
						ids++
						calls[i].name = rapid.SampledFrom([]string{"tool_search", "a-b", "x1"}).Draw(rt, "name")
						calls[i].arguments = json.RawMessage(compactJSON(map[string]string{"q": restless().Draw(rt, "argument")}))
						said.ToolCalls = append(said.ToolCalls, chatCall{fmt.Sprint("call_", ids), "function", chatFunction{calls[i].name, string(calls[i].arguments)}})
					}
					output := h.toolCalls(calls)
					messages = append(messages, said)
					if want := compactJSON(said.ToolCalls); output != want {
						rt.Fatalf("tool calls %s, want %s", output, want)
					}
					check()
					h.result(calls[0].id, text)
					messages = append(messages, message{Role: "tool", ToolCallID: said.ToolCalls[0].ID, Content: &text})
					check()
				}
			})
		})
	}
}

// A text cut by cutEnd measures the same in two parts, whatever follows it.
func TestCutEndIsExact(t *testing.T) {
	for _, name := range tokens.Names() {
		counter := counterOf(t, name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				text, tail := restless().Draw(rt, "text"), restless().Draw(rt, "tail")
				head, end := cutEnd(text)
				if head+end != text {
					rt.Fatalf("%q was cut to %q and %q", text, head, end)
				}
				if got, want := counter.Measure(head)+counter.Measure(end+tail), counter.Measure(text+tail); got != want {
					rt.Fatalf("%q and %q measure %d, together %d", head, end+tail, got, want)
				}
			})
		})
	}
}
