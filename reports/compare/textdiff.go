package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// EntryChange is a tool of a surface that was added, removed, edited or moved.
type EntryChange struct {
	Tool   string `json:"tool"`
	Change string `json:"change"` // added, removed, edited, moved
	// TokensBefore and TokensAfter are those of the tool's entry in the tools array, counted by itself.
	TokensBefore int `json:"tokens_before"`
	TokensAfter  int `json:"tokens_after"`
	// Lines are those of an edited description, of tool_search the listing's too, that changed: each begins with - or +.
	Lines []string `json:"lines,omitempty"`
	// Schema reports that an edited tool has other parameters, or something else than its description changed.
	Schema bool `json:"schema,omitempty"`
}

// entry is one element of a tools array.
type entry struct {
	name, description string
	rest              string // all but the description
	text              string
}

// entriesOf takes a tools array apart.
func entriesOf(array string) ([]entry, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(array), &raw); err != nil {
		return nil, fmt.Errorf("surface: %w\nhint: the tools array is no JSON; run again", err)
	}
	list := make([]entry, len(raw))
	for i, text := range raw {
		var tool struct {
			Function map[string]json.RawMessage `json:"function"`
		}
		if err := json.Unmarshal(text, &tool); err != nil {
			return nil, fmt.Errorf("surface: tool %d: %w\nhint: the tools array is none of OpenAI's form; run again", i, err)
		}
		e := entry{text: string(text)}
		_ = json.Unmarshal(tool.Function["name"], &e.name) // no text: none
		_ = json.Unmarshal(tool.Function["description"], &e.description)
		delete(tool.Function, "description")
		rest, err := json.Marshal(tool.Function)
		if err != nil {
			return nil, err
		}
		e.rest = string(rest)
		list[i] = e
	}
	return list, nil
}

// diffSurfaces lists what changed from a tools array to another, in the order of the second, removed tools last.
func diffSurfaces(before, after string, count func(string) (int, error)) ([]EntryChange, error) {
	a, err := entriesOf(before)
	if err != nil {
		return nil, err
	}
	b, err := entriesOf(after)
	if err != nil {
		return nil, err
	}
	list := []EntryChange{}
	note := func(change EntryChange, was, is *entry) (err error) {
		if was != nil {
			if change.TokensBefore, err = count(was.text); err != nil {
				return err
			}
		}
		if is != nil {
			if change.TokensAfter, err = count(is.text); err != nil {
				return err
			}
		}
		list = append(list, change)
		return nil
	}
	moved := movedTools(a, b)
	for i := range b {
		is := &b[i]
		was := find(a, is.name)
		switch {
		case was == nil:
			err = note(EntryChange{Tool: is.name, Change: "added"}, nil, is)
		case was.text != is.text:
			err = note(EntryChange{
				Tool: is.name, Change: "edited", Lines: diffLines(was.description, is.description),
				Schema: was.rest != is.rest || was.description == is.description,
			}, was, is)
		case moved[is.name]:
			err = note(EntryChange{Tool: is.name, Change: "moved"}, was, is)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range a {
		if find(b, a[i].name) == nil {
			if err := note(EntryChange{Tool: a[i].name, Change: "removed"}, &a[i], nil); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

func find(entries []entry, name string) *entry {
	if i := slices.IndexFunc(entries, func(e entry) bool { return e.name == name }); i >= 0 {
		return &entries[i]
	}
	return nil
}

// movedTools are the tools of both arrays that are no longer in the order that the longest unmoved part has.
func movedTools(a, b []entry) map[string]bool {
	names := func(entries, other []entry) (list []string) {
		for _, e := range entries {
			if find(other, e.name) != nil {
				list = append(list, e.name)
			}
		}
		return list
	}
	moved := make(map[string]bool)
	for _, line := range diff(names(a, b), names(b, a)) {
		moved[line[2:]] = true
	}
	return moved
}

// diffLines lists the lines that two texts do not share, each behind "- " or "+ ".
func diffLines(before, after string) []string {
	return diff(strings.Split(before, "\n"), strings.Split(after, "\n"))
}

// diffLinesMax bounds the lines that are compared in order: it takes their product in steps.
const diffLinesMax = 4000

// diff keeps a longest common subsequence and gives the rest.
func diff(a, b []string) (changes []string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > diffLinesMax || len(b) > diffLinesMax {
		return append(marked("- ", a), marked("+ ", b)...)
	}
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]uint16, len(a)+1)
	for i := range common {
		common[i] = make([]uint16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			changes = append(changes, "- "+a[i])
			i++
		default:
			changes = append(changes, "+ "+b[j])
			j++
		}
	}
	return changes
}

func marked(mark string, lines []string) []string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = mark + line
	}
	return list
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
