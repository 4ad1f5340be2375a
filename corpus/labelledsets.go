package corpus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// labelledHint goes with a value of another kind than a format has.
const labelledHint = "see docs/format.md for the formats of labelled sets"

// looseObject splits an object of another project's: fields that are not read are nobody's business, but none may come
// twice.
func looseObject(n node, what string) *object {
	o := &object{what: what, node: n, fields: make(map[string]node)}
	if n.kind() != "object" {
		o.fail(n, labelledHint, "%s is %s, want object", what, n.kind())
		return o
	}
	var f foreign
	f, o.err = readForeign(n)
	for _, m := range f.members {
		o.fields[m.key] = m.value
	}
	return o
}

// words returns a text that has to be there and may not be blank.
func (o *object) words(name string) string {
	o.require(name)
	s := o.text(name)
	if o.err == nil && strings.TrimSpace(s) == "" {
		o.fail(o.fields[name], "write what it is", "%s of %s is blank", name, o.what)
	}
	return s
}

// optional returns a text, empty where the field is absent or null.
func (o *object) optional(name string) string {
	if n, ok := o.fields[name]; !ok || n.kind() == "null" {
		return ""
	}
	return o.text(name)
}

// required returns the elements of a list that has to be there.
func (o *object) required(name string) []node {
	o.require(name)
	return o.list(name)
}

// adopt takes over the fault of a part of the object.
func (o *object) adopt(part *object) {
	if o.err == nil {
		o.err = part.err
	}
}

const (
	gradeHint = "a grade is a whole number: 1 or more for a relevant tool, 0 for one that is not"
	gradeMax  = 1_000_000
)

// ParseGrade reads a judgement, a whole number. The error has no hint.
func ParseGrade(s string) (int, error) {
	grade, err := strconv.Atoi(s)
	if err != nil || grade > gradeMax || grade < -gradeMax {
		return 0, fmt.Errorf("%s is no grade", textfile.Shown(s))
	}
	return grade, nil
}

func (o *object) grade(name string) int {
	o.require(name)
	n, ok := o.take(name, "number", gradeHint)
	if !ok {
		return 0
	}
	grade, err := ParseGrade(string(n.raw()))
	if err != nil {
		o.fail(n, gradeHint, "%s of %s: %w", name, o.what, err)
	}
	return grade
}

// takeSchema sets a tool's schema and its top-level parameters.
func (o *object) takeSchema(t *LabelledTool, name string) {
	n, ok := o.fields[name]
	if !ok || n.kind() == "null" || o.err != nil {
		return
	}
	schema := looseObject(n, name+" of "+o.what)
	if properties, ok := schema.fields["properties"]; ok && properties.kind() == "object" {
		for _, m := range properties.members() {
			t.Parameters = append(t.Parameters, m.key)
		}
	}
	t.schema = n.raw()
	o.adopt(schema)
}

// toolList reads the tools of a list, and refuses an ID that comes twice.
func toolList(list []node, read func(o *object) LabelledTool) ([]LabelledTool, error) {
	tools, seen := []LabelledTool{}, make(claimed)
	for _, n := range list {
		o := looseObject(n, "a tool")
		t := read(o)
		t.at = n
		seen.take(o, "tool", t.ID)
		if o.err != nil {
			return nil, o.err
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// mcpproxyTools reads {"tools": [{tool_id, server, tool, description, schema}]}. Retrievers read the name that a model sees
// of an MCP server's tool.
func mcpproxyTools(n node) (*part, error) {
	file := looseObject(n, "the file")
	tools, err := toolList(file.required("tools"), func(o *object) LabelledTool {
		t := LabelledTool{ID: o.words("tool_id"), Source: o.words("server"), Name: o.words("tool"), Description: o.optional("description")}
		t.Visible, t.owner = VisibleName(t.Source, t.Name), t.Source
		o.takeSchema(&t, "schema")
		return t
	})
	if file.err != nil {
		err = file.err
	}
	return &part{format: FormatMCPProxy, tools: tools}, err
}

// mcpproxyQueries reads {"queries": [{id, query, labels: [{tool_id, relevance}]}]}.
func mcpproxyQueries(n node) (*part, error) {
	p, seen := &part{format: FormatMCPProxy, queries: []Query{}}, make(claimed)
	file := looseObject(n, "the file")
	for _, at := range file.required("queries") {
		o := looseObject(at, "a query")
		q := Query{ID: o.words("id"), Text: o.words("query"), Grades: make(map[string]int), at: at}
		seen.take(o, "query", q.ID)
		labelled := make(claimed)
		for _, l := range o.required("labels") {
			label := looseObject(l, "a label")
			id := label.words("tool_id")
			q.Grades[id] = label.grade("relevance")
			labelled.take(label, "label of", id)
			o.adopt(label)
		}
		if o.err != nil {
			return nil, o.err
		}
		p.queries = append(p.queries, q)
	}
	return p, file.err
}

// ironclawPart reads {"tools": [{capability_id, name, description, parameters}], "intents": [{class, query, relevance: {tool
// name: grade}}]}. The names are SOURCE__TOOL, which a model sees as it stands. Queries have no IDs there; theirs are i1,
// i2, … in order.
func ironclawPart(n node) (*part, error) {
	file := looseObject(n, "the file")
	tools, err := toolList(file.required("tools"), func(o *object) LabelledTool {
		t := LabelledTool{ID: o.words("name"), Description: o.optional("description")}
		t.Source, _, _ = strings.Cut(o.optional("capability_id"), ".")
		t.Visible, t.Name, t.owner = t.ID, t.ID, t.Source
		if own := strings.TrimPrefix(t.ID, t.Source+"__"); own != "" {
			t.Name = own
		}
		o.takeSchema(&t, "parameters")
		return t
	})
	if err != nil {
		return nil, err
	}
	p := &part{format: FormatIronclaw, tools: tools, queries: []Query{}}
	for i, at := range file.required("intents") {
		o := looseObject(at, "an intent")
		q := Query{ID: fmt.Sprintf("i%d", i+1), Text: o.words("query"), Class: o.optional("class"), Grades: make(map[string]int), at: at}
		o.require("relevance")
		if of, ok := o.take("relevance", "object", labelledHint); ok {
			relevance := looseObject(of, "relevance")
			for _, m := range of.members() {
				q.Grades[m.key] = relevance.grade(m.key)
			}
			o.adopt(relevance)
		}
		if o.err != nil {
			return nil, o.err
		}
		p.queries = append(p.queries, q)
	}
	return p, file.err
}

// azureTools reads {"results": [{command, description, option: [{name, type, description, required}]}]}. A tool is known by
// its command with underscores, as the prompts have it; the first word of the command is its source.
func azureTools(n node) (*part, error) {
	file := looseObject(n, "the file")
	tools, err := toolList(file.required("results"), func(o *object) LabelledTool {
		words := strings.Fields(o.words("command"))
		t := LabelledTool{ID: strings.Join(words, "_"), Description: o.optional("description")}
		t.Visible, t.Name = t.ID, t.ID
		if len(words) > 1 {
			t.Source, t.owner, t.Name = words[0], words[0], strings.Join(words[1:], "_")
		}
		if options, ok := o.fields["option"]; ok && options.kind() != "null" {
			t.takeOptions(o)
		}
		return t
	})
	if file.err != nil {
		err = file.err
	}
	return &part{format: FormatAzureMCP, tools: tools}, err
}

// takeOptions makes a schema of a command's options.
func (t *LabelledTool) takeOptions(o *object) {
	var properties []rawjson.Field
	var required []string
	for _, at := range o.list("option") {
		option := looseObject(at, "an option")
		name := option.words("name")
		t.Parameters = append(t.Parameters, name)
		properties = rawjson.Set(properties, name, parameterSchema(option.optional("type"), option.optional("description")))
		if must, ok := option.fields["required"]; ok && string(must.raw()) == "true" {
			required = append(required, name)
		}
		o.adopt(option)
	}
	t.schema = objectSchema(properties, required)
}

// isPrompts tells a list of prompts.
func isPrompts(n node) bool {
	if n.kind() != "array" {
		return false
	}
	prompts := n.elements()
	return len(prompts) > 0 && prompts[0].kind() == "string"
}

// azureQueries reads {tool: [prompt, …]}: one gold a prompt. Prompts have no IDs there; theirs are p1, p2, … in order.
func azureQueries(f foreign) (*part, error) {
	p := &part{format: FormatAzureMCP, queries: []Query{}}
	for _, m := range f.members {
		if m.value.kind() != "array" {
			return nil, m.value.errorAt("write the prompts of a tool as a list of texts", "%s of the file is %s, want array", m.key, m.value.kind())
		}
		for _, at := range m.value.elements() {
			if at.kind() != "string" || strings.TrimSpace(at.text()) == "" {
				return nil, at.errorAt("write the prompts of a tool as texts", "a prompt of %s is no text, or blank", textfile.Shown(m.key))
			}
			p.queries = append(p.queries, Query{ID: fmt.Sprintf("p%d", len(p.queries)+1), Text: at.text(), Grades: map[string]int{m.key: 1}, at: at})
		}
	}
	return p, nil
}

// sealPart reads lines {api_name, api_description, field, parameters, required} or {id, query, calling: [{api}]}. A tool
// that is called several times is one gold.
func sealPart(lines func(take func(node) error) error) (*part, error) {
	p, tools, queries := &part{format: FormatSealTools}, make(claimed), make(claimed)
	err := lines(func(n node) error {
		o := looseObject(n, "a line")
		if _, asks := o.fields["calling"]; asks {
			q := Query{ID: o.words("id"), Text: o.words("query"), Grades: make(map[string]int), at: n}
			queries.take(o, "query", q.ID)
			for _, e := range o.list("calling") {
				call := looseObject(e, "a call")
				q.Grades[call.words("api")] = 1
				o.adopt(call)
			}
			p.queries = append(p.queries, q)
			return o.err
		}
		name := o.words("api_name")
		tools.take(o, "tool", name)
		t := LabelledTool{ID: name, Source: o.optional("field"), Name: name, Visible: name, Description: o.optional("api_description"), at: n}
		if parameters, ok := o.fields["parameters"]; ok && parameters.kind() != "null" {
			t.takeParameters(o, parameters)
		}
		p.tools = append(p.tools, t)
		return o.err
	})
	return p, err
}

// takeParameters makes a schema of parameters {name: {type, description}}.
func (t *LabelledTool) takeParameters(o *object, n node) {
	list := looseObject(n, "parameters of "+o.what)
	o.adopt(list)
	if list.err != nil {
		return
	}
	var properties []rawjson.Field
	for _, m := range n.members() {
		parameter := looseObject(m.value, "parameter "+textfile.Shown(m.key))
		t.Parameters = append(t.Parameters, m.key)
		properties = append(properties, rawjson.Field{Key: m.key, Value: parameterSchema(parameter.optional("type"), parameter.optional("description"))})
		o.adopt(parameter)
	}
	var required []string
	if n, ok := o.fields["required"]; ok && n.kind() != "null" {
		required = slices.DeleteFunc(o.texts("required"), func(name string) bool { return !slices.Contains(t.Parameters, name) })
	}
	t.schema = objectSchema(properties, required)
}

// parameterSchema describes a parameter; a type that neither JSON Schema nor Python has is left out.
func parameterSchema(kind, description string) json.RawMessage {
	var fields []rawjson.Field
	names := map[string]string{"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
	if name, ok := names[kind]; ok {
		kind = name
	}
	if slices.Contains([]string{"string", "integer", "number", "boolean", "array", "object"}, kind) {
		fields = append(fields, rawjson.Field{Key: "type", Value: rawjson.String(kind)})
	}
	if description != "" {
		fields = append(fields, rawjson.Field{Key: "description", Value: rawjson.String(description)})
	}
	return rawjson.AppendObject(nil, fields)
}

func objectSchema(properties []rawjson.Field, required []string) json.RawMessage {
	fields := []rawjson.Field{{Key: "type", Value: rawjson.String("object")}, {Key: "properties", Value: rawjson.AppendObject(nil, properties)}}
	if len(required) > 0 {
		list, _ := json.Marshal(required) // texts
		fields = append(fields, rawjson.Field{Key: "required", Value: list})
	}
	return rawjson.AppendObject(nil, fields)
}
