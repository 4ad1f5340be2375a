package bridge_test

import (
	"encoding/json"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

// BenchmarkCheckArguments checks a call of a known tool, as a replay does for
// each cold call.
func BenchmarkCheckArguments(b *testing.B) {
	for _, v := range bridge.Variants() {
		b.Run(string(v), func(b *testing.B) {
			d := newDeskOf(b, v)
			tool := d.schema(b, "mcp-a", "tool", `{"type":"object","properties":{"title":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}},"priority":{"enum":["low","high"]},"options":`+options+`},"required":["title"]}`)
			arguments := json.RawMessage(`{"title":"A card","labels":["a","b"],"priority":"low","options":{"count":"3"}}`)
			b.ReportAllocs()
			for b.Loop() {
				if refused := d.CheckArguments(tool, arguments); refused != nil {
					b.Fatal(refused)
				}
			}
		})
	}
}

// BenchmarkFirstCheck adds what the first call of a tool costs: its schema is
// read and compiled.
func BenchmarkFirstCheck(b *testing.B) {
	tool := newDeskOf(b, bridge.September).schema(b, "mcp-a", "tool", options)
	b.ReportAllocs()
	for b.Loop() {
		if refused := newDeskOf(b, bridge.September).CheckArguments(tool, json.RawMessage(`{"count":3}`)); refused != nil {
			b.Fatal(refused)
		}
	}
}
