package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/toolgauge/toolgauge/sessions"
)

// drawFile draws sessions in a process of its own and returns their file.
func drawFile(t *testing.T, rows, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("datagen", "sessions", "-n", rows, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("datagen sessions -n %s: %v\n%s", rows, err, out)
	}
	return path
}

// TestSameBytes draws the same sessions in two processes.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"s.parquet", "s.jsonl"} {
		first, err := os.ReadFile(drawFile(t, "300", name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(drawFile(t, "300", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s differs from one process to the other", name)
		}
	}
}

// TestRowsDrawnAlone draws rows by themselves and looks for the very same
// sessions in a draw of the whole.
func TestRowsDrawnAlone(t *testing.T) {
	t.Parallel()
	whole, err := sessions.ReadFile(drawFile(t, "600", "whole.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"part.parquet", "part.jsonl"} {
		part, err := sessions.ReadFile(drawFile(t, "500-599", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) != 600 || len(part) != 100 {
			t.Fatalf("%s: %d sessions of %d", name, len(part), len(whole))
		}
		for i := range part {
			if !reflect.DeepEqual(part[i], whole[500+i]) {
				t.Fatalf("%s: session %d is\n%+v\nin the whole\n%+v", name, 500+i, part[i], whole[500+i])
			}
		}
	}
}
