package sim

import "strconv"

// Speculation is speculative decoding: a draft of a few tokens is checked in the same
// step in which one token would have been made. The zero value is none.
type Speculation struct {
	Draft      int     // tokens
	Acceptance float64 // chance that the next one is right, given those before it
}

// drafted is how many tokens are drafted for a request that computes n in this step.
// Only who has its first token decodes; the draft does not reach beyond the answer's
// end. Checking it costs nothing here: such a step is bound by the weights it reads.
func (r *Replica) drafted(q *request, n, budget int) int {
	if r.speculation.Draft == 0 || q.first == 0 || q.rest() > 1 {
		return 0
	}
	return max(0, min(r.speculation.Draft, q.output-q.generated-1, budget-n))
}

// check is how many tokens of its draft a request keeps.
func (r *Replica) check(q *request) int {
	if q.draft == 0 {
		return 0
	}
	s, kept := r.names[q.workflow], 0
	for kept < q.draft && r.luck.Float64() < r.speculation.Acceptance {
		s.acceptedAt[kept]++
		kept++
	}
	s.drafts++
	s.draftTokens += float64(q.draft)
	s.accepted += float64(kept)
	q.draft = 0
	q.computed += kept
	return kept
}

// speculative are the families that an engine has only with speculative decoding,
// before all others.
var speculative = []family{
	{name: "vllm:spec_decode_num_drafts", kind: counterKind, help: "Number of spec decoding drafts.",
		rows: single(func(s *served) *float64 { return &s.drafts })},
	{name: "vllm:spec_decode_num_draft_tokens", kind: counterKind, help: "Number of draft tokens.",
		rows: single(func(s *served) *float64 { return &s.draftTokens })},
	{name: "vllm:spec_decode_num_accepted_tokens", kind: counterKind, help: "Number of accepted tokens.",
		rows: single(func(s *served) *float64 { return &s.accepted })},
	{name: "vllm:spec_decode_num_accepted_tokens_per_pos", kind: counterKind,
		help: "Accepted tokens per draft position.",
		rows: func(s *served) []row {
			rows := make([]row, len(s.acceptedAt))
			for i := range rows {
				rows[i] = row{"position", strconv.Itoa(i), &s.acceptedAt[i]}
			}
			return rows
		}},
}
