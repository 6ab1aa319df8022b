package fleet

import (
	"slotop/model"
	"slotop/model/requests"
)

// sendings compares a load generator's plan with what it did.
type sendings struct {
	n                      float64
	planned, lastPlanned   model.Stamp
	sent, lastSent, newest model.Stamp
	behind                 model.Reading // of the request planned last
}

func (l *sendings) add(q *model.Request, e *requests.Ended) {
	if q.Scheduled == 0 || e.First == 0 {
		return
	}
	l.merge(&sendings{
		n: 1, planned: q.Scheduled, lastPlanned: q.Scheduled, sent: e.First, lastSent: e.First,
		newest: q.Scheduled, behind: model.Between(q.Scheduled, e.First),
	})
}

func (l *sendings) merge(o *sendings) {
	if o.n == 0 {
		return
	}
	if l.n == 0 {
		*l = *o
		return
	}
	if o.newest >= l.newest {
		l.newest, l.behind = o.newest, o.behind
	}
	l.n += o.n
	l.planned, l.lastPlanned = min(l.planned, o.planned), max(l.lastPlanned, o.lastPlanned)
	l.sent, l.lastSent = min(l.sent, o.sent), max(l.lastSent, o.lastSent)
}

// see is nil where no schedule is known.
func (l *sendings) see() *model.LoadView {
	if l.n == 0 {
		return nil
	}
	return &model.LoadView{
		OfferedPerSecond: l.rate(l.planned, l.lastPlanned), SentPerSecond: l.rate(l.sent, l.lastSent), BehindS: l.behind,
	}
}

func (l *sendings) rate(from, to model.Stamp) model.Reading {
	if l.n < 2 || to <= from {
		return model.Reading{}
	}
	return model.Of((l.n - 1) / model.Between(from, to).Value)
}
