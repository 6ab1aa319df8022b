package fleet

import (
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// first is a TTFT histogram of n requests with a mean.
func first(n, mean float64) model.Sample {
	return histogram(model.TTFT, []float64{1, 5}, []float64{n / 2, n, n}, n*mean)
}

func outsideOf(t *testing.T, gateway, engine func(n float64) model.Sample) *model.OutsideView {
	t.Helper()
	b := newBench(t, time.Second, "edge", "engine")
	for i := range 10 {
		n := 10 * float64(i)
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{
			Target: "edge", Samples: []model.Sample{gateway(n)}, About: &model.About{Kind: model.GatewayTarget, Engine: "gw"},
		}})
		b.poll("engine", engine(n))
		b.tick()
		b.pass(b.every)
	}
	return workflowNamed(t, b.tick(), "chat").Outside
}

// TTFT at the gateway less TTFT at the engine is what passes outside the engine.
func TestOutsideEngine(t *testing.T) {
	v := outsideOf(t,
		func(n float64) model.Sample { return first(n, 1.5) },
		func(n float64) model.Sample { return first(n, 0.25) })
	if v == nil {
		t.Fatal("both sides measure TTFT, and nothing is said of the difference")
	}
	near(t, "outside", v.Mean, 1.25)
	if v.Note != "" || v.Gateway.N != v.Engine.N {
		t.Errorf("n %v and %v, note %q", v.Gateway.N, v.Engine.N, v.Note)
	}
}

func TestOutsideEngineInDoubt(t *testing.T) {
	for _, c := range []struct {
		name             string
		gateway, engine  func(n float64) model.Sample
		says             string
		without, nothing bool
	}{
		{
			"clocks that start at different events",
			func(n float64) model.Sample { return first(n, 0.1) }, func(n float64) model.Sample { return first(n, 0.25) },
			"starts later", false, false,
		},
		{
			"engines with other customers",
			func(n float64) model.Sample { return first(n, 1) }, func(n float64) model.Sample { return first(3*n, 0.25) },
			"different requests", false, false,
		},
		{
			"a gateway with other engines",
			func(n float64) model.Sample { return first(3*n, 1) }, func(n float64) model.Sample { return first(n, 0.25) },
			"different requests", false, false,
		},
		{
			"no traffic",
			func(float64) model.Sample { return first(0, 1) }, func(float64) model.Sample { return first(0, 1) },
			"no first token", true, false,
		},
		{
			"a gateway that does not measure it",
			func(n float64) model.Sample { return counter(model.Finished, n) }, func(n float64) model.Sample { return first(n, 0.25) },
			"", true, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := outsideOf(t, c.gateway, c.engine)
			if c.nothing {
				if v != nil {
					t.Fatalf("%+v, want nothing", v)
				}
				return
			}
			if v == nil || !strings.Contains(string(v.Note), c.says) || v.Mean.OK() == c.without {
				t.Fatalf("%+v, want a note with %q", v, c.says)
			}
		})
	}
}

// A gateway that names its workflows by who asks stands before the engines of the
// model that it names too: all its workflows of that model together.
func TestOutsideEngineByModel(t *testing.T) {
	b := newBench(t, time.Second, "edge", "engine")
	ofWorkflow := func(workflow, served string, n, mean float64) model.Sample {
		s := first(n, mean)
		s.Labels = model.Labels(model.LabelWorkflow, workflow, model.LabelModel, served)
		return s
	}
	var f *model.Frame
	for i := range 10 {
		n := 10 * float64(i)
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{
			Target: "edge", About: &model.About{Kind: model.GatewayTarget, Engine: "gw"},
			Samples: []model.Sample{
				ofWorkflow("shop", "chat", n, 1), ofWorkflow("search", "chat", n, 2), ofWorkflow("shop", "another", n, 9),
			},
		}})
		b.poll("engine", first(2*n, 0.25))
		f = b.tick()
		b.pass(b.every)
	}
	v := workflowNamed(t, f, "chat").Outside
	if v == nil {
		t.Fatal("both name the model, and nothing is said of the difference")
	}
	near(t, "gateway", v.Gateway.Mean, 1.5)
	near(t, "outside", v.Mean, 1.25)
	if v.Gateway.N != v.Engine.N || v.Note != "" {
		t.Errorf("n %v and %v, note %q", v.Gateway.N, v.Engine.N, v.Note)
	}
	for _, name := range []string{"shop", "search"} {
		if o := workflowNamed(t, f, name).Outside; o != nil {
			t.Errorf("%s: %+v, but no engine says what is its", name, o)
		}
	}
}
