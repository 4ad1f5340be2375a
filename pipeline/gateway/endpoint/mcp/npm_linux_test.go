package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// npmServers are three servers of npm. The first is started for the folder state, and
// told as its root the only one that it may look into; the third keeps what it learns
// in state.
func npmServers(folder, state string) []mcpserver.Server {
	npx := func(label, name string, args ...string) mcpserver.Server {
		return mcpserver.Server{Label: label, Command: "npx", Args: append([]string{"-y", "@modelcontextprotocol/" + name}, args...)}
	}
	files := npx("files", "server-filesystem", state)
	files.Directories = []string{folder}
	memory := npx("memory", "server-memory")
	memory.Env = []mcpserver.Variable{{Name: "MEMORY_FILE_PATH", Value: filepath.Join(state, "memory.jsonl")}}
	return []mcpserver.Server{files, npx("everything", "server-everything"), memory}
}

// TestNPMServers: real servers are listed, called at the same time, kept within their
// folder, killed in mid-call and started again, and none of it touches the others.
func TestNPMServers(t *testing.T) {
	if os.Getenv("TOOLGAUGE_NPM_SERVERS") == "" {
		t.Skip("TOOLGAUGE_NPM_SERVERS is not set: servers of npm are not started")
	}
	folder, outside := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{filepath.Join(folder, "note.txt"): "inside", filepath.Join(outside, "key.txt"): "outside"} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "key.txt"), filepath.Join(folder, "link.txt")); err != nil {
		t.Fatal(err)
	}
	var told changes
	h, err := Open(t.Context(), npmServers(folder, outside), quick(Options{StartTimeout: 2 * time.Minute, Changed: told.add}))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, s := range h.Servers() {
		if !s.Up || len(s.Tools) < 9 || len(s.LeftOut) > 0 {
			t.Fatalf("%s: up %t, error %v, tools %v, left out %v", s.Label, s.Up, s.Err, names(s.Tools), s.LeftOut)
		}
		t.Logf("%s: %d tools: %s", s.Label, len(s.Tools), strings.Join(names(s.Tools), " "))
	}
	eventually(t, "that the server of files knows its root", func() bool {
		a, err := call(t, h, "files", "list_allowed_directories", `{}`)
		return err == nil && strings.Contains(string(a.Body), folder)
	})
	t.Run("confined", func(t *testing.T) { confined(t, h, folder, outside) })
	t.Run("together", func(t *testing.T) { together(t, h, filepath.Join(folder, "note.txt")) })
	t.Run("killed", func(t *testing.T) { killed(t, h, &told, filepath.Join(folder, "note.txt")) })
}

// confined: the server of files reads and writes in its folder, and nowhere else.
func confined(t *testing.T, h *Hub, folder, outside string) {
	for path, want := range map[string]string{
		filepath.Join(folder, "note.txt"):                            "inside",
		filepath.Join(folder, ".", "note.txt"):                       "inside",
		folder + "/../" + filepath.Base(outside) + "/key.txt":        "",
		folder + "/sub/../../" + filepath.Base(outside) + "/key.txt": "",
		filepath.Join(outside, "key.txt"):                            "",
		"/etc/passwd":                                                "",
		"../../../../../../etc/passwd":                               "",
		filepath.Join(folder, "link.txt"):                            "",
		folder + "-sibling/key.txt":                                  "",
	} {
		a, err := call(t, h, "files", "read_text_file", fmt.Sprintf(`{"path":%q}`, path))
		switch text := string(a.Body); {
		case err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (a.IsError || text != want):
			t.Errorf("%s: %q", path, text)
		case want == "" && (!a.IsError || !strings.Contains(strings.ToLower(text), "access denied")):
			t.Errorf("%s is not refused: %q", path, text)
		}
	}
	a, err := call(t, h, "files", "write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, filepath.Join(outside, "new.txt")))
	if _, missing := os.Stat(filepath.Join(outside, "new.txt")); err != nil || !a.IsError || missing == nil {
		t.Errorf("a file is written outside: %q, error %v", a.Body, err)
	}
}

// together calls all servers at once.
func together(t *testing.T, h *Hub, note string) {
	var all sync.WaitGroup
	expect := func(server, tool, arguments, want string) {
		all.Go(func() {
			a, err := call(t, h, server, tool, arguments)
			if err != nil || a.IsError || !strings.Contains(string(a.Body), want) {
				t.Errorf("%s of %s: %.200q, error %v, want %q", tool, server, a.Body, err, want)
			}
		})
	}
	for i := range 20 {
		expect("everything", "echo", fmt.Sprintf(`{"message":"m%d."}`, i), fmt.Sprintf("m%d.", i))
		expect("files", "read_text_file", fmt.Sprintf(`{"path":%q}`, note), "inside")
		expect("memory", "search_nodes", fmt.Sprintf(`{"query":"n%d"}`, i), "entities")
	}
	all.Wait()
}

// killed kills one server while it has a call.
func killed(t *testing.T, h *Hub, told *changes, note string) {
	before := h.Servers()[1].Tools
	slow := before[slices.IndexFunc(before, func(tool Tool) bool { return strings.Contains(strings.ToLower(tool.Name), "long") })].Name
	failed := make(chan error, 1)
	go func() {
		_, err := h.Endpoint("everything", slow).Call(context.Background(), endpoint.Request{Arguments: json.RawMessage(`{"duration":60,"steps":60}`)})
		failed <- err
	}()
	time.Sleep(time.Second)
	if err := syscall.Kill(-groupOf(t, "server-everything"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantFault(t, <-failed, endpoint.Transport, "MCP server everything: it is unavailable: it ended (signal: killed)")
	if s := h.Servers()[1]; !s.Up && len(s.Tools) != len(before) {
		t.Errorf("the tools are forgotten: %v", names(s.Tools))
	}
	if got := textOfCall(t, h, "files", "read_text_file", fmt.Sprintf(`{"path":%q}`, note)); got != "inside" {
		t.Errorf("%q", got)
	}
	if got := textOfCall(t, h, "memory", "read_graph", `{}`); !strings.Contains(got, "entities") {
		t.Errorf("%q", got)
	}
	for end := time.Now().Add(time.Minute); told.of("everything") < 2 || !h.Servers()[1].Up; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come back: %v", h.Servers()[1].Err)
		}
	}
	if diff := cmp.Diff(before, h.Servers()[1].Tools); diff != "" {
		t.Errorf("tools (-before +after):\n%s", diff)
	}
	if got := textOfCall(t, h, "everything", "echo", `{"message":"back"}`); !strings.Contains(got, "back") {
		t.Errorf("%q", got)
	}
	if told.of("files")+told.of("memory") > 0 {
		t.Error("another server is said to have changed")
	}
}

// groupOf finds the process group of a command that this process has started.
func groupOf(t *testing.T, word string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		stat, _ := os.ReadFile(file) // the process may have ended
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && strings.Contains(string(command), word) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	t.Fatalf("no process of %s", word)
	return 0
}
