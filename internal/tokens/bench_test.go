package tokens

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// words that the benchmarks' sentences are made of; the names add rarer ones.
var words = strings.Fields(`a about account accounts after all an and any archive as attachment available before between branch by calendar can
	channel check comment contents create created customer date default deletes description document does each email error event every existing
	fetches field file filter folder for from get given has if in includes invoice is issue it label last limit list lists matching message most
	name new newest no not number of on one only optional or organisation owner page path payment project query reads record repository request
	result returns search sends set since state status string subscription than that the their them then this time to token unless until updates
	user value when which will with without workspace you your`)

func sentence(random *rand.Rand) string {
	var text strings.Builder
	for i := range 8 + random.IntN(14) {
		word := words[random.IntN(len(words))]
		if i == 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		} else if random.IntN(9) == 0 {
			text.WriteByte(',')
		}
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(word)
	}
	return text.String() + "."
}

func benchName(random *rand.Rand, i int) string {
	return fmt.Sprintf("mcp_%s_%s_%s%d", words[random.IntN(len(words))], words[random.IntN(len(words))], words[random.IntN(len(words))], i)
}

// benchTools is a tools array of n tools, some 900 bytes each.
func benchTools(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	tools := make([]tool, n)
	for i := range tools {
		parameters := map[string]parameter{}
		for range 4 {
			parameters[words[random.IntN(len(words))]] = parameter{"string", sentence(random)}
		}
		tools[i] = tool{"function", function{benchName(random, i), sentence(random) + "\n" + sentence(random), parameters}}
	}
	text, err := json.Marshal(tools)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// benchListing is a listing of n lines as it stands in JSON.
func benchListing(n int) string {
	random := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("Tools that can be searched:")
	for i := range n {
		fmt.Fprintf(&text, `\n- %s: %.60s`, benchName(random, i), sentence(random))
	}
	return text.String()
}

// Texts seen before as pieces, not as a whole.
func BenchmarkCount(b *testing.B) {
	texts := map[string]string{"tools": benchTools(1000), "listing": benchListing(300), "scripts": strings.Repeat(strings.Join(samples, "\n"), 100)}
	for _, name := range Names() {
		c := counter(b, name)
		for _, kind := range []string{"tools", "listing", "scripts"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				text := texts[kind]
				c.Count(text)
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					c.Count(text)
				}
			})
		}
	}
}

// The library, on a text a tenth as long.
func BenchmarkLibrary(b *testing.B) {
	made, err := oracles()
	if err != nil {
		b.Fatal(err)
	}
	text := benchTools(100)
	for _, name := range []string{o200kBase, cl100kBase} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				made[name].count(text)
			}
		})
	}
}

// An empty piece cache: every piece is merged or looked up.
func BenchmarkCountCold(b *testing.B) {
	c := counter(b, o200kBase)
	cold := &Counter{name: c.name, bpe: c.bpe, scan: c.scan}
	cold.queues.New = c.queues.New
	text := benchTools(1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		b.StopTimer()
		cold.cache = newPieceCache()
		b.StartTimer()
		cold.Count(text)
	}
}

func BenchmarkCountLongRun(b *testing.B) {
	c := counter(b, o200kBase)
	text := strings.Repeat("a", 100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c.Count(text)
	}
}

func BenchmarkMemoMeasure(b *testing.B) {
	memo := NewMemo(counter(b, o200kBase))
	text := benchListing(300)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		memo.Measure(text)
	}
}

// A listing of 300 lines, all seen before.
func BenchmarkMemoMeasureCut(b *testing.B) {
	memo := NewMemo(counter(b, o200kBase))
	text := benchListing(300)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		memo.MeasureCut(text, `\n- `, 2)
	}
}

func BenchmarkPrefix(b *testing.B) {
	c := counter(b, o200kBase)
	text := benchListing(300)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c.Prefix(text, len(text)-1)
	}
}

func BenchmarkLoadVocabulary(b *testing.B) {
	for b.Loop() {
		if _, err := loadVocabulary(o200kBase); err != nil {
			b.Fatal(err)
		}
	}
}
