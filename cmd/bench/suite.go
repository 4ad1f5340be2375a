package main

import (
	"fmt"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
	"github.com/toolgauge/toolgauge/suite"
)

// scenarios are the suite that a run plays.
type scenarios struct {
	corpus  *corpus.Corpus
	world   *card.Config
	names   []string
	gateway *replay.Gateway
}

// takeSuite loads the suite of --suite, if one is named; nil if none is.
func takeSuite(f runFlags) (*scenarios, error) {
	if !f.suiteGiven {
		return nil, nil
	}
	for _, other := range []struct{ flag, value string }{{"--corpus", f.corpus}, {"--mcp", f.harvest.mcp}, {"--distributions", f.distributions}} {
		if other.value != "" {
			return nil, cli.Usage(fmt.Errorf("%s: a suite has tools and distributions of its own\nhint: leave %s or --suite out", other.flag, other.flag))
		}
	}
	c, world, names, err := suite.Load(f.suite)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--suite: %w", err))
	}
	text, err := suite.GatewayText(f.suite)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--suite: %w", err))
	}
	return &scenarios{c, world, names, replay.NewGateway(text, world)}, nil
}

// mix draws every scenario as often as any other.
func (s *scenarios) mix() (mix []sessions.Share) {
	for _, name := range s.names {
		mix = append(mix, sessions.Share{Distribution: name, Weight: 1})
	}
	return mix
}
