package panes

import (
	"strings"
	"testing"

	"slotop/model"
	"slotop/model/unit"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestWordsAreNotMissing: a word or a time that is shown in full is no number that
// nobody knows, and what was never promised is not a gap of the servers either.
func TestWordsAreNotMissing(t *testing.T) {
	const gap, none = "nothing is known of it here", "nothing is promised of it"
	for _, c := range []struct {
		frame     *model.Frame
		e         Explain
		gap, none bool
	}{
		{frame: tuitest.Breach(), e: Explain{About: About{"condition", "chat"}, Shown: "▲ chat BREACHED for 29 s"}},
		{frame: tuitest.Breach(), e: Explain{About: About{"condition", "chat"}, Shown: "10:30"}},
		{frame: tuitest.Breach(), e: Explain{About: About{"requests.retries", "chat"}, Shown: "retried –"}, gap: true},
		{frame: tuitest.Breach(), e: Explain{About: About{"requests.throttled", "chat"}, Shown: "n/e"}, gap: true},
		{frame: tuitest.Breach(), e: Explain{About: About{"itl.max", "chat"}, Shown: "–"}, none: true},
		{frame: tuitest.Breach(), e: Explain{About: About{"ttft.max", "chat"}, Shown: "500 ms"}},
		{frame: unburnt(), e: Explain{About: About{"budget.exhausted_in", "chat"}, Shown: ">1 d"}},
	} {
		got := c.e.Render(c.frame, layout.Size{W: 100, H: 60}, Look{})
		if strings.Contains(got, gap) != c.gap || strings.Contains(got, none) != c.none {
			t.Errorf("%v shown as %q: a gap %v, unpromised %v wanted, got\n%s", c.e.About, c.e.Shown, c.gap, c.none, got)
		}
	}
}

// unburnt is a frame in which nothing of a budget is spent.
func unburnt() *model.Frame {
	f := tuitest.Calm()
	f.Workflows[0].Budget.Burn.M5, f.Workflows[0].Budget.ExhaustedIn = model.Of(0), model.Reading{}
	return f
}

// TestComparedNumbersAreTheirStages: a number of the comparison, and of the list of
// stages, is explained as that of its stage, over the time that it lasted.
func TestComparedNumbersAreTheirStages(t *testing.T) {
	f := tuitest.LoadTest()
	f.Stages[1].Name = f.Stages[0].Name // two of one name are two
	look := Look{Spots: true}
	size := layout.Size{W: 200, H: 60}
	a, b := &f.Stages[0], &f.Stages[1]
	for _, page := range []string{Stages{}.Render(f, size, look), Comparison{A: KeyOf(a), B: KeyOf(b)}.Render(f, size, look)} {
		_, spots := Unmark(page)
		found := 0
		for _, s := range spots {
			if s.Topic != "requests_per_second" {
				continue
			}
			for _, stage := range f.Stages {
				w := staged(&stage, "bench")
				if unit.Rate(w.PerSecond.Value) != s.Text || s.Of != Within("bench", KeyOf(&stage).String()) {
					continue
				}
				found++
				got := Explain{About: s.About, Shown: s.Text}.Render(f, layout.Size{W: 100, H: 60}, Look{})
				for _, want := range []string{unit.Exact(w.PerSecond.Value) + " requests/s", "from " + hms(stage.From)} {
					if !strings.Contains(got, want) {
						t.Errorf("%s of the stage from %s is explained without %q:\n%s", s.Text, hms(stage.From), want, got)
					}
				}
			}
		}
		if found < 2 {
			t.Errorf("%d numbers are those of their stages in\n%s", found, page)
		}
	}
}
