package panes

import (
	"strings"
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

// TestOtherWays: of two ways to know a number only the one that was taken is named.
func TestOtherWays(t *testing.T) {
	cached := []model.Meaning{{Signal: model.CachedTokens}, {Signal: model.PromptTokens}, {Signal: model.PrefixHits}, {Signal: model.PrefixQueries}}
	f := &model.Frame{
		Targets:     []model.TargetView{{Name: "a", Meanings: cached}, {Name: "b", Meanings: cached[1:]}},
		Workflows:   []model.WorkflowView{{Name: "x", Targets: []string{"a", "b"}}, {Name: "y", Targets: []string{"b"}}},
		Utilization: []model.UtilizationView{{Target: "a", Step: &model.StepView{}}, {Target: "b", Step: &model.StepView{Gap: true}}},
	}
	for _, tt := range []struct {
		topic, of string
		uses, not model.Signal
	}{
		{"prefix_cache_hit", "x", model.CachedTokens, model.PrefixHits},
		{"prefix_cache_hit", "y", model.PrefixQueries, model.PromptTokens},
		{"step", "a", model.StepTokens, model.ITL},
		{"step.residual", "b", model.ITL, model.StepTokens},
	} {
		topic, ok := glossary.Find(tt.topic)
		if o := ownerOf(f, tt.of, topic); !ok || !usedBy(o, tt.topic, tt.uses) || usedBy(o, tt.topic, tt.not) {
			t.Errorf("%s of %s is read from %s and not from %s", tt.topic, tt.of, tt.uses, tt.not)
		}
	}
}

// TestSpans: what a number is over is said as it is worked out: not all are over the window.
func TestSpans(t *testing.T) {
	f := &model.Frame{WindowS: 300, CoveredS: model.Of(298), Capacity: []model.CapacityView{{Pool: "p"}}, Workflows: []model.WorkflowView{{Name: "x"}}}
	f.Utilization = []model.UtilizationView{{Target: "a", Basis: model.ByGPM, Measures: []model.MeasureView{{Basis: model.ByEngine}}}}
	const window = "over 4 min 58 s of a window of 5 min"
	for _, tt := range []struct{ topic, of, want string }{
		{"pool.rate", "p", "the last minute of whole blocks"}, {"waste.tokens", Within("p", "failed"), "the last minute of whole blocks"}, {"knee", Within("p", "x"), ""},
		{"wait_now", "x", "the last 30 s"}, {"requests_per_second", "x", window}, {"cached_prompt_share", "x", window},
		{"mfu", "a", "the last minute"}, {"compute", Within("a", string(model.ByEngine)), window}, {"step", "a", "the last minute of whole blocks"}, {"peak_flops", "a", ""},
	} {
		topic, _ := glossary.Find(tt.topic)
		o := ownerOf(f, tt.of, topic)
		got := strings.Join(restsOn(o, valueOf(o, tt.topic), topic, Look{}), ", ")
		if _, by, ok := strings.Cut(got, ", "); ok {
			got = by // by whose word it is known
		}
		if strings.HasPrefix(got, "counted") || got != tt.want {
			t.Errorf("%s rests on %q, want %q", tt.topic, got, tt.want)
		}
	}
}
