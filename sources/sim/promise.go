package sim

import "slotop/model"

// Promises is what the demo's service promises its workflows.
func Promises() []model.WorkflowSpec {
	within := func(m model.Metric, s float64) model.Objective { return model.Objective{Metric: m, MaxS: s} }
	promise := func(name string, share float64, o ...model.Objective) model.WorkflowSpec {
		return model.WorkflowSpec{Name: name, Share: share, PeriodS: model.DefaultPeriodS, Objectives: o}
	}
	return []model.WorkflowSpec{
		promise("chat", 0.95, within(model.MetricTTFT, 0.5), within(model.MetricTPOT, 0.05)),
		promise("summarize", 0.90, within(model.MetricTTFT, 3), within(model.MetricTPOT, 0.075)),
		promise("batch-eval", 0.99, within(model.MetricE2E, 120)),
	}
}
