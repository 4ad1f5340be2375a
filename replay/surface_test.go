package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/sessions"
)

// wholeArray is a tools array as one text.
func wholeArray(definitions []*registry.Definition) string {
	entries := make([]string, len(definitions))
	for i, d := range definitions {
		entries[i] = d.JSON
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// formArms are arms whose listings, over the embedded corpus's sessions, take
// every form.
func formArms() []Arm {
	arms := julyArms()
	for _, pct := range []float64{0.05, 0.1, 0.3, 1} {
		arm := NewArm(fmt.Sprintf("listing %v%%", pct), bridge.July)
		arm.ToolSearch.ThresholdPct = pct
		arms = append(arms, arm)
	}
	return arms
}

// formSessions are sessions of the embedded corpus with short and long contexts,
// few servers and many.
func formSessions(t testing.TB, count int64) (p *Player, stages []*stage) {
	t.Helper()
	c, d := embeddedDrawer(t, sessions.Options{Seed: 7, ContextLengths: []int{16_000, 64_000, 200_000}})
	p = newPlayer(t, Options{Corpus: c, Arms: formArms(), Repeats: 1})
	for i := range count {
		st, err := p.stage(drawSession(t, d, i))
		if err != nil {
			t.Fatal(err)
		}
		stages = append(stages, st)
	}
	return p, stages
}

// The measure of a tools array, summed from its entries and the listing's
// lines, is that of the whole text, whatever form the listing has.
func TestSurfaceMeasureIsThatOfTheWholeText(t *testing.T) {
	_, stages := formSessions(t, 5)
	forms := make(map[string]int)
	var digests digester
	for _, name := range tokens.Names() {
		counter := counterOf(t, name)
		measured := newSurfaceCounter(counter, tokens.NewMemo(counter))
		for _, st := range stages {
			for _, a := range st.views {
				shown := a.session.Assembler.Assemble(a.session.Request)
				forms[string(shown.Listing.Form)]++
				whole := wholeArray(shown.Definitions)
				want := counter.Measure(whole)
				// Twice: what is remembered must be right too.
				for range 2 {
					if got := measured.measure(shown.Definitions); got != want {
						t.Fatalf("%s, form %s: measure %d, want %d of %.200s…", name, shown.Listing.Form, got, want, whole)
					}
				}
				if got, want := measured.tokens(shown.Usable), counter.Count(wholeArray(shown.Usable)); got != want {
					t.Fatalf("%s: eager tokens %d, want %d", name, got, want)
				}
				sum := sha256.Sum256([]byte(whole))
				for range 2 {
					if digest, bytes := digests.sum(shown.Definitions); digest != hex.EncodeToString(sum[:]) || bytes != len(whole) {
						t.Fatalf("sha256 %s of %d bytes, want %x of %d", digest, bytes, sum, len(whole))
					}
				}
			}
		}
	}
	for _, form := range []bridge.Form{bridge.FormFull, bridge.FormNames, bridge.FormMixed, bridge.FormGroups, bridge.FormNone} {
		if forms[string(form)] == 0 {
			t.Errorf("no listing had the form %s; the forms were %v", form, forms)
		}
	}
}

func TestMeasureOfNoTools(t *testing.T) {
	for _, name := range tokens.Names() {
		counter := counterOf(t, name)
		measured := newSurfaceCounter(counter, tokens.NewMemo(counter))
		if got, want := measured.tokens(nil), counter.Count("[]"); got != want {
			t.Errorf("%s: no tools count %d, want %d", name, got, want)
		}
	}
	empty := sha256.Sum256([]byte("[]"))
	if digest, bytes := new(digester).sum(nil); digest != hex.EncodeToString(empty[:]) || bytes != 2 {
		t.Errorf("no tools have sha256 %s and %d bytes, want %x and 2", digest, bytes, empty)
	}
}

// A digest that goes on from an earlier array's is that of the whole array,
// entries larger than the buffer included.
func TestDigestsGoOnFromEarlierOnes(t *testing.T) {
	var all []*registry.Definition
	for i, size := range []int{10, 1 << 12, 9000, 3} {
		for j := range markEvery {
			all = append(all, define(t, fmt.Sprintf("tool_%d_%d", i, j), strings.Repeat("x", size+j)))
		}
	}
	var d digester
	rapid.Check(t, func(rt *rapid.T) {
		array := slices.Clone(all[:rapid.IntRange(0, len(all)).Draw(rt, "tools")])
		if n := len(array); n > 0 && rapid.Bool().Draw(rt, "without one") {
			i := rapid.IntRange(0, n-1).Draw(rt, "which")
			array = slices.Delete(array, i, i+1)
		}
		whole := wholeArray(array)
		sum := sha256.Sum256([]byte(whole))
		if digest, bytes := d.sum(array); digest != hex.EncodeToString(sum[:]) || bytes != len(whole) {
			rt.Fatalf("sha256 %s of %d bytes, want %x of %d", digest, bytes, sum, len(whole))
		}
	})
}

func define(t testing.TB, name, description string) *registry.Definition {
	t.Helper()
	d, err := registry.Define(name, description, []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The parts of every surface add up to it, in every arm and tokenizer, and the
// visible part is the array of the visible tools.
func TestPartsSumToTheSurface(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 3, ContextLengths: []int{16_000, 200_000}, TurnsMin: 1, TurnsMax: 1})
	p := newPlayer(t, Options{Corpus: c, Arms: inEveryTokenizer(formArms()), Repeats: 1})
	for i := range int64(4) {
		o, err := p.Play(context.Background(), drawSession(t, d, i))
		if err != nil {
			t.Fatal(err)
		}
		for k, row := range o.Arms {
			if row.VisibleTokens+row.BridgeTokens+row.ListingTokens != row.SurfaceTokens {
				t.Errorf("session %d, %s: parts %d + %d + %d, surface %d", i, row.Arm, row.VisibleTokens, row.BridgeTokens, row.ListingTokens, row.SurfaceTokens)
			}
			if row.VisibleTokens < 1 || row.BridgeTokens < 0 || row.ListingTokens < 0 || (row.Form == "none") != (row.ListingTokens == 0) {
				t.Errorf("session %d, %s: parts %d, %d and %d of form %s", i, row.Arm, row.VisibleTokens, row.BridgeTokens, row.ListingTokens, row.Form)
			}
			s := o.Surfaces[k]
			if s.VisibleTokens != row.VisibleTokens || s.BridgeTokens != row.BridgeTokens || s.ListingTokens != row.ListingTokens || s.SHA256 != row.SurfaceSHA256 {
				t.Errorf("session %d, %s: surface row %+v differs from %+v", i, row.Arm, s, row)
			}
		}
	}
}

// naiveRetained is the definition of the retained share, on whole texts. An
// empty array and another have nothing in common but a bracket, which chars4
// alone could count.
func naiveRetained(c *tokens.Counter, before, after string) float64 {
	if before != after && (before == "[]" || after == "[]") {
		return 0
	}
	common := 0
	for common < min(len(before), len(after)) && before[common] == after[common] {
		common++
	}
	kept, _ := c.Prefix(after, common)
	return float64(c.Tokens(kept)) / float64(c.Count(after))
}

// editedTool is a tool with another text in front of its description.
func editedTool(t testing.TB, d *registry.Definition, front string) *registry.Definition {
	t.Helper()
	edited, err := d.With(rawjson.Field{Key: "description", Value: rawjson.String(front + d.Description)})
	if err != nil {
		t.Fatal(err)
	}
	return edited
}

// Between any two tools arrays, the retained share is what the definition gives
// on the whole texts: arrays that share tools, that share texts but not their
// pointers, that end where the other goes on, that differ within an entry, and
// those of different listings.
func TestRetainedIsThatOfTheWholeTexts(t *testing.T) {
	_, stages := formSessions(t, 4)
	var surfaces [][]*registry.Definition
	for _, st := range stages {
		surfaces = append(surfaces, st.assemble()...)
	}
	for _, name := range tokens.Names() {
		counter := counterOf(t, name)
		measured := newSurfaceCounter(counter, tokens.NewMemo(counter))
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				before := surfaces[rapid.IntRange(0, len(surfaces)-1).Draw(rt, "before")]
				before = before[max(0, len(before)-rapid.IntRange(0, 12).Draw(rt, "tools")):]
				after := slices.Clone(before)
				switch rapid.IntRange(0, 6).Draw(rt, "change") {
				case 0: // another surface
					after = surfaces[rapid.IntRange(0, len(surfaces)-1).Draw(rt, "after")]
					after = after[max(0, len(after)-rapid.IntRange(0, 12).Draw(rt, "others")):]
				case 1: // the same texts, made anew
					for i, d := range after {
						after[i] = editedTool(t, d, "")
					}
				case 2: // cut at the end
					after = after[:rapid.IntRange(0, len(after)).Draw(rt, "end")]
				case 3: // one edited, those behind it made anew
					if len(after) > 0 {
						i := rapid.IntRange(0, len(after)-1).Draw(rt, "at")
						after[i] = editedTool(t, after[i], rapid.SampledFrom([]string{"", "é", "中", "Updated: ", `\n- `, "1"}).Draw(rt, "front"))
						for j := i + 1; j < len(after); j++ {
							after[j] = editedTool(t, after[j], "")
						}
					}
				case 4: // one gone
					if len(after) > 0 {
						i := rapid.IntRange(0, len(after)-1).Draw(rt, "gone")
						after = slices.Delete(after, i, i+1)
					}
				case 5: // another listing
					lines := rapid.SliceOfN(rapid.SampledFrom([]string{"- a: Does one thing.", "- b", "- c: Cuts off…", "- é: 中", "post tools (2):", "d, e, f"}), 1, 8).Draw(rt, "lines")
					before = append(slices.Clone(before), define(t, bridge.SearchTool, strings.Join(lines, "\n")))
					i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
					lines = slices.Concat(lines[:i], rapid.SliceOfN(rapid.SampledFrom([]string{"- a", "- c: Cuts of", "x"}), 0, 1).Draw(rt, "instead"), lines[i+1:])
					after = append(after, define(t, bridge.SearchTool, strings.Join(lines, "\n")))
				}
				if rapid.Bool().Draw(rt, "swap") {
					before, after = after, before
				}
				got, want := measured.retained(before, after), naiveRetained(counter, wholeArray(before), wholeArray(after))
				if got != want {
					rt.Fatalf("%s: retained %v, want %v\nbefore %.300s…\nafter  %.300s…", name, got, want, wholeArray(before), wholeArray(after))
				}
			})
		})
	}
}

// What a play records as retained is what the whole arrays of the tiny corpus
// give for one of the changes that can be drawn. Which tool or server it was,
// the row does not say.
func TestRetainedByHand(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	counter := counterOf(t, defaultTokenizer)
	names := []string{countStock, findPart, sendLetter, trackParcel}
	servers := [][]string{names[:2], names[2:]}
	without := func(gone ...string) (eager, bare string) {
		kept := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(gone, n) })
		return toolsArray(t, 0, "", append(kept, readNote)...), toolsArray(t, len(kept), "", readNote)
	}
	eager, bare := without()
	var removed, added, disconnected, connected, edited []float64
	var bareRemoved, bareAdded, bareConnected []float64
	for _, name := range names {
		e, b := without(name)
		removed = append(removed, naiveRetained(counter, eager, e))
		added = append(added, naiveRetained(counter, e, eager))
		bareRemoved = append(bareRemoved, naiveRetained(counter, bare, b))
		bareAdded = append(bareAdded, naiveRetained(counter, b, bare))
		mark := strings.Replace(eager, `"name":"`+name+`","description":"`, `"name":"`+name+`","description":"Updated: `, 1)
		edited = append(edited, naiveRetained(counter, eager, mark))
	}
	for _, server := range servers {
		e, b := without(server...)
		disconnected = append(disconnected, naiveRetained(counter, eager, e))
		connected = append(connected, naiveRetained(counter, e, eager))
		bareConnected = append(bareConnected, naiveRetained(counter, b, bare))
	}
	within := func(what string, got *float64, among []float64) {
		t.Helper()
		if got == nil {
			t.Errorf("%s: nothing was changed", what)
		} else if !slices.ContainsFunc(among, func(f float64) bool { return math.Abs(f-*got) < 1e-12 }) {
			t.Errorf("%s: retained %v, want one of %v", what, *got, among)
		}
	}
	p := newPlayer(t, Options{Corpus: c, Arms: julyArms()})
	for row := range int64(8) {
		s := tinySession(c, asks("note", saysNote, gold(readNote, "title", "rent")))
		s.RowIndex = row
		o, err := p.Play(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		kept := armRow(t, o, "eager").Retained
		within("eager, tool removed", kept.ToolRemoved, removed)
		within("eager, tool added", kept.ToolAdded, added)
		within("eager, description edited", kept.DescriptionEdited, edited)
		within("eager, server disconnected", kept.ServerDisconnected, disconnected)
		within("eager, server connected", kept.ServerConnected, connected)
		kept = armRow(t, o, "july-bare").Retained
		within("july-bare, tool removed", kept.ToolRemoved, bareRemoved)
		within("july-bare, tool added", kept.ToolAdded, bareAdded)
		within("july-bare, server connected", kept.ServerConnected, bareConnected)
		// Without a listing, no deferred description stands on the surface.
		within("july-bare, description edited", kept.DescriptionEdited, []float64{1})
	}
}

// The places where listings are cut are exact, whatever stands around them.
func TestListingSeamsAreExact(t *testing.T) {
	for seam, at := range map[string]int{sourceSeam: sourceSeamAt, listingSeam: listingSeamAt, namesSeam: namesSeamAt} {
		if !tokens.SeamExact(seam, at) {
			t.Errorf("%q may not be cut at %d", seam, at)
		}
	}
}
