package requests

import "slotop/model"

const (
	// maxStamp is in the year 2116. Times up to it can be subtracted from each other.
	maxStamp = 1 << 62
	// maxCount is the largest count up to which each whole number is told apart.
	maxCount = 1 << 53
)

// mend takes counts and times that cannot be for unknown, and reports
// whether there were any. A report that does not say when it was true was true at
// the latest time it tells.
func mend(r *model.Request) bool {
	mended := false
	for _, v := range [...]*model.Reading{&r.InputTokens, &r.OutputTokens, &r.CachedTokens, &r.OutputChunks} {
		if v.OK() && !(v.Value >= 0 && v.Value <= maxCount) {
			*v, mended = model.Reading{}, true
		}
	}
	for _, n := range [...]*int{&r.Attempt, &r.Retries, &r.Status} {
		if *n < 0 {
			*n, mended = 0, true
		}
	}
	for _, s := range [...]*model.Stamp{
		&r.At, &r.Scheduled, &r.Queued, &r.Admitted, &r.ContextDone, &r.FirstToken, &r.FirstAnswer, &r.Completed,
	} {
		if !possible(*s) {
			*s, mended = 0, true
		}
	}
	if len(r.RetryOf) > maxID {
		r.RetryOf, mended = "", true
	}
	r.At = saidAt(r)
	return mended
}

func possible(s model.Stamp) bool { return s >= 0 && s <= maxStamp }

// saidAt is when a report was true, as far as it says: 0 where it does not.
func saidAt(r *model.Request) model.Stamp {
	if r.At != 0 && possible(r.At) {
		return r.At
	}
	at := model.Stamp(0)
	for _, s := range steps(r) {
		if possible(s) {
			at = max(at, s)
		}
	}
	return at
}

// newer reports whether a says something that was not known when b was said. An
// end is always new: it is final, whatever the times say.
func newer(a, b *model.Request) bool {
	if a.Done() {
		return true
	}
	if a.At != b.At {
		return a.At > b.At
	}
	if a.Seq != b.Seq || a.Seq != 0 {
		return a.Seq > b.Seq
	}
	// Not numbered: a later report of the same instant knows of more that happened.
	return *a != *b && progress(a) >= progress(b)
}

// backwards reports whether a later step happened before an earlier one. When a
// load generator meant to send does not count: it may have been early.
func backwards(r *model.Request) bool {
	var last model.Stamp
	for _, s := range steps(r) {
		if s != 0 && s < last {
			return true
		}
		last = max(last, s)
	}
	return false
}

// steps is when the steps of a request happened, in their order.
func steps(r *model.Request) [6]model.Stamp {
	return [...]model.Stamp{r.Queued, r.Admitted, r.ContextDone, r.FirstToken, r.FirstAnswer, r.Completed}
}

// progress is how many steps are known.
func progress(r *model.Request) (n int) {
	for _, s := range steps(r) {
		if s != 0 {
			n++
		}
	}
	return n
}

// tries is the number of tries that the request itself tells.
func tries(r *model.Request) int { return max(1, r.Attempt, r.Retries+1) }

// earliest is the smaller of two stamps, of which either may be missing.
func earliest(a, b model.Stamp) model.Stamp {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
