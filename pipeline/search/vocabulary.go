package search

import (
	"slices"
	"sync"
)

// termCount says how often one term occurs in one tool.
type termCount struct {
	id    uint32 // in the retriever's vocabulary
	level uint32 // which of the tool's frequencies
}

// vocabulary numbers terms in the order in which they are first seen. Scores never depend on the numbers, so it does not
// matter that concurrent callers draw them in some other order.
type vocabulary struct {
	stems *stemmer // makes terms of words; nil where a word is its own term
	mu    sync.RWMutex
	ids   map[string]uint32
}

// term turns a lower-cased word into its term, in the same bytes if there is room.
func (v *vocabulary) term(word []byte) []byte {
	if v.stems == nil {
		return word
	}
	return v.stems.appendStem(word[:0], word)
}

// size is the number of terms so far; every id handed out is below it.
func (v *vocabulary) size() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.ids)
}

// appendIDs appends the id of every token of text, in order, and gives a new one to a term never seen before.
func (v *vocabulary) appendIDs(dst []uint32, text string) []uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	var buffer [64]byte
	for pos := 0; ; {
		start, end := nextToken(text, pos)
		if start == end {
			return dst
		}
		pos = end
		token := v.term(appendLowerToken(buffer[:0], text[start:end]))
		id, ok := v.ids[string(token)]
		if !ok {
			id = uint32(len(v.ids))
			v.ids[string(token)] = id
		}
		dst = append(dst, id)
	}
}

// number returns the ids of terms, in order, and gives a new one to a term never seen before.
func (v *vocabulary) number(terms []string) []uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	ids := make([]uint32, len(terms))
	for i, term := range terms {
		id, ok := v.ids[term]
		if !ok {
			id = uint32(len(v.ids))
			v.ids[term] = id
		}
		ids[i] = id
	}
	return ids
}

// tokens returns the terms of text as they are looked up, in order.
func (v *vocabulary) tokens(text string) []string {
	tokens := Tokenize(text)
	for i, word := range tokens {
		tokens[i] = string(v.term([]byte(word)))
	}
	return tokens
}

// id returns the id of a term.
func (v *vocabulary) id(term string) (id uint32, ok bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	id, ok = v.ids[term]
	return id, ok
}

// appendKnownIDs appends the ids of those tokens of text that the vocabulary knows, in order, and returns the number of
// all its tokens. It never adds to the vocabulary, so queries cannot make it grow.
func (v *vocabulary) appendKnownIDs(dst []uint32, text string) (ids []uint32, tokens int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var buffer [64]byte
	for pos := 0; ; tokens++ {
		start, end := nextToken(text, pos)
		if start == end {
			return dst, tokens
		}
		pos = end
		if id, ok := v.ids[string(v.term(appendLowerToken(buffer[:0], text[start:end])))]; ok {
			dst = append(dst, id)
		}
	}
}

// countTerms sorts ids in place, counts their runs, and lists the different lengths of a run.
func countTerms(ids []uint32) (counts []termCount, frequencies []uint32) {
	slices.Sort(ids)
	for len(ids) > 0 {
		run := 1
		for run < len(ids) && ids[run] == ids[0] {
			run++
		}
		level := slices.Index(frequencies, uint32(run))
		if level < 0 {
			level = len(frequencies)
			frequencies = append(frequencies, uint32(run))
		}
		counts = append(counts, termCount{id: ids[0], level: uint32(level)})
		ids = ids[run:]
	}
	return slices.Clip(counts), slices.Clip(frequencies)
}
