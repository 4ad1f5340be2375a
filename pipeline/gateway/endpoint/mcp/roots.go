package mcp

//lint:file-ignore SA1019 servers of the versions that are in use are told their folders as roots, and in no other way

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
)

// newClient is a client without the capabilities that a server could make demands on,
// but for the folders of its entry, if it has a command. What a server asks for all the
// same is refused. listChanged is called when the server says that its tools have
// changed.
func newClient(entry mcpserver.Server, listChanged func()) *sdk.Client {
	capabilities := &sdk.ClientCapabilities{}
	var roots []*sdk.Root
	if entry.Transport() == "stdio" {
		for _, uri := range entry.Roots() {
			roots = append(roots, &sdk.Root{URI: uri})
		}
	}
	if len(roots) > 0 {
		capabilities.RootsV2 = &sdk.RootCapabilities{}
	}
	client := mcpserver.NewClient(sdk.ClientOptions{
		Capabilities:           capabilities,
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { listChanged() },
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
	})
	client.AddRoots(roots...)
	return client
}
