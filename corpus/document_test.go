package corpus

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/textfile"
)

// rebuilt reads a node through elements and members alone, numbers as written.
func rebuilt(n node) any {
	switch n.kind() {
	case "object":
		object := map[string]any{}
		for _, m := range n.members() {
			object[m.key] = rebuilt(m.value)
		}
		return object
	case "array":
		list := []any{}
		for _, e := range n.elements() {
			list = append(list, rebuilt(e))
		}
		return list
	case "string":
		return n.text()
	case "number":
		return json.Number(n.raw())
	case "null":
		return nil
	default:
		return string(n.raw()) == "true"
	}
}

// repeated reports whether an object has a key twice, by a decoder's tokens.
func repeated(d *json.Decoder) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return false
	}
	again := false
	keys := make(map[string]bool)
	for d.More() {
		if delim == '{' {
			key, _ := d.Token()
			again = again || keys[key.(string)]
			keys[key.(string)] = true
		}
		again = repeated(d) || again
	}
	_, _ = d.Token()
	return again
}

// FuzzDocument holds the reading of documents against encoding/json: the same
// texts are values, and split into the same parts.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		``, ` null `, "{ \"a\" : [1 ,-2.50e+3,{\"b\":\"\\u00e9\\\"]\"}] ,\r\n\"a\":true}", `["\ud800",""]`, `{"":{"":{}},"x":[[],[[]],{}]}`, `-0`, `[1`, `{"a"`, `"\`, `{"a":{"k":1,"k":2}}`, `[{"k":1},{"k":2}]`, `{"k":["k","k"]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := &document{file: "f", data: []byte(text)}
		n, err := d.value(0, len(text))
		if (err == nil) != json.Valid([]byte(text)) {
			t.Fatalf("value: %v, encoding/json says %t", err, json.Valid([]byte(text)))
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") || !strings.Contains(err.Error(), "\nhint: ") {
				t.Fatalf("error without a place or a hint: %v", err)
			}
			return
		}
		if !bytes.Equal(n.raw(), bytes.Trim([]byte(text), jsonSpace)) {
			t.Fatalf("raw %q", n.raw())
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		// encoding/json replaces what is no UTF-8; documents are checked before.
		if got := rebuilt(n); strings.ToValidUTF8(text, "") == text && !reflect.DeepEqual(got, want) {
			t.Fatalf("split %#v, want %#v", got, want)
		}
		if twice := repeated(json.NewDecoder(strings.NewReader(text))); strings.ToValidUTF8(text, "") == text && (n.once() != nil) != twice {
			t.Fatalf("once: %v, a key twice: %t", n.once(), twice)
		}
	})
}

func TestPlaces(t *testing.T) {
	d := &document{file: "f", data: []byte("é{\n\r\n  é\"x\"")}
	for offset, want := range map[int]string{0: "f:1:1", 2: "f:1:2", 4: "f:2:1", 8: "f:3:3", 10: "f:3:4", 99: "f:3:7"} {
		if got := d.at(offset); got != want {
			t.Errorf("at(%d) = %s, want %s", offset, got, want)
		}
	}
	d.marks = []mark{{0, 5, 1}, {4, 5, 9}, {8, 7, 3}}
	for offset, want := range map[int]string{0: "f:5:1", 3: "f:5:1", 4: "f:5:9", 7: "f:5:9", 8: "f:7:3", 99: "f:7:3"} {
		if got := d.at(offset); got != want {
			t.Errorf("with marks, at(%d) = %s, want %s", offset, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	for text, want := range map[string]string{"": `""`, "a\n\"é": `"a\n\"é"`, strings.Repeat("é", 81): `"` + strings.Repeat("é", 80) + `…"`} {
		if got := textfile.Shown(text); got != want {
			t.Errorf("textfile.Shown(%q) = %s, want %s", text, got, want)
		}
	}
}
