package sources

import (
	"math"
	"slices"
	"time"

	"slotop/model"
)

// slots reads llama.cpp's /slots: what each slot does now. It stands in for the
// page where that is switched off (--metrics), and completes it where it is on:
// the page counts the tokens of an answer when the slot is free again.
//
// The document may hold prompts; fields are read by name and nothing else is.
type slots struct {
	text  jsonText
	now   slotSum
	said  said
	paged *model.About // the page's description that said was made from
	more  int          // meanings that were added to it

	output, prompt live
}

// slotSum is what the slots do, summed up.
type slotSum struct {
	all, busy float64
	held      float64 // tokens in the contexts of busy slots
	known     bool    // all busy slots say how many
	fullest   float64 // the largest share of its context that a busy slot uses, 0–1
	decoded   float64 // tokens that busy slots made so far, not yet in the page's counter
	processed float64 // tokens of prompts under way, likewise
	cached    float64 // of those, tokens that came from the cache
}

var _ reader = (*slots)(nil)

func (s *slots) read(body []byte, _ time.Time) (model.Batch, error) {
	if err := s.scan(body); err != nil {
		return model.Batch{}, err
	}
	sum := s.now
	samples := []model.Sample{
		gauge(model.Running, sum.busy, model.LabelSet{}),
		gauge(model.MaxRunning, sum.all, model.LabelSet{}),
	}
	meanings := []model.Meaning{
		{Signal: model.Running, Metric: "/slots is_processing", Measures: "busy slots"},
		{Signal: model.MaxRunning, Metric: "/slots", Measures: "slots"},
	}
	samples, meanings = s.addContext(samples, meanings)
	return model.Batch{Samples: samples, About: s.said.of(model.About{
		Engine: "llama.cpp", Meanings: meanings,
		Missing: []model.Signal{model.Waiting, model.PromptTokens, model.OutputTokens, model.CachedTokens, model.ITL},
		Notes:   []string{"read from /slots, the page is off: what waits and tokens need llama-server --metrics"},
	})}, nil
}

// addContext adds how full the slots are, where all of them say so.
func (s *slots) addContext(samples []model.Sample, meanings []model.Meaning) ([]model.Sample, []model.Meaning) {
	if !s.now.known {
		return samples, meanings
	}
	has := func(signal model.Signal) bool {
		return slices.ContainsFunc(samples, func(s model.Sample) bool { return s.Signal == signal })
	}
	if !has(model.KVUsage) {
		samples = append(samples, gauge(model.KVUsage, s.now.fullest, model.LabelSet{}))
		meanings = append(meanings, model.Meaning{Signal: model.KVUsage, Metric: "/slots", Measures: "the fullest slot's share of its context"})
	}
	if !has(model.KVUsedTokens) {
		samples = append(samples, gauge(model.KVUsedTokens, s.now.held, model.LabelSet{}))
		meanings = append(meanings, model.Meaning{Signal: model.KVUsedTokens, Metric: "/slots", Measures: "tokens in the contexts of busy slots"})
	}
	return samples, meanings
}

// scan sums up a document.
func (s *slots) scan(body []byte) error {
	t := &s.text
	t.reset(body)
	s.now = slotSum{known: true}
	alien := t.peek() != '['
	if alien {
		return errForeign
	}
	for range t.items {
		if t.peek() != '{' {
			alien = true
			continue
		}
		one, ok := readSlot(t)
		alien = alien || !ok
		s.now.add(one)
	}
	if alien || s.now.all == 0 || !t.ends() {
		return errForeign
	}
	return nil
}

// slot is one slot of the document; NaN marks what it does not say.
type slot struct {
	busy                       bool
	context, past              float64
	processed, cached, decoded float64
}

// readSlot reads an object and reports whether it is a slot.
func readSlot(t *jsonText) (o slot, ok bool) {
	nan := math.NaN()
	o = slot{context: nan, past: nan, processed: nan, cached: nan, decoded: nan}
	for name := range t.fields {
		switch string(name) {
		case "is_processing":
			o.busy, ok = t.truth(), true
		case "n_ctx":
			o.context = t.orNaN()
		case "n_past":
			o.past = t.orNaN()
		case "n_prompt_tokens_processed":
			o.processed = t.orNaN()
		case "n_prompt_tokens_cache":
			o.cached = t.orNaN()
		case "n_decoded":
			o.decoded = t.orNaN()
		case "next_token": // one object, of newer builds a list of one
			o.decoded = readNextToken(t)
		}
	}
	return o, ok
}

func readNextToken(t *jsonText) float64 {
	decoded := math.NaN()
	one := func() {
		for name := range t.fields {
			if string(name) == "n_decoded" {
				decoded = t.orNaN()
			}
		}
	}
	switch t.peek() {
	case '{':
		one()
	case '[':
		for range t.items {
			if t.peek() == '{' {
				one()
			}
		}
	}
	return decoded
}

// orNaN is a number that comes next, NaN for anything else.
func (t *jsonText) orNaN() float64 {
	if v, ok := t.real(); ok {
		return v
	}
	return math.NaN()
}

// add counts a slot. The tokens that a busy one holds are those of its prompt that
// were processed or came from the cache, and those that it made.
func (s *slotSum) add(o slot) {
	s.all++
	if !o.busy {
		return
	}
	s.busy++
	held := o.past
	if math.IsNaN(held) {
		held = o.processed + o.cached + o.decoded
	}
	if math.IsNaN(held) || !(o.context > 0) {
		s.known = false
	} else {
		s.held += held
		s.fullest = max(s.fullest, min(held/o.context, 1))
	}
	switch {
	case o.decoded > 0:
		s.decoded += o.decoded
	case o.decoded == 0 && o.processed+o.cached >= 0:
		s.processed += o.processed
		s.cached += o.cached
	}
}

// join completes a page with the slots that were read after it.
func (s *slots) join(b *model.Batch) {
	withCached := slices.ContainsFunc(b.Samples, func(o model.Sample) bool { return o.Signal == model.CachedTokens })
	for i := range b.Samples {
		switch o := &b.Samples[i]; o.Signal {
		case model.OutputTokens:
			o.Value = s.output.of(o.Value, s.now.decoded)
		case model.PromptTokens:
			underWay := s.now.processed
			if withCached {
				underWay += s.now.cached
			}
			o.Value = s.prompt.of(o.Value, underWay)
		}
	}
	if s.now.all == 0 { // they were not read: the counters go on from where they were
		return
	}
	b.Samples = append(b.Samples, gauge(model.MaxRunning, s.now.all, model.LabelSet{}))
	var more []model.Meaning
	b.Samples, more = s.addContext(b.Samples, []model.Meaning{{Signal: model.MaxRunning, Metric: "/slots", Measures: "slots"}})
	b.About = s.describe(b.About, more)
}

// describe is the page's description with what the slots add to it.
func (s *slots) describe(page *model.About, more []model.Meaning) *model.About {
	if s.paged == page && s.more == len(more) {
		return s.said.about
	}
	about := *page
	about.Meanings = slices.Concat(page.Meanings, more, []model.Meaning{
		{Signal: model.PromptTokens, Metric: "/slots n_prompt_tokens_processed", Measures: "added: tokens of prompts under way"},
		// The counter itself goes on being one that moves at the end. A prompt may take
		// minutes in which no slot shows any progress, and that is no standstill.
		{Signal: model.OutputTokens, Metric: "/slots n_decoded", Measures: "added: tokens of answers under way"},
	})
	about.Missing = slices.DeleteFunc(slices.Clone(page.Missing), func(missing model.Signal) bool {
		return slices.ContainsFunc(more, func(m model.Meaning) bool { return m.Signal == missing })
	})
	s.paged, s.more = page, len(more)
	s.said.about = &about
	return s.said.about
}

// live is a counter of what is done, with what is under way counted in.
type live struct{ done, shown float64 }

// of is how far the counter has come. It never falls unless the server counts
// anew: what ends after the page was read, and before the slots are, is in neither.
func (l *live) of(done, underWay float64) float64 {
	if done < l.done {
		l.shown = 0
	}
	l.done = done
	l.shown = max(l.shown, done+underWay)
	return l.shown
}
