package fleet

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// crowdOf is a page of n workflows, each with a histogram; workflow i has
// counted grow(i) requests, those below from have gone.
func crowdOf(from, n int, count func(i int) float64) []model.Sample {
	bounds := []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}
	out := make([]model.Sample, 0, n)
	for i := from; i <= from+n-1; i++ {
		c := count(i)
		counts := make([]float64, len(bounds)+1)
		for k := range counts {
			counts[k] = c
		}
		out = append(out, model.Sample{
			Signal: model.TTFT, Kind: model.Histogram, Labels: model.Labels(model.LabelWorkflow, fmt.Sprintf("run-%05d", i)),
			Hist: &model.Buckets{Bounds: bounds, Counts: counts, Sum: model.Of(c / 100)},
		})
	}
	return out
}

// OC-27: 50,000 workflows on a page. The twenty busiest have a row, the others
// one together; every request is counted, and ids that come and go cost no
// memory.
func TestFiftyThousandWorkflows(t *testing.T) {
	const n = 50_000
	b := newBench(t, time.Second, "a")
	all := func(i int) float64 { return float64(i) }
	f := b.round(crowdOf(1, n, all)...)
	if len(f.Workflows) != crowdRows+1 {
		t.Fatalf("%d rows", len(f.Workflows))
	}
	var sum, top float64
	for _, w := range f.Workflows {
		sum += w.TTFT.N
		if w.Name != model.OtherName {
			top += w.TTFT.N
		} else if w.Members != n-crowdRows {
			t.Errorf("the others are %d", w.Members)
		}
	}
	if sum != 1_250_025_000 || top != 999_810 {
		t.Errorf("%.0f requests, %.0f of them in the top %d", sum, top, crowdRows)
	}
	if note := f.Targets[0].Notes; len(note) != 1 || note[0] != "50000 workflows: grouped, the 20 busiest have a row each" {
		t.Errorf("notes %q", note)
	}
	// A request more each.
	f = b.round(crowdOf(1, n, func(i int) float64 { return float64(i) + 1 })...)
	if w := workflowNamed(t, f, model.OtherName); w.TTFT.N != n-crowdRows {
		t.Errorf("a request more each: %v", w.TTFT.N)
	}
	if testing.Short() {
		return
	}
	// One in a hundred goes and comes with every poll.
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var after uint64
	const fewer = n / 5
	for poll := range 300 {
		f = b.round(crowdOf(n-fewer+poll*fewer/100, fewer, func(i int) float64 { return float64(i) + 2 })...)
		if poll == 150 {
			after = heap()
		}
	}
	if now := heap(); now > after+after/5 || now > 300<<20 {
		t.Errorf("heap %d MB after 150 polls of churn, %d MB after 300", after>>20, now>>20)
	}
	if len(f.Workflows) > 4*crowdRows {
		t.Errorf("%d rows", len(f.Workflows))
	}
	t.Logf("heap %d MB", after>>20)
}

// A workflow that was promised something has its row in any crowd, and what the
// operator gathered under one name is gathered.
func TestCrowdKeepsPromises(t *testing.T) {
	policy := chatPolicy(0.9, ttftHalf)
	policy.Workflows = append(policy.Workflows, model.WorkflowSpec{
		Name: "runs", Share: 0.9, PeriodS: 60, Match: []model.Match{{Workflow: "run-*"}}, Objectives: []model.Objective{ttftHalf},
	})
	b := promised(t, time.Second, policy, "a")
	page := func(more float64) []model.Sample {
		samples := crowdOf(1, 1000, func(i int) float64 { return float64(i) + more })
		return append(samples, histogram(model.TTFT, []float64{0.5}, []float64{1 + more, 1 + more}, 1))
	}
	b.round(page(0)...)
	f := b.round(page(2)...)
	if w := workflowNamed(t, f, "chat"); w.TTFT.N != 2 || w.AssumedObjectives {
		t.Errorf("chat %v", w.TTFT.N)
	}
	if w := workflowNamed(t, f, "runs"); w.TTFT.N != 2000 || len(f.Workflows) != 2 {
		t.Errorf("runs %v of %d rows", w.TTFT.N, len(f.Workflows))
	}
}

// Whoever has no row of its own is in the one row for that, whether it was
// promised something or not.
func TestCrowdHasOneRowForTheOthers(t *testing.T) {
	policy := chatPolicy(0.9, ttftHalf)
	policy.Workflows = append(policy.Workflows, model.WorkflowSpec{Name: "run-00*", Share: 0.9, PeriodS: 60, Objectives: []model.Objective{ttftHalf}})
	b := promised(t, time.Second, policy, "a")
	page := func(more float64) []model.Sample {
		return crowdOf(801, 400, func(i int) float64 { return 2000 - float64(i) + more }) // 199 of them are promised something
	}
	b.round(page(0)...)
	f := b.round(page(1)...)
	if w := workflowNamed(t, f, model.OtherName); w.TTFT.N != 400-crowdRows || len(f.Workflows) != crowdRows+1 {
		t.Errorf("%v others in %d rows", w.TTFT.N, len(f.Workflows))
	}
}

// A member whose server restarts counts what it shows since.
func TestCrowdMemberRestarts(t *testing.T) {
	b := newBench(t, time.Second, "a")
	b.round(crowdOf(1, 300, func(i int) float64 { return 1000 + float64(i) })...)
	f := b.round(crowdOf(1, 300, func(i int) float64 {
		if i == 5 {
			return 3
		}
		return 1000 + float64(i)
	})...)
	if w := workflowNamed(t, f, model.OtherName); w.TTFT.N != 3 {
		t.Errorf("%v requests", w.TTFT.N)
	}
}

// However many names a reporter makes up first, what the operator promised by
// name has its row and its alerts.
func TestPromiseIsNotCrowdedOut(t *testing.T) {
	policy := chatPolicy(0.95, ttftHalf)
	policy.KeepOthers = true
	b := promised(t, time.Second, policy, "a")
	var noise []model.Request
	for i := range maxWorkflows + 50 {
		r := b.done(fmt.Sprint("noise", i), 0.1, 1, 10)
		r.Workflow = r.ID
		noise = append(noise, r)
	}
	b.report(noise...)
	b.tick()
	b.pass(b.every)
	f := b.requests("bad", 2*time.Minute, func(r *model.Request) { r.FirstToken = r.Completed })
	workflowNamed(t, f, "chat")
	if a, _ := alertNamed(f, "slo-burn"); a.State != model.AlertFiring || a.Workflow != "chat" {
		t.Errorf("%+v", a)
	}
	if len(f.Workflows) != maxWorkflows+2 {
		t.Errorf("%d rows", len(f.Workflows))
	}
}

// Of a page that names too many workflows all that were promised something have
// a row, also where they are more than the busiest that would have one.
func TestPromisesOfACrowd(t *testing.T) {
	var policy model.Policy
	name := func(i int) string { return fmt.Sprintf("w%03d", i) }
	for i := range 2 * crowdRows {
		policy.Workflows = append(policy.Workflows, model.WorkflowSpec{Name: name(300 + i), Share: 0.95, PeriodS: 3600, Objectives: []model.Objective{ttftHalf}})
	}
	b := promised(t, 5*time.Second, policy, "a")
	var f *model.Frame
	for n := range 40 {
		var page []model.Sample
		for i := range 300 + 2*crowdRows {
			c, h := counter(model.Finished, float64(50*n)), histogram(model.TTFT, []float64{0.5, 1}, []float64{0, 0, float64(50 * n)}, float64(50*n))
			c.Labels = model.Labels(model.LabelWorkflow, name(i))
			h.Labels = c.Labels
			page = append(page, c, h)
		}
		f = b.round(page...)
	}
	pages := 0
	for _, a := range f.Alerts {
		if a.Severity == model.Page && a.State == model.AlertFiring {
			pages++
		}
	}
	if pages != 2*crowdRows {
		t.Errorf("%d of %d pages, %d rows", pages, 2*crowdRows, len(f.Workflows))
	}
	if notes := fmt.Sprint(f.Targets[0].Notes); !strings.Contains(notes, "340 workflows: grouped, the 40 busiest have a row each") {
		t.Errorf("notes %s", notes)
	}
}
