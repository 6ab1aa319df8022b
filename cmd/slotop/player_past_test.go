package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
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

// long is ten minutes of an incident, polled each second, with two stages marked; and
// some of its frames as JSON, by their second.
type long struct {
	tape   []byte
	inputs int
	frames map[int]string
}

// longTape is recorded once for all tests.
var longTape = sync.OnceValues(func() (l long, err error) {
	opened, err := sources.Resolve(context.Background(), []string{"demo:S1?seed=7&at=150&for=200"}, sources.Options{})
	if err != nil {
		return l, err
	}
	var buf bytes.Buffer
	w, err := tape.NewWriter(&buf, tape.Header{Targets: targetsOf(opened), Every: time.Second, Window: fleet.DefaultWindow})
	if err != nil {
		return l, err
	}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: time.Second})
	if err != nil {
		return l, err
	}
	l.frames = map[int]string{}
	var errs []error
	write := func(in model.Input) {
		errs = append(errs, w.Write(in))
		l.inputs++
		c.take(in)
	}
	errs = append(errs, sources.Play(context.Background(), opened, sources.PlayOptions{Every: time.Second, For: 10 * time.Minute}, func(in model.Input) {
		second := int(in.At.Mono.Seconds())
		if in.IsTick() && (second == 50 || second == 500) {
			write(model.Input{At: in.At, Mark: "stage"})
		}
		write(in)
		if in.IsTick() && second%50 < 3 {
			var b strings.Builder
			errs = append(errs, report.JSON(&b, c.box.latest()))
			l.frames[second] = b.String()
		}
	}), w.Close())
	l.tape = buf.Bytes()
	return l, errors.Join(errs...)
})

func recordedLong(t *testing.T) (recorded []byte, inputs int, frames map[int]string) {
	t.Helper()
	l, err := longTape()
	if err != nil {
		t.Fatal(err)
	}
	return l.tape, l.inputs, l.frames
}

// onLongTape runs a test of a player that may fold so many inputs again for one key.
func onLongTape(t *testing.T, recorded []byte, cheap int, test func(p *player)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recorded)), nil }, 0, nil, 1, newMailbox())
		p.cheap = cheap
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.run(ctx, 10*time.Minute) }()
		synctest.Wait()
		test(p)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// cost is how many inputs an order made the player fold.
func (p *player) cost(order func()) int {
	before := p.foldedSoFar()
	order()
	synctest.Wait()
	return p.foldedSoFar() - before
}

func (p *player) foldedSoFar() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.folded
}

func (p *player) second() int { return int(p.Position().At.Seconds()) }

// TestPlayerStepsBackWithoutFolding: however long a tape is, and however far it was
// played, a step back costs nothing while the reel has the frame, and never more than
// is cheap.
func TestPlayerStepsBackWithoutFolding(t *testing.T) {
	recorded, inputs, frames := recordedLong(t)
	onLongTape(t, recorded, 0, func(p *player) {
		p.Pause(true)
		p.Seek(10 * time.Minute)
		synctest.Wait()
		if got := p.second(); got != 600 {
			t.Fatalf("at %d s", got)
		}
		for i := range 100 {
			if n := p.cost(func() { p.Step(-1) }); n != 0 {
				t.Fatalf("step back %d folded %d inputs of %d", i, n, inputs)
			}
		}
		if got := p.second(); got != 500 || asJSON(t, p.box.latest()) != frames[500] {
			t.Errorf("100 frames back of 600 s is %d s, or another frame than was first seen there", got)
		}
		if n := p.cost(func() { p.Seek(0) }); n != 0 || p.second() != 0 || asJSON(t, p.box.latest()) != frames[0] {
			t.Errorf("to the beginning: %d inputs, %d s", n, p.second())
		}
		if n := p.cost(func() { p.Seek(10 * time.Minute) }); n != 0 || p.second() != 600 {
			t.Errorf("to the end: %d inputs, %d s", n, p.second())
		}
		if n := p.cost(func() { p.Seek(200 * time.Second) }); n != 0 || p.second() < 190 || p.second() > 200 {
			t.Errorf("far back where folding is not cheap: %d inputs, %d s", n, p.second())
		}
		before := p.second()
		if n := p.cost(func() { p.Step(-1) }); n != 0 || p.second() >= before {
			t.Errorf("a step back from there: %d inputs, %d s after %d s", n, p.second(), before)
		}
		p.Pause(false) // it goes on from the reel, frame by frame
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := p.second(); got < before+45 || got > before+60 {
			t.Errorf("after a minute: %d s, from %d s", got, before)
		}
	})
}

// TestPlayerIsExactWhereThatIsCheap: a frame that the reel has thinned out is folded
// again.
func TestPlayerIsExactWhereThatIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	recorded, inputs, frames := recordedLong(t)
	onLongTape(t, recorded, inputs/2, func(p *player) {
		p.Pause(true)
		p.Seek(10 * time.Minute)
		synctest.Wait()
		n := p.cost(func() { p.Seek(202 * time.Second) })
		if p.second() != 202 || asJSON(t, p.box.latest()) != frames[202] {
			t.Errorf("at %d s, or another frame than was first seen there", p.second())
		}
		if n > inputs/2 || n == 0 {
			t.Errorf("%d inputs of %d", n, inputs)
		}
		for _, want := range []int{201, 200} {
			if n := p.cost(func() { p.Step(-1) }); n != 0 || p.second() != want || asJSON(t, p.box.latest()) != frames[want] {
				t.Errorf("a step back to %d s is at %d s and folds %d inputs", want, p.second(), n)
			}
		}
		p.Step(1)
		synctest.Wait()
		if p.second() != 201 || asJSON(t, p.box.latest()) != frames[201] {
			t.Errorf("a step forward leads to %d s", p.second())
		}
	})
}

// TestPlayerJumpsToEvents: forward by folding on, back from the reel, and at the ends it
// says so.
func TestPlayerJumpsToEvents(t *testing.T) {
	recorded, _, _ := recordedLong(t)
	onLongTape(t, recorded, 0, func(p *player) {
		var at []int
		last := -1
		for range 40 {
			p.Event(1)
			synctest.Wait()
			pos := p.Position()
			if !pos.Paused {
				t.Fatal("it goes on playing")
			}
			if p.second() == last || strings.Contains(pos.Word, "ends here") {
				if !strings.Contains(pos.Word, "no event after this") || !pos.Ended {
					t.Errorf("at the end: %+v", pos)
				}
				break
			}
			last = p.second()
			at = append(at, last)
			if f := p.box.latest(); !happensIn(f, f.At.Mono-time.Second) {
				t.Errorf("nothing happened at %d s", last)
			}
		}
		t.Logf("events at %v s", at)
		if len(at) < 4 || at[0] != 50 {
			t.Fatalf("events at %v s: two stages, and the beginning and the end of an incident are missing", at)
		}
		n := p.cost(func() {
			for i := len(at) - 1; i >= 0; i-- {
				p.Event(-1)
				synctest.Wait()
				if p.second() != at[i] {
					t.Errorf("back at %d s, want %d s", p.second(), at[i])
				}
			}
		})
		if n != 0 {
			t.Errorf("going back folded %d inputs", n)
		}
		p.Event(-1)
		synctest.Wait()
		if pos := p.Position(); p.second() != at[0] || !strings.Contains(pos.Word, "no event before this") {
			t.Errorf("before the first: %+v", pos)
		}
		if n := len(p.Events()); n < len(at) {
			t.Errorf("%d events for the bar, %d jumps", n, len(at))
		}
	})
}

func happensIn(f *model.Frame, since time.Duration) bool {
	for _, e := range f.Events {
		if e.At.Mono > since {
			return true
		}
	}
	return false
}

// TestPlayerEnds: stepping over an end stays there and says so.
func TestPlayerEnds(t *testing.T) {
	recorded, frames := taped(t)
	onTape(t, recorded, frames, func(p playing) {
		p.Pause(true)
		p.Seek(time.Hour)
		p.Step(1)
		p.at(60, tui.Position{Paused: true, Ended: true})
		if got := p.Position().Word; got != "the recording ends here" {
			t.Error(got)
		}
		p.Seek(0)
		p.Step(-1)
		p.at(0, tui.Position{Paused: true})
		if got := p.Position().Word; got != "the recording begins here" {
			t.Error(got)
		}
	})
}
