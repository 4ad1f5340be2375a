package python

import "strings"

// formattedStart begins a formatted string behind its prefix.
func (l *lexer) formattedStart(prefix string) token {
	t := token{fstringStart, l.line, ""}
	if strings.Contains(prefix, "t") {
		t.kind = tstringStart
	}
	if len(l.formatted) >= formattedMax {
		return l.breakOff("too many nested formatted strings")
	}
	l.formatted = append(l.formatted, formatted{
		quote: l.quote(), raw: strings.Contains(prefix, "r"), inText: true, base: len(l.brackets),
	})
	return t
}

// formattedText reads a piece of a formatted string's text or of a field's
// format, up to the brace or the quotes that end it. A field that begins at once
// has no piece before it.
func (l *lexer) formattedText(f *formatted) token {
	inFormat := len(f.fields) > 0
	if l.peek(0) == '{' && (inFormat || l.peek(1) != '{') {
		return l.fieldStart(f)
	}
	if l.has(f.quote) {
		if inFormat {
			return l.breakOff("a field of a formatted string is not closed")
		}
		l.at += len(f.quote)
		l.formatted = l.formatted[:len(l.formatted)-1]
		return token{stringEnd, l.line, ""}
	}
	t := token{stringMiddle, l.line, ""}
	for !l.has(f.quote) {
		c := l.peek(0)
		switch {
		case c == 0, c == '\n' && len(f.quote) == 1:
			return l.breakOff("a formatted string is not closed")
		case c == '{':
			if inFormat || l.peek(1) != '{' {
				return t
			}
			l.at += 2
		case c == '}' && inFormat:
			f.inText = false
			return t
		case c == '}':
			if l.peek(1) != '}' {
				return l.breakOff("a brace in a formatted string closes none")
			}
			l.at += 2
		case c == '\\' && (l.peek(1) == '{' || l.peek(1) == '}'):
			l.at++
		case c == '\\':
			if fault := l.escape(f.raw, false); fault != "" {
				return l.breakOff(fault)
			}
		default:
			l.pass(c)
		}
	}
	return t
}

// fieldStart passes the brace that opens a field.
func (l *lexer) fieldStart(f *formatted) token {
	if len(f.fields) >= fieldsMax {
		return l.breakOff("fields of a formatted string are nested too deeply")
	}
	if fault := l.countBracket('{'); fault != "" {
		return l.breakOff(fault)
	}
	l.at++
	f.inText = false
	f.fields = append(f.fields, len(l.brackets)-f.base)
	return token{operator, l.line, "{"}
}

// fieldPunctuation reads what ends the expression of a field: the brace that
// closes it, the colon in front of its format, the mark in front of its
// conversion, which a name has to follow at once.
func (l *lexer) fieldPunctuation(f *formatted, c byte) (token, bool) {
	last := len(f.fields) - 1
	if last < 0 || len(l.brackets)-f.base != f.fields[last] {
		return token{}, false
	}
	switch c {
	case ':':
		l.at++
		f.inText = true
		return token{operator, l.line, ":"}, true
	case '}':
		if fault := l.countBracket(c); fault != "" {
			return l.breakOff(fault), true
		}
		l.at++
		f.inText = true
		f.fields = f.fields[:last]
		return token{operator, l.line, "}"}, true
	case '!':
		if n := l.peek(1); n != '=' && (!isNameByte(n) || isDigit(n)) {
			return l.breakOff("a conversion does not follow its mark"), true
		}
	}
	return token{}, false
}
