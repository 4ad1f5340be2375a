package python

import (
	"regexp"
	"strings"
	"testing"
)

// constructs are statements around R, which stands for registry.register(tool).
// since is the minor version that brought one.
var constructs = []struct {
	since int
	text  string
}{
	{0, "R"}, {0, "(R)"}, {0, "((R))"}, {0, "(registry.register)(a)"}, {0, "(registry).register(a)"}, {0, "((registry).register)(a)"},
	{0, "registry . register ( a )"}, {0, "registry\\\n.register(a)"}, {0, "(registry\n.register\n(a))"}, {0, "registry.register\\\n(a)"},
	{0, "registry.register()"}, {0, "registry.register(*a, **b)"}, {0, "registry.register(a for a in b)"}, {0, "registry.register(a=1, *b, c=2)"},
	{0, "registry.register(\n  name='x', # note )\n  schema={'a': [1, (2)]},\n)"}, {0, "registry.register(lambda: R)"},
	{0, "x = 1; R"}, {0, "R; x = 1"}, {0, "R;"}, {0, "R; R; R"}, {0, "R ; ; R"}, {0, ";R"}, {0, "'doc'; R # registry"},
	{0, "R.b"}, {0, "R(b)"}, {0, "R[0]"}, {0, "R or b"}, {0, "not R"}, {0, "-R"}, {0, "R + 1"}, {0, "R ** 2"}, {0, "R == 1 < 2"}, {0, "await R"},
	{0, "R, b"}, {0, "R,"}, {0, "*R"}, {0, "[R]"}, {0, "{R}"}, {0, "{R: R}"}, {0, "{**R}"}, {0, "x = R"}, {0, "x = y = R"}, {0, "x: int = R"},
	{0, "R: int"}, {0, "R = 1"}, {0, "R += 1"}, {0, "x += R"}, {0, "x := R"}, {0, "(x := R)"}, {0, "R if a else b"}, {0, "a if R else b"}, {0, "lambda: R"},
	{0, "yield R"}, {0, "(yield R)"}, {0, "return R"}, {0, "raise R"}, {0, "assert R"}, {0, "del R"}, {0, "del R.x"}, {0, "global registry"}, {0, "print R"},
	{0, "other.register(a)"}, {0, "registry.other(a)"}, {0, "a.registry.register(a)"}, {0, "registry.register.x(a)"}, {0, "registry().register(a)"},
	{0, "registry[0].register(a)"}, {0, "register(a)"}, {0, "registry.register"}, {0, "self.registry.register(a)"}, {0, "registry.Register(a)"}, {0, "registry.register_all(a)"},
	{0, "'R'"}, {0, `"""` + "\nR\n" + `"""`}, {0, "# R"}, {0, "'''R''' ; R"}, {0, `"\" ; R ; "`}, {0, `r"\" ; R`}, {0, `r"\"" ; R`}, {0, `b"\x00" ; R`}, {0, `b"é" ; R`}, {0, `u"é" ; R`},
	{0, `ur"a" ; R`}, {0, `bu"a" ; R`}, {0, `"\x" ; R`}, {0, `"\u12" ; R`}, {0, `"\U00110000" ; R`}, {0, `"\N{DIGIT ONE}" ; R`}, {0, `"\N" ; R`}, {0, `"\N{}" ; R`}, {0, `b"\N" ; R`}, {0, `"a" b"b" ; R`}, {0, `"\777\8" ; R`},
	{0, `"a\` + "\n" + `b" ; R`}, {0, "\"a\nb\" ; R"}, {0, `"" ; R`}, {0, `"""" ; R`}, {0, `"""a"" """ ; R`}, {0, `'''\''' ''' ; R`},
	{0, `f"{R}" ; R`}, {0, `f"{{R}}" ; R`}, {0, `f"{a!r}" ; R`}, {0, `f"{a!z}" ; R`}, {0, `f"{a:>{b}}" ; R`}, {0, `f"{}" ; R`}, {0, `f"{a" ; R`}, {0, `f"a}" ; R`}, {0, `f"{a=}" ; R`}, {0, `f"{lambda: 1}" ; R`},
	{0, `f"{(lambda: 1)}" ; R`}, {0, `f"{a['b']}" ; R`}, {0, `rf"\{a}" ; R`}, {0, `f'''{` + "\na\n" + `}''' ; R`}, {0, `f"{{}}}}" ; R`}, {0, `bf"a" ; R`},
	{12, `f"{a["b"]}" ; R`}, {12, `f"{f"{f"{1}"}"}" ; R`}, {12, `f"{a:{b:{c}}}" ; R`}, {0, `f"{a:{b:{c:{d}}}}" ; R`}, {12, "f\"{a # note\n}\" ; R"}, {12, `f"{'\n'}" ; R`}, {12, `f"{a !r }" ; R`}, {12, `f"{a! r}" ; R`}, {12, `f"{*a}" ; R`}, {12, `f"{lambda x:{1}}" ; R`}, {12, `f"{'''` + "\n" + `'''}" ; R`},
	{14, `t"{a}" ; R`}, {14, `t"{a}" rt"b" ; R`}, {14, `t"{a}" "b" ; R`},
	{0, "1_000; 0xF_f; 0b_1; 1e5j; .5; 5.; 0_0; R"}, {0, "1__0; R"}, {0, "01; R"}, {0, "01.5; R"}, {0, "1_; R"}, {0, "0x; R"}, {0, "0b2; R"}, {0, "1e; R"}, {0, "1a; R"}, {0, "1if a else b; R"}, {0, "1 .x; R"}, {0, "1.x; R"}, {0, "1..x; R"}, {0, "0o18; R"},
	{0, "{a: b, **c}; R"}, {0, "{a: b, c}; R"}, {0, "{*a, b}; R"}, {0, "[a for a in b if c]; R"}, {0, "[a for a in b if c else d]; R"}, {0, "[*a for a in b]; R"}, {0, "(a for a in b, c); R"}, {0, "(*a); R"}, {0, "(*a,); R"}, {0, "(a, b) = c; R"}, {0, "(a := 1, b); R"},
	{0, "f(a for a in b, c); R"}, {0, "f(a, *b, c=1, **d); R"}, {0, "f(c=1, a); R"}, {0, "f(**d, *b); R"}, {0, "f(a.b=1); R"}, {0, "f(True=1); R"}, {0, "a[1:2, ...]; R"}, {0, "a[]; R"}, {0, "a[*b]; R"}, {0, "a[b := 1]; R"},
	{0, "a < b not in c is not d; R"}, {0, "a <> b; R"}, {0, "a if b; R"}, {0, "not not a; R"}, {0, "await await a; R"}, {0, "- ~ + a ** -b; R"}, {0, "a ++ b; R"}, {0, "a b; R"}, {0, "None = 1; R"}, {0, "a.None; R"}, {0, "f() = 1; R"}, {0, "f().x = 1; R"}, {0, "a + b = 1; R"}, {0, "[a, *b] = c; R"}, {0, "a, *b = c; R"}, {0, "(a, b) += 1; R"}, {0, "(a): int; R"}, {0, "a, b: int; R"},
	{0, "import a.b as c, d; R"}, {0, "from . import a; R"}, {0, "from ... import (a as b,); R"}, {0, "from a import b,; R"}, {0, "from a import *; R"}, {0, "from .a.b import c; R"}, {0, "import .a; R"}, {0, "from a import (); R"},
	{0, "lambda *a, b=1, **c: d; R"}, {0, "lambda *: d; R"}, {0, "lambda a=1, b: d; R"}, {0, "lambda *, a=1, b: d; R"}, {0, "lambda a, /, b: d; R"}, {0, "lambda /: d; R"}, {0, "lambda a: (yield); R"},
	{0, "match = case = 1; R"}, {0, "match(a); R"}, {0, "match[a]; R"}, {0, "match.a; R"}, {0, "match, a; R"}, {0, "match -a; R"}, {0, "print(match); R"}, {0, "_ = type = 1; R"}, {0, "type(x); R"}, {12, "type X = int; R"}, {12, "type X[T] = int; R"}, {0, "type X; R"},
	{0, "ｒegistry.register(a)"}, {0, "registry.ｒegister(a)"}, {0, "régistry.register(a)"}, {0, "ｉf = 1; R"}, {0, "x€ = 1; R"}, {0, "名前 = 1; R"}, {0, "x\u00a0= 1; R"}, {0, "x² = 1; R"},
	{0, "x\x0cy = 1; R"}, {0, "x \x0c= 1; R"}, {0, "x\t=\t1\t;\tR"}, {0, "x = $; R"}, {0, "x = a ? b; R"}, {0, "x = !a; R"}, {0, "`x`; R"}, {0, "x = (; R"}, {0, "x = ); R"}, {0, "x = (]; R"}, {0, "x = \\ \n1; R"}, {0, "\\\nR"}, {0, "\\\n  R"}, {0, "  \\\nR"}, {0, "\x0cR"}, {0, " \x0cR"}, {0, "\ufeffR"}, {0, "R\x00"}, {0, "x\x01 = 1; R"},
	{0, "if a: R"}, {0, "if a: pass\nR"}, {0, "if a: x; R"}, {0, "if a:\n  R\nR"}, {0, "if a:\n  x\nelif R: R\nelse: R"}, {0, "if a:\n\tx\n        R\n"}, {0, "if a:\n        x\n\tR\n"}, {0, "if a:\n  x\n R\n"}, {0, "if a:\nR"}, {0, "if a: if b: R"}, {0, "if (a := R): pass"}, {0, "if a := b: R"}, {0, "if *a: R"},
	{0, "for a in b: R"}, {0, "for a in b:\n  R\n  if a: R\nelse:\n  R"}, {0, "for a, in *b, c: R; R"}, {0, "async for a in b: R"}, {0, "for a.b, (c, [d]) in e: R"}, {0, "for f() in b: R"}, {0, "for *a in b: R"}, {0, "while R: R"}, {0, "for a in b: (registry.register(a))"},
	{0, "try: R\nexcept: R\nelse: R\nfinally: R"}, {0, "try: R\nexcept (A, B) as e: R"}, {0, "try: R\nexcept* A: R"}, {0, "try: R\nexcept* : R"}, {0, "try: R\nexcept A: R\nexcept* B: R"}, {0, "try: R"}, {0, "try: R\nelse: R"}, {14, "try: R\nexcept A, B: R"}, {0, "try: R\nexcept A, B as e: R"},
	{0, "with a: R"}, {0, "with (a as b, c): R"}, {0, "with (a, b) as c, d as (e, *f): R"}, {0, "with (yield): R"}, {0, "with (a).b as c.d: R"}, {0, "with (a as b) as c: R"}, {0, "with a as f(): R"}, {0, "async with a: R"}, {0, "with (a as b,): R"}, {0, "with (): R"},
	{0, "def f(): R"}, {0, "def f():\n  R\n  def g(): R\nR"}, {0, "async def f(a, *, b: int = 1, **c) -> d: R"}, {0, "@a.b(c)\ndef f(): R"}, {0, "@R\nclass A: R"}, {0, "@a\nR"}, {0, "def f(*): R"}, {0, "def f(a, a=1, b): R"}, {0, "def f(a: int, /, *b: *c): R"}, {12, "def f[T: int, *U, **V](): R"}, {13, "def f[T = int](): R"}, {12, "class A[T]: R"},
	{0, "class A: R"}, {0, "class A(B, c=d): R; R"}, {0, "class A(a for a in b): R"}, {0, "class A():\n  R\n  class B:\n    R\nR"},
	{0, "match a:\n  case 1: R"}, {0, "match a:\n  case [b, *c] if d: R\n  case _: R\nR"}, {0, "match a, b:\n  case {'x': y, **z} | A(b, c=d) as e:\n    R"}, {0, "match a:\n  case -1 + 2j | 'x' 'y' | a.b | None: R"}, {0, "match a:\n  case a as _: R"}, {0, "match a:\n  case _(): R"}, {0, "match a:\n  case *a, b: R"}, {0, "match a:\n  case *a: R"}, {0, "match a:\n  case A(b=c, d): R"}, {0, "match a: case 1: R"}, {0, "match a:\n  R"}, {0, "match *a, b:\n  case x: R"}, {0, "match a:\n  case {x: y}: R"}, {0, "match a:\n  case 1 + 1: R"}, {0, "match (a):\n  case (b): R"}, {0, "match: int = 1; R"},
}

// positions are modules around S, which stands for a construct.
var positions = []string{
	"S",
	"S\n",
	"\"\"\"Doc.\"\"\"\nimport a\n\nS\nregistry.register(last)\n",
	"# -*- coding: latin-1 -*-\r\nif a:\r\n    b\r\nS\r\n",
	"def f():\n\treturn 1\n\n\n\nS\n# the end",
	"x = [\n  1,\n]\nS\nif a:\n  registry.register(b)\nelse: pass\n   \n",
}

var marker = regexp.MustCompile(`\bR\b`)

// TestGeneratedModules compares verdicts on every construct in every position.
func TestGeneratedModules(t *testing.T) {
	t.Parallel()
	minor := pythonMinor(t)
	var texts []string
	for _, c := range constructs {
		if c.since > minor && c.since < 14 { // formatted strings are always read as since 3.12
			continue
		}
		text := marker.ReplaceAllString(c.text, "registry.register(tool)")
		for _, position := range positions {
			texts = append(texts, strings.ReplaceAll(position, "S", text))
		}
	}
	n := compare(t, texts)
	t.Logf("%d of %d generated texts are modules", n, len(texts))
	if len(texts) < 300 {
		t.Errorf("%d texts are too few", len(texts))
	}
}
