package model

// ProbeView is what became of the requests that a probe sent itself. They are
// nobody's traffic: no workflow, goodput, budget or burn rate counts them.
type ProbeView struct {
	WindowS     float64 `json:"window_s"`     // what the figures cover: longer than the frame's window, since probes are few
	Ended       float64 `json:"ended"`        // requests, well or not
	Failed      float64 `json:"failed"`       // of them
	FailedBy    []Cause `json:"failed_by"`    // by status and reason, most first
	TTFT        *Dist   `json:"ttft"`         // to the first token of any kind
	FirstAnswer *Dist   `json:"first_answer"` // to the first token behind reasoning
	TPOT        *Dist   `json:"tpot"`         // where the server says how many tokens it made
	E2E         *Dist   `json:"e2e"`
	Output      *Known  `json:"output"` // tokens, as far as answers say
	// Gaps are between the events of the answer that came last: events, which may
	// hold several tokens. Null before there is one.
	Gaps *ReportedView `json:"event_gaps"`
}
