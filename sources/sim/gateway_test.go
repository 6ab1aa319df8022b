package sim

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// reports runs a service for a while, cut up by the given steps, and returns all
// that its gateway says.
func reports(t *testing.T, o Options, until time.Duration, cut func() time.Duration) []model.Request {
	t.Helper()
	s := service(t, o)
	g := s.Gateway()
	var all []model.Request
	for s.Now() < until {
		s.Advance(min(until, s.Now()+cut()))
		var lost int
		if all, lost = g.Reports(s.options.Start, all); lost > 0 {
			t.Fatalf("%d lost", lost)
		}
	}
	return all
}

func eachSecond() time.Duration { return time.Second }

// trouble is a service in which requests end in every way there is.
func trouble() Options {
	return Options{
		Seed: 7, Scenario: "S1", At: 10 * time.Second,
		Workflows: []Workflow{
			{Name: "chat", Rate: 12, Prompt: Lengths{7.2, 0.6}, Output: Lengths{4, 0.8}, MaxOutput: 64, Hit: 0.7, Retries: 2, RetryAfter: 2 * time.Second},
			{Name: "batch", Clients: 4, Prompt: Lengths{6, 0.2}, Output: Lengths{4, 0.2}},
			{Name: "huge", Rate: 0.2, Prompt: Lengths{Mu: 11}, Output: Lengths{Mu: 4}},
		},
		Limits:   Limits{TokenBudget: 512, Sequences: 16, Blocks: 3000, BlockSize: 16, Context: 65536},
		Restarts: []Restart{{Replica: 0, At: 30 * time.Second, Down: 10 * time.Second}, {Replica: 1, At: 32 * time.Second, Down: 5 * time.Second}},
	}
}

func TestReportsAreTheSameForEveryCutOfTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, o := range []Options{{Seed: 7}, trouble(), {Seed: 8, Scenario: "S6", At: 5 * time.Second}} {
		want := reports(t, o, 45*time.Second, eachSecond)
		for name, cut := range map[string]func() time.Duration{
			"13.7 ms": func() time.Duration { return 13700 * time.Microsecond },
			"random":  func() time.Duration { return time.Duration(1 + random.IntN(1e10)) },
			"at once": func() time.Duration { return time.Hour },
		} {
			if got := reports(t, o, 45*time.Second, cut); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, cut into %s: %d and %d reports", o, name, len(got), len(want))
			}
		}
	}
}

// Each report is the whole state at one change of the phase, in the order in which
// they happened, and the last says how it ended.
func TestReportsTellEachRequest(t *testing.T) {
	o := trouble()
	all := reports(t, o, 90*time.Second, eachSecond)
	s := service(t, o)
	s.Advance(90 * time.Second)
	events, _ := s.Events(0, nil)
	truth := map[string]Event{}
	for _, e := range events {
		truth[id(e.ID)] = e
	}
	byID := map[string][]model.Request{}
	for i, r := range all {
		if r.Seq != uint64(i+1) || i > 0 && r.At < all[i-1].At {
			t.Fatalf("report %d comes out of order: %+v", i, r)
		}
		byID[r.ID] = append(byID[r.ID], r)
	}
	ends := map[string]int{}
	for name, rs := range byID {
		last := rs[len(rs)-1]
		for i := 1; i < len(rs); i++ {
			if slices.Index(phases, rs[i].Phase) <= slices.Index(phases, rs[i-1].Phase) {
				t.Fatalf("%s: %s after %s", name, rs[i].Phase, rs[i-1].Phase)
			}
		}
		e, ended := truth[name]
		if ended != last.Done() || rs[0].Phase != model.PhaseQueued {
			t.Fatalf("%s ended: %v, reported as %s", name, ended, last.Phase)
		}
		if ended {
			checkEnd(t, s, &last, &e)
			ends[fmt.Sprint(last.Outcome, " ", last.Reason, " ", last.Status)]++
		}
	}
	for _, way := range []string{"completed  200", "output_limit  200", "cancelled client_disconnect 499", "failed upstream_5xx 503", "failed rejected 413"} {
		if ends[way] == 0 {
			t.Errorf("no request ended as %q: %v", way, ends)
		}
	}
	if len(truth) != len(events) || len(ends) != 5 {
		t.Errorf("%d events of %d requests, %v", len(events), len(truth), ends)
	}
}

func checkEnd(t *testing.T, s *Sim, r *model.Request, e *Event) {
	t.Helper()
	stamp := func(at time.Duration) model.Stamp {
		if at == 0 {
			return 0
		}
		return model.StampOf(s.options.Start.Add(at))
	}
	retryOf, instance := "", ""
	if e.RetryOf > 0 {
		retryOf = id(e.RetryOf)
	}
	if e.Replica >= 0 {
		instance = s.replicas[e.Replica].Name()
	}
	switch {
	case r.At != stamp(e.Finish), r.Completed != r.At, r.Admitted != stamp(e.Scheduled), r.FirstToken != stamp(e.FirstToken),
		r.Queued != model.StampOf(s.options.Start.Add(e.Arrival)):
		t.Fatalf("times of %+v\n%+v", r, e)
	case r.Workflow != e.Workflow, r.Model != e.Workflow, r.Instance != instance, r.RetryOf != retryOf, r.Attempt != e.Attempt, r.Retries != e.Attempt-1:
		t.Fatalf("names of %+v\n%+v", r, e)
	case r.InputTokens.Value != float64(e.PromptTokens), r.OutputTokens != model.Of(float64(e.OutputTokens)), r.CachedTokens.OK() != (e.Scheduled > 0):
		t.Fatalf("tokens of %+v\n%+v", r, e)
	}
	if tpot, ok := e.TPOT(); ok && e.Outcome != Aborted {
		v, _ := model.Between(r.FirstToken, r.Completed).Get()
		near(t, "TPOT", v/(r.OutputTokens.Value-1), tpot.Seconds(), 1e-6)
	}
}

// A retry names the attempt before it, which had failed.
func TestReportsOfRetries(t *testing.T) {
	done := map[string]model.Request{}
	retries := 0
	for _, r := range reports(t, trouble(), 90*time.Second, eachSecond) {
		if r.Done() {
			done[r.ID] = r
		}
		if r.RetryOf == "" {
			continue
		}
		retries++
		if before, ok := done[r.RetryOf]; !ok || before.Outcome == model.Completed || before.Attempt != r.Attempt-1 {
			t.Fatalf("%s is a retry of %+v", r.ID, before)
		}
	}
	if retries == 0 {
		t.Error("nobody tried again")
	}
}

// Asking changes nothing, and a gateway tells what happens from when it is there.
func TestAGatewayThatComesLate(t *testing.T) {
	s := service(t, Options{Seed: 7})
	s.Advance(30 * time.Second)
	g := s.Gateway()
	before := s.InFlight(nil)
	s.Advance(60 * time.Second)
	got, lost := g.Reports(s.options.Start, nil)
	late := service(t, Options{Seed: 7})
	late.Advance(60 * time.Second)
	want, err := late.replicas[0].Page(nil)
	page, otherErr := s.replicas[0].Page(nil)
	if lost > 0 || err != nil || otherErr != nil || !bytes.Equal(page, want) {
		t.Errorf("%d lost; the pages are equal: %v", lost, bytes.Equal(page, want))
	}
	began := model.StampOf(s.options.Start.Add(30 * time.Second))
	old := 0
	for _, r := range got {
		if r.At <= began {
			t.Fatalf("it tells of before it came: %+v", r)
		}
		if r.Queued <= began && r.Done() {
			old++
		}
	}
	if old == 0 || len(before) == 0 {
		t.Errorf("%d requests were under way and %d of them ended", len(before), old)
	}
}

func TestReportsNobodyAskedForInTime(t *testing.T) {
	s := service(t, Options{Seed: 7, Workflows: []Workflow{{Name: "w", Rate: 200, Prompt: Lengths{Mu: 3}, Output: Lengths{Mu: 1}}}})
	g := s.Gateway()
	s.Advance(90 * time.Second)
	got, lost := g.Reports(s.options.Start, nil)
	ends := 0
	for _, r := range got {
		if r.Done() {
			ends++
		}
	}
	events, _ := s.Events(0, nil)
	if ends != keptEvents || lost != int(events[len(events)-1].Seq)-keptEvents || lost == 0 {
		t.Errorf("%d ends, %d lost", ends, lost)
	}
	if again, lost := g.Reports(s.options.Start, nil); len(again) > 0 || lost > 0 {
		t.Errorf("%d reports and %d lost of no time", len(again), lost)
	}
}

func TestWriteEvents(t *testing.T) {
	var a, b bytes.Buffer
	if err := errors.Join(WriteEvents(&a, trouble(), 20*time.Second), WriteEvents(&b, trouble(), 20*time.Second)); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(a.String(), "\n")
	if want := `{"v":1,"seq":1,"at":"2026-06-01T09:00:00Z","id":"sim-1","phase":"queued","workflow":"batch","model":"batch","stream":true,"queued_at":"2026-06-01T09:00:00Z","input_tokens":`; !strings.HasPrefix(first, want) {
		t.Errorf("got %s", first)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) || bytes.Count(a.Bytes(), []byte("\n")) != len(reports(t, trouble(), 20*time.Second, eachSecond)) {
		t.Error("two runs wrote different events")
	}
	if err := WriteEvents(&a, Options{Scenario: "S99"}, time.Second); err == nil {
		t.Error("a scenario that there is not")
	}
	if err := WriteEvents(full{}, trouble(), 20*time.Second); err == nil || !strings.Contains(err.Error(), "write events: no room") {
		t.Errorf("got %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// BenchmarkGateway is BenchmarkOverload with the reports of each second.
func BenchmarkGateway(b *testing.B) {
	s := service(b, Options{Seed: 1, Scenario: "S1"})
	s.Advance(660 * time.Second)
	g := s.Gateway()
	var out []model.Request
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		s.Advance(s.Now() + time.Second)
		out, _ = g.Reports(s.options.Start, out[:0])
		n += len(out)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "×realtime")
	b.ReportMetric(float64(n)/float64(b.N), "reports/s")
}
