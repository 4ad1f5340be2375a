package tokens

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// A vocabulary is an encoding's mergeable tokens with their ranks: the
// lower the rank, the earlier two neighbours merge into that token. It is
// never written to after loading.
type vocabulary struct {
	rank    map[string]uint32
	longest int // bytes of the longest token
}

// loadVocabulary reads the embedded vocabulary of an encoding: one token
// a line, in base64, a space, and its rank. Nothing goes to the network.
//
// The loader package can parse it as well, into a map that grows as it is
// filled and a string for each token: that takes three times as long, at
// the start of every command that counts.
func loadVocabulary(encoding string) (*vocabulary, error) {
	file := encoding + ".tiktoken"
	raw, err := assets.Assets.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read embedded vocabulary: %w", err)
	}
	v, err := parseVocabulary(raw)
	if err != nil {
		return nil, fmt.Errorf("embedded vocabulary %s: %w", file, err)
	}
	return v, nil
}

func parseVocabulary(raw []byte) (*vocabulary, error) {
	type entry struct {
		start, end int
		rank       uint32
	}
	entries := make([]entry, 0, bytes.Count(raw, []byte{'\n'})+1)
	decoded := make([]byte, 0, len(raw))
	for number := 1; len(raw) > 0; number++ {
		var line []byte
		line, raw, _ = bytes.Cut(raw, []byte{'\n'})
		if len(line) == 0 {
			continue
		}
		token, rank, _ := bytes.Cut(line, []byte{' '})
		start := len(decoded)
		var err error
		if decoded, err = base64.StdEncoding.AppendDecode(decoded, token); err != nil {
			return nil, fmt.Errorf("line %d: token: %w", number, err)
		}
		value, err := strconv.ParseUint(string(rank), 10, rankBits)
		if err != nil {
			return nil, fmt.Errorf("line %d: rank: %w", number, err)
		}
		entries = append(entries, entry{start, len(decoded), uint32(value)})
	}
	all := string(decoded)
	v := &vocabulary{rank: make(map[string]uint32, len(entries))}
	for _, e := range entries {
		v.rank[all[e.start:e.end]] = e.rank
		v.longest = max(v.longest, e.end-e.start)
	}
	for b := range 256 {
		if _, known := v.rank[string([]byte{byte(b)})]; !known {
			return nil, fmt.Errorf("no token for the byte 0x%02x", b)
		}
	}
	return v, nil
}

// mergeRank returns the rank at which the bytes of part become one token,
// or noRank if they never do.
func (v *vocabulary) mergeRank(part string) uint32 {
	if len(part) > v.longest {
		return noRank
	}
	if rank, known := v.rank[part]; known {
		return rank
	}
	return noRank
}
