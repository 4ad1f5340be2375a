package python

// parameters reads the parameters of a function or a lambda up to what closes
// them. Those of a function may be annotated.
func (p *parser) parameters(closing string, annotated bool) {
	var slash, star, withDefault bool
	for first := true; !p.at(closing); first = false {
		switch {
		case p.accept("/"):
			if first || slash || star {
				p.fail("/ stands in the wrong place among the parameters")
			}
			slash = true
		case p.accept("**"):
			p.parameter(annotated, false)
			p.accept(",")
			return
		case p.accept("*"):
			if star {
				p.fail("* is given twice among the parameters")
			}
			star = true
			p.starParameter(annotated)
		default:
			p.parameter(annotated, false)
			if p.accept("=") {
				withDefault = true
				p.expression()
			} else if withDefault && !star {
				p.fail("a parameter without a default follows one with a default")
			}
		}
		if !p.accept(",") {
			return
		}
	}
}

// starParameter reads what follows a star: the name that takes the rest of the
// arguments, or a comma and parameters that are given by name only.
func (p *parser) starParameter(annotated bool) {
	if !p.at(",") {
		p.parameter(annotated, true)
	} else if p.peek(1).kind != name {
		p.fail("no parameter follows the *")
	}
}

func (p *parser) parameter(annotated, starredAnnotation bool) {
	p.expectName()
	switch {
	case !annotated || !p.accept(":"):
	case starredAnnotation:
		p.maybeStarred()
	default:
		p.expression()
	}
}

// typeParameters reads the type parameters of a function, a class or a type, if
// there are any: since 3.12, with defaults since 3.13.
func (p *parser) typeParameters() {
	if p.grammar < 12 || !p.accept("[") {
		return
	}
	for {
		starOne := p.accept("*")
		starred := starOne || p.accept("**")
		p.expectName()
		if !starred && p.accept(":") {
			p.expression()
		}
		if p.grammar >= 13 && p.accept("=") {
			if starOne {
				p.maybeStarred()
			} else {
				p.expression()
			}
		}
		if !p.accept(",") || p.at("]") {
			break
		}
	}
	p.expect("]")
}
