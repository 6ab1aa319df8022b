package diagnose

import (
	"strings"
	"testing"

	"slotop/model"
)

// The other signs on which rules speak, beside those of ruleCases.
func TestRulesByOtherSigns(t *testing.T) {
	bits := gpu(1.98e9, 0.8, 500)
	bits.Throttled, bits.Reasons = Shift{model.Of(0.02), model.Of(0.4)}, []string{"SW thermal"}
	rare := bits
	rare.Throttled.Now = model.Of(0.1)
	always := bits
	always.Throttled.Before = model.Of(0.5)
	dark := gpu(1.98e9, 0.8, 300) // its power tells what its activity does not
	dark.SM = Shift{}
	for _, c := range []struct {
		name, id string
		facts    func(*Facts)
		says     string // "": nothing
	}{
		{"throttled by its own word", "D4", onGPU(bits), "slowed 40 % of the time: SW thermal"},
		{"now and then, as is usual", "D4", onGPU(rare), ""},
		{"as it always was", "D4", onGPU(always), ""},
		{"a host by the power of its GPU", "D5", onGPU(dark), "power 500 W → 300 W"},
		{"ragged gaps", "D3", func(f *Facts) {
			interfered(f)
			f.flow("chat").Gap = Gap{P50: model.Of(0.012), P95: model.Of(0.04), P99: model.Of(0.2), Longest: model.Of(0.3)}
		}, "long prefills"},
		{"ragged as ever", "D3", func(f *Facts) {
			interfered(f)
			g := Gap{P50: model.Of(0.012), P95: model.Of(0.04), P99: model.Of(0.2), Longest: model.Of(0.3)}
			f.flow("chat").Gap, f.flow("chat").GapBefore = g, g
		}, ""},
		{"they leave in mid-answer", "E5", func(f *Facts) {
			count(f.flow("chat"), Cancelled, 0.3, Ended)
			count(f.flow("chat"), GaveUpEarly, 0.1, Cancelled)
		}, "in mid-answer: pace or quality"},
		{"a job by its deadline", "E7", func(f *Facts) {
			offline(f)
			spec := *chatSpec
			spec.Name, spec.DeadlineS = "batch", 3600
			f.flow("batch").Spec = &spec
			f.flow("batch").Calls = evenCalls(40)
		}, "its requests are of nearly the same size"},
		{"an engine that stopped", "T7", func(f *Facts) { silent(f); f.Awaited = 0 }, "1 of 2 engines stopped answering"},
		{"arrivals that are retries", "T1", func(f *Facts) { retrying(f); count(f.flow("chat"), Retried, 0.1, Arrived) }, "retries are 10 % of them"},
		{"a provider that queues, by a line that explains nothing", "P1", queueingProvider, "the provider adds"},
		{"and its slope is not read", "P2", queueingProvider, ""},
		{"prompt caching lost at a provider", "P2", func(f *Facts) {
			provider2(f)
			count(f.flow("chat"), CachedTokens, 0.05, PromptTokens)
		}, "cached prompt tokens 70 % → 5 %"},
	} {
		f := steady()
		c.facts(f)
		_, findings := confirm(f)
		v := found(findings, c.id)
		switch {
		case v == nil && c.says != "":
			t.Errorf("%s: %s says nothing; said: %s", c.name, c.id, ids(findings))
		case v != nil && c.says == "":
			t.Errorf("%s: %s says %q", c.name, c.id, v.Cause)
		case v != nil && !strings.Contains(string(v.Cause)+"; "+strings.Join(v.Evidence, "; "), c.says):
			t.Errorf("%s: %q, %q", c.name, v.Cause, v.Evidence)
		}
	}
}

func evenCalls(n int) []Call {
	out := calls(0.2, 0, 0.03, 0, n)
	for i := range out {
		out[i].Prompt = 740 + float64(i%5)
	}
	return out
}

// queueingProvider makes requests wait for as long as it likes, whatever their length.
func queueingProvider(f *Facts) {
	*f = *hosted()
	w := f.flow("chat")
	w.Calls = calls(1, 60e-6, 0.014, 0, 120)
	for i := range w.Calls {
		w.Calls[i].TTFT += float64((i*29)%50) / 3
	}
	l := chatLoad
	l.ttft, l.good = 9, 0.02
	w.Now = l.blocks(NowBlocks)
}
