package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
)

// TestBurst: what changes in one frame goes out together, and what comes within
// the sink's own limit waits and goes out together.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := sender(t, Sink{Resolved: true, Every: time.Minute})
		s.Frame(frame(fires("a", 0), fires("b", 0)))
		r[0].expect(t, "a firing, b firing")
		s.Frame(frame(resolves("a", 0), fires("b", 0), fires("c", 1)))
		time.Sleep(30 * time.Second)
		s.Frame(frame(resolves("a", 0), fires("b", 0), fires("c", 1), fires("d", 2)))
		time.Sleep(29 * time.Second)
		r[0].expect(t)
		if st := s.Status()[0]; st.Waiting != 3 {
			t.Errorf("%d wait, want 3", st.Waiting)
		}
		time.Sleep(time.Second)
		r[0].expect(t, "a resolved, c firing, d firing")
	})
}

// TestBatchLimit: more than one request holds goes out in several.
func TestBatchLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := sender(t, Sink{})
		var alerts []model.AlertView
		for i := range 2*maxBatch + 5 {
			alerts = append(alerts, fires(fmt.Sprintf("a%03d", i), 0))
		}
		s.Frame(frame(alerts...))
		var sizes []int
		for _, line := range r[0].got() {
			sizes = append(sizes, strings.Count(line, "firing"))
		}
		if !slices.Equal(sizes, []int{maxBatch, maxBatch, 5}) {
			t.Errorf("batches of %v", sizes)
		}
	})
}

// TestRetry: failures are tried again, later and later, and nothing is lost.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := sender(t, Sink{Resolved: true})
		start := time.Now()
		var attempts []time.Duration
		working := 12
		r[0].do = func(context.Context, []notice) error {
			attempts = append(attempts, time.Since(start))
			if len(attempts) < working {
				return errors.New("cannot")
			}
			return nil
		}
		s.Frame(frame(fires("a", 0)))
		synctest.Wait()
		if st := s.Status()[0]; st.LastError != "cannot" || st.RetryAt.IsZero() || st.Waiting != 1 || st.Failures != 1 {
			t.Errorf("after a failure: %+v", st)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for i := 1; i < len(attempts); i++ {
			wait := attempts[i] - attempts[i-1]
			want := min(longestWait, firstRetry<<(i-1))
			if wait < want*8/10 || wait > want*12/10 {
				t.Errorf("attempt %d came %v after the one before, want about %v", i+1, wait, want)
			}
		}
		if len(attempts) != working {
			t.Errorf("%d attempts, want %d", len(attempts), working)
		}
		st := s.Status()[0]
		if st.LastError != "" || !st.RetryAt.IsZero() || st.Waiting != 0 || st.Delivered != 1 || st.Failures != working-1 {
			t.Errorf("after a delivery: %+v", st)
		}
	})
}

// TestOverBeforeTold: an alert that ends while its receiver is away is told from
// beginning to end, or, where the sink hears of no end, not at all.
func TestOverBeforeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := sender(t, Sink{Resolved: true}, Sink{})
		away := true
		for _, r := range r {
			r.do = func(context.Context, []notice) error {
				if away {
					return errors.New("away")
				}
				return nil
			}
		}
		s.Frame(frame(fires("a", 0)))
		r[0].expect(t, "a firing, failed")
		r[1].expect(t, "a firing, failed")
		away = false
		s.Frame(frame(resolves("a", 0)))
		time.Sleep(10 * time.Second)
		r[0].expect(t, "a firing", "a resolved")
		r[1].expect(t)
		if st := s.Status(); st[0].Superseded != 0 || st[1].Superseded != 1 || st[1].Waiting != 0 {
			t.Errorf("status %+v", st)
		}
	})
}

// TestEndsWhileUnderWay: what happens to an alert while it is being told is told
// after that.
func TestEndsWhileUnderWay(t *testing.T) {
	for _, tt := range []struct {
		resolved bool
		next     model.AlertView
		want     []string
	}{
		{true, resolves("a", 0), []string{"a firing", "a resolved"}},
		{false, resolves("a", 0), []string{"a firing"}},
		{true, fires("a", 0), []string{"a firing", "a firing"}}, // as a page now
	} {
		synctest.Test(t, func(t *testing.T) {
			s, r := sender(t, Sink{Resolved: tt.resolved})
			r[0].do = func(context.Context, []notice) error {
				time.Sleep(3 * time.Second)
				return nil
			}
			s.Frame(frame(with(fires("a", 0), func(a *model.AlertView) { a.Severity = model.Warn })))
			time.Sleep(time.Second)
			s.Frame(frame(tt.next))
			time.Sleep(time.Minute)
			r[0].expect(t, tt.want...)
			if st := s.Status()[0]; st.Waiting != 0 || st.Superseded != 0 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// TestRetryAfter: a receiver that asks for time gets it, up to a bound.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct{ asks, least, most time.Duration }{
		{30 * time.Second, 30 * time.Second, 30 * time.Second},
		{time.Millisecond, 800 * time.Millisecond, 1200 * time.Millisecond},
		{100 * time.Hour, longestAfter, longestAfter},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, r := sender(t, Sink{})
			var at []time.Time
			r[0].do = func(context.Context, []notice) error {
				if at = append(at, time.Now()); len(at) > 1 {
					return nil
				}
				return &busyError{errors.New("later"), tt.asks}
			}
			s.Frame(frame(fires("a", 0)))
			time.Sleep(time.Hour)
			synctest.Wait()
			if len(at) != 2 {
				t.Fatalf("%d attempts", len(at))
			}
			if wait := at[1].Sub(at[0]); wait < tt.least || wait > tt.most {
				t.Errorf("asked for %v, waited %v", tt.asks, wait)
			}
		})
	}
}

// TestOneBadNotice: a notice that the receiver never takes holds up no other.
func TestOneBadNotice(t *testing.T) {
	for _, position := range []int{0, 3, 9} {
		synctest.Test(t, func(t *testing.T) {
			s, r := sender(t, Sink{})
			r[0].do = func(_ context.Context, sent []notice) error {
				if slices.ContainsFunc(sent, func(n notice) bool { return n.alert.ID == "bad" }) {
					return errors.New("not that one")
				}
				return nil
			}
			var alerts []model.AlertView
			for i := range 10 {
				id := fmt.Sprintf("a%d", i)
				if i == position {
					id = "bad"
				}
				alerts = append(alerts, fires(id, 0))
			}
			s.Frame(frame(alerts...))
			time.Sleep(time.Minute)
			if st := s.Status()[0]; st.Delivered != 9 || st.Waiting != 1 {
				t.Errorf("after a minute: %+v", st)
			}
			r[0].got()
			s.Frame(frame(append(alerts, fires("late", 60))...))
			time.Sleep(longestWait * 2)
			if got := strings.Join(r[0].got(), "\n"); strings.Count(got, "late firing") != 1 {
				t.Errorf("the late one came so often: %s", got)
			}
		})
	}
}

// TestHang: a receiver that does not answer costs nothing but its own deliveries.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := sender(t, Sink{Timeout: 5 * time.Second}, Sink{})
		r[0].do = func(ctx context.Context, _ []notice) error {
			<-ctx.Done()
			return ctx.Err()
		}
		start := time.Now()
		s.Frame(frame(fires("a", 0)))
		synctest.Wait()
		s.Frame(frame(fires("a", 0), fires("b", 1)))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("Frame waited %v", waited)
		}
		r[1].expect(t, "a firing", "b firing")
		time.Sleep(5 * time.Second)
		r[0].expect(t, "a firing, failed")
		if st := s.Status()[0]; st.Waiting != 2 || st.Failures != 1 {
			t.Errorf("status %+v", st)
		}
	})
}

// TestRefresh: a receiver that forgets hears of firing alerts again, as they
// stand now, and only while they are in the frame.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := sender(t, Sink{Resolved: true, Every: time.Hour})
		r[0].again = time.Minute
		var values []float64
		r[0].do = func(_ context.Context, sent []notice) error {
			values = append(values, sent[0].alert.Value.Value)
			return nil
		}
		s.Frame(frame(fires("a", 0), fires("b", 0)))
		synctest.Wait()
		s.Frame(frame(
			with(fires("a", 0), func(a *model.AlertView) { a.Value, a.Severity = model.Of(8), model.Warn }),
			with(fires("b", 0), func(a *model.AlertView) { a.Acknowledged = true }),
		))
		time.Sleep(3*time.Minute + time.Second)
		r[0].expect(t, "a firing, b firing", "a firing, b firing", "a firing, b firing", "a firing, b firing")
		if !slices.Equal(values, []float64{7, 8, 8, 8}) {
			t.Errorf("values %v", values)
		}
		s.Frame(frame(with(fires("a", 0), func(a *model.AlertView) { a.Severity = model.Warn }))) // b is gone, nobody knows how
		time.Sleep(time.Minute)
		r[0].expect(t, "a firing")
		s.Frame(frame(resolves("a", 0)))
		time.Sleep(2 * time.Hour)
		r[0].expect(t, "a resolved")
		if st := s.Status()[0]; st.Delivered != 3 || st.Waiting != 0 {
			t.Errorf("status %+v: want the 3 notices that were news", st)
		}
	})
}

// TestFull: what there is no room for is counted, and never told by halves.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := sender(t, Sink{Resolved: true})
		var began, over []model.AlertView
		for i := range maxWaiting + 10 {
			began = append(began, fires(fmt.Sprint(i), 0))
			over = append(over, resolves(fmt.Sprint(i), 0))
		}
		s.Frame(frame(began...))
		synctest.Wait()
		s.Frame(frame(over...))
		synctest.Wait()
		if st := s.Status()[0]; st.Dropped != 10 || st.Delivered != 2*maxWaiting || st.Waiting != 0 {
			t.Errorf("status %+v", st)
		}
		r[0].got()
		for i := range 3 * maxWaiting { // fired, and gone without an end
			s.Frame(frame(fires(fmt.Sprint("lost", i), i)))
			synctest.Wait()
		}
		if st := s.Status()[0]; st.Dropped != 10 {
			t.Errorf("alerts that are gone take the room of others: %+v", st)
		}
		if n := len(s.seen); n > 2*maxRemembered {
			t.Errorf("%d alerts are remembered", n)
		}
	})
}
