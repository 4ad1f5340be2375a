package sessions_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/sessions"
)

// One session, drawn by itself.
func ExampleDraw() {
	c, err := corpus.Load("testdata/corpus")
	if err != nil {
		fmt.Println(err)
		return
	}
	mix, err := sessions.ParseMix("--distribution", "wide")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := sessions.Draw(c, sessions.Options{Seed: 42, Mix: mix}, 734_211)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Toolsets, s.Servers, s.ContextLength)
	for _, e := range s.Events {
		switch e.Kind {
		case sessions.KindTurn:
			fmt.Printf("%4d s  %-12s %s\n", e.AtMS/1000, e.Turn.Class, e.Turn.Utterance)
		default:
			fmt.Printf("%4d s  (%s)\n", e.AtMS/1000, e.Kind)
		}
	}
	// Output:
	// [eyes workshop] [mcp-paint mcp-power] 128000
	//    0 s  parameter    I need orange
	//   59 s  (tools_changed)
	//  114 s  exact_name   drill 12.50 mm deep <&>
	//  189 s  paraphrase   stick a and b together
	//  218 s  multi_tool   measure the shelf, then cut it in half
	//  228 s  multi_tool   put a hole in it and paint it after
}

// Some rows of a draw, into a file and out of it.
func ExampleWriteFile() {
	folder, err := os.MkdirTemp("", "sessions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	c, err := corpus.Load("testdata/corpus")
	if err != nil {
		fmt.Println(err)
		return
	}
	drawer, err := sessions.NewDrawer(c, sessions.Options{Seed: 42, Mix: []sessions.Share{{Distribution: "lean", Weight: 1}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := sessions.ParseRange("--rows", "500-599")
	if err != nil {
		fmt.Println(err)
		return
	}
	path := filepath.Join(folder, "sessions.parquet")
	n, err := sessions.WriteFile(path, drawer.Sessions(rows))
	fmt.Println(n, err)

	turns := 0
	for s, err := range sessions.Read(path) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, e := range s.Events {
			if e.Kind == sessions.KindTurn {
				turns++
			}
		}
	}
	fmt.Println(turns, "turns")
	// Output:
	// 100 <nil>
	// 581 turns
}
