// Package tokens counts the tokens of a text, exactly and fast enough to do
// it for every request of a replay.
//
// It holds an opinion: an estimate that is 1–2 % off hides the differences
// that a benchmark is run for, so a count is the count of the whole text, and
// speed comes from doing each piece of work once.
//
// Three tokenizers are known. o200k_base and cl100k_base are byte pair
// encodings; their counts equal those of the encoder for any text. chars4 is
// an estimator: a quarter of the code points, rounded up.
//
// The steps of a BPE count:
//
//  1. Ill-formed UTF-8 is mended: U+FFFD for each maximal subpart.
//  2. A scanner cuts the text into pre-tokens, which no token crosses.
//  3. Each pre-token's count comes from a bounded cache, or from merging its
//     bytes by rank; both are linear or nearly so, whatever the text.
//
// A [Counter] is shared by all workers. A [Memo] belongs to one and remembers
// whole texts and the chunks of a text by content.
//
// # Seams
//
// Counts of parts add up to the count of the whole only where the parts meet
// at a pre-token boundary. [Memo.MeasureCut] cuts at a seam, a short text
// with a place in it, of which [SeamExact] proves that it always is one, in
// both encodings and whatever surrounds it. These serve here, the cut
// standing where the bar does:
//
//	{"|type    between tools: the brace leads no word because the quote
//	           follows, so both stand in a run of symbols, which takes the
//	           quote along, and the letter ends the run
//	{"|role    between chat messages: the same
//	\n|-       between the lines of a listing inside JSON, where the line end
//	           is a backslash and the letter n: a hyphen continues no word
//	,|         (a comma and a space) between the names of a list: a space
//	           ends a run of symbols, and the comma before it leads no word
//
// In a listing that is not yet JSON, a line end and then a hyphen is exact
// too: line ends go with what stands before them. A longer seam, such as
// {"type":"function", is as exact and cuts less often.
//
// Other places are not cut, since the counts would not add up: between } and ,
// stands one run of symbols, "},{", and often one token.
package tokens
