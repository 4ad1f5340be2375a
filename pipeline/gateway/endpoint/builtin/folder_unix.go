//go:build unix

package builtin

import "syscall"

// folderOnly lets nothing but folders be opened: a pipe would wait for its writer.
const folderOnly = syscall.O_DIRECTORY
