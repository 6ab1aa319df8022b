package panes

import (
	"testing"

	"slotop/model"
	"slotop/model/glossary"
)

// TestBases: a figure of utilization is explained by the basis that it is known by, and by
// no other that the target also has.
func TestBases(t *testing.T) {
	u := model.UtilizationView{
		Target: "a", Basis: model.ByGPM, MFU: model.Of(0.36), GPUs: model.Of(2), PeakFLOPs: model.Of(989e12),
		Measures: []model.MeasureView{{Basis: model.ByGPM, Compute: model.Of(0.36)}, {Basis: model.ByEngine, Compute: model.Of(0.25), FLOPs: model.Of(495e12)}},
	}
	f := &model.Frame{
		Targets:     []model.TargetView{{Name: "a", GPUs: []string{"g1", "g2"}}},
		Devices:     []model.DeviceView{{UUID: "g1", Target: "node"}, {UUID: "g2", Target: "node"}, {UUID: "g3", Target: "other"}},
		Utilization: []model.UtilizationView{u},
	}
	topic, _ := glossary.Find("compute")
	for _, tt := range []struct{ topic, of, from, reckoned string }{
		{"mfu", "a", "tensor active of 2 GPUs  on node", ""},
		{"compute", Within("a", "gpm"), "tensor active of 2 GPUs  on node", ""},
		{"compute", Within("a", "engine_estimate"), "", "495 TFLOP/s / (2 · 989 TFLOP/s)"},
	} {
		o := ownerOf(f, tt.of, topic)
		if got := countedBy(o, tt.topic); got != tt.from {
			t.Errorf("%s of %q is told by %q, want %q", tt.topic, tt.of, got, tt.from)
		}
		if got := useFigures(o.u, basisOf(o), tt.topic); got != tt.reckoned {
			t.Errorf("%s of %q: %q, want %q", tt.topic, tt.of, got, tt.reckoned)
		}
		if got, want := usedBy(o, tt.topic, model.EstimatedFLOPs), tt.from == ""; got != want {
			t.Errorf("%s of %q uses the engine's estimate: %v", tt.topic, tt.of, got)
		}
		if usedBy(o, tt.topic, model.OutputTokens) {
			t.Errorf("%s of %q uses tokens", tt.topic, tt.of)
		}
	}
}
