// Package atomicfile writes files that are there in full or not at all.
//
// A file grows under a temporary name in the folder where it will stand. Commit
// flushes it to the disk and renames it; Abort removes it. So a reader never
// sees half a file under the final name, a file that was there before stays
// until its successor is complete, and a fault on the way (a full disk, a folder
// that may not be written) leaves nothing behind.
//
// A program that is killed between Create and Commit does leave the temporary
// file. Its name starts with Prefix, so that people and programs can tell what
// it is.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Prefix starts the name of every temporary file. The leading dot keeps it out
// of plain listings and of globs such as *.parquet.
const Prefix = ".toolgauge-tmp-"

// writable are the permissions of which a file must have one to be replaced.
const writable = 0o222

// createAttempts bounds the search for a free temporary name. Names are random
// and 26 characters long, so a second attempt is already unheard of.
const createAttempts = 8

// File is a file that is being written. It belongs to one goroutine.
type File struct {
	path   string // as the caller named it, for errors
	target string // path with symbolic links followed
	temp   *os.File
	err    error // the first failed write: Commit must not hide it
	done   bool
}

// Create starts a file that Commit will put at path, with the permissions of
// any new file. A symbolic link is followed: the file that it names is replaced,
// and the link stays.
//
// It fails if the folder is missing or may not be written, and if path is
// something that a rename would destroy or cannot replace: a folder, a device,
// a pipe, a file that nobody may write to. Errors of the operating system are an
// [*Error]. The usual form is:
//
//	f, err := atomicfile.Create(path)
//	if err != nil { … }
//	defer f.Abort() // does nothing after Commit
//	… write …
//	return f.Commit()
func Create(path string) (*File, error) {
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	for range createAttempts {
		name := filepath.Join(filepath.Dir(target), Prefix+rand.Text())
		var temp *os.File
		temp, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return &File{path: path, target: target, temp: temp}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return nil, failure(path, "create", err)
}

// resolve finds where a file named path would stand, and refuses what cannot be
// replaced by a regular file.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("the output file has no name\nhint: name a file")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", failure(path, "create", err)
	case info.IsDir():
		return "", fmt.Errorf("cannot create %s: it is a folder\nhint: name a file, for example one inside it", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("cannot create %s: it is a device or a pipe\nhint: name a regular file", path)
	case info.Mode().Perm()&writable == 0:
		// A rename would not ask, and neither would the system ask root.
		return "", fmt.Errorf("cannot create %s: a file of that name is read-only\nhint: name another file, or remove that one first", path)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", failure(path, "create", err)
	}
	return target, nil
}

// Path returns the final name, as it was given to Create.
func (f *File) Path() string { return f.path }

// Write appends p. After a failed write every later one fails with the same
// error, and so does Commit.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.temp.Write(p)
	if err != nil {
		f.err = failure(f.path, "write", err)
	}
	return n, f.err
}

// Commit flushes the file to the disk and gives it its final name. If it fails,
// nothing is left of the file, and what stood at the path before still does.
func (f *File) Commit() error {
	if f.done {
		return fmt.Errorf("cannot write %s: the file is already committed or aborted\nhint: create it again", f.path)
	}
	if f.err != nil {
		f.Abort()
		return f.err
	}
	if err := f.temp.Sync(); err != nil {
		f.Abort()
		return failure(f.path, "write", err)
	}
	f.done = true
	err := f.temp.Close()
	if err == nil {
		err = os.Rename(f.temp.Name(), f.target)
	}
	if err != nil {
		_ = os.Remove(f.temp.Name())
		return failure(f.path, "write", err)
	}
	syncFolder(filepath.Dir(f.target))
	return nil
}

// Abort gives the file up and removes it. It does nothing after Commit or a
// first Abort.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	_ = f.temp.Close()
	_ = os.Remove(f.temp.Name())
}

// syncFolder makes the rename survive a power cut. The file is complete and in
// place by then, and some systems cannot sync a folder, so a fault is no error.
func syncFolder(folder string) {
	if d, err := os.Open(folder); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Error is a fault of the operating system while a file was created or written.
type Error struct {
	// Path is the final name, as it was given to Create.
	Path string
	// Action is what failed: create or write.
	Action string
	// Cause is the system's error.
	Cause error
}

func (e *Error) Error() string {
	return fmt.Sprintf("cannot %s %s: %v\nhint: %s", e.Action, e.Path, e.Cause, hint(e.Cause, e.Path))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// failure words an error of the operating system. The temporary name is nobody's
// business, so only the cause is kept.
func failure(path, action string, err error) error {
	cause := err
	var atPath *fs.PathError
	var atLink *os.LinkError
	switch {
	case errors.As(err, &atPath):
		cause = atPath.Err
	case errors.As(err, &atLink):
		cause = atLink.Err
	}
	return &Error{Path: path, Action: action, Cause: cause}
}

func hint(cause error, path string) string {
	switch {
	case errors.Is(cause, syscall.ENOSPC), errors.Is(cause, syscall.EDQUOT):
		return "free some space, or write to another disk"
	case errors.Is(cause, fs.ErrNotExist):
		return fmt.Sprintf("create the folder %s first", filepath.Dir(path))
	case errors.Is(cause, fs.ErrPermission), errors.Is(cause, syscall.EROFS):
		return fmt.Sprintf("choose a folder that you may write to; %s is not one", filepath.Dir(path))
	case errors.Is(cause, syscall.ENOTDIR):
		return fmt.Sprintf("%s is a file: name a folder in its place", filepath.Dir(path))
	default:
		return "check the path and the disk"
	}
}
