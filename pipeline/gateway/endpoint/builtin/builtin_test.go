package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// fixed is a clock that stands.
type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

var noon = fixed(time.Date(2026, 7, 1, 12, 0, 0, 5, time.UTC))

// call calls a tool, which must not be at fault.
func call(t *testing.T, folders []string, tool, arguments string) endpoint.Answer {
	t.Helper()
	got, err := find(t, noon, folders, tool).Endpoint.Call(context.Background(), endpoint.Request{Tool: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, arguments, err)
	}
	return got
}

func find(t *testing.T, c clock.Clock, folders []string, name string) Tool {
	t.Helper()
	tools := Tools(c, folders)
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return tools[i]
}

func TestDefinitions(t *testing.T) {
	tools := Tools(noon, nil)
	if !slices.IsSortedFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for _, tool := range tools {
		schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tool.InputSchema)))
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("schema.json", schema); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("schema.json"); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
		for _, part := range []string{"Use it ", "fail"} {
			if !strings.Contains(tool.Description, part) {
				t.Errorf("%s: the description does not say %q", tool.Name, part)
			}
		}
		if !tool.ReadOnly || len(tool.Description) > 400 {
			t.Errorf("%s: %t, %d bytes of description", tool.Name, tool.ReadOnly, len(tool.Description))
		}
	}
}

func TestSystemTime(t *testing.T) {
	for arguments, want := range map[string]string{
		`{}`:                                 `{"time":"2026-07-01T12:00:00Z","timezone":"UTC"}`,
		`{"timezone":"UTC"}`:                 `{"time":"2026-07-01T12:00:00Z","timezone":"UTC"}`,
		`{"timezone":"Europe/Berlin"}`:       `{"time":"2026-07-01T14:00:00+02:00","timezone":"Europe/Berlin"}`,
		`{"timezone":"America/St_Johns"}`:    `{"time":"2026-07-01T09:30:00-02:30","timezone":"America/St_Johns"}`,
		`{"timezone":"Local"}`:               `there is no time zone "Local". Use`,
		`{"timezone":"../../../etc/passwd"}`: `there is no time zone "../../../etc/passwd". Use`,
		`{"timezone":1}`:                     `the arguments cannot be read: `,
	} {
		got := call(t, nil, "get_system_time", arguments)
		if !strings.HasPrefix(string(got.Body), want) || got.IsError != (want[0] != '{') {
			t.Errorf("%s: %s", arguments, got.Body)
		}
	}
}

func TestEcho(t *testing.T) {
	const arguments = `{"b": 1, "a" : [ "<é>" ]}`
	if got := call(t, nil, "echo", arguments); string(got.Body) != arguments {
		t.Errorf("%s", got.Body)
	}
	got, err := find(t, noon, nil, "echo").Endpoint.Call(context.Background(), endpoint.Request{Arguments: json.RawMessage(arguments), BytesMax: 10})
	if err != nil || string(got.Body) != arguments[:10] || got.Bytes != int64(len(arguments)) {
		t.Errorf("%+v, %v", got, err)
	}
}

// tree makes two allowed folders beside one that is not, and returns their parent.
func tree(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range map[string]string{
		"one/b.txt": "12345", "one/a/deep/c.txt": "", "one/a/d.txt": "1", "two/e.txt": "12", "secret/key": "hidden", "one.txt": "no folder",
	} {
		name = filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"one/out": "../secret", "one/abs": filepath.Join(top, "secret"), "one/in": "a", "one/loop": "loop", "one/a/up": "../..",
	} {
		if err := os.Symlink(to, filepath.Join(top, filepath.FromSlash(link))); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	return top
}

func TestListFiles(t *testing.T) {
	top := tree(t)
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	const b = `{"path":"b.txt","type":"file","bytes":5}`
	links := `{"path":"in","type":"link"},{"path":"loop","type":"link"},{"path":"out","type":"link"}`
	const inA = `{"path":"d.txt","type":"file","bytes":1},{"path":"deep","type":"folder"},{"path":"up","type":"link"}`
	for _, c := range []struct{ arguments, folder, entries string }{
		{`{}`, one, `{"path":"a","type":"folder"},{"path":"abs","type":"link"},` + b + "," + links},
		{`{"path":""}`, one, `{"path":"a","type":"folder"},{"path":"abs","type":"link"},` + b + "," + links},
		{`{"path":"a"}`, one + "/a", inA},
		{`{"path":"./a/../a/"}`, one + "/a", inA},
		{`{"path":"in"}`, one + "/in", inA}, // a link that stays inside
		{`{"path":` + quote(one+"/a/deep") + `}`, one + "/a/deep", `{"path":"c.txt","type":"file","bytes":0}`},
		{`{"path":` + quote(two) + `}`, two, `{"path":"e.txt","type":"file","bytes":2}`},
		{
			`{"depth":3}`, one, `{"path":"a","type":"folder"},{"path":"a/d.txt","type":"file","bytes":1},{"path":"a/deep","type":"folder"},` +
				`{"path":"a/deep/c.txt","type":"file","bytes":0},{"path":"a/up","type":"link"},{"path":"abs","type":"link"},` + b + "," + links,
		},
	} {
		got := call(t, []string{one, two}, "list_files", c.arguments)
		want := `{"folder":` + quote(c.folder) + `,"entries":[` + c.entries + `]}`
		if got.IsError || string(got.Body) != want {
			t.Errorf("%s: %s\nwant %s", c.arguments, got.Body, want)
		}
	}
}

func quote(text string) string { return fmt.Sprintf("%q", text) }

func TestListFilesRefuses(t *testing.T) {
	top := tree(t)
	one := filepath.Join(top, "one")
	for _, path := range []string{
		"..", "../secret", "a/../../secret", "../one", "a/up", "a/up/secret", "in/up/secret", "out", "abs", "out/.", "in/../../secret", "loop",
		top, filepath.Join(top, "secret"), one + "/../secret", filepath.Join(top, "one.txt"), "/", "/etc", "/proc/self/root", one + "/out",
		"b.txt", "none", "a\x00b", strings.Repeat("a/", 5000), strings.Repeat("x", 300), "~", `..\secret`,
	} {
		arguments, err := json.Marshal(map[string]any{"path": path, "depth": 2})
		if err != nil {
			t.Fatal(err)
		}
		got := call(t, []string{one}, "list_files", string(arguments))
		if !got.IsError || strings.Contains(string(got.Body), "key") {
			t.Errorf("%.50q: %s", path, got.Body)
		}
	}
	for arguments, want := range map[string]string{
		`{"depth":0}`:        "depth 0 is not between 1 and 10.",
		`{"depth":11}`:       "depth 11 is not between 1 and 10.",
		`{"path":7}`:         "the arguments cannot be read: ",
		`{"path":"none"}`:    "none cannot be listed: no such file or directory. The allowed folders are " + one + ".",
		`{"path":"/nobody"}`: "/nobody is outside of the allowed folders, which are " + one + ".",
	} {
		if got := call(t, []string{one}, "list_files", arguments); !got.IsError || !strings.HasPrefix(string(got.Body), want) {
			t.Errorf("%s: %s", arguments, got.Body)
		}
	}
	if got := call(t, nil, "list_files", `{}`); !got.IsError || !strings.Contains(string(got.Body), "no folder may be listed") {
		t.Errorf("without folders: %s", got.Body)
	}
	_, err := find(t, noon, []string{filepath.Join(top, "gone")}, "list_files").Endpoint.Call(context.Background(), endpoint.Request{Arguments: json.RawMessage(`{}`)})
	var fault *endpoint.Fault
	if !errors.As(err, &fault) || fault.Kind != endpoint.ServerError {
		t.Errorf("an allowed folder that is gone: %v", err)
	}
}

func TestListFilesIsBounded(t *testing.T) {
	folder := t.TempDir()
	for i := range entriesMax + 500 {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		Entries   []struct{ Path string }
		Truncated string
	}
	list := func() {
		t.Helper()
		got.Truncated = ""
		if err := json.Unmarshal(call(t, []string{folder}, "list_files", `{}`).Body, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Entries) != entriesMax || got.Entries[entriesMax-1].Path != "0999" {
			t.Fatalf("%d entries", len(got.Entries))
		}
	}
	list()
	if !strings.Contains(got.Truncated, "more entries than these 1000") {
		t.Errorf("it says %q", got.Truncated)
	}
	for i := range 500 {
		if err := os.Remove(filepath.Join(folder, fmt.Sprintf("%04d", entriesMax+i))); err != nil {
			t.Fatal(err)
		}
	}
	list()
	if got.Truncated != "" {
		t.Errorf("with exactly as many as fit it says %q", got.Truncated)
	}
}

func TestListFilesEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := find(t, noon, []string{tree(t) + "/one"}, "list_files").Endpoint.Call(ctx, endpoint.Request{Arguments: json.RawMessage(`{}`)})
	var fault *endpoint.Fault
	if !errors.As(err, &fault) || fault.Kind != endpoint.Closed {
		t.Errorf("cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 0)
	defer cancel()
	_, err = find(t, noon, []string{tree(t) + "/one"}, "list_files").Endpoint.Call(ctx, endpoint.Request{Tool: "list_files", Arguments: json.RawMessage(`{}`)})
	if !errors.As(err, &fault) || fault.Kind != endpoint.Timeout {
		t.Errorf("out of time: %v", err)
	}
}

// TestLinksThatChange lists while a folder is swapped for a link that leads outside.
func TestLinksThatChange(t *testing.T) {
	top := tree(t)
	one := filepath.Join(top, "one")
	place, folder, link := filepath.Join(one, "a"), filepath.Join(top, "a"), filepath.Join(top, "link")
	if err := os.Symlink("../secret", link); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(place, folder)
			_ = os.Rename(link, place)
			_ = os.Rename(place, link)
			_ = os.Rename(folder, place)
		}
	}()
	for range 2000 {
		for _, arguments := range []string{`{"path":"a"}`, `{"depth":3}`} {
			if got := call(t, []string{one}, "list_files", arguments); strings.Contains(string(got.Body), "key") {
				t.Fatalf("%s: %s", arguments, got.Body)
			}
		}
	}
	close(stop)
	<-done
}
