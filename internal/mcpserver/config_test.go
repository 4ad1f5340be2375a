package mcpserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func noEnvironment(string) (string, bool) { return "", false }

// environment has the variables KEY and EMPTY.
func environment(name string) (string, bool) {
	value, ok := map[string]string{"KEY": "sk-taken-0123", "EMPTY": ""}[name]
	return value, ok
}

func TestReadConfig(t *testing.T) {
	const byName = "\ufeff" + `{"mcpServers": {
		"b": {"type": "stdio", "command": "npx", "args": ["-y", "pkg@1"], "env": {"K": "v", "J": ""}, "cwd": "dir", "autoApprove": [], "timeout": 5},
		"a": {"transport": "streamable-http", "url": "https://h:1/p?key=k", "headers": {"Authorization": "Bearer t"}},
		"off": {"command": "x", "disabled": true}
	}}`
	want := []Server{
		{Label: "b", Command: "npx", Args: []string{"-y", "pkg@1"}, Env: []Variable{{"K", "v"}, {"J", ""}}, Dir: "dir"},
		{Label: "a", URL: "https://h:1/p?key=k", Headers: []Variable{{"Authorization", "Bearer t"}}},
	}
	c, err := ReadConfig(writeConfig(t, byName), noEnvironment)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Config{Name: "mine", Servers: want, Notes: []string{
		"server off: passed over, since it is switched off",
		`fields of servers passed over: "autoApprove", "timeout"; a server is asked for all its tools`,
	}}, c); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
	const list = `{"mcp_servers": [{"name": "files", "transport": "stdio", "command": "srv", "args": ["."], "allowed_directories": ["."]}]}`
	c, err = ReadConfig(writeConfig(t, list), noEnvironment)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Server{{Label: "files", Command: "srv", Args: []string{"."}, Directories: []string{"."}}}, c.Servers); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

// TestConfigsOfClients reads files as clients write them.
func TestConfigsOfClients(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Server
		notes      []string
	}{
		{"Claude Desktop", `{"globalShortcut": "", "mcpServers": {"a": {"command": "x"}}, "preferences": {}}`,
			[]Server{{Label: "a", Command: "x"}}, []string{`passed over at the top of the file: "globalShortcut", "preferences"`}},
		{"VS Code", `{
			// what is asked for when a server starts
			"inputs": [{"type": "promptString", "id": "k"}, /* one more */],
			"servers": {
				"a": {"type": "http", "url": "https://h/p//q", "gallery": true,},
				"b": {"type": "stdio", "command": "x", "args": ["/* a, ] \\\"// b"], "envFile": ".env"}, // the last
			},
		}`, []Server{{Label: "a", URL: "https://h/p//q"}, {Label: "b", Command: "x", Args: []string{`/* a, ] \"// b`}}},
			[]string{`passed over at the top of the file: "inputs"`, `fields of servers passed over: "gallery", "envFile"; a server is asked for all its tools`}},
		{"Cursor", `{"mcpServers": {"a": {"command": "x", "args": ["--key", "${env:KEY}"], "env": {"A": "${KEY}/${KEY}", "B": "${NONE:-no}", "C": "$KEY ${1} ${EMPTY}"}}}}`,
			[]Server{{Label: "a", Command: "x", Args: []string{"--key", "sk-taken-0123"}, Env: []Variable{{"A", "sk-taken-0123/sk-taken-0123"}, {"B", "no"}, {"C", "$KEY ${1} "}},
				Taken: []string{"sk-taken-0123", "sk-taken-0123", "sk-taken-0123", ""}}}, nil},
		{"an address", `{"mcpServers": {"a": {"serverUrl": "https://h/${KEY}", "headers": {"A": "Bearer ${KEY}"}}}}`,
			[]Server{{Label: "a", URL: "https://h/sk-taken-0123", Headers: []Variable{{"A", "Bearer sk-taken-0123"}}, Taken: []string{"sk-taken-0123", "sk-taken-0123"}}}, nil},
		{"what is missing", `{"mcpServers": {"a": {"url": "${NONE}", "headers": {"A": "${NEITHER}"}}, "b": {"command": "x", "env": {"K": "${input:k}"}}, "c": {"type": "sse", "url": "https://h"}, "d": {"command": "${NONE}", "disabled": true}}}`,
			[]Server{
				{Label: "a", URL: "${NONE}", Headers: []Variable{{"A", "${NEITHER}"}}, Fault: "its entry names the environment variable NONE, which is not set"},
				{Label: "b", Command: "x", Env: []Variable{{"K", "${input:k}"}}, Fault: "its entry asks for the input k, which nobody is here to type; write ${NAME} and set that variable"},
				{Label: "c", URL: "https://h", Fault: "its entry says sse, a transport that MCP gave up for streamable HTTP; if the server speaks that too, give its address with the type http"},
			}, []string{"server d: passed over, since it is switched off"}},
	} {
		got, err := ReadConfig(writeConfig(t, c.text), environment)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(&Config{Name: "mine", Servers: c.want, Notes: c.notes}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestPlaces: the folders that clients know by name are no secrets.
func TestPlaces(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home folder:", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadConfig(writeConfig(t, `{"servers": {"a": {"command": "${userHome}/x", "cwd": "${workspaceFolder}"}}}`), noEnvironment)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Server{{Label: "a", Command: home + "/x", Dir: here}}, c.Servers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBadConfigs(t *testing.T) {
	const entry = `{"mcpServers": {"a": %}}`
	for _, c := range []struct{ text, fault string }{
		{``, ":1:1: unexpected end of JSON input"},
		{"{\n  \"mcpServers\": {\"a\" 1}}", `:2:22: invalid character '1' after object key`},
		{`[]`, "want a JSON object, got array"},
		{`{}`, ": no field mcpServers at the top; there are none"},
		{`{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}`, `: no field mcpServers at the top; there are "a", "b", "c", "d", "e" and 1 more`},
		{`{"servers": {}, "mcpServers": {}}`, ": servers stand under servers and under mcpServers"},
		{`{"mcpServers": {}, "mcpServers": {}}`, ": servers stand under mcpServers and under mcpServers"},
		{`{"servers": []}`, "servers: want a JSON object, got array"},
		{"{\n // one\n /* two\n */ \"mcpServers\": {\"a\" 1}}", `:4:24: invalid character '1' after object key`},
		{`{"mcpServers": {} /* never ends`, ":1:32: unexpected end of JSON input"},
		{`{"mcpServers": {}}`, ": no servers to ask"},
		{`{"mcpServers": {"a": {"command": "x", "disabled": true}}}`, ": no servers to ask"},
		{`{"mcpServers": []}`, "mcpServers: want a JSON object, got array"},
		{`{"mcp_servers": {}}`, "mcp_servers: want a JSON array, got object"},
		{`{"mcp_servers": [7]}`, "mcp_servers[0]: want a JSON object, got number"},
		{`{"mcp_servers": [{"command": "x"}]}`, "mcp_servers[0]: a server without a name"},
		{`{"mcp_servers": [{"name": "a", "command": "x"}, {"name": "a", "command": "x"}]}`, `mcp_servers[1]: the name "a" is given twice`},
		{`{"mcpServers": {"": {"command": "x"}}}`, "mcpServers.: a server without a name"},
		{`{"mcpServers": {"a\n": {"command": "x"}}}`, "control characters"},
		{`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "x"}}}`, `mcpServers.a: the name "a" is given twice`},
		{strings.Replace(entry, "%", `{"comand": "x"}`, 1), `mcpServers.a: unknown field "comand"` + "\nhint: did you mean \"command\"?"},
		{strings.Replace(entry, "%", `{"url": "http://h", "httpUrl": "http://i"}`, 1), "mcpServers.a.httpUrl: the address is given twice"},
		{strings.Replace(entry, "%", `{"command": "x", "command": "y"}`, 1), `mcpServers.a: "command" is given twice`},
		{strings.Replace(entry, "%", `{}`, 1), "mcpServers.a: neither command nor url"},
		{strings.Replace(entry, "%", `{"command": "x", "url": "http://h"}`, 1), "both command and url"},
		{strings.Replace(entry, "%", `{"url": "http://h", "args": ["a"]}`, 1), "a url with args, env or cwd"},
		{strings.Replace(entry, "%", `{"command": "x", "headers": {"a": "b"}}`, 1), "a command with headers"},
		{strings.Replace(entry, "%", `{"command": "x", "type": "http"}`, 1), "a command with the transport http"},
		{strings.Replace(entry, "%", `{"url": "http://h", "type": "stdio"}`, 1), "a url with the transport stdio"},
		{strings.Replace(entry, "%", `{"url": "http://h", "type": "grpc"}`, 1), `unknown transport "grpc"`},
		{strings.Replace(entry, "%", `{"command": "x", "enabled": false}`, 1), ": no servers to ask"},
		{strings.Replace(entry, "%", `{"url": "ftp://user:secret@h"}`, 1), "url is no address of a server"},
		{strings.Replace(entry, "%", `{"url": "h"}`, 1), "url is no address of a server"},
		{strings.Replace(entry, "%", `{"command": ""}`, 1), "mcpServers.a.command: it is not a text that is not empty"},
		{strings.Replace(entry, "%", `{"command": 7}`, 1), "mcpServers.a.command: it is not a text that is not empty"},
		{strings.Replace(entry, "%", `{"command": "x", "args": "a"}`, 1), "mcpServers.a.args: it is not a list of texts"},
		{strings.Replace(entry, "%", `{"command": "x", "args": [null]}`, 1), "mcpServers.a.args: it is not a list of texts"},
		{strings.Replace(entry, "%", `{"command": "x", "env": {"K": 1}}`, 1), "mcpServers.a.env: it is not an object of texts"},
		{strings.Replace(entry, "%", `{"command": "x", "env": {"K=": "secret"}}`, 1), "mcpServers.a.env: it is not an object of texts"},
		{strings.Replace(entry, "%", `{"command": "x", "disabled": "no"}`, 1), "mcpServers.a.disabled: it is not true or false"},
		{"{\"mcpServers\": \"\xe9\"}", ": not UTF-8"},
		{strings.Repeat(" ", configMax+1), ": larger than 1048576 bytes"},
	} {
		file := writeConfig(t, c.text)
		_, err := ReadConfig(file, noEnvironment)
		if err == nil || !strings.HasPrefix(err.Error(), file+":") || !strings.Contains(err.Error(), c.fault) || strings.Count(err.Error(), "\nhint: ") != 1 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.60s: error %v, want %s", c.text, err, c.fault)
		}
	}
	for _, file := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := ReadConfig(file, noEnvironment); err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), "\nhint: name the mcp.json") {
			t.Errorf("%s: error %v", file, err)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}}}}`)
	f.Add(`{"servers": {"a": {"command": "${KEY}", "args": ["${NONE:-x}", /* y */ "${input:z}"],},},} // end`)
	f.Add(`{"mcp_servers": [{"name": "a", "url": "https://h/p", "headers": {"K": "v"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadConfig(writeConfig(t, text), environment)
		if err != nil {
			if strings.Count(err.Error(), "\nhint: ") != 1 {
				t.Errorf("error %v", err)
			}
			return
		}
		for _, s := range c.Servers {
			if s.Label == "" || (s.Command == "") == (s.URL == "") {
				t.Errorf("server %+v", s)
			}
			_, _ = s.Package(), s.Secrets()
		}
	})
}

func TestPackage(t *testing.T) {
	for _, c := range []struct{ command, args, want string }{
		{"npx", "-y @scope/pkg@1 --token t", "@scope/pkg@1"},
		{"/usr/bin/npx", "-y pkg", "pkg"},
		{"npx.cmd", "pkg", "pkg"},
		{"npm", "exec -y pkg", "pkg"},
		{"uvx", "pkg dir", "pkg"},
		{"npx", "-y", "npx"},
		{"npx", "--api-key sk-0 --registry https://u:pw@h/sk-1 pkg", "pkg"},
		{"uvx", "--from git+https://sk-2@h/r srv", "srv"},
		{"npx", "-y a-long-name-with-2-digits", "a-long-name-with-2-digits"},
		{"uvx", "mcp-server[extra]==1.2", "mcp-server[extra]==1.2"},
		{"python", "-m server --key k", "python"},
		{"/opt/srv", "", "srv"},
	} {
		if got := (Server{Command: c.command, Args: strings.Fields(c.args)}).Package(); got != c.want {
			t.Errorf("%s %s: package %q, want %q", c.command, c.args, got, c.want)
		}
	}
	if got := (Server{Command: "npx", Args: []string{"sk-taken", "pkg"}, Taken: []string{"", "sk-taken"}}).Package(); got != "pkg" {
		t.Errorf("package %q", got)
	}
	if got := (Server{URL: "https://user:pass@h:1/path?key=k"}).Package(); got != "h:1" {
		t.Errorf("package %q", got)
	}
}

func TestSecrets(t *testing.T) {
	s := Server{
		Command: "npx",
		Args:    []string{"pkg", "--token", "arg-one", "--api-key=arg-two", "--dir", "plain", "--header", "Authorization: Bearer arg-three", "https://h/path-four?q=query-five"},
		Env:     []Variable{{"K", "env-six and env-seven"}, {"SHORT", "abc"}},
		Headers: []Variable{{"Authorization", "Bearer head-eight"}},
		URL:     "https://nine-user:ten-pass@host/eleven?k=twelve%2Fdone#thirteen",
	}
	const text = "pkg arg-one arg-two plain arg-three path-four query-five env-six env-seven abc head-eight nine-user ten-pass host eleven twelve%2Fdone twelve/done thirteen"
	got := s.Secrets().Redact(text)
	for _, secret := range []string{"arg-one", "arg-two", "arg-three", "path-four", "query-five", "env-six", "env-seven", "head-eight", "nine-user", "ten-pass", "eleven", "twelve", "thirteen"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s is shown: %s", secret, got)
		}
	}
	for _, word := range []string{"pkg", "plain", "abc", "host"} {
		if !strings.Contains(got, word) {
			t.Errorf("%s is struck out: %s", word, got)
		}
	}
	long := strings.Repeat("é", 300)
	if got, want := Secrets(nil).Clean("\x1b[31ma\tb\x00c\x1b[0m\xff\r\n"+long), "a b c\ufffd "+long[:2*(lineMax-7)]+"…"; got != want {
		t.Errorf("clean %q, want %q", got, want)
	}
	// Half a secret is not found: neither colours nor the end of a line may cut one.
	if got := s.Secrets().Clean(long[:2*(lineMax-3)] + "arg\x1b[1m-one"); strings.Contains(got, "arg") {
		t.Errorf("clean %q", got)
	}
}

// TestKeyIn tells what can be nothing but a secret from plain words.
func TestKeyIn(t *testing.T) {
	s := Server{
		Args:    []string{"-e", "TOKEN=passphrase", "-e", "MODE=verbose", "-H", "X-Any: in-header-one", "bare_key_0123456789", "--port=8080", "https://u:in-address@h/db"},
		Env:     []Variable{{"LOG", "information"}, {"API_KEY", "words-alone"}, {"PLAIN", "sk012345"}},
		Headers: []Variable{{"Accept", "application/json"}, {"Authorization", "Bearer abc"}},
		Taken:   []string{"taken-away"},
	}
	l := s.Secrets()
	for _, text := range []string{"passphrase", "in-header-one", "bare_key_0123456789", "in-address", "words-alone", "sk012345", "taken-away"} {
		if !l.KeyIn("a " + text + " z") {
			t.Errorf("%s is not found", text)
		}
	}
	for _, text := range []string{"verbose", "8080", "information", "application/json", "Bearer", "db"} {
		if l.KeyIn(text) {
			t.Errorf("%s counts as a key", text)
		}
	}
}

func TestTail(t *testing.T) {
	var short, cut, one tail
	_, _ = short.Write([]byte("a\n\nb"))
	if diff := cmp.Diff([]string{"a\n", "b"}, short.lines()); diff != "" {
		t.Errorf("short (-want +got):\n%s", diff)
	}
	_, _ = cut.Write([]byte("secret" + strings.Repeat("x", stderrBytes-7) + "\n"))
	_, _ = cut.Write([]byte("b\n"))
	if diff := cmp.Diff([]string{"b\n"}, cut.lines()); diff != "" {
		t.Errorf("cut (-want +got):\n%s", diff)
	}
	_, _ = one.Write([]byte(strings.Repeat("x", stderrBytes+1)))
	if lines := one.lines(); len(lines) > 0 {
		t.Errorf("a line that is not whole is shown: %q", lines)
	}
}
