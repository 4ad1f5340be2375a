package reports

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// TestFullDisk runs on a disk of 96 KiB, which fills up while tables grow, or when they are finished.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("toolgauge-test", disk, "tmpfs", 0, "size=96k"); err != nil {
		t.Skip("no small disk without the right to mount one:", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	root := filepath.Join(disk, "runs")
	sc := scene{threeArms, 0, 300, mixedClasses}
	played := make([]metrics.Observations, 50)
	for i := range played {
		played[i] = sc.play(i)
	}
	full := func(sessions int) error {
		w, err := Create(root, sampleManifest())
		if err != nil {
			return err
		}
		for i := range sessions {
			if err := w.Add(played[i%len(played)]); err != nil {
				return err
			}
		}
		_, err = w.Finish(StatusSuccess, Summary{})
		return err
	}
	if err := full(1); err != nil {
		t.Fatal(err)
	}
	for _, sessions := range []int{300, 1500} {
		err := full(sessions)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d sessions: %v", sessions, err)
		}
		wantError(t, err, root, ".parquet", "free some space")
		if left := listing(t, root); len(left) != 1 {
			t.Errorf("%d sessions left %q", sessions, left)
		}
	}
}
