package fleet

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"slotop/model"
)

// probed is what a probe's own request came to.
func (b *bench) probed(id string, ttft, e2e, tokens float64) model.Request {
	r := b.done(id, ttft, e2e, tokens)
	r.Workflow, r.FirstAnswer = "chat", r.FirstToken // as its users call it: that must not matter
	return r
}

func (b *bench) probe(requests ...model.Request) {
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{
		Target: "p", Requests: requests, About: about,
		Reported: []model.Reported{{Signal: model.ITL, Count: model.Of(7), Quantiles: []model.QuantileAt{{Q: 0.5, S: 0.02}}}},
	}})
}

// probing is a bench with a gateway that reports requests, and a probe beside it.
func probing(t *testing.T, probe bool) *bench {
	t.Helper()
	b := newBench(t, time.Second, "a")
	targets := specsOf(b.f)
	if probe {
		targets = append(targets, model.Target{ID: "p", Name: "p", Kind: model.ProbeTarget})
	}
	f, err := New(Config{Targets: targets, Every: time.Second, Policy: chatPolicy(0.9, ttftHalf, tpot50)})
	if err != nil {
		t.Fatal(err)
	}
	b.f = f
	return b
}

// A probe's requests change nothing of what was promised to users: with a probe
// that fails, and one that answers at once, all but its own row is the same.
func TestProbesAreNobodysTraffic(t *testing.T) {
	run := func(probe bool) *model.Frame {
		b := probing(t, probe)
		b.report()
		for i := range 40 {
			b.pass(2 * time.Second)
			b.report(b.done(fmt.Sprint("r", i), 0.2+0.02*float64(i), 2.2, 101))
			if !probe {
				continue
			}
			failed := b.probed(fmt.Sprint("f", i), 0, 1, 0)
			failed.FirstToken, failed.FirstAnswer, failed.Outcome, failed.Status, failed.Reason = 0, 0, model.RequestFailed, 503, "upstream_5xx"
			underway := b.probed(fmt.Sprint("u", i), 0.1, 0.2, 1)
			underway.Phase, underway.Completed, underway.Outcome = model.PhaseStreaming, 0, ""
			b.probe(b.probed(fmt.Sprint("p", i), 0.01, 0.1, 8), failed, underway)
		}
		return b.tick()
	}
	without, with := run(false), run(true)
	if len(with.Targets) != 2 || len(without.Targets) != 1 {
		t.Fatal("targets")
	}
	with.Targets = with.Targets[:1]
	a, b := asJSON(t, without), asJSON(t, with)
	if a != b {
		t.Errorf("a probe changed the frame:\n%s\n%s", a, b)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The probe's own row has what its requests came to, over ten minutes.
func TestProbesHaveTheirOwnView(t *testing.T) {
	b := probing(t, true)
	b.probe()
	b.pass(time.Second)
	for i := range 9 {
		b.pass(30 * time.Second)
		b.probe(b.probed(fmt.Sprint("p", i), 0.1, 0.8, 8))
	}
	b.pass(30 * time.Second)
	limited := b.probed("limited", 0.1, 0.8, 8)
	limited.Status, limited.Outcome, limited.Reason, limited.FirstToken = 429, model.RequestFailed, "rate_limited", 0
	running := b.probed("running", 0.1, 0.8, 8)
	running.Phase, running.Completed, running.Outcome = model.PhaseStreaming, 0, ""
	b.probe(limited, running)
	fr := b.tick()
	if len(fr.Workflows) != 0 || fr.Goodput != nil && fr.Goodput.N > 0 {
		t.Errorf("workflows %+v, goodput %+v", fr.Workflows, fr.Goodput)
	}
	if fr.Targets[0].Probe != nil {
		t.Error("the gateway is no probe")
	}
	v := fr.Targets[1]
	p := v.Probe
	if v.Kind != model.ProbeTarget || v.State != model.Up || v.Running.Value != 1 || p == nil {
		t.Fatalf("%+v", v)
	}
	if p.Ended != 10 || p.Failed != 1 || len(p.FailedBy) != 1 || p.FailedBy[0].Reason != "429 rate_limited" || p.WindowS != 600 {
		t.Errorf("%+v", p)
	}
	near(t, "ttft", p.TTFT.P50.Value, 0.1)
	near(t, "first answer", p.FirstAnswer.P50.Value, 0.1)
	near(t, "tpot", p.TPOT.P50.Value, 0.1)
	near(t, "e2e", p.E2E.P50.Value, 0.8)
	if v.TTFT.N != 9 || v.TTFT.Basis != model.FromEvents || p.Output.Sum != 72 || p.Output.N != 9 {
		t.Errorf("%+v %+v", v.TTFT, p.Output)
	}
	if p.Gaps == nil || p.Gaps.Count.Value != 7 || p.Gaps.Quantiles[0].S != 0.02 {
		t.Errorf("gaps %+v", p.Gaps)
	}
}
