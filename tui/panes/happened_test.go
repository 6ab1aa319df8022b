package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// Events are listed with their letters, newest first, what is foreign is escaped, and
// what is left out is counted.
func TestHappened(t *testing.T) {
	f := tuitest.Calm()
	at := func(ago time.Duration) model.Instant { return f.At.Add(-ago) }
	f.Events = []model.Event{
		{At: at(30 * time.Hour), Kind: model.EventRestart, Target: "vllm-1"},
		{At: at(3 * time.Minute), Kind: model.EventDeploy, Target: model.Text("chat \x1b[31mv42 " + strings.Repeat("long ", 30))},
		{At: at(2 * time.Minute), Kind: model.EventBreach, Workflow: "chat"},
		{At: at(time.Minute), Kind: model.EventCleared, Workflow: "chat"},
	}
	f.EventsDropped = 7
	draw := func(notes string) []string {
		out := Alerts{}.Render(f, layout.Size{W: 80, H: 60}, Look{View: View{Notes: notes}})
		all := strings.Split(out, "\n")
		for i, l := range all {
			if strings.Contains(l, "EVENTS") {
				return all[i+1:]
			}
		}
		return nil
	}
	got := draw("1 line of deploys.log no annotation")
	for i, want := range []string{
		"+ chat no more breached", "! chat breached", "D deployment chat ␛[31mv42 long", "R restart of vllm-1", "+ 7 more", "1 line of deploys.log no annotation",
	} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Fatalf("line %d: %q, want %q", i, got, want)
		}
	}
	if clock := f.Events[0].At.Wall.UTC().Format("01-02 15:04:05"); !strings.Contains(got[3], clock) {
		t.Errorf("%q does not say %s", got[3], clock)
	}
	for i := range 20 {
		f.Events = append(f.Events, model.Event{At: at(0), Kind: model.EventStage, Target: model.Text(fmt.Sprint(i))})
	}
	if got = draw(""); !strings.Contains(got[0], "stage 19") || !strings.Contains(got[maxHappened], fmt.Sprintf("+ %d more", 24-maxHappened+7)) {
		t.Errorf("%q", got)
	}
	if f.Events = nil; draw("") != nil {
		t.Error("a list of nothing")
	}
}
