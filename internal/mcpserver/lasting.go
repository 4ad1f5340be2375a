package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	sessionHeader   = "Mcp-Session-Id"
	lastEventHeader = "Last-Event-Id"
	// refusalMax bounds what is read of an answer that is none.
	refusalMax = 64 << 10
	// streamPause is how long nobody listens after a stream has ended.
	streamPause = 2 * time.Second
)

// StatusError is the HTTP status with which an address answered a message. It breaks
// no lasting connection.
type StatusError struct {
	Status     int    // 400 or above
	RetryAfter string // as the header has it
}

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("it answers with the HTTP status %d %s", e.Status, http.StatusText(e.Status)))
}

// judge keeps an answer that is none from breaking a lasting connection: it becomes
// the error of the one request.
func (e *endpoint) judge(r *http.Request, response *http.Response) (*http.Response, error) {
	switch {
	case r.Method != http.MethodPost || 300 <= response.StatusCode && response.StatusCode < 400:
		return response, nil
	case response.StatusCode >= 400:
		return e.refused(r, response)
	case r.Context().Value(keptKey{}) == nil && response.StatusCode != http.StatusOK:
		return response, nil // it was told something, and says that it heard
	}
	switch kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind {
	case "application/json":
		data, err := e.whole(response.Body, e.options.MessageMax)
		switch {
		case err == nil:
			_, err = jsonrpc.DecodeMessage(data)
			if err != nil {
				err = Definite("it sends a message that cannot be read")
			}
		case r.Context().Err() == nil && !errors.As(err, new(*DefiniteError)):
			err = Definite("its answer breaks off: %s", e.server.Secrets().Clean(err.Error()))
		}
		if err != nil {
			return nil, err
		}
		response.Body = io.NopCloser(bytes.NewReader(data))
	case "text/event-stream":
		response.Body = &bounded{ReadCloser: response.Body, endpoint: e}
	default:
		if r.Context().Value(keptKey{}) != nil {
			_ = response.Body.Close()
			return nil, Definite("its answer is no message, but of the type %.40q", kind)
		}
	}
	return response, nil
}

// refused judges an answer with a status from 400 on. An error of the protocol goes
// through; a session that the server does not know any more breaks the connection.
func (e *endpoint) refused(r *http.Request, response *http.Response) (*http.Response, error) {
	if response.StatusCode == http.StatusNotFound && r.Header.Get(sessionHeader) != "" {
		_ = response.Body.Close()
		return nil, e.breakOff(Definite("it knows the session no longer"))
	}
	data, err := e.whole(response.Body, refusalMax)
	if err == nil {
		m, _ := jsonrpc.DecodeMessage(data) // what is none is judged by its status
		if answer, ok := m.(*jsonrpc.Response); ok && answer.Error != nil && response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests {
			response.Body = io.NopCloser(bytes.NewReader(data))
			return response, nil
		}
	}
	return nil, &StatusError{Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After")}
}

// whole reads a body to its end, within a bound.
func (e *endpoint) whole(body io.ReadCloser, most int) ([]byte, error) {
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, int64(most)+1))
	if len(data) > most {
		return nil, e.options.tooLong()
	}
	return data, err
}

// message is what a reader got.
type message struct {
	m   jsonrpc.Message
	err error
}

// listen lets a lasting connection read from two sides: the answers to its requests,
// and the stream of what the server says unasked.
func (e *endpoint) listen(c *call) {
	c.messages = make(chan message)
	e.speaking.Go(func() {
		for {
			m, err := c.Connection.Read(context.Background()) // ends when the connection is closed
			response, ok := m.(*jsonrpc.Response)
			if err == nil && ok && e.agree(response) {
				e.speaking.Go(func() { e.stream(c) })
			}
			if !c.hand(message{m, err}) || err != nil {
				return
			}
		}
	})
}

// hand gives a message to the reader; false if there is none any more.
func (c *call) hand(m message) bool {
	select {
	case c.messages <- m:
		return true
	case <-c.endpoint.ended.Done():
		return false
	}
}

// next returns the next message of either side.
func (c *call) next() (jsonrpc.Message, error) {
	select {
	case got := <-c.messages:
		return got.m, got.err
	case <-c.endpoint.gone:
		return nil, c.endpoint.Fault()
	case <-c.endpoint.ended.Done():
		return nil, io.EOF
	}
}

// stream listens to what the server says unasked, again where a stream has ended,
// until the connection ends or the server turns out to have no such stream.
func (e *endpoint) stream(c *call) {
	for last := ""; ; {
		body := e.openStream(c, last)
		if body == nil {
			return
		}
		last = c.events(body, last)
		_ = body.Close()
		timer := time.NewTimer(streamPause)
		select {
		case <-timer.C:
		case <-e.gone:
		case <-e.ended.Done():
		}
		timer.Stop()
		if e.ended.Err() != nil || e.Fault() != nil {
			return
		}
	}
}

// openStream asks for the stream behind the last event that was seen; nil if there is
// none.
func (e *endpoint) openStream(c *call, last string) io.ReadCloser {
	r, err := http.NewRequestWithContext(e.ended, http.MethodGet, e.server.URL, nil)
	if err != nil {
		return nil
	}
	r.Header.Set("Accept", "text/event-stream")
	if id := c.SessionID(); id != "" {
		r.Header.Set(sessionHeader, id)
	}
	if last != "" {
		r.Header.Set(lastEventHeader, last)
	}
	response, err := e.send(r)
	if err != nil {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return response.Body
	}
	_ = response.Body.Close()
	if response.StatusCode == http.StatusNotFound && r.Header.Get(sessionHeader) != "" && last != "" {
		_ = e.breakOff(Definite("it knows the session no longer"))
	}
	return nil
}

// events hands on the messages of one stream, and returns the ID of its last event.
// An event that is no message is passed over.
func (c *call) events(body io.Reader, last string) string {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, c.endpoint.options.MessageMax)
	var data []byte
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if m, err := jsonrpc.DecodeMessage(bytes.TrimSpace(data)); err == nil && !c.hand(message{m: m}) {
				return last
			}
			data = data[:0]
		case field == "id" && len(value) <= lineMax:
			last = value
		case field == "data" && len(data)+len(value) < c.endpoint.options.MessageMax:
			data = append(append(data, value...), '\n')
		}
	}
	return last
}
