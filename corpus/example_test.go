package corpus_test

import (
	"fmt"

	"github.com/toolgauge/toolgauge/corpus"
)

func ExampleLoad() {
	c, err := corpus.Load("../examples/corpus")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, c.SourceNames())
	for _, t := range c.Tools {
		if t.Server != "" {
			fmt.Println(t.ID, "is", t.Definition.Name)
		}
	}
	for _, in := range c.Intents[:2] {
		fmt.Printf("%s: %q wants %s%s\n", in.Class, in.Utterance, in.Gold[0].Tool, in.Gold[0].JSONArguments())
	}
	// Output:
	// greenhouse [mcp-greenhouse]
	// greenhouse/list_sensors is mcp__greenhouse__list_sensors
	// greenhouse/open_vent is mcp__greenhouse__open_vent
	// greenhouse/read_sensor is mcp__greenhouse__read_sensor
	// obvious: "which soil sensors do we have in house north?" wants greenhouse/list_sensors{"house":"north","kind":"soil"}
	// zero_overlap: "It is stuffy in there! let some air in, half way is enough" wants greenhouse/open_vent{"vent_id":"vent-1","percent":50}
}

func ExampleVisibleName() {
	fmt.Println(corpus.VisibleName("github", "create_issue"))
	fmt.Println(corpus.VisibleName("Exa Search", "find"))
	// Output:
	// mcp__github__create_issue
	// mcp__Exa_Search__find_e9312f6d
}

func ExampleCorpus_WithDerived() {
	c, err := corpus.Load("testdata/tools-list.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range c.WithDerived().Intents {
		fmt.Printf("%s: %q\n", in.Gold[0].Tool, in.Utterance)
	}
	// Output:
	// weather/get_forecast: "Daily temperatures and rain for a place"
}
