package reel

import (
	"reflect"

	"slotop/model"
)

// The sizes of what a frame is made of, in bytes.
var (
	frameSize    = sizeOf[model.Frame]()
	targetSize   = sizeOf[model.TargetView]()
	workflowSize = sizeOf[model.WorkflowView]()
	deviceSize   = sizeOf[model.DeviceView]()
	useSize      = sizeOf[model.UtilizationView]()
	alertSize    = sizeOf[model.AlertView]()
	logSize      = sizeOf[model.AlertEvent]()
	findingSize  = sizeOf[model.FindingView]()
	judgedSize   = sizeOf[model.Unjudged]()
	stageSize    = sizeOf[model.StageView]()
	diagnoseSize = sizeOf[model.DiagnosisView]()
	capacitySize = sizeOf[model.CapacityView]()
	eventSize    = sizeOf[model.Event]()
	distSize     = sizeOf[model.Dist]()
	engineSize   = sizeOf[model.EngineView]()
	shareSize    = sizeOf[model.ObjectiveView]()
)

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// besides is what hangs on a workflow, a finding, a stage, a diagnosis or a pool's
// capacity besides what is counted: lists and sentences.
const besides = 1 << 10

// Weigh estimates how many bytes a frame keeps alive that no other frame does. Its
// texts are mostly shared, and the past of its charts is not counted: all of that
// hangs on the newest frame anyway.
func Weigh(f *model.Frame) int {
	w := frameSize + len(f.Alerts)*alertSize + len(f.AlertLog)*logSize + len(f.Unjudged)*judgedSize +
		len(f.Devices)*deviceSize + len(f.Utilization)*(useSize+besides) + len(f.Events)*eventSize +
		len(f.Findings)*(findingSize+besides) + len(f.Stages)*(stageSize+besides) +
		len(f.Diagnoses)*(diagnoseSize+besides) + len(f.Capacity)*(capacitySize+besides)
	for i := range f.Targets {
		t := &f.Targets[i]
		w += targetSize + len(t.Engines)*engineSize + dists(t.TTFT, t.TPOT, t.ITL)
	}
	for i := range f.Workflows {
		v := &f.Workflows[i]
		w += workflowSize + besides + len(v.Objectives)*shareSize +
			dists(v.TTFT, v.TPOT, v.ITL, v.E2E, v.Queue, v.Prefill, v.Decode, v.FirstAnswer, v.Response)
	}
	return w
}

func dists(all ...*model.Dist) (w int) {
	for _, d := range all {
		if d != nil {
			w += distSize
		}
	}
	return w
}
