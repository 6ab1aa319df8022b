package sources_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sim"
)

var update = flag.Bool("update", false, "rewrite the file of events")

// fewRequests is a small service in a surge, whose clients give up and try again.
var fewRequests = sim.Options{
	Seed: 3, Scenario: "S1", At: 12 * time.Second, Replicas: 1,
	Limits: sim.Limits{TokenBudget: 512, Sequences: 4, Blocks: 2000, BlockSize: 16, Context: 8192},
	Workflows: []sim.Workflow{
		{Name: "chat", Rate: 0.8, Prompt: sim.Lengths{Mu: 7.2, Sigma: 0.6}, Output: sim.Lengths{Mu: 5, Sigma: 0.8}, MaxOutput: 256, Hit: 0.7, HitSpread: 0.15, Retries: 1, RetryAfter: time.Second},
		{Name: "batch-eval", Rate: 0.2, Prompt: sim.Lengths{Mu: 6.6, Sigma: 0.4}, Output: sim.Lengths{Mu: 5.9, Sigma: 0.4}, MaxOutput: 512},
	},
}

const fewFor = 36 * time.Second

// TestEventsOfTheSimulator: what the simulator writes is read as what it means.
func TestEventsOfTheSimulator(t *testing.T) {
	path := filepath.Join("testdata", "events-S1.jsonl")
	var text bytes.Buffer
	if err := sim.WriteEvents(&text, fewRequests, fewFor); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update)", err)
	}
	if !bytes.Equal(saved, text.Bytes()) {
		t.Error("the simulator writes other events than the file has")
	}
	s, err := sim.New(fewRequests)
	if err != nil {
		t.Fatal(err)
	}
	gateway := s.Gateway()
	s.Advance(fewFor)
	want, _ := gateway.Reports(time.Date(2026, time.June, 1, 9, 0, 0, 0, time.UTC), nil)
	opened := resolve(t, "events:"+path)
	var got []model.Request
	outcomes := map[model.Outcome]int{}
	err = sources.Play(t.Context(), opened, sources.PlayOptions{Every: 5 * time.Second}, func(in model.Input) {
		if in.Batch == nil {
			return
		}
		if in.Batch.Fault != nil || in.Batch.BadLines > 0 {
			t.Fatalf("%+v, %s", in.Batch.Fault, in.Batch.FirstBad)
		}
		got = append(got, in.Batch.Requests...)
	})
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d reports, want %d, %v", len(got), len(want), err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("report %d\ngot  %+v\nwant %+v", i, got[i], want[i])
		}
		if got[i].Done() {
			outcomes[got[i].Outcome]++
		}
	}
	for _, o := range []model.Outcome{model.Completed, model.OutputLimited, model.RequestCancelled} {
		if outcomes[o] == 0 {
			t.Errorf("the file shows no request that ended as %s: %v", o, outcomes)
		}
	}
}

// demoReports plays a simulation and counts what its gateway and its pages say.
func demoReports(t *testing.T, arg string, span time.Duration) (ends map[model.Outcome]float64, finished, aborted float64, first time.Duration) {
	t.Helper()
	ends, first = map[model.Outcome]float64{}, -1
	last := map[model.TargetID]model.Batch{}
	err := sources.Play(t.Context(), resolve(t, arg), sources.PlayOptions{Every: 2 * time.Second, For: span}, func(in model.Input) {
		if in.Batch == nil {
			return
		}
		if in.Batch.Lost > 0 {
			t.Errorf("%d reports lost", in.Batch.Lost)
		}
		for _, r := range in.Batch.Requests {
			if r.Done() {
				ends[r.Outcome]++
			}
			if late := model.StampOf(in.At.Wall) - r.At; late < 0 || late >= model.Stamp(2*time.Second) {
				t.Errorf("a report comes %v late", time.Duration(late))
			}
			if first < 0 {
				first = in.At.Mono
			}
		}
		b := *in.Batch
		b.Samples = append([]model.Sample(nil), b.Samples...)
		last[b.Target] = b
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range last {
		for _, s := range b.Samples {
			switch {
			case s.Signal != model.Finished:
			case s.Labels.Get(model.LabelReason) == "aborted":
				aborted += s.Value
			default:
				finished += s.Value
			}
		}
	}
	return ends, finished, aborted, first
}

// The gateway of a simulation tells of the same requests as the engines' pages.
func TestTheDemoReportsItsRequests(t *testing.T) {
	ends, finished, aborted, first := demoReports(t, "demo:S1?events=1&at=20s&seed=4", 100*time.Second)
	if n := ends[model.Completed] + ends[model.OutputLimited]; n != finished || n < 1000 {
		t.Errorf("%v reported, %v on the pages", n, finished)
	}
	if ends[model.RequestCancelled] != aborted || aborted == 0 {
		t.Errorf("%v cancelled, %v on the pages", ends[model.RequestCancelled], aborted)
	}
	if first > 4*time.Second {
		t.Errorf("the first report comes at %v", first)
	}
}

// Where a simulation begins later, the reports do too.
func TestTheDemoReportsFromWhereItBegins(t *testing.T) {
	early, _, _, _ := demoReports(t, "demo?events=1", 40*time.Second)
	late, _, _, first := demoReports(t, "demo?events=true&from=20m", 40*time.Second)
	if a, b := early[model.Completed], late[model.Completed]; math.Abs(a-b) > a/2 || first > 4*time.Second {
		t.Errorf("%v and %v requests completed, the first report at %v", a, b, first)
	}
}

func TestDemoWithoutEventsHasNoGateway(t *testing.T) {
	for arg, want := range map[string]int{"demo?gpus=0": 2, "demo": 3, "demo:S4?events=0": 3, "demo:S4?events=1": 4} {
		opened := resolve(t, arg)
		if len(opened) != want {
			t.Errorf("%s: %d targets", arg, len(opened))
		}
		if o := opened[2%len(opened)].Target; want == 4 && (o.Name != "sim-gateway" || o.Kind != "gateway" || !o.Simulated || o.ID != "demo:S4?events=1#sim-gateway") {
			t.Errorf("got %+v", o)
		}
	}
	if _, err := sources.Resolve(t.Context(), []string{"demo?events=perhaps"}, sources.Options{}); err == nil {
		t.Error("events=perhaps")
	}
}
