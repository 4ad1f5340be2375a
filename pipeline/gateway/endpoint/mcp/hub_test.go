package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// TestDeadServersHideNone: whatever the others do, those that answer are there.
func TestDeadServersHideNone(t *testing.T) {
	t.Parallel()
	h := open(t, Options{},
		entryOf(t, "exit", "exit"), entryOf(t, "a", "plain"), entryOf(t, "babble", "babble"),
		mcpserver.Server{Label: "none", Command: "no-such-command-anywhere"}, mcpserver.Server{Label: "sse", URL: "http://h", Fault: "its entry says sse"},
		entryOf(t, "noise", "noise"))
	want := map[string]string{
		"exit":   "it ended (exit status 3), before it answered initialize; the last it wrote: no config for [redacted]",
		"babble": "it sends more than 64 MiB",
		"none":   "cannot start its command: ",
		"sse":    "its entry says sse",
	}
	for _, s := range h.Servers() {
		reason, dead := want[s.Label]
		if s.Up == dead || dead && (s.Err == nil || !strings.HasPrefix(s.Err.Error(), reason)) || !dead && s.Err != nil {
			t.Errorf("%s: up %t, error %v", s.Label, s.Up, s.Err)
		}
	}
	for _, server := range []string{"a", "noise"} {
		if got := textOfCall(t, h, server, "echo", `{"text":"x"}`); got != "x" {
			t.Errorf("%s answers %q", server, got)
		}
	}
	_, err := call(t, h, "exit", "echo", `{}`)
	wantFault(t, err, endpoint.Transport, "MCP server exit: it is unavailable: it ended (exit status 3)")
	_, err = call(t, h, "other", "echo", `{}`)
	wantFault(t, err, endpoint.Closed, "MCP server other: there is no such server")
}

func wantFault(t *testing.T, err error, kind endpoint.Kind, text string) {
	t.Helper()
	var fault *endpoint.Fault
	if !errors.As(err, &fault) || fault.Kind != kind || !strings.HasPrefix(err.Error(), text) || strings.Contains(err.Error(), "sk-") {
		t.Errorf("error %v of the kind %v, want %s: %s", err, fault, kind, text)
	}
}

// TestAllDown: only if nobody answers there is an error, and it names everybody.
func TestAllDown(t *testing.T) {
	t.Parallel()
	_, err := Open(context.Background(), []mcpserver.Server{entryOf(t, "exit", "exit"), {Label: "sse", URL: "http://h", Fault: "its entry says sse"}}, quick(Options{}))
	const want = "none of the MCP servers answers\nserver exit: it ended (exit status 3), before it answered initialize; the last it wrote: no config for [redacted]\nserver sse: its entry says sse\nhint: "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v", err)
	}
	_, err = Open(context.Background(), []mcpserver.Server{entryOf(t, "hang", "hang")}, Options{StartTimeout: 300 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "\nserver hang: no answer to initialize within 300ms\n") {
		t.Errorf("error %v", err)
	}
	h, err := Open(context.Background(), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := Open(ctx, []mcpserver.Server{entryOf(t, "hang", "hang")}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestCards: one for every tool that can be one, with nothing taken from hints.
func TestCards(t *testing.T) {
	t.Parallel()
	h := open(t, Options{}, entryOf(t, "My files", "plain"))
	want := []*card.Card{
		{ID: "hermes://mcp/My%20files/echo", Name: "mcp__My_files__echo_" + card.MCPName("My files", "echo")[20:], Toolset: "mcp-My files", Description: "Sends back what it gets.",
			InputSchema: json.RawMessage(`{"type":"object","z":1.0}`), Target: "mcp://My%20files/echo"},
		{ID: "hermes://mcp/My%20files/a%2Fb", Name: card.MCPName("My files", "a/b"), Toolset: "mcp-My files", Target: "mcp://My%20files/a%2Fb"},
	}
	cards := h.Cards()
	if diff := cmp.Diff(want, cards, cmp.AllowUnexported(card.Card{})); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	state := h.Servers()[0]
	if string(state.Tools[0].Raw) != echoTool {
		t.Errorf("definition %s", state.Tools[0].Raw)
	}
	if diff := cmp.Diff([]string{
		`tool "echo": it is listed twice; the first counts`, `tool "": it is no definition of a tool`,
		`tool "odd": its input schema is no JSON Schema`, `tool "tell": it repeats a secret of the entry`,
	}, state.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	config, err := card.Parse("gateway.yaml", []byte("schema_version: 1\n"+`mcpServers: {"My files": {command: x}}`))
	if err != nil {
		t.Fatal(err)
	}
	complete, err := config.Complete(cards...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range complete {
		if c.ReadOnly || c.Idempotent {
			t.Errorf("%s is believed to be harmless", c.ID)
		}
		if server, _ := card.MCPServer(c.Target); server != "My files" || c.Name != card.MCPName(server, card.MCPTool(c.Target)) {
			t.Errorf("%s leads to %s", c.Name, c.Target)
		}
	}
}

// TestAnswers: the two ways of MCP to say what went wrong, and what becomes of parts.
func TestAnswers(t *testing.T) {
	t.Parallel()
	h := open(t, Options{}, entryOf(t, "a", "plain"))
	if got, want := textOfCall(t, h, "a", "meta", ``), `{"traceparent":"`+(endpoint.Request{TraceID: trace, CallID: "c", Attempt: 1}).TraceParent()+`"}{}`; got != want {
		t.Errorf("the server sees %s, want %s", got, want)
	}
	if got := textOfCall(t, h, "a", "meta", `{"n":1.0,"b":12345678901234567890}`); !strings.HasSuffix(got, `{"n":1.0,"b":12345678901234567890}`) {
		t.Errorf("the server sees %s", got)
	}
	a, err := call(t, h, "a", "fail", `{}`)
	if err != nil || !a.IsError || string(a.Body) != "no such file" {
		t.Errorf("%+v, error %v", a, err)
	}
	_, err = call(t, h, "a", "unheard-of", `{}`)
	wantFault(t, err, endpoint.Protocol, "MCP server a: error -32602: Unknown tool")
	_, err = call(t, h, "a", "broken", `{}`)
	wantFault(t, err, endpoint.ServerError, "MCP server a: error -32603: out of luck with [redacted]")
	a, err = h.Endpoint("a", "big").Call(t.Context(), endpoint.Request{Arguments: json.RawMessage(`{"n":500000}`), BytesMax: 101})
	if err != nil || len(a.Body) != 101 || a.Bytes != 1_000_000 {
		t.Errorf("%d of %d bytes, error %v", len(a.Body), a.Bytes, err)
	}
	_, err = call(t, h, "a", "raw", `{"text":"7"}`)
	wantFault(t, err, endpoint.Protocol, "MCP server a: its answer is no result of a tool")
}

// TestManyAtOnce: results reach who asked for them.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, Options{}, entryOf(t, "a", "plain"), remoteEntry(t, "b"))
	var all sync.WaitGroup
	for i := range 50 {
		for _, server := range []string{"a", "b"} {
			all.Go(func() {
				want := fmt.Sprintf("%s-%d", server, i)
				a, err := call(t, h, server, "echo", fmt.Sprintf(`{"text":%q,"ms":%d}`, want, (i*37)%50))
				if err != nil || string(a.Body) != want {
					t.Errorf("%q, error %v, want %q", a.Body, err, want)
				}
			})
		}
	}
	all.Wait()
}

// changes notes which servers have changed.
type changes struct {
	mu   sync.Mutex
	list []string
}

func (c *changes) add(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, server)
}

func (c *changes) of(server string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.list {
		if one == server {
			n++
		}
	}
	return n
}

// TestDeadAtStart: a server that is not there yet is when it comes.
func TestDeadAtStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "now")
	var told changes
	h := open(t, Options{Changed: told.add}, entryOf(t, "a", "plain"), entryOf(t, "late", "late", file))
	if s := h.Servers()[1]; s.Up || s.Err == nil || len(s.Tools) > 0 {
		t.Errorf("state %+v", s)
	}
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the start of the server", func() bool { return told.of("late") > 0 })
	if s := h.Servers()[1]; !s.Up || s.Err != nil || len(s.Tools) != 2 {
		t.Errorf("state %+v", s)
	}
}

// TestListChanged: what is new is listed before anybody is told, and what stayed keeps
// its generation.
func TestListChanged(t *testing.T) {
	t.Parallel()
	var told changes
	h := open(t, Options{Changed: told.add}, entryOf(t, "a", "plain"))
	if got := textOfCall(t, h, "a", "grow", `{}`); got != "grown" {
		t.Errorf("%q", got)
	}
	eventually(t, "the new list", func() bool { return told.of("a") == 1 })
	var got []string
	for _, tool := range h.Servers()[0].Tools {
		got = append(got, fmt.Sprint(tool.Name, tool.Generation))
	}
	if diff := cmp.Diff([]string{"echo1", "a/b1", "more2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRestless: a server that says without end that its tools have changed is asked for
// them at most once a pause, and nobody is told of a change that is none.
func TestRestless(t *testing.T) {
	t.Parallel()
	var told changes
	h := open(t, Options{Changed: told.add}, entryOf(t, "a", "restless"))
	listings := func() (n int) {
		_, _ = fmt.Sscan(textOfCall(t, h, "a", "listings", `{}`), &n)
		return n
	}
	began := time.Now()
	first, last := listings(), 0
	eventually(t, "five lists", func() bool { last = listings(); return last >= first+5 })
	// One may have been under way when the time began, and one is asked for as it ends.
	if most := int(time.Since(began)/h.options.PauseMin) + 2; last-first > most {
		t.Errorf("%d lists in the time of %d", last-first, most)
	}
	if n := told.of("a"); n > 0 {
		t.Errorf("%d changes are told of", n)
	}
}

// TestGivenUp: a call that is given up is told to the server, and the next is answered.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	h := open(t, Options{}, entryOf(t, "a", "plain"))
	for _, c := range []struct {
		kind   endpoint.Kind
		cancel func(context.Context) (context.Context, context.CancelFunc)
	}{
		{endpoint.Timeout, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 50*time.Millisecond)
		}},
		{endpoint.Closed, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel
		}},
	} {
		ctx, cancel := c.cancel(t.Context())
		_, err := h.Endpoint("a", "echo").Call(ctx, endpoint.Request{Arguments: json.RawMessage(`{"ms":300}`)})
		cancel()
		wantFault(t, err, c.kind, "MCP server a: ")
	}
	eventually(t, "two cancellations", func() bool { return strings.HasSuffix(textOfCall(t, h, "a", "asked", `{}`), " cancelled 2") })
	if got := textOfCall(t, h, "a", "echo", `{"text":"on"}`); got != "on" {
		t.Errorf("%q", got)
	}
}

// TestDeaf: a server that reads no more holds up nobody who has a deadline.
func TestDeaf(t *testing.T) {
	t.Parallel()
	h := open(t, Options{}, entryOf(t, "a", "deaf"))
	long := json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := h.Endpoint("a", "echo").Call(ctx, endpoint.Request{Arguments: long})
		cancel()
		wantFault(t, err, endpoint.Timeout, "MCP server a: it did not answer in time")
	}
}

// TestWhatServersAsk: folders are named, and nothing else is done for a server.
func TestWhatServersAsk(t *testing.T) {
	t.Parallel()
	entry := entryOf(t, "a", "asks")
	entry.Directories = []string{"/srv/data"}
	h := open(t, Options{}, entry)
	var got string
	eventually(t, "five answers", func() bool {
		got = textOfCall(t, h, "a", "asked", `{}`)
		return strings.Count(got, ": ") >= 5
	})
	for _, want := range []string{`0: {"roots":[{"uri":"file:///srv/data"}]}`, "1: error ", "2: error ", "3: {}", "4: error -32601"} {
		if !strings.Contains(got, want) {
			t.Errorf("answers %s, want %s", got, want)
		}
	}
}

func TestAnswerOf(t *testing.T) {
	t.Parallel()
	const picture = `[{"type":"text","text":"a"}, {"type":"image","data":"AA==","mimeType":"image/png"}]`
	for _, c := range []struct {
		raw  string
		want endpoint.Answer
	}{
		{`{"content":[{"type":"text","text":"a\u00e9\n"}]}`, endpoint.Answer{Body: []byte("aé\n")}},
		{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true}`, endpoint.Answer{Body: []byte("a\nb"), IsError: true}},
		{`{"content":` + picture + `}`, endpoint.Answer{Content: json.RawMessage(picture)}},
		{`{"content":[{"type":"text"}]}`, endpoint.Answer{Content: json.RawMessage(`[{"type":"text"}]`)}},
		{`{"content":[],"structuredContent":{"z": 1.0}}`, endpoint.Answer{Body: []byte(`{"z": 1.0}`)}},
		{`{"content":[{"type":"text","text":"{}"}],"structuredContent":{"z": 1.0}}`, endpoint.Answer{Body: []byte(`{}`)}},
		{`{"content":[],"structuredContent":null}`, endpoint.Answer{}},
		{`{}`, endpoint.Answer{}},
		{"{\"content\":[{\"type\":\"text\",\"text\":\"\\u00e9\xe9\xff\\n\xc3\xa9\"}]}", endpoint.Answer{Body: []byte("é\xe9\xff\né")}},
	} {
		got, err := answerOf([]byte(c.raw), 0)
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.raw, diff)
		}
	}
	for _, raw := range []string{``, `7`, `{"content":{}}`, `{"resultType":"input_required"}`, `{"isError":"no"}`} {
		if a, err := answerOf([]byte(raw), 0); err == nil {
			t.Errorf("%s: %+v", raw, a)
		}
	}
}

func FuzzAnswerOf(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a\u00e9\n"}],"isError":true}`), int64(2))
	f.Add([]byte("{\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d\\ude00\xff\"}]}"), int64(0))
	f.Fuzz(func(t *testing.T, raw []byte, bytesMax int64) {
		a, err := answerOf(raw, bytesMax)
		switch {
		case err != nil:
		case a.Body != nil && a.Content != nil:
			t.Error("an answer in two forms")
		case bytesMax > 0 && int64(len(a.Body)) > bytesMax:
			t.Errorf("%d bytes of %d", len(a.Body), bytesMax)
		}
	})
}
