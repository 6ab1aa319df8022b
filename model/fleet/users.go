package fleet

import (
	"slotop/model"
	"slotop/model/requests"
	"slotop/model/slo"
)

// maxUsers bounds the tries that are remembered so that a later one can take
// their place. Retries follow within seconds.
const maxUsers = 20_000

// users counts people instead of tries: each by the best of theirs.
type users struct {
	now, before map[string]bool // whether a try was good, by its ID
}

// count adds a try to the users' side of counts. One that takes the place of an
// earlier try takes back what that was counted as, unless that was good: then the
// user has been served.
func (u *users) count(c *slo.Counts, e *requests.Ended, j slo.Judgement) {
	good := j.Verdict == slo.IsGood
	judged := good || j.Verdict == slo.IsBad
	if e.Retracts {
		switch served, known := u.of(e.Request.RetryOf); {
		case known && served:
			good, judged = true, false
		case known:
			c.UserBad--
		}
	}
	if judged && !e.Superseded {
		if good {
			c.UserGood++
		} else {
			c.UserBad++
		}
	}
	u.note(e.Request, good, judged)
}

func (u *users) of(id string) (good, known bool) {
	if good, known = u.now[id]; !known {
		good, known = u.before[id]
	}
	return good, known
}

func (u *users) note(r *model.Request, good, judged bool) {
	if !judged && !good {
		return
	}
	if u.now == nil || len(u.now) >= maxUsers {
		u.now, u.before = map[string]bool{}, u.now
	}
	u.now[r.ID] = good
}
