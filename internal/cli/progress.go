package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows how far a long job is, on a terminal's standard error and
// nowhere else. A nil Progress shows nothing.
type Progress struct {
	bar *progressbar.ProgressBar
}

// NewProgress starts a bar of total steps; 0 or less means that nobody knows how
// many.
func NewProgress(env Env, total int64, what string) *Progress {
	if !env.Terminal {
		return nil
	}
	if total <= 0 {
		total = -1
	}
	return &Progress{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(env.Stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		// A spinner that turns by itself goes on turning after Done, across
		// whatever is printed then.
		progressbar.OptionSetSpinnerChangeInterval(0),
	)}
}

// Step counts one step.
func (p *Progress) Step() {
	if p != nil {
		_ = p.bar.Add(1)
	}
}

// Done takes the bar off the screen.
func (p *Progress) Done() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
