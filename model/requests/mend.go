package requests

import "slotop/model"

// maxStamp is in the year 2116. Times up to it can be subtracted from each other.
const maxStamp = 1 << 62

// mend takes counts below 0 and times that cannot be for unknown. A report that
// does not say when it was true was true at the latest time it tells.
func mend(r model.Request) (model.Request, bool) {
	mended := false
	for _, v := range []*model.Reading{&r.InputTokens, &r.OutputTokens, &r.CachedTokens, &r.OutputChunks} {
		if v.OK() && v.Value < 0 {
			*v, mended = model.Reading{}, true
		}
	}
	for _, s := range []*model.Stamp{
		&r.At, &r.Scheduled, &r.Queued, &r.Admitted, &r.ContextDone, &r.FirstToken, &r.FirstAnswer, &r.Completed,
	} {
		if *s < 0 || *s > maxStamp {
			*s, mended = 0, true
		}
	}
	if r.At == 0 {
		for _, s := range steps(&r) {
			r.At = max(r.At, s)
		}
	}
	if len(r.RetryOf) > maxID {
		r.RetryOf, mended = "", true
	}
	return r, mended
}
