package harvest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
)

// serverVariable makes the test binary a server of the kind that it names.
const serverVariable = "TOOLGAUGE_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverVariable); kind != "" {
		serve(kind)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// kindOf is an entry for a server of a kind. Its environment holds a secret.
func kindOf(t *testing.T, kind string) mcpserver.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcpserver.Server{Label: kind, Command: self, Args: []string{"--api-key", argSecret}, Env: []mcpserver.Variable{{Name: serverVariable, Value: kind}, {Name: "API_KEY", Value: envSecret}}}
}

const (
	envSecret = "sk-environment-0123456789"
	argSecret = "sk-argument-0123456789"
)

// oddTool is a tool whose bytes an encoder would change.
const oddTool = `{"name":"find",  "inputSchema":{"z":1.0,"a":[2e1,"\u0041\/"],"type":"object"},"_meta":{},"x":null}`

// stderrBytes is how much is kept of standard error.
const stderrBytes = 4 << 10

// cyclic is a tool whose schema refers to itself.
const cyclic = `{"name":"tree","inputSchema":{"type":"object","$ref":"#/$defs/n","$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}}}}`

// pagesOf holds, for the kinds that answer well, the pages of tools.
var pagesOf = map[string][][]string{
	"plain":    {{oddTool, cyclic}},
	"noise":    {{oddTool}},
	"stderr":   {{oddTool}},
	"pages":    {{oddTool}, {}, {cyclic}},
	"empty":    {{}},
	"twice":    {{oddTool, oddTool, `{"name":"find","description":"Find otherwise."}`}},
	"odd":      {{`{"description":"nameless"}`, `7`, oddTool, `{"name":"list","inputSchema":[]}`}},
	"orphan":   {{oddTool}},
	"stubborn": {{oddTool}},
	"asks":     {{oddTool}},
	"nocap":    {{oddTool}},
	"tells":    {{oddTool, `{"name":"tell","description":"Uses ` + envSecret + `."}`}},
	"environ":  nil, // its tools are the names of its variables
	"modern":   {{oddTool}},
}

// serve plays a server of a kind on standard input and output.
func serve(kind string) {
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) {
		fmt.Fprintf(out, format+"\n", args...)
		_ = out.Flush()
	}
	switch kind {
	case "exit":
		fmt.Fprintf(os.Stderr, "\x1b[31mno config for %s and %s\x1b[0m\n", os.Getenv("API_KEY"), argSecret)
		os.Exit(3)
	case "noise":
		say("Welcome!\n\n[1,2]\n{}\n{\"level\":\"info\"}\n{broken\n\xff\xfe\n7")
	case "stderr":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("flood ", 10))
		}
	case "asks":
		say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
		say(`{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{}}`)
		say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		say(`{"jsonrpc":"2.0","id":77,"result":{}}`)
	case "deaf":
		for i := range 20_000 {
			say(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
		}
		stubborn()
	case "trail":
		fmt.Fprintf(os.Stderr, "%s%s\nlost\n", envSecret, strings.Repeat("x", stderrBytes-len("\nlost\n")-4))
		os.Exit(3)
	case "babble":
		for {
			say("%s", strings.Repeat("noise ", 10_000))
		}
	case "orphan":
		child := exec.Command(os.Args[0], "--")
		child.Env = append(os.Environ(), serverVariable+"=hang")
		if child.Start() != nil {
			os.Exit(4)
		}
		fmt.Fprintf(os.Stderr, "child %d\n", child.Process.Pid)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor string `json:"cursor"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil {
			continue
		}
		answer := func(result string) { say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result) }
		fault := func(code int, text string) {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, request.ID, code, text)
		}
		if !shakeHands(kind, request.Method, answer, fault) {
			list(kind, request.Params.Cursor, answer, fault, say)
		}
	}
	if kind == "hang" || kind == "stubborn" {
		stubborn()
	}
}

// shakeHands answers the handshake; false for other requests.
func shakeHands(kind, method string, answer func(string), fault func(int, string)) bool {
	const hello = `"capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}`
	switch method {
	case "initialize":
		switch kind {
		case "hang":
			stubborn()
		case "refuse":
			fault(-32000, "give me "+envSecret)
		case "modern":
			fault(-32022, "initialize is not spoken here")
		case "nocap":
			answer(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"hostile","version":"1"}}`)
		case "future":
			answer(`{"protocolVersion":"` + envSecret + `",` + hello + `}`)
		default:
			answer(`{"protocolVersion":"2025-06-18",` + hello + `}`)
		}
	case "server/discover":
		if kind == "modern" {
			answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],` + hello + `}`)
		} else {
			fault(-32601, "Method not found")
		}
	default:
		return false
	}
	return true
}

// list answers tools/list.
func list(kind, cursor string, answer func(string), fault func(int, string), say func(string, ...any)) {
	switch kind {
	case "hang-list":
		stubborn()
	case "endless":
		answer(fmt.Sprintf(`{"tools":[%s],"nextCursor":"%sx"}`, oddTool, cursor))
	case "circle":
		answer(fmt.Sprintf(`{"tools":[%s],"nextCursor":"again"}`, oddTool))
	case "crowd":
		answer(`{"tools":[` + strings.Repeat(oddTool+",", mcpserver.ToolsMax) + oddTool + `]}`)
	case "huge":
		answer(`{"tools":[{"name":"huge","description":"` + strings.Repeat("x", 50<<20) + `"}]}`)
	case "latin":
		answer("{\"tools\":[{\"name\":\"caf\xe9\"}]}")
	case "deep":
		answer(`{"tools":[{"name":"deep","inputSchema":` + strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000) + `}]}`)
	case "wrong":
		answer(`{"tools":{"name":"find"}}`)
	case "cut":
		say("%s", `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"fi`)
		os.Exit(0)
	case "none":
		fault(-32601, "Method not found")
	case "fault":
		fault(-32603, "out of luck")
	case "environ":
		var tools []string
		for _, v := range os.Environ() {
			name, _, _ := strings.Cut(v, "=")
			tools = append(tools, fmt.Sprintf(`{"name":%q}`, name))
		}
		answer(`{"tools":[` + strings.Join(tools, ",") + `]}`)
	default:
		pages := pagesOf[kind]
		next := ""
		if len(cursor)+1 < len(pages) {
			next = fmt.Sprintf(`,"nextCursor":"%sx"`, cursor)
		}
		answer(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + strings.Join(pages[len(cursor)], ",") + "]" + next + "}")
	}
}

// stubborn does nothing for longer than any test takes.
func stubborn() { time.Sleep(10 * time.Minute) }
