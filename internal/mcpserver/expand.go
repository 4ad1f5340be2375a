package mcpserver

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// reference matches what a client replaces in the texts of an entry: ${NAME},
// ${env:NAME}, ${NAME:-TEXT} and ${input:ID}.
var reference = regexp.MustCompile(`\$\{(?:(env|input):)?([A-Za-z_][A-Za-z0-9_-]*)(?::-([^}]*))?\}`)

// expand completes the texts of the entry. A variable that is not set is the
// server's fault.
func (s *Server) expand(environ func(string) (string, bool)) {
	complete := func(text *string) {
		*text = reference.ReplaceAllStringFunc(*text, func(whole string) string {
			m := reference.FindStringSubmatch(whole)
			value, fault := lookUp(m[1], m[2], environ)
			switch {
			case fault == "":
				if m[1] != "" || !isPlace(m[2]) {
					s.Taken = append(s.Taken, value)
				}
				return value
			case strings.Contains(whole, ":-"):
				return m[3]
			case s.Fault == "":
				s.Fault = fault
			}
			return whole
		})
	}
	complete(&s.Command)
	complete(&s.Dir)
	complete(&s.URL)
	for i := range s.Args {
		complete(&s.Args[i])
	}
	for i := range s.Directories {
		complete(&s.Directories[i])
	}
	for _, list := range [][]Variable{s.Env, s.Headers} {
		for i := range list {
			complete(&list[i].Value)
		}
	}
}

// isPlace tells the names of folders that clients know from variables.
func isPlace(name string) bool { return name == "workspaceFolder" || name == "userHome" }

// lookUp returns what a reference stands for, or why that is not to be had.
func lookUp(kind, name string, environ func(string) (string, bool)) (value, fault string) {
	if kind == "input" {
		return "", fmt.Sprintf("its entry asks for the input %s, which nobody is here to type; write ${NAME} and set that variable", name)
	}
	if value, ok := environ(name); ok {
		return value, ""
	}
	var err error
	switch {
	case kind != "" || !isPlace(name):
		return "", fmt.Sprintf("its entry names the environment variable %s, which is not set", name)
	case name == "userHome":
		value, err = os.UserHomeDir()
	default:
		value, err = os.Getwd()
	}
	if err != nil {
		return "", fmt.Sprintf("its entry names the folder %s, which is not known", name)
	}
	return value, ""
}
