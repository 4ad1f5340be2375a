package strictyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// read reads every kind of field from one text, and returns what it found.
func read(text string) (got map[string]any, err error) {
	r, root := NewReader("f.yaml", []byte(text))
	if root == nil {
		return nil, r.Err()
	}
	o := r.Object(root, "", "text", "word", "texts", "bool", "int", "float", "time", "json", "inner", "pairs")
	got = map[string]any{
		"text": o.Text("text"), "word": o.Word("word", "red", "green"), "texts": o.Texts("texts"), "bool": o.Bool("bool", true),
		"int": o.Int("int", 1, 9, 7), "float": o.Float("float", 0, 1, 0.5), "time": o.Duration("time", time.Second, time.Minute, 8*time.Second),
		"json": string(o.JSON("json")),
	}
	inner := o.Object(o.Field("inner"), "inner", "needed")
	inner.Require("write it", "needed")
	got["pairs"], _ = o.Pairs("pairs")
	return got, r.Err()
}

func TestValues(t *testing.T) {
	none := map[string]any{
		"text": "", "word": "", "texts": []string(nil), "bool": true, "int": 7, "float": 0.5, "time": 8 * time.Second, "json": "", "pairs": []string(nil),
	}
	for text, want := range map[string]map[string]any{
		"{}":                                    {},
		"text: a: b\n":                          nil, // not YAML
		"text: \"a: b\"":                        {"text": "a: b"},
		"text: 5":                               {"text": "5"},
		"word: green":                           {"word": "green"},
		"texts: [a, 1, \"c d\"]":                {"texts": []string{"a", "1", "c d"}},
		"texts: []":                             {},
		"bool: false":                           {"bool": false},
		"int: 1":                                {"int": 1},
		"int: 9":                                {"int": 9},
		"float: 1":                              {"float": 1.0},
		"float: 2.5e-1":                         {"float": 0.25},
		"time: 1m":                              {"time": time.Minute},
		"time: 1500ms":                          {"time": 1500 * time.Millisecond},
		"json: {b: [1, 2.50, yes, ~], a: true}": {"json": `{"b":[1,2.50,"yes",null],"a":true}`},
		"json: 0x10":                            {"json": "16"},
		"json: &x [1]\npairs: {z: *x, a: *x}":   {"json": "[1]", "pairs": []string{"z", "a"}},
		"inner: {needed: 1}":                    {},
		"text: &t hello\nword: green\njson: *t": {"text": "hello", "word": "green", "json": `"hello"`},
	} {
		got, err := read(text)
		if want == nil {
			if err == nil {
				t.Errorf("%q: no fault", text)
			}
			continue
		}
		for field, value := range none {
			if w, ok := want[field]; ok {
				value = w
			}
			if err != nil || !reflect.DeepEqual(got[field], value) {
				t.Errorf("%q: %s is %#v, want %#v (%v)", text, field, got[field], value, err)
			}
		}
	}
}

// TestFaults: every fault has its line, what is wrong, and something to do.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f.yaml: the file is empty"},
		{" \n\t\n", "f.yaml: the file is empty"},
		{"text: \xff", "f.yaml: the file is not UTF-8"},
		{"a: 1\n---\nb: 1", "f.yaml: not one YAML document"},
		{"# nothing", "f.yaml: not one YAML document"},
		{"text: [", "invalid YAML"},
		{"- a", "f.yaml:1: the file is not a mapping of fields"},
		{"text: a\ntxet: b", "f.yaml:2: unknown field \"txet\"\nhint: did you mean \"text\"?"},
		{"text: a\n\ntext: b", "f.yaml:3: field \"text\" is there twice"},
		{"text: [a]", "f.yaml:1: text is not a text"},
		{"text: ~", "f.yaml:1: text is not a text"},
		{"text: \"  \"", "f.yaml:1: text is not a text"},
		{"word: gren", "f.yaml:1: word: unknown word \"gren\"\nhint: did you mean \"green\"?"},
		{"texts: a", "f.yaml:1: texts is not a list"},
		{"texts:\n- a\n- [b]\n- ~", "f.yaml:3: texts has something that is no text\nhint: write a list of texts, such as [a, b]\nf.yaml:4: texts has"},
		{"bool: yes", "f.yaml:1: bool: \"yes\" is neither true nor false"},
		{"bool: \"true\"", "neither true nor false"},
		{"int: 0", "f.yaml:1: int: \"0\" is no such number\nhint: write a whole number from 1 to 9"},
		{"int: 10", "is no such number"},
		{"int: 2.0", "is no such number"},
		{"int: \"2\"", "is no such number"},
		{"float: .nan", "float: \".nan\" is no such number"},
		{"float: 1.01", "hint: write a number from 0 to 1"},
		{"time: 8", "f.yaml:1: time: \"8\" is no such time\nhint: write a time with its unit from 1s to 1m0s, such as 8s"},
		{"time: 61s", "is no such time"},
		{"json: {a: 1, a: 2}", "f.yaml:1: json: the key \"a\" is no text, or is there twice"},
		{"json: {[a]: 1}", "the key \"\" is no text"},
		{"json: .inf", "json: \".inf\" is no number of JSON"},
		{"inner: {}", "f.yaml:1: inner has no needed\nhint: write it"},
		{"inner: {nedeed: 1}", "f.yaml:1: inner: unknown field \"nedeed\""},
		{"inner: 5", "f.yaml:1: inner is not a mapping of fields"},
		{"pairs: {a: 1, a: 2}", "f.yaml:1: pairs: \"a\" is there twice"},
		{"pairs: [a]", "f.yaml:1: pairs is not a mapping"},
		{"json: &x {a: *x}", "an alias to what holds it\nhint: write the value out"},
		{"json: " + strings.Repeat("[", 65) + strings.Repeat("]", 65), "f.yaml:1"},
	} {
		_, err := read(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.text, err, c.want)
			continue
		}
		if n := strings.Count(err.Error(), "f.yaml"); n != strings.Count(err.Error(), "\nhint: ") {
			t.Errorf("%q: a fault without a hint: %v", c.text, err)
		}
	}
}

// TestAllFaults: one reading finds all faults, tells of them by line, and of no more than
// anybody reads.
func TestAllFaults(t *testing.T) {
	_, err := read("int: 0\nbool: 0\ntext: []\nword: blue\nodd: 1")
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 5 {
		t.Fatalf("want 5 faults, got %v", err)
	}
	for i, f := range faults {
		if f.Line != i+1 {
			t.Errorf("fault %d is of line %d", i, f.Line)
		}
	}
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "odd%d: 1\n", i)
	}
	_, err = read(many.String())
	if n := strings.Count(err.Error(), "unknown field"); n != faultsMax || !strings.HasSuffix(err.Error(), "\nand 1950 more") {
		t.Errorf("%d faults told, ending in %.30q", n, err.Error()[len(err.Error())-30:])
	}
}

// TestBombs: what a few lines mean with their aliases written out is refused before
// anybody writes it out, and so is what is nested deeply by them.
func TestBombs(t *testing.T) {
	wide := "a0: &a0 [x, x, x, x, x, x, x, x]\n"
	deep := "a0: &a0 [x]\n"
	for i := 1; i < 80; i++ {
		wide += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), ", "))
		deep += fmt.Sprintf("a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	list := "pairs: &p {a: " + strings.Repeat("x", 1000) + "}\ntexts: [" + strings.TrimSuffix(strings.Repeat("*p, ", 5000), ", ") + "]"
	for name, text := range map[string]string{"wide": wide, "deep": deep, "list": list} {
		_, err := read(text)
		if err == nil || !strings.Contains(err.Error(), "too large with its aliases written out") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	if _, err := read("json: &x [1]\npairs: {a: *x, b: *x, c: *x}"); err != nil {
		t.Errorf("a few aliases are refused: %v", err)
	}
}

func TestReadFile(t *testing.T) {
	folder := t.TempDir()
	good, large := filepath.Join(folder, "good.yaml"), filepath.Join(folder, "large.yaml")
	for path, size := range map[string]int{good: BytesMax, large: BytesMax + 1} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := ReadFile(good); err != nil || len(data) != BytesMax {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	for path, want := range map[string]string{large: "1048577 bytes", folder: "is a directory", filepath.Join(folder, "gone"): "no such file"} {
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// TestJSONAgain: JSON is YAML, so reading JSON gives the value that it was.
func TestJSONAgain(t *testing.T) {
	word := rapid.StringMatching(`[a-zäé"\\ :#{}-]{1,8}`)
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.IntRange(-1e9, 1e9), func(i int) any { return float64(i) }), rapid.Map(word, func(s string) any { return s }))
	branch := rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(leaf, 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(word, leaf, 0, 4), func(m map[string]any) any { return m }))
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"json": rapid.SliceOfN(branch, 0, 5).Draw(t, "value")}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		r, root := NewReader("f.yaml", text)
		if root == nil {
			t.Fatalf("%s: %v", text, r.Err())
		}
		var again any
		if err := json.Unmarshal(r.Object(root, "", "json").JSON("json"), &again); err != nil || !reflect.DeepEqual(again, value["json"]) || r.Err() != nil {
			t.Fatalf("%s gives %v (%v, %v)", text, again, err, r.Err())
		}
	})
}

// FuzzRead: any text is read or refused, with hints, and what is JSON is valid JSON.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "text: a", "json: {a: [1, ~, .inf]}", "inner: &x {needed: *x}", "? [a]\n: b", "a: 1\n---\nb: 2", "<<: {int: 3}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := read(text)
		if err != nil {
			if !strings.Contains(err.Error(), "\nhint: ") || utf8.ValidString(text) && !utf8.ValidString(err.Error()) {
				t.Fatalf("%q: %q", text, err)
			}
			return
		}
		if data := got["json"].(string); data != "" && !json.Valid([]byte(data)) {
			t.Fatalf("%q means %s", text, data)
		}
	})
}
