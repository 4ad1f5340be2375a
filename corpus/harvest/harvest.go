// Package harvest asks real MCP servers for their tools and makes a corpus of the
// answers, so that what a user's own servers cost can be measured.
//
// The steps: read the mcp.json that a client uses ([mcpserver.ReadConfig]); start
// each server, or call its address, list its tools page by page, and end it again
// ([Run]); write what was listed as a corpus folder with where it comes from
// ([Write]).
//
// The promise: a tool's bytes are kept as the server sent them, since token
// counts depend on them. A server that fails, floods, or never answers costs no
// more than its time limit and some memory, is reported with its reason, and does
// not keep the others from the corpus. Every process that was started has ended
// when Run returns, and all of its process group with it. No value of an entry's
// environment or headers, and no part of an address behind its host, reaches an
// error, a note or a file. Two harvests of the same servers differ in their time
// alone.
package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
)

// Bounds on what one server may send.
const (
	messageMax = 16 << 20 // bytes of one message
	outputMax  = 64 << 20 // bytes of all messages, and of what stands between them
)

// Options say how servers are asked.
type Options struct {
	// Timeout bounds the time from a server's start to its last page. It must be
	// positive.
	Timeout time.Duration
	// Parallel is how many servers are asked at once; below 1 counts as 1.
	Parallel int
	// Done is called, if it is set, after each server; never twice at once.
	Done func()
}

// Answer is what asking one server came to.
type Answer struct {
	Server mcpserver.Server
	// Name and Version are what the server calls itself, Protocol is the version
	// of MCP agreed on; empty where it never answered.
	Name, Version, Protocol string
	Pages                   int
	// Tools are as listed, byte for byte, in the order listed.
	Tools []json.RawMessage
	// LeftOut says, a sentence each, which tools are left out and why: no corpus
	// can hold them, or they repeat a secret of the entry.
	LeftOut []string
	// Failure says why there are no tools; empty if the server answered.
	Failure string
	// Stderr are the last lines that a failed server wrote to standard error.
	Stderr []string
}

// Run asks servers for their tools and returns their answers in the order of the
// servers. Its error is the context's, if that ends first.
func Run(ctx context.Context, servers []mcpserver.Server, o Options) ([]Answer, error) {
	answers := make([]Answer, len(servers))
	next := make(chan int)
	var workers sync.WaitGroup
	var done sync.Mutex
	for range min(max(o.Parallel, 1), len(servers)) {
		workers.Go(func() {
			for i := range next {
				answers[i] = ask(ctx, servers[i], o.Timeout)
				if o.Done != nil {
					done.Lock()
					o.Done()
					done.Unlock()
				}
			}
		})
	}
	for i := range servers {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return answers, nil
}

// ask asks one server. One that does not know the handshake that most servers
// speak is asked again with the newer one.
func ask(ctx context.Context, s mcpserver.Server, timeout time.Duration) Answer {
	if s.Fault != "" {
		return Answer{Server: s, Failure: s.Fault}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var a Answer
	for _, protocol := range []string{mcpserver.ProtocolInitialize, mcpserver.ProtocolDiscover} {
		conversation := &conversation{server: s, timeout: timeout, answer: Answer{Server: s}}
		err := conversation.run(ctx, protocol)
		a = conversation.answer
		if err == nil {
			break
		}
		a.Tools, a.Pages, a.LeftOut = nil, 0, nil
		a.Failure = err.Error()
		if !errors.Is(err, mcpserver.ErrRejected) {
			break
		}
	}
	return a
}

// Note says in a sentence what a reader must know of a server's answer; empty if
// all is well.
func (a Answer) Note() string {
	switch {
	case a.Failure != "":
		text := fmt.Sprintf("server %s: %s", a.Server.Label, a.Failure)
		for _, line := range a.Stderr {
			text += "\n    " + line
		}
		return text
	case len(a.Tools) == 0:
		return fmt.Sprintf("server %s: it answers, and has no tools", a.Server.Label)
	case len(a.LeftOut) > 0:
		return fmt.Sprintf("server %s: tools left out: %d, the first: %s", a.Server.Label, len(a.LeftOut), a.LeftOut[0])
	}
	return ""
}
