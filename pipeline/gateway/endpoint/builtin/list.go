package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Bounds of a listing.
const (
	entriesMax = 1000
	depthMax   = 10
	batch      = 1024 // entries of a folder that are read at once
)

type lister struct{ folders []string }

// entry is one line of a listing. Its path is relative to the folder listed, with
// slashes.
type entry struct {
	path  string
	kind  string // file, folder, link or other
	bytes int64  // of a file
}

func (l lister) call(ctx context.Context, arguments json.RawMessage) ([]byte, error) {
	in := struct {
		Path  string `json:"path"`
		Depth int    `json:"depth"`
	}{Path: ".", Depth: 1}
	if err := read(arguments, &in); err != nil {
		return nil, err
	}
	if in.Depth < 1 || in.Depth > depthMax {
		return nil, mistake(fmt.Sprintf("depth %d is not between 1 and %d.", in.Depth, depthMax))
	}
	folder, inside, err := l.find(in.Path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("the allowed folder %s cannot be opened: %w", folder, cause(err))
	}
	defer root.Close()
	w := walk{root: root, top: inside}
	if err := w.folder(ctx, ".", in.Depth); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, mistake(fmt.Sprintf("%s cannot be listed: %v. The allowed folders are %s.", in.Path, cause(err), l))
	}
	return w.json(filepath.Join(folder, inside)), nil
}

// find splits a path into the allowed folder in which it lies and what follows. It
// looks at the words only: that what follows stays inside is the root's business.
func (l lister) find(name string) (folder, inside string, err error) {
	switch {
	case len(l.folders) == 0:
		return "", "", mistake("no folder may be listed: there are no allowed folders in this gateway's configuration.")
	case name == "":
		return l.folders[0], ".", nil
	case !filepath.IsAbs(name):
		return l.folders[0], filepath.FromSlash(name), nil
	}
	for _, folder := range l.folders {
		if inside, err := filepath.Rel(folder, name); err == nil && filepath.IsLocal(inside) {
			return folder, inside, nil
		}
	}
	return "", "", mistake(fmt.Sprintf("%s is outside of the allowed folders, which are %s.", name, l))
}

func (l lister) String() string { return strings.Join(l.folders, ", ") }

// cause is an error without the paths of this machine.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// walk goes through a folder and those in it.
type walk struct {
	root    *os.Root
	top     string // within the root
	entries []entry
	more    bool // than fit
}

// folder lists a folder, given relative to the top, and depth-1 levels below it.
func (w *walk) folder(ctx context.Context, name string, depth int) error {
	found, err := w.names(ctx, name)
	if err != nil {
		return err
	}
	for _, f := range found {
		if len(w.entries) == entriesMax {
			w.more = true
			return nil
		}
		e := entry{path: path.Join(name, f), kind: "other"}
		info, err := w.root.Lstat(w.inside(e.path))
		switch {
		case err != nil: // gone meanwhile
			continue
		case info.Mode().IsRegular():
			e.kind, e.bytes = "file", info.Size()
		case info.IsDir():
			e.kind = "folder"
		case info.Mode()&fs.ModeSymlink != 0:
			e.kind = "link"
		}
		w.entries = append(w.entries, e)
		if e.kind == "folder" && depth > 1 {
			if err := w.folder(ctx, e.path, depth-1); ctx.Err() != nil {
				return err
			}
			// A folder below that may not be read is an entry like the others.
		}
	}
	return nil
}

// inside is a path relative to the top as one relative to the root. It is not cleaned:
// what .. leads to depends on the links before it.
func (w *walk) inside(name string) string {
	return w.top + string(filepath.Separator) + filepath.FromSlash(name)
}

// names returns the first names of a folder, sorted, and one more than fit if there
// are more. It holds no more than that, however many there are.
func (w *walk) names(ctx context.Context, name string) ([]string, error) {
	dir, err := w.root.OpenFile(w.inside(name), os.O_RDONLY|folderOnly, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	room := entriesMax - len(w.entries) + 1
	var first []string
	for {
		some, err := dir.Readdirnames(batch)
		first = append(first, some...)
		slices.Sort(first)
		first = first[:min(len(first), room)]
		switch {
		case errors.Is(err, io.EOF):
			return first, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// json is the listing of a folder.
func (w *walk) json(folder string) []byte {
	list := []byte{'['}
	for i, e := range w.entries {
		if i > 0 {
			list = append(list, ',')
		}
		fields := []rawjson.Field{{Key: "path", Value: rawjson.String(e.path)}, {Key: "type", Value: rawjson.String(e.kind)}}
		if e.kind == "file" {
			fields = append(fields, rawjson.Field{Key: "bytes", Value: strconv.AppendInt(nil, e.bytes, 10)})
		}
		list = rawjson.AppendObject(list, fields)
	}
	all := []rawjson.Field{
		{Key: "folder", Value: rawjson.String(filepath.ToSlash(folder))},
		{Key: "entries", Value: append(list, ']')},
	}
	if w.more {
		note := fmt.Sprintf("There are more entries than these %d: list a folder further down, or with less depth.", entriesMax)
		all = append(all, rawjson.Field{Key: "truncated", Value: rawjson.String(note)})
	}
	return rawjson.AppendObject(nil, all)
}
