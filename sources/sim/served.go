package sim

import "time"

// The bucket bounds of a current vLLM, without +Inf.
var (
	ttftBounds = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1,
		2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	gapBounds = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1,
		2.5, 5, 7.5, 10, 20, 40, 80}
	phaseBounds = []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60,
		120, 240, 480, 960, 1920, 7680}
	stepBounds    = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
	choicesBounds = []float64{1, 2, 5, 10, 20}
	fineBounds    = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3,
		3.5, 4, 4.5, 5, 7.5, 10, 30, 60}
	fewBounds = []float64{0.1, 0.5, 1}
)

// tokenBounds is 1, 2, 5, 10 … up to the model's context length.
func tokenBounds(context int) []float64 {
	var bounds []float64
	for decade := 1; decade <= context; decade *= 10 {
		for _, step := range []int{1, 2, 5} {
			if step*decade <= context {
				bounds = append(bounds, float64(step*decade))
			}
		}
	}
	return bounds
}

// histogram counts each observation in one bucket; the page adds them up.
type histogram struct {
	bounds []float64
	counts []float64 // one more than bounds
	sum    float64
	recent int // bucket of the last observation: the next is often in it too
}

func newHistogram(bounds []float64) histogram {
	return histogram{bounds: bounds, counts: make([]float64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	i := h.recent
	if !h.holds(i, v) {
		for i = 0; i < len(h.bounds) && v > h.bounds[i]; i++ {
		}
		h.recent = i
	}
	h.counts[i]++
	h.sum += v
}

func (h *histogram) holds(i int, v float64) bool {
	return (i == 0 || v > h.bounds[i-1]) && (i == len(h.bounds) || v <= h.bounds[i])
}

func (h *histogram) since(from, to time.Duration) { h.observe((to - from).Seconds()) }

func (h *histogram) count() float64 {
	var n float64
	for _, c := range h.counts {
		n += c
	}
	return n
}

// served is what a page shows under one served model name, since the replica
// started. Everything is a float64 so that the page can point at it.
type served struct {
	name    string
	shown   bool    // on the page: not before a first request asked for it
	since   float64 // Unix seconds of it; 0: since the process started
	created clock

	running, waiting, usage float64

	queries, hits                 float64 // prefix cache, tokens
	preemptions                   float64
	promptTokens                  float64
	computedTokens                float64 // of the prompt tokens
	cachedTokens                  float64 // the others
	outputTokens                  float64
	finished                      [3]float64 // by Outcome
	drafts, draftTokens, accepted float64
	acceptedAt                    []float64 // by position in the draft
	flops, read, wrote            float64

	ttft, gap, tpot                            histogram
	e2e, queue, inference, prefill, decode     histogram
	promptLength, outputLength, computedLength histogram
	longestOutput, choices, limit              histogram
	step                                       histogram

	zero, one float64 // what never changes in this service
}

// latencyBounds are the bounds of the histograms of time.
type latencyBounds struct{ ttft, gap, phase []float64 }

// currentBounds are those of a current vLLM; otherBounds are those of a server whose
// operator chose others.
var (
	currentBounds = latencyBounds{ttftBounds, gapBounds, phaseBounds}
	otherBounds   = latencyBounds{
		ttft:  []float64{0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 60},
		gap:   []float64{0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2, 5},
		phase: []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 600},
	}
)

func newServed(name string, context, draft int, b latencyBounds) *served {
	tokens := tokenBounds(context)
	return &served{
		name: name, acceptedAt: make([]float64, draft),
		ttft: newHistogram(b.ttft), gap: newHistogram(b.gap), tpot: newHistogram(b.gap),
		e2e: newHistogram(b.phase), queue: newHistogram(b.phase),
		inference: newHistogram(b.phase), prefill: newHistogram(b.phase),
		decode:       newHistogram(b.phase),
		promptLength: newHistogram(tokens), outputLength: newHistogram(tokens),
		computedLength: newHistogram(tokens), longestOutput: newHistogram(tokens),
		choices: newHistogram(choicesBounds), limit: newHistogram(tokens),
		step: newHistogram(stepBounds),
		one:  1,
	}
}

// admitted observes a request's first scheduling.
func (s *served) admitted(r *request) {
	s.queries += float64(r.prompt)
	s.hits += float64(r.cached)
}

// firstToken observes what vLLM observes with the first token.
func (s *served) firstToken(r *request) {
	s.ttft.since(r.received, r.first)
	s.promptTokens += float64(r.prompt)
	s.cachedTokens += float64(r.cached)
	s.computedTokens += float64(r.prompt - r.cached)
}

// ended observes everything that vLLM observes only when a request finishes.
func (s *served) ended(r *request, o Outcome) {
	s.finished[o]++
	s.e2e.since(r.received, r.last)
	s.queue.since(r.queued, r.scheduled)
	s.inference.since(r.scheduled, r.last)
	s.prefill.since(r.scheduled, r.first)
	s.decode.since(r.first, r.last)
	// A single token counts as 0 s a token there too.
	s.tpot.observe((r.last - r.first).Seconds() / float64(max(1, r.generated-1)))
	s.promptLength.observe(float64(r.prompt))
	s.computedLength.observe(float64(r.prompt - r.cached))
	s.outputLength.observe(float64(r.generated))
	s.longestOutput.observe(float64(r.generated))
	s.choices.observe(1)
	s.limit.observe(float64(r.limit))
}

// front is what the HTTP layer of a replica counts, over all workflows.
type front struct {
	requests, bytes float64
	fine, few       histogram
}

// The router asks a replica once for its models before it sends the first request.
const modelsSeconds, modelsBytes = 0.0005365999968489632, 484.0

func newFront() front {
	f := front{fine: newHistogram(fineBounds), few: newHistogram(fewBounds)}
	f.fine.observe(modelsSeconds)
	return f
}

// answered counts a request whose connection ended, answered or not.
func (f *front) answered(r *request, now time.Duration) {
	f.requests++
	f.bytes += float64(requestBytes + bytesPerToken*r.prompt)
	f.fine.since(r.received, now)
	f.few.since(r.received, now)
}

// A request's body: about four bytes of text a token, and the JSON around it.
const (
	bytesPerToken = 4
	requestBytes  = 300
)
