package python

import (
	"slices"
	"strings"
)

// kind is what a token is.
type kind uint8

const (
	end kind = iota
	newline
	indent
	dedent
	name
	keyword
	number
	imaginary
	plainText
	bytesText
	fstringStart // f"
	tstringStart // t"
	stringMiddle // text between the fields of either
	stringEnd
	operator
	broken // what is no token; the lexer's fault says why
)

type token struct {
	kind kind
	line int
	text string // of names, keywords and operators
}

// Limits of Python's own tokenizer. What goes beyond is a syntax error there.
const (
	bracketsMax     = 200
	indentsMax      = 99  // beside none
	formattedMax    = 149 // formatted strings inside one another
	fieldsMax       = 3   // fields inside the format of a field
	decimalDigitMax = 4300
)

var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true, "async": true, "await": true,
	"break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true, "else": true, "except": true,
	"finally": true, "for": true, "from": true, "global": true, "if": true, "import": true, "in": true, "is": true,
	"lambda": true, "nonlocal": true, "not": true, "or": true, "pass": true, "raise": true, "return": true, "try": true,
	"while": true, "with": true, "yield": true,
}

// operators of several bytes, the longest first. <> is one, so that it is not read
// as two that the grammar knows.
var operators = []string{
	"**=", "//=", ">>=", "<<=", "...",
	"!=", "%=", "&=", "**", "*=", "+=", "-=", "->", "//", "/=", ":=", "<<", "<=", "<>", "==", ">=", ">>", "@=", "^=", "|=",
}

// secondBytes are the bytes that operators go on with.
const secondBytes = "=*/<>."

const singleOperators = "%&()*+,-./:;<=>@[]^{|}~!"

// column is the width of an indentation with tabs to every eighth column, and
// with tabs as one. Lines whose order depends on which of the two is meant are
// refused.
type column struct{ wide, narrow int }

// formatted is a formatted string that is being read.
type formatted struct {
	quote  string
	raw    bool
	inText bool  // in its text, or in the format of a field
	fields []int // how many brackets are open within each open field, its own brace included
	base   int   // how many brackets were open when it began
}

// bracket is an open bracket.
type bracket struct {
	opening byte
	line    int
}

// lexer cuts a text into tokens.
type lexer struct {
	text      string // ends with \n
	at        int
	line      int
	lineStart bool
	indents   []column
	pending   int // indents, or with a minus dedents, to give out
	brackets  []bracket
	formatted []formatted
	fault     *SyntaxError
}

func newLexer(source string) lexer {
	if strings.Contains(source, "\r") {
		source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	}
	if !strings.HasSuffix(source, "\n") {
		source += "\n"
	}
	return lexer{text: source, line: 1, lineStart: true, indents: []column{{}}}
}

// peek returns a byte ahead, or 0 behind the end: the text holds none.
func (l *lexer) peek(ahead int) byte {
	if l.at+ahead < len(l.text) {
		return l.text[l.at+ahead]
	}
	return 0
}

func (l *lexer) has(prefix string) bool { return strings.HasPrefix(l.text[l.at:], prefix) }

// breakOff ends the tokens with a fault.
func (l *lexer) breakOff(message string) token {
	if l.fault == nil {
		l.fault = &SyntaxError{l.line, message}
	}
	return token{kind: broken, line: l.fault.Line}
}

// next returns the next token; behind the end, the end again.
func (l *lexer) next() token {
	if l.fault != nil {
		return token{kind: broken, line: l.fault.Line}
	}
	if n := len(l.formatted); n > 0 && l.formatted[n-1].inText {
		return l.formattedText(&l.formatted[n-1])
	}
	blank := false
	for {
		if l.lineStart {
			l.lineStart = false
			if blank = l.indentation(); l.fault != nil {
				return l.breakOff("")
			}
		}
		if l.pending != 0 {
			return l.takePending()
		}
		l.skipSpace()
		start := l.line
		switch c := l.peek(0); {
		case c == 0:
			if n := len(l.brackets); n > 0 {
				l.line = l.brackets[n-1].line
				return l.breakOff("a bracket is not closed")
			}
			return token{kind: end, line: start}
		case c == '\n':
			l.newLine()
			if blank || len(l.brackets) > 0 {
				continue
			}
			return token{kind: newline, line: start}
		case c == '\\':
			if !l.continuation() {
				return l.breakOff("something other than a line follows a backslash")
			}
		default:
			return l.visible(c)
		}
	}
}

// newLine passes the line break that the lexer stands at.
func (l *lexer) newLine() {
	l.at++
	l.line++
	l.lineStart = true
}

// skipSpace passes white space within a line, and a comment behind it.
func (l *lexer) skipSpace() {
	for c := l.peek(0); c == ' ' || c == '\t' || c == '\f'; c = l.peek(0) {
		l.at++
	}
	if l.peek(0) == '#' {
		l.at += strings.IndexByte(l.text[l.at:], '\n')
	}
}

// continuation passes a backslash and the line break behind it, which must not
// end the text.
func (l *lexer) continuation() bool {
	if l.peek(1) != '\n' || l.at+2 >= len(l.text) {
		return false
	}
	l.at += 2
	l.line++
	return true
}

// indentation measures the white space that begins a line and decides on indents
// and dedents. It reports whether the line is blank.
func (l *lexer) indentation() (blank bool) {
	var here column
	continued := 0 // the width in front of a backslash; it counts for what follows
scan:
	for ; ; l.at++ {
		switch l.peek(0) {
		case ' ':
			here.wide++
			here.narrow++
		case '\t':
			here.wide = (here.wide/8 + 1) * 8
			here.narrow++
		case '\f':
			here = column{}
		case '\\':
			if continued == 0 {
				continued = here.wide
			}
			if !l.continuation() {
				l.breakOff("something other than a line follows a backslash")
				return false
			}
			l.at--
		default:
			break scan
		}
	}
	if c := l.peek(0); c == '#' || c == '\n' {
		return true
	}
	if len(l.brackets) > 0 {
		return false
	}
	if continued > 0 {
		here = column{continued, continued}
	}
	l.indent(here)
	return false
}

func (l *lexer) indent(here column) {
	top := func() column { return l.indents[len(l.indents)-1] }
	if here.wide > top().wide {
		switch {
		case len(l.indents) > indentsMax:
			l.breakOff("too many levels of indentation")
		case here.narrow <= top().narrow:
			l.breakOff("tabs and spaces are mixed")
		default:
			l.indents = append(l.indents, here)
			l.pending = 1
		}
		return
	}
	for here.wide < top().wide {
		l.indents = l.indents[:len(l.indents)-1]
		l.pending--
	}
	switch {
	case here.wide != top().wide:
		l.breakOff("the indentation is that of no block around")
	case here.narrow != top().narrow:
		l.breakOff("tabs and spaces are mixed")
	}
}

func (l *lexer) takePending() token {
	if l.pending > 0 {
		l.pending--
		return token{kind: indent, line: l.line}
	}
	l.pending++
	return token{kind: dedent, line: l.line}
}

// visible reads a token that begins with c, which is no white space.
func (l *lexer) visible(c byte) token {
	switch {
	case isNameByte(c) && !isDigit(c):
		return l.nameOrString()
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		return l.number()
	case c == '"' || c == '\'':
		return l.stringLiteral("")
	}
	if n := len(l.formatted); n > 0 {
		if t, ok := l.fieldPunctuation(&l.formatted[n-1], c); ok {
			return t
		}
	}
	if strings.IndexByte(secondBytes, l.peek(1)) >= 0 {
		if i := slices.IndexFunc(operators, l.has); i >= 0 {
			l.at += len(operators[i])
			return token{operator, l.line, operators[i]}
		}
	}
	i := strings.IndexByte(singleOperators, c)
	if i < 0 {
		return l.breakOff("a character that begins nothing")
	}
	if fault := l.countBracket(c); fault != "" {
		return l.breakOff(fault)
	}
	l.at++
	return token{operator, l.line, singleOperators[i : i+1]}
}

// countBracket keeps the open brackets; it returns what is wrong with one, if
// anything is.
func (l *lexer) countBracket(c byte) (fault string) {
	switch c {
	case '(', '[', '{':
		if len(l.brackets) >= bracketsMax {
			return "too many nested brackets"
		}
		l.brackets = append(l.brackets, bracket{c, l.line})
	case ')', ']', '}':
		last := len(l.brackets) - 1
		if last < 0 || l.brackets[last].opening != opening(c) {
			return "a bracket closes none"
		}
		l.brackets = l.brackets[:last]
	}
	return ""
}

func opening(closing byte) byte {
	switch closing {
	case ')':
		return '('
	case ']':
		return '['
	default:
		return '{'
	}
}

// nameOrString reads a name, a keyword, or a string with a prefix.
func (l *lexer) nameOrString() token {
	start, ascii := l.at, true
	for ; isNameByte(l.peek(0)); l.at++ {
		ascii = ascii && l.text[l.at] < 0x80
	}
	word := l.text[start:l.at]
	if c := l.peek(0); (c == '"' || c == '\'') && len(word) <= 2 {
		switch prefix := strings.ToLower(word); prefix {
		case "b", "u", "r", "br", "rb":
			return l.stringLiteral(prefix)
		case "f", "t", "fr", "rf", "tr", "rt":
			return l.formattedStart(prefix)
		}
	}
	switch {
	case ascii && keywords[word]:
		return token{keyword, l.line, word}
	case !ascii && !isIdentifier(word):
		return l.breakOff("a character that no name may hold")
	}
	return token{name, l.line, word}
}

// stringLiteral reads a string behind its prefix.
func (l *lexer) stringLiteral(prefix string) token {
	t := token{plainText, l.line, ""}
	raw, isBytes := strings.Contains(prefix, "r"), strings.Contains(prefix, "b")
	if isBytes {
		t.kind = bytesText
	}
	quote := l.quote()
	for !l.has(quote) {
		c := l.peek(0)
		switch {
		case c == 0, c == '\n' && len(quote) == 1:
			return l.breakOff("a string is not closed")
		case isBytes && c >= 0x80:
			return l.breakOff("a bytes literal holds a character that is not ASCII")
		case c == '\\':
			if fault := l.escape(raw, isBytes); fault != "" {
				return l.breakOff(fault)
			}
		default:
			l.pass(c)
		}
	}
	l.at += len(quote)
	return t
}

// quote passes the quotes that open a string.
func (l *lexer) quote() string {
	one := l.text[l.at : l.at+1]
	if three := strings.Repeat(one, 3); l.has(three) {
		l.at += 3
		return three
	}
	l.at++
	return one
}

// pass goes one byte on within a string.
func (l *lexer) pass(c byte) {
	if c == '\n' {
		l.line++
	}
	l.at++
}

// escape passes a backslash and what belongs to it; it returns what is wrong with
// the sequence, if anything is.
func (l *lexer) escape(raw, isBytes bool) (fault string) {
	l.at++
	c := l.peek(0)
	if c == 0 {
		return "a string is not closed"
	}
	if isBytes && c >= 0x80 {
		return "a bytes literal holds a character that is not ASCII"
	}
	l.pass(c)
	if raw || isBytes && c != 'x' {
		return ""
	}
	switch c {
	case 'x':
		return l.hexDigits(2)
	case 'u':
		return l.hexDigits(4)
	case 'U':
		return l.hexDigits(8)
	case 'N':
		return l.characterName()
	}
	return ""
}

func (l *lexer) hexDigits(n int) (fault string) {
	value := 0
	for range n {
		c := l.peek(0)
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if !isNameByte(c) || digit < 0 {
			return "an escape sequence lacks digits"
		}
		if value = value<<4 | digit; value > 0x10ffff {
			return "an escape sequence stands for no character"
		}
		l.at++
	}
	return ""
}

// characterName passes the {NAME} of a \N sequence. Names consist of letters,
// digits, spaces and hyphens.
func (l *lexer) characterName() (fault string) {
	const wrong = `\N is not followed by a character's name in braces`
	if l.peek(0) != '{' {
		return wrong
	}
	start := l.at + 1
	for l.at++; ; l.at++ {
		switch c := l.peek(0); {
		case c == '}' && l.at > start:
			l.at++
			return ""
		case c == ' ' || c == '-' || isNameByte(c) && c != '_' && c < 0x80:
		default:
			return wrong
		}
	}
}
