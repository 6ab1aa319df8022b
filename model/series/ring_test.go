package series

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

const sec = time.Second

// delta is what the ring says of its first column.
func delta(r *Ring, w time.Duration) string {
	dst := make([]float64, r.Width())
	elapsed, ok := r.Delta(w, dst)
	if !ok {
		return "none"
	}
	return fmt.Sprint(dst, " in ", elapsed)
}

func TestDeltaTakesTheNearestPoll(t *testing.T) {
	polls := []time.Duration{0, 9 * sec, 21 * sec, 30 * sec, 90 * sec, 101 * sec, 110 * sec}
	r := NewRing(1, time.Hour)
	for _, at := range polls {
		if !r.Push(at, []float64{at.Seconds() * 10}) {
			t.Fatalf("push at %v refused", at)
		}
	}
	for _, tt := range []struct {
		w       time.Duration
		elapsed time.Duration
	}{
		{0, 9 * sec},         // never the newest itself
		{10 * sec, 9 * sec},  // 9 s is nearer than 20 s
		{15 * sec, 20 * sec}, // 14.5 s would be the middle
		{14 * sec, 9 * sec},
		{50 * sec, 80 * sec}, // 20 and 80 s are equally near: the older
		{49 * sec, 20 * sec},
		{51 * sec, 80 * sec},
		{85 * sec, 89 * sec},
		{110 * sec, 110 * sec},
		{time.Hour, 110 * sec},
	} {
		want := fmt.Sprint([]float64{tt.elapsed.Seconds() * 10}, " in ", tt.elapsed)
		if got := delta(r, tt.w); got != want {
			t.Errorf("window %v: %s, want %s", tt.w, got, want)
		}
	}
}

func TestDeltaNeedsTwoPolls(t *testing.T) {
	r := NewRing(1, time.Hour)
	if got := delta(r, sec); got != "none" {
		t.Error(got)
	}
	r.Push(0, []float64{5})
	if got := delta(r, sec); got != "none" || r.Len() != 1 {
		t.Error(got)
	}
	dst := []float64{7}
	if r.Delta(sec, dst); !math.IsNaN(dst[0]) {
		t.Errorf("what is not known reads %v", dst[0])
	}
	// The second poll follows the first after half a second.
	r.Push(sec/2, []float64{8})
	if got := delta(r, time.Minute); got != "[3] in 500ms" {
		t.Error(got)
	}
}

// The gauge keeps 412.5 tok/s on an idle server; the counter tells the truth.
func TestDeltaOfAStickyServer(t *testing.T) {
	r := NewRing(1, time.Hour)
	rate := func() float64 {
		dst := make([]float64, 1)
		elapsed, _ := r.Delta(10*sec, dst)
		return dst[0] / elapsed.Seconds()
	}
	r.Push(0, []float64{70000})
	r.Push(10*sec, []float64{70000})
	if rate() != 0 {
		t.Errorf("idle: %v tok/s", rate())
	}
	r.Push(20*sec, []float64{73900})
	if rate() != 390 {
		t.Errorf("busy: %v tok/s", rate())
	}
}

func TestTimeGoingBackwardsIsRefused(t *testing.T) {
	r := NewRing(1, time.Hour)
	r.Push(10*sec, []float64{1})
	for _, at := range []time.Duration{10 * sec, 9 * sec, 0} {
		if r.Push(at, []float64{99}) {
			t.Errorf("push at %v taken", at)
		}
	}
	r.Push(20*sec, []float64{3})
	if got := delta(r, 10*sec); got != "[2] in 10s" || r.Len() != 2 {
		t.Error(got)
	}
}

func TestGaps(t *testing.T) {
	r := NewRing(2, 30*time.Minute)
	r.Push(0, []float64{1, 1})
	r.Push(10*sec, []float64{2, nan})
	r.Push(20*sec, []float64{3, 5})
	if got := delta(r, 10*sec); got != "[1 NaN] in 10s" {
		t.Error("unknown at the older end:", got)
	}
	if got := delta(r, 20*sec); got != "[2 4] in 20s" {
		t.Error("a gap in between does not matter:", got)
	}
	r.Push(30*sec, []float64{4})
	if got := delta(r, 30*sec); got != "[3 NaN] in 30s" {
		t.Error("a short row lacks its last columns:", got)
	}
	// Silence for longer than anything is kept: the last poll before it stays.
	r.Push(2*time.Hour, []float64{10, 9})
	if got := delta(r, time.Minute); got != "[6 NaN] in 1h59m30s" || r.Len() != 2 {
		t.Error("after a long silence:", got, r.Len())
	}
	r.Push(2*time.Hour+10*sec, []float64{11, 9})
	if got := delta(r, 10*sec); got != "[1 0] in 10s" {
		t.Error("and back to normal:", got)
	}
}

func TestGrow(t *testing.T) {
	r := NewRing(1, time.Hour)
	r.Push(0, []float64{1})
	r.Grow(2, false)
	r.Grow(3, true)
	r.Grow(2, true) // narrower than it is: nothing to do
	r.Push(10*sec, []float64{2, 7, 7})
	if got := delta(r, 10*sec); got != "[1 NaN 7] in 10s" {
		t.Error("unknown before it was seen, zero when born:", got)
	}
	r.Push(20*sec, []float64{3, 8, 9, 4})
	if got := delta(r, 20*sec); got != "[2 NaN 9 NaN] in 20s" || r.Width() != 4 {
		t.Error("a wider row grows the ring:", got)
	}
	if got := delta(r, 10*sec); got != "[1 1 2 NaN] in 10s" {
		t.Error(got)
	}
	// A born column that goes missing later is unknown, not zero.
	r.Push(30*sec, []float64{3, 8, nan, 4})
	r.Push(40*sec, []float64{3, 8, 9, 4})
	if got := delta(r, 10*sec); got != "[0 0 NaN 0] in 10s" {
		t.Error(got)
	}
	narrow, wide := make([]float64, 1), make([]float64, 6)
	r.Delta(10*sec, narrow)
	r.Delta(10*sec, wide)
	if !equal(narrow, []float64{0}) || !equal(wide, []float64{0, 0, nan, 0, nan, nan}) {
		t.Error(narrow, wide)
	}
}

func TestSelect(t *testing.T) {
	r := NewRing(3, time.Hour)
	r.Push(0, []float64{1, 10, .1})
	r.Push(10*sec, []float64{1, 10, .1})
	r.Grow(4, true)
	r.Push(20*sec, []float64{2, 30, .7, 5})
	r.Push(30*sec, []float64{3, 60, 1.5, 5})
	r.Select([]int{3, 2, 0})
	if got := delta(r, 30*sec); got != fmt.Sprint([]float64{5, 1.5 - .1, 2}, " in 30s") || r.Width() != 3 {
		t.Error(got)
	}
	r.Push(40*sec, []float64{6, 2, 4})
	if got := delta(r, 10*sec); got != "[1 0.5 1] in 10s" {
		t.Error(got)
	}
}

func TestThinning(t *testing.T) {
	r := NewRing(1, 30*time.Minute)
	for i := range 3600 {
		r.Push(time.Duration(i)*sec, []float64{float64(i)})
	}
	counts := map[time.Duration]int{}
	now := r.snaps[len(r.snaps)-1].at
	for i, s := range r.snaps[1:] {
		age, gap := now-s.at, s.at-r.snaps[i].at
		switch {
		case now-r.snaps[i].at > 10*time.Minute+30*sec:
			counts[30*sec]++
			if gap < 30*sec || gap > 40*sec {
				t.Errorf("gap of %v at an age of %v", gap, age)
			}
		case now-r.snaps[i].at > 2*time.Minute && age > 2*time.Minute:
			counts[10*sec]++
			if gap < 10*sec || gap > 30*sec {
				t.Errorf("gap of %v at an age of %v", gap, age)
			}
		default:
			counts[sec]++
		}
	}
	if counts[sec] < 120 || counts[sec] > 122 || r.Len() > 215 {
		t.Errorf("%v, %d in all", counts, r.Len())
	}
	for _, w := range []time.Duration{10 * sec, 60 * sec, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute} {
		dst := make([]float64, 1)
		elapsed, _ := r.Delta(w, dst)
		if off := (elapsed - w).Abs(); off > max(0, w/20) || dst[0] != elapsed.Seconds() {
			t.Errorf("window %v: %v in %v", w, dst, elapsed)
		}
	}
}

func TestBoundedWhateverTheSchedule(t *testing.T) {
	seed := uint64(1)
	rng := rand.New(rand.NewPCG(seed, 0))
	r := NewRing(1, 30*time.Minute)
	at, longest := time.Duration(0), 0
	for range 6000 {
		at += time.Duration(1 + rng.IntN(int(300*time.Millisecond)))
		r.Push(at, []float64{at.Seconds()})
		longest = max(longest, r.Len())
	}
	if longest > 700 {
		t.Errorf("seed %d: %d snapshots", seed, longest)
	}
}

func TestIdleRowsAreShared(t *testing.T) {
	r := NewRing(500, 30*time.Minute)
	row := make([]float64, 500)
	row[3] = nan
	r.Push(0, row)
	for i := 1; i < 2000; i++ {
		r.Push(time.Duration(i)*sec, row)
	}
	for _, s := range r.snaps {
		if s.row != r.snaps[0].row {
			t.Fatal("an idle server costs a row a poll")
		}
	}
	row[0]++
	r.Push(2000*sec, row)
	dst := make([]float64, 500)
	if r.Delta(sec, dst); dst[0] != 1 || dst[1] != 0 || !math.IsNaN(dst[3]) {
		t.Error(dst[:4])
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	r, row := busy(40*time.Minute, sec)
	dst := make([]float64, len(row))
	at := r.snaps[len(r.snaps)-1].at
	allocs := testing.AllocsPerRun(500, func() {
		at += sec
		advance(row)
		r.Push(at, row)
		r.Delta(time.Minute, dst)
	})
	if allocs >= 1 {
		t.Errorf("%v allocations a poll", allocs)
	}
}

// advance moves a row as a busy engine does: eleven histograms of twenty
// buckets, their sums, and some counters.
func advance(row []float64) {
	for i := range row {
		if i%21 == 20 {
			row[i] += 0.123
		} else {
			row[i] += float64(i % 7 * 3)
		}
	}
}

func busy(span, every time.Duration) (*Ring, []float64) {
	row := make([]float64, 250)
	r := NewRing(len(row), 30*time.Minute)
	for at := every; at <= span; at += every {
		advance(row)
		r.Push(at, row)
	}
	return r, row
}

// The ring against a list that keeps every row: same snapshot, same numbers, to
// the last bit, whatever the values do.
func TestAgainstNaive(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		width := 1 + rng.IntN(12)
		r := NewRing(width, time.Hour)
		var rows [][]float64
		row := make([]float64, width)
		var ats []time.Duration
		at := time.Duration(0)
		for range 60 {
			at += time.Duration(1+rng.IntN(1900)) * time.Millisecond
			for i := range row {
				row[i] = next(rng, row[i], i)
			}
			if rng.IntN(4) == 0 && len(ats) > 0 {
				copy(row, rows[len(rows)-1])
			}
			r.Push(at, row)
			rows, ats = append(rows, slices.Clone(row)), append(ats, at)
			for range 4 {
				compare(t, seed, r, rows, ats, time.Duration(rng.IntN(120_000))*time.Millisecond)
			}
		}
	}
}

func next(rng *rand.Rand, v float64, col int) float64 {
	if math.IsNaN(v) {
		v = 0
	}
	switch {
	case rng.IntN(20) == 0:
		return nan
	case col%4 == 1:
		return v + rng.Float64()
	case col%4 == 2:
		return v + float64(rng.IntN(1<<40))
	case col%4 == 3 && rng.IntN(3) == 0:
		return v - 1 // a gauge among them may fall
	default:
		return v + float64(rng.IntN(300))
	}
}

func compare(t *testing.T, seed uint64, r *Ring, rows [][]float64, ats []time.Duration, w time.Duration) {
	t.Helper()
	got := make([]float64, r.Width())
	elapsed, ok := r.Delta(w, got)
	last := len(ats) - 1
	if ok != (last > 0) {
		t.Fatalf("seed %d: ok is %v with %d polls", seed, ok, last+1)
	}
	// Polls closer than the first tier may be gone: look for the nearest among
	// those that the ring still has.
	best := -1
	for i := range last {
		kept := slices.ContainsFunc(r.snaps, func(s snapshot) bool { return s.at == ats[i] })
		if kept && (best < 0 || (ats[last]-w-ats[i]).Abs() < (ats[last]-w-ats[best]).Abs()) {
			best = i
		}
	}
	if !ok {
		return
	}
	want := make([]float64, len(got))
	for i := range want {
		want[i] = rows[last][i] - rows[best][i]
	}
	if elapsed != ats[last]-ats[best] || !equal(got, want) {
		t.Fatalf("seed %d window %v: %v in %v, want %v in %v", seed, w, got, elapsed, want, ats[last]-ats[best])
	}
}

func TestMemoryOfABusyRing(t *testing.T) {
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	r, row := busy(40*time.Minute, sec)
	used := heap() - before
	full := float64(8 * len(row) * r.Len())
	t.Logf("%.0f KB for %d rows of %d columns; %.0f KB as float64", used/1024, r.Len(), len(row), full/1024)
	if used > 0.7*full {
		t.Errorf("%.0f bytes, more than 0.7 of %.0f", used, full)
	}
	runtime.KeepAlive(r)
}

func BenchmarkRingDelta(b *testing.B) {
	r, row := busy(40*time.Minute, sec)
	dst := make([]float64, len(row))
	b.ReportAllocs()
	for b.Loop() {
		r.Delta(time.Minute, dst)
	}
}

func BenchmarkRingPush(b *testing.B) {
	r, row := busy(40*time.Minute, sec)
	at := r.snaps[len(r.snaps)-1].at
	b.ReportAllocs()
	for b.Loop() {
		at += sec
		advance(row)
		r.Push(at, row)
	}
}

func BenchmarkRingPushIdle(b *testing.B) {
	r, row := busy(40*time.Minute, sec)
	at := r.snaps[len(r.snaps)-1].at
	b.ReportAllocs()
	for b.Loop() {
		at += sec
		r.Push(at, row)
	}
}
