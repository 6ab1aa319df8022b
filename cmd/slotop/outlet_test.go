package main

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/cmd/slotop/spool"
	"slotop/model"
	"slotop/tui"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Close()
		_ = w.Close()
	})
	return r, w
}

func TestOutlet(t *testing.T) {
	r, w := pipe(t)
	failed := make(chan error, 1)
	o := newOutlet(w, func(err error) { failed <- err })
	defer o.Stop()
	// More than a pipe holds: the write must return all the same.
	big := strings.Repeat("x", 1<<20)
	if n, err := o.WriteString(big); n != len(big) || err != nil {
		t.Fatal(n, err)
	}
	if o.Clear() || o.Drain(time.Millisecond) {
		t.Error("nobody reads, and everything was taken")
	}
	buf := make([]byte, len(big))
	for n := 0; n < len(big); {
		m, err := r.Read(buf[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	if string(buf) != big || !o.Drain(patience) || !o.Clear() {
		t.Error("other bytes came")
	}
	if _, err := o.WriteString(strings.Repeat("y", spool.MaxPending+1)); err == nil || <-failed == nil {
		t.Error("no end to what a stuck terminal is owed")
	}
}

func TestOutletFails(t *testing.T) {
	r, w := pipe(t)
	failed := make(chan error, 1)
	o := newOutlet(w, func(err error) { failed <- err })
	_ = r.Close()
	if _, err := o.WriteString("x"); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("no reason")
	}
	if _, err := o.WriteString("x"); err == nil || !o.Drain(0) {
		t.Error("a broken outlet takes bytes")
	}
}

// TestBeat counts when new frames are shown: at once after a rest, ten a second
// at most, seldom where nothing comes, never early on a screen nobody sees.
func TestBeat(t *testing.T) {
	tests := []struct {
		name     string
		news     time.Duration // between two frames
		asked    time.Duration // by the screen
		from, to int           // ticks in ten seconds
	}{
		{"nothing new", time.Hour, frameGap, 9, 10},
		{"each second", time.Second, frameGap, 10, 11},
		{"twenty a second", 50 * time.Millisecond, frameGap, 100, 103},
		{"unseen", 50 * time.Millisecond, time.Second, 10, 10},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := newMailbox()
				done := make(chan struct{})
				go func() {
					for {
						select {
						case <-done:
							return
						case <-time.After(tc.news):
							box.put(&model.Frame{})
						}
					}
				}()
				b := &beat{news: box.news}
				n := 0
				for end := time.Now().Add(10 * time.Second); time.Now().Before(end); n++ {
					if _, ok := b.tick(tc.asked)().(tui.TickMsg); !ok {
						t.Fatal("no tick")
					}
				}
				if n < tc.from || n > tc.to {
					t.Errorf("%d ticks, want %d to %d", n, tc.from, tc.to)
				}
				close(done)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		box := newMailbox()
		b := &beat{news: box.news}
		time.Sleep(time.Minute)
		go func() {
			time.Sleep(30 * time.Millisecond)
			box.put(&model.Frame{})
		}()
		begin := time.Now()
		b.tick(frameGap)()
		if took := time.Since(begin); took != 30*time.Millisecond {
			t.Errorf("a new frame waited until %v", took)
		}
	})
}
