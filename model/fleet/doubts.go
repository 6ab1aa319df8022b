package fleet

import (
	"math"

	"slotop/model/requests"
	"slotop/model/unit"
)

// skewed is from how many seconds on a reporter's clock is said to be wrong: less
// may be the way of its reports.
const skewed = 10

// doubts say what is to be doubted of a stream of reports, and how much of it was
// not taken: nothing is left out unseen.
func doubts(s requests.Stats) []string {
	var out []string
	note := func(n int, what string) {
		if n > 0 {
			out = append(out, what+": "+unit.Integer(float64(n)))
		}
	}
	note(s.Lost, "reports lost on the way")
	note(int(s.Skipped)-s.Lost, "numbers of its reports that never came, lost or left out")
	note(s.Refused, "reports refused, without a usable id or of too many requests at once")
	note(s.Mended, "reports with a time or a count that cannot be, taken as unknown")
	note(s.Backwards, "requests whose times contradict each other, counted without a latency")
	note(s.Forgotten, "requests given up after a long silence")
	if by := s.SkewS; by.OK() && math.Abs(by.Value) >= skewed {
		where := "behind ours, or its reports are so late"
		if by.Value < 0 {
			where = "ahead of ours"
		}
		out = append(out, "its clock is "+unit.Duration(math.Abs(by.Value))+" "+where)
	}
	return out
}
