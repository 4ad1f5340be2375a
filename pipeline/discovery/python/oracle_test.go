package python

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var register = Method{"registry", "register"}

// verdict is what can be compared with Python of a text.
type verdict struct {
	Module bool  `json:"module"` // it has no syntax error
	Top    []int `json:"top"`    // lines of calls at module level
	Loops  []int `json:"loops"`  // lines of calls in the body of a for statement at module level
	All    int   `json:"all"`    // calls that are statements, wherever they stand
	GaveUp bool  `json:"gave_up"`
}

// oracleProgram answers a JSON list of texts with a list of verdicts.
const oracleProgram = `
import ast, json, sys

def is_call(s):
    c = s.value if isinstance(s, ast.Expr) else None
    f = c.func if isinstance(c, ast.Call) else None
    return (isinstance(f, ast.Attribute) and f.attr == "register"
            and isinstance(f.value, ast.Name) and f.value.id == "registry")

def lines(body):
    return [s.lineno for s in body if is_call(s)]

def verdict(text):
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError):
        return {"gave_up": True}
    except (SyntaxError, ValueError):
        return {"module": False}
    loops = [n for s in tree.body if isinstance(s, ast.For) for n in lines(s.body)]
    return {"module": True, "top": lines(tree.body), "loops": loops, "all": sum(map(is_call, ast.walk(tree)))}

answers = [verdict(text) for text in json.load(sys.stdin)]
json.dump({"minor": sys.version_info[1], "verdicts": answers}, sys.stdout)
`

// askPython returns Python's verdicts and its minor version. It skips the test
// where there is no Python 3.11 or later.
func askPython(t *testing.T, texts []string) (verdicts []verdict, minor int) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: nothing to compare with")
	}
	in, err := json.Marshal(append([]string{}, texts...))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c := exec.Command(path, "-W", "ignore", "-X", "utf8", "-c", oracleProgram)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(in), &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("python3: %v\n%s", err, &errs)
	}
	var answer struct {
		Minor    int
		Verdicts []verdict
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Minor < 11 {
		t.Skipf("python3 is 3.%d: the grammar here begins at 3.11", answer.Minor)
	}
	return answer.Verdicts, answer.Minor
}

// ourVerdict reads a text by the grammar of a minor version.
func ourVerdict(text string, minor int) (verdict, error) {
	found, err := calls(text, register, minor)
	v := verdict{Module: err == nil, All: len(found)}
	for _, c := range found {
		switch {
		case len(c.Within) == 0:
			v.Top = append(v.Top, c.Line)
		case len(c.Within) == 1 && c.Within[0] == "for":
			v.Loops = append(v.Loops, c.Line)
		}
	}
	return v, err
}

// pythonMinor returns the minor version of the Python that is installed.
func pythonMinor(t *testing.T) int {
	_, minor := askPython(t, nil)
	return minor
}

// compare holds our verdicts to Python's and returns how many texts are modules.
func compare(t *testing.T, texts []string) (modules int) {
	t.Helper()
	verdicts, minor := askPython(t, texts)
	faults := 0
	for i, want := range verdicts {
		got, err := ourVerdict(texts[i], minor)
		if want.GaveUp || minor < 14 && err != nil && strings.Contains(err.Error(), "formatted string is not closed") {
			continue // before 3.14 a line may break within the format of a field
		}
		var fault *SyntaxError
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("error %v is no SyntaxError", err)
		}
		if got.Module != want.Module || got.All != want.All || !slices.Equal(got.Top, want.Top) || !slices.Equal(got.Loops, want.Loops) {
			if faults++; faults <= 10 {
				t.Errorf("Python 3.%d says %+v, ours %+v (%v), of\n%s", minor, want, got, err, numbered(texts[i]))
			}
		}
		if want.Module {
			modules++
		}
	}
	if faults > 0 {
		t.Errorf("%d of %d texts differ", faults, len(texts))
	}
	return modules
}

func numbered(text string) string {
	if len(text) > 3000 {
		text = text[:3000] + "…"
	}
	return "\t" + strings.ReplaceAll(text, "\n", "\n\t")
}
