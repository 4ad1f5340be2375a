// Package toolname gives the tools of MCP servers the names under which a model sees
// them. Names are a function of server and tool alone, and two tools never share one
// but by a collision of a hash.
package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Max is the longest tool name that model APIs accept.
const Max = 64

// suffixDigits is the length of the hash that ends a changed name: 32 bits, so
// that two changed names meet once in 4 billion pairs.
const suffixDigits = 8

// Visible is the name under which a model sees a server's tool: mcp__SERVER__TOOL, of
// letters, digits, - and _ only and at most [Max] long. A name that would be longer,
// hold another character, or be read as another server's ends in _ and eight hex
// digits, a hash of the original; so does one that ends so by itself. Two originals
// therefore never meet but by a collision of the hash.
func Visible(server, tool string) string {
	plain := "mcp__" + server + "__" + tool
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, plain)
	ambiguous := strings.Contains(server, "__") || strings.HasSuffix(server, "_") || strings.HasPrefix(tool, "_")
	if clean == plain && len(clean) <= Max && !ambiguous && !EndsInHash(clean) {
		return clean
	}
	return WithHash(clean, server+"\x00"+tool)
}

// WithHash ends a name in the hash of what it stands for.
func WithHash(name, original string) string {
	return name[:min(len(name), Max-1-suffixDigits)] + "_" + Hash(original)
}

// Hash is the hash that ends a name, eight hex digits.
func Hash(original string) string {
	sum := sha256.Sum256([]byte(original))
	return hex.EncodeToString(sum[:])[:suffixDigits]
}

// EndsInHash reports whether a name ends as those of WithHash do.
func EndsInHash(name string) bool {
	i := len(name) - suffixDigits - 1
	return i >= 0 && name[i] == '_' && strings.Trim(name[i+1:], "0123456789abcdef") == ""
}
