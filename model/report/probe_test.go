package report

import (
	"strings"
	"testing"

	"slotop/model"
)

func seen(n, s float64) *model.Dist {
	e := model.Estimate{Value: model.Of(s), Seen: true}
	return &model.Dist{N: n, Mean: model.Of(s), P50: e, P95: e, P99: e, Basis: model.FromEvents}
}

// What a probe measured is told as its own, and a probe that has not ended a
// request yet says so.
func TestProbeInText(t *testing.T) {
	view := model.TargetView{Name: "h:1/probe", Kind: model.ProbeTarget, State: model.Up, Polls: 3, Probe: &model.ProbeView{
		WindowS: 600, Ended: 9, Failed: 2, FailedBy: []model.Cause{{Reason: "429 rate_limited", N: 2}},
		TTFT: seen(7, 0.21), FirstAnswer: seen(7, 0.25), E2E: seen(7, 0.4), TPOT: seen(0, 0), Output: &model.Known{Sum: 48, N: 6, Unknown: 1},
		Gaps: &model.ReportedView{Count: model.Of(7), Quantiles: []model.QuantileAt{{Q: 0.5, S: 0.02}, {Q: 1, S: 0.031}}},
	}}
	text := func() string {
		f := &model.Frame{Schema: model.Schema, Targets: []model.TargetView{view}}
		return Text(f, Options{Width: 120})
	}
	got := text()
	for _, want := range []string{
		"probe", "9 requests within 10 min 00 s, 2 failed, 2 × 429 rate_limited, 48 tokens,", "1 without a count of tokens",
		"TTFT          p50 210 ms", "first answer  p50 250 ms", "E2E           p50 400 ms", "n 7", "from events",
		"event gaps    7 of the last answer, p50 20 ms, longest 31 ms",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "unknown") || strings.Contains(got, "TPOT          ") {
		t.Errorf("got\n%s", got)
	}
	view.Probe = &model.ProbeView{WindowS: 600, Output: &model.Known{}}
	if got := text(); !strings.Contains(got, "0 requests within 10 min 00 s, 0 failed\n") {
		t.Errorf("got\n%s", got)
	}
	view.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nobody"}}
	if got := text(); strings.Contains(got, "0 failed") {
		t.Errorf("what failed is not known yet:\n%s", got)
	}
}
