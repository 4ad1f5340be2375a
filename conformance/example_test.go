package conformance_test

import (
	"fmt"
	"os"

	"github.com/toolgauge/toolgauge/conformance"
)

func ExampleRun() {
	report, err := conformance.Run(conformance.Options{}, "testdata/distributions.jsonl", "testdata/sampling.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := report.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// file                          format         kind           passed  failed  departures
	// testdata/distributions.jsonl  distributions  name                3       0           0
	//                                              toolsets            3       0           0
	//                                              sum                 3       0           0
	//                                              p_fallback          3       0           0
	//                                              expected_size       3       0           0
	// testdata/sampling.jsonl       sampling       distribution        3       0           0
	//                                              sample              3       0           0
	//
	// 21 passed, 0 failed, 0 departures
}
