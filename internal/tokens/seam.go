package tokens

import "unicode/utf8"

// SeamExact reports whether every text may be cut at bytes into each
// occurrence of seam without changing its measure, in all tokenizers:
// whether that place is a pre-token boundary whatever stands around it. It
// looks at up to two code points before the cut, a and b, and the one
// after it, c, and knows these rules:
//
//   - b a letter, c neither letter nor mark nor apostrophe: letters stand
//     only in words, and only those continue a word.
//   - b a digit or other number, c no number: only numbers follow in its
//     pre-token.
//   - b CR or LF, c no white space and not '/': white space pre-tokens end
//     at the last line end, and line ends after symbols go on with line
//     ends and '/' alone.
//   - b a symbol, c white space other than CR and LF: a symbol leads a
//     word, which c cannot start, or stands in a run of symbols, which c
//     ends.
//   - a and b symbols, a not '/', c a letter or number: b follows a, so a
//     leads no word and stands in a run of symbols; the run takes b too, so
//     b leads no word either. ('/' may stand in the line ends after such
//     a run, and b then starts afresh.)
//
// Symbols here are punctuation, symbols and controls, without marks.
// Where no rule holds the answer is false, although in a narrower
// kind of text the place may be a boundary.
func SeamExact(seam string, at int) bool {
	if at <= 0 || at >= len(seam) || !utf8.ValidString(seam) || !utf8.RuneStart(seam[at]) {
		return false
	}
	b, width := utf8.DecodeLastRuneInString(seam[:at])
	c, _ := utf8.DecodeRuneInString(seam[at:])
	table := classes()
	left, right := table[b], table[c]
	switch {
	case left&letter != 0:
		return right&(letter|mark) == 0 && c != '\''
	case left == number:
		return right != number
	case left == newline:
		return right&white == 0 && c != '/'
	case left == other && right == space:
		return true
	case left == other && right&(letter|number) != 0 && at > width:
		a, _ := utf8.DecodeLastRuneInString(seam[:at-width])
		return table[a] == other && a != '/'
	}
	return false
}
