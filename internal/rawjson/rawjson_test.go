package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCompact(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"white space goes", " { \"b\" : [ 1 ,\t2 ] ,\r\n \"a\" : null } ", `{"b":[1,2],"a":null}`},
		{"key order stays, repeated keys too", `{"z":1,"a":2,"z":3}`, `{"z":1,"a":2,"z":3}`},
		{"numbers stay as they are written", `[1.0,1e3,-0,1E+2,0.10]`, `[1.0,1e3,-0,1E+2,0.10]`},
		{"white space in strings stays", `"a  b\tc"`, `"a  b\tc"`},
		{"escaped slash", `"a\/b"`, `"a/b"`},
		{"escaped letters", `"\u0041\u00e9\u5DE5"`, `"Aé工"`},
		{"surrogate pair", `"\ud83d\ude00"`, `"😀"`},
		{"lone surrogates", `"\ud83d-\ude00"`, `"�-�"`},
		{"two high surrogates, then a low one", `"\ud83d\ud83d\ude00"`, `"�😀"`},
		{"html characters are not escaped", `"\u003cb\u003e\u0026"`, `"<b>&"`},
		{"line separators are not escaped", `"\u2028\u2029"`, "\"\u2028\u2029\""},
		{"control characters keep the short escape", `"\u000a\u000d\u0009\u0008\u000c"`, `"\n\r\t\b\f"`},
		{"other control characters in hex, lower case", `"\u001F\u0000\u007f"`, "\"\\u001f\\u0000\x7f\""},
		{"quotes and backslashes", `"\u0022\u005c\"\\"`, `"\"\\\"\\"`},
		{"invalid UTF-8", "\"a\xff\xfeb\"", `"a��b"`},
		{"invalid UTF-8 beside an escape", "\"\\n\xff\"", `"\n�"`},
		{"a bracket in a string is no bracket", `{"a" : "}],{" }`, `{"a":"}],{"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Compact([]byte(row.in))
			if err != nil || string(got) != row.want {
				t.Errorf("Compact(%s) = %s, %v; want %s", row.in, got, err, row.want)
			}
		})
	}
}

func TestCompactRefuses(t *testing.T) {
	for _, in := range []string{"", " ", "{", `{"a":}`, `[1,]`, `"open`, "nul", "1 2", `{"a":1}}`, "'a'", "\"a\nb\"", `"\x"`, "NaN", "01"} {
		if got, err := Compact([]byte(in)); err == nil {
			t.Errorf("Compact(%q) = %s, want an error", in, got)
		}
		if got, err := Object([]byte(in)); err == nil {
			t.Errorf("Object(%q) = %v, want an error", in, got)
		}
		if got, err := Array([]byte(in)); err == nil {
			t.Errorf("Array(%q) = %v, want an error", in, got)
		}
	}
}

func TestObject(t *testing.T) {
	fields, err := Object([]byte(` {"b": {"x": [1, 2]}, "\u0061" : "}" , "b": true, "": -1.5e3, "n":null, "e":{}, "f":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Field{
		{"b", json.RawMessage(`{"x":[1,2]}`)},
		{"a", json.RawMessage(`"}"`)},
		{"b", json.RawMessage(`true`)},
		{"", json.RawMessage(`-1.5e3`)},
		{"n", json.RawMessage(`null`)},
		{"e", json.RawMessage(`{}`)},
		{"f", json.RawMessage(`[]`)},
	}
	if got, want := fmt.Sprintf("%q", fields), fmt.Sprintf("%q", want); got != want {
		t.Errorf("Object gave %s, want %s", got, want)
	}
	// A value may be appended to without writing into its neighbour.
	_ = append(fields[0].Value, "XXXXXXXX"...)
	if string(fields[2].Value) != "true" {
		t.Errorf("appending to one value changed another to %s", fields[2].Value)
	}
}

func TestObjectAndArrayNameWhatTheyGot(t *testing.T) {
	for in, kind := range map[string]string{`[]`: "array", `"a"`: "string", `1`: "number", `-1`: "number", `true`: "boolean", `null`: "null"} {
		if _, err := Object([]byte(in)); err == nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("Object(%s): error %v does not name %q", in, err, kind)
		}
	}
	if _, err := Array([]byte(`{}`)); err == nil || !strings.Contains(err.Error(), "object") {
		t.Errorf("Array({}): error %v does not name what it got", err)
	}
}

func TestGetAndSet(t *testing.T) {
	fields, err := Object([]byte(`{"a":1,"b":2,"a":3}`))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := Get(fields, "a"); !ok || string(v) != "3" {
		t.Errorf("Get(a) = %s, %t; want the last, as a decoder reads it", v, ok)
	}
	if _, ok := Get(fields, "c"); ok {
		t.Error("Get found a key that is not there")
	}
	fields = Set(fields, "a", json.RawMessage("4"))
	if v, _ := Get(fields, "a"); string(v) != "4" {
		t.Errorf("after Set, Get(a) = %s", v)
	}
	fields = Set(fields, "c", json.RawMessage("5"))
	if got, want := string(AppendObject(nil, fields)), `{"a":1,"b":2,"a":4,"c":5}`; got != want {
		t.Errorf("AppendObject = %s, want %s", got, want)
	}
}

func TestText(t *testing.T) {
	for _, row := range []struct {
		in, want string
		ok       bool
	}{
		{`"plain"`, "plain", true},
		{`""`, "", true},
		{` "spaced"`, "spaced", true},
		{`"a\"b\u00e9\ud83d\ude00"`, `a"bé😀`, true},
		{"\"\xff\"", "�", true},
		{`null`, "", false},
		{`7`, "", false},
		{`["a"]`, "", false},
		{``, "", false},
	} {
		if got, ok := Text([]byte(row.in)); got != row.want || ok != row.ok {
			t.Errorf("Text(%s) = %q, %t; want %q, %t", row.in, got, ok, row.want, row.ok)
		}
	}
}

func TestKind(t *testing.T) {
	for in, want := range map[string]string{
		"": "nothing", " \n\t\r": "nothing", " {}": "object", "\n[1]": "array", `"x"`: "string",
		"true": "boolean", "false": "boolean", "null": "null", "0": "number", "-1": "number",
	} {
		if got := Kind([]byte(in)); got != want {
			t.Errorf("Kind(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestPosition(t *testing.T) {
	data := []byte("ab\n工c\n")
	for _, row := range []struct {
		offset       int64
		line, column int
	}{
		{-5, 1, 1}, {0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {6, 2, 2}, {7, 2, 3}, {8, 3, 1}, {99, 3, 1},
	} {
		if line, column := Position(data, row.offset); line != row.line || column != row.column {
			t.Errorf("Position(%d) = %d:%d, want %d:%d", row.offset, line, column, row.line, row.column)
		}
	}
}

func TestErrorOffset(t *testing.T) {
	decode := func(text string, into any) ([]byte, error) {
		return []byte(text), json.Unmarshal([]byte(text), into)
	}
	var number struct{ A int }
	for _, row := range []struct {
		name, text string
		want       int64
	}{
		{"a stray character", `{"A":1 x}`, 7},
		{"a stray character at the end", `{"A":1}x`, 7},
		{"input that stops short", `{"A":`, 5},
	} {
		data, err := decode(row.text, &number)
		if got := ErrorOffset(err, data); err == nil || got != row.want {
			t.Errorf("%s: offset %d of %v, want %d", row.name, got, err, row.want)
		}
	}
	data, err := decode(`{"A":"text"}`, &number)
	if got := ErrorOffset(err, data); got < 5 || got >= int64(len(data)) {
		t.Errorf("a wrong type: offset %d of %v, want one within the value", got, err)
	}
	if got := ErrorOffset(errors.New("other"), []byte("abc")); got != 3 {
		t.Errorf("another error: offset %d, want the end", got)
	}
}

func TestStringMatchesTheDecoder(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x300; r++ {
		all.WriteRune(r)
	}
	all.WriteString("\u2028\U0001F600\xff\xc3(\ud7ff")
	literal := String(all.String())
	var back string
	if err := json.Unmarshal(literal, &back); err != nil {
		t.Fatal(err)
	}
	if want := string([]rune(all.String())); back != want { // a conversion replaces each bad byte
		t.Errorf("decoded %q, want %q", back, want)
	}
	if n := strings.Count(string(literal), `\u00`); n != 32-5 {
		t.Errorf("%d characters in hex, want the 27 control characters without a short escape", n)
	}
}

func ExampleCompact() {
	compact, err := Compact([]byte(`{ "type": "object", "properties": { "caf\u00e9": { "minimum": 1.0 } } }`))
	fmt.Println(string(compact), err)
	// Output: {"type":"object","properties":{"café":{"minimum":1.0}}} <nil>
}

func ExampleObject() {
	fields, _ := Object([]byte(`{"z": [1, 2], "a": "text"}`))
	for _, f := range fields {
		fmt.Println(f.Key, string(f.Value), Kind(f.Value))
	}
	// Output:
	// z [1,2] array
	// a "text" string
}
