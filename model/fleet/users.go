package fleet

import (
	"time"

	"slotop/model"
	"slotop/model/requests"
	"slotop/model/slo"
)

// maxUsers bounds the tries that are remembered so that a later one can take
// their place. Retries follow within seconds.
const maxUsers = 20_000

// users counts people instead of tries: each by the best of theirs.
type users struct {
	now, before map[string]user // by the ID of their last try
}

// user is one of whom a try was judged.
type user struct {
	served bool          // by any of their tries
	at     time.Duration // when the try ended by which they were counted
}

// count adds a try to the users' side of counts. Where it takes the place of an
// earlier try that was bad, takenBack is when that ended: there it no longer
// counts. A try that cannot be judged, because the client left, leaves the user
// with what the tries before it were.
func (u *users) count(c *slo.Counts, e *requests.Ended, j slo.Judgement) (takenBack time.Duration, retracts bool) {
	good := j.Verdict == slo.IsGood
	judged := good || j.Verdict == slo.IsBad
	one := user{good, e.At}
	if e.Retracts {
		earlier, known := u.of(e.Request.RetryOf)
		switch {
		case known && (earlier.served || !judged):
			u.note(e.Request, earlier)
			return 0, false
		case known:
			takenBack, retracts = earlier.at, true
		}
	}
	if !judged {
		return 0, false
	}
	if !e.Superseded && good {
		c.UserGood++
	} else if !e.Superseded {
		c.UserBad++
	}
	u.note(e.Request, one)
	return takenBack, retracts
}

func (u *users) of(id string) (last user, known bool) {
	if last, known = u.now[id]; !known {
		last, known = u.before[id]
	}
	return last, known
}

func (u *users) note(r *model.Request, last user) {
	if u.now == nil || len(u.now) >= maxUsers {
		u.now, u.before = map[string]user{}, u.now
	}
	u.now[r.ID] = last
}
