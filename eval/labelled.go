package eval

import (
	"fmt"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// mcpproxyTools reads {"tools": [{tool_id, server, tool, description, schema}]}. A tool has the name that a model sees of
// an MCP server's.
func mcpproxyTools(file *object) (*part, error) {
	p, seen := &part{format: FormatMCPProxy, tools: []Tool{}}, make(claims)
	for _, v := range file.list("tools") {
		o := v.object("a tool")
		server, name := o.text("server"), o.text("tool")
		t := Tool{ID: o.text("tool_id"), Name: name, Doc: search.Doc{
			Name: corpus.VisibleName(server, name), Description: o.optionalText("description"),
			Parameters: o.parameters("schema"), Source: server,
		}}
		seen.take(o, "tool", t.ID)
		if o.err != nil {
			return nil, o.err
		}
		p.tools = append(p.tools, t)
	}
	return p, file.err
}

// parameters are the top-level parameters of a JSON Schema.
func (o *object) parameters(schema string) []string {
	v, ok := o.fields[schema]
	if !ok || v.kind() == "null" {
		return nil
	}
	inner := v.object(schema + " of " + o.what)
	names := inner.names("properties")
	if o.err == nil {
		o.err = inner.err
	}
	return names
}

// mcpproxyQueries reads {"queries": [{id, query, labels: [{tool_id, relevance}]}]}.
func mcpproxyQueries(file *object) (*part, error) {
	p, seen := &part{format: FormatMCPProxy, queries: []Query{}}, make(claims)
	for _, v := range file.list("queries") {
		o := v.object("a query")
		q := Query{ID: o.text("id"), Text: o.text("query"), Grades: make(map[string]int)}
		seen.take(o, "query", q.ID)
		labelled := make(claims)
		for _, l := range o.list("labels") {
			label := l.object("a label")
			id := label.text("tool_id")
			q.Grades[id] = label.grade("relevance")
			labelled.take(label, "label of", id)
			if o.err == nil {
				o.err = label.err
			}
		}
		if o.err != nil {
			return nil, o.err
		}
		p.queries = append(p.queries, q)
	}
	return p, file.err
}

// ironclawPart reads {"tools": [{capability_id, name, description, parameters}], "intents": [{class, query, relevance: {tool
// name: grade}}]}. The names are model-visible ones already. Queries have no IDs there; theirs are i1, i2, … in order.
func ironclawPart(file *object) (*part, error) {
	p, seen := &part{format: FormatIronclaw, tools: []Tool{}, queries: []Query{}}, make(claims)
	for _, v := range file.list("tools") {
		o := v.object("a tool")
		source, _, _ := strings.Cut(o.optionalText("capability_id"), ".")
		name := o.text("name")
		t := Tool{ID: name, Name: name, Doc: search.Doc{
			Name: name, Description: o.optionalText("description"), Parameters: o.parameters("parameters"), Source: source,
		}}
		seen.take(o, "tool", t.ID)
		if o.err != nil {
			return nil, o.err
		}
		p.tools = append(p.tools, t)
	}
	for i, v := range file.list("intents") {
		o := v.object("an intent")
		q := Query{ID: fmt.Sprintf("i%d", i+1), Text: o.text("query"), Class: o.optionalText("class"), Grades: make(map[string]int)}
		if at, ok := o.take("relevance", "object"); ok {
			relevance := at.object("relevance")
			for _, tool := range relevance.keys {
				q.Grades[tool] = relevance.grade(tool)
			}
			o.err = relevance.err
		}
		if o.err != nil {
			return nil, o.err
		}
		p.queries = append(p.queries, q)
	}
	return p, file.err
}

// azureTools reads {"results": [{command, description, option: [{name}]}]}. A tool's name is its command with underscores,
// as the prompts have it.
func azureTools(file *object) (*part, error) {
	p, seen := &part{format: FormatAzureMCP, tools: []Tool{}}, make(claims)
	for _, v := range file.list("results") {
		o := v.object("a tool")
		words := strings.Fields(o.text("command"))
		name := strings.Join(words, "_")
		t := Tool{ID: name, Name: name, Doc: search.Doc{Name: name, Description: o.optionalText("description")}}
		if len(words) > 0 {
			t.Doc.Source = words[0]
		}
		if options, ok := o.fields["option"]; ok && options.kind() != "null" {
			for _, e := range o.list("option") {
				option := e.object("an option")
				t.Doc.Parameters = append(t.Doc.Parameters, option.text("name"))
				if o.err == nil {
					o.err = option.err
				}
			}
		}
		seen.take(o, "tool", t.ID)
		if o.err != nil {
			return nil, o.err
		}
		p.tools = append(p.tools, t)
	}
	return p, file.err
}

// azurePrompt tells a list of prompts.
func azurePrompt(v value) bool {
	prompts := v.elements()
	return len(prompts) > 0 && prompts[0].kind() == "string"
}

// azureQueries reads {tool: [prompt, …]}: one gold a prompt. Prompts have no IDs there; theirs are p1, p2, … in order.
func azureQueries(file *object) (*part, error) {
	p := &part{format: FormatAzureMCP, queries: []Query{}}
	for _, tool := range file.keys {
		for _, prompt := range file.list(tool) {
			words := prompt.string()
			if strings.TrimSpace(words) == "" {
				return nil, prompt.errorAt("write the prompts of a tool as texts", "a prompt of %s is no text, or blank", shown(tool))
			}
			p.queries = append(p.queries, Query{ID: fmt.Sprintf("p%d", len(p.queries)+1), Text: words, Grades: map[string]int{tool: 1}})
		}
	}
	return p, file.err
}

// sealPart reads lines {api_name, api_description, field, parameters} or {id, query, calling: [{api}]}. A tool that is called
// several times is one gold.
func sealPart(lines []value) (*part, error) {
	p, tools, queries := &part{format: FormatSealTools}, make(claims), make(claims)
	for _, v := range lines {
		o := v.object("a line")
		if o.has("calling") {
			q := Query{ID: o.text("id"), Text: o.text("query"), Grades: make(map[string]int)}
			queries.take(o, "query", q.ID)
			for _, e := range o.list("calling") {
				call := e.object("a call")
				q.Grades[call.text("api")] = 1
				if o.err == nil {
					o.err = call.err
				}
			}
			p.queries = append(p.queries, q)
		} else {
			name := o.text("api_name")
			tools.take(o, "tool", name)
			p.tools = append(p.tools, Tool{ID: name, Name: name, Doc: search.Doc{
				Name: name, Description: o.optionalText("api_description"), Parameters: o.names("parameters"), Source: o.optionalText("field"),
			}})
		}
		if o.err != nil {
			return nil, o.err
		}
	}
	return p, nil
}
