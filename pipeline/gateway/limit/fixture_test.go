package limit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// onBoth runs a test on virtual time, and on the machine's clock in a bubble whose
// time jumps too.
func onBoth(t *testing.T, test func(t *testing.T, timeline clock.Timeline)) {
	t.Run("virtual", func(t *testing.T) {
		v := &clock.Virtual{}
		test(t, v)
		v.Settle()
	})
	t.Run("wall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t, clock.Wall{})
			time.Sleep(time.Hour) // what settling is on the other
		})
	})
}

// sleep lets d pass.
func sleep(timeline clock.Timeline, d time.Duration) { timeline.Wait(ctx, nil, d) }

// outcome is an error in few words, with the time after which to come again.
func outcome(err error) string {
	var wait *WouldWait
	var full *Full
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &wait):
		return fmt.Sprintf("would wait %v", wait.RetryAfter)
	case errors.As(err, &full):
		return fmt.Sprintf("full with %d", full.Waiting)
	default:
		return err.Error()
	}
}
