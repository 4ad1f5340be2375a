package corpus

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/internal/toolname"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// serverPrefix starts the toolset name of an MCP server's tools.
const serverPrefix = "mcp-"

// VisibleName is the name under which a model sees a server's tool: mcp__SERVER__TOOL,
// of letters, digits, - and _ only and at most 64 long. A name that would be longer,
// hold another character, or be read as another server's ends in _ and eight hex
// digits, a hash of the original; so does one that ends so by itself. Two originals
// therefore never meet but by a collision of the hash: loading refuses such a pair
// rather than let one tool hide the other.
func VisibleName(server, tool string) string { return toolname.Visible(server, tool) }

// repeats says what to do with a name that its owner lists twice.
type repeats int

const (
	// refuseRepeats: people wrote the file, and one of the two is a mistake.
	refuseRepeats repeats = iota
	// keepRepeats: a program listed what it found; see loader.settle.
	keepRepeats
)

// claim is a tool that claims an ID, and where it stands.
type claim struct {
	at      node
	tool    *Tool
	repeats repeats
}

// add takes a tool under its ID. function are the members of the function object
// behind the name; if the name is among them it is kept where it stands.
func (l *loader) add(at node, t *Tool, function []rawjson.Field, on repeats) error {
	t.File = at.doc.file
	t.Line, t.Column = at.doc.place(at.start)
	t.ID = t.Name
	visible := t.Name
	if t.Server != "" {
		t.ID = t.Server + "/" + t.Name
		t.Toolset = serverPrefix + t.Server
		visible = VisibleName(t.Server, t.Name)
	}
	if _, named := rawjson.Get(function, "name"); !named {
		function = slices.Insert(function, 0, rawjson.Field{Key: "name", Value: rawjson.String(visible)})
	}
	claims := l.claims[t.ID]
	if len(claims) > 0 && (on == refuseRepeats || claims[0].repeats == refuseRepeats) {
		return at.errorAt("keep one of the two, or rename it", "tool %s is declared again; first at %s", textfile.Shown(t.ID), claims[0].at.place())
	}
	var err error
	if t.Definition, err = registry.NewDefinition(function); err != nil {
		return at.errorAt("correct the tool's definition", "%w", err)
	}
	if len(claims) == 0 {
		l.ids = append(l.ids, t.ID)
	}
	l.claims[t.ID] = append(claims, claim{at: at, tool: t, repeats: on})
	return nil
}

// settle decides which claims become tools. Of claims on one ID that a model
// could not tell apart the first is kept. Others are different tools: the one
// whose content has the lowest hash keeps the ID, the rest get an ID and a
// visible name that end in a hash of their content. Which is which depends on
// content alone, not on the order of files.
func (l *loader) settle() error {
	for _, id := range l.ids {
		claims := l.claims[id]
		if len(claims) > 1 {
			claims = l.distinct(claims)
		}
		for i, c := range claims {
			if i > 0 {
				hash := toolname.Hash(c.tool.Definition.JSON)
				name := rawjson.String(toolname.WithHash(c.tool.Definition.Name, c.tool.Definition.JSON))
				var err error
				if c.tool.Definition, err = c.tool.Definition.With(rawjson.Field{Key: "name", Value: name}); err != nil {
					return c.at.errorAt("correct the tool's definition", "%w", err)
				}
				c.tool.ID += "~" + hash
				l.renamed++
			}
			if err := l.keep(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// distinct drops the claims that repeat an earlier one and sorts the others by
// the hash of their content. A tool is read-only if all its repeats say so, so one
// that does not stands for them.
func (l *loader) distinct(claims []claim) []claim {
	seen := make(map[string]*Tool, len(claims))
	var kept []claim
	for _, c := range claims {
		if first := seen[c.tool.Definition.JSON]; first != nil {
			if first.ReadOnly && !c.tool.ReadOnly {
				*first = *c.tool
			}
			l.merged++
			continue
		}
		seen[c.tool.Definition.JSON] = c.tool
		kept = append(kept, c)
	}
	slices.SortFunc(kept, func(a, b claim) int {
		x, y := sha256.Sum256([]byte(a.tool.Definition.JSON)), sha256.Sum256([]byte(b.tool.Definition.JSON))
		return bytes.Compare(x[:], y[:])
	})
	return kept
}

// keep makes a claim a tool of the corpus.
func (l *loader) keep(c claim) error {
	name := c.tool.Definition.Name
	if other, taken := l.visible[name]; taken {
		return c.at.errorAt("rename one of them", "tools %s and %s share the model-visible name %s; the first is at %s",
			textfile.Shown(other.tool.ID), textfile.Shown(c.tool.ID), textfile.Shown(name), other.at.place())
	}
	l.visible[name] = c
	l.corpus.Tools = append(l.corpus.Tools, c.tool)
	return nil
}
