package corpus

import "slices"

// WithDistributions returns the corpus with the custom distributions of a YAML
// file added to its own. The file may name fixed toolsets and the sources of
// tools; an unknown one is an error, and so is a name that is taken.
func (c *Corpus) WithDistributions(path string) (*Corpus, error) {
	added := *c
	added.Distributions = c.Distributions.Clone()
	if err := added.Distributions.AddFile(path); err != nil {
		return nil, err
	}
	if err := added.checkDistributions(); err != nil {
		return nil, err
	}
	added.SHA256 = added.digest()
	return &added, nil
}

func (c *Corpus) checkDistributions() error {
	return c.Distributions.CheckToolsets(slices.Concat(c.Toolsets.Names(), c.SourceNames()))
}
