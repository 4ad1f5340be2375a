package discovery

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
)

// cacheVersion is the version of the cache file and of the rules that its verdicts
// follow. A file of another version is not trusted.
const cacheVersion = 1

// Bounds of a cache: of a file that is read, and of the files that are kept. With
// more than that, only those of the folder scanned last are.
const (
	cacheBytesMax   = 32 << 20
	cacheEntriesMax = 20_000
)

// entry is the verdict kept on one file: the list [modified_ns, size_bytes,
// variant, registers, cards, reason].
type entry struct {
	Modified  int64
	Size      int64
	Variant   string
	Registers bool
	Cards     int
	Reason    string
}

func (e entry) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{e.Modified, e.Size, e.Variant, e.Registers, e.Cards, e.Reason})
}

var errEntry = errors.New("a list of 6 is wanted")

func (e *entry) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	into := []any{&e.Modified, &e.Size, &e.Variant, &e.Registers, &e.Cards, &e.Reason}
	if len(list) != len(into) {
		return errEntry
	}
	for i, value := range list {
		if string(value) == "null" { // which would leave the field as it is
			return errEntry
		}
		if err := json.Unmarshal(value, into[i]); err != nil {
			return err
		}
	}
	return nil
}

// cache is the cache file: the verdicts by absolute path.
type cache struct {
	SchemaVersion int              `json:"schema_version"`
	Files         map[string]entry `json:"files"`
}

// readCache reads a cache file. One that is not there, cannot be read or is not
// well-formed is an empty one; of a well-formed one, entries that are not are left
// out.
func readCache(path string) *cache {
	c := &cache{SchemaVersion: cacheVersion, Files: map[string]entry{}}
	if path == "" {
		return c
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return c
	}
	f, err := os.Open(path)
	if err != nil {
		return c
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, cacheBytesMax+1))
	if err != nil || len(data) > cacheBytesMax {
		return c
	}
	var read struct {
		SchemaVersion int                        `json:"schema_version"`
		Files         map[string]json.RawMessage `json:"files"`
	}
	if json.Unmarshal(data, &read) != nil || read.SchemaVersion != cacheVersion {
		return c
	}
	for name, value := range read.Files {
		var e entry
		if json.Unmarshal(value, &e) == nil {
			c.Files[name] = e
		}
	}
	return c
}

// write replaces the entries of a folder by fresh ones and writes the file, if
// anything has changed. Two scans may do so at once: the file is replaced as a
// whole, and what the loser knew is found out again.
func (c *cache) write(path, folder string, fresh map[string]entry) error {
	files := make(map[string]entry, len(c.Files))
	for name, e := range c.Files {
		if !within(name, folder) {
			files[name] = e
		}
	}
	if len(files)+len(fresh) > cacheEntriesMax {
		clear(files)
	}
	maps.Copy(files, fresh)
	if maps.Equal(files, c.Files) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := json.NewEncoder(f).Encode(cache{cacheVersion, files}); err != nil {
		return err
	}
	return f.Commit()
}

// within reports whether a scan of a folder judges a path: a file in it, or a
// package's module.
func within(path, folder string) bool {
	parent := filepath.Dir(path)
	return parent == folder || filepath.Base(path) == packageModule && filepath.Dir(parent) == folder
}
