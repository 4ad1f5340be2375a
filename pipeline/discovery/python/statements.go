package python

// statement reads one statement, or a line of simple ones.
func (p *parser) statement() {
	switch t := p.peek(0); {
	case t.is("@"):
		p.decorated()
	case t.kind == name && t.text == "match" && p.attempt(p.matchHead):
		p.matchBody()
	case t.kind != keyword || !p.compound(t.text):
		p.simpleStatements()
	}
}

// compound reads the compound statement that begins with a word, if one does.
func (p *parser) compound(word string) bool {
	switch word {
	case "if":
		p.ifStatement()
	case "while":
		p.advance()
		p.named()
		p.block("while")
		p.elseBlock()
	case "for":
		p.forStatement("for")
	case "try":
		p.tryStatement()
	case "with":
		p.withStatement()
	case "def":
		p.function()
	case "class":
		p.class()
	case "async":
		p.async()
	default:
		return false
	}
	return true
}

func (p *parser) async() {
	p.advance()
	switch {
	case p.at("def"):
		p.function()
	case p.at("for"):
		p.forStatement("async for")
	case p.at("with"):
		p.withStatement()
	default:
		p.fail("async is not followed by def, for or with")
	}
}

func (p *parser) ifStatement() {
	p.advance()
	p.named()
	p.block("if")
	for p.accept("elif") {
		p.named()
		p.block("elif")
	}
	p.elseBlock()
}

func (p *parser) elseBlock() {
	if p.accept("else") {
		p.block("else")
	}
}

func (p *parser) forStatement(word string) {
	p.advance()
	p.targets()
	p.expect("in")
	p.expressions()
	p.block(word)
	p.elseBlock()
}

func (p *parser) tryStatement() {
	p.advance()
	p.block("try")
	handlers, groups := 0, false
	for ; p.accept("except"); handlers++ {
		group := p.accept("*")
		if handlers > 0 && group != groups {
			p.fail("except and except* are mixed")
		}
		groups = group
		p.exceptHead(group)
		p.block("except")
	}
	if handlers > 0 {
		p.elseBlock()
	}
	if p.accept("finally") {
		p.block("finally")
	} else if handlers == 0 {
		p.fail("except or finally is missing")
	}
}

// exceptHead reads what an except clause catches. Since 3.14 several exceptions
// need no parentheses, unless they get a name.
func (p *parser) exceptHead(group bool) {
	if p.at(":") && !group {
		return
	}
	p.expression()
	if p.accept("as") {
		p.expectName()
		return
	}
	for p.grammar >= 14 && p.accept(",") && p.expressionAhead() {
		p.expression()
	}
}

// withStatement reads a with statement. Parentheses around all of its items are
// tried first: without them they would be an expression.
func (p *parser) withStatement() {
	p.advance()
	if !p.at("(") || !p.attempt(p.withParenthesised) {
		p.withItem()
		for p.accept(",") {
			p.withItem()
		}
	}
	p.block("with")
}

func (p *parser) withParenthesised() bool {
	p.advance()
	p.withItem()
	for p.accept(",") && !p.at(")") {
		p.withItem()
	}
	return p.accept(")") && p.at(":")
}

func (p *parser) withItem() {
	p.expression()
	if p.accept("as") && !p.target().assignable {
		p.fail("that cannot be assigned to")
	}
}

func (p *parser) decorated() {
	for p.accept("@") {
		p.named()
		p.expectKind(newline, "the end of the line")
	}
	switch {
	case p.at("class"):
		p.class()
	case p.at("async") && p.peek(1).is("def"):
		p.advance()
		p.function()
	case p.at("def"):
		p.function()
	default:
		p.fail("a decorator decorates nothing")
	}
}

func (p *parser) function() {
	p.advance()
	p.expectName()
	p.typeParameters()
	p.expect("(")
	p.parameters(")", true)
	p.expect(")")
	if p.accept("->") {
		p.expression()
	}
	p.block("def")
}

func (p *parser) class() {
	p.advance()
	p.expectName()
	p.typeParameters()
	if p.accept("(") {
		p.arguments(false)
	}
	p.block("class")
}

// simpleStatements reads a line of statements parted by semicolons.
func (p *parser) simpleStatements() {
	for {
		p.simpleStatement()
		if !p.accept(";") || p.atKind(newline) {
			break
		}
	}
	p.expectKind(newline, "the end of the line")
}

func (p *parser) simpleStatement() {
	t := p.peek(0)
	if t.kind == name && t.text == "type" && p.peek(1).kind == name && p.grammar >= 12 {
		p.advance()
		p.expectName()
		p.typeParameters()
		p.expect("=")
		p.expression()
		return
	}
	if t.kind != keyword || !p.keywordStatement(t.text) {
		p.expressionStatement()
	}
}

// keywordStatement reads the simple statement that begins with a word, if one
// does.
func (p *parser) keywordStatement(word string) bool {
	switch word {
	case "pass", "break", "continue":
		p.advance()
	case "return":
		p.advance()
		if p.expressionAhead() {
			p.expressions()
		}
	case "yield":
		p.yield()
	case "raise":
		p.advance()
		if p.expressionAhead() {
			p.expression()
			if p.accept("from") {
				p.expression()
			}
		}
	case "assert":
		p.advance()
		p.expression()
		if p.accept(",") {
			p.expression()
		}
	case "global", "nonlocal":
		p.advance()
		p.expectName()
		for p.accept(",") {
			p.expectName()
		}
	case "del":
		p.del()
	case "import":
		p.importNames()
	case "from":
		p.importFrom()
	default:
		return false
	}
	return true
}

func (p *parser) del() {
	p.advance()
	for {
		if !p.operand().deletable {
			p.fail("that cannot be deleted")
		}
		if !p.accept(",") || !p.expressionAhead() {
			return
		}
	}
}

func (p *parser) importNames() {
	p.advance()
	for {
		p.dottedName()
		p.asName()
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) dottedName() {
	p.expectName()
	for p.accept(".") {
		p.expectName()
	}
}

func (p *parser) asName() {
	if p.accept("as") {
		p.expectName()
	}
}

func (p *parser) importFrom() {
	p.advance()
	relative := false
	for p.accept(".") || p.accept("...") {
		relative = true
	}
	if !relative || !p.at("import") {
		p.dottedName()
	}
	p.expect("import")
	if p.accept("*") {
		return
	}
	parenthesised := p.accept("(")
	for {
		p.expectName()
		p.asName()
		if !p.accept(",") || parenthesised && p.at(")") {
			break
		}
	}
	if parenthesised {
		p.expect(")")
	}
}

// expressionStatement reads an expression, or the assignment that begins with
// one.
func (p *parser) expressionStatement() {
	line := p.peek(0).line
	e := p.expressions()
	switch {
	case p.accept(":"):
		if !e.single {
			p.fail("that cannot be annotated")
		}
		p.expression()
		if p.accept("=") {
			p.assigned()
		}
	case p.peek(0).kind == operator && augmented[p.peek(0).text]:
		if !e.single {
			p.fail("that cannot be assigned to")
		}
		p.advance()
		p.assigned()
	case p.at("="):
		for p.accept("=") {
			if !e.assignable {
				p.fail("that cannot be assigned to")
			}
			e = p.assigned()
		}
	default:
		p.record(line, e)
	}
}

var augmented = map[string]bool{
	"+=": true, "-=": true, "*=": true, "@=": true, "/=": true, "%=": true, "&=": true, "|=": true, "^=": true,
	"<<=": true, ">>=": true, "**=": true, "//=": true,
}

// assigned reads the right side of an assignment.
func (p *parser) assigned() expression {
	if p.at("yield") {
		p.yield()
		return expression{}
	}
	return p.expressions()
}
