//go:build !unix

package mcpserver

import "os/exec"

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

func terminateGroup(c *exec.Cmd) { _ = c.Process.Kill() }

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }
