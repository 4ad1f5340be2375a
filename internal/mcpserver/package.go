package mcpserver

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// runners are the programs that fetch a package and run it, with the words that
// stand ahead of the package's name.
var runners = map[string][]string{
	"npx": nil, "bunx": nil, "uvx": nil, "pipx": {"run"}, "npm": {"exec"}, "pnpm": {"dlx"}, "yarn": {"dlx"}, "deno": {"run"},
}

// packageName matches the name of a package, with its scope, extras and version.
// An address is none.
var packageName = regexp.MustCompile(`^(jsr:|npm:)?(@[\w.~-]+/)?[\w.~-]+(\[[\w,.-]+\])?((@|==)[\w.^~*+-]+)?$`)

// Package says where the server comes from: the package that npx, uvx and their
// like are told to run, the name of any other command, or the host of an address.
// No other argument appears in it, since arguments hold secrets.
func (s Server) Package() string {
	secrets := s.argumentSecrets()
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil {
			return ""
		}
		return secrets.Redact(u.Host)
	}
	if i := s.packageArgument(); i >= 0 {
		return s.Args[i]
	}
	return secrets.Redact(baseName(s.Command))
}

func baseName(command string) string { return path.Base(filepath.ToSlash(command)) }

// packageArgument returns the index of the argument that names the package; -1 if
// none does.
func (s Server) packageArgument() int {
	ahead, runs := runners[strings.TrimSuffix(baseName(s.Command), ".cmd")]
	if !runs {
		return -1
	}
	for i, arg := range s.Args {
		if packageName.MatchString(arg) && !strings.HasPrefix(arg, "-") && !slices.Contains(ahead, arg) &&
			!s.behindSecretFlag(i) && !slices.ContainsFunc(s.Taken, func(t string) bool { return t != "" && strings.Contains(arg, t) }) {
			return i
		}
	}
	return -1
}
