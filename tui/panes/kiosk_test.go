package panes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// wallSizes are the terminals of walls.
var wallSizes = []layout.Size{{W: 80, H: 24}, {W: 120, H: 40}, {W: 200, H: 60}, {W: 300, H: 100}}

// onTheWall is every frame that the page of big letters has something to say of.
func onTheWall() []tuitest.Named {
	var out []tuitest.Named
	for _, nf := range append(tuitest.All(), tuitest.Findings()...) {
		if Kiosked(nf.Frame, wallSizes[0]) {
			out = append(out, nf)
		}
	}
	return out
}

// drawnOnTheWall is the frames with goldens: each state, many workflows, names of others,
// and a cause.
var drawnOnTheWall = []string{"calm", "breach", "stale", "first", "huge", "hostile", "mixed", "arrivals"}

func TestKioskGoldens(t *testing.T) {
	for _, nf := range onTheWall() {
		if !slices.Contains(drawnOnTheWall, nf.Name) {
			continue
		}
		var b strings.Builder
		for _, s := range wallSizes {
			for _, ascii := range []bool{false, true} {
				size := layout.Size{W: s.W, H: s.H - 2}
				look := lookFor(t, "dark", ascii)
				got := Kiosk{}.Render(nf.Frame, size, look)
				what := fmt.Sprintf("kiosk on %s at %d×%d ascii=%v", nf.Name, s.W, s.H, ascii)
				tuitest.Fits(t, what, got, size.W, size.H)
				plain := ansi.Strip(got)
				if ascii && strings.ContainsFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf }) {
					t.Errorf("%s is not ASCII", what)
				}
				fmt.Fprintf(&b, "== %d×%d ascii=%v\n%s\n", s.W, s.H, ascii, plain)
			}
		}
		tuitest.Golden(t, "kiosk/"+nf.Name, b.String())
	}
}

// TestKioskEverySize: whatever it is given, it stays inside.
func TestKioskEverySize(t *testing.T) {
	for _, nf := range append(onTheWall(), tuitest.Named{Name: "empty", Frame: tuitest.Empty()}) {
		for _, w := range []int{0, 1, 59, 60, 99, 200, 301} {
			for i, h := range []int{0, 1, 5, 17, 18, 27, 35, 61} {
				look := lookFor(t, "mono", i%2 == 0)
				got := Kiosk{Silent: time.Duration(i%3) * 45 * time.Second}.Render(nf.Frame, layout.Size{W: w, H: h}, look)
				tuitest.Fits(t, fmt.Sprintf("kiosk on %s at %d×%d", nf.Name, w, h), got, w, max(h, 1))
			}
		}
	}
}

// TestKioskSaysWhatIsOld: an old picture is never passed off as new.
func TestKioskSaysWhatIsOld(t *testing.T) {
	got := ansi.Strip(Kiosk{Silent: 42 * time.Second}.Render(tuitest.Breach(), wallSizes[0], lookFor(t, "dark", false)))
	if !strings.Contains(got, "NO NEW FRAME for 42 s") {
		t.Error(got)
	}
}

// TestKioskWithoutPromises: a workflow that nothing was promised of has its figures.
func TestKioskWithoutPromises(t *testing.T) {
	f := tuitest.Calm()
	f.Workflows[0].Objectives, f.Workflows[0].Goodput = nil, nil
	got := ansi.Strip(Kiosk{}.Render(f, wallSizes[0], lookFor(t, "dark", false)))
	for _, want := range []string{"GOODPUT", "TTFT p95", "TPOT p95"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestLetters: each is as high as the others, all its rows are as wide, and no two look
// the same.
func TestLetters(t *testing.T) {
	seen := map[string]rune{}
	for r, rows := range letters {
		for _, row := range rows {
			if len(row) != len(rows[0]) || strings.Trim(row, " #") != "" {
				t.Errorf("%q: row %q", r, row)
			}
		}
		shape := strings.Join(rows[:], "\n")
		if other, found := seen[shape]; found && !strings.ContainsRune("-–", r) {
			t.Errorf("%q looks like %q", r, other)
		}
		seen[shape] = r
	}
	for _, info := range conditionTable {
		if word := strings.ToUpper(info.in(9)); dots(word) < 0 {
			t.Errorf("no letters for %q", word)
		}
	}
}

// TestScales: a larger rectangle never gets smaller letters, and letters fit.
func TestScales(t *testing.T) {
	for _, look := range []Look{{}, {ASCII: true}} {
		before := scale{}
		for w := 20; w <= 300; w += 7 {
			s := look.scaleFor(20, w, w/4)
			if s.w < before.w || s.h < before.h {
				t.Errorf("at %d cells %v after %v", w, s, before)
			}
			if least := look.scaleFor(1000, 0, 0); s != least && (20*s.w > w || s.lines() > w/4) {
				t.Errorf("%v does not fit into %d×%d", s, w, w/4)
			}
			before = s
		}
		for _, s := range scales {
			if s.h == 0 && look.ASCII {
				continue
			}
			for _, row := range look.big("BREACHED 0-9", s) {
				if n := utf8.RuneCountInString(row); n != dots("BREACHED 0-9")*s.w {
					t.Errorf("scale %v: a row of %d cells", s, n)
				}
			}
		}
	}
}

// TestKioskHeadsNothing: where no row of the others fits they are counted, without a head.
func TestKioskHeadsNothing(t *testing.T) {
	f := tuitest.Huge()
	for h := range 8 {
		rows := kioskOthers(f, 62, h, lookFor(t, "dark", false))
		text := ansi.Strip(strings.Join(rows, "\n"))
		if len(rows) > 0 && len(rows) < 3 && strings.Contains(text, "WORKFLOW") {
			t.Errorf("in %d lines:\n%s", h, text)
		}
	}
}
