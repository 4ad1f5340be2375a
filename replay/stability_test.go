package replay

import (
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/sessions"
)

// byteIdentical are the figures of byte_identical by arm.
func byteIdentical(t testing.TB, all []metrics.Observations) map[string]float64 {
	t.Helper()
	a := metrics.NewAccumulator()
	for _, o := range all {
		if err := a.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	figures := make(map[string]float64)
	for _, f := range a.Figures() {
		if f.Measure == metrics.MeasureByteIdentical && f.Class == "" && f.PoolBin == "" {
			figures[f.Arm] = f.Value
		}
	}
	return figures
}

// In no arm do the bytes of a surface depend on the order of registration.
func TestSurfacesAreByteIdentical(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 5, TurnsMin: 1, TurnsMax: 1, ContextLengths: []int{16_000, 200_000}})
	arms := formArms()
	for i := range arms {
		arms[i].Tokenizer = "chars4"
	}
	p := newPlayer(t, Options{Corpus: c, Arms: arms})
	var all []metrics.Observations
	for i := range int64(10) {
		o, err := p.Play(t.Context(), drawSession(t, d, i))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	figures := byteIdentical(t, all)
	if len(figures) != len(arms) {
		t.Errorf("figures of %d arms, want %d", len(figures), len(arms))
	}
	for arm, figure := range figures {
		if figure != 1 {
			t.Errorf("%s: byte_identical %v, want 1", arm, figure)
		}
	}
}

// An assembly that lets the order of registration show is found out. Here a
// rewrite rule puts the tool that was registered first into the description of
// read_note, which is on every surface, and for comparison a fixed text.
func TestOrderThatShowsIsNotByteIdentical(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	for _, c := range []struct {
		name  string
		front func(*stage) string
		fault bool
	}{
		{"the first tool registered", func(st *stage) string { return "Comes after " + st.tools[0].ID + ". " }, true},
		{"a fixed text", func(*stage) string { return "Comes after all. " }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlayer(t, Options{Corpus: tiny, Arms: julyArms()})
			var all []metrics.Observations
			for row := range int64(10) {
				s := tinySession(tiny, asks("x", saysTable))
				s.RowIndex = row
				st, err := p.stage(s)
				if err != nil {
					t.Fatal(err)
				}
				p.rewrites[readNote] = assembly.Rewrite(func(d *registry.Definition, _ func(string) bool) (*registry.Definition, error) {
					return editedTool(t, d, c.front(st)), nil
				})
				rows := make([]metrics.SessionArm, len(p.arms))
				for i := range rows {
					rows[i].Arm = p.arms[i].Name
				}
				if err := p.disturb(st, st.assemble(), rows); err != nil {
					t.Fatal(err)
				}
				all = append(all, metrics.Observations{Arms: rows})
			}
			for arm, figure := range byteIdentical(t, all) {
				// A shuffle leaves the first tool of five one time in five; five
				// registries agree in one session of 625.
				if c.fault && figure > 0.2 || !c.fault && figure != 1 {
					t.Errorf("%s: byte_identical %v", arm, figure)
				}
			}
		})
	}
}

// One assembly has nothing to differ from.
func TestOneRepeatComparesNothing(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	p := newPlayer(t, Options{Corpus: tiny, Arms: julyArms(), Repeats: 1})
	o, err := p.Play(t.Context(), tinySession(tiny, asks("x", saysTable)))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range o.Arms {
		if !row.ByteIdentical || row.Retained.ToolRemoved == nil || row.Retained.ServerConnected == nil {
			t.Errorf("%s: identical %v, retained %+v", row.Arm, row.ByteIdentical, row.Retained)
		}
	}
}

// A session without servers has none to lose, and one without deferrable tools
// no tool to change.
func TestNothingToDisturb(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	s := tinySession(tiny, asks("x", saysTable))
	s.Servers = nil
	for _, row := range playOne(t, tiny, julyArms(), s).Arms {
		if row.Retained != (metrics.Retained{}) || !row.ByteIdentical {
			t.Errorf("%s: identical %v, retained %+v", row.Arm, row.ByteIdentical, row.Retained)
		}
	}
}

// A registry that cannot be filled again was not compared, and does not pass for
// one that held.
func TestDisturbReportsWhatFails(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	p := newPlayer(t, Options{Corpus: tiny, Arms: julyArms()})
	st, err := p.stage(tinySession(tiny, asks("x", saysTable)))
	if err != nil {
		t.Fatal(err)
	}
	whole := st.assemble()
	st.tools = append(st.tools, &corpus.Tool{}) // which no registry takes
	if err := p.disturb(st, whole, make([]metrics.SessionArm, len(p.arms))); err == nil {
		t.Error("no error")
	}
}
