//go:build unix

package mcpserver

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command the leader of a process group, so that what it starts
// can be ended with it.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithCaller(c.SysProcAttr)
}

func terminateGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }

func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
