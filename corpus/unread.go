package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Unread names those files at the top of a corpus's folder that look as if they
// held tools, and that Load does not read: Python modules; of a folder to import,
// YAML; of a corpus folder, what lies beside its folder tools. The names are
// sorted. A path that is no folder has none, nor has one that cannot be read.
func Unread(path string) []string {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	own := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == manifestFile })
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		switch filepath.Ext(name) {
		case ".py":
			names = append(names, name)
		case ".yaml", ".yml":
			if !slices.Contains([]string{manifestFile, toolsetsFile, distributionsFile}, name) {
				names = append(names, name)
			}
		case ".json":
			if own {
				names = append(names, name)
			}
		}
	}
	return names
}
