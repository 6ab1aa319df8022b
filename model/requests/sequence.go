package requests

const (
	// reorder is how late a number may come and still not be missed.
	reorder = 4096
	// another is a step, either way, that no loss explains: another numbering.
	another = 1 << 20
)

// sequence counts the numbers of a stream that never came.
type sequence struct {
	low, high uint64 // the smallest and the largest so far
	seen      uint64 // different ones
	before    uint64 // missed in earlier numberings
	came      [reorder / 64]uint64
}

// restart begins a new numbering.
func (s *sequence) restart() { *s = sequence{before: s.skipped()} }

// skipped is how many numbers between the smallest and the largest never came.
func (s *sequence) skipped() uint64 {
	if s.seen == 0 {
		return s.before
	}
	return s.before + s.high - s.low + 1 - s.seen
}

// see takes the number of one report; 0 is none.
func (s *sequence) see(n uint64) {
	switch {
	case n == 0:
		return
	case s.seen == 0:
		s.low, s.high = n, n
	case max(n, s.high)-min(n, s.high) > another:
		s.restart()
		s.low, s.high = n, n
	case n > s.high:
		s.clear(n)
		s.high = n
	case s.high-n >= reorder || s.bit(n):
		return // came before, or too late to tell
	}
	s.low = min(s.low, n)
	s.seen++
	s.came[n%reorder/64] |= 1 << (n % 64)
}

func (s *sequence) bit(n uint64) bool { return s.came[n%reorder/64]&(1<<(n%64)) != 0 }

// clear makes room for the numbers up to n.
func (s *sequence) clear(n uint64) {
	if n-s.high >= reorder {
		s.came = [reorder / 64]uint64{}
		return
	}
	for i := s.high + 1; i <= n; i++ {
		s.came[i%reorder/64] &^= 1 << (i % 64)
	}
}
