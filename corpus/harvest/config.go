package harvest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Bounds on a configuration.
const (
	configMax  = 1 << 20 // bytes
	serversMax = 256
	labelMax   = 128 // bytes of a server's label
)

// Server is one entry of a configuration: a command to start, or an address to
// call.
type Server struct {
	Label   string
	Command string
	Args    []string
	Env     []Variable
	Dir     string // working directory; empty for the caller's
	URL     string // empty for a command
	Headers []Variable
}

// Variable is an environment variable, or a header of a request.
type Variable struct{ Name, Value string }

// Transport names how the server is spoken to: stdio or http.
func (s Server) Transport() string {
	if s.URL != "" {
		return "http"
	}
	return "stdio"
}

// runners are the programs that fetch a package and run it, with the words that
// stand ahead of the package's name.
var runners = map[string][]string{
	"npx": nil, "bunx": nil, "uvx": nil, "pipx": {"run"}, "npm": {"exec"}, "pnpm": {"dlx"}, "yarn": {"dlx"}, "deno": {"run"},
}

// Package says where the server comes from: the package that npx, uvx and their
// like are told to run, the name of any other command, or the host of an address.
// No other argument appears in it, since arguments hold secrets.
func (s Server) Package() string {
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil {
			return ""
		}
		return u.Host
	}
	command := path.Base(filepath.ToSlash(s.Command))
	ahead, runs := runners[strings.TrimSuffix(command, ".cmd")]
	if !runs {
		return command
	}
	for _, arg := range s.Args {
		if !strings.HasPrefix(arg, "-") && !slices.Contains(ahead, arg) {
			return arg
		}
	}
	return command
}

// Config is a configuration that was read.
type Config struct {
	// Name is the file's, without its extension.
	Name    string
	Servers []Server // in the order of the file; those switched off are left out
	// Notes tell what was passed over, one sentence each.
	Notes []string
}

const configHint = `expected {"mcpServers": {"NAME": {"command": …} or {"url": …}}}, or {"mcp_servers": [{"name": …, "command": …}]}`

// ReadConfig reads the configuration of an MCP client, in either of its forms: an
// object of servers by name, {"mcpServers": {NAME: {…}}}, or a list,
// {"mcp_servers": [{"name": NAME, …}]}. Reading is strict; errors name file and
// field and end in a hint.
func ReadConfig(file string) (*Config, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	top, err := rawjson.Object(data)
	if err != nil {
		line, column := rawjson.Position(data, rawjson.ErrorOffset(err, data))
		return nil, fmt.Errorf("%s:%d:%d: %w\nhint: %s", file, line, column, err, configHint)
	}
	c := &Config{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}
	if len(top) != 1 || top[0].Key != "mcpServers" && top[0].Key != "mcp_servers" {
		return nil, fmt.Errorf("%s: the fields at the top are %s, want mcpServers or mcp_servers alone\nhint: %s", file, keys(top), configHint)
	}
	entries, err := entriesOf(top[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(entries) > serversMax {
		return nil, fmt.Errorf("%s: %d servers, %d at most\nhint: split the file", file, len(entries), serversMax)
	}
	seen := make(map[string]bool)
	for _, e := range entries {
		s, enabled, err := e.server()
		if err == nil && seen[s.Label] {
			err = fmt.Errorf("%s: the name %q is given twice\nhint: name each server once", e.at, s.Label)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		seen[s.Label] = true
		if !enabled {
			c.Notes = append(c.Notes, fmt.Sprintf("server %s: passed over, since it is disabled", s.Label))
			continue
		}
		c.Servers = append(c.Servers, s)
	}
	if len(c.Servers) == 0 {
		return nil, fmt.Errorf("%s: no servers to ask\nhint: %s", file, configHint)
	}
	return c, nil
}

// readFile reads a regular file of UTF-8 text within the bound.
func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = readBounded(file)
	}
	if err != nil {
		var atPath *fs.PathError
		if errors.As(err, &atPath) {
			err = atPath.Err
		}
		return nil, fmt.Errorf("%s: %w\nhint: name the mcp.json of your client", file, err)
	}
	return data, nil
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, configMax+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > configMax:
		return nil, fmt.Errorf("larger than %d bytes", configMax)
	case !utf8.Valid(data):
		return nil, errors.New("not UTF-8")
	}
	return []byte(strings.TrimPrefix(string(data), "\ufeff")), nil
}

// keys words the first keys of an object for an error.
func keys(fields []rawjson.Field) string {
	const most = 5
	var names []string
	for _, f := range fields[:min(len(fields), most)] {
		names = append(names, fmt.Sprintf("%.40q", f.Key))
	}
	if len(fields) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// entry is one server of a configuration, in JSON.
type entry struct {
	at     string // where it stands, for errors
	label  string // from its key; empty in the list form
	listed bool   // in the list form, where an entry names itself
	fields []rawjson.Field
}

// entriesOf splits the servers of either form.
func entriesOf(top rawjson.Field) (entries []entry, err error) {
	if top.Key == "mcp_servers" {
		list, err := rawjson.Array(top.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w\nhint: %s", top.Key, err, configHint)
		}
		for i, raw := range list {
			e := entry{at: fmt.Sprintf("%s[%d]", top.Key, i), listed: true}
			if e.fields, err = entryFields(e.at, raw); err != nil {
				return nil, err
			}
			entries = append(entries, e)
		}
		return entries, nil
	}
	servers, err := rawjson.Object(top.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\nhint: %s", top.Key, err, configHint)
	}
	for _, f := range servers {
		e := entry{at: fmt.Sprintf("%s.%.80s", top.Key, f.Key), label: f.Key}
		if e.fields, err = entryFields(e.at, f.Value); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func entryFields(at string, raw json.RawMessage) ([]rawjson.Field, error) {
	fields, err := rawjson.Object(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\nhint: %s", at, err, configHint)
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.Key] {
			return nil, fmt.Errorf("%s: %.40q is given twice\nhint: keep one of the two", at, f.Key)
		}
		seen[f.Key] = true
	}
	return fields, nil
}

// entryKeys are the fields of an entry. Those of the second list are other
// clients' and say nothing about listing tools.
var (
	entryKeys     = []string{"command", "args", "env", "cwd", "url", "headers", "type", "transport", "disabled", "allowed_directories"}
	passedOverKey = []string{"allowed_directories", "autoApprove", "alwaysAllow", "description", "disabledTools", "timeout"}
)

// server reads the entry.
func (e entry) server() (s Server, enabled bool, err error) {
	s.Label, enabled = e.label, true
	var transport string
	for _, f := range e.fields {
		var fault error
		switch f.Key {
		case "command":
			s.Command, fault = text(f.Value)
		case "args":
			s.Args, fault = texts(f.Value)
		case "env":
			s.Env, fault = variables(f.Value)
		case "cwd":
			s.Dir, fault = text(f.Value)
		case "url":
			s.URL, fault = text(f.Value)
		case "headers":
			s.Headers, fault = variables(f.Value)
		case "type", "transport":
			transport, fault = text(f.Value)
		case "disabled":
			var disabled bool
			fault = decode(f.Value, &disabled, "true or false")
			enabled = !disabled
		default:
			if e.listed && f.Key == "name" {
				s.Label, fault = text(f.Value)
			} else if !slices.Contains(passedOverKey, f.Key) {
				return s, false, fmt.Errorf("%s: unknown field %.40q\nhint: %s the fields of a server are %s", e.at, f.Key, nearest.Hint(f.Key, entryKeys), strings.Join(entryKeys, ", "))
			}
		}
		if fault != nil {
			return s, false, fmt.Errorf("%s.%s: %w", e.at, f.Key, fault)
		}
	}
	return s, enabled, e.check(s, transport)
}

// check refuses an entry that cannot be asked.
func (e entry) check(s Server, transport string) error {
	fault := func(hint, format string, args ...any) error {
		return fmt.Errorf("%s: %s\nhint: %s", e.at, fmt.Sprintf(format, args...), hint)
	}
	switch {
	case s.Label == "":
		return fault("give every server a name", "a server without a name")
	case len(s.Label) > labelMax || strings.IndexFunc(s.Label, unicode.IsControl) >= 0:
		return fault("choose another name", "the name is longer than %d bytes, or has control characters", labelMax)
	case s.Command == "" && s.URL == "":
		return fault("add one of the two", "neither command nor url")
	case s.Command != "" && s.URL != "":
		return fault("keep one of the two", "both command and url")
	case s.URL != "" && (len(s.Args) > 0 || len(s.Env) > 0 || s.Dir != ""):
		return fault("those belong to a command: leave them out", "a url with args, env or cwd")
	case s.URL == "" && len(s.Headers) > 0:
		return fault("those belong to a url: leave them out", "a command with headers")
	}
	switch transport {
	case "":
	case "stdio":
		if s.URL != "" {
			return fault("write http, or leave it out", "a url with the transport stdio")
		}
	case "http", "streamable-http", "streamable_http", "streamableHttp":
		if s.URL == "" {
			return fault("write stdio, or leave it out", "a command with the transport %s", transport)
		}
	default:
		return fault("the transports are stdio and http (streamable HTTP); servers that speak sse alone cannot be asked", "unknown transport %.40q", transport)
	}
	if s.URL != "" {
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fault("write it as https://HOST/PATH", "url is no address of a server")
		}
	}
	return nil
}

func decode(raw json.RawMessage, into any, want string) error {
	if rawjson.Kind(raw) == "null" || json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("it is not %s\nhint: write %s, or leave it out", want, want)
	}
	return nil
}

func text(raw json.RawMessage) (s string, err error) {
	const want = "a text that is not empty"
	if err = decode(raw, &s, want); err == nil && (s == "" || strings.ContainsRune(s, 0)) {
		err = decode(json.RawMessage("null"), nil, want)
	}
	return s, err
}

func texts(raw json.RawMessage) (list []string, err error) {
	const want = "a list of texts"
	err = decode(raw, &list, want)
	if err == nil && (slices.ContainsFunc(list, func(s string) bool { return strings.ContainsRune(s, 0) }) || hasNull(raw)) {
		err = decode(json.RawMessage("null"), nil, want)
	}
	return list, err
}

func hasNull(list json.RawMessage) bool {
	elements, err := rawjson.Array(list)
	return err != nil || slices.ContainsFunc(elements, func(e json.RawMessage) bool { return rawjson.Kind(e) != "string" })
}

// variables reads an object of texts.
func variables(raw json.RawMessage) (list []Variable, err error) {
	const want = `an object of texts, such as {"NAME": "value"}`
	fields, err := rawjson.Object(raw)
	if err != nil {
		return nil, decode(json.RawMessage("null"), nil, want)
	}
	seen := make(map[string]bool)
	for _, f := range fields {
		value, ok := rawjson.Text(f.Value)
		if !ok || f.Key == "" || seen[f.Key] || strings.ContainsAny(f.Key, "=\x00\r\n") || strings.ContainsRune(value, 0) {
			return nil, decode(json.RawMessage("null"), nil, want)
		}
		seen[f.Key] = true
		list = append(list, Variable{f.Key, value})
	}
	return list, nil
}
