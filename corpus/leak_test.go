package corpus

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// A request with its server: what a guess is made from, and what it is held to.
type guessed struct{ id, utterance, server string }

// TestEmbeddedUtterancesDoNotLeak guesses the server of a request from the form
// of the utterance alone: its function words, its length and its punctuation at
// the edges of words and inside them. Every author has habits, and a retriever
// or a model could learn them in place of what is asked for. The guesses may be
// right at most twice as often as those of somebody who always names the server
// with the most requests.
func TestEmbeddedUtterancesDoNotLeak(t *testing.T) {
	var requests []guessed
	for _, in := range embeddedCorpus(t).Intents {
		if in.Language != "en" || len(in.Gold) == 0 {
			continue
		}
		if server, _, served := strings.Cut(in.Gold[0].Tool, "/"); served {
			requests = append(requests, guessed{in.ID, in.Utterance, server})
		}
	}
	right, majority := guessServers(requests)
	t.Logf("%d requests: %d servers guessed, %d by naming the most frequent: %.2f times as many",
		len(requests), right, majority, float64(right)/float64(majority))
	if right > 2*majority {
		t.Errorf("the form of the utterances gives %d servers of %d away, want at most %d", right, len(requests), 2*majority)
	}
}

// TestLeakCanBeSeen gives every server a habit of its own, in each of the
// features, and then the same one to all.
func TestLeakCanBeSeen(t *testing.T) {
	const servers, each = 8, 30
	function := strings.Fields("about from with under both every who which")
	for _, row := range []struct {
		name  string
		habit func(server, n int) string
		leaks bool
	}{
		{"function words", func(s, _ int) string { return "look " + function[s] + " boxes" }, true},
		{"length", func(s, _ int) string { return strings.Repeat("box ", 1<<s) }, true},
		{"ends", func(s, _ int) string { return "look boxes" + string(".,;:?!)-"[s]) }, true},
		{"starts", func(s, _ int) string { return "look " + string("~#@$([{<"[s]) + "boxes" }, true},
		{"insides", func(s, _ int) string { return "look bo" + string(".,;:/_@-"[s]) + "xes" }, true},
		{"content", func(s, _ int) string { return fmt.Sprintf("look boxes%d-%d", s, s) }, false},
		{"habits of all", func(_, n int) string { return "look " + function[n%len(function)] + " boxes" }, false},
	} {
		var requests []guessed
		for s := range servers {
			for n := range each {
				requests = append(requests, guessed{fmt.Sprintf("%d-%d", s, n), row.habit(s, n), fmt.Sprint("server", s)})
			}
		}
		if right, majority := guessServers(requests); right > 2*majority != row.leaks {
			t.Errorf("%s: %d guessed, %d by naming the most frequent", row.name, right, majority)
		}
	}
}

// guessServers lets a multinomial naive Bayes classifier with add-one smoothing
// guess every server once, in ten folds that the ids decide, and says how many
// requests the most frequent server has.
func guessServers(requests []guessed) (right, majority int) {
	const folds = 10
	features, fold := make([][]string, len(requests)), make([]uint32, len(requests))
	frequency := make(map[string]int)
	for i, r := range requests {
		h := fnv.New32a()
		h.Write([]byte(r.id))
		features[i], fold[i] = formOf(r.utterance), h.Sum32()%folds
		frequency[r.server]++
		majority = max(majority, frequency[r.server])
	}
	for f := range uint32(folds) {
		model := bayes{classes: make(map[string]*class), known: make(map[string]bool)}
		for i, r := range requests {
			if fold[i] != f {
				model.learn(r.server, features[i])
			}
		}
		for i, r := range requests {
			if fold[i] == f && model.guess(features[i]) == r.server {
				right++
			}
		}
	}
	return right, majority
}

// formOf lists the features of an utterance that say nothing of what is asked
// for.
func formOf(utterance string) (features []string) {
	for _, w := range words(utterance) {
		if slices.Contains(functionWords, w) {
			features = append(features, "word "+w)
		}
	}
	tokens := strings.Fields(utterance)
	features = append(features, fmt.Sprint("length ", math.Round(2*math.Log2(float64(1+len(tokens))))))
	for _, token := range tokens {
		runes := []rune(token)
		for i, r := range runes {
			switch {
			case !isMark(r):
			case i == 0:
				features = append(features, "start "+string(r))
			case i == len(runes)-1:
				features = append(features, "end "+string(r))
			default:
				features = append(features, "inside "+string(r))
			}
		}
	}
	return features
}

func isMark(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

type bayes struct {
	classes map[string]*class
	known   map[string]bool
	seen    int
}

type class struct {
	requests, total int
	counts          map[string]int
}

func (b *bayes) learn(server string, features []string) {
	c := b.classes[server]
	if c == nil {
		c = &class{counts: make(map[string]int)}
		b.classes[server] = c
	}
	b.seen++
	c.requests++
	c.total += len(features)
	for _, f := range features {
		b.known[f] = true
		c.counts[f]++
	}
}

// guess returns the most likely server, of equals the first by name.
func (b *bayes) guess(features []string) string {
	likelihood := func(server string) float64 {
		c := b.classes[server]
		sum := math.Log(float64(c.requests) / float64(b.seen))
		for _, f := range features {
			if b.known[f] {
				sum += math.Log(float64(c.counts[f]+1) / float64(c.total+len(b.known)))
			}
		}
		return sum
	}
	best, most := "", math.Inf(-1)
	for server := range b.classes {
		if l := likelihood(server); cmp.Or(cmp.Compare(l, most), cmp.Compare(best, server)) > 0 {
			best, most = server, l
		}
	}
	return best
}
