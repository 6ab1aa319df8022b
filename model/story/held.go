package story

import (
	"slices"

	"slotop/model"
)

// Held is a finding and the stretches in which it was made.
type Held struct {
	Finding   model.FindingView    // at its strongest
	At        model.Instant        // when that was
	Said      string               // why, in its words when it was made first
	Diagnosis *model.DiagnosisView // of its pool, at that moment; nil where there was none
	Spans     []Span               // oldest first
	Dropped   int                  // spans that there was no room for
}

// Span is a stretch of time.
type Span struct {
	From, To model.Instant
	Open     bool // it lasts at the end of the story
}

// First is when the finding was made first.
func (h *Held) First() model.Instant { return h.Spans[0].From }

// Last is the end of its last stretch: when it was made no more, or the latest frame.
func (h *Held) Last() model.Instant { return h.Spans[len(h.Spans)-1].To }

// Open reports whether it holds at the end of the story.
func (h *Held) Open() bool { return h.Spans[len(h.Spans)-1].Open }

// finds follows findings from frame to frame.
type finds struct {
	held  []Held
	index map[find]int
	out   map[find]bool // that there is no room for, as far as they can be told apart
}

// find is what makes a finding the same in the next frame.
type find struct{ id, pool, workflow, target string }

func findOf(v *model.FindingView) find {
	return find{v.ID, string(v.Pool), string(v.Workflow), string(v.Target)}
}

func (f *finds) take(frame *model.Frame) {
	seen := make(map[int]bool, len(frame.Findings))
	for i := range frame.Findings {
		v := &frame.Findings[i]
		k, ok := f.index[findOf(v)]
		if !ok {
			if len(f.held) >= maxHeld {
				if f.out == nil {
					f.out = map[find]bool{}
				}
				if len(f.out) < maxPolls {
					f.out[findOf(v)] = true
				}
				continue
			}
			if f.index == nil {
				f.index = map[find]int{}
			}
			k = len(f.held)
			f.index[findOf(v)] = k
			f.held = append(f.held, Held{})
		}
		seen[k] = true
		f.held[k].add(v, frame)
	}
	for k := range f.held {
		if last := &f.held[k].Spans[len(f.held[k].Spans)-1]; last.Open && !seen[k] {
			last.To, last.Open = frame.At, false
		}
	}
}

func (h *Held) add(v *model.FindingView, frame *model.Frame) {
	n := len(h.Spans)
	if n == 0 {
		h.Said = v.Because()
	}
	switch {
	case n > 0 && h.Spans[n-1].Open:
		h.Spans[n-1].To = frame.At
	case n >= maxSpans:
		h.Dropped++
		h.Spans[n-1].To, h.Spans[n-1].Open = frame.At, true
	default:
		h.Spans = append(h.Spans, Span{From: frame.At, To: frame.At, Open: true})
	}
	if n > 0 && !stronger(v, &h.Finding) {
		return
	}
	h.Finding, h.At = *v, frame.At
	h.Diagnosis = nil
	for i := range frame.Diagnoses {
		if d := &frame.Diagnoses[i]; v.Of(d) && (v.Pool != "" || len(frame.Diagnoses) == 1) {
			h.Diagnosis = d
		}
	}
}

// stronger reports whether v is the better evidence: surer, or as sure of a larger
// change, or as sure with more in its favour.
func stronger(v, old *model.FindingView) bool {
	if a, b := sureness(v.Confidence), sureness(old.Confidence); a != b {
		return a > b
	}
	if v.Factor != nil && old.Factor != nil && v.Factor.Work.OK() && old.Factor.Work.OK() {
		return v.Factor.Work.Value > old.Factor.Work.Value
	}
	return len(v.Evidence) > len(old.Evidence)
}

func sureness(c model.Confidence) int {
	return slices.Index([]model.Confidence{model.LowConfidence, model.MediumConfidence, model.HighConfidence}, c)
}

func (f *finds) list() []Held { return slices.Clone(f.held) }
