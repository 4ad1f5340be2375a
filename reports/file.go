package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"path/filepath"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
)

// output is a file that is there in full or not at all.
type output interface {
	Write(p []byte) (int, error)
	Commit() error
	Abort()
}

func createOutput(path string) (output, error) { return atomicfile.Create(path) }

// runFile is a file of a run folder on its way to its final name.
type runFile struct {
	output
	path  string
	bytes int64
	hash  hash.Hash
	err   error // of the first write that failed
}

// Write appends p to the file and to its hash.
func (f *runFile) Write(p []byte) (int, error) {
	n, err := f.output.Write(p)
	f.bytes += int64(n)
	_, _ = f.hash.Write(p[:n])
	if err != nil && f.err == nil {
		f.err = err
	}
	return n, err
}

// fault returns what went wrong: the failed write, which names the file, rather than what a library made of it.
func (f *runFile) fault(err error) error {
	if f.err != nil {
		return f.err
	}
	return err
}

func (f *runFile) entry() File {
	return File{Name: filepath.Base(f.path), Bytes: f.bytes, SHA256: hex.EncodeToString(f.hash.Sum(nil))}
}

func newRunFile(create func(string) (output, error), path string) (*runFile, error) {
	out, err := create(path)
	if err != nil {
		return nil, err
	}
	return &runFile{output: out, path: path, hash: sha256.New()}, nil
}

// cause is what the operating system said, without the path: errors here name it once.
func cause(err error) error {
	var atPath *fs.PathError
	if errors.As(err, &atPath) {
		return atPath.Err
	}
	return err
}
