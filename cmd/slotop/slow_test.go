package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// TestSilentTerminal: a terminal that never answers a query holds nothing up.
func TestSilentTerminal(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	program(t) // is built by whoever comes first
	begin := time.Now()
	s := startWith(t, setup{silent: true}, server.address())
	s.shows("tok/s")
	took := time.Since(begin)
	t.Logf("numbers after %.0f ms", took.Seconds()*1e3)
	if took > soon(2500*time.Millisecond) { // a question waited for would take five seconds
		t.Errorf("numbers after %v", took)
	}
	s.press("5")
	s.shows("FLEET")
	s.quits()
}

// trickle is a link of 2 KB a second.
const trickle = 20000 // bits a second, ten a byte

// filling is how many polls the first pictures take that fill the kernel's buffer.
const filling = 14

// TestTrickle: on a link of 2 KB a second on which everything moves, polls keep their
// beat, and the picture does not fall behind: once the first ones have come, which fill
// the kernel's buffer of a terminal, each is sent when there is room for it.
func TestTrickle(t *testing.T) {
	if testing.Short() {
		t.Skip("it watches a slow link for half a minute; TestSlowLink races on one as well")
	}
	t.Parallel()
	server := newEngine(t)
	server.racing()
	s := startWith(t, setup{cols: 120, rows: 40, baud: trickle}, server.address())
	s.shows("tok/s")
	polls, begin := server.polls.Load(), time.Now()
	s.until("a picture of now, once the first ones have come", func() bool {
		return server.polls.Load()-polls >= filling && age(t, s.drawn()) <= 4*time.Second
	})
	caught := time.Since(begin)
	var oldest time.Duration
	for range 8 {
		<-time.After(time.Second)
		oldest = max(oldest, age(t, s.drawn()))
	}
	took := time.Since(begin)
	got, want := server.polls.Load()-polls, int64(took/time.Second)
	t.Logf("%d polls in %.1f s, after %.1f s the picture at most %v old", got, took.Seconds(), caught.Seconds(), oldest)
	if got < want-1 {
		t.Errorf("%d polls in %v: the link holds them up", got, took)
	}
	if oldest > 7*time.Second {
		t.Errorf("the picture is %v old", oldest)
	}
	mark := time.Now()
	s.press("q")
	_, left := s.exits(mark)
	if left > soon(goneWithin) {
		t.Errorf("leaving took %v", left)
	}
}

// drawn is the screen without what has come of a frame that is still on its way: half
// of it over the one before shows a clock that there never was.
func (s *session) drawn() string {
	const ended = "\x1b[?2026l"
	raw := s.bytes(0)
	again, end := s.another()
	defer end()
	_, _ = again.WriteString(raw[:strings.LastIndex(raw, ended)+len(ended)])
	return ansi.Strip(again.Render())
}

// age is how long ago a picture's clock was right; one without a clock is no picture.
func age(t *testing.T, screen string) time.Duration {
	t.Helper()
	first, _, _ := strings.Cut(screen, "\n")
	at := strings.Index(first, " UTC")
	if at < 8 {
		return time.Hour
	}
	now := time.Now().UTC()
	shown, err := time.Parse("2006-01-02 15:04:05", fmt.Sprintf("%s %s", now.Format("2006-01-02"), first[at-8:at]))
	if err != nil {
		t.Fatal(err)
	}
	if shown.After(now) { // midnight has passed
		shown = shown.AddDate(0, 0, -1)
	}
	return now.Sub(shown).Truncate(time.Second)
}
