package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

func TestParseArms(t *testing.T) {
	arms, notes, err := parseArms("arms.yaml", []byte(`
- name: eager
  bridge: off
- name: mine
  variant: september
  tool_search: {threshold_pct: 150, listing: names, search_default_limit: 8, defer: [terminal], treshold_pct: 1}
  retriever: bm25
  memo: reference
  gateway: off
  agent: hasty
  writer: keywords
  max_searches: 2
  tokenizer: cl100k_base
  cache: none
`))
	if err != nil {
		t.Fatal(err)
	}
	eager := NewArm("eager", bridge.July)
	eager.Bridge = false
	mine := NewArm("mine", bridge.September)
	mine.ToolSearch.ThresholdPct, mine.ToolSearch.SearchDefaultLimit = 100, 8
	mine.ToolSearch.Defer = bridge.NewDeferList([]string{"terminal"})
	mine.Retriever, mine.Memo, mine.Agent, mine.Writer = "bm25", MemoReference, AgentHasty, WriterKeywords
	mine.MaxSearches, mine.Tokenizer, mine.Cache = 2, "cl100k_base", CacheNone
	if diff := cmp.Diff([]Arm{eager, mine}, arms); diff != "" {
		t.Errorf("arms (-want +got):\n%s", diff)
	}
	for i, want := range []string{"threshold_pct: 150 is not usable; 100 used", "listing: names is not usable; auto used", "treshold_pct: no such setting here; left out"} {
		if i >= len(notes) || notes[i] != `arms.yaml:6: arm "mine": `+want {
			t.Errorf("notes %q, want %q", notes, want)
		}
	}
	if len(notes) != 3 {
		t.Errorf("notes %q, want 3", notes)
	}
}

// The defaults of an arm are those of its variant.
func TestArmDefaults(t *testing.T) {
	arms, _, err := parseArms("arms.yaml", []byte("- name: july-listing\n- {name: september-listing, variant: september}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := SelectArms(DefaultArms(), []string{"july-listing", "september-listing"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, arms); diff != "" {
		t.Errorf("arms (-want +got):\n%s", diff)
	}
}

func TestParseArmsRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "arms.yaml: not one YAML document"},
		{"two documents", "- name: a\n---\n- name: b\n", "arms.yaml: not one YAML document"},
		{"no YAML", "- name: 'a\n", "arms.yaml:"},
		{"no list", "name: a\n", "arms.yaml:1: not a list of 1 to 256 arms"},
		{"an empty list", "[]", "arms.yaml:1: not a list of 1 to 256 arms"},
		{"too many", strings.Repeat("- name: a\n", 257), "arms.yaml:1: not a list of 1 to 256 arms"},
		{"a word", "- eager\n", "arms.yaml:1: an arm is not a mapping of fields"},
		{"no name", "- agent: hasty\n", "arms.yaml:1: an arm has no name"},
		{"an empty name", "- name: ' '\n", "arms.yaml:1: name: not a text"},
		{"an odd name", "- name: a,b\n", `arms.yaml:1: name: "a,b" is no name for an arm`},
		{"a long name", "- name: " + strings.Repeat("a", 41) + "\n", "arms.yaml:1: name:"},
		{"a name twice", "- name: a\n- name: a\n", `arms.yaml:2: arm "a" is there twice`},
		{"a field twice", "- name: a\n  agent: blind\n  agent: blind\n", "arms.yaml:"},
		{"an unknown field", "- name: a\n  agnet: hasty\n", `arms.yaml:2: unknown field "agnet"`},
		{"an unknown variant", "- name: a\n  variant: june\n", `arms.yaml:2: unknown variant "june"`},
		{"an unknown agent", "- name: a\n  agent: hastie\n", `arms.yaml:2: unknown agent "hastie"`},
		{"an agent that is a list", "- name: a\n  agent: [hasty]\n", "arms.yaml:2: agent: not a text"},
		{"an unknown retriever", "- name: a\n  retriever: bm26\n", `arms.yaml:2: unknown retriever "bm26"`},
		{"a bridge of some sort", "- name: a\n  bridge: maybe\n", `arms.yaml:2: unknown bridge "maybe"`},
		{"no searches", "- name: a\n  max_searches: 0\n", `arms.yaml:2: max_searches: "0"`},
		{"half a search", "- name: a\n  max_searches: 1.5\n", `arms.yaml:2: max_searches: "1.5"`},
		{"an eager arm with a bridge", "- name: eager\n", `arms.yaml:1: arm "eager" has a bridge`},
		{"depth", "- name: a\n  tool_search: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", "arms.yaml:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			arms, _, err := parseArms("arms.yaml", []byte(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("error %v, want %s and a hint", err, c.want)
			}
			if arms != nil {
				t.Errorf("arms beside the error: %+v", arms)
			}
		})
	}
}

func TestLoadArmsRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "arms.yaml")
	if _, _, err := LoadArms(path); err == nil || !strings.HasPrefix(err.Error(), "cannot read "+path) {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(path, make([]byte, armsFileMax+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadArms(path); err == nil || !strings.HasPrefix(err.Error(), path+": 1048577 bytes") {
		t.Errorf("error %v", err)
	}
}

func FuzzParseArms(f *testing.F) {
	f.Add([]byte("- name: eager\n  bridge: off\n- {name: a, tool_search: {defer: [x], threshold_pct: .nan}}\n"))
	f.Add([]byte("- &a {name: a}\n- *a\n"))
	f.Add([]byte("- name: a\n  <<: {agent: hasty}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		arms, _, err := parseArms("arms.yaml", text)
		if err != nil {
			if !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("no hint: %v", err)
			}
			return
		}
		for _, a := range arms {
			if err := a.check(); err != nil {
				t.Errorf("read, but refused: %v", err)
			}
		}
	})
}
