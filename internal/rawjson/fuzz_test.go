package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// FuzzAgainstEncodingJSON holds every reader against encoding/json: the same
// texts are accepted, the same values read, and the compact form is a fixed
// point that decodes to what the original decodes to.
func FuzzAgainstEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		``, `null`, ` {"a" : [1, {"b":"\u00e9\ud83d\ude00\/"}], "a":2 } `, `["\ud800","\udc00\ud800",""]`,
		"\"\xff\\n\"", `{"":{"":{}}}`, `[[],[[]],{}]`, `{"a":"]},\""}`, `-0.0e+1`, `"\u0000\u001f\u007f\u2028"`, `[1`, `{"a"`, `"\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		compact, err := Compact(raw)
		if (err == nil) != json.Valid(raw) {
			t.Fatalf("Compact error %v, encoding/json says valid: %t", err, json.Valid(raw))
		}
		fields, objectErr := Object(raw)
		elements, arrayErr := Array(raw)
		kind := Kind(raw)
		if err != nil {
			if objectErr == nil || arrayErr == nil {
				t.Fatal("invalid JSON was split")
			}
			return
		}
		checkCompact(t, raw, compact)
		if (objectErr == nil) != (kind == "object") || (arrayErr == nil) != (kind == "array") {
			t.Fatalf("kind %s, Object error %v, Array error %v", kind, objectErr, arrayErr)
		}
		text, isText := Text(raw)
		if decoded, ok := decodeExact(t, raw).(string); ok != isText || decoded != text {
			t.Fatalf("%q reads as %q, %t", raw, text, isText)
		}
		switch kind {
		case "object":
			checkObject(t, raw, compact, fields)
		case "array":
			checkArray(t, raw, elements)
		}
		Position(raw, int64(len(raw)/2))
	})
}

// decodeExact decodes with numbers kept as they are written.
func decodeExact(t *testing.T, raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q does not decode: %v", raw, err)
	}
	return v
}

func checkCompact(t *testing.T, raw, compact []byte) {
	if !reflect.DeepEqual(decodeExact(t, raw), decodeExact(t, compact)) {
		t.Fatalf("%q and its compact form %q decode to different values", raw, compact)
	}
	again, err := Compact(compact)
	if err != nil || !bytes.Equal(again, compact) {
		t.Fatalf("compacting twice: %q, then %q, %v", compact, again, err)
	}
	// encoding/json's own compaction drops the same white space.
	var theirs bytes.Buffer
	if err := json.Compact(&theirs, compact); err != nil || theirs.String() != string(compact) {
		t.Fatalf("white space left in %q: %q, %v", compact, theirs.String(), err)
	}
}

func checkObject(t *testing.T, raw, compact []byte, fields []Field) {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for key, value := range want {
		got, ok := Get(fields, key)
		if !ok || !reflect.DeepEqual(decodeExact(t, got), decodeExact(t, value)) {
			t.Fatalf("field %q of %q is %q, want %q", key, raw, got, value)
		}
	}
	for _, f := range fields {
		if _, ok := want[f.Key]; !ok {
			t.Fatalf("field %q is not in %q", f.Key, raw)
		}
	}
	if joined := AppendObject(nil, fields); !bytes.Equal(joined, compact) {
		t.Fatalf("split and joined: %q, want %q", joined, compact)
	}
}

func checkArray(t *testing.T, raw []byte, elements []json.RawMessage) {
	var want []json.RawMessage
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if len(elements) != len(want) {
		t.Fatalf("%q has %d elements, want %d", raw, len(elements), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(decodeExact(t, elements[i]), decodeExact(t, want[i])) {
			t.Fatalf("element %d of %q is %q, want %q", i, raw, elements[i], want[i])
		}
	}
}

// TestStringRoundTrip: a literal of any text decodes to that text.
func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var back string
		if err := json.Unmarshal(String(text), &back); err != nil || back != text {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
		compact, err := Compact(String(text))
		if err != nil || !bytes.Equal(compact, String(text)) {
			t.Fatalf("the literal %s is not compact: %s, %v", String(text), compact, err)
		}
	})
}
