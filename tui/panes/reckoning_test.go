package panes

import (
	"testing"

	"slotop/model"
)

// TestGoodputFigures: a formula is written only where its figures give what is shown.
func TestGoodputFigures(t *testing.T) {
	bound := func(m model.Metric, n, share float64) model.ObjectiveView {
		return model.ObjectiveView{Metric: m, MaxS: 0.5, N: n, Share: model.Share{Lo: model.Of(share), Hi: model.Of(share)}}
	}
	for _, tt := range []struct {
		name           string
		ttft, tpot     model.ObjectiveView
		lo, hi, failed float64
		want           string
	}{
		{"of the same", bound(model.MetricTTFT, 1000, 0.905), bound(model.MetricTPOT, 1000, 0.986), 0.891, 0.905, 0,
			"of those that ended well: max(0, 90.5 % + 98.6 % − 100 %) to min(90.5 %, 98.6 %)"},
		{"failed", bound(model.MetricTTFT, 1000, 0.905), bound(model.MetricTPOT, 1000, 0.986), 0.891 * 0.9, 0.905 * 0.9, 100,
			"of those that ended well: max(0, 90.5 % + 98.6 % − 100 %) to min(90.5 %, 98.6 %); 100 failed ones are bad"},
		{"of others", bound(model.MetricTTFT, 1268, 0.905), bound(model.MetricTPOT, 958, 0.986), 0.846, 0.987, 0,
			"at least 820 good of 969, at most 945 of 958: the bounds were measured of other requests than those that ended, TTFT 1268, TPOT 958; of 11 cancelled ones not all is known"},
	} {
		g := &model.GoodputView{
			Basis: model.ByHistograms, N: 1000, Share: model.Share{Lo: model.Of(tt.lo), Hi: model.Of(tt.hi)},
			Least: model.Fraction{Good: 820, Of: 969}, Most: model.Fraction{Good: 945, Of: 958},
		}
		g.Of.Failed, g.Of.Cancelled = tt.failed, model.Of(11)
		w := &model.WorkflowView{Goodput: g, Objectives: []model.ObjectiveView{tt.ttft, tt.tpot}}
		if got := goodputFigures(owner{w: w}, g); got != tt.want {
			t.Errorf("%s:\n got  %s\n want %s", tt.name, got, tt.want)
		}
	}
}
