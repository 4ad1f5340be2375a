package mcpserver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

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
	// Directories are the folders that the server may look into, as the entry has
	// them under allowed_directories.
	Directories []string
	// Taken are the values that ${NAME} stood for, which are secrets.
	Taken []string
	// Fault says why the server cannot be asked; empty if it can. It is the
	// server's failure and no other's.
	Fault string
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

// Config is a configuration that was read.
type Config struct {
	// Name is the file's, without its extension.
	Name    string
	Servers []Server // in the order of the file; those switched off are left out
	// Notes tell what was passed over, one sentence each.
	Notes []string
}

const configHint = `expected {"mcpServers": {"NAME": {"command": …} or {"url": …}}}, the same under "servers", or {"mcp_servers": [{"name": …, "command": …}]}`

// The fields at the top that hold servers: by name, as most clients have it and as
// VS Code has it, and in a list.
const (
	keyByName = "mcpServers"
	keyVSCode = "servers"
	keyList   = "mcp_servers"
)

// ReadConfig reads the configuration of an MCP client: an object of servers by
// name, {"mcpServers": {NAME: {…}}} or under "servers", or a list,
// {"mcp_servers": [{"name": NAME, …}]}. Comments and trailing commas may stand in
// it. What else a client keeps at the top is passed over with a note. In a server,
// fields of other clients are passed over, with a note, and those that nobody
// knows are refused. ${NAME} and ${env:NAME} are taken from environ, such as
// os.LookupEnv; ${NAME:-TEXT} is TEXT where there is none. Errors name file and
// field and end in a hint.
func ReadConfig(file string, environ func(string) (string, bool)) (*Config, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return ParseConfig(file, data, environ)
}

// ParseConfig reads the text of such a file.
func ParseConfig(file string, data []byte, environ func(string) (string, bool)) (*Config, error) {
	data = withoutComments(data)
	top, err := rawjson.Object(data)
	if err != nil {
		line, column := rawjson.Position(data, rawjson.ErrorOffset(err, data))
		return nil, fmt.Errorf("%s:%d:%d: %w\nhint: %s", file, line, column, err, configHint)
	}
	c := &Config{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}
	servers, err := c.top(top)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	entries, err := entriesOf(servers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(entries) > serversMax {
		return nil, fmt.Errorf("%s: %d servers, %d at most\nhint: split the file", file, len(entries), serversMax)
	}
	if err := c.add(entries, environ); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(c.Servers) == 0 {
		return nil, fmt.Errorf("%s: no servers to ask\nhint: %s", file, configHint)
	}
	return c, nil
}

// top finds the field that holds the servers, and notes the others.
func (c *Config) top(fields []rawjson.Field) (servers rawjson.Field, err error) {
	var others []string
	for _, f := range fields {
		switch {
		case f.Key != keyByName && f.Key != keyVSCode && f.Key != keyList:
			others = append(others, f.Key)
		case servers.Key != "":
			return servers, fmt.Errorf("servers stand under %s and under %s\nhint: keep one of the two", servers.Key, f.Key)
		default:
			servers = f
		}
	}
	if servers.Key == "" {
		found := "there are none"
		if len(others) > 0 {
			found = "there are " + keys(others)
		}
		return servers, fmt.Errorf("no field mcpServers at the top; %s\nhint: %s", found, configHint)
	}
	if len(others) > 0 {
		c.Notes = append(c.Notes, "passed over at the top of the file: "+keys(others))
	}
	return servers, nil
}

// add reads the entries.
func (c *Config) add(entries []entry, environ func(string) (string, bool)) error {
	seen := make(map[string]bool)
	var foreign []string
	for _, e := range entries {
		s, enabled, err := e.server(environ)
		if err != nil {
			return err
		}
		if seen[s.Label] {
			return fmt.Errorf("%s: the name %q is given twice\nhint: name each server once", e.at, s.Label)
		}
		seen[s.Label] = true
		for _, f := range e.fields {
			if slices.Contains(foreignKeys, f.Key) && !slices.Contains(foreign, f.Key) {
				foreign = append(foreign, f.Key)
			}
		}
		if !enabled {
			c.Notes = append(c.Notes, fmt.Sprintf("server %s: passed over, since it is switched off", s.Label))
			continue
		}
		c.Servers = append(c.Servers, s)
	}
	if len(foreign) > 0 {
		c.Notes = append(c.Notes, "fields of servers passed over: "+keys(foreign)+"; a server is asked for all its tools")
	}
	return nil
}

// keys words the first names of fields.
func keys(names []string) string {
	const most = 5
	var words []string
	for _, name := range names[:min(len(names), most)] {
		words = append(words, fmt.Sprintf("%.40q", name))
	}
	text := strings.Join(words, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
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
