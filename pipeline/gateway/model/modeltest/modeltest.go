// Package modeltest simulates an OpenAI-compatible model endpoint for tests: a server
// that holds requests to the API's rules, and answers what the test says.
package modeltest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Request is a request for a completion.
type Request struct {
	Authorization string
	Model         string
	Messages      json.RawMessage
	Tools         json.RawMessage // as they were sent; nil: none
}

// Answer is what the model says, or how the endpoint fails.
type Answer struct {
	Text   string
	Calls  []Call
	Finish string // empty: tool_calls where there are any, else stop

	Status     int    // of an error; 0: none
	Error      string // its message
	RetryAfter string
	Raw        string // sent in place of everything
}

// Call is a call that the model makes.
type Call struct {
	ID        string
	Name      string
	Arguments string // as the model writes them
}

// Server is a simulated endpoint.
type Server struct {
	URL string // its base_url

	answer func(Request) Answer

	mu       sync.Mutex
	requests []Request
}

// Dimensions is the length of the vectors that a Server gives.
const Dimensions = 8

// Start starts a server, which ends with the test. It answers each request for a
// completion by what answer says. A request that breaks the API's rules is refused
// with status 400.
func Start(t testing.TB, answer func(Request) Answer) *Server {
	t.Helper()
	s := &Server{answer: answer}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /v1/embeddings", s.embed)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Requests returns the requests for completions so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// wire is the body of a request for a completion.
type wire struct {
	Model    string          `json:"model"`
	Messages json.RawMessage `json:"messages"`
	Tools    json.RawMessage `json:"tools"`
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	var in wire
	if !read(w, r, &in) {
		return
	}
	if fault := check(in); fault != "" {
		refuse(w, Answer{Status: http.StatusBadRequest, Error: fault})
		return
	}
	request := Request{Authorization: r.Header.Get("Authorization"), Model: in.Model, Messages: in.Messages, Tools: in.Tools}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	answer := s.answer(request)
	switch {
	case answer.Raw != "":
		_, _ = io.WriteString(w, answer.Raw)
	case answer.Status != 0:
		refuse(w, answer)
	default:
		write(w, completion(in, answer))
	}
}

// read reads a body, and refuses one that is no JSON.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if r.Header.Get("Content-Type") != "application/json" {
		refuse(w, Answer{Status: http.StatusUnsupportedMediaType, Error: "the body must be application/json"})
		return false
	}
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		refuse(w, Answer{Status: http.StatusBadRequest, Error: err.Error()})
		return false
	}
	return true
}

func write(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, a Answer) {
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	write(w, map[string]any{"error": map[string]any{"message": a.Error, "type": "invalid_request_error", "param": nil, "code": nil}})
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// message is what the rules say of a message.
type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []toolCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// check says which rule a request breaks; nothing if it breaks none.
func check(in wire) string {
	if in.Model == "" {
		return "you must provide a model parameter"
	}
	var messages []message
	if err := json.Unmarshal(in.Messages, &messages); err != nil || len(messages) == 0 {
		return "messages must be an array of at least one message"
	}
	open := make(map[string]bool)
	for i, m := range messages {
		switch m.Role {
		case "tool":
			if !open[m.ToolCallID] {
				return fmt.Sprintf("messages[%d] answers no call of the message before", i)
			}
			delete(open, m.ToolCallID)
			continue
		case "system", "user", "assistant":
		default:
			return fmt.Sprintf("messages[%d] has the role %q", i, m.Role)
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages[%d] comes before every call was answered", i)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || c.Type != "function" || c.Function.Name == "" {
				return fmt.Sprintf("messages[%d] has a call without id, type or name", i)
			}
			open[c.ID] = true
		}
	}
	if len(in.Tools) == 0 {
		return ""
	}
	var tools []struct {
		Type     string
		Function struct{ Name string }
	}
	if err := json.Unmarshal(in.Tools, &tools); err != nil || len(tools) == 0 {
		return "tools must be an array of at least one tool"
	}
	for i, tool := range tools {
		if tool.Type != "function" || !nameForm.MatchString(tool.Function.Name) {
			return fmt.Sprintf("tools[%d] has the type %q and the name %q", i, tool.Type, tool.Function.Name)
		}
	}
	return ""
}

// completion is the body of an answer. A token is a word of the JSON.
func completion(in wire, a Answer) any {
	m := map[string]any{"role": "assistant", "content": a.Text}
	finish := "stop"
	if len(a.Calls) > 0 {
		var calls []toolCall
		for _, c := range a.Calls {
			calls = append(calls, toolCall{ID: c.ID, Type: "function", Function: function{c.Name, c.Arguments}})
		}
		m["tool_calls"], finish = calls, "tool_calls"
		if a.Text == "" {
			m["content"] = nil
		}
	}
	if a.Finish != "" {
		finish = a.Finish
	}
	prompt, reply := len(strings.Fields(string(in.Messages)+" "+string(in.Tools))), len(strings.Fields(a.Text))+len(a.Calls)
	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": in.Model,
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
	}
}

// embed answers with the vectors of Vector, the last first.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if !read(w, r, &in) {
		return
	}
	if in.Model == "" || len(in.Input) == 0 || len(in.Input) > 2048 {
		refuse(w, Answer{Status: http.StatusBadRequest, Error: "a model and 1 to 2048 inputs are needed"})
		return
	}
	var data []any
	for i := len(in.Input) - 1; i >= 0; i-- {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": Vector(in.Input[i])})
	}
	write(w, map[string]any{"object": "list", "model": in.Model, "data": data, "usage": map[string]any{"prompt_tokens": 1, "total_tokens": 1}})
}

// Vector is the vector that a Server gives for a text: how many of its words, without
// case, fall on each dimension.
func Vector(text string) []float32 {
	v := make([]float32, Dimensions)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = io.WriteString(h, word)
		v[h.Sum32()%Dimensions]++
	}
	return v
}
