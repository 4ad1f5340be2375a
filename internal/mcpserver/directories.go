package mcpserver

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Roots are the folders that the server may look into as the addresses under which
// MCP calls them roots: file URLs of absolute paths. A relative path counts from the
// server's working directory, and ~ is the caller's home.
func (s Server) Roots() (roots []string) {
	for _, dir := range s.Directories {
		path := filepath.ToSlash(s.absolute(dir))
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a drive
		}
		roots = append(roots, (&url.URL{Scheme: "file", Path: path}).String())
	}
	return roots
}

func (s Server) absolute(dir string) string {
	dir = fromHome(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.Dir, dir)
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		return absolute
	}
	return filepath.Clean(dir)
}

// fromHome puts the caller's home in the place of a ~ at the start.
func fromHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// RiskyDirectory says what is wrong with giving a server a folder; empty if nothing
// is. The root of a file system holds everything, and a home folder keys and browsers'
// stores; so does every folder that home folders lie in, and a link to one of them. A relative
// path counts from the caller's working directory.
func RiskyDirectory(path string) string {
	clean := Server{}.absolute(path)
	if strings.HasPrefix(path, "~") && !filepath.IsAbs(fromHome(path)) && !strings.ContainsAny(filepath.ToSlash(path), "/") {
		return "it is a home folder" // of another, as a shell reads it
	}
	candidates := []string{clean}
	if target, err := filepath.EvalSymlinks(clean); err == nil && target != clean {
		candidates = append(candidates, target)
	}
	homes := []string{"/root"}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		homes = append(homes, filepath.Clean(home))
	}
	for _, c := range candidates {
		if reason := risk(c, homes); reason != "" {
			return reason
		}
	}
	return ""
}

// risk judges one clean, absolute path.
func risk(path string, homes []string) string {
	parent := filepath.Dir(path)
	if parent == path {
		return "it is the root of the file system"
	}
	if name := filepath.Base(parent); filepath.Dir(filepath.Dir(parent)) == filepath.Dir(parent) && (name == "home" || name == "Users") {
		return "it is a home folder"
	}
	if name := filepath.Base(path); filepath.Dir(parent) == parent && (name == "home" || name == "Users") {
		return "home folders lie in it"
	}
	for _, home := range homes {
		switch {
		case path == home:
			return "it is a home folder"
		case strings.HasPrefix(home, path+string(filepath.Separator)):
			return "home folders lie in it"
		}
	}
	return ""
}
