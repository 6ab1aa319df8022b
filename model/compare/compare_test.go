package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// world is a service whose requests are drawn: log-normal latencies, Poisson arrivals, and
// a mood that all requests of a stretch share.
type world struct {
	rate, median, sigma float64
	mood                float64 // deviation of the logarithm of a stretch's median
	batches             int
	batchS              float64
}

// edges are those of engines.
var edges = []float64{0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// draw is a stage of the world, as the fold would count it.
func (w world) draw(r *rand.Rand, edges []float64) *model.StageView {
	counts := make([][]float64, w.batches)
	n, good := make([]float64, w.batches), make([]float64, w.batches)
	for b := range counts {
		counts[b] = make([]float64, len(edges)+1)
		mu := math.Log(w.median) + w.mood*r.NormFloat64()
		for at := r.ExpFloat64() / w.rate; at < w.batchS; at += r.ExpFloat64() / w.rate {
			v := math.Exp(mu + w.sigma*r.NormFloat64())
			i, _ := slices.BinarySearch(edges, v)
			for k := i; k <= len(edges); k++ {
				counts[b][k]++
			}
			n[b]++
			if v <= 1 {
				good[b]++
			}
		}
	}
	return staged(edges, counts, n, good, w.batchS)
}

// staged is a stage of batches, with one workflow.
func staged(edges []float64, counts [][]float64, n, good []float64, batchS float64) *model.StageView {
	sum := func(of []float64) (s float64) {
		for _, v := range of {
			s += v
		}
		return s
	}
	total := make([]float64, len(edges)+1)
	for _, c := range counts {
		for k, v := range c {
			total[k] += v
		}
	}
	effects := make([]float64, len(edges))
	for k := range edges {
		part := make([]float64, len(counts))
		for b := range counts {
			part[b] = counts[b][k]
		}
		effects[k] = effect(part, n)
	}
	seconds := make([]float64, len(n))
	for i := range seconds {
		seconds[i] = batchS
	}
	all, lasted := sum(n), batchS*float64(len(n))
	share := model.Of(sum(good) / all)
	to := time.Duration(lasted * float64(time.Second))
	return &model.StageView{
		Name: "drawn", From: model.Instant{Wall: time.Unix(0, 0)}, To: model.Instant{Wall: time.Unix(0, 0).Add(to), Mono: to},
		Workflows: []model.StageWorkflow{{
			Name: "chat", Finished: model.Of(all), PerSecond: model.Of(all / lasted),
			TTFT: &model.Dist{N: all, P50: guess(edges, total, 0.5), P95: guess(edges, total, 0.95), P99: guess(edges, total, 0.99)},
			Goodput: &model.GoodputView{
				N: all, Share: model.Share{Lo: share, Hi: share, Point: share}, Of: model.Denominator{Finished: model.Of(all)},
				PerSecond: model.Range{Lo: model.Of(sum(good) / lasted), Hi: model.Of(sum(good) / lasted)},
			},
			Objectives: []model.Objective{{Metric: model.MetricTTFT, MaxS: 1}},
			Sampled: &model.Sampled{
				Batches: len(n), BatchS: batchS, Requests: model.Tally{N: all, Effect: dispersion(n, seconds)},
				Good: model.Tally{N: sum(good), Effect: dispersion(good, seconds)}, GoodEffect: effect(good, n),
				TTFT: model.Counted{Bounds: edges, Counts: total, Effects: effects},
			},
		}},
	}
}

func guess(edges, counts []float64, q float64) model.Estimate {
	c := &model.Counted{Bounds: edges, Counts: counts}
	lo, hi := bracket(c, q)
	e := model.Estimate{Lo: lo, Hi: hi, Open: !hi.OK(), Enough: true}
	if hi.OK() {
		e.Value = model.Of((lo.Value + hi.Value) / 2)
	}
	return e
}

// effect and dispersion are written out here once more, apart from the fold's.
func effect(of, n []float64) float64 {
	return ratioSpread(of, n, func(p float64) float64 { return p * (1 - p) })
}

func dispersion(of, per []float64) float64 {
	return ratioSpread(of, per, func(r float64) float64 { return r })
}

func ratioSpread(of, per []float64, variance func(float64) float64) float64 {
	var x, n float64
	for i := range of {
		x, n = x+of[i], n+per[i]
	}
	r, squares := x/n, 0.0
	if variance(r) <= 0 {
		return 0
	}
	for i := range of {
		if per[i] > 0 {
			squares += (of[i] - r*per[i]) * (of[i] - r*per[i]) / per[i]
		}
	}
	return max(1, squares/(float64(len(of)-1)*variance(r)))
}

// The same compared with itself is called different no more often than the risk says:
// independent requests and such that share a mood, coarse edges and fine ones, few
// stretches and many, a quantile that lies on an edge.
func TestRiskIsKept(t *testing.T) {
	const runs = 400
	fine := make([]float64, 300)
	for i := range fine {
		fine[i] = 0.01 * math.Pow(1.03, float64(i))
	}
	for _, tt := range []struct {
		name  string
		world world
		edges []float64
	}{
		{"independent, coarse edges", world{rate: 5, median: 0.2, sigma: 0.6, batches: 12, batchS: 10}, edges},
		{"independent, fine edges", world{rate: 5, median: 0.2, sigma: 0.6, batches: 12, batchS: 10}, fine},
		{"the median is an edge", world{rate: 5, median: 0.25, sigma: 0.4, batches: 12, batchS: 10}, edges},
		{"few stretches", world{rate: 10, median: 0.2, sigma: 0.6, batches: 3, batchS: 10}, fine},
		{"a shared mood", world{rate: 5, median: 0.4, sigma: 0.6, mood: 0.3, batches: 18, batchS: 10}, fine},
		{"a shared mood, few stretches", world{rate: 10, median: 0.4, sigma: 0.6, mood: 0.3, batches: 6, batchS: 10}, edges},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		wrong := 0
		for range runs {
			c := Stages(tt.world.draw(r, tt.edges), tt.world.draw(r, tt.edges))
			if n, _ := c.Count(); n > 0 {
				wrong++
			}
		}
		t.Logf("%s: %d of %d", tt.name, wrong, runs)
		// 5 % of 400 is 20; more than 29 would come of it once in 50 times.
		if wrong > 29 {
			t.Errorf("%s: %d of %d comparisons of the same find a difference", tt.name, wrong, runs)
		}
	}
}

// What is no noise is found, and its direction is right.
func TestDifferencesAreFound(t *testing.T) {
	calm := world{rate: 8, median: 0.2, sigma: 0.6, mood: 0.1, batches: 15, batchS: 20}
	slow := calm
	slow.median = 0.8
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		c := Stages(calm.draw(r, edges), slow.draw(r, edges))
		w := c.Of("chat")
		for _, key := range []string{"ttft.p50", "ttft.p95"} {
			if row := w.Row(key); row.Verdict != Higher || row.Sense != Worse {
				t.Fatalf("%s: %s %s (%s to %s)", key, row.Verdict, row.Why, row.Figure.Interval(row.A, true), row.Figure.Interval(row.B, true))
			}
		}
		if row := w.Row("goodput"); row.Verdict != Lower || row.Sense != Worse {
			t.Fatalf("goodput: %+v", row)
		}
		if row := w.Row("requests_per_second"); row.Verdict != Noise || row.Sense != Neither {
			t.Fatalf("requests: %+v", row)
		}
	}
}

// Turned around a comparison says the opposite.
func TestTurnedAround(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	opposite := map[Verdict]Verdict{Higher: Lower, Lower: Higher, Noise: Noise, CannotTell: CannotTell}
	for i := range 60 {
		w := world{rate: 6, median: 0.2, sigma: 0.6, batches: 10, batchS: 10}
		a := w.draw(r, edges)
		w.median *= 1 + float64(i%4)/3
		w.rate *= 1 + float64(i%3)/2
		b := w.draw(r, edges)
		there, back := Stages(a, b), Stages(b, a)
		for k := range there.Workflows[0].Rows {
			x, y := there.Workflows[0].Rows[k], back.Workflows[0].Rows[k]
			if x.Verdict != opposite[y.Verdict] {
				t.Errorf("%d, %s: %s, and the other way round %s", i, x.Figure.Key, x.Verdict, y.Verdict)
			}
		}
	}
}

// The example of Newcombe's paper: 56 of 70 against 48 of 80.
func TestNewcombe(t *testing.T) {
	of := func(x, n float64) sampled { p := model.Of(x / n); return sampled{point: p, lo: p, hi: p, n: n} }
	i := newcombe(of(48, 80), of(56, 70), 80, 70, 0.05)
	if math.Abs(i.point-0.2) > 1e-9 || math.Abs(i.lo-0.0524) > 5e-5 || math.Abs(i.hi-0.3339) > 5e-5 {
		t.Errorf("%+v, want 0.2 between 0.0524 and 0.3339", i)
	}
}

// Quantiles of Student's distribution, from tables.
func TestStudent(t *testing.T) {
	for _, tt := range []struct{ risk, df, want float64 }{
		{0.05, 1, 12.7062}, {0.05, 2, 4.30265}, {0.05, 3, 3.18245}, {0.05, 4, 2.77645}, {0.05, 5, 2.57058}, {0.05, 10, 2.22814}, {0.05, 30, 2.04227},
		{0.01, 5, 4.03214}, {0.001, 5, 6.86883}, {0.001, 11, 4.43698}, {0.001, 23, 3.76763}, {0.05, 1e6, 1.95997},
	} {
		if got := student(tt.risk, tt.df); math.Abs(got-tt.want) > 2e-3*tt.want {
			t.Errorf("t(%v, %v) = %v, want %v", tt.risk, tt.df, got, tt.want)
		}
	}
	if got := normal(0.05); math.Abs(got-1.959964) > 1e-6 {
		t.Errorf("normal: %v", got)
	}
}

// Quantiles of neighbouring buckets differ where nothing else is uncertain: a bucket does
// not hold its lower edge.
func TestNeighbouringBuckets(t *testing.T) {
	all := func(bucket int) *model.StageView {
		c := make([]float64, len(edges)+1)
		for k := bucket; k < len(c); k++ {
			c[k] = 100
		}
		counts, n := make([][]float64, 12), make([]float64, 12)
		for b := range counts {
			counts[b], n[b] = c, 100
		}
		return staged(edges, counts, n, n, 10)
	}
	c := Stages(all(2), all(3))
	row := c.Of("chat").Row("ttft.p50")
	if row.Verdict != Higher || row.Change.Lo.Value != 1 {
		t.Errorf("%+v", row)
	}
	same := Stages(all(2), all(2))
	if row := same.Of("chat").Row("ttft.p50"); row.Verdict != Noise {
		t.Errorf("%+v", row)
	}
}

// Stages that were cut at different lengths say both.
func TestCounted(t *testing.T) {
	w := Workflow{A: Basis{model.Of(453), 29, 10}, B: Basis{model.Of(1270), 19, 40}}
	if got, want := w.Counted(), "453 and 1270 requests, 29 stretches of 10 s and 19 of 40 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w.A.BatchS = 40
	if got, want := w.Counted(), "453 and 1270 requests, 29 and 19 stretches of 40 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
