// Package gate decides whether a run is good enough, by rules that people wrote down before.
//
// The steps, in order:
//
//  1. [LoadRules] reads a file of rules strictly: a misspelt field must not be a rule that never fails.
//  2. [OpenBaseline] takes what the run is held against: a run folder, or the summary of one.
//  3. [Judge] makes a [Check] of each rule and arm. A floor or ceiling judges the run's own figure; a largest drop the mean
//     difference to the baseline, pair by pair, and with an alpha only if a randomisation test, by Holm's method adjusted for all
//     such checks, calls it more than chance.
//  4. [Report.WriteText], [Report.JUnit] and [Report.Markdown] tell people and programs.
//
// The opinion it holds: what was not measured has not passed. A rule that matches nothing, a population that is empty or
// too small, and a waiver that has run out fail, each with its reason.
//
// The same run, baseline, rules and day give the same bytes.
package gate
