//go:build !unix

package builtin

// folderOnly is empty where there are no pipes among files.
const folderOnly = 0
