package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSilentTerminal: a terminal that never answers a query holds nothing up.
func TestSilentTerminal(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
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

// TestTrickle: on a link of 2 KB a second on which everything moves, polls keep their
// beat, and the picture does not fall further and further behind: it is as old as the
// kernel's buffer of a terminal, some 12 KB, takes to arrive, whatever came meanwhile.
func TestTrickle(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	server.racing()
	s := startWith(t, setup{cols: 120, rows: 40, baud: trickle}, server.address())
	s.shows("tok/s")
	polls, begin := server.polls.Load(), time.Now()
	var oldest time.Duration
	for i := range 16 {
		<-time.After(time.Second)
		if i < 6 { // the first picture is still on its way
			continue
		}
		oldest = max(oldest, age(t, s.text()))
	}
	took := time.Since(begin)
	got, want := server.polls.Load()-polls, int64(took/time.Second)
	t.Logf("%d polls in %.1f s, the picture at most %v old", got, took.Seconds(), oldest)
	if got < want-1 {
		t.Errorf("%d polls in %v: the link holds them up", got, took)
	}
	if oldest > 9*time.Second {
		t.Errorf("the picture is %v old", oldest)
	}
	mark := time.Now()
	s.press("q")
	_, left := s.exits(mark)
	if left > soon(goneWithin) {
		t.Errorf("leaving took %v", left)
	}
}

// age is how long ago a picture's clock was right.
func age(t *testing.T, screen string) time.Duration {
	t.Helper()
	first, _, _ := strings.Cut(screen, "\n")
	at := strings.Index(first, " UTC")
	if at < 8 {
		t.Fatalf("no clock in %q", first)
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
