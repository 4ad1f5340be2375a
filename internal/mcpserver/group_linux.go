package mcpserver

import "syscall"

// dieWithCaller has the system kill a process when the one that started it is
// gone, killed without a chance to end it.
func dieWithCaller(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
