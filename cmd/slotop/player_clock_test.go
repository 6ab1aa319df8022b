package main

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/tape"
	"slotop/sources"
	"slotop/tui"
)

// bentTape is half a minute of the demo whose clock stands for the last ten ticks, or
// runs backwards there.
func bentTape(t *testing.T, bend func(i int, in model.Input) model.Input) []byte {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{"demo:S1?seed=7&at=5"}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := tape.NewWriter(&buf, tape.Header{Targets: targetsOf(opened), Every: time.Second, Window: fleet.DefaultWindow})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	err = sources.Play(t.Context(), opened, sources.PlayOptions{Every: time.Second, For: 30 * time.Second}, func(in model.Input) {
		if err := w.Write(bend(i, in)); err != nil {
			t.Fatal(err)
		}
		if in.IsTick() {
			i++
		}
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestPlayerOverABentClock: nobody writes such tapes, but a tape is a file like any
// other: its clock may stand or run backwards, and the viewer steps about in it.
func TestPlayerOverABentClock(t *testing.T) {
	bends := map[string]func(i int, in model.Input) model.Input{
		"stands": func(i int, in model.Input) model.Input {
			if i >= 20 {
				in.At.Mono = 20 * time.Second
			}
			return in
		},
		"backwards": func(i int, in model.Input) model.Input {
			if i >= 20 {
				in.At.Mono = 20*time.Second - time.Duration(i-20)*time.Second
			}
			return in
		},
		"all at once": func(_ int, in model.Input) model.Input { in.At.Mono = 0; return in },
		"negative":    func(_ int, in model.Input) model.Input { in.At.Mono -= time.Hour; return in },
		"centuries": func(i int, in model.Input) model.Input {
			if i >= 20 {
				in.At.Mono = 290 * 365 * 24 * time.Hour
			}
			return in
		},
	}
	for name, bend := range bends {
		t.Run(name, func(t *testing.T) {
			recorded := bentTape(t, bend)
			onLongTape(t, recorded, 10000, func(p *player) {
				for _, order := range []func(){
					func() { p.Pause(true) }, func() { p.Seek(time.Hour) }, func() { p.Step(-1) }, func() { p.Step(1) }, func() { p.Step(1) },
					func() { p.Pause(false) }, func() { p.Step(-3) }, func() { p.Pause(false) }, func() { p.Jump(-time.Minute) }, func() { p.Event(1) },
					func() { p.Event(-1) }, func() { p.Seek(0) }, func() { p.Speed(512) }, func() { p.Pause(false) }, func() { p.setWindow(30 * time.Second) },
				} {
					order()
					synctest.Wait()
					time.Sleep(2 * time.Second)
					synctest.Wait()
				}
				if p.box.latest() == nil || p.Position() == (tui.Position{}) {
					t.Error("no frame")
				}
			})
		})
	}
}

// TestPlayerTurnsRound: a long way is broken off by an order that leads elsewhere.
func TestPlayerTurnsRound(t *testing.T) {
	recorded, inputs, _ := recordedLong(t)
	onLongTape(t, recorded, 10000, func(p *player) {
		p.Pause(true)
		synctest.Wait()
		before := p.foldedSoFar()
		p.Seek(10 * time.Minute)
		p.Seek(0)
		synctest.Wait()
		if n := p.foldedSoFar() - before; n > 2*passEvery || n > inputs/2 {
			t.Errorf("folded %d of %d inputs before it turned round", n, inputs)
		}
		if got := p.second(); got != 0 {
			t.Errorf("at %d s", got)
		}
		p.Seek(10 * time.Minute)
		p.Pause(true)
		synctest.Wait()
		if at := p.second(); at == 0 || at >= 600 || p.Position().Going {
			t.Errorf("stopped on the way at %d s: %+v", at, p.Position())
		}
		p.Seek(10 * time.Minute)
		synctest.Wait()
		if !p.Position().Ended {
			t.Errorf("not at the end: %+v", p.Position())
		}
	})
}
