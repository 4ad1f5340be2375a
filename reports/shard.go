package reports

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard says which part of a run a folder holds: some consecutive sessions of it. Apart from that its manifest is that of
// the whole run, configuration and all, so that shards can be told to belong together.
type Shard struct {
	Index int64 `json:"index"` // from 1
	Count int64 `json:"count"` // of the run's shards
	First int64 `json:"first"` // position of its first session in the run, from 0
	Rows  int64 `json:"rows"`  // number of its sessions, at least 1
}

// String is the shard as --shard names it: "2/4".
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// NewShard cuts the given number of sessions into count shards of consecutive ones and returns the one of an index, from 1.
// Sizes differ by one session at most, the larger ones first. It fails where there are fewer sessions than shards.
func NewShard(rows, index, count int64) (Shard, error) {
	if index < 1 || index > count {
		return Shard{}, fmt.Errorf("shard %d/%d: there is no such shard\nhint: shards are counted from 1 up to their number", index, count)
	}
	if rows < count {
		return Shard{}, fmt.Errorf("shard %d/%d: some of %d shards of %d sessions would be empty\nhint: cut the run into %d shards at most", index, count, count, rows, rows)
	}
	size, larger := rows/count, rows%count
	s := Shard{Index: index, Count: count, First: (index-1)*size + min(index-1, larger), Rows: size}
	if index <= larger {
		s.Rows++
	}
	return s, nil
}

// ParseShard reads "i/N", the value of a flag: shard i, from 1, of N.
func ParseShard(flag, text string) (index, count int64, err error) {
	left, right, found := strings.Cut(text, "/")
	index, ok := parseDigits(left)
	count, ok2 := parseDigits(right)
	if !found || !ok || !ok2 || index < 1 || index > count {
		return 0, 0, fmt.Errorf("%s %q: not a shard\nhint: write i/N, the shard i of N, counted from 1, as in 2/4", flag, text)
	}
	return index, count, nil
}

// parseDigits reads digits alone: a sign or a blank would be a slip.
func parseDigits(text string) (int64, bool) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
