package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"slotop/tui/panes"
)

// binding is one key: what it is called, what it does, and how the help says so.
// A key is declared here and nowhere else.
type binding struct {
	keys  []string // as Bubble Tea names them
	print string   // as people read them
	ascii string   // the same in ASCII; "": print
	help  string
	short string            // in the footer, "" when it is not there
	brief string            // of a screen: in a narrow footer
	foot  func(*Model) bool // nil: in the footer of every screen
	group string
	when  func(*Model) bool // nil: always
	do    func(*Model) tea.Cmd
	here  func(*Model) bool // its screen is shown
	badge bool              // the footer counts what fires beside it
	must  bool              // it stays in the footer where that has little room
}

// The groups of the help.
const (
	groupScreens = "screens"
	groupMove    = "move"
	groupView    = "view"
	groupTime    = "time"
	groupReplay  = "replay"
)

// bindings is the table of keys, in the order of the help and the footer.
var bindings = []binding{
	{keys: []string{"1"}, print: "1", help: "overview: who is hurt", short: "overview", brief: "over", group: groupScreens, do: show(overview), here: shows(overview)},
	{keys: []string{"2"}, print: "2", help: "latency: percentiles, phases", short: "latency", brief: "lat", group: groupScreens, do: show(latency), here: shows(latency)},
	{keys: []string{"3"}, print: "3", help: "queue & cache: in flight", short: "queue", brief: "queue", group: groupScreens, do: show(inflight), here: shows(inflight)},
	{keys: []string{"4"}, print: "4", help: "roofline, MFU, MBU, GPUs", short: "util", brief: "util", group: groupScreens, do: show(utilization), here: shows(utilization)},
	{keys: []string{"5"}, print: "5", help: "fleet: a row a target", short: "fleet", brief: "fleet", group: groupScreens, do: show(fleet), here: shows(fleet)},
	{keys: []string{"6"}, print: "6", help: "findings, alerts, budgets", short: "alerts", brief: "alerts", group: groupScreens, do: show(alerts), here: shows(alerts), badge: true},
	{keys: []string{"7"}, print: "7", help: "capacity: room and cost", short: "capacity", brief: "cap", group: groupScreens, do: show(capacity), here: shows(capacity)},
	{keys: []string{"?"}, print: "?", help: "this help", short: "help", group: groupScreens, do: (*Model).toggleHelp},
	{keys: []string{"q", "ctrl+c"}, print: "q", help: "quit", short: "quit", group: groupScreens, do: quit},
	{keys: []string{"ctrl+z"}, print: "ctrl-z", help: "to the shell; fg comes back", group: groupScreens, when: canSuspend, do: (*Model).suspend},

	{keys: []string{"up", "k"}, print: "↑ k", ascii: "up k", help: "up", group: groupMove, do: move(-1)},
	{keys: []string{"down", "j"}, print: "↓ j", ascii: "down j", help: "down", group: groupMove, do: move(1)},
	{keys: []string{"tab"}, print: "tab", help: "cursor to the next number", group: groupMove, do: nextNumber(1)},
	{keys: []string{"shift+tab"}, print: "shift-tab", help: "to the number before", group: groupMove, do: nextNumber(-1)},
	{keys: []string{"left", "h"}, print: "← h", ascii: "left h", help: "number at the left", group: groupMove, do: beside(-1)},
	{keys: []string{"right", "l"}, print: "→ l", ascii: "right l", help: "number at the right", group: groupMove, do: beside(1)},
	{keys: []string{"pgup", "ctrl+b"}, print: "pgup", help: "a page up", group: groupMove, do: page(-1)},
	{keys: []string{"pgdown", "ctrl+f"}, print: "pgdn", help: "a page down", group: groupMove, do: page(1)},
	{keys: []string{"home"}, print: "home", help: "to the first row", group: groupMove, when: live, do: move(-far)},
	{keys: []string{"end", "G"}, print: "end G", help: "to the last row", group: groupMove, when: live, do: move(far)},
	{keys: []string{"enter"}, print: "enter", help: "open the row", short: "open", foot: onList, group: groupMove, do: (*Model).enter},
	{keys: []string{"esc"}, print: "esc", help: "back", short: "back", foot: onTop, must: true, group: groupMove, do: (*Model).back},

	{keys: []string{"a"}, print: "a", help: "acknowledge the alert", short: "acknowledge", foot: onAlert, group: groupView, when: canAck, do: (*Model).acknowledge},
	{keys: []string{"m"}, print: "m", help: "mark a load-test stage", short: "mark", foot: onOverview, group: groupView, when: canMark, do: (*Model).startStage},
	{keys: []string{"c"}, print: "c", help: "stages: list, compare two", short: "stages", foot: onStages, group: groupView, do: (*Model).openStages},
	{keys: []string{"space"}, print: "space", help: "freeze the picture", short: "freeze", group: groupView, when: live, do: (*Model).toggleFreeze},
	{keys: []string{"w"}, print: "w", help: "window: 30 s to 15 min", short: "window", group: groupView, when: canWindow, do: (*Model).nextWindow},
	{keys: []string{"/"}, print: "/", help: "filter the fleet", short: "filter", foot: onFleet, group: groupView, do: (*Model).startFilter},
	{keys: []string{"o"}, print: "o", help: "chart TTFT, TPOT, ITL, E2E", short: "metric", foot: onLatency, must: true, group: groupView, do: (*Model).nextMetric},
	{keys: []string{"s"}, print: "s", help: "sort the rows", short: "sort", foot: onSorted, group: groupView, do: (*Model).nextSort},
	{keys: []string{"x"}, print: "x", help: "fleet: engines inside", short: "engines", foot: onInside, group: groupView, do: (*Model).toggleInside},
	{keys: []string{"t"}, print: "t", help: "theme", short: "theme", group: groupView, do: (*Model).nextTheme},
	{keys: []string{"e"}, print: "e", help: "explain the number", short: "explain", foot: explains, must: true, group: groupView, do: (*Model).openExplain},
	{keys: []string{"y"}, print: "y", help: "copy number, row or finding", group: groupView, do: (*Model).copyOne},
	{keys: []string{"ctrl+y"}, print: "ctrl-y", help: "copy the screen as text", group: groupView, do: (*Model).copyScreen},
	{keys: []string{"Y"}, print: "Y", help: "copy all as Markdown", group: groupView, when: canMarkdown, do: (*Model).copyMarkdown},
	{keys: []string{"p"}, print: "p", help: "picture: SVG and PNG", group: groupView, when: canPicture, do: (*Model).picture},
	{keys: []string{"b"}, print: "b", help: "bell on or off", group: groupView, when: callable, do: (*Model).toggleMute},
	{keys: []string{"M"}, print: "M", help: "mouse on or off", group: groupView, when: mouseAsked, do: (*Model).toggleMouse},

	{keys: []string{"["}, print: "[", help: "a frame back", short: "back in time", group: groupTime, when: timed, do: step(-1)},
	{keys: []string{"]"}, print: "]", help: "a frame forward", short: "step", foot: standing, group: groupTime, when: timed, do: step(1)},
	{keys: []string{"{"}, print: "{", help: "to the event before", group: groupTime, when: timed, do: toEvent(-1)},
	{keys: []string{"}"}, print: "}", help: "to the next event", short: "event", foot: standing, group: groupTime, when: timed, do: toEvent(1)},
	{keys: []string{"<"}, print: "<", help: "a minute back", group: groupTime, when: timed, do: jump(-1)},
	{keys: []string{">"}, print: ">", help: "a minute forward", group: groupTime, when: timed, do: jump(1)},
	{keys: []string{"g"}, print: "g", help: "live, or the recording's end", short: "live", foot: (*Model).inPast, must: true, group: groupTime, when: timed, do: (*Model).goLive},

	{keys: []string{"space"}, print: "space", help: "pause or go on", short: "pause", foot: replaying, must: true, group: groupReplay, when: replaying, do: (*Model).togglePause},
	{keys: []string{"home"}, print: "home", help: "to the beginning", group: groupReplay, when: replaying, do: (*Model).toStart},
	{keys: []string{"end"}, print: "end", help: "to the end", group: groupReplay, when: replaying, do: (*Model).toEnd},
	{keys: []string{"+", "="}, print: "+", help: "twice as fast", short: "faster", group: groupReplay, when: replaying, do: faster(2)},
	{keys: []string{"-"}, print: "-", help: "half as fast", group: groupReplay, when: replaying, do: faster(0.5)},
}

// far is further than any list is long.
const far = 1 << 30

func quit(*Model) tea.Cmd { return tea.Quit }

// suspend stops the program with the terminal in order, until it is continued.
func (m *Model) suspend() tea.Cmd { return m.opt.Suspend }

func live(m *Model) bool      { return m.opt.Replay == nil }
func replaying(m *Model) bool { return m.opt.Replay != nil }
func standing(m *Model) bool  { return m.opt.Replay != nil || m.inPast() }
func canWindow(m *Model) bool { return m.opt.Window != nil }
func onFleet(m *Model) bool   { return m.screen == fleet && !m.open && !m.help }
func onInside(m *Model) bool  { return onFleet(m) && m.hasInside() }
func onSorted(m *Model) bool {
	return onFleet(m) || m.shown() == utilization && len(m.frame().Utilization) > 1 && !m.open && !m.help
}
func onList(m *Model) bool {
	return m.over == overGlossary || m.staging() || m.over == overNothing && !m.open && !m.help && m.screen != capacity
}
func onOverview(m *Model) bool { return m.shown() == overview && !m.help }
func onAlert(m *Model) bool    { return m.screen == alerts && !m.help && m.view.Finding == "" }
func onTop(m *Model) bool      { return m.open || m.help || m.point.on || m.over != overNothing }
func canAck(m *Model) bool     { return m.opt.Ack != nil }
func canMark(m *Model) bool    { return m.opt.Mark != nil }
func canSuspend(m *Model) bool { return m.opt.Suspend != nil }
func mouseAsked(m *Model) bool { return m.opt.Mouse }

// active is the bindings that do something in this session.
func (m *Model) active() []binding {
	return slices.DeleteFunc(slices.Clone(bindings), func(b binding) bool { return b.when != nil && !b.when(m) })
}

// keyHelp is the table as the help and the footer show it.
func (m *Model) keyHelp() *[]panes.KeyHelp {
	var out []panes.KeyHelp
	for i, b := range m.active() {
		k := panes.KeyHelp{Key: b.print, ASCII: b.ascii, Does: b.help, Short: b.short, Brief: b.brief, Group: b.group, Badge: b.badge}
		if k.ASCII == "" {
			k.ASCII = k.Key
		}
		k.Here = b.here != nil && b.here(m)
		switch {
		case b.print == "q":
			k.Drop = panes.Leaving
		case b.brief != "" || b.print == "?":
			k.Drop = panes.Leading
		case b.foot == nil:
			k.Drop = panes.Needed + 2 + i
		case !b.foot(m):
			k.Short = ""
		case b.must:
			k.Drop = panes.Needed
		default:
			k.Drop = panes.Needed + 1
		}
		out = append(out, k)
	}
	return &out
}

// KeyTable is every key with its help and group, for the README.
func KeyTable() []panes.KeyHelp {
	var out []panes.KeyHelp
	for _, b := range bindings {
		out = append(out, panes.KeyHelp{Key: b.print, Does: b.help, Group: b.group})
	}
	return out
}

// onKey offers a key to what is being typed, then to the table.
func (m *Model) onKey(msg tea.KeyPressMsg) tea.Cmd {
	m.touched()
	if m.typing != panes.NoPrompt && msg.String() != "ctrl+c" && msg.String() != "ctrl+z" {
		m.onTyped(msg)
		return nil
	}
	return m.does(func(b *binding) bool { return slices.Contains(b.keys, msg.String()) })
}

// does does what the first binding does that is meant and that does something now.
func (m *Model) does(meant func(*binding) bool) tea.Cmd {
	before := m.here()
	for i := range bindings {
		if b := &bindings[i]; meant(b) && (b.when == nil || b.when(m)) {
			cmd := b.do(m)
			m.settle(before)
			m.keys = m.keyHelp()
			return cmd
		}
	}
	return nil
}
