package search

import (
	"sync"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

const (
	// stemsMax bounds what a stemmer remembers: queries must not make it grow without end.
	stemsMax = 1 << 18
	// stemmedBytesMax is the length up to which a word is stemmed. No word of a language is longer, and the algorithm takes
	// quadratic time.
	stemmedBytesMax = 128
)

// stemmer reduces words to their stems by Snowball's English algorithm (Porter2), and remembers the stems.
type stemmer struct {
	mu    sync.RWMutex
	stems map[string]string // by word
}

func newStemmer() *stemmer { return &stemmer{stems: make(map[string]string)} }

// appendStem appends the stem of a lower-cased word, whose bytes dst may share.
func (s *stemmer) appendStem(dst, word []byte) []byte { return append(dst, s.stem(word)...) }

// stem returns the stem of a lower-cased word.
func (s *stemmer) stem(word []byte) string {
	if len(word) > stemmedBytesMax {
		return string(word)
	}
	s.mu.RLock()
	stem, ok := s.stems[string(word)]
	s.mu.RUnlock()
	if ok {
		return stem
	}
	env := snowballstem.NewEnv(string(word))
	english.Stem(env)
	stem = env.Current()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stems) < stemsMax {
		s.stems[string(word)] = stem
	}
	return stem
}
