package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/pflag"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/sessions"
)

// takeShard makes the plan one for a shard of so many sessions, if --shard names
// one.
func (p *plan) takeShard(flag string, rows int64) error {
	if flag == "" {
		return nil
	}
	index, count, err := reports.ParseShard("--shard", flag)
	if err != nil {
		return cli.Usage(err)
	}
	shard, err := reports.NewShard(rows, index, count)
	if err != nil {
		return cli.Usage(fmt.Errorf("--shard: %w", err))
	}
	p.manifest.Shard = &shard
	return nil
}

// rowsToDraw are those rows of a draw that the plan is for.
func (p *plan) rowsToDraw(flag string, rows sessions.Range) (sessions.Range, error) {
	if err := p.takeShard(flag, rows.Count); err != nil || p.manifest.Shard == nil {
		return rows, err
	}
	return sessions.Range{First: rows.First + p.manifest.Shard.First, Count: p.manifest.Shard.Rows}, nil
}

// takeShardOfFile leaves those sessions of a file that the plan is for. To know
// how many there are, it reads the file once more.
func (p *plan) takeShardOfFile(flag string) error {
	if flag == "" {
		return nil
	}
	if _, _, err := reports.ParseShard("--shard", flag); err != nil {
		return cli.Usage(err)
	}
	rows := int64(0)
	for _, err := range p.sessions {
		if err != nil {
			return cli.Input(err)
		}
		rows++
	}
	if err := p.takeShard(flag, rows); err != nil {
		return err
	}
	p.sessions = part(p.sessions, *p.manifest.Shard)
	return nil
}

// part yields the sessions of a shard, and an error before their end.
func part(all iter.Seq2[*sessions.Session, error], shard reports.Shard) iter.Seq2[*sessions.Session, error] {
	return func(yield func(*sessions.Session, error) bool) {
		at := int64(0)
		for s, err := range all {
			if at >= shard.First || err != nil {
				if !yield(s, err) {
					return
				}
			}
			if at++; at == shard.First+shard.Rows {
				return
			}
		}
	}
}

// attempted is how many sessions the plan plays; 0 if that is not known.
func (p *plan) attempted() int64 {
	if p.manifest.Shard != nil {
		return p.manifest.Shard.Rows
	}
	return p.count
}

// mergeRuns merges the shards in the given folders into a run folder.
func mergeRuns(ctx context.Context, env cli.Env, f runFlags, given *pflag.FlagSet, dirs []string) error {
	if err := onlyMergeFlags(given); err != nil {
		return err
	}
	if err := checkOut(f.out); err != nil {
		return err
	}
	if len(dirs) == 0 {
		return cli.Usage(errors.New("--merge: no folders named\nhint: name the run folder of each shard, as in bench run --merge shards/*"))
	}
	shards, err := reports.OpenShards(dirs)
	if err != nil {
		return mergeFault(err)
	}
	rows := int64(0)
	for _, s := range shards {
		rows += s.Manifest.Shard.Rows
	}
	m := reports.Manifest{
		Args:      reports.Args{Given: env.Args, Resolved: map[string]any{"merge": dirs, "out": f.out, "json": f.json}},
		StartedAt: env.Now().UTC(),
	}
	bar := cli.NewProgress(env, rows, "sessions")
	result, err := reports.Merge(ctx, f.out, m, shards, bar.Step)
	bar.Done()
	if err != nil {
		return mergeFault(err)
	}
	return printRun(env, f, result)
}

// onlyMergeFlags refuses flags that say what to play: the shards were played
// already.
func onlyMergeFlags(given *pflag.FlagSet) (err error) {
	given.Visit(func(flag *pflag.Flag) {
		if err == nil && !slices.Contains([]string{"merge", "out", "json"}, flag.Name) {
			err = cli.Usage(fmt.Errorf("--%s: what is merged was played already\nhint: leave it out, or leave --merge out", flag.Name))
		}
	})
	return err
}

func mergeFault(err error) error {
	if errors.As(err, new(*reports.IncomparableError)) {
		return cli.Status(cli.ExitNotComparable, err)
	}
	return cli.Input(err)
}
