package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"slotop/model"
)

func calmStage() *model.StageView {
	return world{rate: 8, median: 0.2, sigma: 0.6, batches: 12, batchS: 10}.draw(rand.New(rand.NewPCG(9, 9)), edges)
}

// What stands in the way of a comparison is said, and no verdict is given.
func TestObstacles(t *testing.T) {
	for _, tt := range []struct {
		name, key string
		change    func(*model.StageWorkflow)
		why       string
	}{
		{"too short", "ttft.p95", func(w *model.StageWorkflow) { w.Sampled.Batches = 2 }, "B is shorter than 3 stretches of 10 s"},
		{"nothing counted", "ttft.p95", func(w *model.StageWorkflow) { w.Sampled = nil }, "B is shorter than 3 stretches of 5 s"},
		{"few requests", "ttft.p95", func(w *model.StageWorkflow) { w.Sampled.Requests.N = 29 }, "fewer than 30 requests"},
		{"not exported", "ttft.p95", func(w *model.StageWorkflow) { w.TTFT = nil }, "not known of B"},
		{"another promise", "goodput", func(w *model.StageWorkflow) { w.Objectives = []model.Objective{{Metric: model.MetricTTFT, MaxS: 2}} }, "promised were different things"},
		{"another promise, by rate", "good_per_second", func(w *model.StageWorkflow) { w.Objectives = nil }, "promised were different things"},
		{"no goodput", "goodput", func(w *model.StageWorkflow) { w.Goodput = nil }, "not known of B"},
	} {
		a, b := calmStage(), calmStage()
		tt.change(&b.Workflows[0])
		c := Stages(a, b)
		if row := c.Of("chat").Row(tt.key); row == nil || row.Verdict != CannotTell || row.Why != tt.why || row.Sense != Neither {
			t.Errorf("%s: %+v, want %q", tt.name, row, tt.why)
		}
	}
}

// A stage in which nothing came is compared by what came.
func TestNothingCame(t *testing.T) {
	a, b := calmStage(), calmStage()
	b.Workflows[0] = model.StageWorkflow{
		Name: "chat", Finished: model.Of(0), PerSecond: model.Of(0), TTFT: &model.Dist{}, Objectives: a.Workflows[0].Objectives,
		Goodput: &model.GoodputView{Verdict: model.NoData}, Sampled: &model.Sampled{Batches: 12, BatchS: 10},
	}
	c := Stages(a, b)
	if row := c.Of("chat").Row("requests_per_second"); row.Verdict != Lower {
		t.Errorf("requests: %+v", row)
	}
	for _, key := range []string{"ttft.p50", "goodput"} {
		if row := c.Of("chat").Row(key); row.Verdict != CannotTell {
			t.Errorf("%s: %+v", key, row)
		}
	}
}

// What makes the sides less alike than their names is noted.
func TestNotes(t *testing.T) {
	a, b := calmStage(), calmStage()
	b.To = b.From.Add(5 * b.To.Sub(b.From))
	b.UnseenS = 45
	b.Workflows = append(b.Workflows, model.StageWorkflow{Name: "new\x1b[31m"})
	b.Workflows[0].Objectives = []model.Objective{{Metric: model.MetricTPOT, MaxS: 0.05}}
	a.Workflows[0].Goodput.Basis, b.Workflows[0].Goodput.Basis = model.ByHistograms, model.ByRequests
	b.Workflows[0].TTFT.Fidelity = model.Coarse
	c := Stages(a, b)
	said := strings.Join(append(c.Notes, c.Of("chat").Notes...), "\n")
	for _, want := range []string{
		"A lasted 2 min 00 s and B 10 min 00 s: the shorter one is known less well", "in B something was not read for 45 s of 10 min 00 s",
		"is in B only", "promised were different things: A TTFT 1 s; B TPOT 50 ms", "A was judged from histograms and B from requests, which measure at different places",
		"TTFT: bucket bounds differ between servers",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if strings.Contains(said, "\x1b") {
		t.Errorf("a note is obeyed: %q", said)
	}
	if w := c.Of("new\x1b[31m"); w == nil || w.Only != "b" || len(w.Rows) != 0 {
		t.Errorf("%+v", w)
	}
	if none := Stages(&model.StageView{}, &model.StageView{}); none.Compared != 0 || len(none.Notes) != 1 {
		t.Errorf("%+v", none)
	}
}

// Fewer good requests of fewer requests are no worse service; of as many they are.
func TestLessLoadIsNoWorse(t *testing.T) {
	row := func(key string, v Verdict, s Sense) Row { return Row{Figure: Figure{Key: key}, Verdict: v, Sense: s} }
	w := Workflow{Rows: []Row{row("requests_per_second", Lower, Neither), row("good_per_second", Lower, Worse)}}
	w.excuse()
	if w.Rows[1].Sense != Neither {
		t.Errorf("less load: %+v", w.Rows[1])
	}
	w = Workflow{Rows: []Row{row("requests_per_second", Lower, Neither), row("goodput", Lower, Worse), row("good_per_second", Lower, Worse)}}
	w.excuse()
	if w.Rows[2].Sense != Worse {
		t.Errorf("less load, and worse served: %+v", w.Rows[2])
	}
	w = Workflow{Rows: []Row{row("requests_per_second", Higher, Neither), row("good_per_second", Lower, Worse)}}
	w.excuse()
	if w.Rows[1].Sense != Worse {
		t.Errorf("more load: %+v", w.Rows[1])
	}
}

// Figures in words, in both sets of signs.
func TestWords(t *testing.T) {
	rate, share, time := &Figure{Unit: PerSecond}, &Figure{Unit: Share}, &Figure{Unit: Seconds}
	of := model.Of
	for _, tt := range []struct{ got, want string }{
		{rate.Text(Value{Point: of(15.72)}, false), "15.7"},
		{rate.Text(Value{Lo: of(1), Hi: of(2)}, false), "1.0–2.0"},
		{rate.Text(Value{}, false), ""},
		{rate.Interval(Value{Lo: of(15), Hi: of(16.4)}, true), "15.0-16.4"},
		{share.Interval(Value{Lo: of(0.91), Hi: of(0.97)}, false), "91.0–97.0 %"},
		{share.Interval(Value{Hi: of(0.97)}, true), "<=97.0 %"},
		{time.Interval(Value{Lo: of(7.5)}, false), ">7.5 s"},
		{time.Interval(Value{}, false), ""},
		{Points(0.0523), "+5.2 pt"}, {Points(-0.2), "-20 pt"}, {Points(-0.0001), "0 pt"},
		{(&Row{Figure: *time, Change: Change{Point: of(1.5)}}).ChangeText(true), "x1.50"},
		{(&Row{Figure: *time, Change: Change{Lo: of(13)}, Verdict: Higher}).ChangeText(false), "≥×13.0"},
		{(&Row{Figure: *share, Change: Change{Hi: of(-0.4)}, Verdict: Lower}).ChangeText(true), "<=-40 pt"},
		{(&Row{Figure: *time}).ChangeText(true), ""},
		{(&Row{Figure: *time, Change: Change{Lo: of(0.9), Hi: of(1.2)}}).ChangeInterval(false), "×0.90–1.20"},
		{(&Row{Figure: *share, Change: Change{Lo: of(-0.029), Hi: of(0.01)}}).ChangeInterval(false), "-2.9 to +1 pt"},
		{(&Row{Figure: *time, Change: Change{Lo: of(2)}}).ChangeInterval(true), ">=x2.00"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// Of a stage that is too short to tell how far chance moves a rate no interval is told:
// one without width would say that nothing does.
func TestTooShortForAnInterval(t *testing.T) {
	a, b := calmStage(), calmStage()
	b.Workflows[0].Sampled.Batches = 1
	c := Stages(a, b)
	for _, key := range []string{"requests_per_second", "good_per_second"} {
		if v := c.Of("chat").Row(key).B; v.Lo.OK() || v.Hi.OK() || !v.Point.OK() {
			t.Errorf("%s: %+v", key, v)
		}
	}
}
