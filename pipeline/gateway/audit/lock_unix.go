//go:build unix

package audit

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Waiting for a lock: a line takes microseconds, so who waits longer than this waits
// for a program that hangs.
const (
	lockPatience = 5 * time.Second
	lockPause    = time.Millisecond
)

// lock waits until no other log writes the file.
func lock(fd uintptr) error {
	for waited := time.Duration(0); ; waited += lockPause {
		err := unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return err
		case waited >= lockPatience:
			return errHeld
		}
		time.Sleep(lockPause)
	}
}

func unlock(fd uintptr) {
	_ = unix.Flock(int(fd), unix.LOCK_UN)
}
