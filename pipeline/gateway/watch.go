package gateway

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// settle is how long a file must be left alone before it is read: editors write in
// several steps.
const settle = 100 * time.Millisecond

// Watch reads a configuration anew whenever its file changes, until ctx is done. told
// is called after each attempt: with nil if the new configuration is in use, else with
// the reason why the old one stays. What was fixed at start (redaction, the audit log,
// the limits) stays as it is until the gateway is made anew.
func (g *Gateway) Watch(ctx context.Context, file string, cards func() []*card.Card, told func(error)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching %s: %w", file, err)
	}
	defer watcher.Close()
	// The folder, since a file that is replaced is another one.
	if err := watcher.Add(filepath.Dir(file)); err != nil {
		return fmt.Errorf("watching %s: %w\nhint: name a file in a folder that exists", file, err)
	}
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-watcher.Events:
			if !ok {
				return nil
			}
			if filepath.Base(e.Name) == filepath.Base(file) && !e.Has(fsnotify.Chmod) {
				settled = time.After(settle)
			}
		case err := <-watcher.Errors:
			told(fmt.Errorf("watching %s: %w", file, err))
		case <-settled:
			settled = nil
			told(g.ReloadFile(file, cards()))
		}
	}
}

// ReloadFile reads a configuration and puts it in the place of the one in use. An
// error names every fault, and changes nothing.
func (g *Gateway) ReloadFile(file string, cards []*card.Card) error {
	config, err := card.Load(file)
	if err != nil {
		return err
	}
	return g.Reload(config, cards)
}
