package python

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	mutants    = flag.Int("mutants", 5000, "compare `N` mutated modules with Python")
	mutantSeed = flag.Uint64("mutant-seed", 1, "seed `N` of the mutations")
)

// pieces cuts a module roughly: words, strings, numbers, white space and
// operators, so that a mutation moves whole tokens.
var pieces = regexp.MustCompile(`(?s)[a-zA-Z]{0,2}"""(?:\\.|.)*?"""|[a-zA-Z]{0,2}"(?:\\.|[^"\\\n])*"|[a-zA-Z]{0,2}'(?:\\.|[^'\\\n])*'` +
	`|\w+|#[^\n]*|\n[ \t]*|[ \t\f]+|\*\*=?|//=?|<<=?|>>=?|->|:=|\.\.\.|[-+*/%@&|^=!<>]=|.`)

// extra are pieces that the modules lack.
var extra = strings.Split("( ) [ ] { } , ; : . = * ** / -> := @ ~ ! | & as if else for in is not and or await async yield from lambda "+
	"def class return pass del try except finally raise with while match case type _ None True 0 1.5 2j 0x1f 012 b'x' u'y' rb'z' \\ registry.register "+
	"registry register case\u0020_: : *a **b ,) = += ... <> $ ? x:int", " ")

func mutate(random *rand.Rand, module, pool []string) string {
	text := append([]string(nil), module...)
	for range 1 + random.IntN(3) {
		i := random.IntN(len(text))
		switch random.IntN(6) {
		case 0:
			text = append(text[:i:i], text[i+1:]...)
		case 1:
			text = append(text[:i+1:i+1], text[i:]...)
		case 2:
			j := min(i+1+random.IntN(3), len(text)-1)
			text[i], text[j] = text[j], text[i]
		case 3:
			text = append(text[:i:i], append([]string{pool[random.IntN(len(pool))]}, text[i:]...)...)
		case 4:
			text[i] = pool[random.IntN(len(pool))]
		case 5:
			text = append(text[:i:i], append([]string{extra[random.IntN(len(extra))], " "}, text[i:]...)...)
		}
		if len(text) == 0 {
			return ""
		}
	}
	return strings.Join(text, "")
}

// finePieces cuts within strings too.
var finePieces = regexp.MustCompile(`\w+|\s+|.`)

func testModules(tb testing.TB, folder string) (texts []string) {
	names, err := filepath.Glob("testdata/" + folder + "/*.py")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no modules in testdata: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// moduleParts returns runs of a module's lines that are modules themselves: short
// ones, in which a mutation is likely to be all that matters.
func moduleParts(module string) (parts []string) {
	lines := strings.SplitAfter(module, "\n")
	for i := range lines {
		for j := i + 1; j <= min(i+25, len(lines)); j++ {
			part := strings.Join(lines[i:j], "")
			if _, err := Calls(part, register); err == nil && len(part) > 20 {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// TestMutatedModules compares verdicts on modules in which tokens are missing,
// doubled, swapped or strange.
func TestMutatedModules(t *testing.T) {
	t.Parallel()
	var parts [][]string
	pool := append([]string(nil), extra...)
	take := func(folder string, pieces *regexp.Regexp) {
		for _, m := range testModules(t, folder) {
			pool = append(pool, pieces.FindAllString(m, -1)...)
			for _, part := range moduleParts(m) {
				parts = append(parts, pieces.FindAllString(part, -1))
			}
		}
	}
	take("modules", pieces)
	if pythonMinor(t) >= 12 { // which reads formatted strings as it reads the rest
		take("formatted", pieces)
		take("formatted", finePieces)
	}
	random := rand.New(rand.NewPCG(*mutantSeed, 0))
	texts := make([]string, *mutants)
	for i := range texts {
		texts[i] = mutate(random, parts[random.IntN(len(parts))], pool)
	}
	n := compare(t, texts)
	t.Logf("%d of %d mutants are modules", n, len(texts))
	if n < len(texts)/20 || n > len(texts)*19/20 {
		t.Errorf("%d of %d mutants are modules: too one-sided to tell anything", n, len(texts))
	}
}

// FuzzCalls: whatever the text, there is an answer, and an error is one of
// syntax that names a line of the text.
func FuzzCalls(f *testing.F) {
	for _, m := range append(testModules(f, "modules"), testModules(f, "formatted")...) {
		f.Add(m)
	}
	for _, text := range []string{"", "\\", "f'{", "f'{x:{", "((", "\t x\n x", "if x:\n\ty\n        z", "match x:\n case", "\x00", "\xff", "'\\N{"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := Calls(text, register)
		lines := 2 + strings.Count(text, "\n") + strings.Count(text, "\r")
		var fault *SyntaxError
		switch {
		case err == nil:
			for _, c := range found {
				if c.Line < 1 || c.Line >= lines {
					t.Errorf("call in line %d of %d", c.Line, lines-1)
				}
			}
		case !errors.As(err, &fault):
			t.Errorf("error %v is no SyntaxError", err)
		case len(found) > 0 || fault.Line < 1 || fault.Line > lines || fault.Message == "":
			t.Errorf("%d calls beside the error %+v", len(found), fault)
		}
	})
}
