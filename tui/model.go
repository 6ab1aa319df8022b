package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
	"slotop/tui/panes"
)

// Model is the screen's state: what is shown, what the viewer chose, and the
// last drawing.
type Model struct {
	opt Options

	size    layout.Size
	sizedAt time.Time // when it last changed, until all is painted anew

	newest *model.Frame
	frozen *model.Frame // the picture that stands still, nil when it moves
	led    bool         // the viewer went back to it
	words  int          // of the replay that were said
	turn   turning      // of a screen on a wall
	dim    bool         // it is night there

	now     time.Time    // of the last tick
	latest  *model.Frame // there is, looked at or not
	cameAt  time.Time    // when the latest frame was first seen
	tookAt  time.Time    // when the newest one shown was taken
	blurred bool

	screen screen
	view   panes.View
	open   bool // what is under the cursor is opened
	help   bool
	typing panes.Prompt
	input  string // typed so far
	scroll int    // of the help
	mouse  bool

	point       pointer // the cursor over numbers
	pointAt     place   // where it stood last
	over        over    // what lies over the screen
	below       over    // what an explanation lies over
	explain     panes.Explain
	explainedAt *model.Frame // that it was looked up in
	glossary    panes.Glossary
	stages      panes.Stages
	compared    panes.Comparison
	clicked     panes.About // the row or number that was clicked last

	rang map[model.AlertID]int // what fires and has called, by how often it has fired
	mute bool

	keeping bool // a picture is being made

	title string // of the window

	window time.Duration // asked for; 0: the frame's own
	toast  string
	until  time.Time // when the toast goes

	theme *themes.Theme
	auto  bool // no theme was asked for: the background decides
	basic bool // 16 colours
	inks  *panes.Inks

	keys  *[]panes.KeyHelp
	drawn drawing
	kept  []kept
}

var _ tea.Model = (*Model)(nil)

// screen is one of the numbered screens.
type screen uint8

const (
	overview screen = iota
	latency
	inflight
	utilization
	fleet
	alerts
	capacity
)

// New makes the screen.
func New(opt Options) (*Model, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	m := &Model{opt: opt, view: panes.View{Enables: opt.Enables}, auto: opt.Theme == "", mouse: opt.Mouse}
	name := opt.Theme
	switch {
	case opt.NoColour:
		name, m.auto = "mono", false
	case m.auto:
		name = opt.Themes.For(true).Name
	}
	t, err := opt.Themes.Find(name)
	if err != nil {
		return nil, err
	}
	m.wear(t)
	m.keys = m.keyHelp()
	if f := opt.Latest(); f != nil {
		m.newest, m.title = f, titleOf(f, opt)
	}
	return m, nil
}

// Init starts the refresh and asks the terminal two things that it may leave
// unanswered: its background, and whether it can show a frame at once, which
// Bubble Tea does not ask over SSH.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.opt.Tick(refresh), tea.Raw("\x1b[?2026$p")}
	if m.auto {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update answers one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case TickMsg:
		return m, m.onTick(msg)
	case tea.KeyPressMsg:
		return m, m.onKey(msg)
	case tea.PasteMsg:
		m.onPasted(msg.Content)
	case keptMsg:
		m.onKept(msg)
	case tea.MouseWheelMsg:
		return m, m.onWheel(msg)
	case tea.MouseClickMsg:
		return m, m.onClick(msg)
	case tea.WindowSizeMsg:
		m.onSize(layout.Size{W: msg.Width, H: msg.Height})
	case tea.BackgroundColorMsg:
		m.onBackground(msg.IsDark())
	case tea.ColorProfileMsg:
		m.onProfile(msg.Profile)
	case tea.FocusMsg:
		m.blurred = false
	case tea.BlurMsg:
		m.blurred = true
	}
	return m, nil
}

// onTick pulls the newest frame and arms the next tick, here and only here.
func (m *Model) onTick(msg TickMsg) tea.Cmd {
	m.now = msg.At
	if m.cameAt.IsZero() {
		m.cameAt, m.tookAt = m.now, m.now
	}
	call := m.take(m.opt.Latest())
	m.lookAtOutbox()
	m.lookAtNotes()
	m.lookAtReplay()
	m.lookAtWall()
	if m.toast != "" && !m.now.Before(m.until) {
		m.toast = ""
	}
	next := refresh
	if m.blurred {
		next = refreshUnseen
	}
	if again := m.repaint(); call != nil || again != nil {
		return tea.Batch(call, again, m.opt.Tick(next))
	}
	return m.opt.Tick(next)
}

// onSize takes another size. The first is no change.
func (m *Model) onSize(s layout.Size) {
	if m.size != (layout.Size{}) {
		m.sizedAt = m.now
	}
	m.size = s
}

// settled is how long after a change of size the screen is painted once more.
const settled = time.Second

// wholeScroll lets the whole screen scroll again (DECSTBM), with the cursor where it was.
const wholeScroll = "\x1b7\x1b[r\x1b8"

// repaint paints all anew when a window has come to rest. The renderer ends a scroll by
// naming the last line that may scroll. Where those bytes reach a terminal that has grown
// meanwhile, the lines below stay outside, and all that is painted from then on moves up.
func (m *Model) repaint() tea.Cmd {
	if m.sizedAt.IsZero() || m.now.Sub(m.sizedAt) < settled {
		return nil
	}
	m.sizedAt = time.Time{}
	return tea.Sequence(tea.Raw(wholeScroll), tea.ClearScreen)
}

// lookAtOutbox keeps the same pointer until something is delivered, or is not. A picture
// that stands still keeps what it showed.
func (m *Model) lookAtOutbox() {
	if m.opt.Outbox == nil || m.frozen != nil {
		return
	}
	now := m.opt.Outbox()
	if was := m.view.Outbox; was == nil || !slices.Equal(*was, now) {
		m.view.Outbox = &now
	}
}

// lookAtNotes says once that an annotation was not understood: where it stands is on
// the screen of alerts.
func (m *Model) lookAtNotes() {
	if m.opt.Notes == nil {
		return
	}
	if s := m.opt.Notes(); s != m.view.Notes {
		if m.view.Notes = s; s != "" {
			m.say("the file of annotations is not as it should be: 6 says why")
		}
	}
}

// take keeps a frame as the newest, and calls for what newly fires in it.
func (m *Model) take(f *model.Frame) tea.Cmd {
	if f == nil || f == m.newest {
		return nil
	}
	if f != m.latest {
		m.latest, m.cameAt = f, m.now
	}
	if m.opt.Still && m.newest != nil && !m.newest.At.IsZero() && m.now.Sub(m.tookAt) < f.Every {
		return nil // it is shown when its time has come, if none newer is there then
	}
	m.newest, m.tookAt, m.title = f, m.now, titleOf(f, m.opt)
	if m.window > 0 && f.WindowS == m.window.Seconds() {
		m.window = 0
	}
	return m.call(f)
}

// frame is the one to show: the frozen, the newest, or before the first one that
// only names the targets.
func (m *Model) frame() *model.Frame {
	switch {
	case m.frozen != nil:
		return m.frozen
	case m.newest != nil:
		return m.newest
	}
	m.newest = before(m.opt)
	return m.newest
}

// before is the frame of the time when there was none.
func before(opt Options) *model.Frame {
	f := &model.Frame{Schema: model.Schema, Every: opt.Every}
	for _, t := range opt.Targets {
		f.Targets = append(f.Targets, model.TargetView{Name: t.Name, ID: t.ID, Kind: t.Kind, Simulated: t.Simulated})
		f.Simulated = f.Simulated || t.Simulated
	}
	return f
}

func (m *Model) onBackground(dark bool) {
	if m.auto {
		m.wear(m.opt.Themes.For(dark))
	}
}

// onProfile learns what the terminal can show. Without colours the mono theme
// says by weight what the others say by colour.
func (m *Model) onProfile(p colorprofile.Profile) {
	m.basic = p == colorprofile.ANSI
	if t, err := m.opt.Themes.Find("mono"); err == nil && p < colorprofile.ANSI {
		m.opt.NoColour, m.auto = true, false
		m.theme = t
	}
	m.wear(m.theme)
}

func (m *Model) wear(t *themes.Theme) {
	m.theme, m.inks = t, panes.NewInks(t, m.basic)
	if m.dim {
		m.inks = panes.NewDimInks(t, m.basic)
	}
}

// say shows a sentence in the footer for a while.
func (m *Model) say(s string) {
	m.toast, m.until = s, m.now.Add(toastFor)
}

const toastFor = 3 * time.Second
