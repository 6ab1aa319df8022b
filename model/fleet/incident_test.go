package fleet

import (
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// An incident that a target tells of is marked where it begins and where it ends,
// once each, on the charts of every workflow.
func TestIncidentsAreMarked(t *testing.T) {
	var last *model.Frame
	playDemo(t, "demo:S4?seed=1&at=40s&for=30s", time.Second, 10*time.Second, 90*time.Second, func(f *model.Frame) { last = f })
	if len(last.Workflows) != 3 {
		t.Fatalf("%d workflows", len(last.Workflows))
	}
	for i := range last.Workflows {
		var marks []string
		var span time.Duration
		for _, e := range last.Workflows[i].History.Events {
			if e.Kind == model.EventBreach || e.Kind == model.EventCleared {
				continue
			}
			marks = append(marks, string(e.Kind)+" "+string(e.Target))
			span = e.At.Mono - span
		}
		if got := strings.Join(marks, ", "); got != "incident S4 throttled GPU, recovery S4 throttled GPU" {
			t.Errorf("%s: %s", last.Workflows[i].Name, got)
		}
		if span < 29*time.Second || span > 31*time.Second {
			t.Errorf("%s: marks are %v apart", last.Workflows[i].Name, span)
		}
	}
}
