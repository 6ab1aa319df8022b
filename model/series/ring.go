package series

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// tiers say how far apart snapshots of a certain age are kept. The first bounds
// a target that is polled faster than anyone can look; up to two minutes every
// poll counts, because windows are that short; further back the time between
// two snapshots stays below a tenth of the window that reaches there.
var tiers = [...]struct{ from, apart time.Duration }{
	{0, 200 * time.Millisecond},
	{2 * time.Minute, 10 * time.Second},
	{10 * time.Minute, 30 * time.Second},
}

// spareRows is how many dropped rows are kept for the next polls. In the steady
// state one row goes for each that comes.
const spareRows = 4

// Ring holds the snapshots of one target: rows of counters that never fall, all
// columns of a row taken in the same poll. Old snapshots are thinned out and
// those beyond the time kept are dropped.
type Ring struct {
	keep  time.Duration
	snaps []snapshot // oldest first
	last  []float64  // the newest row, as pushed
	code  code
	spare []*packed
}

type snapshot struct {
	at  time.Duration
	row *packed // shared by neighbours in which nothing moved
}

// NewRing is a ring of rows of the given width that looks back for keep.
func NewRing(width int, keep time.Duration) *Ring {
	r := &Ring{keep: keep}
	r.Grow(width, false)
	return r
}

// Grow makes room for more columns. Rows pushed before lack them: there the new
// columns are unknown, or, when born, 0, because the server creates such
// counters at their first event.
func (r *Ring) Grow(width int, born bool) {
	for len(r.last) < width {
		r.last = append(r.last, math.NaN())
		r.code.column(born)
	}
}

// Width is the number of columns.
func (r *Ring) Width() int { return len(r.last) }

// Len is the number of snapshots.
func (r *Ring) Len() int { return len(r.snaps) }

// Push adds the row of the poll at the given time. Columns beyond the row are
// unknown in it; columns beyond the width are unknown before it. A row that is
// not newer than the newest is refused: time went backwards.
func (r *Ring) Push(at time.Duration, row []float64) bool {
	if n := len(r.snaps); n > 0 && at <= r.snaps[n-1].at {
		return false
	}
	width := r.Width()
	r.Grow(len(row), false)
	if r.repeats(row, width) {
		r.snaps = append(r.snaps, snapshot{at, r.snaps[len(r.snaps)-1].row})
	} else {
		copy(r.last, row)
		for i := len(row); i < len(r.last); i++ {
			r.last[i] = math.NaN()
		}
		r.snaps = append(r.snaps, snapshot{at, r.code.pack(r.last, r.take())})
	}
	r.thin()
	return true
}

// repeats reports whether nothing moved since the newest snapshot, which then
// serves for this poll too: an idle server costs a stamp and a pointer.
func (r *Ring) repeats(row []float64, width int) bool {
	n := len(r.snaps)
	if n == 0 || len(row) != width || r.snaps[n-1].row.width != width {
		return false
	}
	for i, v := range row {
		if v != r.last[i] && !(math.IsNaN(v) && math.IsNaN(r.last[i])) {
			return false
		}
	}
	return true
}

// Delta writes to dst what each column gained between the snapshot nearest to w
// before the newest one (the older of two that are equally near) and the newest,
// and returns the time between the two. A column that is unknown at either end
// is NaN. There is no answer before the second snapshot.
func (r *Ring) Delta(w time.Duration, dst []float64) (elapsed time.Duration, ok bool) {
	if len(r.snaps) < 2 {
		for i := range dst {
			dst[i] = math.NaN()
		}
		return 0, false
	}
	then := r.nearest(w)
	n := min(len(dst), len(r.last))
	r.code.gains(dst[:n], r.last, then.row)
	for i := n; i < len(dst); i++ {
		dst[i] = math.NaN()
	}
	return r.snaps[len(r.snaps)-1].at - then.at, true
}

func (r *Ring) nearest(w time.Duration) snapshot {
	newest := len(r.snaps) - 1
	want := r.snaps[newest].at - w
	i, _ := slices.BinarySearchFunc(r.snaps[:newest], want, func(s snapshot, t time.Duration) int {
		return cmp.Compare(s.at, t)
	})
	switch {
	case i == 0:
		return r.snaps[0]
	case i == newest || want-r.snaps[i-1].at <= r.snaps[i].at-want:
		return r.snaps[i-1]
	default:
		return r.snaps[i]
	}
}

// thin drops the snapshots that the tiers do not keep. The one before the newest
// survives a long silence, or the next poll would have nothing to subtract.
func (r *Ring) thin() {
	newest := len(r.snaps) - 1
	now := r.snaps[newest].at
	kept := 0
	for i, s := range r.snaps {
		age := now - s.at
		last := i == newest || i == newest-1 && kept == 0
		far := kept == 0 || s.at-r.snaps[kept-1].at >= apart(age)
		if last || age <= r.keep && far {
			r.snaps[kept] = s
			kept++
			continue
		}
		if (kept == 0 || r.snaps[kept-1].row != s.row) && r.snaps[i+1].row != s.row {
			r.put(s.row)
		}
	}
	clear(r.snaps[kept:])
	r.snaps = r.snaps[:kept]
}

func apart(age time.Duration) time.Duration {
	d := tiers[0].apart
	for _, t := range tiers[1:] {
		if age > t.from {
			d = t.apart
		}
	}
	return d
}

// Select keeps only the given columns, in the given order, in every snapshot.
func (r *Ring) Select(cols []int) {
	old := r.code
	r.code = code{}
	for range cols {
		r.code.column(false)
	}
	row, chosen := make([]float64, len(r.last)), make([]float64, len(cols))
	var before *packed
	for i := range r.snaps {
		s := &r.snaps[i]
		if s.row == before {
			s.row = r.snaps[i-1].row
			continue
		}
		before = s.row
		old.unpack(row, s.row)
		s.row = r.code.pack(choose(chosen, row, cols), &packed{})
	}
	r.last, r.spare = choose(chosen, r.last, cols), nil
}

func choose(dst, row []float64, cols []int) []float64 {
	for i, c := range cols {
		dst[i] = row[c]
	}
	return dst
}

func (r *Ring) take() *packed {
	n := len(r.spare)
	if n == 0 {
		return &packed{}
	}
	p := r.spare[n-1]
	r.spare = r.spare[:n-1]
	return p
}

func (r *Ring) put(p *packed) {
	if len(r.spare) < spareRows {
		r.spare = append(r.spare, p)
	}
}
