//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// TestKilled: a server that is killed fails the calls that it had, is not forgotten,
// and comes back; the others notice nothing.
func TestKilled(t *testing.T) {
	t.Parallel()
	var told changes
	h := open(t, Options{Changed: told.add}, entryOf(t, "a", "plain"), entryOf(t, "b", "plain"))
	before := h.Servers()[0].Tools
	pid, err := strconv.Atoi(textOfCall(t, h, "a", "pid", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	failed, answered := make(chan error, 1), make(chan error, 1)
	for server, end := range map[string]chan error{"a": failed, "b": answered} {
		go func() {
			_, err := h.Endpoint(server, "echo").Call(context.Background(), endpoint.Request{Arguments: json.RawMessage(`{"ms":700}`)})
			end <- err
		}()
	}
	time.Sleep(200 * time.Millisecond)
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantFault(t, <-failed, endpoint.Transport, "MCP server a: it is unavailable: it ended (signal: killed)")
	if err := <-answered; err != nil {
		t.Errorf("a call of the other server: %v", err)
	}
	if tools := h.Servers()[0].Tools; len(tools) != len(before) {
		t.Errorf("tools %v are known of a server that is away", names(tools))
	}
	if len(h.Cards()) != 4 {
		t.Errorf("%d cards", len(h.Cards()))
	}
	eventually(t, "the return of the server", func() bool { return h.Servers()[0].Up && told.of("a") == 2 })
	if diff := cmp.Diff(before, h.Servers()[0].Tools); diff != "" {
		t.Errorf("tools (-before +after):\n%s", diff)
	}
	if again := textOfCall(t, h, "a", "pid", `{}`); again == strconv.Itoa(pid) {
		t.Error("it is the same process")
	}
	if told.of("b") > 0 {
		t.Error("the other server is said to have changed")
	}
	_, err = call(t, h, "a", "exit", `{}`)
	wantFault(t, err, endpoint.Transport, "MCP server a: it is unavailable: it ended (exit status 3); the last it wrote: bad day for [redacted]")
}

// TestClosed: nothing is left, and calls say so.
func TestClosed(t *testing.T) {
	t.Parallel()
	h := open(t, Options{Changed: func(string) { t.Error("somebody is told of the end") }}, entryOf(t, "a", "plain"))
	pid, _ := strconv.Atoi(textOfCall(t, h, "a", "pid", `{}`))
	failed := make(chan error)
	go func() {
		_, err := h.Endpoint("a", "echo").Call(context.Background(), endpoint.Request{Arguments: json.RawMessage(`{"ms":60000}`)})
		failed <- err
	}()
	time.Sleep(100 * time.Millisecond)
	h.Close()
	wantFault(t, <-failed, endpoint.Closed, "MCP server a: the connection was closed")
	_, err := call(t, h, "a", "echo", `{}`)
	wantFault(t, err, endpoint.Closed, "MCP server a: the connection was closed")
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d: %v", pid, err)
	}
	if s := h.Servers()[0]; s.Up || len(s.Tools) != 2 {
		t.Errorf("state %+v", s)
	}
}
