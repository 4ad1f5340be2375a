//go:build unix

package corpus

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestImportIsLinear reads one long line, and an eighth of it eight times, in each
// shape that nests: work that grows with the length is about the same, work that
// grows with the square eight times as much.
func TestImportIsLinear(t *testing.T) {
	const tools, growth = 300, 8
	list := func(n int, text func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = text(i)
		}
		return strings.Join(parts, ",")
	}
	tool := func(i int) string {
		return fmt.Sprintf(`{"name":"t%d","description":"é%s","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, i, strings.Repeat("word ", 20))
	}
	for name, text := range map[string]func(n int) string{
		"array": func(n int) string { return "[" + list(n, tool) + "]" },
		"OpenAI": func(n int) string {
			return "[" + list(n, func(i int) string { return `{"function":` + tool(i) + `}` }) + "]"
		},
		"servers": func(n int) string {
			return "{" + list(n, func(i int) string { return fmt.Sprintf(`"s%d":{"tools":[%s]}`, i, tool(i)) }) + "}"
		},
		"repeats": func(n int) string {
			return "[" + list(n, func(i int) string { return strings.Replace(tool(i), fmt.Sprintf(`"t%d"`, i), `"t"`, 1) }) + "]"
		},
		"pages": func(n int) string {
			return "[" + list(n, func(i int) string { return `{"nextCursor":"x","tools":[` + tool(i) + "]}" }) + "]"
		},
	} {
		t.Run(name, func(t *testing.T) {
			spent := func(times int, text string) time.Duration {
				begin := processTime(t)
				for range times {
					if _, err := importing(text); err != nil {
						t.Fatal(err)
					}
				}
				return processTime(t) - begin
			}
			small, large := text(tools), text(growth*tools)
			spent(1, small)
			ratio := math.Inf(1)
			for range 3 { // of several tries the least disturbed
				ratio = min(ratio, float64(spent(1, large))/float64(spent(growth, small)))
				if ratio <= growth/2 {
					return
				}
			}
			t.Errorf("%d times the text takes %.1f times as long as %d readings of it", growth, ratio, growth)
		})
	}
}

// processTime is what the processor has done for this process: unlike the clock
// on the wall, it does not go on while others are at work.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Skip(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
