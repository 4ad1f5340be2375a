package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/model/modeltest"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-hunter2"

// open starts a server and returns a client of it.
func open(t *testing.T, toolCall bool, answer func(modeltest.Request) modeltest.Answer) (*Client, *modeltest.Server) {
	t.Helper()
	s := modeltest.Start(t, answer)
	return client(t, card.Model{BaseURL: s.URL, ToolCall: toolCall}), s
}

func client(t *testing.T, m card.Model) *Client {
	t.Helper()
	m.Type, m.APIKey, m.Name = TypeOpenAI, key, "small"
	c, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func says(a modeltest.Answer) func(modeltest.Request) modeltest.Answer {
	return func(modeltest.Request) modeltest.Answer { return a }
}

// Bytes that decoding and encoding would change: spaces, the order of keys, escapes,
// an unknown member.
const (
	oddTools    = `[ {"type":"function","function":{"description":"a <b> & \u00e9 é","name":"get_time","parameters":{"type":"object","b":1.50,"a":1e2},"x-odd":null}} ]`
	oddMessages = `[{"content":"what <time>\u0020is it?","role":"user","odd":[1, 2]}]`
)

func TestNativeCalls(t *testing.T) {
	c, s := open(t, true, says(modeltest.Answer{Text: "two", Calls: []modeltest.Call{
		{ID: "a", Name: "get_time", Arguments: `{"zone": "UTC"}`}, {Name: "get_time"}, {ID: "c", Name: "get_time", Arguments: `{"half`},
	}}))
	got, err := c.Complete(context.Background(), Request{System: "Be brief.", Messages: json.RawMessage(oddMessages), Tools: json.RawMessage(oddTools)})
	if err != nil {
		t.Fatal(err)
	}
	sent := s.Requests()[0]
	want := modeltest.Request{
		Authorization: "Bearer " + key, Model: "small", Tools: json.RawMessage(oddTools),
		Messages: json.RawMessage(`[{"role":"system","content":"Be brief."},` + oddMessages[1:]),
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	calls := []registry.Call{
		{ID: "a", Name: "get_time", Arguments: json.RawMessage(`{"zone": "UTC"}`)},
		{ID: "call_2", Name: "get_time", Arguments: json.RawMessage(`{}`)},
		{ID: "c", Name: "get_time", Arguments: json.RawMessage(`{"half`)},
	}
	if diff := cmp.Diff(calls, got.Calls); diff != "" {
		t.Error(diff)
	}
	if got.Text != "two" || got.Finish != "tool_calls" || got.TokensIn == 0 || got.TokensOut != 4 || !strings.Contains(string(got.Message), `"tool_calls":[`) {
		t.Errorf("%+v", got)
	}
}

// TestConversation goes on with what a reply gives, in both modes, without a change to
// the requests.
func TestConversation(t *testing.T) {
	const asked = `{"role":"user","content":"time?"}`
	for toolCall, first := range map[bool]modeltest.Answer{
		true:  {Calls: []modeltest.Call{{ID: "x", Name: "get_time", Arguments: `{"zone":"UTC"}`}}},
		false: {Text: `I look. <tool_call>{"name": "get_time", "arguments": {"zone":"UTC"}}</tool_call>`},
	} {
		c, s := open(t, toolCall, func(r modeltest.Request) modeltest.Answer {
			if strings.Contains(string(r.Messages), "noon") {
				return modeltest.Answer{Text: "It is noon."}
			}
			return first
		})
		in := Request{Messages: json.RawMessage("[" + asked + "]"), Tools: json.RawMessage(oddTools)}
		reply, err := c.Complete(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Calls) != 1 || reply.Calls[0].Name != "get_time" || string(reply.Calls[0].Arguments) != `{"zone":"UTC"}` {
			t.Fatalf("tool_call %t: %+v", toolCall, reply.Calls)
		}
		in.Messages = json.RawMessage(fmt.Sprintf(`[%s,%s,{"role":"tool","tool_call_id":%q,"content":"noon"}]`, asked, reply.Message, reply.Calls[0].ID))
		reply, err = c.Complete(context.Background(), in)
		if err != nil || reply.Text != "It is noon." || len(reply.Calls) > 0 {
			t.Errorf("tool_call %t: %+v, %v", toolCall, reply, err)
		}
		if last := s.Requests()[1]; toolCall != (last.Tools != nil) {
			t.Errorf("tool_call %t: the tools are %s", toolCall, last.Tools)
		}
	}
}

func TestPromptMode(t *testing.T) {
	c, s := open(t, false, says(modeltest.Answer{Text: "fine"}))
	got, err := c.Complete(context.Background(), Request{System: "Be brief.", Tools: json.RawMessage(oddTools), Messages: json.RawMessage(
		`[{"role":"user","content":"q"},{"role":"assistant","content":"so","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},` +
			`{"id":"2","type":"function","function":{"name":"g","arguments":"{half"}}]},{"role":"tool","tool_call_id":"1","content":"one"},` +
			`{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"two"}]},{"role":"user","content":"and?","odd":1}]`)})
	if err != nil || got.Text != "fine" || got.Calls != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	var messages []struct {
		Role, Content string
		Odd           int
	}
	if err := json.Unmarshal(s.Requests()[0].Messages, &messages); err != nil {
		t.Fatal(err)
	}
	system := "Be brief.\n\n" + instruction + "\n" +
		`{"description":"a <b> & é é","name":"get_time","parameters":{"type":"object","b":1.50,"a":1e2},"x-odd":null}`
	want := append(messages[:0:0], messages...)
	for i, m := range [][2]string{
		{"system", system},
		{"user", "q"},
		{"assistant", "so\n" + `<tool_call>{"name":"f","arguments":{"a": 1}}</tool_call>` + "\n" + `<tool_call>{"name":"g","arguments":"{half"}</tool_call>`},
		{"user", "<tool_result>one</tool_result>\n<tool_result>two</tool_result>"},
		{"user", "and?"},
	} {
		want[i].Role, want[i].Content = m[0], m[1]
	}
	if diff := cmp.Diff(want, messages); diff != "" || len(messages) != 5 || messages[4].Odd != 1 {
		t.Error(diff)
	}
}

func TestBareRequest(t *testing.T) {
	for _, toolCall := range []bool{true, false} {
		c, s := open(t, toolCall, says(modeltest.Answer{Text: "hello"}))
		for _, tools := range []string{"", "[]", "[ ]"} {
			if _, err := c.Complete(context.Background(), Request{System: "s", Tools: json.RawMessage(tools)}); err != nil {
				t.Errorf("tools %q: %v", tools, err)
			}
		}
		for _, r := range s.Requests() {
			if string(r.Messages) != `[{"role":"system","content":"s"}]` || r.Tools != nil {
				t.Errorf("%s, %s", r.Messages, r.Tools)
			}
		}
		for _, wrong := range []Request{{Messages: json.RawMessage(`{}`)}, {Messages: json.RawMessage(`[`)}, {Tools: json.RawMessage(`{}`)}, {Tools: json.RawMessage(`[`)}} {
			if _, err := c.Complete(context.Background(), wrong); err == nil || !strings.Contains(err.Error(), "are no JSON array\nhint: ") {
				t.Errorf("%s, %s: %v", wrong.Messages, wrong.Tools, err)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer modeltest.Answer
		kind   endpoint.Kind
		says   string
	}{
		"throttled":   {modeltest.Answer{Status: 429, RetryAfter: "3", Error: "slow down"}, endpoint.Throttled, "answered 429"},
		"overloaded":  {modeltest.Answer{Status: 503, Error: key}, endpoint.ServerError, "answered 503"},
		"wrong key":   {modeltest.Answer{Status: 401, Error: "wrong key " + key + "."}, endpoint.Protocol, "status 401: wrong key ….\nhint: check api_key"},
		"no model":    {modeltest.Answer{Status: 404, Error: "no such model"}, endpoint.Protocol, "no such model\nhint: check base_url and model_name"},
		"refused":     {modeltest.Answer{Status: 400, Error: strings.Repeat("long ", 100)}, endpoint.Protocol, "long …\nhint: "},
		"no JSON":     {modeltest.Answer{Raw: "<html>"}, endpoint.Protocol, "its answer cannot be read"},
		"no choices":  {modeltest.Answer{Raw: `{"choices":[]}`}, endpoint.Protocol, "has no choices"},
		"no message":  {modeltest.Answer{Raw: `{"choices":[{"message":null}]}`}, endpoint.Protocol, "has no message"},
		"odd message": {modeltest.Answer{Raw: `{"choices":[{"message":{"content":7}}]}`}, endpoint.Protocol, "cannot be read"},
	} {
		client, _ := open(t, true, says(c.answer))
		_, err := client.Complete(context.Background(), Request{System: "s"})
		var fault *endpoint.Fault
		if !errors.As(err, &fault) || fault.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error gives the key away: %v", name, err)
		}
		if want := c.answer.RetryAfter != ""; want != (fault.RetryAfter == 3*time.Second) {
			t.Errorf("%s: come back after %s", name, fault.RetryAfter)
		}
	}
}

func TestTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer server.Close()
	c := client(t, card.Model{BaseURL: server.URL, Timeout: 20 * time.Millisecond})
	_, err := c.Complete(context.Background(), Request{System: "s"})
	var fault *endpoint.Fault
	if !errors.As(err, &fault) || fault.Kind != endpoint.Timeout {
		t.Errorf("%v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	good := card.Model{Type: TypeOpenAI, Name: "small", BaseURL: "http://localhost:11434"}
	for want, change := range map[string]func(*card.Model){
		"model.type: ":       func(m *card.Model) { m.Type = "other" },
		"model.model_name: ": func(m *card.Model) { m.Name = "" },
		"model.base_url: ":   func(m *card.Model) { m.BaseURL = "localhost:11434" },
		"model.api_key: its character 3 cannot be sent": func(m *card.Model) { m.APIKey = "ab\ncd" },
	} {
		m := good
		change(&m)
		if _, err := New(m, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for base, want := range map[string]string{
		"http://h": "http://h/v1", "http://h/": "http://h/v1", "http://h/v1/": "http://h/v1/", "https://h/api/v3": "https://h/api/v3",
	} {
		good.BaseURL = base
		c, err := New(good, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if c.base.String() != want || c.base.Path[0] != '/' {
			t.Errorf("%s: %v", base, c.base)
		}
	}
}

func TestSummarise(t *testing.T) {
	c, s := open(t, true, says(modeltest.Answer{Text: "<think>hm</think>\n short "}))
	got, err := c.Summarise(context.Background(), "a long \"text\"", 120)
	if err != nil || got != "short" {
		t.Errorf("%q, %v", got, err)
	}
	sent := string(s.Requests()[0].Messages)
	if !strings.Contains(sent, "at most 120 tokens") || !strings.HasSuffix(sent, `,{"role":"user","content":"a long \"text\""}]`) {
		t.Errorf("%s", sent)
	}
	c, _ = open(t, true, says(modeltest.Answer{Text: "<think>hm, how do I"}))
	if got, err := c.Summarise(context.Background(), "text", 1); err == nil {
		t.Errorf("a thought is taken for a summary: %q", got)
	}
}

func TestEmbed(t *testing.T) {
	c, _ := open(t, true, nil)
	var texts []string
	var want [][]float32
	for i := range embedBatch + 3 {
		text := fmt.Sprintf("text %d", i)
		texts, want = append(texts, text), append(want, modeltest.Vector(text))
	}
	got, err := c.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := c.Embed(context.Background(), nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestEmbedRefuses(t *testing.T) {
	for _, data := range []string{
		``, `{"index":0,"embedding":[1]}`, `{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}`, `{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}`,
		`{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}`, `{"index":0,"embedding":[1]},{"index":1,"embedding":[]}`,
		`{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}`, `{"index":0,"embedding":"text"}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"data":[%s]}`, data) }))
		c := client(t, card.Model{BaseURL: server.URL})
		got, err := c.Embed(context.Background(), []string{"a", "b"})
		var fault *endpoint.Fault
		if !errors.As(err, &fault) || fault.Kind != endpoint.Protocol {
			t.Errorf("%s: %v, %v", data, got, err)
		}
		server.Close()
	}
}
