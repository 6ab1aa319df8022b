package panes

import (
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Kiosk is the page of a screen on a wall: the workflow that hurts most in letters that
// are read from across the room, why, and a row for each of the others.
type Kiosk struct {
	Silent time.Duration // how long no new frame has come; 0: it comes
}

// Name names the pane.
func (Kiosk) Name() string { return "kiosk" }

// Want is all there is.
func (Kiosk) Want(*model.Frame, int, Look) layout.Want {
	return layout.Want{Min: kioskLeastH, Ideal: 1 << 10, Max: 1 << 10}
}

// The least that big letters need: three figures beside one another, below the state,
// and a line on each.
const (
	kioskLeastW = 60
	kioskLeastH = 18
)

// Kiosked reports whether a frame has something to be shown big on a screen of a size.
func Kiosked(f *model.Frame, size layout.Size) bool {
	return len(f.Workflows) > 0 && size.W >= kioskLeastW && size.H >= kioskLeastH
}

// Hurt reports whether somebody must act: a screen on a wall then stays where it says
// so, and is not dimmed.
func Hurt(f *model.Frame) bool {
	list := servers(f)
	return len(list) > 0 && len(inCondition(f, down)) == len(list) || len(f.Workflows) > 0 && of(&f.Workflows[0]).hurts()
}

// Promises reports whether a workflow misses an objective that somebody set.
func Promises(f *model.Frame) (broken bool) {
	return slices.ContainsFunc(f.Workflows, func(w model.WorkflowView) bool {
		return w.Condition == model.IsMissed && !w.AssumedObjectives
	})
}

// Render draws the page.
func (p Kiosk) Render(f *model.Frame, size layout.Size, look Look) string {
	if !Kiosked(f, layout.Size{W: max(size.W, kioskLeastW), H: kioskLeastH}) || size.H <= 0 {
		return ""
	}
	w := &f.Workflows[0]
	out := append([]string{""}, p.state(f, w, size, look)...)
	out = append(out, "")
	out = append(out, figures(w, size, look)...)
	out = append(out, "")
	out = append(out, kioskWhy(f, w, size, look)...)
	left := size.H - len(out) - 1
	others := kioskOthers(f, size.W, left, look)
	if len(others) > 0 {
		out = append(append(out, ""), others...)
		left -= len(others) + 1
	}
	if left >= kioskChart {
		c := layout.Size{W: min(size.W, widestTable), H: left}
		out = append(append(out, ""), strings.Split(Charts{}.Render(f, c, look), "\n")...)
	}
	return lines(size.H, out...)
}

// kioskChart is the least that is left for a chart to be worth drawing.
const kioskChart = chartMinH + 1

// kioskMargin is the blank on both sides.
func kioskMargin(w int) int {
	if w < wideScreen {
		return 2
	}
	return 4
}

// longestState is as wide in dots as a state may be before it is drawn smaller, and
// clockDots a time of day: the letters keep their size while the state changes.
var (
	longestState = dots("BREACHED")
	clockDots    = dots("00:00")
)

// state is the word of the state and the time of day, and below them whose it is and
// since when.
func (p Kiosk) state(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	m := kioskMargin(size.W)
	room := size.W - 2*m
	s := look.scaleFor(longestState+clockDots+4, room, max(size.H/5, 3))
	clock := look.big(f.At.Wall.UTC().Format("15:04"), s)
	at := size.W - m - cells(clock[0])
	info := conditionTable[of(w)]
	out := look.beside(size.W, band{x: m, role: info.role, rows: look.bigOr(kioskWord(w), s, at-m-4)}, band{x: at, role: p.clockRole(), rows: clock})
	return slices.Concat(out, airy(size.H), p.whose(f, w, size, s, look))
}

// whose is the name of the workflow, big where there is room, and how long its state
// has lasted.
func (p Kiosk) whose(f *model.Frame, w *model.WorkflowView, size layout.Size, s scale, look Look) []string {
	m := kioskMargin(size.W)
	name := look.foreign(w.Name, size.W/3)
	rows := []string{look.mark(of(w)) + " " + name}
	if n := dots(strings.ToUpper(name)); n > 0 && size.H >= kioskRoomyH {
		if smaller := look.scaleFor(n, size.W/2-m, max(s.lines()*2/3, 3)); smaller.lines() < s.lines() {
			rows = look.big(strings.ToUpper(name), smaller)
		}
	}
	var rest []part
	if text := strings.TrimSpace(lasted(f, w, look)); text != "" {
		if !strings.HasPrefix(text, "since") {
			text += ", since " + hms(w.Since)
		}
		rest = append(rest, say(1, themes.Text, text))
	}
	if b := w.Budget; b != nil && b.Burn.M5.OK() {
		rest = append(rest, part{segs: []seg{{themes.Muted, "burn "}, seg(look.times(b.Burn.M5))}, drop: 2}.of("burn", w.Name))
	}
	if w.AssumedObjectives {
		rest = append(rest, say(3, themes.Muted, "assumed objectives"))
	}
	right := []part{say(0, themes.Muted, "UTC")}
	if p.Silent > 0 {
		right = []part{say(0, themes.Breach, "NO NEW FRAME for "+look.span(p.Silent))}
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		l := look.line(size.W-m).pad(m).put(conditionTable[of(w)].role, r)
		if i == len(rows)-1 {
			l.pad(l.w+3).ends(3, rest, right)
		}
		out[i] = l.String()
	}
	return out
}

// kioskRoomyH is from how many lines on the page has room for more than it must show.
const kioskRoomyH = 34

// airyH is from how many lines on there is a blank one between what belongs together.
const airyH = 28

func airy(h int) []string {
	if h < airyH {
		return nil
	}
	return []string{""}
}

// clockRole sets the clock back where the time is not that of now.
func (p Kiosk) clockRole() themes.Role {
	if p.Silent > 0 {
		return themes.Gone
	}
	return themes.Strong
}

// kioskWord is the state in the letters that there are.
func kioskWord(w *model.WorkflowView) string {
	switch c := of(w); c {
	case cannot, quiet:
		return conditionTable[c].brief
	default:
		return word(w, 40)
	}
}

// kioskFigure is one number of the page.
type kioskFigure struct {
	about About
	title string
	value cell
	under []string // what was promised of it, from short to long
}

// longestFigure is as wide in dots as a number may be before it is drawn smaller;
// unitRoom is for its unit.
var longestFigure = dots("99.9")

const (
	unitRoom  = 4
	kioskCols = 3
)

// figures is goodput, TTFT and the latency per token, each over what was promised.
func figures(w *model.WorkflowView, size layout.Size, look Look) []string {
	m := kioskMargin(size.W)
	slot := (size.W - 2*m) / kioskCols
	s := look.scaleFor(longestFigure, slot-unitRoom-2, max(size.H/4, letterRows))
	var titles, numbers, under []band
	for i, g := range kioskFigures(w, figureRoom(slot), look) {
		x := m + i*slot
		at := x
		number, u := splitUnit(g.value.text)
		rows := look.bigOr(number, s, slot-unitRoom-2)
		if about, found := strings.CutPrefix(number, "~"); found { // a small sign: it says how sure the number is
			sign := make([]string, len(rows))
			sign[len(rows)/2] = "~"
			numbers = append(numbers, band{x: x, role: g.value.role, rows: sign})
			at, rows = x+2, look.bigOr(about, s, slot-unitRoom-4)
		}
		titles = append(titles, band{x: x, role: themes.Muted, rows: []string{g.title}, about: g.about})
		numbers = append(numbers, band{x: at, role: g.value.role, rows: rows})
		numbers = append(numbers, band{x: at + widestOf(rows) + 1, role: themes.Muted, rows: bottom([]string{u}, len(rows))})
		under = append(under, band{x: x, role: themes.Muted, rows: []string{look.fullest(g.under, slot-2)}})
	}
	return slices.Concat(look.beside(size.W, titles...), look.beside(size.W, numbers...), airy(size.H), look.beside(size.W, under...))
}

// figureRoom is how long a number may be in big letters.
func figureRoom(slot int) int {
	if dots("100-250") <= slot-unitRoom-2 {
		return roomyQuantile
	}
	return roomyQuantile - 2
}

func kioskFigures(w *model.WorkflowView, room int, look Look) []kioskFigure {
	var promise []string
	if g := w.Goodput; g != nil && g.Target.OK() {
		promise = []string{"promised " + unit.Promised(g.Target.Value)}
	}
	out := []kioskFigure{{About{"goodput", w.Name}, "GOODPUT", look.goodput(w), promise}}
	for _, metric := range []model.Metric{model.MetricTTFT, tokenMetric(w)} {
		g := kioskFigure{about: About{string(metric) + ".p95", w.Name}, title: metricTitle(metric) + " p95", value: look.against(w, metric, room)}
		if o, ok := objectiveFor(w, metric); ok {
			g.under = []string{"objective " + unit.Limit(o.MaxS)}
			if o.Verdict == model.Missed {
				g.under = append(g.under, g.under[0]+": "+look.share(o.Share)+" met", g.under[0]+": "+look.within(o)+" met")
			}
		}
		out = append(out, g)
	}
	return out
}

// splitUnit parts a number from its unit.
func splitUnit(text string) (number, u string) {
	if i := strings.LastIndexByte(text, ' '); i > 0 && slices.Contains(unitWords, strings.TrimRight(text[i+1:], sinceStart+tooFew)) {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// fullest is the longest of some texts that fits into n cells, else the first, cut.
func (k Look) fullest(texts []string, n int) string {
	for _, t := range slices.Backward(texts) {
		if cells(t) <= n {
			return t
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return k.cut(texts[0], n)
}

func widestOf(rows []string) (n int) {
	for _, r := range rows {
		n = max(n, cells(r))
	}
	return n
}

// kioskWhy is why the workflow hurts and what to try, else what its state is about, in
// whole sentences as far as they fit.
func kioskWhy(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	m := kioskMargin(size.W)
	var out []string
	if !explained(f) {
		rows := first(f, look)
		if list := inCondition(f, down); len(list) > 0 && of(w) == down {
			rows = append(rows[:1], faultSummary(list, look))
		}
		if of(w) == breached {
			rows = append(rows[:1], behind(f, w, look)...) // what was missed stands under the figures
		}
		for i, ps := range rows {
			if l := look.line(size.W-m).pad(m).parts(3, ps...).String(); i > 0 || of(w) >= met && l != "" {
				out = append(out, l)
			}
		}
		return out
	}
	most := 1 + size.H/30
	for _, r := range reasons(f, w, size.W, look) {
		from := m + len("because  ")
		for i, t := range look.folded(unit.Sentence(r.text, look.ASCII), size.W-m-from, most) {
			l := look.line(size.W - m).pad(m)
			if i == 0 {
				l.put(themes.Muted, r.label)
			}
			out = append(out, l.pad(from).put(r.role, t).String())
		}
	}
	return out
}

// kioskOthers is a row for each other workflow, as far as they fit into h lines: in
// big letters where all of them do, else as a table.
func kioskOthers(f *model.Frame, w, h int, look Look) []string {
	others := f.Workflows[1:]
	if len(others) == 0 || h < 2 {
		return nil
	}
	s := look.scaleFor(bigRow, w-2*kioskMargin(w), min(h/len(others)-1, h/6))
	if lines := (s.lines() + 1) * len(others); lines <= h && bigRow*s.w <= w-2*kioskMargin(w) {
		return bigRows(others, w, s, look)
	}
	from, to, more := visible(len(others), 0, h-1)
	t := fit(workflowColumns(f, others[from:to], min(w, widestTable), look), min(w, widestTable)-1)
	var out []string
	if from < to { // a head over no row says nothing
		out = append(out, t.head(look))
	}
	for i := from; i < to; i++ {
		out = append(out, t.row(&others[i], of(&others[i]), false, look))
	}
	if more > 0 {
		out = append(out, look.line(w).pad(indent).put(themes.Muted, "+ "+unit.Integer(float64(more))+" more").String())
	}
	return out
}

// The dots of a big row: its name, its state, its goodput, and what lies between. Of a
// long name only the beginning is drawn.
const (
	bigName  = 48
	bigState = 36
	bigShare = 24
	bigRow   = bigName + bigState + bigShare
)

func bigRows(list []model.WorkflowView, w int, s scale, look Look) []string {
	m := kioskMargin(w)
	unused := w - 2*m - bigRow*s.w
	var out []string
	for i := range list {
		v := &list[i]
		info := conditionTable[of(v)]
		share, u := splitUnit(look.goodput(v).text)
		at := w - m - bigShare*s.w
		number := look.bigOr(share, s, (bigShare-2)*s.w)
		out = append(out, look.beside(w,
			band{x: m, role: info.role, rows: bottom([]string{look.mark(of(v))}, s.lines())},
			band{x: m + 2, role: themes.Strong, rows: look.bigName(v.Name, s)},
			band{x: m + bigName*s.w + unused/2, role: info.role, rows: look.bigOr(kioskWord(v), s, bigState*s.w)},
			band{x: at, role: look.goodput(v).role, rows: number},
			band{x: at + widestOf(number) + 1, role: themes.Muted, rows: bottom([]string{u}, s.lines())},
		)...)
		out = append(out, "")
	}
	return out[:len(out)-1]
}

// bigName is as much of a name as there is room for, in letters where they are known.
func (k Look) bigName(name string, s scale) []string {
	room := (bigName - 2) * s.w
	if safe := k.foreign(name, room); dots(strings.ToUpper(safe)) < 0 {
		return bottom([]string{safe}, s.lines())
	}
	short := name
	for dots(strings.ToUpper(short))*s.w > room {
		short = short[:len(short)-1]
	}
	rows := k.big(strings.ToUpper(short), s)
	if short != name {
		rows[len(rows)-1] += " " + k.pick("…", "..")
	}
	return rows
}

// widestTable is how far eyes follow a row.
const widestTable = 200
