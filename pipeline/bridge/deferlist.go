package bridge

import (
	"encoding/json"
	"fmt"
	"slices"
)

// DeferList is the `defer` setting: the core tools that are deferrable all the
// same. It is a list of names in a form that == compares: "" where the setting
// is absent, so that the toolset table's own list counts, else a compact JSON
// array of text.
type DeferList string

// NewDeferList returns the list of these names; without any, the list that
// defers no core tool.
func NewDeferList(names []string) DeferList { return DeferList(texts(names)) }

// Names returns the names in the order given; nil where the setting is absent.
func (l DeferList) Names() []string {
	var names []string
	if json.Unmarshal([]byte(l), &names) != nil {
		return nil
	}
	return names
}

// MarshalJSON writes the names as an array, and null where the setting is absent.
func (l DeferList) MarshalJSON() ([]byte, error) {
	if l == "" {
		return []byte("null"), nil
	}
	return []byte(l), nil
}

// UnmarshalJSON reads an array of text, or null for an absent setting.
func (l *DeferList) UnmarshalJSON(raw []byte) error {
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil {
		return fmt.Errorf("defer: %w\nhint: give a list of tool names, or [] to defer no core tool", err)
	}
	*l = ""
	if names != nil {
		*l = NewDeferList(names)
	}
	return nil
}

// DeferNames returns the core tools that these settings defer, sorted and each
// once: the list in the settings if there is one, else the defaults, which are
// the toolset table's own. It is what Options.Defer of a bridge with these
// settings is made of.
func (c Config) DeferNames(defaults []string) []string {
	names := defaults
	if c.Defer != "" {
		names = c.Defer.Names()
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
