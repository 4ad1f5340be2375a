package mcpserver

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoots(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of another form")
	}
	t.Setenv("HOME", "/srv/me")
	s := Server{Dir: "/data", Directories: []string{"/a b/../c d", ".", "x/", "~/notes", "~"}}
	want := []string{"file:///c%20d", "file:///data", "file:///data/x", "file:///srv/me/notes", "file:///srv/me"}
	if diff := cmp.Diff(want, s.Roots()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if roots := (Server{}).Roots(); roots != nil {
		t.Errorf("roots of nothing: %q", roots)
	}
}

func TestRiskyDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of another form")
	}
	dir := t.TempDir()
	home := filepath.Join(dir, "people", "me")
	if err := os.MkdirAll(filepath.Join(home, "work"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	link, rootLink := filepath.Join(dir, "link"), filepath.Join(dir, "all")
	for from, to := range map[string]string{link: home, rootLink: "/"} {
		if err := os.Symlink(to, from); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	const root, isHome, above = "it is the root of the file system", "it is a home folder", "home folders lie in it"
	for _, c := range []struct{ path, want string }{
		{"/", root}, {"//", root}, {"/etc/..", root}, {"/.", root}, {rootLink, root},
		{home, isHome}, {home + "/", isHome}, {home + "/work/..", isHome}, {"~", isHome}, {"~/", isHome}, {"~other", isHome}, {link, isHome},
		{"/home/anybody", isHome}, {"/Users/anybody", isHome}, {"/root", isHome},
		{filepath.Dir(home), above}, {dir, above}, {"/home", above}, {"/Users", above},
		{home + "/work", ""}, {"~/work", ""}, {"/home/anybody/work", ""}, {"/srv/home/x", ""}, {"/srv", ""}, {filepath.Join(dir, "peo"), ""}, {"/root/x", ""},
	} {
		if got := RiskyDirectory(c.path); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}
