package corpus

import "strings"

// The words that Scale makes tools of.
var (
	scaleVerbs = strings.Fields(`get list create update delete search archive restore export import assign approve reject
		schedule cancel publish sync merge split tag rename move copy validate preview send lock unlock share watch count
		compare attach detach start stop pause resume`)
	scaleReaders = strings.Fields(`get list search export validate preview watch count compare`)
	scaleKinds   = strings.Fields(`hub cloud desk flow base works center link board kit`)
	scaleStates  = strings.Fields(`active pending archived draft shared public private expired recent overdue verified locked
		empty external internal primary`)
	scaleLinks  = strings.Fields(`of for in from within behind`)
	scaleScopes = []string{"a", "one", "every", "the latest", "each"}
	// scaleNounsCommon are the most frequent nouns, in the order of their
	// frequencies; syllables make up the rest.
	scaleNounsCommon = strings.Fields(`user file project account message order event report task document customer invoice team
		issue record item payment page comment ticket product contact folder channel workspace calendar email note campaign
		policy branch image dataset model job server database table column query dashboard alert metric log trace service
		cluster node volume network domain certificate key secret role group permission member organization subscription plan
		price discount refund shipment address warehouse supplier contract lead deal pipeline stage form survey response
		question answer course lesson student teacher grade exam patient visit diagnosis prescription claim vehicle driver
		route trip booking room hotel flight seat menu recipe ingredient store cart review rating playlist song album artist
		video stream camera sensor device firmware reading threshold zone season`)
)

// scaleParameter is a kind of parameter. The text takes the tool's noun and a
// state; own ones are named after the tool's noun.
type scaleParameter struct {
	suffix, kind, text string
	own                bool
}

var scaleParameters = []scaleParameter{
	{"_id", "string", "Identifier of the %s, which must be %s.", true},
	{"_id", "string", "Identifier of what the %s belongs to; only %s ones are looked at.", false},
	{"_limit", "integer", "Most entries of the %s to return; %s ones come first.", true},
	{"_query", "string", "Words that the %s must hold, for example %s.", true},
	{"_name", "string", "New name of the %s, as shown in %s lists.", false},
	{"_tags", "array", "Labels of the %s; those that are %s are kept.", false},
	{"_since", "string", "Day from which on the %s counts as %s, as YYYY-MM-DD.", true},
	{"_enabled", "boolean", "Whether the %s may be %s.", false},
	{"_options", "object", "Further settings of the %s, for %s use.", false},
}

// scaleSyllables make the words that nobody has.
var scaleSyllables = strings.Fields(`ba cor dal fen gi hul jo kel lum mor nep ova pri quin ros sil tam ulo vex wen xan yor zet`)

// vocabulary returns n different words, the most frequent first: the common
// nouns, and then words of three syllables.
func vocabulary(n int) []string {
	words := append(make([]string, 0, n), scaleNounsCommon...)
	k := len(scaleSyllables)
	for i := 0; len(words) < n; i++ {
		// A step that shares no divisor with the number of words visits each once.
		j := i * 7919 % (k * k * k)
		words = append(words, scaleSyllables[j%k]+scaleSyllables[j/k%k]+scaleSyllables[j/k/k])
	}
	return words
}
