package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long a process is given to end: after its standard input closes, and again
// after it is told to.
const (
	graceMax = 500 * time.Millisecond
	pipesMax = time.Second // for pipes that a process's own children hold open
)

// Standard error that is kept of a process.
const (
	stderrBytes = 4 << 10
	stderrLines = 8
)

// process is a server that is a process of its own, spoken to over its standard
// input and output, one message a line. Lines that are no message are passed
// over, since some servers greet on standard output.
type process struct {
	cmd     *exec.Cmd
	options Options
	errors  tail

	stdin  io.WriteCloser
	stdout *bufio.Reader
	read   int // bytes of standard output that count so far

	mu       sync.Mutex
	broken   error // what ended the reading, unless that was End
	finished bool  // End was called

	starting sync.Mutex    // held while the process starts, so that End finds it or prevents it
	writing  chan struct{} // holds an element while somebody writes
	ending   sync.Once
}

// inherited are the variables of the caller that every server gets, those of the
// second line on systems where programs do not start without.
var inherited = []string{
	"PATH", "HOME",
	"SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "PATHEXT", "COMSPEC",
}

func newProcess(s Server, o Options) *process {
	p := &process{cmd: exec.Command(s.Command, s.Args...), options: o, writing: make(chan struct{}, 1)}
	p.cmd.Env = []string{} // nil would be the whole environment
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	for _, v := range s.Env {
		p.cmd.Env = append(p.cmd.Env, v.Name+"="+v.Value) // the last of a name counts
	}
	p.cmd.Dir = s.Dir
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = pipesMax
	ownGroup(p.cmd)
	return p
}

// Connect starts the process.
func (p *process) Connect(context.Context) (mcp.Connection, error) {
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReaderSize(stdout, 64<<10)
	p.starting.Lock()
	defer p.starting.Unlock()
	if p.isFinished() {
		return nil, context.Canceled
	}
	if err := p.cmd.Start(); err != nil {
		var atPath *fs.PathError
		var atName *exec.Error
		switch {
		case errors.As(err, &atPath):
			err = atPath.Err
		case errors.As(err, &atName):
			err = atName.Err
		}
		err = Definite("cannot start its command: %v", err)
		p.breakOff(err)
		return nil, err
	}
	return p, nil
}

// SessionID is empty: a process is one session.
func (p *process) SessionID() string { return "" }

// Read returns the next message on standard output.
func (p *process) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := p.line()
		if err != nil {
			p.breakOff(err)
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		message, err := decodeLine(line)
		if err != nil {
			p.breakOff(err)
			return nil, err
		}
		if _, answer := message.(*jsonrpc.Response); answer && p.options.Lasting {
			p.read = 0
		}
		if message != nil {
			return message, nil
		}
	}
}

// line reads one line, within the bounds.
func (p *process) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.stdout.ReadSlice('\n')
		p.read += len(part)
		switch {
		case len(line)+len(part) > p.options.MessageMax:
			return nil, p.options.tooLong()
		case p.read > p.options.OutputMax:
			return nil, p.options.tooMuch()
		}
		line = append(line, part...)
		if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// decodeLine reads a message, or returns nil for what is none.
func decodeLine(line []byte) (jsonrpc.Message, error) {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte{'{'}) {
		return nil, nil
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err == nil {
		return message, nil
	}
	var envelope struct {
		Version json.RawMessage `json:"jsonrpc"`
	}
	if json.Unmarshal(line, &envelope) == nil && envelope.Version != nil {
		return nil, Definite("it sends a message that cannot be read")
	}
	return nil, nil
}

// Write sends one message.
func (p *process) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	select {
	case p.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	// A server that does not read blocks whoever writes to it until it ends. Half a
	// message must not stay behind, so the writing goes on without the caller.
	written := make(chan error, 1)
	go func() {
		_, err := p.stdin.Write(append(data, '\n'))
		<-p.writing
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the process.
func (p *process) Close() error {
	p.End()
	return nil
}

// End ends the process and all that it started, by and by: standard input closes,
// the group is told to end, the group is killed. A second caller waits for the
// first.
func (p *process) End() {
	p.mu.Lock()
	p.finished = true
	p.mu.Unlock()
	p.starting.Lock()
	started := p.cmd.Process != nil
	p.starting.Unlock()
	if !started {
		return
	}
	p.ending.Do(func() {
		_ = p.stdin.Close()
		ended := make(chan struct{})
		go func() {
			_ = p.cmd.Wait()
			close(ended)
		}()
		for _, next := range []func(*exec.Cmd){terminateGroup, killGroup} {
			timer := time.NewTimer(graceMax)
			select {
			case <-ended:
			case <-timer.C:
				next(p.cmd)
			}
			timer.Stop()
		}
		<-ended
		killGroup(p.cmd) // what it started and left behind
	})
}

func (p *process) breakOff(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil && !p.finished {
		p.broken = err
	}
}

func (p *process) isFinished() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.finished
}

// Fault says how the process ended if that ended the conversation.
func (p *process) Fault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(p.broken, io.EOF) && p.cmd.ProcessState != nil {
		return fmt.Errorf("it ended (%s)", p.cmd.ProcessState)
	}
	return p.broken
}

// Stderr returns the last lines, secrets included.
func (p *process) Stderr() []string { return p.errors.lines() }

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool // the first line is not whole
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(len(p)-stderrBytes, 0):]...)
	if over := len(t.text) - stderrBytes; over > 0 || len(p) > stderrBytes {
		t.cut = true
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// lines returns the last lines that are not blank. One that is not whole is none of
// them: a secret that was cut is not found.
func (t *tail) lines() (lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text)
	if t.cut {
		_, text, _ = strings.Cut(text, "\n")
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(len(lines)-stderrLines, 0):]
}
