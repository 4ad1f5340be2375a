package discovery

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/pipeline/discovery/python"
)

// moduleMax bounds a module, in bytes.
const moduleMax = 64 << 20

// register is the method whose calls make a module a tool.
var register = python.Method{Receiver: "registry", Name: "register"}

const byteOrderMark = "\ufeff"

func readModule(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, moduleMax+1))
	if err == nil && len(text) > moduleMax {
		err = fmt.Errorf("it is larger than %d bytes", moduleMax)
	}
	return text, err
}

// judgeModule decides whether a module registers. As the reference does, it looks
// for the two words before it reads the text as Python.
func judgeModule(text []byte, september bool) (registers bool, reason string) {
	if line := invalidLine(text); line > 0 {
		return false, fmt.Sprintf("line %d: the text is not UTF-8", line)
	}
	source := string(text)
	switch {
	case september:
		source = strings.TrimPrefix(source, byteOrderMark)
	case strings.HasPrefix(source, byteOrderMark):
		return false, "begins with a byte order mark, which is a syntax error here; save it as UTF-8 without one"
	}
	if !strings.Contains(source, register.Receiver) || !strings.Contains(source, register.Name) {
		return false, "does not mention both registry and register"
	}
	calls, err := python.Calls(source, register)
	if err != nil {
		return false, "syntax error in " + err.Error()
	}
	for _, c := range calls {
		if len(c.Within) == 0 || september && len(c.Within) == 1 && c.Within[0] == "for" {
			return true, fmt.Sprintf("line %d: registry.register(…)", c.Line)
		}
	}
	if len(calls) > 0 {
		return false, fmt.Sprintf("line %d: registry.register(…) stands within %s, not at module level", calls[0].Line, strings.Join(calls[0].Within, " and "))
	}
	return false, "no statement registry.register(…)"
}

// invalidLine returns the line of the first byte that is not UTF-8, or 0.
func invalidLine(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return 1 + bytes.Count(text[:i], []byte{'\n'})
		}
		i += n
	}
}
