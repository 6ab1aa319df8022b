package panes

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestEmptyScreensSayHow: where a screen has nothing to show it says what is missing and
// how to get it.
func TestEmptyScreensSayHow(t *testing.T) {
	nobody := &model.Frame{}
	calm := tuitest.Calm()
	calm.Devices, calm.Capacity, calm.Utilization = nil, nil, nil
	gateway := tuitest.Calm()
	gateway.Capacity, gateway.Targets = nil, gateway.Targets[:1]
	gateway.Targets[0].Kind = model.GatewayTarget
	server := tuitest.Calm()
	server.Capacity, server.Targets = nil, server.Targets[:1]
	server.Targets[0].Kind = model.PrometheusTarget
	deaf := tuitest.Empty()
	unset := tuitest.Calm()
	unset.Alerts, unset.AlertLog, unset.Rules = nil, nil, 0
	for i := range unset.Workflows {
		unset.Workflows[i].Budget = nil
	}
	assumed := tuitest.Calm()
	assumed.Alerts, assumed.AlertLog = nil, nil
	tests := []struct {
		pane  Pane
		what  string
		frame *model.Frame
		view  View
		want  []string
	}{
		{Waiting{}, "no target", nobody, View{}, []string{"nothing to watch yet", "slotop localhost:8000", "prom+http://", "slotop demo"}},
		{Waiting{}, "refused", deaf, View{}, []string{"no good answer yet", "--enable-metrics"}},
		{Inflight{}, "no target", nobody, View{}, []string{"nothing is watched", "slotop localhost:8000"}},
		{Inflight{}, "no answer", deaf, View{}, []string{"no target has answered yet: screen 1"}},
		{Latency{}, "no target", nobody, View{}, []string{"nothing is watched", "slotop localhost:8000"}},
		{Latency{}, "GPUs alone", tuitest.OnlyGPUs(), View{}, []string{"only GPUs are watched", "slotop localhost:8000 nvml:"}},
		{Devices{}, "no GPU", calm, View{}, []string{"nobody tells of GPUs", "slotop localhost:8000 nvml:"}},
		{Fleet{}, "no target", nobody, View{}, []string{"no target is watched", "slotop localhost:8000", "prom+http://HOST:9090"}},
		{Fleet{}, "nothing matches", calm, View{Filter: "x\x1by"}, []string{"no target matches x␛y: esc shows all", "version"}},
		{Alerts{}, "no rule", unset, View{}, []string{"no rule watches yet", "slotop config init"}},
		{Alerts{}, "assumed objectives", assumed, View{}, []string{"no alert; 12 rules watch 3 workflows", "assumed objectives page nobody", "slotop config init"}},
		{Capacity{}, "a provider", gateway, View{}, []string{"no engine is watched", "slotop localhost:8000"}},
		{Capacity{}, "a server without steps", server, View{}, []string{"no pool yet", "vllm:iteration_tokens_total"}},
		{Capacity{}, "no traffic of a minute", calm, View{}, []string{"traffic of a minute", "gaps between tokens"}},
		{Capacity{}, "no answer", deaf, View{}, []string{"no engine has answered"}},
	}
	for _, tc := range tests {
		for _, size := range []layout.Size{{W: 80, H: 21}, {W: 120, H: 37}, {W: 40, H: 8}} {
			got := ansi.Strip(tc.pane.Render(tc.frame, size, Look{View: tc.view}))
			tuitest.Fits(t, tc.pane.Name()+", "+tc.what, got, size.W, size.H)
			if size.W < 80 {
				continue // it is as much as fits
			}
			for _, w := range tc.want {
				if !strings.Contains(strings.Join(strings.Fields(got), " "), w) {
					t.Errorf("%s, %s at %d columns: no %q in\n%s", tc.pane.Name(), tc.what, size.W, w, got)
				}
			}
		}
	}
}
