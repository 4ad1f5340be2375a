// Package compare lays two runs side by side: what changed, by how much, for whom, and how sure that is.
//
// The steps, in order:
//
//  1. [Open] reads a run folder and demands that the run came to its end.
//  2. [Compare] refuses runs of different corpora or sessions, or with AllowMismatch compares what they have in common.
//     Sessions are paired by their id, within a session the arms by name, and the golds and queries by turn, intent and position.
//  3. Each measure of each arm gets the exact mean difference over its pairs, the 95 % interval of it and the p of a paired
//     randomisation test, by Holm's method adjusted for all tests that were made.
//  4. An intent flips where a call's outcome or a hit changed; each comes with a command that plays its session alone.
//  5. Surfaces are compared by hash. Run folders hold no texts, so a text diff is made only of texts that were derived again
//     and have the hash that was recorded.
//
// The opinion it holds: a difference is not an accident because it is small. Both runs are exact, so what differs, differs; interval and
// test say how far the sessions played stand for others like them.
//
// The same two runs give the same bytes, whatever the machine or the number of workers.
package compare
