package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// keys is a small table for the panes that are handed one.
var keys = &[]KeyHelp{
	{Key: "1", ASCII: "1", Does: "overview", Short: "overview", Group: "screens", Here: true},
	{Key: "↑ k", ASCII: "up k", Does: "up", Group: "move"},
	{Key: "q", ASCII: "q", Does: "quit", Short: "quit", Group: "screens"},
}

// everyPane is the table of panes and those that are handed more than a frame.
func everyPane() []Pane {
	return append(append([]Pane{}, All...),
		Header{Status{}}, Rule{AboveWorkflows}, Rule{AboveLoad}, Rule{BelowLoad},
		Help{Keys: keys}, Footer{Keys: keys, Toast: "copied 24 lines"})
}

func lookFor(t *testing.T, theme string, ascii bool) Look {
	t.Helper()
	set, err := themes.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	th, err := set.Find(theme)
	if err != nil {
		t.Fatal(err)
	}
	return Look{Inks: NewInks(th, false), ASCII: ascii}
}

// viewOf opens the target worth opening.
func viewOf(f *model.Frame) View {
	order := targetOrder(f, "", ByState)
	if len(order) == 0 {
		return View{}
	}
	for _, t := range order {
		if len(t.Engines) > 0 {
			return View{Target: t.ID}
		}
	}
	return View{Target: order[0].ID}
}

// TestGoldens draws every pane on every frame at every size, with and without
// unicode. A pane gets the height it would like, as far as the screen has it.
func TestGoldens(t *testing.T) {
	for _, p := range everyPane() {
		name := p.Name()
		if r, ok := p.(Rule); ok {
			name = fmt.Sprintf("%s-%d", name, r.Kind)
		}
		t.Run(name, func(t *testing.T) {
			for _, nf := range framesOf(p) {
				drawGolden(t, p, name, nf)
			}
		})
	}
}

func drawGolden(t *testing.T, p Pane, name string, nf tuitest.Named) {
	t.Helper()
	var b strings.Builder
	for _, s := range tuitest.Sizes {
		for _, ascii := range []bool{false, true} {
			look := lookFor(t, "dark", ascii)
			look.View = viewOf(nf.Frame)
			want := p.Want(nf.Frame, s.W, look)
			size := layout.Size{W: s.W, H: min(want.Max, s.H-2)}
			got := p.Render(nf.Frame, size, look)
			what := fmt.Sprintf("%s on %s at %d×%d ascii=%v", p.Name(), nf.Name, size.W, size.H, ascii)
			tuitest.Fits(t, what, got, size.W, size.H)
			if ascii && strings.ContainsFunc(got, func(r rune) bool { return r > 126 }) {
				t.Errorf("%s: not ASCII:\n%s", what, got)
			}
			fmt.Fprintf(&b, "== %d×%d ascii=%v\n%s\n", s.W, s.H, ascii, ansi.Strip(got))
		}
	}
	tuitest.Golden(t, name+"/"+nf.Name, b.String())
}

// speaking is the panes that say something of a diagnosis.
var speaking = []Pane{Headline{}, Strip{}, Alerts{}, Finding{}}

// TestFindingsGoldens draws them on every diagnosis, likewise.
func TestFindingsGoldens(t *testing.T) {
	for _, p := range speaking {
		for _, nf := range tuitest.Findings() {
			drawGolden(t, p, p.Name(), nf)
		}
	}
}

// framesOf is the frames that have something for a pane.
func framesOf(p Pane) []tuitest.Named {
	switch p.(type) {
	case Utilizations, Roofline, Utilization, Capacity:
		return append(tuitest.Uses(), tuitest.States()...)
	default:
		return tuitest.All()
	}
}

// TestEveryHeight gives each pane every height and many widths: whatever it is
// given, it stays inside.
func TestEveryHeight(t *testing.T) {
	for _, nf := range append(tuitest.All(), tuitest.Findings()...) {
		for _, p := range everyPane() {
			for _, w := range []int{0, 1, 39, 80, 200} {
				for _, h := range []int{0, 1, 2, 3, 5, 8} {
					look := lookFor(t, "mono", h%2 == 0)
					look.View = viewOf(nf.Frame)
					got := p.Render(nf.Frame, layout.Size{W: w, H: h}, look)
					tuitest.Fits(t, fmt.Sprintf("%s on %s at %d×%d", p.Name(), nf.Name, w, h), got, w, max(h, 1))
				}
			}
		}
	}
}

// TestThemes holds one drawing in each theme, with its colours.
func TestThemes(t *testing.T) {
	set, err := themes.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	f := tuitest.Mixed()
	for _, name := range set.Names() {
		look := lookFor(t, name, false)
		size := layout.Size{W: 80, H: 20}
		got := Headline{}.Render(f, size, look) + "\n" + Workflows{}.Render(f, size, look) + "\n" +
			Charts{}.Render(f, layout.Size{W: 80, H: 9}, look) + "\n" + Queue{}.Render(f, size, look)
		tuitest.Golden(t, "themes/"+name, strings.ReplaceAll(got, "\x1b", "␛")+"\n")
	}
}

// TestConditionsDifferWithoutColour is field case 17: five states that differ by
// word and by mark, worst first.
func TestConditionsDifferWithoutColour(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		marks, words := map[string]condition{}, map[string]condition{}
		for c := range conditionTable {
			info := conditionTable[c]
			mark := Look{ASCII: ascii}.mark(condition(c))
			if other, ok := marks[mark]; ok {
				t.Errorf("%s and %s have the mark %s", info.word, conditionTable[other].word, mark)
			}
			if other, ok := words[info.word]; ok {
				t.Errorf("conditions %d and %d are both called %s", c, other, info.word)
			}
			if cells(mark) != 1 {
				t.Errorf("mark %q takes %d cells", mark, cells(mark))
			}
			marks[mark], words[info.word] = condition(c), condition(c)
		}
	}
}

func TestRanking(t *testing.T) {
	got := strings.Join(WorkflowOrder(tuitest.Mixed()), " ")
	if want := "wedged slow half risky few bare calm gaps other still"; got != want {
		t.Errorf("workflows in the order %q, want %q", got, want)
	}
	var targets []string
	f := tuitest.Mixed()
	for _, r := range targetOrder(f, "", ByState) {
		targets = append(targets, r.Name)
	}
	if got, want := strings.Join(targets, " "), "d:8000 w:8000 s:8000 new:8000 a:8000 b:8000 dp:8000 i:8000"; got != want {
		t.Errorf("targets in the order %q, want %q", got, want)
	}
}

// TestEveryConditionHasAWord: what the fold may say, the screen can show, in the
// same order.
func TestEveryConditionHasAWord(t *testing.T) {
	last := condition(0)
	for _, word := range model.Conditions {
		c, ok := workflowConditions[word]
		if !ok {
			t.Errorf("%s has no mark", word)
		}
		if got := conditionTable[c].word; got != word.Word() && word != model.IsPartial {
			t.Errorf("%s is %q on screen and %q in the text", word, got, word.Word())
		}
		if c < last {
			t.Errorf("%s ranks before what is worse", word)
		}
		last = c
	}
	if of(&model.WorkflowView{Condition: "from the future"}) != starting {
		t.Error("an unknown condition claims something")
	}
}

// TestMissingNumbersDiffer: unknown, no traffic, not exported and zero read
// differently wherever they stand.
func TestMissingNumbersDiffer(t *testing.T) {
	readings := []model.Reading{{}, model.Of(0), model.Missing(model.NoTraffic), model.Missing(model.Unsupported)}
	for _, w := range []int{5, 8, 12} {
		seen := map[string]bool{}
		for _, r := range readings {
			c := Look{}.count(r, w)
			if cells(c.text) > w {
				t.Errorf("%q in %d cells", c.text, w)
			}
			if seen[c.text] {
				t.Errorf("in %d cells two different things read %q", w, c.text)
			}
			seen[c.text] = true
		}
		seen = map[string]bool{}
		for _, d := range []*model.Dist{nil, {}} {
			for _, missing := range []bool{true, false} {
				c := Look{}.quantile(d, missing, w)
				if d != nil && missing {
					continue
				}
				if seen[c.text] {
					t.Errorf("in %d cells two different absences read %q", w, c.text)
				}
				seen[c.text] = true
			}
		}
	}
}

func TestHeadline(t *testing.T) {
	tests := []struct {
		frame *model.Frame
		w     int
		want  []string
	}{
		{tuitest.Calm(), 80, []string{"✓ all 3 workflows met · goodput 99.1 % · nothing to do", "nearest: summarize TPOT p95 22 ms of 50 ms"}},
		{tuitest.Breach(), 80, []string{"▲ chat BREACHED for 4 min 12 s", "goodput 0–3 % (objective 95 %)", "burn 19.6×", "TTFT 500 ms: 1 of 1892 met", "TPOT 50 ms: 2–11 % of 1032 met", "goodput of 1032 finished"}},
		{tuitest.Mixed(), 120, []string{"■ wedged STALLED for 25 s", "✕ d:8000 down since 03:12:07", "no progress: 0 running, 7 waiting, 0 tok/s for 25 s"}},
		{tuitest.First(), 80, []string{"… acme/chat-70b answers", "rates need a second poll"}},
		{manyRefused(30), 80, []string{"✕ 30 of 30 targets down since 03:13:07", "30 refused"}},
	}
	for _, tc := range tests {
		got := Headline{}.Render(tc.frame, layout.Size{W: tc.w, H: 3}, Look{})
		for _, w := range tc.want {
			if !strings.Contains(got, w) {
				t.Errorf("no %q in\n%s", w, got)
			}
		}
	}
}

// manyRefused is field case 9: one switch dies, and with it every target.
func manyRefused(n int) *model.Frame {
	f := tuitest.Fleet(3, n)
	for i := range f.Targets {
		t := &f.Targets[i]
		t.State, t.Since = model.Down, f.At.Add(-time.Minute)
		t.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nothing listens there"}}
	}
	return f
}

func TestOneLineForManyTargetsDown(t *testing.T) {
	if n := (Headline{}).Want(manyRefused(30), 80, Look{}).Max; n > 2 {
		t.Errorf("30 dead targets take %d lines", n)
	}
}

func TestFilterAndSort(t *testing.T) {
	f := tuitest.Mixed()
	names := func(filter string, by Sort) string {
		var out []string
		for _, v := range targetOrder(f, filter, by) {
			out = append(out, v.Name)
		}
		return strings.Join(out, " ")
	}
	tests := []struct {
		filter string
		by     Sort
		want   string
	}{
		{"", ByName, "a:8000 b:8000 d:8000 dp:8000 i:8000 new:8000 s:8000 w:8000"},
		{"CERTIFICATE", ByName, "d:8000"},
		{"idle", ByState, "i:8000"},
		{"stalled", ByState, "w:8000"},
		{"VLLM 0.11", ByName, "a:8000 b:8000 d:8000 dp:8000 i:8000 s:8000 w:8000"},
		{"acme/chat", ByName, "a:8000 b:8000 d:8000 dp:8000 i:8000 s:8000 w:8000"},
		{"", ByWaiting, "w:8000 dp:8000 d:8000 s:8000 a:8000 b:8000 i:8000 new:8000"},
		{"nothing like it", ByState, ""},
	}
	for _, tc := range tests {
		if got := names(tc.filter, tc.by); got != tc.want {
			t.Errorf("filter %q by %s: %q, want %q", tc.filter, tc.by, got, tc.want)
		}
	}
	all := Look{View: View{Filter: "nothing"}}
	if got := (Fleet{}).Render(f, layout.Size{W: 80, H: 10}, all); !strings.Contains(got, "no target matches nothing") {
		t.Errorf("an empty list explains nothing:\n%s", got)
	}
}

func TestNaturalCompare(t *testing.T) {
	ordered := []string{"", "a", "a-2", "a-10", "a-10b", "b"}
	for i, a := range ordered {
		for j, b := range ordered {
			got := naturalCompare(a, b)
			if want := min(max(i-j, -1), 1); min(max(got, -1), 1) != want {
				t.Errorf("%q against %q is %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestVisible(t *testing.T) {
	tests := []struct{ n, at, h, from, to, more int }{
		{3, 0, 5, 0, 3, 0},
		{10, 0, 5, 0, 4, 6},
		{10, 9, 5, 6, 10, 6},
		{10, 5, 5, 3, 7, 6},
		{10, 0, 0, 0, 0, 10},
		{0, 0, 3, 0, 0, 0},
	}
	for _, tc := range tests {
		from, to, more := visible(tc.n, tc.at, tc.h)
		if from != tc.from || to != tc.to || more != tc.more {
			t.Errorf("%d rows at %d in %d lines: %d to %d and %d more, want %d to %d and %d", tc.n, tc.at, tc.h, from, to, more, tc.from, tc.to, tc.more)
		}
	}
}

func TestHeader(t *testing.T) {
	tests := []struct {
		status Status
		want   string
	}{
		{Status{}, "LIVE"},
		{Status{Frozen: true, Behind: 72 * time.Second}, "FROZEN  1 min 12 s ago"},
		{Status{Silent: 12 * time.Second}, "NO NEW FRAME  for 12 s"},
		{Status{Recorded: true}, "RECORDED"},
		{Status{Replay: true, Position: 750 * time.Second, Length: 30 * time.Minute, Speed: 4}, "REPLAY  12:30/30:00  ×4"},
		{Status{Replay: true, Position: 2 * time.Hour, Paused: true, Speed: 4}, "REPLAY  2:00:00  paused ×4"},
		{Status{Replay: true, Position: time.Minute, Length: time.Minute, AtEnd: true}, "REPLAY  01:00/01:00  at the end"},
	}
	for _, tc := range tests {
		got := Header{tc.status}.Render(tuitest.Breach(), layout.Size{W: 80, H: 1}, Look{})
		for _, w := range []string{tc.want, "SIMULATED", "03:14:07 UTC"} {
			if !strings.Contains(got, w) {
				t.Errorf("no %q in %q", w, got)
			}
		}
		small := Header{tc.status}.Render(tuitest.Breach(), layout.Size{W: 40, H: 1}, Look{})
		if !strings.Contains(small, "SIMULATED") || !strings.Contains(small, strings.Fields(tc.want)[0]) {
			t.Errorf("on 40 columns the header is %q", small)
		}
	}
	part := tuitest.Calm()
	part.CoveredS = model.Of(12)
	if got := (Header{}).Render(part, layout.Size{W: 80, H: 1}, Look{}); !strings.Contains(got, "12 s of 60 s") {
		t.Errorf("a window that is not full reads %q", got)
	}
	if got := (Header{}).Render(tuitest.Empty(), layout.Size{W: 40, H: 1}, Look{}); !strings.Contains(got, "slotop") || !strings.Contains(got, "no window") {
		t.Errorf("before the first window a small header reads %q", got)
	}
}

// TestFleetUsesItsRoom: below a short list stands the target under the cursor.
func TestFleetUsesItsRoom(t *testing.T) {
	f := tuitest.Breach()
	render := func(h int, v View) string { return Fleet{}.Render(f, layout.Size{W: 80, H: h}, Look{View: v}) }
	for i := range f.Targets[:2] {
		v := View{Target: f.Targets[i].ID}
		if got := render(21, v); !strings.Contains(got, "address      "+string(f.Targets[i].ID)) || !strings.Contains(got, " more lines") {
			t.Errorf("target %d is not shown below the list:\n%s", i, got)
		}
		if got := render(9, v); strings.Contains(got, "address") {
			t.Errorf("9 lines are too few for more than the list:\n%s", got)
		}
	}
}

func TestHelpShowsEveryKey(t *testing.T) {
	got := Help{Keys: keys}.Render(nil, layout.Size{W: 80, H: 40}, Look{})
	for _, k := range *keys {
		if !strings.Contains(got, k.Key) || !strings.Contains(got, k.Does) {
			t.Errorf("%q %q is not in the help:\n%s", k.Key, k.Does, got)
		}
	}
	seen, small := "", layout.Size{W: 40, H: 8}
	for scroll := range HelpScroll(keys, small, Look{}) + 1 {
		seen += Help{Keys: keys, Scroll: scroll}.Render(nil, small, Look{})
	}
	for _, k := range *keys {
		if !strings.Contains(seen, k.Does) {
			t.Errorf("%q cannot be scrolled to", k.Does)
		}
	}
}

func TestLineCutsAndPads(t *testing.T) {
	l := Look{}.line(10)
	l.put(themes.Text, "模型-通义千问").pad(10)
	if got := l.b.String(); cells(got) != 10 {
		t.Errorf("%q has %d cells, want 10", got, cells(got))
	}
	if got := (Look{}).line(20).ends(2, []part{say(1, themes.Text, "left left left")}, []part{say(0, themes.Text, "right right")}).String(); got != "         right right" {
		t.Errorf("the left part gives way: got %q", got)
	}
	if got := (Look{}).line(9).ends(2, []part{say(0, themes.Text, "left")}, []part{say(1, themes.Text, "right")}).String(); got != "left" {
		t.Errorf("the right part gives way: got %q", got)
	}
	if got := (Look{}).foreign("/data/models/acme/chat 70b/", 17); got != "…/acme/chat 70b/" && got != "…s/acme/chat 70b/" {
		t.Errorf("a path is shortened to %q", got)
	}
}

func BenchmarkCharts(b *testing.B) {
	f := tuitest.Breach()
	look := Look{}
	b.ReportAllocs()
	for b.Loop() {
		Charts{}.Render(f, layout.Size{W: 120, H: 22}, look)
	}
}
