package tokens

import "unicode/utf8"

// A scanner cuts well-formed text into pre-tokens, the pieces that an
// encoding's merges never cross. It gives the same pieces as the encoding's
// published pattern under a backtracking matcher:
//
//	o200k_base
//	  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	  \p{N}{1,3}
//	   ?[^\s\p{L}\p{N}]+[\r\n/]*
//	  \s*[\r\n]+
//	  \s+(?!\S)
//	  \s+
//	cl100k_base
//	  (?i:'s|'t|'re|'ve|'m|'ll|'d)
//	  [^\r\n\p{L}\p{N}]?\p{L}+
//	  \p{N}{1,3}
//	   ?[^\s\p{L}\p{N}]+[\r\n]*
//	  \s*[\r\n]+
//	  \s+(?!\S)
//	  \s+
//
// No alternative looks behind its own start, so a text cut at a pre-token
// boundary gives the same pieces on both sides of the cut as in one.
type scanner struct {
	class *classTable
	next  func(s *scanner, text string, i int) int
}

// at returns the class and the width of the code point at text[i:],
// which must not be empty.
func (s *scanner) at(text string, i int) (class, int) {
	if b := text[i]; b < utf8.RuneSelf {
		return s.class[b], 1
	}
	r, width := utf8.DecodeRuneInString(text[i:])
	return s.class[r], width
}

// run returns the end of the longest run of code points of set from i on.
func (s *scanner) run(text string, i int, set class) int {
	for i < len(text) {
		if b := text[i]; b < utf8.RuneSelf {
			if s.class[b]&set == 0 {
				return i
			}
			i++
			continue
		}
		r, width := utf8.DecodeRuneInString(text[i:])
		if s.class[r]&set == 0 {
			return i
		}
		i += width
	}
	return i
}

// nextO200k returns the end of the o200k_base pre-token at i.
func nextO200k(s *scanner, text string, i int) int {
	c, width := s.at(text, i)
	after := i + width
	switch {
	case c&letter != 0:
		end, _ := s.casedWord(text, i)
		return contraction(text, end)
	case c == number:
		return s.number(text, after)
	case c == newline:
		return s.blank(text, i)
	}
	// A mark, a space or another character leads a word if one follows.
	end, first := s.casedWord(text, after)
	switch {
	case first:
		return contraction(text, end)
	case c == mark:
		// The first alternative goes on without its optional lead
		// before the second one is tried, and then the mark alone is
		// its word.
		return contraction(text, after)
	case end > after:
		return contraction(text, end)
	}
	if end := s.symbols(text, i, c, after); end > i {
		for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == '/') {
			end++
		}
		return end
	}
	return s.blank(text, i)
}

// casedWord returns the end of an o200k_base word's letters and marks at
// i, and whether its first alternative (some lower half) gave them. An end
// of i means that no word is there.
func (s *scanner) casedWord(text string, i int) (end int, first bool) {
	lastTail := -1
	for i < len(text) {
		c, width := s.at(text, i)
		if c&wordHead == 0 {
			if c == lower {
				return s.run(text, i+width, wordTail), true
			}
			break
		}
		i += width
		if c != upper {
			lastTail = i
		}
	}
	// No lower case letter follows the head: the matcher gives back
	// characters until the last one that may stand in the tail as well.
	if lastTail >= 0 {
		return lastTail, true
	}
	return i, false
}

// nextCl100k returns the end of the cl100k_base pre-token at i.
func nextCl100k(s *scanner, text string, i int) int {
	c, width := s.at(text, i)
	after := i + width
	switch {
	case c&letter != 0:
		return s.run(text, after, letter)
	case c == number:
		return s.number(text, after)
	case c == newline:
		return s.blank(text, i)
	}
	if end := contraction(text, i); end > i {
		return end
	}
	if end := s.run(text, after, letter); end > after {
		return end
	}
	if end := s.symbols(text, i, c, after); end > i {
		for end < len(text) && (text[end] == '\n' || text[end] == '\r') {
			end++
		}
		return end
	}
	return s.blank(text, i)
}

// symbols returns the end of ` ?[^\s\p{L}\p{N}]+` at i, or i where it does
// not match; c is the class at i and after the place behind it.
func (s *scanner) symbols(text string, i int, c class, after int) int {
	if c != space {
		return s.run(text, after, symbol)
	}
	if text[i] == ' ' {
		if end := s.run(text, after, symbol); end > after {
			return end
		}
	}
	return i
}

// number returns the end of `\p{N}{1,3}` whose first digit ends at i.
func (s *scanner) number(text string, i int) int {
	for more := 2; more > 0 && i < len(text); more-- {
		c, width := s.at(text, i)
		if c != number {
			break
		}
		i += width
	}
	return i
}

// blank returns the end of the white space pre-token at i: up to the
// run's last CR or LF if it has one; else all but its last character,
// which is left to lead what follows; else, at the end of the text or
// where the run is one character, all of it.
func (s *scanner) blank(text string, i int) int {
	lastNewline, last, end := -1, i, i
	for end < len(text) {
		c, width := s.at(text, end)
		if c&white == 0 {
			break
		}
		last = end
		end += width
		if c == newline {
			lastNewline = end
		}
	}
	switch {
	case lastNewline >= 0:
		return lastNewline
	case end < len(text) && last > i:
		return last
	}
	return end
}

// contraction returns the end of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at i, or i
// where it does not match. Only ASCII letters have these lower cases.
func contraction(text string, i int) int {
	if i+1 >= len(text) || text[i] != '\'' {
		return i
	}
	first, second := text[i+1]|0x20, byte(0)
	if i+2 < len(text) {
		second = text[i+2] | 0x20
	}
	switch first {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if second == 'e' {
			return i + 3
		}
	case 'l':
		if second == 'l' {
			return i + 3
		}
	}
	return i
}
