package lint_test

import (
	"fmt"
	"path/filepath"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/lint"
)

func ExampleCheck() {
	c, err := corpus.Load("../../examples/corpus")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := lint.Check(c, lint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Findings {
		fmt.Printf("%s:%d: %s: %s\n", filepath.Base(f.File), f.Line, f.Severity, f.Message)
	}
	// Output:
	// greenhouse.yaml:4: note: the description does not say when to use it
	// greenhouse.yaml:4: note: the description does not say how a call fails
	// greenhouse.yaml:14: note: the description does not say how a call fails
	// greenhouse.yaml:26: note: the description does not say when to use it
	// greenhouse.yaml:26: note: the description does not say how a call fails
}
