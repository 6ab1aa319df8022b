package sources

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"slotop/model"
)

// numbered is a request's line with a number.
func numbered(n int) string {
	return fmt.Sprintf(`{"v":1,"seq":%d,"at":"2026-08-01T12:00:00Z","id":"r%d","phase":"done"}`, n, n)
}

// arrive lets lines come in. "~" takes the stream up again at another place.
func arrive(g *gathering, w *wire, lines ...string) {
	for _, line := range lines {
		if line == "~" {
			g.interrupted()
			continue
		}
		w.inbox.came(copy(w.inbox.room(), line+"\n"))
		g.draw(w)
	}
}

// batches takes what waits: for each batch what was lost, its epoch, its requests.
func batches(t *testing.T, g *gathering) string {
	t.Helper()
	var out []string
	for first := true; first || !g.empty(); first = false {
		b, err := g.take()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range b.Requests {
			ids = append(ids, r.ID)
		}
		if b.Lost > 0 {
			ids = append([]string{fmt.Sprintf("lost %d:", b.Lost)}, ids...)
		}
		if b.Epoch != "" {
			ids = append([]string{b.Epoch}, ids...)
		}
		out = append(out, strings.Join(ids, " "))
	}
	return strings.Join(out, "; ")
}

func TestBatchesEndAtInterruptions(t *testing.T) {
	hello := func(epoch string) string { return `{"v":1,"gateway":{"name":"g"},"epoch":"` + epoch + `"}` }
	gap := func(dropped, from, to int) string {
		return fmt.Sprintf(`{"v":1,"dropped":%d,"from_seq":%d,"to_seq":%d}`, dropped, from, to)
	}
	for _, tc := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing", nil, ""},
		{"an unbroken stream", []string{hello("e"), numbered(1), numbered(2)}, "e r1 r2"},
		{"the epoch stays", []string{hello("e"), numbered(1), hello("e"), numbered(2)}, "e r1 r2"},
		{"another epoch", []string{hello("e"), numbered(8), hello("f"), numbered(1)}, "e r8; f r1"},
		{"a gap", []string{numbered(1), gap(4, 2, 5), numbered(6)}, "r1; lost 4: r6"},
		{"a gap of which only the numbers are told", []string{numbered(1), gap(0, 2, 5), numbered(6)}, "r1; lost 4: r6"},
		{"a gap of nobody knows how many", []string{numbered(1), `{"v":1,"dropped":0,"from_seq":2}`, numbered(90), "~", numbered(91)}, "r1; lost 1: r90 r91"},
		{"gaps without a report between", []string{numbered(1), gap(1, 2, 2), gap(2, 3, 4), numbered(5)}, "r1; lost 3: r5"},
		{"a gap told again", []string{numbered(1), gap(4, 2, 5), "~", gap(4, 2, 5), numbered(6)}, "r1; lost 4: r6"},
		{"a gap and another epoch", []string{hello("e"), numbered(1), gap(4, 2, 5), hello("f"), numbered(1)}, "e r1; f lost 4: r1"},
		{"taken up where it was", []string{numbered(1), numbered(2), "~", numbered(3)}, "r1 r2 r3"},
		{"taken up a little before", []string{numbered(1), numbered(2), numbered(3), "~", numbered(2), numbered(3), numbered(4)}, "r1 r2 r3 r2 r3 r4"},
		{"taken up later", []string{numbered(1), numbered(2), "~", numbered(9), numbered(10)}, "r1 r2; lost 6: r9 r10"},
		{"numbers that leave some out", []string{numbered(1), numbered(2), numbered(7), "~", numbered(90)}, "r1 r2 r7 r90"},
		{"nobody knows whether they do", []string{numbered(1), "~", numbered(90)}, "r1 r90"},
		{"after a restart", []string{numbered(1000), numbered(1001), "~", numbered(1), numbered(2), "~", numbered(5)}, "r1000 r1001 r1 r2; lost 2: r5"},
		{"without numbers", []string{eventLine("a"), "~", eventLine("b")}, "a b"},
	} {
		var g gathering
		arrive(&g, newWire(nil), tc.lines...)
		if got := batches(t, &g); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestLinesThatAreNoEvents(t *testing.T) {
	var g gathering
	w := newWire(nil)
	arrive(&g, w, "<html>", "SECRET")
	_, err := g.take()
	var fault *FaultError
	if !errors.As(err, &fault) || fault.Kind != model.NotMetrics ||
		fault.Detail != "no events: 2 lines skipped, the first: line 1: not JSON: wanted JSON lines, or server-sent events, with v, id, at and phase, or a gateway's own records" {
		t.Errorf("got %v", err)
	}
	if _, again := g.take(); again == nil || again.Error() != err.Error() {
		t.Errorf("nothing more came: got %v", again)
	}
	arrive(&g, w, "x", eventLine("a"), "y")
	b, err := g.take()
	if err != nil || b.BadLines != 2 || b.FirstBad != "2 lines skipped, the first: line 3: not JSON" || len(b.Requests) != 1 {
		t.Errorf("got %+v, %v", b, err)
	}
	if got := strings.Join(b.About.Notes, "; "); got != "4 lines skipped so far" {
		t.Errorf("got %s", got)
	}
	arrive(&g, w, "z")
	if b, err = g.take(); err != nil || b.BadLines != 1 || b.FirstBad != "1 line skipped: line 6: not JSON" {
		t.Errorf("got %+v, %v", b, err)
	}
}

func TestWhatIsSaidOfAStream(t *testing.T) {
	var g gathering
	w := newWire(nil)
	arrive(&g, w, `{"epoch":"e","gateway":{"name":"edge","software":"gw","version":"1.4","instance":"e0"}}`, `{"v":1,"at":"2026-08-01T12:00:00Z","id":"a","phase":"done","model":"m"}`)
	g.say("connection lost once so far")
	b, err := g.take()
	if err != nil {
		t.Fatal(err)
	}
	a := b.About
	if a.Engine != "gw" || a.Version != "1.4" || strings.Join(a.Models, " ") != "m" ||
		strings.Join(a.Notes, "; ") != "reported by the gateway edge, instance e0; connection lost once so far" {
		t.Errorf("got %+v", a)
	}
	arrive(&g, w, `{"v":1,"at":"2026-08-01T12:00:00Z","id":"a","phase":"done","model":"m"}`)
	if b, _ = g.take(); b.About != a {
		t.Error("it is said anew though nothing has changed")
	}
	arrive(&g, w, `{"v":1,"at":"2026-08-01T12:00:00Z","id":"a","phase":"done","model":"n"}`)
	if b, _ = g.take(); strings.Join(b.About.Models, " ") != "m n" {
		t.Errorf("got %+v", b.About)
	}
	for i := range 3 * maxModels {
		arrive(&g, w, fmt.Sprintf(`{"v":1,"at":"2026-08-01T12:00:00Z","id":"a","phase":"done","model":"m%d"}`, i))
	}
	if b, _ = g.take(); len(b.About.Models) != maxModels {
		t.Errorf("%d models", len(b.About.Models))
	}
}

// What is handed out stays as it is while more arrives.
func TestABatchStaysUntilTheNext(t *testing.T) {
	var g gathering
	w := newWire(nil)
	for i := range 10 {
		arrive(&g, w, numbered(2*i+1), numbered(2*i+2))
		b, err := g.take()
		if err != nil {
			t.Fatal(err)
		}
		arrive(&g, w, numbered(9001), numbered(9002), numbered(9003))
		if len(b.Requests) < 2 || b.Requests[len(b.Requests)-1].ID != fmt.Sprint("r", 2*i+2) {
			t.Fatalf("got %+v", b.Requests)
		}
	}
}

func TestWhatWaitsIsBounded(t *testing.T) {
	t.Run("reports", func(t *testing.T) {
		var g gathering
		w := newWire(nil)
		text := []byte(strings.Repeat(eventLine("a")+"\n", 1000))
		in := 0
		for !g.full() {
			w.inbox.came(copy(w.inbox.room(), text))
			g.draw(w)
			in += 1000
		}
		out := 0
		for first := true; first || !g.empty(); first = false {
			b, err := g.take()
			if out += len(b.Requests); err != nil || len(b.Requests) > maxReports {
				t.Fatalf("%d reports, %v", len(b.Requests), err)
			}
			g.draw(w)
		}
		if out != in || cap(g.spare) > keptReports {
			t.Errorf("%d of %d reports, room for %d is kept", out, in, cap(g.spare))
		}
	})
	t.Run("gaps", func(t *testing.T) {
		var g gathering
		w := newWire(nil)
		for i := 1; i <= 1000; i++ {
			line := fmt.Sprintf("%s\n{\"v\":1,\"dropped\":1,\"from_seq\":%d,\"to_seq\":%d}\n", numbered(3*i), 3*i+1, 3*i+1)
			w.inbox.came(copy(w.inbox.room(), line))
			g.draw(w)
		}
		if len(g.stretches) > maxStretches {
			t.Fatalf("%d batches wait", len(g.stretches))
		}
		requests, lost := 0, 0
		for first := true; first || !g.empty(); first = false {
			b, err := g.take()
			if err != nil {
				t.Fatal(err)
			}
			requests, lost = requests+len(b.Requests), lost+b.Lost
			g.draw(w)
		}
		if requests != 1000 || lost != 1000 {
			t.Errorf("%d reports, %d lost", requests, lost)
		}
	})
}

// However often a stream is interrupted, two polls bring all that came: those
// that write two numberings into one stream are not read at one report a poll.
func TestInterruptionsDoNotHoldUp(t *testing.T) {
	var g gathering
	w := newWire(nil)
	for i := range 1000 {
		line := fmt.Sprintf("{\"v\":1,\"epoch\":\"e%d\"}\n%s\n", i%2, numbered(i+1))
		w.inbox.came(copy(w.inbox.room(), line))
		g.draw(w)
	}
	first, err := g.take()
	if err != nil || len(first.Requests) != 999 || first.Epoch != "e0" {
		t.Errorf("%d reports of %q, %v", len(first.Requests), first.Epoch, err)
	}
	second, err := g.take()
	if err != nil || len(second.Requests) != 1 || second.Epoch != "e1" || !g.empty() {
		t.Errorf("then %d reports of %q, %v", len(second.Requests), second.Epoch, err)
	}
}
