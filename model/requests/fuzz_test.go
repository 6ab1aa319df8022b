package requests

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"slotop/model"
)

// tape makes batches out of bytes: few IDs, so that reports meet, and times both
// near and absurd.
type tape struct{ b []byte }

func (p *tape) byte() byte {
	if len(p.b) == 0 {
		return 0
	}
	c := p.b[0]
	p.b = p.b[1:]
	return c
}

func (p *tape) stamp() model.Stamp {
	switch c := p.byte(); {
	case c < 60:
		return 0
	case c < 240:
		return stamp(float64(c))
	default:
		var raw [8]byte
		copy(raw[:], p.b)
		p.b = p.b[min(8, len(p.b)):]
		return model.Stamp(binary.LittleEndian.Uint64(raw[:]))
	}
}

func (p *tape) id() string { return []string{"", "a", "b", "c", "d", "e", "f", "g"}[p.byte()%8] }

func (p *tape) request() model.Request {
	flags := p.byte()
	r := model.Request{ID: p.id(), At: p.stamp(), Queued: p.stamp(), Phase: model.PhaseStreaming, Stream: model.Streaming(flags % 3)}
	if flags&4 != 0 {
		r.Seq = uint64(p.stamp())
	}
	if flags&8 != 0 {
		r.RetryOf = p.id()
	}
	if flags&16 != 0 {
		r.Admitted, r.FirstToken, r.Scheduled = p.stamp(), p.stamp(), p.stamp()
		r.OutputTokens = model.Of(float64(int8(p.byte())))
		r.Retries, r.Attempt = int(int8(p.byte())), int(int8(p.byte()))
	}
	if flags&32 != 0 {
		r.Phase, r.Completed = model.PhaseDone, p.stamp()
	}
	return r
}

func FuzzTake(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 0, 1, 100, 90, 63, 1, 120, 90, 91, 92, 0, 40, 1, 1, 110})
	f.Add([]byte{1, 40, 2, 100, 90, 1, 120, 5, 40, 1, 100, 90, 2, 120, 200, 32, 3, 255, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &tape{b}
		tr := New(time.Minute)
		now, reports := 0.0, 0
		ended := map[string]bool{}
		for len(p.b) > 0 {
			head := p.byte()
			now += float64(head >> 4) // never far enough to forget who ended
			batch := &model.Batch{Lost: int(head & 1), Epoch: []string{"", "one", "two"}[head%3]}
			for range head & 7 {
				batch.Requests = append(batch.Requests, p.request())
			}
			reports += len(batch.Requests)
			for _, e := range takeBatch(tr, now, batch) {
				if ended[e.Request.ID] && now < generation.Seconds() {
					t.Fatalf("%s ended twice", e.Request.ID)
				}
				ended[e.Request.ID] = true
				check(t, &e, now)
			}
		}
		s := tr.Stats()
		if got := len(inFlight(tr, now)); got != s.InFlight || s.Reports != reports {
			t.Errorf("%d in flight, %d reports: %+v", got, reports, s)
		}
		if s.Refused+s.Repeated+s.Late+s.Ended+s.InFlight+s.Forgotten > s.Reports {
			t.Errorf("more came out than went in: %+v", s)
		}
	})
}

// check says what holds of every request that ended.
func check(t *testing.T, e *Ended, now float64) {
	t.Helper()
	if e.At > at(now).Mono || e.Tries < 1 || e.Request.ID == "" || e.Request.Phase != model.PhaseDone {
		t.Errorf("at %v s: %+v", now, e)
	}
	if q := e.Request.Queued; q != 0 && (e.First == 0 || e.First > q) {
		t.Errorf("first %v, but received at %v", e.First, q)
	}
	for _, v := range append(e.timesSlice(), e.Response(), e.WaitedS()) {
		if v.OK() && (v.Value < 0 || math.IsNaN(v.Value) || e.Backwards) {
			t.Errorf("a time of %v s, backwards %v", v.Value, e.Backwards)
		}
	}
}
