// Package suite is scenarios that stress a gateway: a corpus of simulated servers, each
// with a trouble of its own, the intents that lead to them, and the configuration that
// says how they behave and who may call them.
//
// One distribution stands for one scenario: it enables that scenario's server alone. A
// replay draws sessions over a mix of them, plays them with the configuration as its
// world, and puts the same configuration's gateway in front of some arms.
package suite

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

//go:embed gateway
var files embed.FS

// gatewayFile holds the world of a suite and the settings of its gateway.
const gatewayFile = "gateway.yaml"

// Names returns the suites there are.
func Names() []string { return []string{"gateway"} }

// Load reads a suite: its corpus, its world and gateway, and its scenarios, the names of
// the distributions to draw from, in the order of the file. Every call reads it anew.
func Load(name string) (*corpus.Corpus, *card.Config, []string, error) {
	folder, err := fs.Sub(files, name)
	if err != nil || strings.Contains(name, "/") {
		return nil, nil, nil, unknown(name)
	}
	text, err := fs.ReadFile(folder, gatewayFile)
	if err != nil {
		return nil, nil, nil, unknown(name)
	}
	config, err := card.Parse("suite "+name+"/"+gatewayFile, text)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := corpus.LoadFS("suite "+name, folder)
	if err != nil {
		return nil, nil, nil, err
	}
	scenarios, err := scenariosOf(c)
	return c, config, scenarios, err
}

// GatewayText returns the text of the configuration that Load parses.
func GatewayText(name string) ([]byte, error) {
	if !slices.Contains(Names(), name) {
		return nil, unknown(name)
	}
	return files.ReadFile(name + "/" + gatewayFile)
}

func unknown(name string) error {
	return fmt.Errorf("there is no suite %q\nhint: %s", name, nearest.Hint(name, Names()))
}

// scenariosOf are the distributions of the suite's own file: those that enable its
// servers and nothing else.
func scenariosOf(c *corpus.Corpus) (scenarios []string, err error) {
	sources := c.SourceNames()
	for _, d := range c.Distributions.All() {
		own := len(d.Entries) > 0
		for _, entry := range d.Entries {
			own = own && slices.Contains(sources, entry.Toolset)
		}
		if own {
			scenarios = append(scenarios, d.Name)
		}
	}
	if len(scenarios) == 0 {
		return nil, fmt.Errorf("%s: no distribution enables a server of its own alone\nhint: give every scenario one", c.Name)
	}
	return scenarios, nil
}
