//go:build race

package tokens

// raceDetector says that the tests run under the race detector, which slows
// code tenfold and drops pooled memory at random.
const raceDetector = true
