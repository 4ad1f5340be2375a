package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// PrintJSON writes a value to standard output as indented JSON.
func PrintJSON(env Env, value any) error {
	e := json.NewEncoder(env.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return Output(e.Encode(value))
}

// Output marks an error of writing to standard output.
func Output(err error) error {
	if err == nil {
		return nil
	}
	var atPath *fs.PathError
	if errors.As(err, &atPath) {
		err = atPath.Err // without a path that says nothing to anybody
	}
	return Input(fmt.Errorf("cannot write to standard output: %w%sfree some space, or send it elsewhere", err, hintMark))
}

// Notes are what a reader should know and no program needs to: lines on standard
// error, each text once.
type Notes struct {
	env     Env
	program string
	seen    map[string]bool
}

// NewNotes starts the notes of a program, which they name.
func NewNotes(env Env, program string) *Notes {
	return &Notes{env, program, make(map[string]bool)}
}

// Print prints those that were not printed before.
func (n *Notes) Print(texts []string) {
	for _, text := range texts {
		if !n.seen[text] {
			n.seen[text] = true
			fmt.Fprintf(n.env.Stderr, "%s: note: %s\n", n.program, text)
		}
	}
}
