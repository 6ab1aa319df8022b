package diagnose

import (
	"strings"
	"testing"

	"slotop/model"
)

// The table of what binds, in its order.
func TestBinds(t *testing.T) {
	queued := func(change func(*Engine)) func(*Facts) {
		return func(f *Facts) {
			e := &f.Engines[0]
			e.queue(20, 40)
			change(e)
		}
	}
	for _, c := range []struct {
		name   string
		change func(*Facts)
		want   model.Binding
		words  string
	}{
		{"nothing", func(*Facts) {}, model.BindsNothing, ""},
		{"preempting", jam, model.BindsKV, "KV cache full, 1.0 preemptions/s"},
		{"full and waiting", queued(func(e *Engine) { e.KV = level(0.95, 0.99) }), model.BindsKV, "KV cache full, 30 waiting"},
		{"full on a plateau", queued(func(e *Engine) { e.KV, e.Running = level(0.95, 0.99), level(60, 60) }), model.BindsKV, "KV cache full, 30 waiting"},
		{"full and nobody waits", func(f *Facts) { f.Engines[0].KV = level(0.95, 0.99) }, model.BindsNothing, ""},
		{"full for a moment", queued(func(e *Engine) { e.KV = level(0.6, 0.99) }), model.BindsQueue, "queue: 30 waiting"},
		{"plateau", queued(func(e *Engine) { e.Running = level(24, 24) }), model.BindsCap, "sequence cap: 24 running, 30 waiting"},
		{"told cap", queued(func(e *Engine) { e.Running, e.Cap = level(250, 256), model.Of(256) }), model.BindsCap, "sequence cap: 250"},
		{"long prompts", queued(func(e *Engine) { e.Budget, e.Step.Now.Prefill = model.Of(2048), 1950 }), model.BindsBudget, "token budget full: 1.9k of 2.0k"},
		{"prompts", queued(func(e *Engine) { e.Step.Now.Prefill = 1000 }), model.BindsCompute, "compute: prompts are 7"},
		{"weights and cache", queued(func(e *Engine) { e.Step.Now.Prefill = 20 }), model.BindsMemory, "bandwidth: weights and KV reads are 9"},
		{"a slow host", queued(func(e *Engine) {
			e.Step.Now.Prefill = 150
			e.Step.Residual, e.GPUs = model.Of(1.9), []GPU{gpu(1.98e9, 0.4, 380)}
		}), model.BindsHost, "the host: 30 waiting"},
		{"none of them", queued(func(e *Engine) { e.Step.Now.Prefill = 150 }), model.BindsQueue, "queue: 30 waiting, ≈ 3.4 s"},
		{"it always waited", queued(func(e *Engine) { e.Step.Now.Prefill, e.WaitingBefore = 150, level(28, 50) }), model.BindsNothing, ""},
		{"warming up", queued(func(e *Engine) { e.Running, e.Age = level(24, 24), model.Of(20) }), model.BindsNothing, ""},
		{"the gateway", func(f *Facts) { f.flow("chat").Held, f.flow("chat").Outside = model.Of(12), model.Of(0.4) }, model.BindsUpstream, "queue at the gateway: 12 held"},
		{"a moment at the gateway", func(f *Facts) { f.flow("chat").Held, f.flow("chat").Outside = model.Of(4), model.Of(0.002) }, model.BindsNothing, ""},
		{"a provider", provider1, model.BindsProvider, "the provider"},
		{"a quiet provider", func(f *Facts) { *f = *hosted() }, model.BindsNothing, ""},
	} {
		f := steady()
		c.change(f)
		if got, words := bindsOf(f); got != c.want || !strings.HasPrefix(words, c.words) {
			t.Errorf("%s: %q %q, want %q %q", c.name, got, words, c.want, c.words)
		}
	}
}

// The engine on which most wait speaks for the pool, and is named where it is alone.
func TestBindsOfSeveral(t *testing.T) {
	f := steady()
	f.Engines = []Engine{engine("a"), engine("b")}
	serve(f)
	for i, n := range []float64{10, 40} {
		f.Engines[i].Running = level(24, 24)
		f.Engines[i].queue(n, n)
	}
	if _, words := bindsOf(f); words != "sequence cap: 24 running, 50 waiting" {
		t.Errorf("both: %q", words)
	}
	f.Engines[0].Running = level(20, 40)
	f.Engines[0].queue(0, 0)
	if _, words := bindsOf(f); words != "sequence cap: 24 running, 40 waiting, on b only" {
		t.Errorf("one: %q", words)
	}
}

func bindsOf(f *Facts) (model.Binding, string) {
	b := newScene(f, memory{}).bound
	return b.binds, b.text
}
