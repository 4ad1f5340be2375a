package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mcpServer is a server for the test scripts, which call it mcp-server: it lists
// the tools that stand, one a line, in the file that is its first argument. With
// no such file it complains of the token in its environment and ends. Told to hang
// it writes its process ID to a file, and then nothing makes it answer or end.
func mcpServer() {
	if os.Args[1] == "hang" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		_ = os.WriteFile(os.Args[2], []byte(strconv.Itoa(os.Getpid())), 0o666)
		time.Sleep(10 * time.Minute)
	}
	tools, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "no tools for the token %s\n", os.Getenv("TOKEN"))
		os.Exit(1)
	}
	fmt.Println("mcp-server is up")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil {
			continue
		}
		result := `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"7"}}`
		if request.Method == "tools/list" {
			result = `{"tools":[` + strings.Join(strings.Split(strings.TrimSpace(string(tools)), "\n"), ",") + `]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
	}
}
