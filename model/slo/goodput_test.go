package slo

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/hist"
	"slotop/sources/sourcetest/shared"
)

// part is what a span knows of one metric.
type part struct {
	metric model.Metric
	term   Term
}

func met(m model.Metric, n, lo, hi float64) part { return part{m, Term{N: n, Lo: lo, Hi: hi}} }

// spanOf is a minute of finished requests and of the metrics that are exported.
func spanOf(finished float64, parts ...part) Span {
	s := Span{Counts: Counts{Finished: finished}, Ends: true, ElapsedS: 60}
	for _, p := range parts {
		*s.Term(p.metric) = p.term
		s.Exported[index(p.metric)] = true
	}
	return s
}

func promise(share float64, o ...model.Objective) *model.WorkflowSpec {
	return &model.WorkflowSpec{Name: "chat", Share: share, Objectives: o}
}

const unset = -1.0

func wantShare(t *testing.T, what string, s model.Share, lo, hi, point float64) {
	t.Helper()
	for _, c := range []struct {
		end  string
		got  model.Reading
		want float64
	}{{"lo", s.Lo, lo}, {"hi", s.Hi, hi}, {"point", s.Point, point}} {
		if c.want == unset && c.got.OK() || c.want != unset && !(c.got.OK() && math.Abs(c.got.Value-c.want) < 1e-9) {
			t.Errorf("%s: %s %+v, want %v", what, c.end, c.got, c.want)
		}
	}
}

func TestJointShare(t *testing.T) {
	const n = 1000
	for _, tt := range []struct {
		name          string
		spec          *model.WorkflowSpec
		parts         []part
		lo, hi, point float64
	}{
		{"two", promise(.9, ttft(.5), tpot(.05)),
			[]part{met(model.MetricTTFT, n, 950, 950), met(model.MetricTPOT, n, 970, 970)}, .92, .95, .9215},
		{"far apart", promise(.9, ttft(.5), tpot(.05)),
			[]part{met(model.MetricTTFT, n, 900, 900), met(model.MetricTPOT, n, 600, 600)}, .5, .6, .54},
		{"three", promise(.9, ttft(.5), tpot(.05), e2e(2)),
			[]part{met(model.MetricTTFT, n, 950, 950), met(model.MetricTPOT, n, 970, 970), met(model.MetricE2E, n, 990, 990)}, .91, .95, .95 * .97 * .99},
		{"two intervals", promise(.9, ttft(.5), tpot(.05)),
			[]part{met(model.MetricTTFT, n, 800, 890), met(model.MetricTPOT, n, 700, 990)}, .5, .89, unset},
		{"one", promise(.9, e2e(2)), []part{met(model.MetricE2E, n, 950, 950)}, .95, .95, .95},
		{"none can meet both", promise(.9, ttft(.5), tpot(.05)),
			[]part{met(model.MetricTTFT, n, 400, 400), met(model.MetricTPOT, n, 500, 500)}, 0, .4, .2},
		{"nothing promised", promise(.9), nil, 1, 1, 1},
	} {
		v := Goodput(tt.spec, spanOf(n, tt.parts...))
		wantShare(t, tt.name, v.Share, tt.lo, tt.hi, tt.point)
		if v.Basis != model.ByHistograms || v.N != n || v.Of.Judged != n || v.Of.Finished.Value != n || v.Target != model.Of(.9) {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
}

// oc08 is the reported page: TTFT 600, 900, 980 and 1000 at 0.1, 0.25, 0.5 s and
// beyond, TPOT 700, 950 and 1000 at 25, 50 and 100 ms, in 50 s.
func oc08(t *testing.T, limit float64) (*model.WorkflowSpec, Span) {
	t.Helper()
	h, err := hist.Of(&model.Buckets{Bounds: []float64{.1, .25, .5}, Counts: []float64{600, 900, 980, 1000}})
	if err != nil {
		t.Fatal(err)
	}
	share := h.ShareAtMost(limit)
	first := Term{N: 1000, Lo: 1000 * share.Lo.Value, Hi: 1000 * share.Hi.Value, Point: model.Of(1000 * share.Point.Value)}
	s := spanOf(0, part{model.MetricTTFT, first}, met(model.MetricTPOT, 1000, 950, 950))
	s.Ends, s.ElapsedS = false, 50 // the page has no finish counts, but TPOT is measured at the finish
	return promise(.95, ttft(limit), tpot(.05)), s
}

func TestOC08GoodputFromHistograms(t *testing.T) {
	spec, s := oc08(t, .2)
	v := Goodput(spec, s)
	wantShare(t, "both", v.Share, .55, .90, unset)
	near(t, "slowest rate", v.PerSecond.Lo.Value, 11, 1e-9)
	near(t, "fastest rate", v.PerSecond.Hi.Value, 18, 1e-9)
	if v.Verdict != model.Missed {
		t.Errorf("at most 90 %% of 95 %%: %s", v.Verdict)
	}
	o := Objectives(spec, s)
	wantShare(t, "TTFT", o[0].Share, .60, .90, .6+.3*math.Log(.2/.1)/math.Log(.25/.1))
	wantShare(t, "TPOT", o[1].Share, .95, .95, .95)

	spec, s = oc08(t, .25)
	v = Goodput(spec, s)
	wantShare(t, "both at a bucket edge", v.Share, .85, .90, .9*.95)
	wantShare(t, "TTFT at a bucket edge", Objectives(spec, s)[0].Share, .90, .90, .90)
}

// few is a window of requests and the bad ones among them.
type fewCase struct {
	WindowS  float64 `json:"window_s"`
	Requests float64 `json:"requests"`
	Bad      float64 `json:"bad"`
}

func few(t *testing.T, name string) (fewCase, Span) {
	t.Helper()
	var c fewCase
	if err := json.Unmarshal(shared.File(t, "cases/files/"+name), &c); err != nil {
		t.Fatal(err)
	}
	counts := Counts{Finished: c.Requests, Good: c.Requests - c.Bad, Bad: c.Bad}
	return c, Span{Counts: counts, Exact: true, Ends: true, ElapsedS: c.WindowS}
}

func TestOC16FewRequests(t *testing.T) {
	spec := promise(.99, ttft(.5))
	a, s := few(t, "few-a.json")
	v := Goodput(spec, s)
	if v.Verdict != model.Undecided || v.Why != "1 of 2 bad, too few to judge" {
		t.Errorf("a: %s, %q", v.Verdict, v.Why)
	}
	surely, _ := BadOf(spec, s)
	expected := a.Requests * 1800 / a.WindowS
	for _, tier := range Tiers {
		if fires, why := tier.Fires(spec.Share, surely, surely); tier.Applies(expected) && fires {
			t.Errorf("a: the %s tier fires: %s", tier.Name, why)
		}
	}

	b, s := few(t, "few-b.json")
	surely, _ = BadOf(spec, s)
	near(t, "burn", Burn(surely.Share(), spec.Share), 90, 1e-9)
	fired := ""
	for _, tier := range Tiers {
		// Seen evenly over the six hours, the shorter windows hold few.
		in := func(w time.Duration) Bad {
			part := w.Seconds() / b.WindowS
			return Bad{math.Floor(b.Requests * part), math.Floor(b.Bad * part)}
		}
		if fires, _ := tier.Fires(spec.Share, in(tier.Long), in(tier.Short)); fires && tier.Applies(b.Requests*1800/b.WindowS) {
			fired += tier.Name + " " + string(tier.Severity) + " "
		}
	}
	if fired != "sparse page " {
		t.Errorf("b: fires %q, want the sparse tier to page", fired)
	}
}

func TestOC19NoFinishCounts(t *testing.T) {
	s := spanOf(0, met(model.MetricTTFT, 412, 391, 391))
	s.Ends = false
	v := Goodput(Assumed(), s)
	if v.Verdict != model.CannotCompute || v.Why != "no finish counts" || v.Share != (model.Share{}) || v.PerSecond != (model.Range{}) || v.Of.Finished.OK() {
		t.Errorf("%+v", v)
	}
	b, err := json.Marshal(v)
	if err != nil || !strings.Contains(string(b), `"share":null`) {
		t.Errorf("%s, %v", b, err)
	}
	o := Objectives(Assumed(), s)
	if o[0].Verdict != model.Missed || o[1].Verdict != model.CannotCompute || o[1].Share != (model.Share{}) {
		t.Errorf("%+v", o)
	}
}

// More first tokens than ends, and cancellations counted nowhere: OC-23. The
// figure says of which requests it is.
func TestOC23DenominatorIsNamed(t *testing.T) {
	s := spanOf(3500, met(model.MetricTTFT, 7200, 7200, 7200), met(model.MetricTPOT, 3500, 3500, 3500))
	s.InFlight, s.Unaccounted = 4, model.Of(3696)
	v := Goodput(promise(.95, ttft(.5), tpot(.05)), s)
	if v.Of.Finished != model.Of(3500) || v.Of.Judged != 3500 || v.Of.Unaccounted.Value != 3696 {
		t.Errorf("%+v", v.Of)
	}
	wantShare(t, "of the finished", v.Share, 1, 1, 1)
}

func TestVerdicts(t *testing.T) {
	spec := promise(.95, tpot(.05))
	exact := func(good, bad float64) Span {
		return Span{Counts: Counts{Finished: good + bad, Good: good, Bad: bad}, Exact: true, ElapsedS: 60}
	}
	hist := func(n, lo, hi float64) Span { return spanOf(n, met(model.MetricTPOT, n, lo, hi)) }
	for _, tt := range []struct {
		name   string
		s      Span
		want   model.Verdict
		why    model.Text
		sample bool
	}{
		{"met", exact(960, 40), model.Met, "", false},
		{"on target", exact(950, 50), model.Met, "", false},
		{"just missed", exact(949, 51), model.Missed, "", false},
		{"twenty of twenty", exact(20, 0), model.Met, "", false},
		{"eighteen of nineteen", exact(18, 1), model.Undecided, "1 of 19 bad, too few to judge", true},
		{"none of nineteen", exact(0, 19), model.Undecided, "19 of 19 bad, too few to judge", true},
		{"eighteen of twenty", exact(18, 2), model.Undecided, "2 of 20 bad, too few to judge", true},
		{"nine of twenty", exact(9, 11), model.Missed, "", true},
		{"nothing", exact(0, 0), model.NoData, "", false},
		{"met whatever the bucket hides", hist(1000, 950, 990), model.Met, "", false},
		{"on target, by counts that were worked out", hist(1000, 950-1e-10, 950-1e-10), model.Met, "", false},
		{"missed whatever it hides", hist(1000, 500, 940), model.Missed, "", false},
		{"on both sides", hist(1000, 900, 990), model.Undecided, "the bounds of the share lie on both sides of what was promised", false},
		{"few, and not known how many", hist(7, 2, 4), model.Undecided, "3 to 5 of 7 bad, too few to judge", true},
		{"no request", hist(0, 0, 0), model.NoData, "", false},
	} {
		v := Goodput(spec, tt.s)
		if v.Verdict != tt.want || v.Why != tt.why || v.Sample.Lo.OK() != tt.sample {
			t.Errorf("%s: %s, %q, sample %+v", tt.name, v.Verdict, v.Why, v.Sample)
		}
		if tt.s.Exact {
			continue
		}
		if o := Objectives(spec, tt.s)[0]; o.Verdict != tt.want || o.N != tt.s.Finished || o.Target != .95 {
			t.Errorf("%s: as an objective %+v", tt.name, o)
		}
	}
	v := Goodput(spec, exact(18, 2))
	near(t, "sample lo", v.Sample.Lo.Value, .6990, 6e-5)
	near(t, "sample hi", v.Sample.Hi.Value, .9721, 6e-5)
	if v := Goodput(spec, exact(0, 0)); v.Share.Lo.State != model.NoTraffic {
		t.Errorf("no traffic is %+v", v.Share)
	}
}

func TestNotExported(t *testing.T) {
	spec := promise(.95, ttft(.5), tpot(.05), model.Objective{Metric: model.MetricFirstAnswer, MaxS: 2})
	v := Goodput(spec, spanOf(1000, met(model.MetricTTFT, 1000, 990, 990)))
	if v.Verdict != model.CannotCompute || v.Why != "TPOT and first answer are not exported" || v.Share != (model.Share{}) {
		t.Errorf("%+v", v)
	}
	// Nothing that is not exported could make up for this.
	v = Goodput(spec, spanOf(1000, met(model.MetricTTFT, 1000, 900, 900)))
	wantShare(t, "missed anyhow", v.Share, unset, .9, unset)
	if v.Verdict != model.Missed || v.PerSecond.Lo.OK() || v.PerSecond.Hi.Value != 15 {
		t.Errorf("%+v", v)
	}
	if v := Goodput(spec, spanOf(0, met(model.MetricTTFT, 0, 0, 0))); v.Verdict != model.CannotCompute {
		t.Errorf("no request, and not exported: %s", v.Verdict)
	}
}

func TestEndsThatAreNoAnswers(t *testing.T) {
	spec := promise(.95, ttft(.5), tpot(.05))
	s := spanOf(80, met(model.MetricTTFT, 80, 76, 76), met(model.MetricTPOT, 80, 80, 80), met(model.MetricE2E, 80, 80, 80))

	s.Failed = 20
	v := Goodput(spec, s)
	wantShare(t, "failed are bad", v.Share, .76, .76, .76)
	if v.N != 100 || v.Of.Failed != 20 || !same(v.Of.Excluded, model.Of(0)) {
		t.Errorf("failed: %+v", v)
	}

	s.Failed, s.Cancelled = 0, 20
	v = Goodput(spec, s)
	wantShare(t, "cancelled may be anything", v.Share, .76, .96, .95)
	near(t, "good or seen as good until they left", v.PerSecond.Hi.Value, 96./60, 1e-9)
	if v.N != 80 || v.Of.Cancelled.Value != 20 || v.Of.Excluded.OK() {
		t.Errorf("cancelled: %+v", v)
	}
	// Only 78 first tokens came in time at all, whoever's they were.
	s.Began = &Term{N: 90, Lo: 78, Hi: 78}
	v = Goodput(spec, s)
	wantShare(t, "first tokens in time bound them", v.Share, .68, .975, .95)

	s.Began = &Term{N: 100, Lo: 78, Hi: 85}
	near(t, "80 finished, 5 more began in time", Goodput(spec, s).PerSecond.Hi.Value*60, 85, 1e-9)

	job := promise(.95, e2e(120))
	s = spanOf(80, met(model.MetricE2E, 80, 76, 76))
	s.Cancelled = 20
	wantShare(t, "whoever left a job was not served", Goodput(job, s).Share, .76, .95, .95)

	all := spanOf(0, met(model.MetricTTFT, 40, 0, 0), met(model.MetricTPOT, 0, 0, 0))
	all.Cancelled = 50
	if v := Goodput(spec, all); v.Verdict != model.Undecided || v.Why != "all of 50 were cancelled, and why is not counted" {
		t.Errorf("all cancelled: %s, %q", v.Verdict, v.Why)
	}
}

// How many of the cancelled had a first token follows from the flow: 100 began to
// stream, 80 finished, and 10 more run than before.
func TestCancelledInFlow(t *testing.T) {
	spec := promise(.95, ttft(.5))
	s := spanOf(80, met(model.MetricTTFT, 100, 100, 100))
	s.Cancelled, s.Grown, s.Flows = 60, 10, true
	v := Goodput(spec, s)
	near(t, "good", v.PerSecond.Hi.Value*60, 80+10+minPrefilling, 1e-9)
	s.InFlight = 200
	v = Goodput(spec, s)
	near(t, "of many running more may be before it", v.PerSecond.Hi.Value*60, 80+10+20, 1e-9)
	s.Preempted = 7
	v = Goodput(spec, s)
	near(t, "preempted stream on unseen", v.PerSecond.Hi.Value*60, 80+10+20+7, 1e-9)
	s.Flows = false
	v = Goodput(spec, s)
	near(t, "not known", v.PerSecond.Hi.Value*60, 80+60, 1e-9)
}

func TestAnswersOfOneToken(t *testing.T) {
	s := spanOf(100, met(model.MetricTPOT, 60, 57, 57), met(model.MetricE2E, 100, 100, 100))
	spec := promise(.95, tpot(.05))
	wantShare(t, "nothing against them", Goodput(spec, s).Share, .97, .97, .97)
	spec.OneTokenBad = true
	wantShare(t, "declared bad", Goodput(spec, s).Share, .57, .57, .57)
	none := spanOf(100, met(model.MetricTPOT, 0, 0, 0), met(model.MetricE2E, 100, 100, 100))
	wantShare(t, "only such", Goodput(spec, none).Share, 0, 0, 0)
	spec.OneTokenBad = false
	wantShare(t, "only such, and fine", Goodput(spec, none).Share, 1, 1, 1)
}

// A rolling upgrade: the older servers measure no TPOT. That an answer has none
// then says nothing, unless it is of one token.
func TestSomeServersMeasureNoTPOT(t *testing.T) {
	s := spanOf(100, met(model.MetricTPOT, 60, 57, 57), met(model.MetricE2E, 100, 100, 100))
	s.Lengths = &hist.Hist{Bounds: []float64{1, 10}, Cum: []float64{10, 60, 100}, Sum: model.Of(5000)}
	spec := promise(.95, tpot(.05))
	wantShare(t, "thirty may be anything", Goodput(spec, s).Share, .67, .97, .97)
	spec.OneTokenBad = true
	wantShare(t, "ten are bad", Goodput(spec, s).Share, .57, .87, .57)
}

// Ends that are measured and counted nowhere are ends all the same.
func TestEndsOnlyMeasured(t *testing.T) {
	spec := promise(.95, e2e(2))
	s := spanOf(0, met(model.MetricE2E, 100, 90, 90))
	for _, s.Ends = range []bool{true, false} {
		if v := Goodput(spec, s); v.N != 100 || v.Verdict != model.Missed {
			t.Errorf("ends counted %v: %+v", s.Ends, v)
		}
		if surely, _ := BadOf(spec, s); surely != (Bad{100, 10}) {
			t.Errorf("ends counted %v: %+v", s.Ends, surely)
		}
	}
	s.Ends, s.Cancelled = true, 100 // what was cancelled is measured, too
	if v := Goodput(spec, s); v.N != 0 || v.Verdict != model.Undecided {
		t.Errorf("all cancelled: %+v", v)
	}
}

func TestTruncated(t *testing.T) {
	s := spanOf(100, met(model.MetricE2E, 100, 90, 90))
	s.Truncated = 30
	spec := promise(.95, e2e(2))
	wantShare(t, "cut is fine", Goodput(spec, s).Share, .9, .9, .9)
	spec.TruncatedBad = true
	wantShare(t, "cut is bad", Goodput(spec, s).Share, .6, .7, .63)
}

func TestMeasuresThatDoNotMatchTheFinished(t *testing.T) {
	spec := promise(.95, e2e(2), model.Objective{Metric: model.MetricQueue, MaxS: 1})
	s := spanOf(100, met(model.MetricE2E, 100, 100, 100), met(model.MetricQueue, 60, 50, 50))
	wantShare(t, "those not measured may be anything", Goodput(spec, s).Share, .5, .9, 50./60)
	s = spanOf(100, met(model.MetricE2E, 130, 90, 90))
	wantShare(t, "others were measured too", Goodput(promise(.95, e2e(2)), s).Share, .6, .9, 90./130)
}

func TestFirstTokensOfOtherRequests(t *testing.T) {
	spec := promise(.95, ttft(.5))
	// 100 finished; of the 150 first tokens since the longest of them began 30
	// were late, and at least 5 of those belong to what still runs or finished.
	s := spanOf(100, met(model.MetricTTFT, 80, 55, 55))
	s.Began, s.InFlight = &Term{N: 150, Lo: 120, Hi: 120}, 20
	wantShare(t, "cohorts apart", Goodput(spec, s).Share, .70, .95, .70) // the guess, 55 of 80, is below what is possible
	s.Began = nil
	wantShare(t, "taken for the same, and no more late than was seen", Goodput(spec, s).Share, 55./80, .75, 55./80)
	s = spanOf(100, met(model.MetricTTFT, 0, 0, 0))
	wantShare(t, "no first token at all", Goodput(spec, s).Share, 0, 1, .5)
	s.Began = &Term{N: 40, Lo: 40, Hi: 40}
	wantShare(t, "some finished without one that was seen", Goodput(spec, s).Share, 1, 1, 1)
}

func TestExactGoodput(t *testing.T) {
	spec := promise(.95, ttft(.5))
	s := Span{Counts: Counts{Finished: 80, Failed: 10, Cancelled: 20, Good: 76, Bad: 16, Excluded: 18,
		GoodOutput: 6000, Output: 9000, UserGood: 70, UserBad: 5}, Exact: true, ElapsedS: 50}
	v := Goodput(spec, s)
	wantShare(t, "share", v.Share, 76./92, 76./92, 76./92)
	wantShare(t, "users", v.UserShare, 70./75, 70./75, 70./75)
	if v.Basis != model.ByRequests || v.N != 92 || v.Of != (model.Denominator{Judged: 92, Finished: model.Of(80), Failed: 10, Cancelled: model.Of(20), Excluded: model.Of(18), Unmeasured: model.Of(0)}) {
		t.Errorf("%+v", v)
	}
	if v.PerSecond != (model.Range{Lo: model.Of(76. / 50), Hi: model.Of(76. / 50)}) || v.OutputPerSecond.Hi != model.Of(120) {
		t.Errorf("rates %+v, %+v", v.PerSecond, v.OutputPerSecond)
	}

	s.Good, s.Bad = 70, 16 // of six answers something was not measured
	v = Goodput(spec, s)
	wantShare(t, "not all could be judged", v.Share, 70./92, 76./92, 70./86)
	if v.N != 86 || v.OutputPerSecond.Hi != model.Of(180) {
		t.Errorf("%+v", v)
	}
	s = Span{Counts: Counts{Finished: 40}, Exact: true}
	if v := Goodput(spec, s); v.Verdict != model.CannotCompute || v.Share != (model.Share{}) || v.Why != "what was promised was not measured of any request" {
		t.Errorf("%+v", v)
	}
}

func TestCountsAsRow(t *testing.T) {
	var c, sum Counts
	for i, p := range c.fields() {
		*p = float64(i + 1)
	}
	for i := range c.Terms { // no more are within a bound than were measured
		c.Terms[i].N, c.Terms[i].Hi = c.Terms[i].Hi, c.Terms[i].N+0.5
		c.Terms[i].Lo = c.Terms[i].Hi - 1
	}
	row := make([]float64, Width)
	c.Row(row)
	if back := FromRow(row); back != c || row[Width-1] != Width {
		t.Errorf("%+v read back as %+v", c, back)
	}
	sum.Add(&c)
	sum.Add(&c)
	if sum.Since(&c) != c || sum.Good != 2*c.Good {
		t.Errorf("twice less once is %+v", sum.Since(&c))
	}
	ahead := c
	ahead.Terms[0].Lo, ahead.Terms[0].Hi = ahead.Terms[0].N+1, ahead.Terms[0].N+2
	if got := ahead.Since(&Counts{}).Terms[0]; got.Lo != got.N || got.Hi != got.N {
		t.Errorf("more within the bound than measured: %+v", got)
	}
}
