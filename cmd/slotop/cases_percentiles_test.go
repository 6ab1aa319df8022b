package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/hist"
	"slotop/sources/dialect"
	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

// The cases whose figures are read off buckets: to the digits the case shows.

// buckets are the histograms of a signal on a case's page, one a target.
func buckets(t *testing.T, s model.Signal, files ...string) []hist.Hist {
	t.Helper()
	var all []hist.Hist
	for _, name := range files {
		page, err := expo.NewScanner(expo.Limits{}).Scan(shared.File(t, "cases/files/"+name))
		if err != nil {
			t.Fatal(err)
		}
		set, err := dialect.Builtin()
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range set.Plan(page).Read(page, nil) {
			if sample.Signal != s {
				continue
			}
			h, err := hist.Of(sample.Hist)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
	}
	if len(all) != len(files) {
		t.Fatalf("%d histograms of %s in %v", len(all), s, files)
	}
	return all
}

func TestOC04FarTail(t *testing.T) {
	h := buckets(t, model.E2E, "replica-a.prom", "replica-b.prom")
	both, _ := hist.Merge(h[0], h[1])
	is(t, "fleet p99", both.Quantile(.99).Value, 0.25, 0)
	is(t, "fleet p99.9", both.Quantile(.999).Value, 9.50, 1e-9)
}

func TestOC08ShareAtMost(t *testing.T) {
	ttft, tpot := buckets(t, model.TTFT, "goodput.prom")[0], buckets(t, model.TPOT, "goodput.prom")[0]
	for _, c := range []struct {
		what   string
		share  model.Share
		lo, hi float64
	}{
		{"TTFT 0.2 s", ttft.ShareAtMost(.2), .6, .9},
		{"TTFT 0.25 s", ttft.ShareAtMost(.25), .9, .9},
		{"TPOT 50 ms", tpot.ShareAtMost(.05), .95, .95},
	} {
		is(t, c.what+" at least", c.share.Lo, c.lo, 1e-12)
		is(t, c.what+" at most", c.share.Hi, c.hi, 1e-12)
	}
}

// asTTFT makes a target of a case's file whose histogram no engine exports, under
// the name of one that is.
func asTTFT(t *testing.T, dir, file string) string {
	t.Helper()
	page := string(shared.File(t, "cases/files/"+file))
	page = strings.ReplaceAll(page, "x_latency_seconds", "vllm:time_to_first_token_seconds")
	return asPages(t, dir, strings.ReplaceAll(page, "{", `{model_name="acme/chat-70b",`))
}

func TestOC38Buckets(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, asTTFT(t, "a", "non-monotone.prom")))
	is(t, "repaired p50", w.TTFT.P50.Value, 0.30, 1e-12)
	if w.TTFT.N != 12 || f.Targets[0].Restarts != 0 {
		t.Errorf("n %v, %d restarts", w.TTFT.N, f.Targets[0].Restarts)
	}
	says(t, "the notes", notesOf(f), "repaired")

	f, w = only(t, play(t, 5*time.Second, asTTFT(t, "a", "bounds-a.prom"), asTTFT(t, "b", "bounds-b.prom")))
	if p := w.TTFT.P50; w.TTFT.N != 40 || !p.Open || p.Lo.Value != 0.5 || p.Value.OK() {
		t.Errorf("n %v, p50 %+v", w.TTFT.N, p)
	}
	says(t, "the notes", notesOf(f), "differ in buckets")
	says(t, "the text", asText(f), "> 0.5 s")
}

func TestOC16FewSamples(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, caseFiles(t, "replica-b.prom")...))
	if w.E2E.N != 10 || w.E2E.P99.Enough {
		t.Errorf("%+v", w.E2E)
	}
	says(t, "the text", asText(f), "p99 ~10 s (5–10) (few)  n 10")
}

// TestOC11OneRowANameEach: names full of escapes stay three names.
func TestOC11OneRowANameEach(t *testing.T) {
	f := play(t, 5*time.Second, caseFiles(t, "escape-injection.prom")...)[0]
	var got []float64
	for _, w := range f.Workflows {
		got = append(got, w.Requests.Running.Value)
	}
	if slices.Sort(got); !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("running %v", got)
	}
}

// TestOC32NoValue: NaN is no figure that anybody reads.
func TestOC32NoValue(t *testing.T) {
	f := play(t, 5*time.Second, caseFiles(t, "nan.prom")...)[0]
	if r := f.Targets[0].ReportedOutput; r.OK() {
		t.Errorf("the engine's rate is %+v", r)
	}
	saysNot(t, "the text", asText(f), "engine reports 0")
	saysNot(t, "the text", asText(f), "tok/s")
}
