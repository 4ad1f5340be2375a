//go:build unix

package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/textfile"
)

// within fails the test if do hangs.
func within(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatal("hangs")
		return nil
	}
}

// TestOddFiles reads paths behind which there is no file to read.
func TestOddFiles(t *testing.T) {
	const (
		permissions = "\nhint: check the path and its permissions"
		notRegular  = ": not a regular file\nhint: write what it gives to a file first"
	)
	mkfifo := func(t *testing.T, path string) {
		t.Helper()
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
	}
	for _, c := range []struct {
		name, path, want string // want has DIR for the folder
		make             func(t *testing.T, dir string)
	}{
		{"missing", "x", "corpus DIR/x: no such file or directory\nhint: give a corpus folder, an exported tools file, or leave --corpus out for the embedded corpus", nil},
		{"below a file", "x/y", "corpus DIR/x/y: not a directory…", func(t *testing.T, dir string) { write(t, dir, "x", "[]") }},
		{"dangling link", "x", "corpus DIR/x: no such file or directory…", func(t *testing.T, dir string) { link(t, "y", dir, "x") }},
		{"link to itself", "x", "corpus DIR/x: too many levels of symbolic links…", func(t *testing.T, dir string) { link(t, "x", dir, "x") }},
		{"named pipe", "x", "DIR/x" + notRegular, func(t *testing.T, dir string) { mkfifo(t, filepath.Join(dir, "x")) }},
		{"device", "/dev/zero", "/dev/zero" + notRegular, nil},
		{"too large", "x", "DIR/x: larger than 268435456 bytes\nhint: split it over several files", func(t *testing.T, dir string) {
			write(t, dir, "x", "")
			if err := os.Truncate(filepath.Join(dir, "x"), textfile.Max+1); err != nil { // sparse
				t.Skip(err)
			}
		}},
		{"empty folder", "", "DIR: no tools found" + shapesHint, nil},
		{"folder of hidden files", "", "DIR: no tools found" + shapesHint, func(t *testing.T, dir string) {
			write(t, dir, ".x.json", "{")
			write(t, dir, ".git/x.json", "{")
		}},
		{"folder of text", "", "DIR: no tools found, and 2 files are not JSON" + shapesHint, func(t *testing.T, dir string) {
			write(t, dir, "a.md", "x")
			write(t, dir, "b.csv", "y,z")
		}},
		{"pipe in a folder", "", "DIR/x" + notRegular, func(t *testing.T, dir string) {
			write(t, dir, "a.json", `[{"name":"a"}]`)
			mkfifo(t, filepath.Join(dir, "x"))
		}},
		{"link to its own folder", "", "DIR/a/up: is a folder, want a file\nhint: put the files themselves there; links to folders are not followed", func(t *testing.T, dir string) {
			write(t, dir, "a/a.json", `[{"name":"a"}]`)
			link(t, "..", dir, "a/up")
		}},
		{"link to itself in a folder", "", "DIR/x: too many levels of symbolic links" + permissions, func(t *testing.T, dir string) { link(t, "x", dir, "x") }},
		{"dangling link in a folder", "", "DIR/x: no such file or directory" + permissions, func(t *testing.T, dir string) { link(t, "y", dir, "x") }},
		{"pipe among cards", "", "DIR/tools/x.yaml" + notRegular, func(t *testing.T, dir string) {
			write(t, dir, manifestFile, plainManifest)
			write(t, dir, "tools/s.json", plainCards)
			mkfifo(t, filepath.Join(dir, "tools/x.yaml"))
		}},
		{"pipe as manifest", "", "DIR/corpus.yaml" + notRegular, func(t *testing.T, dir string) { mkfifo(t, filepath.Join(dir, manifestFile)) }},
		{"folder as manifest", "", "DIR/corpus.yaml: is a folder, want a file\nhint: put the files themselves there; links to folders are not followed", func(t *testing.T, dir string) { write(t, dir, "corpus.yaml/x", "") }},
		{"pipe as toolsets", "", "DIR/toolsets.yaml" + notRegular, func(t *testing.T, dir string) {
			write(t, dir, manifestFile, plainManifest)
			write(t, dir, "tools/s.json", plainCards)
			mkfifo(t, filepath.Join(dir, toolsetsFile))
		}},
		{"tools is a file", "", "DIR/tools: not a directory" + permissions, func(t *testing.T, dir string) {
			write(t, dir, manifestFile, plainManifest)
			write(t, dir, "tools", "")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.make != nil {
				c.make(t, dir)
			}
			path := c.path
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			err := within(t, func() error { _, err := Load(path); return err })
			wantError(t, err, strings.ReplaceAll(c.want, "DIR", dir))
		})
	}
}

// TestLinksToFiles follows links to regular files, as people keep exports
// elsewhere.
func TestLinksToFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "kept/a.json", `[{"name":"a"}]`)
	link(t, filepath.Join("..", "kept", "a.json"), dir, "corpus/github.json")
	for _, path := range []string{"corpus", "corpus/github.json"} {
		c, err := Load(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Tool("github/a"); !ok {
			t.Errorf("%s: the tool is not labelled by the link's name", path)
		}
	}
}

func TestUnreadableOnDisk(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permissions do not bind root")
	}
	dir := t.TempDir()
	write(t, dir, "a/x.json", "[]")
	if err := os.Chmod(filepath.Join(dir, "a"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "a"), 0o700) })
	_, err := Load(dir)
	wantError(t, err, dir+"/a: permission denied\nhint: check the path and its permissions")
}
