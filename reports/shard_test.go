package reports

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestNewShard(t *testing.T) {
	for _, c := range []struct {
		rows, index, count int64
		want               Shard
	}{
		{1, 1, 1, Shard{1, 1, 0, 1}},
		{10, 1, 4, Shard{1, 4, 0, 3}},
		{10, 2, 4, Shard{2, 4, 3, 3}},
		{10, 3, 4, Shard{3, 4, 6, 2}},
		{10, 4, 4, Shard{4, 4, 8, 2}},
		{4, 4, 4, Shard{4, 4, 3, 1}},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, Shard{math.MaxInt64, math.MaxInt64, math.MaxInt64 - 1, 1}},
		{math.MaxInt64, 2, 2, Shard{2, 2, 1 << 62, 1<<62 - 1}},
	} {
		if got, err := NewShard(c.rows, c.index, c.count); err != nil || got != c.want {
			t.Errorf("shard %d/%d of %d: %+v (%v), want %+v", c.index, c.count, c.rows, got, err, c.want)
		}
	}
	for _, c := range []struct{ rows, index, count int64 }{{10, 0, 4}, {10, 5, 4}, {10, 1, 0}, {10, -1, -1}, {3, 1, 4}, {0, 1, 1}} {
		_, err := NewShard(c.rows, c.index, c.count)
		wantError(t, err, "shard ")
	}
}

// TestShardsCoverTheRun: one begins where the other ends, they have every session, and no two differ by more than one.
func TestShardsCoverTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(1, 50).Draw(t, "count")
		rows := rapid.Int64Range(count, math.MaxInt64).Draw(t, "rows")
		next, largest, smallest := int64(0), int64(0), rows
		for index := range count {
			s, err := NewShard(rows, index+1, count)
			if err != nil || s.Index != index+1 || s.Count != count || s.First != next || s.Rows < 1 {
				t.Fatalf("after session %d: %+v, %v", next, s, err)
			}
			next += s.Rows
			largest, smallest = max(largest, s.Rows), min(smallest, s.Rows)
		}
		if next != rows || largest-smallest > 1 {
			t.Fatalf("%d of %d rows, from %d to %d in a shard", next, rows, smallest, largest)
		}
	})
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string][2]int64{"1/1": {1, 1}, "2/4": {2, 4}, "9223372036854775807/9223372036854775807": {math.MaxInt64, math.MaxInt64}} {
		if index, count, err := ParseShard("--shard", text); err != nil || index != want[0] || count != want[1] {
			t.Errorf("%s: %d of %d, %v", text, index, count, err)
		}
	}
	for _, text := range notShards() {
		_, _, err := ParseShard("--shard", text)
		wantError(t, err, "--shard", "not a shard", "2/4")
	}
}

func notShards() []string {
	return []string{"", "/", "1", "1/", "/1", "0/4", "5/4", "1/0", "-1/4", "+1/4", "1/4/4", " 1/4", "1 /4", "a/b", "1/9223372036854775808", "١/٤"}
}

// FuzzParseShard: what is read is a shard that there is, and written again it is read as the same.
func FuzzParseShard(f *testing.F) {
	for _, text := range append(notShards(), "1/1", "2/4", "002/04") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		index, count, err := ParseShard("--shard", text)
		if err != nil {
			wantError(t, err, "not a shard")
			return
		}
		s, err := NewShard(count, index, count)
		if err != nil {
			t.Fatalf("%q is read as a shard that there is not: %v", text, err)
		}
		if i, n, err := ParseShard("", s.String()); err != nil || i != index || n != count {
			t.Fatalf("%q is read as %s, and that as %d of %d (%v)", text, s, i, n, err)
		}
	})
}
