package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// patience is how long anything bad may take. The slowest takes a fraction of a
// second on an idle machine.
const patience = 20 * time.Second

// importing reads a text as a file tools.json.
func importing(text string) (*Corpus, error) {
	return importFile("tools.json", fstest.MapFS{"tools.json": {Data: []byte(text)}}, "tools.json", "")
}

const (
	plainManifest = "schema_version: 1\nname: c\n"
	plainCards    = `{"server":"s","tools":[{"name":"a","description":"Does a. Then b."},{"name":"b"}]}`
)

// loading reads a folder c of one server with two tools, and the files given.
func loading(files map[string]string) (*Corpus, error) {
	folder := fstest.MapFS{"corpus.yaml": {Data: []byte(plainManifest)}, "tools/s.json": {Data: []byte(plainCards)}}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return loadFolder("c", folder, Embedded)
}

// wantError compares a whole error text, except that … stands for anything.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want\n%s", want)
	}
	head, tail, cut := strings.Cut(want, "…")
	got := err.Error()
	if got != want && !(cut && strings.HasPrefix(got, head) && strings.HasSuffix(got, tail)) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(got, "\nhint: ") || strings.HasSuffix(got, "hint: ") {
		t.Errorf("no hint: %s", got)
	}
}

const (
	shapesHint    = "\nhint: " + importHint
	nameless      = "tool without a name\nhint: " + nameHint
	truncatedHint = "\nhint: the text stops short: the file may be truncated"
)

func TestBadImports(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "tools.json: the file is empty\nhint: export it again; it holds no tools"},
		{"blank", " \r\n\t", "tools.json: the file is empty\nhint: export it again; it holds no tools"},
		{"only a byte order mark", "\ufeff", "tools.json: the file is empty\nhint: export it again; it holds no tools"},
		{"truncated", `[{"name":"a"},`, "tools.json:1:15: invalid JSON: unexpected end of JSON input" + truncatedHint},
		{"truncated line", "{\"name\":\"a\"}\n\n{\"name\":\"b\"", "tools.json:3:12: invalid JSON: unexpected end of JSON input" + truncatedHint},
		{"truncated, line end behind", "[{\"name\":\"a\"},\n", "tools.json:2:1: invalid JSON: unexpected end of JSON input" + truncatedHint},
		{"key without quotes", "[{\"name\":\"é\",\n  description:\"x\"}]", "tools.json:2:3: invalid JSON: invalid character 'd' looking for beginning of object key string\nhint: check the JSON there"},
		{"column counts code points", `[{"name":"éé",x`, "tools.json:1:15: invalid JSON: invalid character 'x' looking for beginning of object key string\nhint: check the JSON there"},
		{"two values, spread", "{\n}\n{}", "tools.json:3:1: invalid JSON: invalid character '{' after top-level value\nhint: a file holds one JSON value, or JSON Lines: one whole value a line"},
		{"two values on a line", "[]\n[] []", "tools.json:2:4: invalid JSON: invalid character '[' after top-level value\nhint: a file holds one JSON value, or JSON Lines: one whole value a line"},
		{"YAML", "server: x\n", "tools.json:1:1: no JSON object or array" + shapesHint},
		{"a number", "\n 3", "tools.json:2:2: no JSON object or array" + shapesHint},
		{"a list of numbers", "[3]", "tools.json:1:2: a JSON number holds no tools" + shapesHint},
		{"a line of null", "{\"name\":\"a\"}\nnull", "tools.json:2:1: a JSON null holds no tools" + shapesHint},
		{"an empty list", "[]", "tools.json: no tools found" + shapesHint},
		{"an empty object", "{}", "tools.json:1:1: an empty object holds no tools" + shapesHint},
		{"an empty result", `{"tools":[]}`, "tools.json: no tools found" + shapesHint},
		{"tools is null", `{"tools":null}`, "tools.json:1:10: tools is null, want array" + shapesHint},
		{"a JSON-RPC error", `{"jsonrpc":"2.0","id":1,"error":{}}`, `tools.json:1:1: object with fields "jsonrpc", "id", "error" holds no tools` + shapesHint},
		{"many fields", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}`, `tools.json:1:1: object with fields "a", "b", "c", "d", "e", … holds no tools` + shapesHint},
		{"no name", `[{"description":"x"}]`, "tools.json:1:2: " + nameless},
		{"no name, schema alone", `[{"inputSchema":{}}]`, "tools.json:1:2: " + nameless},
		{"no name in function", `[{"function":{}}]`, "tools.json:1:14: " + nameless},
		{"empty name", `[{"name":""}]`, "tools.json:1:10: " + nameless},
		{"name is a number", `[{"name":3,"description":"x"}]`, "tools.json:1:10: name is number, want string\nhint: " + nameHint},
		{"name is null", `{"name":null}`, "tools.json:1:9: name is null, want string\nhint: " + nameHint},
		{"schema is an array", `{"tools":[{"name":"a","inputSchema":[]}]}`, `tools.json:1:37: tool "a": inputSchema is array, want object` + "\nhint: " + schemaHint},
		{"schema is text", `[{"name":"a","input_schema":"{}"}]`, `tools.json:1:29: tool "a": input_schema is string, want object` + "\nhint: " + schemaHint},
		{"schema is true", `[{"type":"function","function":{"name":"a","parameters":true}}]`, `tools.json:1:57: tool "a": parameters is boolean, want object` + "\nhint: " + schemaHint},
		{"description is a number", "[\n  {\"name\":\"a\",\n   \"description\":5}]", `tools.json:3:18: tool "a": description is number, want string` + "\nhint: write the description as text"},
		{"description is a list", `[{"function":{"name":"a","description":[]}}]`, `tools.json:1:40: tool "a": description is array, want string` + "\nhint: write the description as text"},
		{"function is text", `[{"type":"function","function":"a"}]`, "tools.json:1:32: function is string, want object\nhint: function is an object with name, description and parameters"},
		{"server is empty", `{"server":"","tools":[]}`, "tools.json:1:11: server is empty\nhint: name the server, or leave the field out"},
		{"server key is empty", `{"":[]}`, "tools.json:1:2: server is empty\nhint: name the server"},
		{"invalid UTF-8", "[{\"name\":\n\"é\xff\"}]", "tools.json:2:3: invalid UTF-8 (byte 0xff)\nhint: convert the file to UTF-8"},
		{"UTF-16", "\xff\xfe[\x00]\x00", "tools.json:1:1: invalid UTF-8 (byte 0xff)\nhint: convert the file to UTF-8"},
		{"a key twice", "[{\"name\":\"a\",\n\"name\":\"b\"}]", "tools.json:2:1: \"name\" is given twice; first at tools.json:1:3\nhint: keep one of the two"},
		{"a key twice, escaped", `[{"name":"a","n\u0061me":"b"}]`, "tools.json:1:14: \"name\" is given twice; first at tools.json:1:3\nhint: keep one of the two"},
		{"a server twice", "{\"x\":[],\n\"x\":[]}", "tools.json:2:1: \"x\" is given twice; first at tools.json:1:2\nhint: keep one of the two"},
		{"a function twice", "[{\"function\":{\"name\":\"a\"}},\n {\"function\":{\"name\":\"a\"}}]", "tools.json:2:2: tool \"a\" is declared again; first at tools.json:1:2\nhint: keep one of the two, or rename it"},
		{"an ID from both kinds", `[{"function":{"name":"s/t"}},{"server":"s","name":"t"}]`, "tools.json:1:30: tool \"s/t\" is declared again; first at tools.json:1:2\nhint: keep one of the two, or rename it"},
		{"a visible name from both kinds", `[{"function":{"name":"mcp__s__t"}},{"server":"s","name":"t"}]`, "tools.json:1:36: tools \"mcp__s__t\" and \"s/t\" share the model-visible name \"mcp__s__t\"; the first is at tools.json:1:2\nhint: rename one of them"},
		{"CRLF", "{\"name\":\"a\"}\r\n{\"name\":3}\r\n", "tools.json:2:9: name is number, want string\nhint: " + nameHint},
		{"behind a byte order mark", "\ufeff[{\"name\":3}]", "tools.json:1:10: name is number, want string\nhint: " + nameHint},
		{"a long name is cut", `[{"name":"` + strings.Repeat("n", 100_000) + `","description":3}]`, "tools.json:1:100027: tool \"" + strings.Repeat("n", 80) + "…\": description is number, want string\nhint: write the description as text"},
		{"100,000 brackets", strings.Repeat("[", 100_000), "tools.json:1:10001: invalid JSON: invalid character '[' exceeded max depth\nhint: check the JSON there"},
		{"lists in lists", strings.Repeat("[", 9999) + strings.Repeat("]", 9999), "tools.json:1:10: nested too deeply to hold tools" + shapesHint},
		{"objects in objects", strings.Repeat(`{"a":`, 5000) + "{}" + strings.Repeat("}", 5000), "tools.json:1:46: nested too deeply to hold tools" + shapesHint},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			_, err := importing(c.text)
			if took := time.Since(begin); took > patience {
				t.Errorf("took %v", took)
			}
			wantError(t, err, c.want)
		})
	}
}

// TestOddImports reads what looks bad and is not.
func TestOddImports(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"100,000 equal letters", `[{"name":"a","description":"` + strings.Repeat("a", 100_000) + `"}]`},
		{"100,000 equal words", `[{"name":"a","description":"` + strings.Repeat("a ", 100_000) + `"}]`},
		{"a name of 100,000 letters", `[{"name":"` + strings.Repeat("a", 100_000) + `"}]`},
		{"a schema 9,990 deep", `[{"name":"a","inputSchema":{"x":` + strings.Repeat("[", 9990) + strings.Repeat("]", 9990) + `}}]`},
		{"huge numbers", `[{"name":"a","inputSchema":{"maximum":1e999999,"minimum":-` + strings.Repeat("9", 10_000) + `}}]`},
		{"repeats within a schema", `[{"name":"a","inputSchema":{"type":"object","type":"object"}}]`},
		{"no description, no schema", `[{"name":"a","description":null,"inputSchema":null}]`},
		{"a lone surrogate", `[{"name":"a","description":"\ud800"}]`},
		{"a byte order mark", "\ufeff[{\"name\":\"a\"}]"},
		{"CRLF and blank lines", "\r\n{\"name\":\"a\"}\r\n\r\n{\"name\":\"b\"}\r\n\r\n"},
		{"no line end at the end", "{\"name\":\"a\"}\n{\"name\":\"b\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			got, err := importing(c.text)
			if err != nil {
				t.Fatal(err)
			}
			got.WithDerived()
			if took := time.Since(begin); took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
}

// bomb is YAML that means 9^10 values.
func bomb() string {
	text := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		text += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return text
}

func TestBadFolders(t *testing.T) {
	const (
		manifestHint = "\nhint: the fields of corpus.yaml are schema_version, name, version, licence, sources"
		yamlHint     = "\nhint: check quotes, brackets and indentation around this line"
		formatHint   = "\nhint: docs/format.md says what the file holds"
		setsHead     = "schema_version: 1\ntoolsets:\n"
		wholeHint    = "\nhint: write a whole number of 0 or more"
		aliasHint    = "\nhint: flatten the value, or remove the alias"
	)
	card := func(fields string) string { return `{"server":"s","tools":[{"name":"a"` + fields + `}]}` }
	for _, c := range []struct{ name, file, text, want string }{
		{"manifest empty", "corpus.yaml", "", "c/corpus.yaml: the file is empty" + formatHint},
		{"manifest of comments", "corpus.yaml", "# x\n", "c/corpus.yaml: invalid YAML: no documents in stream" + formatHint},
		{"manifest twice in one", "corpus.yaml", plainManifest + "---\n" + plainManifest, "c/corpus.yaml: invalid YAML: expected single document, found multiple" + formatHint},
		{"manifest not UTF-8", "corpus.yaml", plainManifest + "version: \xe9", "c/corpus.yaml:3:10: invalid UTF-8 (byte 0xe9)\nhint: convert the file to UTF-8"},
		{"manifest is a list", "corpus.yaml", "- 1", "c/corpus.yaml:1:1: corpus.yaml is array, want object" + manifestHint},
		{"manifest indentation", "corpus.yaml", plainManifest + " x: y\n", "c/corpus.yaml:3:3: invalid YAML: mapping values are not allowed in this context" + yamlHint},
		{"manifest with a control character", "corpus.yaml", "name: \x01", "c/corpus.yaml: invalid YAML: control characters are not allowed (value: 1)" + formatHint},
		{"manifest field unknown", "corpus.yaml", plainManifest + "license: x\n", "c/corpus.yaml:3:1: unknown field \"license\" in corpus.yaml\nhint: did you mean \"licence\"? the fields of corpus.yaml are schema_version, name, version, licence, sources"},
		{"manifest field twice", "corpus.yaml", plainManifest + "name: x\n", "c/corpus.yaml:3:1: \"name\" is given twice; first at c/corpus.yaml:2:1\nhint: keep one of the two"},
		{"manifest version 2", "corpus.yaml", "schema_version: 2\nname: c", "c/corpus.yaml:1:17: schema_version 2 is not supported\nhint: this program reads schema_version: 1"},
		{"manifest version as text", "corpus.yaml", "schema_version: \"1\"\nname: c", "c/corpus.yaml:1:17: schema_version \"1\" is not supported\nhint: this program reads schema_version: 1"},
		{"manifest without version", "corpus.yaml", "name: c", "c/corpus.yaml:1:1: corpus.yaml lacks schema_version\nhint: add schema_version"},
		{"manifest without name", "corpus.yaml", "schema_version: 1", "c/corpus.yaml:1:1: corpus.yaml lacks name\nhint: add name"},
		{"manifest name empty", "corpus.yaml", "schema_version: 1\nname: \"\"", "c/corpus.yaml:2:7: name is empty\nhint: name the corpus"},
		{"manifest number for text", "corpus.yaml", plainManifest + "version: 1.10\n", "c/corpus.yaml:3:10: version of corpus.yaml is number, want string\nhint: write it as text, in quotes"},
		{"manifest null for text", "corpus.yaml", plainManifest + "licence:\n", "c/corpus.yaml:3:9: licence of corpus.yaml is null, want string\nhint: write it as text, in quotes, or leave it out"},
		{"manifest text for list", "corpus.yaml", plainManifest + "sources: x\n", "c/corpus.yaml:3:10: sources of corpus.yaml is string, want array\nhint: write a list"},
		{"manifest key is a number", "corpus.yaml", plainManifest + "3: x\n", "c/corpus.yaml:3:1: a key is not text\nhint: put the key in quotes"},
		{"manifest key is a list", "corpus.yaml", plainManifest + "? [a]\n: x\n", "c/corpus.yaml:3:3: a key is not text\nhint: put the key in quotes"},
		{"manifest merge key", "corpus.yaml", plainManifest + "<<: {a: b}\n", "c/corpus.yaml:3:1: merge keys are not read here\nhint: write the fields out"},
		{"manifest infinity", "corpus.yaml", plainManifest + "version: .inf\n", "c/corpus.yaml:3:10: \".inf\" is not a JSON number\nhint: write the number as JSON would, or put it in quotes"},
		{"manifest alias bomb", "corpus.yaml", plainManifest + bomb(), "c/corpus.yaml:…nested too deeply, or too large with its aliases written out" + aliasHint},

		{"no tools", "tools/s.json", `{"tools":[]}`, "c: no tools found\nhint: put tool cards into its folder tools"},
		{"card file empty", "tools/s.json", "\n", "c/tools/s.json: the file is empty\nhint: write {\"server\": …, \"tools\": […]}, or remove it"},
		{"card file truncated", "tools/s.json", plainCards[:30], "c/tools/s.json:1:31: invalid JSON: unexpected end of JSON input" + truncatedHint},
		{"card file is a list", "tools/s.json", "[]", "c/tools/s.json:1:1: a card file is array, want object\nhint: the fields of a card file are schema_version, server, tools, listed"},
		{"card file field unknown", "tools/s.json", `{"sever":"s","tools":[]}`, "c/tools/s.json:1:2: unknown field \"sever\" in a card file\nhint: did you mean \"server\"? the fields of a card file are schema_version, server, tools, listed"},
		{"card file without tools", "tools/s.json", `{"server":"s"}`, "c/tools/s.json:1:1: a card file lacks tools\nhint: add tools"},
		{"card file version", "tools/s.json", `{"schema_version":0,"tools":[]}`, "c/tools/s.json:1:19: schema_version 0 is not supported\nhint: this program reads schema_version: 1"},
		{"card file server empty", "tools/s.json", `{"server":"","tools":[]}`, "c/tools/s.json:1:11: server is empty\nhint: name the MCP server, or leave the field out"},
		{"card file tools an object", "tools/s.json", `{"server":"s","tools":{}}`, "c/tools/s.json:1:23: tools of a card file is object, want array\nhint: write a list"},
		{"card file of another kind", "tools/readme.md", "x", "c/tools/readme.md: not a tool card file\nhint: tool cards end in .json, .yaml or .yml"},
		{"card file a folder", "tools/more/x.json", plainCards, "c/tools/more: is a folder, want a file\nhint: put the files themselves there; links to folders are not followed"},
		{"card is text", "tools/s.json", `{"server":"s","tools":["a"]}`, "c/tools/s.json:1:24: a tool card is string, want object\nhint: the fields of a tool card are " + strings.Join(cardFields, ", ")},
		{"card field unknown", "tools/s.json", card(`,"descripton":"x"`), "c/tools/s.json:1:36: unknown field \"descripton\" in a tool card\nhint: did you mean \"description\"? the fields of a tool card are " + strings.Join(cardFields, ", ")},
		{"card without name", "tools/s.json", `{"server":"s","tools":[{"description":"a"}]}`, "c/tools/s.json:1:24: " + nameless},
		{"card without owner", "tools/p.json", `{"tools":[{"name":"c"}]}`, "c/tools/p.json:1:11: tool \"c\" has neither server nor toolset\nhint: name the server at the top of the file, or the card's toolset"},
		{"card with two owners", "tools/s.json", card(`,"toolset":"web"`), "c/tools/s.json:1:46: tool \"a\" has a server and a toolset\nhint: leave toolset out: the tools of a server are a toolset of their own"},
		{"card in a fixed toolset", "tools/p.json", `{"tools":[{"name":"c","toolset":"web"}]}`, "c/tools/p.json:1:11: toolset \"web\" of tool \"c\" is a fixed toolset\nhint: choose another name"},
		{"card in a server's toolset", "tools/p.json", `{"tools":[{"name":"c","toolset":"mcp-s"}]}`, "c/tools/p.json:1:33: toolset \"mcp-s\" is reserved\nhint: choose another name, or name the server at the top of the file"},
		{"card schema null", "tools/s.json", card(`,"parameters":null`), "c/tools/s.json:1:49: parameters of a tool card is null, want object\nhint: " + schemaHint + ", or leave it out"},
		{"card schema text", "tools/s.json", card(`,"parameters":"{}"`), "c/tools/s.json:1:49: parameters of a tool card is string, want object\nhint: " + schemaHint},
		{"card size negative", "tools/s.json", card(`,"max_result_size_chars":-1`), "c/tools/s.json:1:60: max_result_size_chars of a tool card is -1, want a whole number of 0 or more" + wholeHint},
		{"card size huge", "tools/s.json", card(`,"max_result_size_chars":1e99`), "c/tools/s.json:1:60: max_result_size_chars of a tool card is 1e99, want a whole number of 0 or more" + wholeHint},
		{"card flag as text", "tools/s.json", card(`,"async":"yes"`), "c/tools/s.json:1:44: async of a tool card is string, want boolean\nhint: write true or false"},
		{"card environment empty", "tools/s.json", card(`,"requires_env":["A",""]`), "c/tools/s.json:1:56: requires_env of a tool card holds \"\", want texts that are not empty\nhint: write a list of texts"},
		{"card again in another file", "tools/t.json", card(""), "c/tools/t.json:1:24: tool \"s/a\" is declared again; first at c/tools/s.json:1:24\nhint: keep one of the two, or rename it"},
		{"card of a built-in tool", "tools/p.json", `{"tools":[{"name":"todo","toolset":"mine"}]}`, "c/tools/p.json:1:11: tool \"todo\" has the name of a built-in tool\nhint: rename it: a plugin may not shadow a built-in tool"},
		{"card schema with a key twice", "tools/s.json", card(`,"parameters":{"properties":{"x":{},"x":{}}}`), "c/tools/s.json:1:71: \"x\" is given twice; first at c/tools/s.json:1:64\nhint: keep one of the two"},
		{"mention stands twice", "tools/s.json", card(`,"description":"b b","mentions":[{"text":"b","tools":["x"]}]`), "c/tools/s.json:1:76: mention \"b\" of tool \"a\" stands 2 times in its description\nhint: repeat a part of the description that stands there once"},
		{"mention of nothing", "tools/s.json", card(`,"description":"b","mentions":[{"text":"b","tools":[]}]`), "c/tools/s.json:1:86: mention \"b\" of tool \"a\" names no tools\nhint: name the tools that the text speaks of"},
		{"mention of an unknown tool", "tools/s.json", card(`,"description":"b","mentions":[{"text":"b","tools":["mcp__s__aa"]}]`), "c/tools/s.json:1:87: mention of tool \"a\" names unknown tool \"mcp__s__aa\"\nhint: did you mean \"mcp__s__a\"?"},

		{"YAML card of another type", "tools/t.yaml", "server: t\ntools:\n  - name: a\n    description: 5\n", "c/tools/t.yaml:4:18: description of a tool card is number, want string\nhint: write it as text, in quotes"},
		{"YAML card field unknown", "tools/t.yml", "server: t\ntools:\n- name: a\n  parametres: {}\n", "c/tools/t.yml:4:3: unknown field \"parametres\" in a tool card\nhint: did you mean \"parameters\"? the fields of a tool card are " + strings.Join(cardFields, ", ")},
		{"YAML card schema with a key twice", "tools/t.yaml", "server: t\ntools:\n- name: a\n  parameters:\n    a: 1\n    b: 1\n    a: 2\n", "c/tools/t.yaml:7:5: \"a\" is given twice; first at c/tools/t.yaml:5:5\nhint: keep one of the two"},
		{"YAML card twice by alias", "tools/t.yaml", "server: t\ntools:\n  - &a\n    name: a\n  - *a\n", "c/tools/t.yaml:5:5: tool \"t/a\" is declared again; first at c/tools/t.yaml:3:5\nhint: keep one of the two, or rename it"},
		{"YAML with a tab", "tools/t.yaml", "a:\n\tb: 1", "c/tools/t.yaml:2:1: invalid YAML: found character that cannot start any token" + yamlHint},
		{"YAML alias bomb", "tools/t.yaml", bomb(), "c/tools/t.yaml:…nested too deeply, or too large with its aliases written out" + aliasHint},
		{"YAML within itself", "tools/t.yaml", "server: t\ntools: &a [*a]", "c/tools/t.yaml:2:12: nested too deeply, or too large with its aliases written out" + aliasHint},
		{"YAML too large", "tools/t.yaml", strings.Repeat(" ", yamlMax+1), "c/tools/t.yaml: larger than 262144 bytes\nhint: split it over several files, or write it as JSON"},
		{"YAML too deep", "tools/t.yaml", strings.Repeat("[", 9000) + strings.Repeat("x,", 120_000) + strings.Repeat("]", 9000), "c/tools/t.yaml:1:65: invalid YAML: exceeded max depth of 64" + yamlHint},
		{"YAML one long line", "tools/t.yaml", strings.Repeat("[", 60) + strings.Repeat("x,", 130_000) + strings.Repeat("]", 60), "c/tools/t.yaml:1:1: a card file is array, want object\nhint: the fields of a card file are schema_version, server, tools, listed"},
		{"YAML of tags", "tools/t.yaml", strings.Repeat("!t ", 80_000), "c/tools/t.yaml:1:4: invalid YAML: did not find expected <document start>" + yamlHint},
		{"YAML of anchors", "tools/t.yaml", strings.Repeat("&a ", 80_000), "c/tools/t.yaml:1:4: invalid YAML: did not find expected <document start>" + yamlHint},

		{"toolset names an unknown tool", "toolsets.yaml", setsHead + "  - name: x\n    tools: [mcp__s__aa]", "c/toolsets.yaml:4:13: toolset \"x\" names unknown tool \"mcp__s__aa\"\nhint: did you mean \"mcp__s__a\"?"},
		{"core names an unknown tool", "toolsets.yaml", "core: [mcp__s__a, nope]\n" + setsHead + "- name: x", "c/toolsets.yaml:1:19: core names unknown tool \"nope\"\nhint: did you mean \"mcp__s__a\"?"},
		{"webhook_safe names an unknown tool", "toolsets.yaml", "webhook_safe: [web]\n" + setsHead + "- name: x", "c/toolsets.yaml:1:16: webhook_safe names unknown tool \"web\"\nhint: did you mean \"mcp__s__b\"?"},
		{"defer names an unknown tool", "toolsets.yaml", "defer: [mcp__s__bb]\n" + setsHead + "- name: x", "c/toolsets.yaml:1:9: defer names unknown tool \"mcp__s__bb\"\nhint: did you mean \"mcp__s__b\"?"},
		{"toolset includes an unknown one", "toolsets.yaml", setsHead + "  - {name: x, includes: [yyy]}\n  - {name: yy}", "c/toolsets.yaml:3:26: toolset \"x\" names unknown toolset \"yyy\"\nhint: did you mean \"yy\"?"},
		{"toolset twice", "toolsets.yaml", setsHead + "  - {name: x}\n  - {name: x}", "c/toolsets.yaml:4:12: toolset \"x\" is declared again; first at c/toolsets.yaml:3:12\nhint: keep one of the two"},
		{"toolset all", "toolsets.yaml", setsHead + "  - {name: all}", "c/toolsets.yaml:3:12: toolset \"all\" is reserved\nhint: choose another name"},
		{"toolset without a name", "toolsets.yaml", setsHead + "  - {tools: []}", "c/toolsets.yaml:3:5: toolset without a name\nhint: give every toolset a name"},
		{"toolset flag a number", "toolsets.yaml", setsHead + "  - {name: x, posture: 1}", "c/toolsets.yaml:3:24: posture of a toolset is number, want boolean\nhint: write true or false"},
		{"toolset field unknown", "toolsets.yaml", setsHead + "  - {name: x, tool: []}", "c/toolsets.yaml:3:15: unknown field \"tool\" in a toolset\nhint: did you mean \"tools\"? the fields of a toolset are " + strings.Join(toolsetFields, ", ")},
		{"toolsets without toolsets", "toolsets.yaml", "schema_version: 1", "c/toolsets.yaml:1:1: toolsets.yaml lacks toolsets\nhint: add toolsets"},
		{"toolsets empty", "toolsets.yaml", "\n", "c/toolsets.yaml: the file is empty" + formatHint},

		{"distribution of an unknown toolset", "distributions.yaml", "schema_version: 1\ndistributions:\n- name: x\n  description: None.\n  toolsets: {mcp-ss: 100}", "c/distributions.yaml:3: distribution \"x\" names unknown toolset \"mcp-ss\"\nhint: did you mean \"mcp-s\"?"},
		{"distributions empty", "distributions.yaml", "", "c/distributions.yaml: empty…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			_, err := loading(map[string]string{c.file: c.text})
			if took := time.Since(begin); took > patience {
				t.Errorf("took %v", took)
			}
			wantError(t, err, c.want)
		})
	}
}

func TestBadIntents(t *testing.T) {
	const fieldsOfGold = "\nhint: the fields of a gold are tool, arguments, depends_on"
	intent := func(class, gold string) string {
		return `{"id":"1","utterance":"x","language":"en","class":"` + class + `","gold":` + gold + `}`
	}
	good := intent("obvious", `[{"tool":"s/a"}]`)
	for _, c := range []struct{ name, text, want string }{
		{"truncated", good + "\n" + good[:20], "2:21: invalid JSON: unexpected end of JSON input" + truncatedHint},
		{"two on a line", good + good, "1:85: invalid JSON: invalid character '{' after top-level value\nhint: a file holds one JSON value, or JSON Lines: one whole value a line"},
		{"a list", "[" + good + "]", "1:1: an intent is array, want object\nhint: the fields of an intent are id, utterance, language, class, gold"},
		{"field unknown", strings.Replace(good, "class", "klass", 1), "1:43: unknown field \"klass\" in an intent\nhint: did you mean \"class\"? the fields of an intent are id, utterance, language, class, gold"},
		{"field missing", `{"id":"1","utterance":"x","language":"en","class":"absent"}`, "1:1: an intent lacks gold\nhint: add gold"},
		{"field twice", "\n" + strings.Replace(good, `"id"`, `"id":"2","id"`, 1), "2:11: \"id\" is given twice; first at c/intents/i.jsonl:2:2\nhint: keep one of the two"},
		{"id a number", strings.Replace(good, `"1"`, "1", 1), "1:7: id of an intent is number, want string\nhint: write it as text, in quotes"},
		{"id empty", strings.Replace(good, `"1"`, `""`, 1), "1:7: intent without an id\nhint: give every intent an id of its own"},
		{"id again", good + "\r\n\r\n" + good, "3:1: intent \"1\" is declared again; first at c/intents/i.jsonl:1:1\nhint: give every intent an id of its own"},
		{"utterance blank", strings.Replace(good, `"x"`, `" \n"`, 1), "1:23: intent \"1\": empty utterance\nhint: write what the user says"},
		{"language in words", strings.Replace(good, `"en"`, `"english"`, 1), "1:38: intent \"1\": language is \"english\"\nhint: write a BCP 47 tag such as en or zh-Hant"},
		{"class mistyped", intent("obvios", `[{"tool":"s/a"}]`), "1:51: intent \"1\": unknown class \"obvios\"\nhint: did you mean \"obvious\"?"},
		{"absent with gold", intent("absent", `[{"tool":"s/a"}]`), "1:67: intent \"1\": an absent intent has no gold\nhint: leave gold empty, or give the intent another class"},
		{"obvious without gold", intent("obvious", `[]`), "1:68: intent \"1\": gold is empty but the class is obvious\nhint: name the tools that serve the intent, or set class to absent"},
		{"gold unknown", intent("obvious", `[{"tool":"s/aa"}]`), "1:77: gold of intent \"1\" names unknown tool \"s/aa\"\nhint: did you mean \"s/a\"?"},
		{"gold under its visible name", intent("obvious", `[{"tool":"mcp__s__a"}]`), "1:77: gold of intent \"1\" names unknown tool \"mcp__s__a\"…"},
		{"gold is text", intent("obvious", `["s/a"]`), "1:69: a gold is string, want object" + fieldsOfGold},
		{"gold without a tool", intent("obvious", `[{"arguments":[]}]`), "1:69: a gold lacks tool\nhint: add tool"},
		{"depends on itself", intent("obvious", `[{"tool":"s/a","depends_on":[0]}]`), "1:97: intent \"1\": gold 0 depends on 0, which is not an earlier gold\nhint: name golds ahead of this one, counted from 0"},
		{"depends on text", intent("multi_tool", `[{"tool":"s/a"},{"tool":"s/b","depends_on":["s/a"]}]`), "1:115: intent \"1\": gold 1 depends on \"s/a\", which is not an earlier gold\nhint: name golds ahead of this one, counted from 0"},
		{"argument without stated", intent("obvious", `[{"tool":"s/a","arguments":[{"name":"x","value":1}]}]`), "1:96: an argument lacks stated\nhint: add stated"},
		{"argument without a value", intent("obvious", `[{"tool":"s/a","arguments":[{"name":"x","stated":true}]}]`), "1:96: an argument lacks value\nhint: add value"},
		{"argument without a name", intent("obvious", `[{"tool":"s/a","arguments":[{"name":"","value":1,"stated":true}]}]`), "1:104: argument without a name\nhint: name the parameter"},
		{"argument twice", intent("obvious", `[{"tool":"s/a","arguments":[{"name":"x","value":1,"stated":true},{"name":"x","value":1,"stated":true}]}]`), "1:133: intent \"1\": argument \"x\" is given again; first at c/intents/i.jsonl:1:96\nhint: keep one of the two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loading(map[string]string{"intents/i.jsonl": c.text})
			wantError(t, err, "c/intents/i.jsonl:"+c.want)
		})
	}
	_, err := loading(map[string]string{"intents/i.json": good})
	wantError(t, err, "c/intents/i.json: not a file of intents\nhint: intents are JSON Lines and end in .jsonl")
}

// locked is a file system in which one name may not be opened.
type locked struct {
	fstest.MapFS
	name string
}

func (l locked) Open(name string) (fs.File, error) {
	if name == l.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return l.MapFS.Open(name)
}

// Stat answers for a name that may not be opened, as a system does.
func (l locked) Stat(name string) (fs.FileInfo, error) { return l.MapFS.Stat(name) }

func (l locked) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == l.name {
		_, err := l.Open(name)
		return nil, err
	}
	return l.MapFS.ReadDir(name)
}

func TestUnreadable(t *testing.T) {
	files := fstest.MapFS{
		"corpus.yaml":        {Data: []byte(plainManifest)},
		"toolsets.yaml":      {Data: []byte("schema_version: 1\ntoolsets: []")},
		"distributions.yaml": {Data: []byte("schema_version: 1\ndistributions: []")},
		"tools/s.json":       {Data: []byte(plainCards)},
		"intents/i.jsonl":    {Data: nil},
	}
	for name := range files {
		_, err := loadFolder("c", locked{files, name}, Embedded)
		wantError(t, err, "c/"+name+": permission denied\nhint: check the path and its permissions")
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: the cause is lost", name)
		}
	}
	for _, name := range []string{"tools", "intents"} {
		_, err := loadFolder("c", locked{files, name}, Embedded)
		wantError(t, err, "c/"+name+": permission denied\nhint: check the path and its permissions")
	}
	imports := fstest.MapFS{"a/x.json": {Data: []byte(`[{"name":"a"}]`)}}
	for _, name := range []string{"a", "a/x.json"} {
		_, err := importFolder("c", locked{imports, name}, "")
		wantError(t, err, "c/"+name+": permission denied\nhint: check the path and its permissions")
	}
}
