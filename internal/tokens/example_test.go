package tokens_test

import (
	"fmt"

	"github.com/toolgauge/toolgauge/internal/tokens"
)

func Example() {
	text := `[{"type":"function","function":{"name":"read_file"}}]`
	for _, name := range tokens.Names() {
		counter, err := tokens.New(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, counter.Count(text))
	}
	// Output:
	// o200k_base 14
	// cl100k_base 14
	// chars4 14
}

// Measures of parts add up where Counts do not: chars4 rounds once, at the end.
func ExampleCounter_Tokens() {
	counter, _ := tokens.New("chars4")
	visible, bridge := counter.Measure("seven c"), counter.Measure("five.")
	fmt.Println(counter.Tokens(visible+bridge), counter.Count("seven c")+counter.Count("five."))
	// Output: 3 4
}

// What a prompt cache keeps of a text that changed at byte 13.
func ExampleCounter_Prefix() {
	counter, _ := tokens.New("o200k_base")
	text := "Lists all invoices."
	measure, bytes := counter.Prefix(text, 13)
	fmt.Printf("%d tokens: %q\n", measure, text[:bytes])
	// Output: 2 tokens: "Lists all"
}

func ExampleMemo_MeasureCut() {
	counter, _ := tokens.New("o200k_base")
	memo := tokens.NewMemo(counter)
	before := `Catalog:\n- read_file: Reads a file.\n- stat: Says how large a file is.`
	after := `Catalog:\n- read_file: Reads a file.\n- list: Lists a folder.`
	fmt.Println(memo.MeasureCut(before, `\n- `, 2))
	fmt.Println(memo.MeasureCut(after, `\n- `, 2), counter.Count(after)) // read_file comes from the memo
	// Output:
	// 22
	// 19 19
}
