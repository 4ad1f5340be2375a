package python

// atom reads a name, a literal, or an expression in brackets.
func (p *parser) atom() expression {
	t := p.peek(0)
	switch t.kind {
	case name:
		p.advance()
		e := place()
		e.form, e.name = plainName, t.text
		return e
	case number, imaginary:
		p.advance()
		return expression{}
	case plainText, bytesText, fstringStart, tstringStart:
		p.strings()
		return expression{}
	}
	switch {
	case p.accept("("):
		return p.parenthesised()
	case p.accept("["):
		return p.bracketed()
	case p.accept("{"):
		p.braced()
	case p.accept("None"), p.accept("True"), p.accept("False"), p.accept("..."):
	default:
		p.fail("an expression is missing")
	}
	return expression{}
}

// parenthesised reads a group, a tuple or a generator, and the closing
// parenthesis.
func (p *parser) parenthesised() expression {
	if p.accept(")") {
		return expression{assignable: true, deletable: true}
	}
	if p.at("yield") {
		p.yield()
		p.expect(")")
		return expression{}
	}
	e := p.sequence(")")
	if e.form == starred {
		p.fail("a starred expression stands alone in parentheses")
	}
	if e.form == walrus {
		return expression{}
	}
	return e
}

// bracketed reads a list, and the closing bracket.
func (p *parser) bracketed() expression {
	if p.accept("]") {
		return expression{assignable: true, deletable: true}
	}
	e := p.sequence("]")
	return expression{assignable: e.assignable, deletable: e.deletable}
}

// sequence reads the elements of a list or a tuple, or an element and the
// generators behind it, and the closing bracket.
func (p *parser) sequence(closing string) expression {
	return p.sequenceFrom(p.maybeStarredNamed(), closing)
}

func (p *parser) sequenceFrom(first expression, closing string) expression {
	e := expression{}
	if first.form != starred && p.generatorAhead() {
		p.generators()
	} else {
		e = p.listFrom(first, p.maybeStarredNamed)
	}
	p.expect(closing)
	return e
}

// braced reads a set or a dictionary, and the closing brace.
func (p *parser) braced() {
	switch {
	case p.accept("}"):
		return
	case p.accept("**"):
		p.operand()
	default:
		e := p.maybeStarredNamed()
		if !p.accept(":") {
			p.sequenceFrom(e, "}")
			return
		}
		if e.form == starred || e.form == walrus {
			p.fail("that cannot be the key of a dictionary")
		}
		p.expression()
		if p.generatorAhead() {
			p.generators()
			p.expect("}")
			return
		}
	}
	for p.accept(",") && !p.at("}") {
		if p.accept("**") {
			p.operand()
			continue
		}
		p.expression()
		p.expect(":")
		p.expression()
	}
	p.expect("}")
}

// generatorAhead reports whether the for of a comprehension follows.
func (p *parser) generatorAhead() bool {
	return p.at("for") || p.at("async") && p.peek(1).is("for")
}

// generators reads the for and if clauses of a comprehension.
func (p *parser) generators() {
	for p.generatorAhead() {
		p.accept("async")
		p.expect("for")
		p.targets()
		p.expect("in")
		p.disjunction()
		for p.accept("if") {
			p.disjunction()
		}
	}
}

// strings reads literals in a row, which make one string. Bytes mix with bytes
// only, template strings with their like.
func (p *parser) strings() {
	first := p.peek(0).kind
	for {
		t := p.peek(0)
		switch t.kind {
		case plainText, bytesText:
			p.advance()
		case fstringStart, tstringStart:
			p.formatted(t.kind)
		default:
			return
		}
		if (t.kind == bytesText) != (first == bytesText) || (t.kind == tstringStart) != (first == tstringStart) {
			p.fail("literals of different kinds stand in a row")
		}
	}
}

// formatted reads a formatted or a template string.
func (p *parser) formatted(k kind) {
	if k == tstringStart && p.grammar < 14 {
		p.fail("a string has an unknown prefix")
	}
	p.advance()
	for p.acceptKind(stringMiddle) || p.field() {
	}
	p.expectKind(stringEnd, "the end of a string")
}

// field reads a field of a formatted string, if there is one: an expression, =,
// its conversion, its format.
func (p *parser) field() bool {
	if !p.accept("{") {
		return false
	}
	p.assigned()
	p.accept("=")
	if p.accept("!") {
		if c := p.expectName(); c != "s" && c != "r" && c != "a" {
			p.fail("a conversion is none of !s, !r and !a")
		}
	}
	if p.accept(":") {
		for p.acceptKind(stringMiddle) || p.field() {
		}
	}
	p.expect("}")
	return true
}
