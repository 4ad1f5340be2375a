package distributions_test

import (
	"fmt"
	"os"
	"slices"

	"github.com/toolgauge/toolgauge/distributions"
)

func Example() {
	set := distributions.NewSet()
	if err := set.AddFile("testdata/distributions.yaml"); err != nil {
		fmt.Println(err)
		return
	}
	d, err := set.Get("my_servers")
	if err != nil {
		fmt.Println(err)
		return
	}
	servers := []string{"github", "linear", "postgres", "slack"}
	for row := range d.Rows(42, 0, 4, nil, servers) {
		fmt.Println(row)
	}
	// Output:
	// 0: web, terminal; servers github, postgres
	// 1: web; servers github, postgres
	// 2: web, terminal, mcp-github; servers github, postgres
	// 3: web, terminal; servers linear, postgres
}

func ExampleDistribution_Sample() {
	d := distributions.Distribution{
		Name:    "mine",
		Entries: []distributions.Entry{{Toolset: "web", Percent: 90}, {Toolset: "mcp-github", Percent: 50}, {Toolset: "file", Percent: 20}},
	}
	exists := func(toolset string) bool { return toolset != "mcp-github" }
	uniforms := distributions.NewRecording([]float64{0.9, 0.2})
	draw := d.Sample(uniforms.Float64, exists, nil)
	fmt.Println(draw.Toolsets, "fallback:", draw.Fallback, "unused:", uniforms.Unused())
	fmt.Println(draw.Warnings[0])
	// Output:
	// [web] fallback: true unused: 0
	// distribution "mine": toolset "mcp-github" does not exist, skipped
}

func ExampleNewStream() {
	stream := distributions.NewStream(42, "sessions", 734211)
	fmt.Printf("%.6f %d %v\n", stream.Float64(), stream.IntN(100), stream.SampleK(40, 3))
	// Output:
	// 0.363076 98 [24 26 34]
}

func ExampleWriteSummaries() {
	set := distributions.NewSet()
	exists := func(toolset string) bool { return toolset != "image_gen" }
	summaries := set.Summaries(exists)
	if err := distributions.WriteSummaries(os.Stdout, summaries[:4]); err != nil {
		fmt.Println(err)
	}
	// Output:
	// name       servers  mean size  p(fallback)  toolsets (percent)
	// default    0        5.0000     0            web 100, vision 100, image_gen 100, terminal 100, file 100, browser 100
	// image_gen  0        1.9000     0            image_gen 90, vision 90, web 55, terminal 45
	// research   0        2.2135     0.0135       web 90, browser 70, vision 50, terminal 10
	// science    0        3.9700     3.78e-05     web 94, terminal 94, file 94, vision 65, browser 50, image_gen 15
	//
	// default: no such toolset: image_gen
	// image_gen: no such toolset: image_gen; a draw has no toolset with probability 0.02475
	// science: no such toolset: image_gen
	// servers: MCP servers drawn besides the toolsets.
	// mean size: mean number of toolsets in a draw, fallback included, servers not.
	// p(fallback): chance that no toolset comes up and the likeliest is taken.
}

func ExampleWriteFit() {
	d, err := distributions.NewSet().Get("science")
	if err != nil {
		fmt.Println(err)
		return
	}
	var draws []distributions.Draw
	for row := range d.Rows(1, 0, 1000, nil, nil) {
		draws = append(draws, row.Draw)
	}
	fit := d.Observed(slices.Values(draws), nil)
	if err := distributions.WriteFit(os.Stdout, fit); err != nil {
		fmt.Println(err)
	}
	fmt.Println("holds:", fit.Holds(0.001))
	// Output:
	// science: 1000 draws, 0 fallbacks (expected 0.0)
	//
	// toolset    percent  observed  expected  chi-square  df  p
	// web        94       932       940.0     1.144       1   0.2847
	// terminal   94       931       940.0     1.436       1   0.2308
	// file       94       943       940.0     0.160       1   0.6895
	// vision     65       635       650.0     0.989       1   0.3200
	// browser    50       484       500.0     1.024       1   0.3116
	// image_gen  15       151       150.0     0.008       1   0.9294
	//
	// sizes: chi-square 5.386, df 4, p 0.2499
	// toolsets  observed  expected
	// 1 to 2    30        30.0
	// 3         228       198.9
	// 4         416       431.2
	// 5         288       299.5
	// 6         38        40.5
	//
	// p: chance of a deviation at least this large if the sample follows the distribution.
	// holds: true
}

func ExampleSet_Get() {
	_, err := distributions.NewSet().Get("reserch")
	fmt.Println(err)
	// Output:
	// unknown distribution "reserch"
	// hint: did you mean "research"? datagen list shows every distribution
}
