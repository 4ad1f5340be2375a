package replay

import (
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// The prompt cache works in whole blocks, and not at all on short prompts.
const (
	cacheBlockTokens = 128
	cacheMinTokens   = 1024
)

// promptCache is the cache model of a session: a request finds there what its
// prompt has in common, from the first byte on, with the prompt of the request
// before. The tools array comes first in a prompt, so that a change in it leaves
// nothing of the messages.
type promptCache struct {
	tools    []*registry.Definition // of the request before
	asked    bool                   // there was one
	array    int                    // measure of tools
	messages int                    // measure of the messages before, as far as the next ones repeat them
}

// cachedTokens rounds what two prompts have in common to what a cache holds.
func cachedTokens(tokens int) int {
	if tokens < cacheMinTokens {
		return 0
	}
	return tokens / cacheBlockTokens * cacheBlockTokens
}

// charge is what one request comes to, in tokens.
type charge struct {
	prompt, cached int
	written        int  // fresh input that goes into the cache
	changed        bool // the tools array is not that of the request before
	lost           int  // of the cache, to that change
}

// uncached is the charge where there is no cache.
func (c charge) uncached() charge { return charge{prompt: c.prompt, changed: c.changed} }

// request charges a request with a tools array, of a known measure, and the
// messages so far.
func (c *promptCache) request(counter *surfaceCounter, tools []*registry.Definition, array int, h *history) charge {
	count := counter.counter.Tokens
	out := charge{prompt: count(array) + count(h.measure())}
	if c.asked {
		out.cached = cachedTokens(count(c.array) + count(c.messages))
		if out.changed = !sameSurface(c.tools, tools); out.changed {
			kept := cachedTokens(count(counter.common(c.tools, tools)))
			out.cached, out.lost = kept, max(0, out.cached-kept)
		}
	}
	out.written = max(0, cachedTokens(out.prompt)-out.cached)
	c.tools, c.asked, c.array, c.messages = tools, true, array, h.prefix()
	return out
}

// bill sums what the requests of a session come to, in tokens.
type bill struct{ fresh, cached, written, output int64 }

func (b *bill) add(c charge) {
	b.fresh += int64(c.prompt - c.cached)
	b.cached += int64(c.cached)
	b.written += int64(c.written)
}

// effective weighs the sums.
func (b *bill) effective(w metrics.Weights) float64 {
	return float64(w.Fresh*float64(b.fresh)) + float64(w.Cached*float64(b.cached)) +
		float64(w.Write*float64(b.written)) + float64(w.Output*float64(b.output))
}
