package card

import "github.com/toolgauge/toolgauge/pipeline/bridge/judge"

// compiles reports whether arguments can be judged by a schema.
func compiles(schema []byte) bool { return judge.New(schema) != nil }
