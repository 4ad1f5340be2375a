package python

// matchHead reads the first line of a match statement. The word is a name
// everywhere else.
func (p *parser) matchHead() bool {
	p.advance()
	if !p.expressionAhead() {
		return false
	}
	if e := p.list(p.maybeStarredNamed); e.form == starred {
		return false
	}
	return p.accept(":") && p.acceptKind(newline)
}

// matchBody reads the cases of a match statement.
func (p *parser) matchBody() {
	p.expectKind(indent, "an indented block")
	for {
		if p.expectName() != "case" {
			p.fail("case is missing")
		}
		p.patterns()
		if p.accept("if") {
			p.named()
		}
		p.block("case")
		if p.fault != nil || p.acceptKind(dedent) {
			return
		}
	}
}

// patterns reads the pattern of a case, which may be a sequence without brackets.
func (p *parser) patterns() {
	if p.patternList(func() bool { return p.at(":") || p.at("if") }) == starAlone {
		p.fail("a starred pattern stands alone")
	}
}

// How many patterns a list had.
type listed uint8

const (
	onePattern listed = iota
	starAlone
	several // or one with a comma behind it
)

// patternList reads one or more patterns parted by commas, each of which may be
// starred.
func (p *parser) patternList(closed func() bool) listed {
	result := onePattern
	for {
		if p.accept("*") {
			p.expectName()
			if result == onePattern {
				result = starAlone
			}
		} else {
			p.pattern()
		}
		if !p.accept(",") {
			return result
		}
		result = several
		if closed() {
			return result
		}
	}
}

// pattern reads alternatives, and the name that what matches is bound to.
func (p *parser) pattern() {
	p.closedPattern()
	for p.accept("|") {
		p.closedPattern()
	}
	if p.accept("as") {
		p.capture()
	}
}

// capture reads a name that is bound; _ binds nothing.
func (p *parser) capture() {
	if p.expectName() == "_" {
		p.fail("_ cannot be bound")
	}
}

func (p *parser) closedPattern() {
	switch {
	case p.acceptLiteral():
	case p.atKind(name) && p.peek(0).text == "_": // matches everything, and nothing may hang on it
		p.advance()
	case p.atKind(name):
		p.dottedName()
		if p.accept("(") {
			p.classPattern()
		}
	case p.accept("("):
		if p.accept(")") {
			return
		}
		if p.patternList(func() bool { return p.at(")") }) == starAlone {
			p.fail("a starred pattern stands alone in parentheses")
		}
		p.expect(")")
	case p.accept("["):
		if p.accept("]") {
			return
		}
		p.patternList(func() bool { return p.at("]") })
		p.expect("]")
	case p.accept("{"):
		p.mappingPattern()
	default:
		p.fail("a pattern is missing")
	}
}

// acceptLiteral reads a literal that a pattern may hold, if there is one.
func (p *parser) acceptLiteral() bool {
	switch t := p.peek(0); t.kind {
	case number, imaginary:
		p.signedNumber()
		return true
	case plainText, bytesText, fstringStart, tstringStart:
		p.strings()
		return true
	}
	if p.at("-") {
		p.signedNumber()
		return true
	}
	return p.accept("None") || p.accept("True") || p.accept("False")
}

// signedNumber reads a number, or a complex one: REAL + IMAGINARY.
func (p *parser) signedNumber() {
	p.accept("-")
	isReal := p.atKind(number)
	if !isReal && !p.atKind(imaginary) {
		p.fail("a number is missing")
	}
	p.advance()
	if p.accept("+") || p.accept("-") {
		if !isReal || !p.atKind(imaginary) {
			p.fail("a complex number is not a real and an imaginary one")
		}
		p.advance()
	}
}

// mappingPattern reads KEY: PATTERN pairs and at last **REST, and the closing
// brace.
func (p *parser) mappingPattern() {
	for !p.at("}") {
		if p.accept("**") {
			p.capture()
			p.accept(",")
			break
		}
		if !p.acceptLiteral() {
			p.expectName()
			if !p.at(".") {
				p.fail("a name cannot be the key of a pattern")
			}
			for p.accept(".") {
				p.expectName()
			}
		}
		p.expect(":")
		p.pattern()
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
}

// classPattern reads the patterns of a class's attributes, first those without a
// name, and the closing parenthesis.
func (p *parser) classPattern() {
	named := false
	for !p.at(")") {
		if p.atKind(name) && p.peek(1).is("=") {
			p.advance()
			p.advance()
			named = true
		} else if named {
			p.fail("a pattern without a name follows one with a name")
		}
		p.pattern()
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}
