// Package mcpserver opens connections to MCP servers as the configuration of a
// client describes them: commands to start, and addresses to call.
//
// The steps: read the mcp.json ([ReadConfig], [ParseConfig]); open what carries the
// messages of one server ([Open]), with a tap where results are wanted as they came
// ([Tap]); speak MCP over it; end it, and ask what broke it ([Wire]).
//
// The promise: a server gets a minimal environment, not the caller's. A process that
// was started has ended when End returns, and all of its process group with it. What
// a server sends is read within bounds, and lines on its standard output that are no
// message are passed over. No value of an entry's environment or headers, and no part
// of an address behind its host, is in a text that [Secrets] cleaned.
package mcpserver

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Wire carries the messages of one connection to a server: it opens the connection,
// and afterwards says what went wrong below the protocol.
type Wire interface {
	mcp.Transport
	// End ends the server, or the connection to it, and frees all that was held. It
	// waits until that is done.
	End()
	// Fault is what broke the connection; nil if nothing did. It is asked after End.
	Fault() error
	// Stderr are the last lines of the server's standard error, secrets included.
	Stderr() []string
}

// Options say within which bounds a server is listened to.
type Options struct {
	// MessageMax is the most bytes of one message.
	MessageMax int
	// OutputMax is the most bytes of all messages and of what stands between them.
	OutputMax int
	// Lasting is set for a connection that serves many calls. OutputMax is then counted
	// from the last answer on, and behind an address not at all; a request that breaks
	// there does not break the others; and a stream is held open for what the server
	// says unasked.
	Lasting bool
}

func (o Options) tooLong() error {
	return Definite("it sends a message of more than %d MiB", o.MessageMax>>20)
}

func (o Options) tooMuch() error { return Definite("it sends more than %d MiB", o.OutputMax>>20) }

// Open returns the wire to a server, which is not started or called yet.
func Open(s Server, o Options) Wire {
	if s.URL != "" {
		return newEndpoint(s, o)
	}
	return newProcess(s, o)
}

// DefiniteError is a fault that says all there is to say: a bound passed, an answer
// that cannot be read. Neither time nor how the server ended matters beside it.
type DefiniteError struct{ text string }

func (e *DefiniteError) Error() string { return e.text }

// Definite words such a fault.
func Definite(format string, args ...any) error { return &DefiniteError{fmt.Sprintf(format, args...)} }
