package cli

import (
	"context"
	"errors"
	"testing"
)

func TestReading(t *testing.T) {
	fault := errors.New("unreadable")
	if n, err := Reading(t.Context(), func() (int, error) { return 7, fault }); n != 7 || err != fault {
		t.Errorf("%d, %v: want what the work returned", n, err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	forever := make(chan struct{})
	defer close(forever)
	_, err := Reading(ctx, func() (int, error) {
		interrupt()
		<-forever
		return 7, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want the interrupt", err)
	}
}
