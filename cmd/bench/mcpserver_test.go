package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// mcpServer is a server for the test scripts, which call it mcp-server: it lists
// the tools that stand, one a line, in the file that is its first argument. With
// no such file it complains of the token in its environment and ends.
func mcpServer() {
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
