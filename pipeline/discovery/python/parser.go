package python

// parser checks tokens against the grammar. At the first fault it sees nothing
// but the end of the text, so that every rule comes to a stop by itself.
type parser struct {
	lexer   lexer
	ahead   []token // read and not yet forgotten
	current int     // index in ahead
	trying  bool    // a rule may go back, so that nothing can be forgotten
	fault   *SyntaxError
	grammar int // minor version

	method Method
	within []string // words of the blocks around the current statement
	calls  []Call
}

// peek returns a token ahead of the current one.
func (p *parser) peek(n int) token {
	if p.fault != nil {
		return token{kind: end}
	}
	for len(p.ahead) <= p.current+n {
		p.ahead = append(p.ahead, p.lexer.next())
	}
	return p.ahead[p.current+n]
}

// is reports whether a token is that operator or keyword.
func (t token) is(text string) bool {
	return (t.kind == operator || t.kind == keyword) && t.text == text
}

func (p *parser) at(text string) bool { return p.peek(0).is(text) }

func (p *parser) atKind(k kind) bool { return p.peek(0).kind == k }

// advance goes to the next token; it does not go beyond the end.
func (p *parser) advance() {
	if p.fault != nil || p.atKind(end) {
		return
	}
	p.current++
	// Once half of them are behind, so that no token is moved again and again.
	if p.current >= forgetAfter && 2*p.current >= len(p.ahead) && !p.trying {
		n := copy(p.ahead, p.ahead[p.current:])
		p.ahead, p.current = p.ahead[:n], 0
	}
}

// forgetAfter is how many tokens behind the current one are kept at least.
const forgetAfter = 64

func (p *parser) accept(text string) bool {
	if p.at(text) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) acceptKind(k kind) bool {
	if p.atKind(k) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail(text + " is missing")
	}
}

func (p *parser) expectKind(k kind, what string) {
	if !p.acceptKind(k) {
		p.fail(what + " is missing")
	}
}

func (p *parser) expectName() string {
	t := p.peek(0)
	p.expectKind(name, "a name")
	return t.text
}

// fail ends the module with a fault at the current token. What is no token says
// itself what is wrong with it.
func (p *parser) fail(message string) {
	if p.fault != nil {
		return
	}
	t := p.peek(0)
	if t.kind == broken {
		p.fault = p.lexer.fault
		return
	}
	p.fault = &SyntaxError{t.line, message}
}

// attempt reads by a rule that may turn out not to be the right one: it goes back
// to where it began unless the rule holds. Rules that are tried hold no statements, so
// none is tried within another.
func (p *parser) attempt(rule func() bool) bool {
	start := p.current
	p.trying = true
	holds := rule() && p.fault == nil
	p.trying = false
	if !holds {
		p.current, p.fault = start, nil
	}
	return holds
}

// module reads the whole text.
func (p *parser) module() {
	p.statements(end)
	p.expectKind(end, "the end of the block")
}

// statements reads at least one statement, or of a module any number.
func (p *parser) statements(until kind) {
	for p.fault == nil && !p.atKind(until) && !p.atKind(end) {
		p.statement()
	}
}

// block reads the colon and the block of a compound statement.
func (p *parser) block(word string) {
	p.expect(":")
	p.within = append(p.within, word)
	if p.acceptKind(newline) {
		p.expectKind(indent, "an indented block")
		p.statements(dedent)
		p.expectKind(dedent, "the end of the block")
	} else {
		p.simpleStatements()
	}
	p.within = p.within[:len(p.within)-1]
}

// record keeps an expression statement that is a call of the method.
func (p *parser) record(line int, e expression) {
	if e.form == methodCall && sameName(e.receiver, p.method.Receiver) && sameName(e.name, p.method.Name) {
		p.calls = append(p.calls, Call{line, append([]string(nil), p.within...)})
	}
}
