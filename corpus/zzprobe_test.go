package corpus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestProbe(t *testing.T) {
	try := func(name, text string) {
		s := time.Now()
		var n yaml.Node
		err := yaml.Load([]byte(text), &n)
		e := fmt.Sprint(err)
		fmt.Println(name, len(text), time.Since(s), e[:min(len(e), 150)])
	}
	for _, k := range []int{16 << 10, 64 << 10, 256 << 10} {
		try("commas", "a: "+strings.Repeat(",", k))
		try("flow commas", "a: ["+strings.Repeat("x,", k/2)+"]")
		try("flow lines", "a: ["+strings.Repeat("x,\n ", k/4)+"]")
		try("open", strings.Repeat("[", k))
		try("open lines", strings.Repeat("[\n", k/2))
		try("flow map", "a: {"+strings.Repeat("x: 1,", k/5)+"}")
		try("empty flow", "a: ["+strings.Repeat("? ", k/2)+"]")
		try("quoted", "a: \""+strings.Repeat("x", k)+"\"")
		try("anchors", strings.Repeat("&a ", k/3))
		try("dashes", strings.Repeat("- ", k/2))
		try("colons", strings.Repeat("a: ", k/3))
		try("lines", strings.Repeat("a: 1\n", k/5))
		try("comments", strings.Repeat("#\n", k/2)+"a: 1")
		try("tabs", "a:"+strings.Repeat("\t", k)+"1")
		try("blank", "a:"+strings.Repeat("\n", k)+" 1")
		try("qmarks lines", strings.Repeat("? a\n", k/4))
		try("cr", "a:"+strings.Repeat("\r", k)+" 1")
	}
	try("bomb", "a: &a [x,x,x,x,x,x,x,x,x]\n"+func() string {
		var b strings.Builder
		for c := 'b'; c < 'j'; c++ {
			b.WriteString(fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ",")))
		}
		return b.String()
	}())
	try("self", "a: &a [*a]")
	try("two", "a: 1\n---\nb: 2")
	try("empty", "# x\n")
	try("bad", "a: 1\n b: 2")
	try("bad", "a: [1, 2\nb: }")
	try("bom", "\ufeffa: 1")
	try("unknown alias", "a: *b")
	try("ctl", "a: \x01")
	try("tab", "a:\n\tb: 1")
	try("dup", "a: 1\na: 2")
}
