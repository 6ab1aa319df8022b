package sources_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

// recaller is the live source.
type recaller interface {
	Recall(ctx context.Context, span time.Duration) (sources.Opened, error)
}

func TestPrometheusRecallsTheLastHour(t *testing.T) {
	w := watchProm(t, aFleet(2), "")
	past, err := w.source.(recaller).Recall(t.Context(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	pace := past.Source.(sources.Paced).Pace()
	if past.Target.Kind != model.PrometheusTarget || past.Target.ID == "" || !past.Saved || pace != time.Minute {
		t.Errorf("opened %+v, every %v", past.Target, pace)
	}
	var first, last float64
	polls := 0
	var end time.Time
	err = sources.Play(t.Context(), []sources.Opened{past}, sources.PlayOptions{Every: pace, For: time.Hour}, func(in model.Input) {
		if in.Batch == nil {
			return
		}
		last = the(t, *in.Batch, model.OutputTokens, model.LabelModel, "m").Value
		if polls++; polls == 1 {
			first = last
		}
		end = in.At.Wall
		if v := the(t, *in.Batch, model.Running, model.LabelModel, "m").Value; v != 21 {
			t.Errorf("%v ran at %v", v, in.At.Wall)
		}
	})
	if err != nil || polls < 55 || math.Abs((last-first)/float64(polls-1)-60*200) > 1e-6 {
		t.Errorf("%v: %d points, %v tokens between them", err, polls, last-first)
	}
	if off := w.fake.now.Sub(end); off < 0 || off > time.Second {
		t.Errorf("the past ends %v before now", off)
	}
	b := w.after(15 * time.Second)
	if v := the(t, b, model.OutputTokens, model.LabelModel, "m").Value; v < last || v > last+20*200 {
		t.Errorf("the present goes on at %v, the past ended at %v", v, last)
	}
	b = w.after(60 * time.Second)
	if v := the(t, b, model.OutputTokens, model.LabelModel, "m").Value; math.Abs(v-last-75*200) > 1e-6 {
		t.Errorf("%v tokens 75 s later, want 15000", v-last)
	}
	if _, err := w.source.(recaller).Recall(t.Context(), time.Hour); err == nil {
		t.Error("the past is told again after the present")
	}
}

func TestOpenPast(t *testing.T) {
	f := aFleet(2)
	set, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	address := "prom+" + f.serve(t).URL
	spec := sources.Spec{Address: address, Name: "prod", Options: sources.Options{Dialects: set}}
	from := f.now.Add(-2 * time.Hour)
	opened, err := sources.OpenPast(t.Context(), spec, from, from.Add(time.Hour), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if pace := opened.Source.(sources.Paced).Pace(); pace != 45*time.Second || opened.Target.Name != "prod" {
		t.Errorf("%+v every %v, want at least three scrapes", opened.Target, pace)
	}
	var dates []time.Time
	var counts []float64
	err = sources.Play(t.Context(), []sources.Opened{opened}, sources.PlayOptions{Every: 45 * time.Second}, func(in model.Input) {
		if in.Batch != nil {
			dates = append(dates, in.At.Wall)
			counts = append(counts, the(t, *in.Batch, model.OutputTokens, model.LabelModel, "m").Value)
		}
	})
	if err != nil || len(dates) != 81 || dates[0].Before(from) || dates[80].After(from.Add(time.Hour)) {
		t.Errorf("%v: %d points from %v", err, len(dates), dates[:min(1, len(dates))])
	}
	for i := 1; i < len(counts); i++ {
		if math.Abs(counts[i]-counts[i-1]-45*200) > 1e-6 {
			t.Fatalf("%v tokens between two points, want 9000", counts[i]-counts[i-1])
		}
	}
}

// The past cannot be had of everything.
func TestNoPast(t *testing.T) {
	set, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	f := aFleet(1)
	empty := newFakeProm()
	empty.replica("node", "a:9100", "up 1")
	for _, c := range []struct {
		address  string
		from, to time.Duration
		says     string
	}{
		{"prom+" + f.serve(t).URL, -time.Hour, -2 * time.Hour, "ends before it begins"},
		{"http://localhost:8000", -time.Hour, 0, "no Prometheus-compatible server"},
		{"prom+" + empty.serve(t).URL, -time.Hour, 0, "no engine was scraped from 2026-11-30T11:00:00Z to 2026-11-30T12:00:00Z"},
		{"prom+" + f.serve(t).URL, -365 * 24 * time.Hour, 0, "are too many"},
	} {
		_, err := sources.OpenPast(t.Context(), sources.Spec{Address: c.address, Options: sources.Options{Dialects: set}}, f.now.Add(c.from), f.now.Add(c.to), 0)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want …%s…", c.address, err, c.says)
		}
	}
}

// A chunk of the past that is too much is asked for in smaller pieces, and one that
// cannot be had at all is a gap and no end.
func TestPastThatIsTooMuch(t *testing.T) {
	f := aFleet(1)
	set, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	opened, err := sources.OpenPast(t.Context(), sources.Spec{Address: "prom+" + f.serve(t).URL, Options: sources.Options{Dialects: set}}, f.now.Add(-time.Hour), f.now, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f.wrong = func(query string) (int, string) {
		if strings.Contains(query, "increase(") {
			if refused++; refused <= 2 {
				return 422, `{"status":"error","errorType":"execution","error":"too many samples"}`
			}
		}
		return 0, ""
	}
	points, faults := 0, 0
	err = sources.Play(t.Context(), []sources.Opened{opened}, sources.PlayOptions{Every: time.Minute}, func(in model.Input) {
		switch {
		case in.Batch == nil:
		case in.Batch.Fault != nil:
			faults++
		default:
			points++
		}
	})
	if err != nil || points != 61 || faults != 0 {
		t.Errorf("%v: %d points and %d faults", err, points, faults)
	}
	opened, err = sources.OpenPast(t.Context(), sources.Spec{Address: "prom+" + f.serve(t).URL, Options: sources.Options{Dialects: set}}, f.now.Add(-time.Hour), f.now, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f.wrong = func(string) (int, string) { return http.StatusForbidden, "" }
	opened.Source.(sources.Dated).Until(f.now)
	for range 10 {
		if _, err = opened.Source.Poll(t.Context()); errors.Is(err, io.EOF) {
			break
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("a past that cannot be had does not end: %v", err)
	}
}
