package panes

import (
	"testing"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// A target that passes on what others told says how old that is, of how many it
// is, and when its clock cannot be trusted.
func TestDetailOfWhatIsPassedOn(t *testing.T) {
	f := tuitest.Calm()
	v := &f.Targets[0]
	detail := func() string {
		return Detail{}.Render(f, layout.Size{W: 80, H: 60}, Look{View: View{Target: v.ID}})
	}
	hasNot(t, detail(), "new values", "replicas", "clock")
	v.Kind, v.Engine, v.StepS = model.PrometheusTarget, "", model.Of(15)
	v.Replicas, v.SkewS = model.Replicas{Fresh: 19, Total: 20}, model.Of(-90)
	has(t, detail(), "a Prometheus-compatible server", "every 15 s", "19 of 20 answer", "1 min 30 s behind ours")
	v.SkewS = model.Of(0.4)
	hasNot(t, detail(), "clock")
	v.Kind, v.StepS = model.FinderTarget, model.Of(5)
	has(t, detail(), "other targets")
	hasNot(t, detail(), "new values", "── NOW")
}

// What finds targets is none of those that serve: it has a row among them only
// where it cannot find any, and is not counted with them.
func TestFinderServesNobody(t *testing.T) {
	f := tuitest.Calm()
	n := len(f.Targets)
	f.Targets = append(f.Targets, model.TargetView{ID: "file_sd:a.json", Name: "file_sd:a.json", Kind: model.FinderTarget, State: model.Up, Polls: 3})
	strip := func() string { return Engines{}.Render(f, layout.Size{W: 80, H: 12}, Look{}) }
	head := func() string { return Header{}.Render(f, layout.Size{W: 80, H: 1}, Look{}) }
	hasNot(t, strip(), "file_sd")
	f.Targets[0].Engine = ""
	has(t, head(), plural(n, "target"))
	finder := &f.Targets[n]
	finder.State, finder.Fault = model.Down, &model.FaultView{Fault: model.Fault{Kind: model.Malformed}}
	has(t, strip(), "file_sd")
	has(t, head(), plural(n, "target"))
}

// A server that scrapes tells the hour before anybody looked; what is polled each
// second shows the last minutes.
func TestChartsShowTheHourOfAServer(t *testing.T) {
	f := tuitest.Calm()
	if got := longestIn(f); got != longestPolled {
		t.Errorf("of engines: %v, want %v", got, longestPolled)
	}
	f.Targets[0].Kind = model.PrometheusTarget
	if got := longestIn(f); got != longestPolled {
		t.Errorf("of a server that has not told yet how often it scrapes: %v", got)
	}
	f.Targets[0].StepS = model.Of(15)
	if got := longestIn(f); got != longestScraped {
		t.Errorf("of a server: %v, want %v", got, longestScraped)
	}
}
