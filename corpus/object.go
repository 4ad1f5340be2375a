package corpus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/textfile"
)

// object is a JSON object of the project's own format while it is read. Its
// first fault is kept in err, so that a reader may take all fields and then ask
// once. A field that is absent reads as the zero value.
type object struct {
	what   string // what errors call it
	node   node
	fields map[string]node
	err    error
}

// readObject splits an object whose fields are known. Repeats are the caller's
// to refuse, by node.once.
func readObject(n node, what string, known ...string) *object {
	o := &object{what: what, node: n, fields: make(map[string]node, len(known))}
	if n.kind() != "object" {
		o.fail(n, fieldsHint(what, known), "%s is %s, want object", what, n.kind())
		return o
	}
	for _, m := range n.members() {
		if !slices.Contains(known, m.key) {
			o.err = n.doc.errorAt(m.keyAt, nearestHint(m.key, known)+" "+fieldsHint(what, known), "unknown field %s in %s", textfile.Shown(m.key), what)
			return o
		}
		o.fields[m.key] = m.value
	}
	return o
}

func fieldsHint(what string, known []string) string {
	return fmt.Sprintf("the fields of %s are %s", what, strings.Join(known, ", "))
}

// fail records a fault unless there was one before.
func (o *object) fail(at node, hint, format string, args ...any) {
	if o.err == nil {
		o.err = at.errorAt(hint, format, args...)
	}
}

// require refuses an object that lacks one of the fields.
func (o *object) require(names ...string) {
	for _, name := range names {
		if _, ok := o.fields[name]; !ok {
			o.fail(o.node, "add "+name, "%s lacks %s", o.what, name)
		}
	}
}

// take returns a field of a kind, or false if it is absent or at fault.
func (o *object) take(name, kind, hint string) (node, bool) {
	n, ok := o.fields[name]
	if ok && n.kind() != kind {
		if n.kind() == "null" {
			hint += ", or leave it out"
		}
		o.fail(n, hint, "%s of %s is %s, want %s", name, o.what, n.kind(), kind)
	}
	return n, ok && o.err == nil
}

func (o *object) text(name string) string {
	if n, ok := o.take(name, "string", "write it as text, in quotes"); ok {
		return n.text()
	}
	return ""
}

func (o *object) flag(name string) bool {
	n, ok := o.take(name, "boolean", "write true or false")
	return ok && string(n.raw()) == "true"
}

// count reads a whole number of 0 or more.
func (o *object) count(name string) int {
	const hint = "write a whole number of 0 or more"
	n, ok := o.take(name, "number", hint)
	if !ok {
		return 0
	}
	v, err := strconv.ParseInt(string(n.raw()), 10, 0)
	if err != nil || v < 0 {
		o.fail(n, hint, "%s of %s is %.80s, want a whole number of 0 or more", name, o.what, n.raw())
	}
	return int(v)
}

func (o *object) list(name string) []node {
	if n, ok := o.take(name, "array", "write a list"); ok {
		return n.elements()
	}
	return nil
}

// texts reads a list of texts, none of them empty.
func (o *object) texts(name string) []string {
	var texts []string
	for _, n := range o.list(name) {
		if n.kind() != "string" || n.text() == "" {
			o.fail(n, "write a list of texts", "%s of %s holds %.80s, want texts that are not empty", name, o.what, n.raw())
			return nil
		}
		texts = append(texts, n.text())
	}
	return texts
}

// version refuses every schema_version but the one that this program reads.
func (o *object) version() {
	if n, ok := o.fields["schema_version"]; ok && string(n.raw()) != strconv.Itoa(SchemaVersion) {
		o.fail(n, fmt.Sprintf("this program reads schema_version: %d", SchemaVersion), "schema_version %.80s is not supported", n.raw())
	}
}
