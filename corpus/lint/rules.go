package lint

import (
	"fmt"

	"github.com/toolgauge/toolgauge/corpus/survey"
)

// Rule is one thing that is looked for.
type Rule struct {
	// ID names it for good: reports and their readers refer to it.
	ID       string
	Severity Severity
	// Title names it for people, Meaning says when it applies, and Advice what to do
	// then.
	Title   string
	Meaning string
	Advice  string
}

// Bounds of the rules. Lengths are in code points, where a letter of a script that
// writes a word in one or two (Han, kana, Hangul) counts as three.
const (
	shortMax = 20
	longMin  = 1025
	// alikePercent is the share of all their words that near-duplicates have in
	// common.
	alikePercent = 90
	// alikeWordsMin is how many words a description needs to be compared: of fewer,
	// tools that differ in one noun are alike and rightly so.
	alikeWordsMin = 8
	// closeScore is the share of its own score from which on another tool is its
	// neighbour in a search.
	closeScore = 0.8
)

var (
	emptyRule = Rule{"description-empty", Error, "No description", "The description is missing or blank.",
		"say in a sentence what the tool does"}
	shortRule = Rule{"description-short", Warning, "Very short description", fmt.Sprintf("The description has fewer than %d code points, where one of Han, kana or Hangul counts as three.", shortMax),
		"say what the tool does and to what, in the words of people who need it"}
	longRule = Rule{"description-long", Warning, "Very long description", fmt.Sprintf("The description has more than %d code points, which some model APIs refuse and every request pays for.", longMin-1),
		"move what is needed only while calling into the parameters' descriptions"}
	duplicateRule = Rule{"description-duplicate", Warning, "Another tool's description", "Another tool of the corpus has the same description, letter case and white space aside.",
		"say what this one does that the other does not, or remove one of them"}
	nearDuplicateRule = Rule{"description-near-duplicate", Warning, "Nearly another tool's description",
		fmt.Sprintf("Of the different words that this description of at least %d and another have, %d %% or more are common to both, and no word that one of them lacks stands in the other's name alone.", alikeWordsMin, alikePercent),
		"say what this one does that the other does not"}
	parameterRule = Rule{"parameter-undocumented", Warning, "Parameter without a description", "A top-level parameter has no description.",
		"describe each parameter: what it means, its unit or format, an example"}
	unretrievableRule = Rule{"unretrievable", Warning, "Not found by its own description",
		fmt.Sprintf("A search among all tools that can be deferred, with the first sentence of the description, does not find the tool within the first %d. A tool with the description of another is not judged again.", survey.Top),
		"begin the description with the words that tell this tool from those found"}
	nameOnlyRule = Rule{"found-by-name-only", Note, "Found by the words of its name alone",
		fmt.Sprintf("Less the words of the tool's and its server's name, the first sentence of the description has no word left to search with, or does not find the tool within the first %d, as it is for who does not know the name.", survey.Top),
		"say in the first sentence what the name does not: other words for the same thing, and what it is for"}
	whenRule = Rule{"when-unsaid", Note, "Does not say when to use the tool", "No word of the English description says when to use the tool, such as use, when, if, before, after, instead.",
		"add a sentence that begins with: use this when"}
	failureRule = Rule{"failure-unsaid", Note, "Does not say how a call fails", "No word of the English description says how a call fails or what limits it, such as fails, error, must, only, at most, not found, requires.",
		"say what makes a call fail and what comes back then"}
	neighbourRule = Rule{"neighbour-unsaid", Note, "Does not tell the tool from its neighbour",
		fmt.Sprintf("A search for the tool finds another within the first %d at %.0f %% of its score or more, and the description names no such tool and has no word of contrast, such as unlike, instead, rather, not, only.", survey.Top, 100*closeScore),
		"name the other tool and say which to take when"}
)

// Rules returns every rule, in the order in which reports count them.
func Rules() []Rule {
	return []Rule{emptyRule, shortRule, longRule, duplicateRule, nearDuplicateRule, parameterRule, unretrievableRule, nameOnlyRule, whenRule, failureRule, neighbourRule}
}
