package eval_test

import (
	"context"
	"fmt"

	"github.com/toolgauge/toolgauge/eval"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

func ExampleEvaluate() {
	set := &eval.Set{
		Name: "kitchen",
		Tools: []eval.Tool{
			{ID: "boil", Name: "boil", Doc: search.Doc{Name: "boil", Description: "Heat water"}},
			{ID: "wash", Name: "wash", Doc: search.Doc{Name: "wash", Description: "Clean a pan"}},
		},
		Queries: []eval.Query{
			{ID: "q1", Text: "heat it", Grades: map[string]int{"boil": 1}},
			{ID: "q2", Text: "pans", Grades: map[string]int{"wash": 1}},
		},
	}
	report, err := eval.Evaluate(context.Background(), []*eval.Set{set}, eval.Options{Retrievers: []string{"bm25", "vector"}, Cutoffs: []int{1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Sets[0].Retrievers {
		f := r.Figures[0]
		fmt.Printf("%s %s of %d queries: %.2f\n", r.Retriever, f.Measure, f.N, f.Value)
	}
	// Output:
	// bm25 recall@1 of 2 queries: 0.50
	// vector recall@1 of 2 queries: 1.00
}
