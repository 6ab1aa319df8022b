package fleet

import (
	"slices"
	"time"

	"slotop/model"
	"slotop/model/requests"
)

// A probe's requests are slotop's own. They would make a promise look kept that no
// user's request was measured by, so that they go to the probe's view and nowhere
// else: no workflow has them, and so no goodput, budget, burn rate or finding.

// probeSpan is what a probe's figures cover at least. At one request every 30 s a
// window of a minute would hold two.
const probeSpan = 10 * time.Minute

// isProbe reports whether the target sends requests of its own.
func (t *target) isProbe() bool { return t.spec.Kind == model.ProbeTarget }

// onProbes takes what became of a probe's requests.
func (f *Fleet) onProbes(at model.Instant, t *target, b *model.Batch) {
	if t.follows == nil {
		t.follows, t.tellsFlight = requests.New(f.silence()), true
	}
	t.follows.Take(at, b, func(e requests.Ended) {
		one := &reported{}
		one.add(&model.WorkflowSpec{}, &e)
		t.probes.sumNew = true
		t.probes.put(e.At, at.Mono, one)
	})
}

// seeProbe fills in what became of a probe's requests.
func (t *target) seeProbe(v *model.TargetView, window, now time.Duration) {
	if !t.isProbe() {
		return
	}
	window = max(window, probeSpan)
	sum, _ := t.probes.over(window, now)
	known := sum.output
	v.Probe = &model.ProbeView{
		WindowS: window.Seconds(), Ended: sum.counts.Ended(), Failed: sum.counts.Failed, FailedBy: causes(sum.failedBy),
		TTFT: sum.dist(model.MetricTTFT), FirstAnswer: sum.dist(model.MetricFirstAnswer),
		TPOT: sum.dist(model.MetricTPOT), E2E: sum.dist(model.MetricE2E), Output: &known, Gaps: t.gaps(),
	}
	v.TTFT, v.TPOT = v.Probe.TTFT, v.Probe.TPOT
}

// gaps are those between the events of the probe's last answer.
func (t *target) gaps() *model.ReportedView {
	i := slices.IndexFunc(t.reported, func(r model.Reported) bool { return r.Signal == model.ITL })
	if i < 0 {
		return nil
	}
	r := &t.reported[i]
	return &model.ReportedView{Target: t.spec.Name, Signal: r.Signal, WindowS: r.WindowS, Count: r.Count, Quantiles: r.Quantiles}
}
