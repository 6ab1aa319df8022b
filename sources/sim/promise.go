package sim

import "slotop/model"

// Promises is what the demo's service promises its workflows, those that come only
// with an incident too.
func Promises() []model.WorkflowSpec {
	within := func(m model.Metric, s float64) model.Objective { return model.Objective{Metric: m, MaxS: s} }
	promise := func(name string, share float64, o ...model.Objective) model.WorkflowSpec {
		return model.WorkflowSpec{Name: name, Share: share, PeriodS: model.DefaultPeriodS, Objectives: o}
	}
	chat := promise("chat", 0.95, within(model.MetricTTFT, 0.5), within(model.MetricTPOT, 0.05))
	chat.Reader = model.ReaderHuman
	job := promise(evalJob.Name, 0.99, within(model.MetricE2E, 3600))
	job.DeadlineS, job.Reader = 3600, model.ReaderProgram
	return []model.WorkflowSpec{
		chat,
		promise("summarize", 0.90, within(model.MetricTTFT, 3), within(model.MetricTPOT, 0.075)),
		promise("batch-eval", 0.99, within(model.MetricE2E, 120)),
		promise(docAgent.Name, 0.90, within(model.MetricTTFT, 10)),
		job,
	}
}
