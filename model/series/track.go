package series

// Track is the points of one value on a fixed grid, NaN where there is a gap. It
// only grows at its end, and what Tail returned is never written to again:
// frames share it for as long as they live.
type Track struct {
	points []float32
	max    int
}

// NewTrack is a track that remembers n points.
func NewTrack(n int) *Track { return &Track{max: max(1, n)} }

// Append adds a point, NaN where nothing is known.
func (t *Track) Append(v float32) {
	if len(t.points) == cap(t.points) {
		t.move()
	}
	t.points = append(t.points, v)
}

// move carries what is remembered to a new array: the old one belongs to the
// readers. A quarter of room beyond the limit makes that rare.
func (t *Track) move() {
	old := t.points[max(0, len(t.points)-t.max+1):]
	room := min(max(2*len(old), 64), t.max+t.max/4+1)
	t.points = append(make([]float32, 0, room), old...)
}

// Len is the number of points remembered.
func (t *Track) Len() int { return min(len(t.points), t.max) }

// Tail is the newest n points, oldest first, or all there are.
func (t *Track) Tail(n int) []float32 {
	end := len(t.points)
	return t.points[end-min(max(0, n), t.Len()) : end : end]
}
