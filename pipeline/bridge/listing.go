package bridge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Form is how much a listing says.
type Form string

// The forms of a listing, from the most to the least.
const (
	// FormFull names every tool with a short description.
	FormFull Form = "full"
	// FormNames names every tool.
	FormNames Form = "names"
	// FormMixed names the tools of some sources and counts those of others.
	FormMixed Form = "mixed"
	// FormGroups counts the tools of every source.
	FormGroups Form = "groups"
	// FormNone is no listing: switched off, nothing deferred, or no form fits.
	FormNone Form = "none"
)

// tier is how much a surface with deferred tools tells of them: 1 where the
// listing names tools, all or some; 2 where it names sources at most. (A surface
// without deferred tools has tier 0.)
func (f Form) tier() int {
	if f == FormGroups || f == FormNone {
		return 2
	}
	return 1
}

const (
	listingHeader = "Deferred tools by source. Load a schema with `tool_describe`, run a tool with `tool_call`:"

	// shortDescriptionMax is the length in code points at which a listed
	// description is cut.
	shortDescriptionMax = 60

	// otherLabel groups deferred tools that no toolset holds.
	otherLabel = "other"
)

// Listing is the catalog text that tool_search's description carries.
type Listing struct {
	Form Form
	// Text is empty when Form is none.
	Text string
	// collapsed holds the labels of the sources that Text only counts.
	collapsed map[string]bool
}

// Names reports whether the listing names the tools of a source.
func (l Listing) Names(label string) bool {
	switch l.Form {
	case FormFull, FormNames:
		return true
	case FormMixed:
		return !l.collapsed[label]
	default:
		return false
	}
}

// group is the deferred tools of one source.
type group struct {
	label string
	tools []*registry.Definition
}

func (g *group) heading() string {
	return g.label + " tools (" + strconv.Itoa(len(g.tools)) + "):"
}

func (g *group) summary() string {
	return g.label + " (" + strconv.Itoa(len(g.tools)) + " tools, names omitted: find them with `tool_search`)"
}

// block is a group's part of a listing in both forms that name its tools, with
// their code points.
type block struct {
	tools                 []*registry.Definition // that it is of
	full, names           string
	fullRunes, namesRunes int
}

// blocksMax bounds the kept blocks; a full map is emptied.
const blocksMax = 1 << 12

// blockKey finds a block again, unless other tools of its source begin alike.
type blockKey struct {
	label string
	first *registry.Definition
	tools int
}

// block writes a group's part of a listing, or finds it if the group is the one
// that the memo knows.
func (b *Bridge) block(g *group) *block {
	key := blockKey{g.label, g.tools[0], len(g.tools)}
	if known := b.kept.blocks[key]; known != nil && slices.Equal(known.tools, g.tools) {
		return known
	}
	heading := g.heading()
	full, names := make([]byte, 0, 100*len(g.tools)), make([]byte, 0, 32*len(g.tools))
	full, names = append(full, heading...), append(append(names, heading...), '\n')
	for i, t := range g.tools {
		full = append(append(full, '\n'), b.line(t)...)
		if i > 0 {
			names = append(names, ", "...)
		}
		names = append(names, t.Name...)
	}
	made := &block{
		tools: slices.Clone(g.tools), full: string(full), names: string(names),
		fullRunes: utf8.RuneCount(full), namesRunes: utf8.RuneCount(names),
	}
	if len(b.kept.blocks) >= blocksMax {
		clear(b.kept.blocks)
	}
	b.kept.blocks[key] = made
	return made
}

// List writes the listing of deferred tools that fits a budget of estimated
// tokens: all in full, else all by name, else sources collapsed to a count,
// the largest first, until the text fits. The text depends on the set of tools
// and their sources only, not on their order: sources are sorted by label,
// tools by name and description, so a prompt cache sees the same bytes.
func (b *Bridge) List(deferred []*registry.Definition, budget int) Listing {
	return b.list(b.groups(deferred), budget)
}

func (b *Bridge) list(groups []group, budget int) Listing {
	if len(groups) == 0 {
		return Listing{Form: FormNone}
	}
	parts, texts := make([]*block, len(groups)), make([]string, 1+len(groups))
	texts[0] = listingHeader
	full := utf8.RuneCountInString(listingHeader)
	total := full
	for i := range groups {
		parts[i] = b.block(&groups[i])
		texts[1+i] = parts[i].full
		full += 1 + parts[i].fullRunes
		total += 1 + parts[i].namesRunes
	}
	if fits(full, budget) {
		return Listing{Form: FormFull, Text: strings.Join(texts, "\n")}
	}
	for i := range parts {
		texts[1+i] = parts[i].names
	}
	if fits(total, budget) {
		return Listing{Form: FormNames, Text: strings.Join(texts, "\n")}
	}
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(parts[b].namesRunes, parts[a].namesRunes), cmp.Compare(groups[a].label, groups[b].label))
	})
	collapsed := make(map[string]bool)
	for n, i := range order {
		texts[1+i] = groups[i].summary()
		collapsed[groups[i].label] = true
		total += utf8.RuneCountInString(texts[1+i]) - parts[i].namesRunes
		if !fits(total, budget) {
			continue
		}
		form := FormMixed
		if n == len(order)-1 {
			form = FormGroups
		}
		return Listing{Form: form, Text: strings.Join(texts, "\n"), collapsed: collapsed}
	}
	return Listing{Form: FormNone}
}

func fits(runes, budget int) bool { return estimate(runes) <= budget }

// groups sorts deferred tools by source label, then name, then description.
func (b *Bridge) groups(deferred []*registry.Definition) []group {
	labels := make([]string, len(deferred))
	for i, t := range deferred {
		labels[i] = otherLabel
		if toolset, ok := b.catalog.Toolset(t.Name); ok {
			labels[i] = label(toolset)
		}
	}
	return grouped(deferred, labels)
}

// grouped is groups for tools whose labels are known. Definitions come in the order
// of names, so that the tools of a source mostly stand together; then its group is
// a part of the given slice.
func grouped(deferred []*registry.Definition, labels []string) []group {
	index := make(map[string]int)
	var groups []group
	for from := 0; from < len(deferred); {
		to := from + 1
		for to < len(deferred) && labels[to] == labels[from] {
			to++
		}
		run := deferred[from:to:to]
		if i, again := index[labels[from]]; again {
			groups[i].tools = append(groups[i].tools, run...)
		} else {
			index[labels[from]] = len(groups)
			groups = append(groups, group{label: labels[from], tools: run})
		}
		from = to
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.label, b.label) })
	byName := func(a, b *registry.Definition) int {
		if a.Name != b.Name { // descriptions are long, and seldom decide
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Compare(a.Description, b.Description)
	}
	for i := range groups {
		if !slices.IsSortedFunc(groups[i].tools, byName) {
			groups[i].tools = slices.SortedFunc(slices.Values(groups[i].tools), byName)
		}
	}
	return groups
}

// label is the source's name as people know it: the toolset without the prefix
// of MCP servers, so a plugin and a server of one name stand together.
func label(toolset string) string { return strings.TrimPrefix(toolset, mcpPrefix) }

// listingLine is a tool's line in the full form.
func listingLine(t *registry.Definition, shortDescription func(string) string) string {
	text := "- " + t.Name
	if short := shortDescription(t.Description); short != "" {
		text += ": " + short
	}
	return text
}

// firstSentence is July's short description.
func firstSentence(description string) string {
	text := foldSpace(description)
	if i := strings.IndexAny(text, ".!?"); i >= 0 {
		if text[i] == '.' {
			i++
		}
		text = text[:i]
	}
	return cutToWord(text)
}

// wholeSentence is September's short description.
func wholeSentence(description string) string {
	text := foldSpace(description)
	for i := range len(text) {
		switch end := text[:i+1]; {
		case text[i] != '.' && text[i] != '!' && text[i] != '?':
		case i+1 < len(text) && text[i+1] != ' ':
		case strings.HasSuffix(end, "e.g."), strings.HasSuffix(end, "i.e."), strings.HasSuffix(end, "etc."):
		default:
			return cutToWord(end)
		}
	}
	return cutToWord(text)
}

// foldSpace turns each run of white space into one space and removes it at the
// ends.
func foldSpace(text string) string {
	return strings.Join(strings.FieldsFunc(text, isSpace), " ")
}

// cutToWord cuts a text that is too long for a listing.
func cutToWord(text string) string {
	if utf8.RuneCountInString(text) <= shortDescriptionMax {
		return text
	}
	cut := string([]rune(text)[:shortDescriptionMax])
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, ",;: ") + "…"
}
