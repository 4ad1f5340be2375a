package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact/redacttest"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// vault is a desk whose endpoints answer with secrets, and which keeps everything that
// leaves the gateway but for the calls of the endpoints themselves.
type vault struct {
	*desk
	planted redacttest.Planted
	i       int // of the secret that is tried
	path    string
	out     map[string]*strings.Builder // by where it left
	struck  map[string]bool             // where something was struck out
}

func (v *vault) leaves(where, format string, args ...any) {
	b := v.out[where]
	if b == nil {
		b = &strings.Builder{}
		v.out[where] = b
	}
	fmt.Fprintf(b, format+"\n", args...)
}

const vaultTools = `
  - {id: strict, description: Takes a number., input_schema: {type: object, additionalProperties: false, properties: {n: {type: integer}}}, endpoint: {target: "https://x.test.invalid/plain"}}
  - id: two_steps
    description: Does two things.
    input_schema: {type: object, properties: {data: {}}}
    steps: [{tool: plain, arguments: {all: "${data}", text: "see ${data}"}}, {tool: broken}]
`

// newVault opens a gateway to endpoints that answer with planted secrets of all sorts.
func newVault(t *testing.T, n int) *vault {
	v := &vault{planted: redacttest.Plant(rand.New(rand.NewPCG(7, 7)), n), out: map[string]*strings.Builder{}, struck: map[string]bool{}, path: filepath.Join(t.TempDir(), "audit.jsonl")}
	result := func() string { return v.planted.Results[v.i] }
	faulty := func(kind endpoint.Kind, text func() string) end {
		return func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
			return endpoint.Answer{}, &endpoint.Fault{Kind: kind, Err: errors.New(text())}
		}
	}
	says := func(answer func() endpoint.Answer) end {
		return func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) { return answer(), nil }
	}
	long := func() endpoint.Answer {
		return endpoint.Answer{Body: []byte(strings.Repeat("A line of text.\n", 5) + result() + strings.Repeat("\nAnother line of text.", 50))}
	}
	plain := says(func() endpoint.Answer { return endpoint.Answer{Body: []byte(result())} })
	v.desk = &desk{t: t, clock: &clock.Virtual{}, ends: map[string]end{
		"plain": plain, "cached": plain, "ask": plain,
		"cut": says(long), "cut_lists": says(func() endpoint.Answer {
			return endpoint.Answer{Body: fmt.Appendf(nil, `{"items":[1,2,%s,%s]}`, rawjson.String(result()), strings.Repeat(`{"n":1},`, 100)+"0")}
		}),
		"lazy": says(long), "by_rules": says(long), "by_model": says(long),
		"wide": says(func() endpoint.Answer {
			var body []byte
			for _, unit := range utf16.Encode([]rune(result())) {
				body = append(body, byte(unit), byte(unit>>8))
			}
			return endpoint.Answer{Body: body}
		}),
		"parts": says(func() endpoint.Answer {
			return endpoint.Answer{Content: fmt.Appendf(nil, `[{"type":"text","text":%s},{"type":"text","text":"end"}]`, rawjson.String(result()))}
		}),
		"own_error": says(func() endpoint.Answer {
			return endpoint.Answer{IsError: true, Body: []byte(v.planted.Errors[v.i])}
		}),
		"broken": faulty(endpoint.Transport, func() string { return v.planted.Errors[v.i] }),
		"away":   faulty(endpoint.Protocol, func() string { return "cannot reach " + v.planted.URLs[v.i] }),
		"panics": func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) { panic(v.planted.URLs[v.i]) },
	}}
	log, err := audit.Open(v.path, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	config := parsed(t, "breaker: {failures: 0}\nsession: {principal: ann}\n"+tools("plain", "cached\nread_only: true", "ask\nconfirm: true",
		"cut\nmax_result_tokens: 60", "cut_lists\nmax_result_tokens: 60", "lazy\nlazy: true", "by_rules\nsummary: rules\nmax_result_tokens: 60",
		"by_model\nsummary: model\nmax_result_tokens: 60", "wide\nencoding: utf-16le", "parts", "own_error", "broken", "away", "panics")+vaultTools)
	config.Redact = card.Redact{Values: v.planted.Values}
	v.gateway, err = gateway.New(gateway.Options{
		Config: config, Timeline: v.clock, Open: v.open, Audit: log,
		Summarise: func(_ context.Context, text string, _ int) (string, error) {
			v.leaves("a summary's request", "%s", text)
			return v.planted.Errors[v.i], nil
		},
		Embed: func(_ context.Context, texts []string) ([][]float32, error) {
			v.leaves("an embedding's request", "%s", texts[:min(len(texts), 1)]) // a query goes alone
			return make([][]float32, len(texts)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	v.session = v.gateway.Session(gateway.SessionOptions{
		ID: "s1", Who: config.Session,
		Observe: func(r *audit.Record) { v.leaves("a record", "%+v %s", r, r.Arguments) },
		Ask: func(_ context.Context, q gateway.Question) (bool, error) {
			v.leaves("a question", "%+v %s", q, q.Arguments)
			return v.i%2 == 0, nil
		},
	})
	return v
}

// make makes the calls of one model output and keeps what the model gets.
func (v *vault) make(calls ...registry.Call) []registry.Result {
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%d_%d", len(v.seen), i)
	}
	results := v.session.DispatchAll(context.Background(), calls)
	for i, r := range results {
		v.leaves("a result of "+calls[i].Name[:min(len(calls[i].Name), 9)], "%s %s %v", r.Text, r.Content, r.Cause)
	}
	return results
}

func called(name string, arguments []byte) registry.Call {
	return registry.Call{Name: name, Arguments: arguments}
}

// try has secret i go through the gateway by every way.
func (v *vault) try(i int) {
	v.i = i
	arguments, address, fault := v.planted.Arguments[i], v.planted.URLs[i], v.planted.Errors[i]
	own := fmt.Appendf(nil, `{"n":%d}`, i)
	v.make(called("plain", arguments))
	v.make(called("cached", own), called("cached", own), called("ask", arguments), called("wide", own), called("parts", own))
	v.make(called("own_error", own), called("broken", arguments), called("away", own), called("panics", own))
	v.make(called("two_steps", fmt.Appendf(nil, `{"data":%s}`, arguments)))
	v.make(called("strict", arguments), called("strict", fmt.Appendf(nil, `{%s:1,%s:{"n":2}}`, rawjson.String(address), rawjson.String(fault))))
	v.make(called("plain", []byte(fault)), called("plain", rawjson.String(address)))
	dependent := called("plain", own)
	dependent.DependsOn = []int{0}
	v.make(called(address, arguments), dependent, called(fault, nil))
	for _, name := range []string{"cut", "cut_lists", "lazy", "by_rules", "by_model"} {
		v.readOn(v.make(called(name, own))[0].Text)
	}
}

// readOn reads a result whole, in pieces; some are shorter than a secret and its name.
func (v *vault) readOn(text string) {
	_, handle, ok := strings.Cut(text, "result_read handle ")
	if ok {
		handle = handle[:13]
	} else {
		_, handle, _ = strings.Cut(text, `"handle":"`)
		handle, _, _ = strings.Cut(handle, `"`)
	}
	length := 500
	if v.i%50 == 0 {
		length = 19
	}
	var whole strings.Builder
	for offset := 0; ; offset += length {
		r := v.session.DispatchAll(context.Background(), []registry.Call{called("result_read", fmt.Appendf(nil, `{"handle":%q,"offset":%d,"length":%d}`, handle, offset, length))})[0]
		if r.Failed && offset > 500 {
			break // it has been read to its end
		}
		if r.Failed {
			v.t.Fatalf("the rest of %s cannot be read: %s", text, r.Text)
		}
		piece := r.Text
		if end := strings.LastIndex(piece, "\n["); end >= 0 { // it says where to go on
			piece = piece[:end]
		}
		whole.WriteString(piece)
	}
	v.leaves("what is read on", "%s", whole.String())
}

// check looks for the secret that was tried in everything that has left since the last
// time, and forgets it.
func (v *vault) check() {
	v.leaves("a figure", "%+v", v.gateway.Tally().Tools())
	kept, err := os.ReadFile(v.path)
	if err != nil {
		v.t.Fatal(err)
	}
	if err := os.Truncate(v.path, 0); err != nil { // as programs that rotate logs do
		v.t.Fatal(err)
	}
	v.leaves("the audit log", "%s", kept)
	secret := v.planted.Secrets[v.i]
	one := redacttest.Planted{Secrets: []string{secret}}
	for where, b := range v.out {
		text := b.String()
		v.struck[where] = v.struck[where] || strings.Contains(text, "[redacted]")
		if len(one.Leaked(text)) > 0 {
			at := max(strings.Index(text, secret), 0)
			v.t.Errorf("%s shows secret %d: …%s…", where, v.i, text[max(at-200, 0):min(at+100, len(text))])
		}
	}
	clear(v.out)
}

// TestPlantedSecretsLeaveNowhere has 500 secrets in arguments, results, errors and
// addresses go through a gateway by every way that there is: none is in what a model, a
// user, a log or a figure shows.
func TestPlantedSecretsLeaveNowhere(t *testing.T) {
	const n = 500
	v := newVault(t, n)
	reached := 0
	for i := range n {
		v.seen = nil
		v.try(i)
		v.check()
		for _, r := range v.seen {
			if strings.Contains(string(r.Arguments), v.planted.Secrets[i]) {
				reached++
				break
			}
		}
	}
	if reached < n*8/10 { // those that JSON writes in another form are not found
		t.Errorf("only %d of the secrets reached an endpoint", reached)
	}
	for _, where := range []string{"a question", "a record", "a summary's request", "an embedding's request", "what is read on", "the audit log", "a result of strict", "a result of two_steps"} {
		if !v.struck[where] {
			t.Errorf("no secret was struck out of %s", where)
		}
	}
}

// TestNoHalfOfASecretLeaves: what an error repeats of names and descriptions is
// shortened, but not before the secrets are out of it.
func TestNoHalfOfASecretLeaves(t *testing.T) {
	v := newVault(t, 100)
	for i, secret := range v.planted.Values {
		for before := 60; before < 120; before += 3 {
			config := parsed(t, tools("plain"))
			config.Tools[0].Description = strings.Repeat("x", before) + secret
			if err := v.gateway.Reload(config, nil); err != nil {
				t.Fatal(err)
			}
			r := v.make(registry.Call{Name: strings.Repeat("x", before) + secret, Arguments: json.RawMessage("{}")})[0]
			if strings.Contains(r.Text, secret[:6]) || !strings.Contains(r.Text, `"plain"`) {
				t.Fatalf("half of secret %d is in %s", i, r.Text)
			}
		}
	}
}
