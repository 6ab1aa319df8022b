package unit

import (
	"math"
	"strings"
	"testing"

	"slotop/model"
)

func estimate(v, lo, hi float64) model.Estimate {
	return model.Estimate{Value: model.Of(v), Lo: model.Of(lo), Hi: model.Of(hi)}
}

func open(lo float64) model.Estimate { return model.Estimate{Lo: model.Of(lo), Open: true} }

// A percentile of single observations is a number, however few there are.
func TestSeen(t *testing.T) {
	e := model.Estimate{Value: model.Of(43.51), Lo: model.Of(1.39), Hi: model.Of(49.07), Seen: true}
	if got, short := Estimate(e, false), EstimateShort(e, false); got != "44 s" || short != "44 s" {
		t.Errorf("%q, %q", got, short)
	}
	if got := Estimate(model.Estimate{Value: model.Of(0.5), Lo: model.Of(0.4), Seen: true}, false); got != "500 ms" {
		t.Errorf("without an upper end: %q", got)
	}
}

func TestEstimate(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		e                 model.Estimate
		long, short       string
		longASCII, narrow string
	}{
		{estimate(.182, .17, .2), "182 ms", "182 ms", "182 ms", "182 ms"},
		{estimate(.64, .5, .75), "~640 ms (500–750)", "~640 ms", "~640 ms (500-750)", "~640 ms"},
		{estimate(1.63, 1, 2.5), "1.0–2.5 s", "1–2.5 s", "1.0-2.5 s", "1-2.5 s"},
		{estimate(.297, 0, .3), "≤ 0.3 s", "≤0.3 s", "<= 0.3 s", "<=0.3 s"},
		{open(160), "> 160 s", ">160 s", "> 160 s", ">160 s"},
		{open(7.5), "> 7.5 s", ">7.5 s", "> 7.5 s", ">7.5 s"},
		{open(.5), "> 0.5 s", ">0.5 s", "> 0.5 s", ">0.5 s"},
		{open(7680), "> 7680 s", ">7680 s", "> 7680 s", ">7680 s"},
		{open(36000), "> 10 h", ">10 h", "> 10 h", ">10 h"},
		{estimate(.95, .75, 1), "~950 ms (750–1000)", "~950 ms", "~950 ms (750-1000)", "~950 ms"},
		{estimate(3.75, 2.5, 5), "~3.8 s (2.5–5)", "~3.8 s", "~3.8 s (2.5-5)", "~3.8 s"},
		{estimate(75, 60, 120), "~75 s (60–120)", "~1m15s", "~75 s (60-120)", "~1m15s"},
		{estimate(.0125, .01, .025), "10–25 ms", "10–25 ms", "10-25 ms", "10-25 ms"},
		{estimate(.2, .1, .25), "100–250 ms", ".1–.25 s", "100-250 ms", ".1-.25 s"},
		{estimate(2, .5, 2.5), "0.5–2.5 s", ".5–2.5 s", "0.5-2.5 s", ".5-2.5 s"},
		{estimate(2, .75, 2.5), "0.75–2.50 s", ".75–2.5s", "0.75-2.50 s", ".75-2.5s"},
		{estimate(.1, .05, .125), "50–125 ms", "50–125ms", "50-125 ms", "50-125ms"},
		{estimate(.2, .12, .3), "120–300 ms", ".12–.3 s", "120-300 ms", ".12-.3 s"},
		{estimate(200, 120, 600), "120–600 s", "120–600s", "120-600 s", "120-600s"},
		{estimate(2000, 1200, 3600), "1200–3600 s", "20–60 m", "1200-3600 s", "20-60 m"},
		{estimate(.2, .1137, .2843), "114–284 ms", ".11–.29s", "114-284 ms", ".11-.29s"},
		{estimate(2, .001, 2.5), "1 ms–2.5 s", "1ms–2.5s", "1 ms-2.5 s", "1ms-2.5s"},
		{estimate(.0005, 0, .001), "≤ 1 ms", "≤1 ms", "<= 1 ms", "<=1 ms"},
		{estimate(0, nan, 0), "≤ 0 s", "≤0 s", "<= 0 s", "<=0 s"},
		{estimate(-1, nan, -.5), "≤ -0.5 s", "≤-0.5 s", "<= -0.5 s", "<=-0.5 s"},
		{estimate(.3, nan, nan), "300 ms", "300 ms", "300 ms", "300 ms"},
		{model.Estimate{Lo: model.Of(1), Hi: model.Of(1.1)}, "1.0–1.1 s", "1–1.1 s", "1.0-1.1 s", "1-1.1 s"},
		{model.Estimate{}, "no data", "–", "no data", "-"},
		{model.Estimate{Value: model.Missing(model.NoTraffic)}, "no samples", "–", "no samples", "-"},
		{model.Estimate{Value: model.Missing(model.Unsupported)}, "not exported", "–", "not exported", "-"},
	}
	for _, tt := range tests {
		got := [4]string{Estimate(tt.e, false), EstimateShort(tt.e, false), Estimate(tt.e, true), EstimateShort(tt.e, true)}
		if want := [4]string{tt.long, tt.short, tt.longASCII, tt.narrow}; got != want {
			t.Errorf("%+v:\n got %q\nwant %q", tt.e, got, want)
		}
	}
}

// The narrow form fits its column whatever buckets a server has.
func TestEstimateShortFits(t *testing.T) {
	for lo := 1e-4; lo < 5000; lo *= 1.13 {
		for _, u := range []float64{1.05, 1.5, 2, 2.5, 10, 1000} {
			for _, e := range []model.Estimate{estimate(lo*(1+u)/2, lo, lo*u), estimate(lo/2, 0, lo), open(lo)} {
				s := EstimateShort(e, false)
				if Width(s) > 8 {
					t.Errorf("%+v = %q", e, s)
				}
				if strings.Contains(s, "≤") != (e.Lo.Value == 0) {
					t.Errorf("%+v = %q: only the first bucket is at most", e, s)
				}
				if s := EstimateShort(e, true); Width(s) > 9 {
					t.Errorf("%+v = %q in ASCII", e, s)
				}
				if s := Estimate(e, false); Width(s) > 20 {
					t.Errorf("%+v = %q", e, s)
				}
			}
		}
	}
}

// With two cells more a usual bracket keeps its blanks and its zeros.
func TestEstimateIn(t *testing.T) {
	tests := []struct {
		e    model.Estimate
		n    int
		want string
	}{
		{estimate(.15, .1, .25), 8, ".1–.25 s"},
		{estimate(.15, .1, .25), 9, ".1–.25 s"},
		{estimate(.15, .1, .25), 10, "100–250 ms"},
		{estimate(.08, .05, .125), 10, "50–125 ms"},
		{estimate(1.5, 1, 2.5), 10, "1–2.5 s"},
		{estimate(.001, .001, 2.5), 10, "1 ms–2.5 s"},
		{estimate(.12, .1, .13), 10, "~120 ms"},
		{open(160), 10, ">160 s"},
		{model.Estimate{}, 10, "–"},
	}
	for _, tt := range tests {
		if got := EstimateIn(tt.e, tt.n, false); got != tt.want {
			t.Errorf("%+v in %d cells: %q, want %q", tt.e, tt.n, got, tt.want)
		}
	}
}

func TestShareAtMost(t *testing.T) {
	s := model.Share{Hi: model.Of(0.791)}
	if got, ascii := Share(s, false), Share(s, true); got != "≤ 80 %" || ascii != "<= 80 %" {
		t.Errorf("%q, %q", got, ascii)
	}
}

func TestShare(t *testing.T) {
	share := func(lo, hi, point float64) model.Share {
		return model.Share{Lo: model.Of(lo), Hi: model.Of(hi), Point: model.Of(point)}
	}
	for _, tt := range []struct {
		s    model.Share
		want string
	}{
		{share(.95, .95, .95), "95.0 %"},
		{share(.6, .9, .827), "60–90 %"},
		{share(0, .029, .01), "0–3 %"},
		{share(.75, 200./240, .787), "75–84 %"},
		{share(.986, .996, .991), "99.1 %"},
		{share(.986, .996, math.NaN()), "99.1 %"},
		{share(.4, 1, math.NaN()), "40–100 %"},
		{share(1, 1, 1), "100 %"},
		{model.Share{}, "no data"},
		{model.Share{Lo: model.Missing(model.NoTraffic)}, "no samples"},
	} {
		if got := Share(tt.s, false); got != tt.want {
			t.Errorf("%+v = %q, want %q", tt.s, got, tt.want)
		}
	}
	if got := Share(share(.6, .9, .8), true); got != "60-90 %" {
		t.Errorf("ASCII: %q", got)
	}
}

func BenchmarkEstimateShort(b *testing.B) {
	e := estimate(.64, .5, .75)
	b.ReportAllocs()
	for b.Loop() {
		EstimateShort(e, false)
	}
}

func TestPromised(t *testing.T) {
	for share, want := range map[float64]string{
		.95: "95 %", .9: "90 %", .999: "99.9 %", .9995: "99.95 %", .07: "7 %", 1: "100 %", 0: "0 %", math.NaN(): "n/a",
	} {
		if got := Promised(share); got != want {
			t.Errorf("%v = %q, want %q", share, got, want)
		}
	}
}
