package harvest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/mcpserver"
)

// patience bounds servers that ought to answer: far more than a busy machine
// needs.
const patience = time.Minute

// askOne asks one server, and demands that nothing is left of it.
func askOne(t *testing.T, s mcpserver.Server, timeout time.Duration) Answer {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	answers, err := Run(context.Background(), []mcpserver.Server{s}, Options{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return answers[0]
}

func listed(a Answer) (tools []string) {
	for _, tool := range a.Tools {
		tools = append(tools, string(tool))
	}
	return tools
}

// TestServersThatAnswer: whatever else they do, their tools arrive byte for byte.
func TestServersThatAnswer(t *testing.T) {
	for _, c := range []struct {
		kind    string
		tools   []string
		pages   int
		leftOut []string
	}{
		{"plain", []string{oddTool, cyclic}, 1, nil},
		{"noise", []string{oddTool}, 1, nil},
		{"stderr", []string{oddTool}, 1, nil},
		{"pages", []string{oddTool, cyclic}, 3, nil},
		{"twice", pagesOf["twice"][0], 1, nil},
		{"empty", nil, 1, nil},
		{"none", nil, 0, nil},
		{"modern", []string{oddTool}, 1, nil},
		{"asks", []string{oddTool}, 1, nil},
		{"nocap", []string{oddTool}, 1, nil},
		{"tells", []string{oddTool}, 1, []string{`tool "tell" repeats a secret of the entry`}},
		{"odd", []string{oddTool}, 1, []string{
			"odd:1:1: tool without a name", "odd:1:1: a tool is number, want object", `odd:1:30: tool "list": inputSchema is array, want object`,
		}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			answers, err := Run(context.Background(), []mcpserver.Server{kindOf(t, c.kind)}, Options{Timeout: patience})
			if err != nil {
				t.Fatal(err)
			}
			a := answers[0]
			if a.Failure != "" || a.Pages != c.pages || a.Name != "hostile" && c.kind != "modern" {
				t.Errorf("failure %q, pages %d, named %q %q", a.Failure, a.Pages, a.Name, a.Version)
			}
			if diff := cmp.Diff(c.tools, listed(a)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.leftOut, a.LeftOut); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

// TestServersThatFail: each is told of with its reason, within its bounds, and
// no secret with it.
func TestServersThatFail(t *testing.T) {
	const soon = 300 * time.Millisecond
	for _, c := range []struct {
		kind    string
		timeout time.Duration
		failure string
		stderr  string
	}{
		{"hang", soon, "no answer to initialize within 300ms", ""},
		{"hang-list", 5 * time.Second, "no answer to tools/list within 5s", ""},
		{"endless", patience, "it lists more than 100 pages of tools", ""},
		{"circle", patience, "its pages of tools never end: a cursor comes again", ""},
		{"crowd", patience, "it lists more than 10000 tools", ""},
		{"huge", patience, "it sends a message of more than 16 MiB", ""},
		{"babble", patience, "it sends more than 64 MiB", ""},
		{"latin", patience, "its answer to tools/list is not UTF-8", ""},
		{"deep", patience, "it sends a message that cannot be read", ""},
		{"wrong", patience, "its answer to tools/list is no list of tools", ""},
		{"cut", patience, "it ended (exit status 0), before it answered tools/list", ""},
		{"exit", patience, "it ended (exit status 3), before it answered initialize", "no config for [redacted] and [redacted]"},
		{"refuse", patience, "it answers initialize with the error -32000: give me [redacted]", ""},
		{"trail", patience, "it ended (exit status 3), before it answered initialize", "lost"},
		{"deaf", time.Second, "no answer to initialize within 1s", ""},
		{"future", patience, `initialize fails: unsupported protocol version: "[redacted]"`, ""},
		{"fault", patience, "it answers tools/list with the error -32603: out of luck", ""},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			answers, err := Run(context.Background(), []mcpserver.Server{kindOf(t, c.kind)}, Options{Timeout: c.timeout})
			if err != nil {
				t.Fatal(err)
			}
			a := answers[0]
			if a.Failure != c.failure || strings.Join(a.Stderr, "\n") != c.stderr {
				t.Errorf("failure %q, stderr %q, want %q, %q", a.Failure, a.Stderr, c.failure, c.stderr)
			}
			if len(a.Tools) > 0 || a.Pages > 0 {
				t.Errorf("%d tools of %d pages are kept", len(a.Tools), a.Pages)
			}
			if note := a.Note(); !strings.HasPrefix(note, "server "+c.kind+": ") || strings.Contains(note, "sk-") {
				t.Errorf("note %q", note)
			}
		})
	}
}

// TestNoCommand: what cannot be started is told of without its arguments.
func TestNoCommand(t *testing.T) {
	for _, command := range []string{"no-such-command-anywhere", filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		a := askOne(t, mcpserver.Server{Label: "none", Command: command}, patience)
		if !strings.HasPrefix(a.Failure, "cannot start its command: ") || strings.Contains(a.Failure, command) {
			t.Errorf("%s: failure %q", command, a.Failure)
		}
	}
}

// TestNothingIsLeft: no goroutine, and no process of a server's group, whether the
// server ends by itself, hangs, or leaves a child behind.
func TestNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	servers := []mcpserver.Server{kindOf(t, "plain"), kindOf(t, "hang-list"), kindOf(t, "orphan"), kindOf(t, "stubborn"), kindOf(t, "cut"), kindOf(t, "deaf")}
	if _, err := Run(context.Background(), servers, Options{Timeout: time.Second, Parallel: len(servers)}); err != nil {
		t.Fatal(err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// TestMinimalEnvironment: a server sees what it needs to start and what its entry
// sets.
func TestMinimalEnvironment(t *testing.T) {
	t.Setenv("TOOLGAUGE_TEST_SECRET", "x")
	s := kindOf(t, "environ")
	s.Env = append(s.Env, mcpserver.Variable{Name: "OWN", Value: "1"})
	got := make(map[string]bool)
	for _, raw := range askOne(t, s, patience).Tools {
		var tool struct{ Name string }
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		got[tool.Name] = true
	}
	for _, name := range []string{"PATH", "OWN", "API_KEY"} {
		if !got[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if got["TOOLGAUGE_TEST_SECRET"] {
		t.Error("the caller's environment leaks")
	}
}

// TestRunTogether: answers stand in the order of servers, however many are asked
// at once, and a second harvest differs in its time alone.
func TestRunTogether(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	servers := []mcpserver.Server{kindOf(t, "plain"), kindOf(t, "exit"), kindOf(t, "twice"), kindOf(t, "odd"), kindOf(t, "empty"), kindOf(t, "pages"), kindOf(t, "tells"), kindOf(t, "refuse"), kindOf(t, "trail")}
	var folders []map[string]string
	for i, parallel := range []int{0, 5} {
		calls := 0
		answers, err := Run(context.Background(), servers, Options{Timeout: patience, Parallel: parallel, Done: func() { calls++ }})
		if err != nil {
			t.Fatal(err)
		}
		if calls != len(servers) {
			t.Errorf("told of %d servers", calls)
		}
		out := filepath.Join(t.TempDir(), "mine")
		c, err := Write(out, "mine", answers, time.Unix(int64(i), 0))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := corpus.Load(out); err != nil || again.SHA256 != c.SHA256 {
			t.Errorf("the folder is not the corpus: %v", err)
		}
		folders = append(folders, folder(t, out))
	}
	if !strings.Contains(folders[1][ProvenanceFile], `"harvested_at": "1970-01-01T00:00:01Z"`) {
		t.Errorf("provenance %s", folders[1][ProvenanceFile])
	}
	folders[1][ProvenanceFile] = strings.Replace(folders[1][ProvenanceFile], "00:00:01Z", "00:00:00Z", 1)
	if diff := cmp.Diff(folders[0], folders[1]); diff != "" {
		t.Errorf("two harvests differ:\n%s", diff)
	}
	for name, text := range folders[0] {
		if strings.Contains(text, "sk-") {
			t.Errorf("%s holds a secret", name)
		}
	}
}

// folder reads all files of a folder.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := Write(filepath.Join(dir, "out"), "mine", []Answer{{Server: mcpserver.Server{Label: "a", Command: "x"}, Failure: "it ended"}}, time.Unix(0, 0))
	if err == nil || !strings.HasPrefix(err.Error(), "none of 1 servers listed a tool\nhint: ") {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%s is left", entries[0].Name())
	}
}

// TestInterrupt: an interrupt ends the servers that are being asked.
func TestInterrupt(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	answers, err := Run(ctx, []mcpserver.Server{kindOf(t, "hang"), kindOf(t, "plain"), kindOf(t, "hang")}, Options{Timeout: patience, Parallel: 1})
	if !errors.Is(err, context.Canceled) || answers != nil {
		t.Errorf("%d answers, error %v", len(answers), err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// TestInterruptAtTheStart: a server whose time is over before it starts does not
// start.
func TestInterruptAtTheStart(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for range 20 {
		if a := ask(context.Background(), kindOf(t, "hang"), time.Nanosecond); a.Failure != "no answer to initialize within 1ns" {
			t.Errorf("failure %q", a.Failure)
		}
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// remote serves a kind over streamable HTTP. It demands the header that the entry
// sets and, behind the handshake, the version agreed on.
func remote(t *testing.T, kind string, stream bool) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+envSecret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct{ Cursor string }
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil || request.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if request.Method == "tools/list" && r.Header.Get("Mcp-Protocol-Version") != "2025-06-18" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		reply := func(member string) {
			text := `{"jsonrpc":"2.0","id":` + string(request.ID) + `,` + member + `}`
			if stream {
				w.Header().Set("Content-Type", "text/event-stream")
				text = "event: message\ndata: " + text + "\n\n"
			} else {
				w.Header().Set("Content-Type", "application/json")
			}
			_, _ = w.Write([]byte(text))
		}
		answer := func(result string) { reply(`"result":` + result) }
		fault := func(_ int, text string) { reply(`"error":{"code":-32000,"message":"` + text + `"}`) }
		if !shakeHands(kind, request.Method, answer, fault) {
			list(kind, request.Params.Cursor, answer, fault, nil)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestRemoteServers(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		stream     bool
		header     string
		failure    string
	}{
		{"JSON", "pages", false, envSecret, ""},
		{"events", "pages", true, envSecret, ""},
		{"huge", "huge", false, envSecret, "it sends a message of more than 16 MiB"},
		{"endless", "endless", false, envSecret, "it lists more than 100 pages of tools"},
		{"refused", "plain", false, "sk-wrong-0123456789", "it refuses access (401 Unauthorized); see the headers of its entry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := remote(t, c.kind, c.stream)
			s := mcpserver.Server{Label: c.name, URL: server.URL + "/mcp/path-secret?key=query-secret", Headers: []mcpserver.Variable{{Name: "Authorization", Value: "Bearer " + c.header}}}
			a := askOne(t, s, patience)
			if a.Failure != c.failure {
				t.Errorf("failure %q, want %q", a.Failure, c.failure)
			}
			if c.failure == "" {
				if diff := cmp.Diff([]string{oddTool, cyclic}, listed(a)); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
			}
			if s.Package() != strings.TrimPrefix(server.URL, "http://") {
				t.Errorf("package %q", s.Package())
			}
		})
	}
}

// TestRemoteFaults: addresses where nobody answers or something else does, and
// those that lead elsewhere with the headers.
func TestRemoteFaults(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	says := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		failure string
		timeout time.Duration
	}{
		{"404", http.NotFound, "nothing at its address speaks streamable HTTP (404 Not Found); a server that speaks sse alone cannot be asked", patience},
		{"405", status(405), "nothing at its address speaks streamable HTTP (405 Method Not Allowed); a server that speaks sse alone cannot be asked", patience},
		{"403", status(403), "it refuses access (403 Forbidden); see the headers of its entry", patience},
		{"429", status(429), "it answers with the HTTP status 429 Too Many Requests", patience},
		{"500", status(500), "it answers with the HTTP status 500 Internal Server Error", patience},
		{"202", status(202), `initialize fails: unsupported content type ""`, patience},
		{"a page", says("text/html", "<html>"), `initialize fails: unsupported content type "text/html"`, patience},
		{"no JSON", says("application/json", "{query-secret"), "initialize fails: failed to decode response: ", patience},
		{"no event", says("text/event-stream", ": nothing\n\n"), "initialize fails: request terminated without response", patience},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost.invalid/", http.StatusTemporaryRedirect)
		}, "it redirects to another address; give that one in its entry", patience},
		{"other method", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusFound) },
			"it redirects to another address; give that one in its entry", patience},
		{"circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusTemporaryRedirect) }, "it redirects without end", patience},
		{"bomb", bomb, "it sends a message of more than 16 MiB", patience},
		{"broken chunks", raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nxx"),
			"initialize fails: failed to read body: invalid byte in chunk length", patience},
		{"no HTTP", raw("query-secret query-secret\r\n\r\n"), `it cannot be reached: net/http: HTTP/1.x transport connection broken: malformed HTTP status code "[redacted]"`, patience},
		{"silent", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client is gone
			<-r.Context().Done()
		}, "no answer to initialize within 100ms", 100 * time.Millisecond},
		{"endless events", func(w http.ResponseWriter, r *http.Request) {
			says("text/event-stream", ": wait\n\n")(w, r)
			w.(http.Flusher).Flush()
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, "no answer to initialize within 100ms", 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			a := askOne(t, mcpserver.Server{Label: "x", URL: server.URL + "/path-secret?key=query-secret"}, c.timeout)
			if !strings.HasPrefix(a.Failure, c.failure) || strings.Contains(a.Failure, "secret") {
				t.Errorf("failure %q, want %q", a.Failure, c.failure)
			}
		})
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if a := askOne(t, mcpserver.Server{Label: "x", URL: gone.URL}, patience); !strings.HasPrefix(a.Failure, "it cannot be reached: ") || !strings.Contains(a.Failure, "connection refused") {
		t.Errorf("failure %q", a.Failure)
	}
	a := askOne(t, mcpserver.Server{Label: "x", URL: gone.URL, Headers: []mcpserver.Variable{{Name: "A", Value: "secret\nB: c"}}}, patience)
	if a.Failure != `it cannot be reached: net/http: invalid header field value for "A"` {
		t.Errorf("failure %q", a.Failure)
	}
}

// bomb answers with some kilobytes that become gigabytes.
func bomb(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = io.Copy(io.Discard, r.Body)
	z := gzip.NewWriter(w)
	spaces := bytes.Repeat([]byte{' '}, 1<<20)
	for r.Context().Err() == nil {
		_, _ = z.Write(spaces)
	}
}

// raw answers with a text that need not be HTTP.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	}
}

// TestFaultOfAnEntry: what cannot be asked is not asked, and the others are.
func TestFaultOfAnEntry(t *testing.T) {
	servers := []mcpserver.Server{{Label: "a", Command: "no-such-command-anywhere", Fault: "its entry says sse"}, kindOf(t, "plain")}
	answers, err := Run(context.Background(), servers, Options{Timeout: patience})
	if err != nil || answers[0].Failure != "its entry says sse" || answers[1].Failure != "" {
		t.Errorf("%v, error %v", answers, err)
	}
}
