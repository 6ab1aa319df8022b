package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui"
)

// standing is a recording that stands still at one frame, as a paused replay does.
type standing struct {
	tui.Replay
	at, length time.Duration
	events     []model.Event
}

func (r standing) Position() tui.Position {
	return tui.Position{At: r.at, Length: r.length, Speed: 1, Paused: true}
}

func (r standing) Events() []model.Event { return r.events }

// The incident that the walk leads through: it begins after ten minutes.
const (
	walkedDemo   = "demo:S4?seed=7"
	walkedLength = 14 * time.Minute
	minuteOn     = 11*time.Minute + 9*time.Second // a minute after the breach
)

const walkthrough = "../../docs/walkthrough.md"

// steps are the screens of the walk: when, and which keys lead there.
var steps = []struct {
	name string
	at   time.Duration
	keys []string
}{
	{"calm", 9 * time.Minute, nil},
	{"breach", 0, nil}, // at the event of the breach
	{"because", minuteOn, nil},
	{"latency", minuteOn, []string{"2"}},
	{"utilization", minuteOn, []string{"4"}},
	{"finding", minuteOn, []string{"6", "enter"}},
	{"explain", minuteOn, []string{"2", "tab", "tab", "tab", "e"}},
}

// TestDocsWalkthrough holds every screen of the walk to what the simulator gives.
func TestDocsWalkthrough(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	text, err := os.ReadFile(walkthrough)
	if err != nil {
		t.Fatal(err)
	}
	frames := unrolled(t, walkedDemo, walkedLength)
	fresh := string(text)
	for _, s := range steps {
		f := at(frames, s.at)
		if s.at == 0 {
			f = breached(t, frames)
		}
		fresh = replacePart(t, fresh, s.name, "```\n"+walked(t, frames, f, s.keys...)+"\n```\n")
	}
	isFresh(t, walkthrough, []byte(fresh))
}

// at is the frame that a recording shows at a time.
func at(frames []*model.Frame, since time.Duration) *model.Frame {
	last := frames[0]
	for _, f := range frames {
		if f.At.Mono-frames[0].At.Mono <= since {
			last = f
		}
	}
	return last
}

// breached is the frame to which the key for the next event leads.
func breached(t *testing.T, frames []*model.Frame) *model.Frame {
	t.Helper()
	last := frames[len(frames)-1]
	for _, e := range last.Events {
		if e.Kind == model.EventBreach && string(e.Workflow) == "chat" {
			return at(frames, e.At.Mono-frames[0].At.Mono)
		}
	}
	t.Fatal("chat was never breached")
	return nil
}

// walked is the text of the screen after some keys.
func walked(t *testing.T, frames []*model.Frame, f *model.Frame, keys ...string) string {
	t.Helper()
	set, err := loadThemes()
	if err != nil {
		t.Fatal(err)
	}
	first, last := frames[0], frames[len(frames)-1]
	// Who walks along has not seen what comes later, and neither has the bar.
	known := slices.DeleteFunc(slices.Clone(last.Events), func(e model.Event) bool { return e.At.Mono > f.At.Mono })
	m, err := tui.New(tui.Options{
		Latest: func() *model.Frame { return f }, Tick: func(time.Duration) tea.Cmd { return nil }, Window: func(time.Duration) {},
		Replay: standing{at: f.At.Mono - first.At.Mono, length: last.At.Mono - first.At.Mono, events: known}, Themes: set, Theme: "dark",
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(tui.TickMsg{At: f.At.Wall})
	for _, k := range keys {
		m.Update(press(k))
	}
	lines := strings.Split(ansi.Strip(m.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestDocsWalkthroughCommands runs the commands of the walk, and holds what the walk
// quotes of their output to it.
func TestDocsWalkthroughCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	text, err := os.ReadFile(walkthrough)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"slotop record -o incident.tape --for 14m '" + walkedDemo + "'", "slotop replay incident.tape", "slotop report -o incident.html incident.tape",
		"slotop check incident.tape",
	} {
		says(t, "the walk", string(text), command)
	}
	tape := filepath.Join(t.TempDir(), "incident.tape")
	if r := headless(t, "record", "-o", tape, "--for", walkedLength.String(), walkedDemo); r.code != exitOK {
		t.Fatalf("record: %d %s", r.code, r.err)
	}
	check := headless(t, "check", tape)
	if check.code != exitMissed {
		t.Errorf("check gives %d", check.code)
	}
	fresh := replacePart(t, string(text), "check", "```\n"+verdicts(check.out)+"```\n")
	fresh = replacePart(t, fresh, "report", quotedFirst(headless(t, "report", tape).out))
	isFresh(t, walkthrough, []byte(fresh))
}

// verdicts is the table of a check.
func verdicts(text string) string {
	_, rest, _ := strings.Cut(text, "\n\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	return table + "\n"
}

// quotedFirst is what a report says first.
func quotedFirst(markdown string) string {
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(line, ">") {
			b.WriteString(line)
		}
	}
	return b.String()
}
