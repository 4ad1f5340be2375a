package harvest

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
	c, err := ReadConfig(writeConfig(t, byName))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Config{Name: "mine", Servers: want, Notes: []string{"server off: passed over, since it is disabled"}}, c); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
	const list = `{"mcp_servers": [{"name": "files", "transport": "stdio", "command": "srv", "args": ["."], "allowed_directories": ["."]}]}`
	c, err = ReadConfig(writeConfig(t, list))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Server{{Label: "files", Command: "srv", Args: []string{"."}}}, c.Servers); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestBadConfigs(t *testing.T) {
	const entry = `{"mcpServers": {"a": %}}`
	for _, c := range []struct{ text, fault string }{
		{``, ":1:1: unexpected end of JSON input"},
		{"{\n  \"mcpServers\": {\"a\" 1}}", `:2:22: invalid character '1' after object key`},
		{`[]`, "want a JSON object, got array"},
		{`{}`, "the fields at the top are none, want mcpServers or mcp_servers alone"},
		{`{"servers": {}}`, `the fields at the top are "servers", want mcpServers or mcp_servers alone`},
		{`{"mcpServers": {}, "inputs": []}`, `the fields at the top are "mcpServers", "inputs", want`},
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
		{strings.Replace(entry, "%", `{"name": "b", "command": "x"}`, 1), `mcpServers.a: unknown field "name"`},
		{strings.Replace(entry, "%", `{"command": "x", "command": "y"}`, 1), `mcpServers.a: "command" is given twice`},
		{strings.Replace(entry, "%", `{}`, 1), "mcpServers.a: neither command nor url"},
		{strings.Replace(entry, "%", `{"command": "x", "url": "http://h"}`, 1), "both command and url"},
		{strings.Replace(entry, "%", `{"url": "http://h", "args": ["a"]}`, 1), "a url with args, env or cwd"},
		{strings.Replace(entry, "%", `{"command": "x", "headers": {"a": "b"}}`, 1), "a command with headers"},
		{strings.Replace(entry, "%", `{"command": "x", "type": "http"}`, 1), "a command with the transport http"},
		{strings.Replace(entry, "%", `{"url": "http://h", "type": "stdio"}`, 1), "a url with the transport stdio"},
		{strings.Replace(entry, "%", `{"url": "http://h", "type": "sse"}`, 1), `unknown transport "sse"`},
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
		_, err := ReadConfig(file)
		if err == nil || !strings.HasPrefix(err.Error(), file+":") || !strings.Contains(err.Error(), c.fault) || strings.Count(err.Error(), "\nhint: ") != 1 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.60s: error %v, want %s", c.text, err, c.fault)
		}
	}
	for _, file := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := ReadConfig(file); err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), "\nhint: name the mcp.json") {
			t.Errorf("%s: error %v", file, err)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}}}}`)
	f.Add(`{"mcp_servers": [{"name": "a", "url": "https://h/p", "headers": {"K": "v"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadConfig(writeConfig(t, text))
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
			_, _ = s.Package(), s.secrets()
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
		{"python", "-m server --key k", "python"},
		{"/opt/srv", "", "srv"},
	} {
		if got := (Server{Command: c.command, Args: strings.Fields(c.args)}).Package(); got != c.want {
			t.Errorf("%s %s: package %q, want %q", c.command, c.args, got, c.want)
		}
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
	got := s.secrets().redact(text)
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
	if got := plain("\x1b[31ma\tb\x00c\x1b[0m\xff\r\n" + strings.Repeat("é", 300)); got != "a b c\ufffd "+strings.Repeat("é", lineMax-7)+"…" {
		t.Errorf("plain %q", got)
	}
}
