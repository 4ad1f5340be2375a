package python

// form is what an expression is, as far as a statement that holds it cares.
type form uint8

const (
	other form = iota
	plainName
	attribute  // NAME.ATTRIBUTE
	methodCall // NAME.ATTRIBUTE(…)
	starred    // *…
	walrus     // NAME := …
)

// expression is what is kept of an expression.
type expression struct {
	form           form
	receiver, name string // of attribute and methodCall; of plainName the name
	// What the grammar allows besides reading it: to assign to it (alone or among
	// others), to delete it, and to annotate it or to assign to it with an
	// operator.
	assignable, deletable, single bool
}

// place returns an expression that names one thing which can be assigned to.
func place() expression { return expression{assignable: true, deletable: true, single: true} }

// expressionAhead reports whether a token can begin an expression, starred ones
// included.
func (p *parser) expressionAhead() bool {
	switch t := p.peek(0); t.kind {
	case name, number, imaginary, plainText, bytesText, fstringStart, tstringStart:
		return true
	case operator:
		switch t.text {
		case "(", "[", "{", "+", "-", "~", "*", "...":
			return true
		}
	case keyword:
		switch t.text {
		case "not", "lambda", "await", "None", "True", "False":
			return true
		}
	case broken:
		return true // to hear what is wrong with it
	}
	return false
}

// expressions reads one expression, or several that make a tuple; each may be
// starred.
func (p *parser) expressions() expression { return p.list(p.maybeStarred) }

// list reads one or more elements parted by commas, of which one may come last.
// Without any comma the list is its element.
func (p *parser) list(element func() expression) expression { return p.listFrom(element(), element) }

func (p *parser) listFrom(e expression, element func() expression) expression {
	if !p.at(",") {
		return e
	}
	all := expression{assignable: e.assignable, deletable: e.deletable}
	for p.accept(",") && p.expressionAhead() {
		e = element()
		all.assignable = all.assignable && e.assignable
		all.deletable = all.deletable && e.deletable
	}
	return all
}

func (p *parser) maybeStarred() expression {
	if p.at("*") {
		return p.starred()
	}
	return p.expression()
}

func (p *parser) maybeStarredNamed() expression {
	if p.at("*") {
		return p.starred()
	}
	return p.named()
}

func (p *parser) starred() expression {
	p.advance()
	return expression{form: starred, assignable: p.operand().assignable}
}

// targets reads what a for statement assigns to.
func (p *parser) targets() {
	if !p.list(p.target).assignable {
		p.fail("that cannot be assigned to")
	}
}

// target reads an operand in the place of something to assign to, so that the
// "in" behind it is left.
func (p *parser) target() expression {
	if p.at("*") {
		return p.starred()
	}
	return p.operand()
}

// named reads an expression that may give its value a name: NAME := VALUE.
func (p *parser) named() expression {
	if p.atKind(name) && p.peek(1).is(":=") {
		p.advance()
		p.advance()
		p.expression()
		return expression{form: walrus}
	}
	return p.expression()
}

// expression reads a lambda, a conditional expression, or what binds tighter. The
// rule ends in itself twice, which is a loop here.
func (p *parser) expression() expression {
	for first := true; ; first = false {
		if p.accept("lambda") {
			p.parameters(":", false)
			p.expect(":")
			continue
		}
		e := p.disjunction()
		if !p.accept("if") {
			if first {
				return e
			}
			return expression{}
		}
		p.disjunction()
		p.expect("else")
	}
}

// disjunction reads operands of and, or and not.
func (p *parser) disjunction() expression {
	e := p.inversion()
	for p.accept("and") || p.accept("or") {
		p.inversion()
		e = expression{}
	}
	return e
}

// inversion reads a comparison, negated or not.
func (p *parser) inversion() expression {
	negated := false
	for p.accept("not") {
		negated = true
	}
	e := p.operand()
	for p.comparison() {
		p.operand()
		e = expression{}
	}
	if negated {
		return expression{}
	}
	return e
}

// comparison passes a comparison operator, if there is one.
func (p *parser) comparison() bool {
	t := p.peek(0)
	switch {
	case t.is("not") && p.peek(1).is("in"):
		p.advance()
		p.advance()
		return true
	case t.is("is"):
		p.advance()
		p.accept("not")
		return true
	case t.is("in"), t.is("=="), t.is("!="), t.is("<"), t.is(">"), t.is("<="), t.is(">="):
		p.advance()
		return true
	}
	return false
}

// operand reads operands of arithmetic and bitwise operators. How they bind among
// each other does not matter here.
func (p *parser) operand() expression {
	e := p.factor()
	for p.peek(0).kind == operator && binary[p.peek(0).text] {
		p.advance()
		p.factor()
		e = expression{}
	}
	return e
}

var binary = map[string]bool{
	"|": true, "^": true, "&": true, "<<": true, ">>": true, "+": true, "-": true, "*": true, "/": true, "//": true,
	"%": true, "@": true,
}

// factor reads signs and powers.
func (p *parser) factor() expression {
	for alone := true; ; alone = false {
		for p.accept("+") || p.accept("-") || p.accept("~") {
			alone = false
		}
		if p.accept("await") {
			alone = false
		}
		e := p.primary()
		if !p.accept("**") {
			if alone {
				return e
			}
			return expression{}
		}
	}
}

// primary reads an atom with the attributes, calls and subscripts behind it.
func (p *parser) primary() expression {
	e := p.atom()
	for {
		switch {
		case p.accept("."):
			owner := e
			e = place()
			e.name = p.expectName()
			if owner.form == plainName {
				e.form, e.receiver = attribute, owner.name
			}
		case p.accept("("):
			p.arguments(true)
			called := e
			e = expression{}
			if called.form == attribute {
				e = expression{form: methodCall, receiver: called.receiver, name: called.name}
			}
		case p.accept("["):
			p.slices()
			e = place()
		default:
			return e
		}
	}
}

// slices reads what stands between the brackets of a subscript, and the closing
// one.
func (p *parser) slices() {
	for {
		if p.accept("*") {
			p.expression()
		} else {
			p.slice()
		}
		if !p.accept(",") || p.at("]") {
			break
		}
	}
	p.expect("]")
}

func (p *parser) slice() {
	if !p.at(":") && p.named().form == walrus {
		return
	}
	for range 2 {
		if !p.accept(":") {
			return
		}
		if p.expressionAhead() {
			p.expression()
		}
	}
}

// arguments reads the arguments of a call, and the closing parenthesis. A
// generator without parentheses of its own is allowed alone, and not in the head
// of a class.
func (p *parser) arguments(generator bool) {
	const (
		positional = iota
		keyworded
		doubleStarred
	)
	stage := positional
	for first := true; !p.at(")"); first = false {
		switch {
		case p.accept("**"):
			stage = doubleStarred
			p.expression()
		case p.accept("*"):
			if stage == doubleStarred {
				p.fail("* follows ** among the arguments")
			}
			p.expression()
		case p.atKind(name) && p.peek(1).is("="):
			p.advance()
			p.advance()
			stage = max(stage, keyworded)
			p.expression()
		default:
			if stage != positional {
				p.fail("a positional argument follows one with a name")
			}
			p.named()
			if first && generator && p.generatorAhead() {
				p.generators()
				p.expect(")")
				return
			}
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

// yield reads a yield expression.
func (p *parser) yield() {
	p.advance()
	switch {
	case p.accept("from"):
		p.expression()
	case p.expressionAhead():
		p.expressions()
	}
}
