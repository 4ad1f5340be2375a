package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// names lists a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func write(t *testing.T, f *File, text string) {
	t.Helper()
	if n, err := f.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("Write(%q) = %d, %v", text, n, err)
	}
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Fatalf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

func wantFailure(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range append(parts, "\nhint: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), Prefix) {
		t.Errorf("error %q speaks of the temporary name", err)
	}
}

func TestNothingIsVisibleBeforeCommit(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out.jsonl")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "one\n")
	during := names(t, folder)
	if len(during) != 1 || !strings.HasPrefix(during[0], Prefix) {
		t.Fatalf("while writing, the folder holds %q, want one name that starts with %q", during, Prefix)
	}
	write(t, f, "two\n")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if after := names(t, folder); len(after) != 1 || after[0] != "out.jsonl" {
		t.Fatalf("after Commit the folder holds %q", after)
	}
	wantContent(t, path, "one\ntwo\n")
	if f.Path() != path {
		t.Errorf("Path() = %q, want %q", f.Path(), path)
	}
}

func TestNewFilesHaveOrdinaryPermissions(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "ours")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(plain)
	got, err := os.Stat(path)
	if err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v (%v), want %v as of any new file", got.Mode(), err, want.Mode())
	}
}

func TestAbortLeavesWhatWasThere(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "new")
	wantContent(t, path, "old")
	f.Abort()
	f.Abort()
	if left := names(t, folder); len(left) != 1 {
		t.Fatalf("Abort left %q", left)
	}
	wantContent(t, path, "old")
	wantFailure(t, f.Commit(), "already committed or aborted")
}

func TestReadOnlyFilesStay(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "out"), filepath.Join(folder, "link")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("out", link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		_, err := Create(name)
		wantFailure(t, err, name, "read-only", "hint: ")
	}
	wantContent(t, path, "old")
	if left := names(t, folder); len(left) != 2 {
		t.Fatalf("the folder holds %q", left)
	}
}

func TestAbortAfterCommitDoesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "kept")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	wantContent(t, path, "kept")
	wantFailure(t, f.Commit(), "already committed")
}

func TestCommitReplacesAndFollowsLinks(t *testing.T) {
	folder := t.TempDir()
	real := filepath.Join(folder, "elsewhere", "real")
	if err := os.Mkdir(filepath.Dir(real), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	f, err := Create(link)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "new")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	wantContent(t, real, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       []string
	}{
		{"no name", "", []string{"no name"}},
		{"a folder", folder, []string{folder, "is a folder"}},
		{"a missing folder", filepath.Join(folder, "none", "out"), []string{"cannot create", "create the folder " + filepath.Join(folder, "none")}},
		{"a file as folder", filepath.Join(file, "out"), []string{"cannot create", file + " is a file"}},
		{"a device", os.DevNull, []string{os.DevNull, "device"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Create(c.path)
			if err == nil {
				f.Abort()
			}
			wantFailure(t, err, c.want...)
		})
	}
	if left := names(t, folder); len(left) != 1 {
		t.Errorf("refusals left %q", left)
	}
}

func TestUnwritableFolder(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	if probe, err := os.Create(filepath.Join(folder, "probe")); err == nil {
		_ = probe.Close()
		t.Skip("this user may write to any folder")
	}
	_, err := Create(filepath.Join(folder, "out"))
	wantFailure(t, err, "cannot create", "you may write to")
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v does not wrap the cause", err)
	}
}

// TestPermissionHint takes the path that TestUnwritableFolder cannot take for a
// superuser.
func TestPermissionHint(t *testing.T) {
	for _, cause := range []error{syscall.EACCES, syscall.EROFS} {
		err := failure("/data/out", "create", &fs.PathError{Op: "open", Path: "/data/" + Prefix + "x", Err: cause})
		wantFailure(t, err, "cannot create /data/out", "choose a folder that you may write to; /data is not one")
	}
}

// TestFullDisk writes to a device that has no space, in place of the temporary
// file's own disk.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here:", err)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "out")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	own := f.temp
	f.temp = full
	_, err = f.Write([]byte("new"))
	wantFailure(t, err, "cannot write "+path, "free some space")
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v does not wrap the cause", err)
	}
	f.temp = own
	if n, again := f.Write([]byte("more")); n != 0 || !errors.Is(again, syscall.ENOSPC) {
		t.Errorf("a write after a failed one = %d, %v, want the first error", n, again)
	}
	wantFailure(t, f.Commit(), "free some space")
	if left := names(t, folder); len(left) != 1 || left[0] != "out" {
		t.Errorf("a full disk left %q", left)
	}
	wantContent(t, path, "old")
}

func TestFailedRenameLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "new")
	if err := os.Mkdir(path, 0o777); err != nil { // in the way of the rename
		t.Fatal(err)
	}
	wantFailure(t, f.Commit(), "cannot write "+path)
	if left := names(t, folder); len(left) != 1 || left[0] != "out" {
		t.Errorf("a failed rename left %q", left)
	}
}

func TestTwoWritersDoNotMeet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	first, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, first, "first")
	write(t, second, "second")
	if err := second.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "first")
}
