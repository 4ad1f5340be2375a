package python_test

import (
	"fmt"

	"github.com/toolgauge/toolgauge/pipeline/discovery/python"
)

func ExampleCalls() {
	calls, err := python.Calls(`
import app
app.route("/")
if app.debug:
    app.route("/debug")
page = app.route("/page")
`, python.Method{Receiver: "app", Name: "route"})
	fmt.Println(calls, err)
	_, err = python.Calls("app.route(", python.Method{Receiver: "app", Name: "route"})
	fmt.Println(err)
	// Output:
	// [{3 []} {5 [if]}] <nil>
	// line 1: a bracket is not closed
}
