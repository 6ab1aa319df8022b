// Package steptime learns what a step of an engine costs from the engine's own
// counters, and says how much longer steps take than their load explains. It is
// arithmetic on samples: it keeps no history and knows no signal.
package steptime

import "slotop/model"

// Sample is a stretch of a few seconds of one engine. Every field is a mean over
// it; NaN where nobody says it.
type Sample struct {
	At      model.Instant // its end
	Seconds float64       // its length, in which something ran throughout
	Steps   float64       // in it; 0 where Step is the gap between two events

	Step      float64 // s
	Sequences float64 // running
	KVTokens  float64 // in the cache
	Prefill   float64 // prompt tokens computed in a step, cached ones not counted
	Prompt    float64 // mean length of the prompts being computed, tokens
}
