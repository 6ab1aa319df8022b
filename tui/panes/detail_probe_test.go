package panes

import (
	"testing"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// A probe's figures are its own, over their own window; what reached nobody is not
// told as none.
func TestDetailOfAProbe(t *testing.T) {
	f := tuitest.Calm()
	v := &f.Targets[0]
	detail := func(ascii bool) string {
		return Detail{}.Render(f, layout.Size{W: 80, H: 60}, Look{ASCII: ascii, View: View{Target: v.ID}})
	}
	hasNot(t, detail(false), "PROBE")
	e := model.Estimate{Value: model.Of(0.21), Enough: true, Seen: true}
	v.Kind, v.Engine = model.ProbeTarget, ""
	v.Probe = &model.ProbeView{
		WindowS: 600, Ended: 9, Failed: 2, FailedBy: []model.Cause{{Reason: "429 rate_limited", N: 2}},
		TTFT: &model.Dist{N: 7, Mean: model.Of(0.21), P50: e, P95: e, P99: e, Basis: model.FromEvents}, FirstAnswer: &model.Dist{}, E2E: &model.Dist{},
		Gaps: &model.ReportedView{Count: model.Of(7), Quantiles: []model.QuantileAt{{Q: 0.5, S: 0.02}, {Q: 1, S: 0.031}}},
	}
	has(t, detail(false), "PROBE", "over 10 min", "in no workflow's figures", "9 ended", "2 failed", "2 × 429 rate_limited",
		"TTFT", "210 ms", "first answer", "no samples", "7 of the last answer", "p50 20 ms", "longest 31 ms", "sends requests of its own")
	has(t, detail(true), "2 x 429")
	hasNot(t, detail(false), "── NOW")
	v.Probe = &model.ProbeView{WindowS: 600}
	has(t, detail(false), "0 ended", "0 failed")
	v.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nobody"}}
	has(t, detail(false), "none that was answered")
	hasNot(t, detail(false), "0 failed")
}
