package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/model/tape"
	"slotop/sources"
	"slotop/tui"
)

// taped is a minute of the demo, polled each second, its ticks a little after the
// polls as in a live recording; and its frames as JSON, by their second.
func taped(t *testing.T) (recorded []byte, frames map[int]string) {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{"demo:S1?seed=7&at=20"}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := tape.NewWriter(&buf, tape.Header{Targets: targetsOf(opened), Every: time.Second, Window: fleet.DefaultWindow})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	frames = map[int]string{}
	err = sources.Play(t.Context(), opened, sources.PlayOptions{Every: time.Second, For: time.Minute}, func(in model.Input) {
		if in.IsTick() {
			in.At = in.At.Add(10 * time.Millisecond)
		}
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
		c.take(in)
		if in.IsTick() {
			frames[int(in.At.Mono.Seconds())] = asJSON(t, c.box.latest())
		}
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), frames
}

func asJSON(t *testing.T, f *model.Frame) string {
	t.Helper()
	var b strings.Builder
	if err := report.JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// playing is a player in virtual time.
type playing struct {
	*player
	t      *testing.T
	frames map[int]string
}

// onTape runs a test of a player, in a bubble of virtual time, until it returns.
func onTape(t *testing.T, recorded []byte, frames map[int]string, test func(p playing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recorded)), nil }, 0, nil, 1, newMailbox())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.run(ctx, time.Minute) }()
		test(playing{p, t, frames})
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// at waits for orders to be done and checks where the replay stands and that the
// frame is the one that was first seen there.
func (p playing) at(second int, want tui.Position) {
	p.t.Helper()
	synctest.Wait()
	got := p.Position()
	got.At, got.Length, got.Word, got.Words = got.At.Truncate(time.Second), got.Length.Truncate(time.Second), "", 0
	want.At, want.Length, want.Speed = time.Duration(second)*time.Second, time.Minute, max(want.Speed, 1)
	if got != want {
		p.t.Errorf("at %+v, want %+v", got, want)
	}
	if f := p.box.latest(); f == nil || asJSON(p.t, f) != p.frames[second] {
		p.t.Errorf("another frame than was first seen at %d s", second)
	}
}

func TestPlayer(t *testing.T) {
	recorded, frames := taped(t)
	paused := tui.Position{Paused: true}
	onTape(t, recorded, frames, func(p playing) {
		time.Sleep(10*time.Second + 500*time.Millisecond)
		p.at(10, tui.Position{})
		p.Pause(true)
		time.Sleep(time.Hour)
		p.at(10, paused)
		p.Step(1)
		p.at(11, paused)
		p.Step(-1)
		p.at(10, paused)
		p.Step(-1)
		p.at(9, paused)
		p.Step(3)
		p.at(12, paused)
		p.Seek(45*time.Second + 500*time.Millisecond)
		p.at(45, paused)
		p.Seek(3*time.Second + 500*time.Millisecond)
		p.at(3, paused)
		for range 4 { // faster than any of them is done
			p.Jump(10 * time.Second)
		}
		p.at(43, paused)
		p.Jump(-40 * time.Second)
		p.at(3, paused)
		p.Pause(false)
		time.Sleep(2 * time.Second)
		p.at(5, tui.Position{})
		p.Speed(10)
		time.Sleep(2 * time.Second)
		p.at(25, tui.Position{Speed: 10})
		p.Speed(1e9)
		synctest.Wait()
		if got := p.Position().Speed; got != maxSpeed {
			t.Errorf("speed %v", got)
		}
		p.Speed(1)
		p.Seek(2 * time.Hour)
		p.at(60, tui.Position{Ended: true})
		time.Sleep(time.Hour)
		p.Seek(-time.Hour)
		p.Pause(true)
		p.at(0, paused)
		p.Step(-5)
		p.at(0, paused)
	})
}

func TestPlayerWindow(t *testing.T) {
	recorded, frames := taped(t)
	onTape(t, recorded, frames, func(p playing) {
		p.Pause(true)
		p.Seek(50*time.Second + 500*time.Millisecond)
		p.setWindow(20 * time.Second)
		synctest.Wait()
		f := p.box.latest()
		if f.WindowS != 20 || p.Position().At.Truncate(time.Second) != 50*time.Second {
			t.Errorf("window %v at %v", f.WindowS, p.Position().At)
		}
		p.Step(1)
		synctest.Wait()
		if f := p.box.latest(); f.WindowS != 20 {
			t.Errorf("the next frame's window %v", f.WindowS)
		}
	})
}

func TestPlayerDamage(t *testing.T) {
	recorded, frames := taped(t)
	onTape(t, recorded[:len(recorded)-10], frames, func(p playing) {
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		pl := p.now()
		if !pl.ended || pl.trouble == nil || pl.trouble.Segments == 0 {
			t.Errorf("%+v", pl)
		}
		p.Seek(0) // and what is left of it can still be played
		p.Pause(true)
		p.at(0, tui.Position{Paused: true, Damaged: true})
	})
}

// TestPlayerLosesTheBeginning: the position of a tape whose first segment cannot be read
// is counted from the first input that can.
func TestPlayerLosesTheBeginning(t *testing.T) {
	recorded, _ := taped(t)
	at := bytes.Index(recorded, []byte("SEG"))
	if at < 0 {
		t.Fatal("no segment")
	}
	damaged := bytes.Clone(recorded)
	damaged[at+200] ^= 0xff
	onTape(t, damaged, nil, func(p playing) {
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := p.Position(); !got.Ended || !got.Damaged || got.At != got.Length || got.Length > 31*time.Second {
			t.Errorf("at the end: %+v", got)
		}
	})
}

// TestPlayerKeys: keys that come faster than they can be done are dropped, and
// wait for nobody.
func TestPlayerKeys(t *testing.T) {
	p := newPlayer(nil, 0, nil, 1, newMailbox())
	for range 1000 {
		p.Step(1)
	}
	if n := len(p.orders); n != cap(p.orders) {
		t.Errorf("%d orders", n)
	}
}
