package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/sessions"
)

// workersMax bounds the workers, each of which keeps tables of its own.
const workersMax = 1024

// plan is what a run is going to play.
type plan struct {
	corpus *corpus.Corpus
	suite  *scenarios // nil: none
	// harvested is where the corpus comes from if servers were asked for it.
	harvested *harvested
	arms      []replay.Arm
	weights   metrics.Weights
	// systemPrompt opens every session; empty for the default one.
	systemPrompt string
	sessions     iter.Seq2[*sessions.Session, error]
	count        int64 // 0: not known beforehand
	draw         any   // how the sessions are drawn; nil for those of a file
	notes        []string
	manifest     reports.Manifest
}

// planRun reads and checks everything before the first session is played.
func planRun(ctx context.Context, env cli.Env, f runFlags) (*plan, error) {
	if f.workers < 1 || f.workers > workersMax {
		return nil, cli.Usage(fmt.Errorf("--workers %d: not a number of workers\nhint: give 1 to %d", f.workers, workersMax))
	}
	if err := checkOut(f.out); err != nil {
		return nil, err
	}
	p := &plan{}
	var err error
	if p.suite, err = takeSuite(f); err != nil {
		return nil, err
	}
	if err := p.chooseArms(f); err != nil {
		return nil, err
	}
	prompt, err := p.readSystemPrompt(f.systemPrompt)
	if err != nil {
		return nil, err
	}
	if p.corpus, err = p.takeCorpus(ctx, env, f); err != nil {
		return nil, err
	}
	p.notes = append(p.notes, p.corpus.Notes...)
	if isFile(f.sessions) {
		err = p.read(f)
	} else {
		err = p.drawn(f)
	}
	if err != nil {
		return nil, err
	}
	p.manifest.Args = reports.Args{Given: env.Args, Resolved: map[string]any{
		"sessions": f.sessions, "arms": armsOf(p.arms), "arms_file": armsFile(f.arms), "gateway": f.gateway, "suite": f.suite, "weights": p.weights, "corpus": f.corpus, "mcp": f.harvest.mcp, "distribution": f.distribution,
		"distributions": f.distributions, "system_prompt": f.systemPrompt, "events": f.events, "seed": p.manifest.Seed, "workers": f.workers, "out": f.out, "json": f.json, "shard": f.shard, "resume": f.resume,
	}}
	p.manifest.Config = map[string]any{
		"arms": p.arms, "weights": p.weights, "draw": p.draw, "sessions": p.count, "system_prompt": prompt,
	}
	if p.suite != nil {
		p.manifest.Config.(map[string]any)["suite"] = map[string]any{"name": f.suite, "sha256": p.suite.gateway.SHA256}
	}
	p.manifest.Corpus = reports.Corpus{Name: p.corpus.Name, Version: p.corpus.Version, SHA256: p.corpus.SHA256, Synthetic: p.corpus.Synthetic}
	p.manifest.StartedAt = env.Now().UTC()
	return p, nil
}

// world is what the endpoints of the run's tools are like; nil where all answer at once.
func (p *plan) world() *card.Config {
	if p.suite == nil {
		return nil
	}
	return p.suite.world
}

// takeCorpus loads the corpus, or asks servers for one.
func (p *plan) takeCorpus(ctx context.Context, env cli.Env, f runFlags) (*corpus.Corpus, error) {
	if p.suite != nil {
		return p.suite.corpus, nil
	}
	if f.harvest.mcp == "" {
		return loadCorpus(f.corpus, f.distributions)
	}
	h, err := f.harvest.run(ctx, env, cli.NewNotes(env, "bench"))
	if err != nil {
		return nil, err
	}
	c, err := h.load()
	if err != nil {
		return nil, cli.Input(err)
	}
	p.harvested = h
	return completeCorpus(c, f.distributions)
}

// chooseArms takes default arms by name, or those of a file, and the weights of
// tokens.
func (p *plan) chooseArms(f runFlags) (err error) {
	var gateway *replay.Gateway
	var notes []string
	if f.gateway != "" {
		if gateway, err = replay.LoadGateway(f.gateway); err != nil {
			return cli.Usage(fmt.Errorf("--gateway: %w", err))
		}
	}
	known := replay.DefaultArms()
	names := f.arms
	if p.suite != nil {
		if gateway == nil {
			gateway = p.suite.gateway
		}
		known = replay.GatewayArms(gateway)
		if !f.armsGiven {
			names = armsOf(known)
		}
	}
	if file := armsFile(f.arms); file != "" {
		if p.arms, notes, err = replay.LoadArmsBehind(file, gateway); err != nil {
			return cli.Usage(err)
		}
		p.notes = append(p.notes, notes...)
	} else if p.arms, err = replay.SelectArms(known, names); err != nil {
		return cli.Usage(fmt.Errorf("--arms: %w", err))
	} else if gateway != nil && p.suite == nil {
		for i := range p.arms {
			p.arms[i].Behind(gateway)
		}
	}
	if p.weights, err = metrics.ParseWeights(f.weights); err != nil {
		return cli.Usage(fmt.Errorf("--weights: %w", err))
	}
	return nil
}

func checkOut(folder string) error {
	if folder == "" {
		return cli.Usage(errors.New("--out: no folder named\nhint: name one, or leave the flag out"))
	}
	return nil
}

// systemPromptMax bounds a system prompt, in bytes: it stands in every request.
const systemPromptMax = 1 << 20

// readSystemPrompt reads the system prompt of a file, if one is named, and returns
// what stands for it in the run's configuration: the default one in full, another
// by its digest.
func (p *plan) readSystemPrompt(path string) (any, error) {
	if path == "" {
		return replay.DefaultSystemPrompt, nil
	}
	text, err := os.ReadFile(path)
	switch {
	case err != nil:
		return nil, cli.Input(fmt.Errorf("--system-prompt: %w\nhint: name a file of text", err))
	case len(text) == 0 || len(text) > systemPromptMax || !utf8.Valid(text):
		return nil, cli.Input(fmt.Errorf("--system-prompt: %s is no UTF-8 text of 1 to %d bytes\nhint: name a file that holds the prompt alone", path, systemPromptMax))
	}
	p.systemPrompt = string(text)
	return map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(text)), "bytes": len(text)}, nil
}

// isArmsFile tells a file of arms from the name of a default arm.
func isArmsFile(text string) bool {
	extension := filepath.Ext(text)
	return extension == ".yaml" || extension == ".yml" || strings.ContainsRune(text, filepath.Separator)
}

// armsFile is the file of arms that --arms names; empty where it names default arms.
func armsFile(words []string) string {
	if len(words) == 1 && isArmsFile(words[0]) {
		return words[0]
	}
	return ""
}

// armsOf names arms as --arms does.
func armsOf(arms []replay.Arm) (names []string) {
	for _, a := range arms {
		names = append(names, a.Name)
	}
	return names
}

// loadCorpus reads a corpus, and distributions besides; either path may be
// empty.
func loadCorpus(path, distributions string) (*corpus.Corpus, error) {
	c, err := corpus.Embedded()
	if path != "" {
		c, err = corpus.Load(path)
	}
	if err != nil {
		return nil, cli.Input(err)
	}
	return completeCorpus(c, distributions)
}

// completeCorpus adds the distributions of a file, if one is named, and intents to
// a corpus without any.
func completeCorpus(c *corpus.Corpus, distributions string) (*corpus.Corpus, error) {
	if distributions != "" {
		var err error
		if c, err = c.WithDistributions(distributions); err != nil {
			if errors.As(err, new(*fs.PathError)) {
				return nil, cli.Input(err)
			}
			return nil, cli.Usage(err)
		}
	}
	return c.WithDerived(), nil
}

// isFile tells a file of sessions from rows to draw. What looks like rows always
// is: what a command does must not depend on which files lie around.
func isFile(text string) bool {
	if looksLikeRows(text) {
		return false
	}
	if _, err := sessions.FormatOf(text); err == nil || strings.ContainsRune(text, filepath.Separator) {
		return true
	}
	_, err := os.Stat(text)
	return err == nil
}

func looksLikeRows(text string) bool { return strings.Trim(text, "0123456789-") == "" }

// read plans to play the sessions of a file.
func (p *plan) read(f runFlags) error {
	const drawnAlready = "%s: the sessions of a file are drawn already\nhint: leave it out, or give --sessions a number"
	switch {
	case f.distribution != "":
		return cli.Usage(fmt.Errorf(drawnAlready, "--distribution"))
	case f.seedGiven:
		return cli.Usage(fmt.Errorf(drawnAlready, "--seed"))
	case f.eventsGiven:
		return cli.Usage(fmt.Errorf(drawnAlready, "--events"))
	}
	p.sessions = sessions.Read(f.sessions)
	for first, err := range p.sessions {
		if err != nil {
			return cli.Input(err)
		}
		p.manifest.Seed = first.Seed // a file comes of one draw, unless somebody joined several
		break
	}
	if err := p.takeShardOfFile(f.shard); err != nil {
		return err
	}
	var err error
	p.manifest.SessionsSHA256, err = provenance.FileSHA256(f.sessions)
	return cli.Input(err)
}

// drawn plans to draw sessions.
func (p *plan) drawn(f runFlags) error {
	rows, err := sessions.ParseRange("--sessions", f.sessions)
	if err != nil {
		if !looksLikeRows(f.sessions) {
			err = fmt.Errorf("--sessions %q: neither a number of sessions, nor rows of the draw, nor a file\n"+
				"hint: write 1000, or 500-599, or name a file that datagen sessions wrote", f.sessions)
		}
		return cli.Usage(err)
	}
	options := sessions.Options{Seed: f.seed}
	if options.EventShare, err = sessions.ParseEventShare("--events", f.events); err != nil {
		return cli.Usage(err)
	}
	if p.suite != nil {
		options.Mix = p.suite.mix()
		if !f.eventsGiven { // what happens is the scenarios' doing
			options.EventShare = sessions.NoEvents
		}
	}
	if f.distribution == "" && p.harvested != nil {
		p.notes = append(p.notes, p.harvested.noteAllServers())
		options.Mix = []sessions.Share{{Distribution: allServers, Weight: 1}}
	}
	if f.distribution != "" {
		if options.Mix, err = sessions.ParseMix("--distribution", f.distribution); err != nil {
			return cli.Usage(err)
		}
	}
	drawer, err := sessions.NewDrawer(p.corpus, options)
	if err != nil {
		return cli.Usage(err)
	}
	if f.corpus != "" || f.distribution != "" { // of the other draws they are known
		p.notes = append(p.notes, drawer.Notes()...)
	}
	played, err := p.rowsToDraw(f.shard, rows)
	if err != nil {
		return err
	}
	p.sessions, p.count = drawer.Sessions(played), rows.Count
	p.draw = map[string]any{"options": drawer.Options(), "first": rows.First, "count": rows.Count}
	p.manifest.Seed = f.seed
	return nil
}
