package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// entry is one server of a configuration, in JSON.
type entry struct {
	at     string // where it stands, for errors
	label  string // from its key; empty in the list form
	listed bool   // in the list form, where an entry names itself
	fields []rawjson.Field
}

// entriesOf splits the servers of either form.
func entriesOf(top rawjson.Field) (entries []entry, err error) {
	if top.Key == keyList {
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

// The fields of an entry, and those that other clients put there.
var (
	entryKeys   = []string{"command", "args", "env", "cwd", "url", "headers", "type", "transport", "allowed_directories", "disabled"}
	foreignKeys = []string{
		"alwaysAllow", "auth", "authProviderType", "autoApprove", "autoStart", "description", "dev", "disabledTools", "enabledTools",
		"envFile", "excludeTools", "gallery", "headersHelper", "icon", "iconPath", "id", "includeTools", "metadata", "oauth", "provider", "sandbox",
		"startup_timeout_sec", "timeout", "tool_timeout_sec", "tools", "trust", "version",
	}
)

// server reads the entry. Text that holds ${NAME} is completed.
func (e entry) server(environ func(string) (string, bool)) (s Server, enabled bool, err error) {
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
		case "url", "httpUrl", "serverUrl":
			if s.URL != "" {
				fault = errors.New("the address is given twice\nhint: keep one of the two")
				break
			}
			s.URL, fault = text(f.Value)
		case "headers":
			s.Headers, fault = variables(f.Value)
		case "allowed_directories":
			s.Directories, fault = texts(f.Value)
		case "type", "transport":
			transport, fault = text(f.Value)
		case "disabled", "enabled":
			var value bool
			fault = decode(f.Value, &value, "true or false")
			enabled = enabled && value == (f.Key == "enabled")
		case "name":
			if e.listed {
				s.Label, fault = text(f.Value)
			}
		default:
			if !slices.Contains(foreignKeys, f.Key) {
				return s, false, fmt.Errorf("%s: unknown field %.40q\nhint: %s The fields of a server are %s", e.at, f.Key, nearest.Hint(f.Key, entryKeys), strings.Join(entryKeys, ", "))
			}
		}
		if fault != nil {
			return s, false, fmt.Errorf("%s.%s: %w", e.at, f.Key, fault)
		}
	}
	if enabled {
		s.expand(environ)
	}
	return s, enabled, e.check(&s, transport)
}

// check refuses an entry that cannot be asked.
func (e entry) check(s *Server, transport string) error {
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
	case "sse":
		s.Fault = "its entry says sse, a transport that MCP gave up for streamable HTTP; if the server speaks that too, give its address with the type http"
	default:
		return fault("the transports are stdio and http (streamable HTTP)", "unknown transport %.40q", transport)
	}
	if s.URL != "" && s.Fault == "" {
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
