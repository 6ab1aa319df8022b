package slo

import (
	"slotop/model"
	"slotop/model/hist"
)

// Span is what is known of one workflow over one window.
type Span struct {
	Counts
	ElapsedS float64 // really covered
	// Exact: requests were judged one by one, so that Good, Bad and Excluded count.
	Exact bool

	// Exported says which metrics the servers measure: all of them. Of TPOT, and of
	// it alone, some may not, where Lengths tell how many answers have none.
	Exported [numMetrics]bool
	// Ends: the servers count how requests end.
	Ends bool
	// Began is the TTFT term of a stretch that begins earlier by the longest time
	// between a first token and the end of its answer, so that it holds the first
	// token of every request that ended within the window. Nil where that is not
	// known: then both are taken for the same requests.
	Began *Term
	// LateClock: TTFT leaves out waiting, so that its Lo is what other clocks are
	// sure of, and Began tells the most there can be only.
	LateClock bool
	// Guess is the share of good requests, where it was guessed stretch by stretch:
	// a product of shares is none over a span in which the service changed.
	Guess model.Reading
	// InFlight is how many requests that have not ended at the window's end may
	// have had their first token within it.
	InFlight float64

	// Flows: first tokens, ends and the running are all counted, so that Grown and
	// Preempted mean something.
	Flows bool

	Unaccounted model.Reading
	// Untold: of some answers it is not known how many tokens they had, so that the
	// tokens of good requests are at least what is known.
	Untold bool
	// Lengths is the output length of the finished, for tokens of good requests.
	Lengths *hist.Hist
}
