package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// The part of a process that a test starts, and its log.
const (
	partVariable = "TOOLGAUGE_TEST_PART"
	logVariable  = "TOOLGAUGE_TEST_LOG"
)

func TestMain(m *testing.M) {
	switch os.Getenv(partVariable) {
	case "endless":
		callForEver(os.Getenv(logVariable))
	case "small files":
		callUntilFull(os.Getenv(logVariable))
	default:
		os.Exit(m.Run())
	}
}

func part(name, path string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), partVariable+"="+name, logVariable+"="+path)
	c.Stderr = os.Stderr
	return c
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// told is an endpoint that says to whom it told what.
type told struct {
	mu  sync.Mutex
	ids []string
}

func (o *told) Call(_ context.Context, r endpoint.Request) (endpoint.Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ids = append(o.ids, r.CallID)
	return endpoint.Answer{Body: []byte("answer to " + r.CallID)}, nil
}

// behindLog opens a gateway in front of e that records to a log.
func behindLog(path string, e endpoint.Endpoint) *gateway.Session {
	config, err := card.Parse("gateway.yaml", []byte("schema_version: 1\nsession: {principal: ann}\n"+tools("save")))
	must(err)
	log, err := audit.Open(path, audit.Options{})
	must(err)
	g, err := gateway.New(gateway.Options{Config: config, Audit: log, Open: func(*card.Card) (endpoint.Endpoint, error) { return e, nil }})
	must(err)
	return g.Session(gateway.SessionOptions{ID: fmt.Sprint(os.Getpid()), Who: config.Session})
}

func save(s *gateway.Session, id string) registry.Result {
	return s.DispatchAll(context.Background(), []registry.Call{{ID: id, Name: "save", Arguments: json.RawMessage(`{"note":"` + strings.Repeat("long ", 100) + `"}`)}})[0]
}

// callForEver prints the id of each call when its result has come.
func callForEver(path string) {
	s := behindLog(path, &told{})
	var callers sync.WaitGroup
	for c := range 4 {
		callers.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d/%d/%d", os.Getpid(), c, i)
				if r := save(s, id); r.Failed || r.Text != "answer to "+id {
					panic(r.Text)
				}
				if _, err := os.Stdout.WriteString(id + "\n"); err != nil {
					panic(err)
				}
			}
		})
	}
	callers.Wait()
}

// TestKilledGatewayLosesNoRecord kills processes that make calls through gateways with
// one log: each call whose result came is in it.
func TestKilledGatewayLosesNoRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var answered []string
	for range 3 {
		child := part("endless", path)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			answered = append(answered, lines.Text())
			if n == 300 {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait()
	}
	log, err := audit.Open(path, audit.Options{}) // takes away the half line of the last one
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	kept := make(map[string]bool)
	for _, r := range recordsOf(t, path) {
		kept[r.CallID] = r.ResultSHA256 == digest("answer to "+r.CallID)
	}
	for _, id := range answered {
		if !kept[id] {
			t.Fatalf("call %s was answered, and its record is lost", id)
		}
	}
	if len(answered) < 3*300 {
		t.Errorf("only %d calls were answered", len(answered))
	}
}

// callUntilFull makes calls until the system lets the log grow no more, then some
// more, then gives it room and makes one. It prints the ids of the calls that reached
// the endpoint.
func callUntilFull(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	room := limit
	room.Cur = 20_000
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room))
	e := &told{}
	s := behindLog(path, e)
	id, refused := 0, 0
	for ; refused < 3; id++ {
		r := save(s, fmt.Sprint(id))
		if !r.Failed {
			continue
		}
		refused++
		if strings.Contains(r.Text, "answer to") || !strings.Contains(r.Text, `"phase":"audit"`) {
			panic(r.Text)
		}
	}
	if len(e.ids) != id-refused+1 { // the first was carried out, those behind it were not
		panic(fmt.Sprint(len(e.ids), " calls reached the endpoint, of ", id))
	}
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	if r := save(s, "last"); r.Failed {
		panic(r.Text)
	}
	fmt.Print(strings.Join(e.ids, " "))
}

// TestFullDiskRefusesCalls has the system refuse a line in its middle: no call that
// reached its endpoint is without a record once there is room again.
func TestFullDiskRefusesCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	out, err := part("small files", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var executed []string
	for _, r := range recordsOf(t, path) {
		if r.Attempts > 0 {
			executed = append(executed, r.CallID)
		}
	}
	if got := strings.Join(executed, " "); got != string(out) || len(executed) < 10 {
		t.Errorf("the log tells of %s, and %s reached the endpoint", got, out)
	}
}
