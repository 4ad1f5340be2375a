package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// kindVariable makes the test binary a server of the kind that it names.
const kindVariable = "TOOLGAUGE_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(kindVariable); kind != "" {
		serve(kind)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// entryOf is an entry for a server of a kind. Its environment holds a secret.
func entryOf(t *testing.T, label, kind string, args ...string) mcpserver.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcpserver.Server{Label: label, Command: self, Args: args, Env: []mcpserver.Variable{{Name: kindVariable, Value: kind}, {Name: "API_KEY", Value: secret}}}
}

const secret = "sk-environment-0123456789"

// message is one message of the protocol, as the fixture reads it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Cursor    string          `json:"cursor"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      json.RawMessage `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code int `json:"code"`
	} `json:"error"`
}

// fixture is a server whose every request is answered on its own.
type fixture struct {
	say func(text string)

	mu        sync.Mutex
	restless  bool     // it says after every list of tools that they have changed
	listings  int      // lists of tools that were asked for
	more      bool     // it has a tool more
	cancelled int      // notifications that a call was given up
	answers   []string // to what it asked
}

// The definitions of the fixture's tools. Its bytes are odd on purpose.
const (
	echoTool = `{"name":"echo",  "description":"Sends back what it gets.","inputSchema":{"type":"object","z":1.0},"annotations":{"readOnlyHint":true}}`
	moreTool = `{"name":"more","inputSchema":{"type":"object"}}`
)

// answer is the member result or error of a request.
func (f *fixture) answer(m message) string {
	text := func(s string) string {
		quoted, _ := json.Marshal(s)
		return fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}]}`, quoted)
	}
	switch m.Method {
	case "initialize":
		return `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fixture","version":"1"}}`
	case "tools/list":
		if m.Params.Cursor == "" {
			return `"result":{"nextCursor":"x","tools":[` + echoTool + `,{"name":"echo","description":"again"},7,{"name":"odd","inputSchema":[]},{"name":"tell","description":"` + secret + `."}]}`
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.listings++
		if f.more {
			return `"result":{"tools":[{"name":"a/b"},` + moreTool + `]}`
		}
		return `"result":{"tools":[{"name":"a/b"}]}`
	case "tools/call":
	default:
		return `"error":{"code":-32601,"message":"Method not found"}`
	}
	var in struct {
		Text  string
		Ms, N int
	}
	_ = json.Unmarshal(m.Params.Arguments, &in)
	switch m.Params.Name {
	case "echo":
		time.Sleep(time.Duration(in.Ms) * time.Millisecond)
		return text(in.Text)
	case "pid":
		return text(fmt.Sprint(os.Getpid()))
	case "meta":
		return text(string(m.Params.Meta) + string(m.Params.Arguments))
	case "asked":
		f.mu.Lock()
		defer f.mu.Unlock()
		return text(strings.Join(f.answers, " ") + fmt.Sprintf(" cancelled %d", f.cancelled))
	case "grow":
		f.mu.Lock()
		f.more = true
		f.mu.Unlock()
		f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		return text("grown")
	case "listings":
		f.mu.Lock()
		defer f.mu.Unlock()
		return text(fmt.Sprint(f.listings))
	case "big":
		return text(strings.Repeat("é", in.N))
	case "fail":
		return `"result":{"isError":true,"content":[{"type":"text","text":"no such file"}]}`
	case "raw":
		return `"result":` + in.Text
	case "broken":
		return `"error":{"code":-32603,"message":"out of luck with ` + secret + `"}`
	case "exit":
		fmt.Fprintln(os.Stderr, "bad day for "+secret)
		os.Exit(3)
	}
	return `"error":{"code":-32602,"message":"Unknown tool"}`
}

// take answers a message, or notes it.
func (f *fixture) take(m message) {
	switch {
	case m.Method == "notifications/cancelled":
		f.mu.Lock()
		f.cancelled++
		f.mu.Unlock()
	case m.ID == nil:
	case m.Method == "":
		f.mu.Lock()
		defer f.mu.Unlock()
		if m.Error != nil {
			f.answers = append(f.answers, fmt.Sprintf("%s: error %d", m.ID, m.Error.Code))
		} else {
			f.answers = append(f.answers, fmt.Sprintf("%s: %s", m.ID, m.Result))
		}
	default:
		f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, f.answer(m)))
		if f.restless && m.Params.Cursor != "" {
			f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
	}
}

// serve plays a server of a kind on standard input and output.
func serve(kind string) {
	var mu sync.Mutex
	f := &fixture{say: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(text)
	}}
	switch kind {
	case "restless":
		f.restless = true
	case "exit":
		fmt.Fprintln(os.Stderr, "no config for "+secret)
		os.Exit(3)
	case "hang":
		time.Sleep(10 * time.Minute)
	case "babble":
		for {
			f.say(strings.Repeat("noise ", 10_000))
		}
	case "late":
		if _, err := os.Stat(os.Args[1]); err != nil {
			os.Exit(1)
		}
	case "noise":
		f.say("Welcome!\n\n[1,2]\n{}\n{\"level\":\"info\"}\n{broken\n\xff\xfe\n7")
	case "asks":
		for id, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create", "ping", "nonsense"} {
			f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"messages":[],"maxTokens":1,"message":"","requestedSchema":{"type":"object","properties":{}}}}`, id, method))
		}
		f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
		f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			go f.take(m)
		}
		if kind == "deaf" && m.Params.Cursor != "" {
			time.Sleep(10 * time.Minute)
		}
	}
}

// quick has servers start again soon.
func quick(o Options) Options {
	o.PauseMin, o.PauseMax = 10*time.Millisecond, 100*time.Millisecond
	return o
}

func open(t *testing.T, o Options, servers ...mcpserver.Server) *Hub {
	t.Helper()
	h, err := Open(context.Background(), servers, quick(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

const trace = "4bf92f3577b34da6a3ce929d0e0e4736"

// call calls a tool of a server.
func call(t *testing.T, h *Hub, server, tool, arguments string) (endpoint.Answer, error) {
	t.Helper()
	return h.Endpoint(server, tool).Call(t.Context(), endpoint.Request{Tool: tool, Arguments: json.RawMessage(arguments), TraceID: trace, CallID: "c", Attempt: 1})
}

// textOfCall is the text that a call must answer with.
func textOfCall(t *testing.T, h *Hub, server, tool, arguments string) string {
	t.Helper()
	a, err := call(t, h, server, tool, arguments)
	if err != nil {
		t.Fatalf("%s of %s: %v", tool, server, err)
	}
	return string(a.Body)
}

// eventually waits for what must come true.
func eventually(t *testing.T, what string, true func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !true(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come true", what)
		}
	}
}

func names(tools []Tool) (list []string) {
	for _, tool := range tools {
		list = append(list, tool.Name)
	}
	return list
}
