package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// The cases about promises and load tests, from events and pages to the frame.

// judged plays targets under a policy. During is called after each tick.
func judged(t *testing.T, policy model.Policy, window, every time.Duration, during func(*core, *model.Frame), args ...string) *model.Frame {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), args, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: every, Window: window, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	err = sources.Play(context.Background(), opened, sources.PlayOptions{Every: every}, func(in model.Input) {
		c.take(in)
		if in.IsTick() && during != nil {
			during(c, c.box.latest())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.box.latest()
}

// told is a request as a gateway tells of it, in seconds since noon.
type told struct {
	id                              string
	scheduled, queued, first, ended float64
	more                            string // further fields, as JSON
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (r told) line() string {
	at := func(s float64) string {
		return noon.Add(time.Duration(s * 1e9)).Format(time.RFC3339Nano)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"v":1,"id":%q,"at":%q,"workflow":"chat","stream":true,"phase":"done","queued_at":%q,"completed_at":%q`,
		r.id, at(r.ended), at(r.queued), at(r.ended))
	if r.first > 0 {
		fmt.Fprintf(&b, `,"first_token_at":%q`, at(r.first))
	}
	if r.scheduled > 0 {
		fmt.Fprintf(&b, `,"scheduled_at":%q`, at(r.scheduled))
	}
	return b.String() + r.more + "}"
}

const answered = `,"outcome":"completed","status":200`

// asEvents writes lines to a file and names it as a target.
func asEvents(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "events:" + path
}

func caseJSON(t *testing.T, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(shared.File(t, "cases/files/"+name), into); err != nil {
		t.Fatal(err)
	}
}

func chatOf(t *testing.T, f *model.Frame) model.WorkflowView {
	t.Helper()
	for _, w := range f.Workflows {
		if w.Name == "chat" {
			return w
		}
	}
	t.Fatalf("no chat in %d workflows", len(f.Workflows))
	return model.WorkflowView{}
}

func policyOf(share float64, objectives ...model.Objective) model.Policy {
	return model.Policy{KeepOthers: true, Workflows: []model.WorkflowSpec{{
		Name: "*", Share: share, PeriodS: model.DefaultPeriodS, Objectives: objectives,
	}}}
}

func bound(m model.Metric, s float64) model.Objective { return model.Objective{Metric: m, MaxS: s} }

// atZero is a page of the same series before anything was counted.
func atZero(page []byte) []byte {
	return regexp.MustCompile(`(?m)^([^#\s]\S*) \S+$`).ReplaceAll(page, []byte("$1 0"))
}

func TestOC08JointGoodput(t *testing.T) {
	page := shared.File(t, "cases/files/goodput.prom")
	dir := t.TempDir()
	for name, text := range map[string][]byte{"0.prom": atZero(page), "1.prom": page} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ ttft, lo, hi float64 }{{0.2, .55, .90}, {0.25, .85, .90}} {
		policy := policyOf(0.95, bound(model.MetricTTFT, c.ttft), bound(model.MetricTPOT, 0.05))
		f := judged(t, policy, time.Minute, 50*time.Second, nil, dir)
		w := f.Workflows[0]
		is(t, "at least", w.Goodput.Share.Lo, c.lo, 1e-9)
		is(t, "at most", w.Goodput.Share.Hi, c.hi, 1e-9)
		is(t, "at least a second", w.Goodput.PerSecond.Lo, 20*c.lo, 1e-9)
		is(t, "at most a second", w.Goodput.PerSecond.Hi, 20*c.hi, 1e-9)
		is(t, "TPOT share", w.Objectives[1].Share.Lo, 0.95, 1e-12)
		text := asText(f)
		says(t, "the text", text, fmt.Sprintf("%.0f–%.0f %%", 100*c.lo, 100*c.hi))
		saysNot(t, "the text", text, "76.0 %")
		saysNot(t, "the text", text, "57.0 %")
		if c.ttft == 0.2 {
			is(t, "nearest bound below", w.Objectives[0].Bounds.Lo, 0.1, 0)
			is(t, "nearest bound above", w.Objectives[0].Bounds.Hi, 0.25, 0)
			says(t, "the text", text, "100 ms and 250 ms")
		}
	}
}

func TestOC16Pages(t *testing.T) {
	for _, c := range []struct {
		file  string
		every time.Duration
		pages bool
	}{{"few-a.json", time.Second, false}, {"few-b.json", 30 * time.Second, true}} {
		var given struct {
			Window   float64 `json:"window_s"`
			Requests int
			Bad      int
		}
		caseJSON(t, c.file, &given)
		var lines []string
		for i := range given.Requests {
			at := given.Window * float64(i+1) / float64(given.Requests)
			first := at + 0.1
			if i*given.Bad/given.Requests < (i+1)*given.Bad/given.Requests {
				first = at + 9
			}
			lines = append(lines, told{id: fmt.Sprint(i), queued: at, first: first, ended: at + 9.5, more: answered}.line())
		}
		var paged bool
		f := judged(t, policyOf(0.99, bound(model.MetricTTFT, 1)), 5*time.Minute, c.every, func(_ *core, f *model.Frame) {
			for _, a := range f.Alerts {
				paged = paged || a.Severity == model.Page && a.State == model.AlertFiring
			}
		}, asEvents(t, lines...))
		if paged != c.pages {
			t.Errorf("%s: paged %t", c.file, paged)
		}
		if !c.pages {
			w := chatOf(t, f)
			if string(w.Goodput.Why) != "1 of 2 bad, too few to judge" || w.TTFT.N != 2 {
				t.Errorf("%q, n %v", w.Goodput.Why, w.TTFT.N)
			}
			continue
		}
		for _, a := range f.Alerts {
			if a.Rule == "slo-burn" {
				is(t, "burn", a.Value, 90, 1e-9)
			}
		}
	}
}

func TestOC19CannotCompute(t *testing.T) {
	f := judged(t, policyOf(0.95, bound(model.MetricTTFT, 1)), time.Minute, 5*time.Second, nil, caseFiles(t, "families-missing.prom", "families-missing.prom")...)
	text := asText(f)
	says(t, "the text", text, "no finish counts")
	says(t, "the text", text, "not exported")
	if len(f.Unjudged) != 1 || len(f.Alerts) != 0 {
		t.Errorf("cannot evaluate %+v, alerts %+v", f.Unjudged, f.Alerts)
	}
	saysNot(t, "the text", text, "goodput   0 %")
}

func TestOC20WarmUp(t *testing.T) {
	var given struct {
		TTFT []float64 `json:"ttft_s"`
	}
	caseJSON(t, "warm-up.json", &given)
	var lines []string
	for i, v := range given.TTFT {
		at := 1.0
		if i >= 10 {
			at = 62 + 2*float64(i)
		}
		lines = append(lines, told{id: fmt.Sprint(i), queued: at, first: at + v, ended: at + v + 1, more: answered}.line())
	}
	marked := false
	f := judged(t, policyOf(0.95, bound(model.MetricTTFT, 2)), fleet.MaxWindow, time.Second, func(c *core, f *model.Frame) {
		if !marked && f.At.Wall.Sub(noon) >= time.Minute { // the cold ones have ended
			marked = true
			c.mark("warm")
		}
	}, asEvents(t, lines...))
	w := chatOf(t, f)
	is(t, "p50 of the run", w.TTFT.P50.Value, 1.04, 1e-9)
	is(t, "p95 of the run", w.TTFT.P95.Value, 43.51, 1e-9)
	if len(f.Stages) != 1 || f.Stages[0].Name != "warm" {
		t.Fatalf("stages %+v", f.Stages)
	}
	s := f.Stages[0].Workflows[0]
	is(t, "p50 since the mark", s.TTFT.P50.Value, 0.97, 1e-9)
	is(t, "p95 since the mark", s.TTFT.P95.Value, 1.36, 1e-9)
	if s.TTFT.N != 90 {
		t.Errorf("n %v", s.TTFT.N)
	}
	says(t, "the text", asText(f), "warm")
	isStage := func(e model.Event) bool { return e.Kind == model.EventStage }
	if e := w.History.Events; len(e) == 0 || !isStage(e[0]) || slices.ContainsFunc(e[1:], isStage) {
		t.Errorf("marks on the charts: %+v", e)
	}
}

func TestOC22Refusals(t *testing.T) {
	var given []struct {
		Status  int     `json:"status"`
		Latency float64 `json:"latency_s"`
	}
	caseJSON(t, "throttled.json", &given)
	var lines []string
	for i, r := range given {
		more := answered
		if r.Status != 200 {
			more = fmt.Sprintf(`,"outcome":"failed","status":%d`, r.Status)
		}
		lines = append(lines, told{id: fmt.Sprint(i), queued: 1, ended: 1 + r.Latency, more: more}.line())
	}
	f := judged(t, policyOf(0.5, bound(model.MetricE2E, 5)), time.Minute, time.Second, nil, asEvents(t, lines...))
	w := chatOf(t, f)
	is(t, "p50", w.E2E.P50.Value, 1.24, 1e-9)
	is(t, "p95", w.E2E.P95.Value, 1.58, 1e-9)
	if w.E2E.N != 36 {
		t.Errorf("n %v", w.E2E.N)
	}
	says(t, "the text", asText(f), "429: 9 of 45, 20.0 %")
	is(t, "goodput", w.Goodput.Share.Lo, 0.8, 1e-12)
	for _, a := range f.Alerts {
		if a.Rule == "throttled" && a.State == model.AlertFiring {
			return
		}
	}
	t.Errorf("no alert on refusals: %+v", f.Alerts)
}

func TestOC22TriedThreeTimes(t *testing.T) {
	var given struct {
		ID    string
		Tries []struct {
			T      float64
			Status int
			First  float64 `json:"first_token_t"`
		}
	}
	caseJSON(t, "retried.json", &given)
	// As one request with retries, and as three that name the one before.
	last := given.Tries[2]
	one := told{id: given.ID, queued: 1, first: 1 + last.First, ended: 7, more: answered + `,"retries":2,"attempt":3`}.line()
	three := []string{
		told{id: "a", queued: 1, ended: 1.01, more: `,"outcome":"failed","status":429`}.line(),
		told{id: "b", queued: 1 + given.Tries[1].T, ended: 3.01, more: `,"outcome":"failed","status":429,"retry_of":"a"`}.line(),
		told{id: "c", queued: 1 + last.T, first: 1 + last.First, ended: 7, more: answered + `,"retry_of":"b"`}.line(),
	}
	for name, lines := range map[string][]string{"one": {one}, "three": three} {
		w := chatOf(t, judged(t, policyOf(0.5, bound(model.MetricTTFT, 2)), time.Minute, time.Second, nil, asEvents(t, lines...)))
		is(t, name+": TTFT", w.TTFT.P50.Value, 5.4, 1e-9)
		if w.TTFT.N != 1 {
			t.Errorf("%s: n %v", name, w.TTFT.N)
		}
		is(t, name+": users", w.Goodput.UserShare.Hi, 0, 0)
		is(t, name+": retries", w.Requests.Retries, 2, 0)
	}
}

func TestOC24GeneratorBehind(t *testing.T) {
	var given []struct {
		ID        int     `json:"id"`
		Scheduled float64 `json:"scheduled_s"`
		Sent      float64 `json:"sent_s"`
		Done      float64 `json:"done_s"`
	}
	caseJSON(t, "omission.json", &given)
	var planned, unplanned []string
	for _, r := range given {
		q := told{id: fmt.Sprint(r.ID), scheduled: 1 + r.Scheduled, queued: 1 + r.Sent, ended: 1 + r.Done, more: answered}
		planned = append(planned, q.line())
		q.scheduled = 0
		unplanned = append(unplanned, q.line())
	}
	f := judged(t, policyOf(0.9, bound(model.MetricE2E, 0.5)), time.Minute, time.Second, nil, asEvents(t, planned...))
	w := chatOf(t, f)
	is(t, "offered", w.Load.OfferedPerSecond, 10, 1e-9)
	is(t, "sent", w.Load.SentPerSecond, 5, 1e-9)
	is(t, "behind", w.Load.BehindS, 0.9, 1e-9)
	is(t, "service p50", w.E2E.P50.Value, 0.2, 1e-9)
	is(t, "service p99", w.E2E.P99.Value, 0.2, 1e-9)
	is(t, "response p50", w.Response.P50.Value, 0.6, 1e-9)
	is(t, "response, the longest", w.Response.P99.Value, 1.1, 1e-9)
	is(t, "share within the objective", w.Objectives[0].Share.Lo, 0.4, 1e-12)
	says(t, "the text", asText(f), "generator behind by 900 ms")
	saysNot(t, "the text", asText(f), "client delay not included")

	f = judged(t, policyOf(0.9, bound(model.MetricE2E, 0.5)), time.Minute, time.Second, nil, asEvents(t, unplanned...))
	if w = chatOf(t, f); w.Load != nil || w.Response != nil {
		t.Errorf("a schedule out of nothing: %+v", w.Load)
	}
	says(t, "the text", asText(f), "client delay not included")
}

func TestOC33UnknownUsage(t *testing.T) {
	var given []struct {
		ID     int
		Tokens *float64 `json:"completion_tokens"`
		Cut    bool     `json:"cancelled"`
		Seen   int      `json:"events_seen"`
		Events []struct {
			Output float64 `json:"output_tokens"`
		}
	}
	caseJSON(t, "usage.json", &given)
	var lines []string
	for _, r := range given {
		q := told{id: fmt.Sprint(r.ID), queued: 1, first: 1.5, ended: 10, more: answered}
		if r.Cut {
			q.more = fmt.Sprintf(`,"outcome":"cancelled","reason":"client_disconnect","output_chunks":%d`, r.Seen)
		}
		if r.Tokens != nil {
			q.more += fmt.Sprintf(`,"output_tokens":%g`, *r.Tokens)
		}
		for i, e := range r.Events { // the whole state each time: counts do not add up
			p := q
			p.more = fmt.Sprintf(`,"output_tokens":%g`, e.Output)
			if i < len(r.Events)-1 {
				lines = append(lines, strings.Replace(p.line(), `"phase":"done"`, `"phase":"streaming"`, 1))
				continue
			}
			q.more += p.more
		}
		lines = append(lines, q.line())
	}
	f := judged(t, policyOf(0.5, bound(model.MetricTTFT, 2)), time.Minute, time.Second, nil, asEvents(t, lines...))
	w := chatOf(t, f)
	if k := w.Tokens.Output; k == nil || *k != (model.Known{Sum: 915, N: 3, Unknown: 2}) {
		t.Errorf("output tokens %+v", k)
	}
	says(t, "the text", asText(f), "at least 915 output tokens (2 of 5 unknown")
	saysNot(t, "the text", asText(f), "916")
}
