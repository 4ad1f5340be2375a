package assembly_test

import (
	"testing"
)

// TestEmbeddedCoreSize: the core tools' schemas are as large as those of the
// system that they stand for, so that savings are not made by terse wording.
func TestEmbeddedCoreSize(t *testing.T) {
	const reference, share = 95_047, 0.15 // code points
	c := embedded(t)
	runes, found := 0, 0
	for _, tool := range c.Tools {
		if c.Toolsets.IsCore(tool.Definition.Name) {
			runes += tool.Definition.Runes
			found++
		}
	}
	if found != len(c.Toolsets.Core()) {
		t.Errorf("%d core tools, want %d", found, len(c.Toolsets.Core()))
	}
	if low, high := reference*(1-share), reference*(1+share); float64(runes) < low || float64(runes) > high {
		t.Errorf("core schemas of %d code points, want %.0f to %.0f", runes, low, high)
	}
	t.Logf("core schemas: %d code points", runes)
}
