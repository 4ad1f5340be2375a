package conformance

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodRoll = `{"distribution":"minimal","uniforms":[0.5],"sample":["web"],"unused":0}`

func TestUnusableInput(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	for name, c := range map[string]struct{ data, want string }{
		"empty":             {"", "vectors: the file is empty"},
		"blank":             {" \n\t\r\n", "vectors: the file is empty"},
		"empty array":       {" [ ]\n", "vectors: the array holds no vectors"},
		"not JSON":          {"id,variant\n", "vectors:1:1: invalid JSON"},
		"cut in a value":    {goodRoll + "\n" + goodRoll[:40], "vectors:2:41: invalid JSON: unexpected EOF\nhint: the file stops short"},
		"cut in a string":   {goodRoll[:10], "vectors:1:11: invalid JSON: unexpected EOF\nhint: the file stops short"},
		"cut in an array":   {"[" + goodRoll + ",\n", "vectors:2:1: invalid JSON: unexpected EOF\nhint: the file stops short"},
		"bad third line":    {goodRoll + "\n\n" + `  {"distribution": é}`, "vectors:3:20: invalid JSON"},
		"lines run on":      {goodRoll + "\n{\"a\":1\n" + goodRoll, "vectors:3:1: invalid JSON"},
		"comma behind":      {goodRoll + ",\n", "vectors:1:72: invalid JSON"},
		"not UTF-8":         {goodRoll + "\n{\"a\":\"é\xff\"}", "vectors:2:8: invalid UTF-8 (byte 0xff)"},
		"nested too deeply": {deep, "invalid JSON"},
		"number":            {"42", "vectors:1: not a vector of a known format"},
		"array of numbers":  {"[1,2]", "vectors:1: not a vector of a known format"},
		"another object":    {"\n{\"tools\":[]}", "vectors:2: not a vector of a known format"},
		"tools array":       {`[{"type":"function","function":{"name":"a"}}]`, "vectors:1: not a vector of a known format"},
		"array, then more":  {"[" + goodRoll + "]\n" + goodRoll, "vectors:1: not a vector of a known format"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := newRunner(Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.replay("vectors", []byte(c.data))
			if err == nil || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("error %v\nwant one of ErrInput with %q and a hint", err, c.want)
			}
		})
	}
}

func TestLayoutsAreOne(t *testing.T) {
	spread := strings.ReplaceAll(goodRoll, ",", ",\n\t")
	for name, data := range map[string]string{
		"lines":           goodRoll + "\n" + goodRoll + "\n",
		"no last newline": goodRoll + "\n" + goodRoll,
		"CRLF":            goodRoll + "\r\n\r\n" + goodRoll + "\r\n",
		"spread":          spread + "\n" + spread,
		"array":           "[\n" + goodRoll + ",\n" + spread + "]\n",
		"run together":    goodRoll + goodRoll,
	} {
		f := replayed(t, Options{}, []byte(data))
		if f.Vectors != 2 || f.Kinds[1].Passed != 2 {
			t.Errorf("%s: %d vectors, %+v", name, f.Vectors, f.Kinds)
		}
	}
}

func TestLinesOfVectors(t *testing.T) {
	for data, want := range map[string][]int{
		"1\n2\n\n3":            {1, 2, 4},
		"\n\n{\"a\":\n1}\n2":   {3, 5},
		" [1,\n2, 3,\n\n{}]\n": {1, 2, 2, 4},
		"\r\n[\n\n\"a\"]":      {4},
	} {
		vectors, err := split("file", []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, v := range vectors {
			got = append(got, v.line)
		}
		if len(got) != len(want) {
			t.Fatalf("%q: lines %v, want %v", data, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: lines %v, want %v", data, got, want)
			}
		}
	}
}

// The name of a file says nothing about its format.
func TestFormatGoesByContent(t *testing.T) {
	data, err := os.ReadFile("testdata/distributions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bridge-july.txt")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := mustRun(t, Options{}, path).Files[0]; f.Format != "distributions" || f.Vectors != 3 {
		t.Errorf("format %s, %d vectors", f.Format, f.Vectors)
	}
}

func TestTooLargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.jsonl")
	if err := os.WriteFile(path, []byte(goodRoll), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readFile(path, len(goodRoll)); err != nil {
		t.Errorf("a file of just the limit: %v", err)
	}
	_, err := readFile(path, len(goodRoll)-1)
	if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "larger than 70 bytes\nhint: split it") {
		t.Errorf("error %v", err)
	}
}

// FuzzReplay holds whatever bytes against the promise: an error with a hint, or a result that counts every vector.
func FuzzReplay(f *testing.F) {
	for _, file := range []string{"toolsets.json", "builtin-tools.jsonl", "distributions.jsonl", "sampling.jsonl"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	data, err := os.ReadFile("testdata/bridge.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		f.Add(line)
	}
	f.Add([]byte("[]"))
	f.Add([]byte(goodRoll[:30]))
	r, err := newRunner(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := r.replay("fuzzed", data)
		if err != nil {
			if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "hint: ") {
				t.Errorf("error without a class or a hint: %v", err)
			}
			return
		}
		decisions := 0
		for _, k := range result.Kinds {
			decisions += k.Passed + k.Failed + k.Departures
			if k.Kind == vectorKind && len(k.Differences) > 0 && strings.Contains(k.Differences[0].Fault, "panicked") {
				t.Errorf("%s", k.Differences[0].Fault)
			}
		}
		if result.Vectors == 0 || decisions == 0 {
			t.Errorf("%d vectors led to %d decisions", result.Vectors, decisions)
		}
		var report Report
		report.add(result)
		if err := report.WriteText(new(bytes.Buffer)); err != nil {
			t.Error(err)
		}
	})
}
