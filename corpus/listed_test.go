package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answers are what two servers listed: odd white space, escapes, fields that no
// card has, a name twice, a key twice, a schema that refers to itself.
func answers() []Listed {
	return []Listed{
		{Server: "notes", Tools: []json.RawMessage{
			[]byte(`{"name":"find",  "title":"\u0046ind","inputSchema":{"z":1,"a":[1.0, 2e1],"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{}}`),
			[]byte(`{"name":"find","description":"Find by date."}`),
			[]byte("{\n  \"name\": \"add\",\n  \"inputSchema\": {\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"properties\":{\"next\":{\"$ref\":\"#/$defs/n\"}}}},\"title\":1,\"title\":2}\n}"),
		}},
		{Server: "empty"},
		{Server: "NOTES", Tools: []json.RawMessage{[]byte(`{"name":"find","type":"function"}`)}},
	}
}

func writeAnswers(t *testing.T, out string) (*Corpus, []Listed) {
	t.Helper()
	var written []Listed
	c, err := WriteListed(out, "mine", []string{"notes: 'a' 1.0"}, answers(), func(l []Listed) (string, []byte, error) {
		written = l
		return "where.json", []byte("{}\n"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, written
}

// TestWriteListed: what servers listed is in the folder and in the corpus, byte
// for byte.
func TestWriteListed(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	c, written := writeAnswers(t, out)
	again, err := Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if again.SHA256 != c.SHA256 || again.Name != "mine" || len(again.Sources) != 1 || again.Sources[0] != "notes: 'a' 1.0" {
		t.Errorf("read again as %s, %q, %q; written as %s", again.SHA256, again.Name, again.Sources, c.SHA256)
	}
	raw := make(map[string]int)
	for _, tool := range again.Tools {
		if !tool.Builtin {
			raw[string(tool.Raw)]++
		}
	}
	for _, s := range answers() {
		for _, tool := range s.Tools {
			if raw[string(tool)] != 1 {
				t.Errorf("server %s: %d times in the corpus: %s", s.Server, raw[string(tool)], tool)
			}
		}
	}
	if len(raw) != 4 {
		t.Errorf("%d tools, want 4", len(raw))
	}
	if tool, ok := again.Tool("NOTES/find"); !ok || tool.Toolset != "mcp-NOTES" {
		t.Errorf("NOTES/find is there: %v", ok)
	}
	for _, s := range written {
		if len(s.Tools) == 0 {
			if s.File != "" || s.SHA256 != "" {
				t.Errorf("server %s has file %q", s.Server, s.File)
			}
			continue
		}
		data, err := os.ReadFile(filepath.Join(out, s.File))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.SHA256 {
			t.Errorf("server %s: the digest is not its file's", s.Server)
		}
	}
	if strings.EqualFold(written[0].File, written[2].File) {
		t.Errorf("two servers in one file %s", written[0].File)
	}
	if _, err := os.Stat(filepath.Join(out, "where.json")); err != nil {
		t.Error(err)
	}
}

// TestWriteListedRefuses: a folder that is there stays as it is, and a fault
// leaves nothing.
func TestWriteListedRefuses(t *testing.T) {
	dir := t.TempDir()
	none := func([]Listed) (string, []byte, error) { return "x", nil, nil }
	if _, err := WriteListed(dir, "mine", nil, answers(), none); err == nil || !strings.Contains(err.Error(), "file already exists\nhint: ") {
		t.Errorf("error %v", err)
	}
	if _, err := WriteListed(filepath.Join(dir, "out"), "mine", nil, []Listed{{Server: "empty"}}, none); err == nil || !strings.Contains(err.Error(), "no tools found\nhint: ") {
		t.Errorf("error %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCheckListed(t *testing.T) {
	for _, c := range []struct{ tool, fault string }{
		{`{"name":"a"}`, ""},
		{`{"name":"a","inputSchema":null,"x":{"y":1,"y":2}}`, ""},
		{`{"name":"a","inputSchema":[]}`, `tool "a": inputSchema is array, want object`},
		{`{"name":"a","name":"b"}`, `"name" is given twice`},
		{`{"name":""}`, "tool without a name"},
		{`{"description":"a"}`, "tool without a name"},
		{`{"name":"a","description":7}`, "description is number, want string"},
		{`7`, "a tool is number, want object"},
		{`{`, "invalid JSON"},
		{"{\"name\":\"\xe9\"}", "invalid UTF-8"},
	} {
		err := CheckListed("notes", []byte(c.tool))
		switch {
		case c.fault == "" && err != nil:
			t.Errorf("%s: %v", c.tool, err)
		case c.fault != "" && (err == nil || !strings.HasPrefix(err.Error(), "notes:1:") || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "\nhint: ")):
			t.Errorf("%s: error %v, want %s", c.tool, err, c.fault)
		}
	}
}

// TestListedFiles: card files of answers that people changed by hand.
func TestListedFiles(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{`{"server":"s","listed":[{"name":"a","extra":1},{"name":"a"}]}`, ""},
		{`{"listed":[{"name":"a"}]}`, "a card file lacks server"},
		{`{"server":"","listed":[{"name":"a"}]}`, "server is empty"},
		{`{"server":"s","tools":[],"listed":[]}`, "a card file has tools and listed"},
		{`{"server":"s","listed":{}}`, "listed of a card file is object, want array"},
		{`{"server":"s","server":"t","listed":[]}`, `"server" is given twice`},
		{`{"server":"s","listed":[],"listd":[]}`, `unknown field "listd"`},
		{`{"server":"s","listed":["a"]}`, "a tool is string, want object"},
		{`{"schema_version":2,"server":"s","listed":[]}`, "schema_version 2 is not supported"},
	} {
		dir := t.TempDir()
		write(t, dir, "corpus.yaml", "schema_version: 1\nname: c\n")
		write(t, dir, "tools/s.json", c.text)
		_, err := Load(dir)
		switch {
		case c.fault == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "\nhint: ")):
			t.Errorf("%s: error %v, want %s", c.text, err, c.fault)
		}
	}
}
