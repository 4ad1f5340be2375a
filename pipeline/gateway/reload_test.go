package gateway_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestReloadLetsCallsEndAsTheyBegan(t *testing.T) {
	d := newDesk(t, tools("a", "b"), map[string]end{"a": after(2*time.Second, "old a"), "b": text("old b")})
	d.clock.Go(func() {
		d.clock.Wait(context.Background(), nil, time.Second)
		d.ends["a"] = text("new a")
		if err := d.gateway.Reload(parsed(t, tools("a")), nil); err != nil {
			t.Error(err)
		}
	})
	// b waits for a, and is called when the reload has taken it away.
	if results := d.calls("a {}", "b {}"); results[0].Text != "old a" || results[1].Text != "old b" {
		t.Errorf("calls under way: %+v", results)
	}
	if r := d.call("a", "{}"); r.Text != "new a" {
		t.Errorf("after the reload: %s", r.Text)
	}
	if got := code(t, d.call("b", "{}")); got != "unknown_tool" {
		t.Errorf("a tool that is gone: %s", got)
	}
}

func TestABadReloadChangesNothing(t *testing.T) {
	d := newDesk(t, tools("a"), map[string]end{"a": text("a")})
	bad := parsed(t, tools("a", "b", "c"))
	if err := d.gateway.Reload(bad, nil); err == nil || !strings.Contains(err.Error(), `"b"`) || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("not every fault is named: %v", err)
	}
	twice := []*card.Card{{ID: "a", Name: "a", Description: "x", InputSchema: []byte(`{}`), Target: "https://x.test.invalid/a", Timeout: time.Second}}
	if err := d.gateway.Reload(parsed(t, tools("a")), twice); err == nil {
		t.Error("an id was taken twice")
	}
	if r := d.call("a", "{}"); r.Text != "a" {
		t.Errorf("the tool that was there: %s", r.Text)
	}
	if got := code(t, d.call("b", "{}")); got != "unknown_tool" {
		t.Errorf("half a batch is in use: %s", got)
	}
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte("schema_version: 1\ntools: [{id: a, colour: red}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.gateway.ReloadFile(file, nil); err == nil || !strings.Contains(err.Error(), "colour") || !strings.Contains(err.Error(), "gateway.yaml:2") {
		t.Errorf("a bad file: %v", err)
	}
}

func TestPublishedToolsFollowReloads(t *testing.T) {
	r := registry.New(registry.Options{})
	open := func(c *card.Card) (endpoint.Endpoint, error) {
		return scripted{&desk{}, text(c.ID)}, nil
	}
	g, err := gateway.New(gateway.Options{Config: parsed(t, tools("a", "b")), Registry: r, Publish: true, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Names()); got != "[a b]" {
		t.Errorf("published %s", got)
	}
	generation := r.Generation()
	if err := g.Reload(parsed(t, tools("b", "c")), nil); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Names()); got != "[b c]" || r.Generation() != generation+1 {
		t.Errorf("after the reload: %s in %d steps", got, r.Generation()-generation)
	}
	if got := r.Dispatch(context.Background(), "c", []byte("{}")); got.Text != "c" {
		t.Errorf("called bare: %+v", got)
	}
}

func TestWatchReadsAFileAnew(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "gateway.yaml")
	write := func(text string) {
		temporary := filepath.Join(folder, "next")
		if err := os.WriteFile(temporary, []byte("schema_version: 1\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temporary, file); err != nil {
			t.Fatal(err)
		}
	}
	write(tools("a"))
	open := func(c *card.Card) (endpoint.Endpoint, error) { return scripted{&desk{}, text(c.ID)}, nil }
	g, err := gateway.New(gateway.Options{Config: parsed(t, tools("a")), Open: open})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	told, ended := make(chan error, 8), make(chan error, 1)
	go func() {
		ended <- g.Watch(ctx, file, func() []*card.Card { return nil }, func(err error) { told <- err })
	}()
	// Until the watch is set up a change goes unseen: write until one is told of.
	for seen := false; !seen; {
		write(tools("a", "b"))
		select {
		case err := <-told:
			if err != nil {
				t.Fatal(err)
			}
			seen = true
		case <-time.After(300 * time.Millisecond):
		}
	}
	if len(g.Cards(nil)) != 2 {
		t.Errorf("%d tools after the change", len(g.Cards(nil)))
	}
	write("tools: 12\n")
	for err := range told {
		if err != nil {
			break
		}
	}
	if len(g.Cards(nil)) != 2 {
		t.Errorf("%d tools after a bad change", len(g.Cards(nil)))
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
