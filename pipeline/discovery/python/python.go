// Package python tells which method calls stand as statements in the text of a
// Python module, without Python.
//
// The steps: the lexer cuts the text into tokens, indentation included; the
// parser checks them against the grammar of the language reference (its version
// is in [Grammar]); on the way it remembers the statements that are calls of the
// method asked for. No tree is built, nothing is looked up or run, and the work
// grows with the length of the text, whatever the text is.
//
// The promise is to agree with Python's own ast.parse: the same texts are
// modules, and the same statements are calls. Three things are Python's alone:
// whether the name in a "\N{…}" exists, how deep operators may nest before its
// parser gives up, and what is forbidden by its compiler only (a return outside a
// function), which ast.parse does not ask either.
package python

import (
	"fmt"
	"strings"
)

// Grammar is the minor version of Python 3 whose grammar is read. Later versions
// have only ever added to it, so that a module written for an older one is read
// as well.
const Grammar = 14

// Method is a method called on a name: NAME.METHOD(…).
type Method struct{ Receiver, Name string }

// Call is a call of a method that is a statement of its own, and where it stands.
type Call struct {
	// Line is where the statement begins, from 1.
	Line int
	// Within names the compound statements around the call by the word that their
	// block follows (if, else, for, async for, def, class, with, case, …), from the
	// outside in. A call of the module itself has none.
	Within []string
}

// SyntaxError says that a text is no Python module.
type SyntaxError struct {
	Line    int // from 1
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Calls returns, in their order, the statements of a module that call a method:
// expression statements that are a call of an attribute of a name, in parentheses
// or not. Names are compared as Python does, in normal form NFKC. source must be
// UTF-8; a byte order mark is not part of a module. The error is a [*SyntaxError].
func Calls(source string, of Method) ([]Call, error) {
	return calls(source, of, Grammar)
}

// calls reads by the grammar of a minor version, of which it knows what was added
// since 3.11. Formatted strings are read as they are since 3.12.
func calls(source string, of Method, grammar int) ([]Call, error) {
	if i := strings.IndexByte(source, 0); i >= 0 {
		return nil, &SyntaxError{1 + strings.Count(source[:i], "\n"), "null byte"}
	}
	p := parser{lexer: newLexer(source), method: of, grammar: grammar}
	p.module()
	if p.fault != nil {
		return nil, p.fault
	}
	return p.calls, nil
}
