package corpus

import (
	"bytes"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// The fields of a card file, of a tool card and of a mention.
var (
	cardFileFields = []string{"schema_version", "server", "tools", "listed"}
	cardFields     = []string{"name", "toolset", "description", "parameters", "inputSchema", "requires_env", "check", "max_result_size_chars", "async", "read_only", "mentions"}
	mentionFields  = []string{"text", "tools"}
)

// cards reads a card file: {"server": …, "tools": [card, …]}; without a server,
// each card names its toolset. A file with listed in place of tools holds what a
// server answered; see loader.listed.
func (l *loader) cards(n node) error {
	o := readObject(n, "a card file", cardFileFields...)
	if o.err != nil {
		return o.err
	}
	if _, ok := o.fields["listed"]; ok {
		return l.listed(n, o)
	}
	if err := n.once(); err != nil {
		return err
	}
	o.require("tools")
	o.version()
	server := o.text("server")
	if at, ok := o.fields["server"]; ok && server == "" {
		o.fail(at, "name the MCP server, or leave the field out", "server is empty")
	}
	cards := o.list("tools")
	if o.err != nil {
		return o.err
	}
	for _, c := range cards {
		if err := l.card(c, server); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) card(n node, server string) error {
	o := readObject(n, "a tool card", cardFields...)
	t := &Tool{
		Server: server, Name: o.text("name"), Toolset: o.text("toolset"), Raw: bytes.Clone(n.raw()),
		RequiresEnv: o.texts("requires_env"), Check: o.text("check"), MaxResultSize: o.count("max_result_size_chars"),
		Async: o.flag("async"), ReadOnly: o.flag("read_only"),
	}
	description := o.text("description")
	function := []rawjson.Field{{Key: "description", Value: rawjson.String(description)}}
	schema, ok := o.take("parameters", "object", schemaHint)
	if listed, isListed := o.take("inputSchema", "object", schemaHint); isListed { // as MCP servers call it
		if ok {
			o.fail(listed, "keep one of the two", "tool %s has parameters and inputSchema, which mean the same", textfile.Shown(t.Name))
		}
		schema, ok = listed, true
	}
	if ok {
		function = append(function, rawjson.Field{Key: "parameters", Value: schema.raw()})
	}
	t.Mentions = l.mentions(o, t.Name, description)
	at, hasToolset := o.fields["toolset"]
	switch {
	case t.Name == "":
		o.fail(n, nameHint, "tool without a name")
	case server == "" && t.Toolset == "":
		o.fail(n, "name the server at the top of the file, or the card's toolset", "tool %s has neither server nor toolset", textfile.Shown(t.Name))
	case server != "" && hasToolset:
		o.fail(at, "leave toolset out: the tools of a server are a toolset of their own", "tool %s has a server and a toolset", textfile.Shown(t.Name))
	case server == "" && reservedToolset(t.Toolset):
		o.fail(at, "choose another name, or name the server at the top of the file", "toolset %s is reserved", textfile.Shown(t.Toolset))
	}
	if o.err != nil {
		return o.err
	}
	return l.add(n, t, function, refuseRepeats)
}

// reservedToolset reports whether a name has a meaning that no declaration may
// take: every toolset, or the tools of an MCP server.
func reservedToolset(name string) bool {
	return name == "all" || name == "*" || strings.HasPrefix(name, serverPrefix)
}

const (
	nameHint   = "give every tool a non-empty name"
	schemaHint = `a schema is an object such as {"type":"object","properties":{}}`
)

// mentions reads a card's mentions. That the tools named exist is checked when
// all tools are known.
func (l *loader) mentions(o *object, tool, description string) []Mention {
	var mentions []Mention
	for _, n := range o.list("mentions") {
		m := readObject(n, "a mention", mentionFields...)
		m.require(mentionFields...)
		mention := Mention{Text: m.text("text"), Tools: m.texts("tools")}
		if m.err == nil && (mention.Text == "" || strings.Count(description, mention.Text) != 1) {
			m.fail(m.fields["text"], "repeat a part of the description that stands there once", "mention %s of tool %s stands %d times in its description",
				textfile.Shown(mention.Text), textfile.Shown(tool), strings.Count(description, mention.Text))
		}
		for _, at := range m.list("tools") {
			if at.kind() == "string" {
				l.mentioned = append(l.mentioned, reference{at: at, what: "mention of tool " + textfile.Shown(tool), name: at.text()})
			}
		}
		if m.err == nil && len(mention.Tools) == 0 {
			m.fail(m.fields["tools"], "name the tools that the text speaks of", "mention %s of tool %s names no tools", textfile.Shown(mention.Text), textfile.Shown(tool))
		}
		if m.err != nil {
			if o.err == nil {
				o.err = m.err
			}
			return nil
		}
		mentions = append(mentions, mention)
	}
	return mentions
}
