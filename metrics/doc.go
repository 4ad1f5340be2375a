// Package metrics turns what a replay observed into figures that people decide on.
//
// The steps, in order:
//
//  1. [Observations] are what one session gave under every arm: facts, nothing averaged.
//  2. [Evaluate] judges one query's hits; the arithmetic is trec_eval's and stands in [Ranking].
//  3. An [Accumulator] takes the observations of one session after the other and keeps running sums only, so that its
//     memory depends on the number of arms, classes and pool sizes, not on the number of sessions.
//  4. [Accumulator.Figures] gives each mean with its population, unit and better direction; [Accumulator.BreakEvens]
//     tells from which turn, and from how many tokens of deferred schemas, an arm is cheaper than the eager one.
//  5. [Items] gives the members of each population one by one, so that those of two runs can be paired; [MeanIntervals] and [RandomisationTests] say how far a mean, or the difference of two, is to be trusted.
//  6. [Measures] explains each measure in a line, and what made a figure weak is attached to it as a [Warning].
//
// A mean without its population is not printed, and a population of none has no figure. What was not reached is never
// averaged in as if it had been cheap: it has a rate of its own, and the mean beside it says so.
//
// Everything here is a pure function of its input: nothing is read, written or timed, and what is drawn is drawn with a
// fixed seed. Sums are taken in the order in which sessions are added, and logarithms are rounded alike on every CPU, so the
// same observations in the same order give the same bits anywhere.
package metrics
