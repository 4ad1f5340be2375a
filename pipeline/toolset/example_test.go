package toolset_test

import (
	"fmt"

	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

func ExampleResolver_Disables() {
	table, err := toolset.NewTable(
		toolset.Lists{Core: []string{"read_file", "terminal"}},
		[]toolset.Toolset{
			{Name: "terminal", Tools: []string{"terminal"}},
			{Name: "hermes-chat", Tools: []string{"read_file", "terminal", "send_sticker"}},
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := toolset.NewResolver(table, nil)
	// A platform's bundle takes away what it adds to the core, and no more.
	fmt.Println(r.Disables("hermes-chat"))
	fmt.Println(r.Disables("terminal"))
	// Output:
	// [send_sticker]
	// [terminal]
}
