package sim

import (
	"slices"

	"slotop/model"
)

// Promises is what the demo's service promises its workflows.
func Promises() []model.WorkflowSpec {
	chat := promise("chat", 0.95, within(model.MetricTTFT, 0.5), within(model.MetricTPOT, 0.05))
	chat.Reader = model.ReaderHuman
	return []model.WorkflowSpec{
		chat,
		promise("summarize", 0.90, within(model.MetricTTFT, 3), within(model.MetricTPOT, 0.075)),
		promise("batch-eval", 0.99, within(model.MetricE2E, 120)),
	}
}

// comersPromises is what it promises those who come only with an incident.
func comersPromises() []model.WorkflowSpec {
	job := promise(evalJob.Name, 0.99, within(model.MetricE2E, 3600))
	job.DeadlineS, job.Reader = 3600, model.ReaderProgram
	return []model.WorkflowSpec{promise(docAgent.Name, 0.90, within(model.MetricTTFT, 10)), job}
}

// Promises is what this service promises its workflows, those of the incident too.
func (s *Sim) Promises() []model.WorkflowSpec {
	promises := Promises()
	for _, w := range comersPromises() {
		if slices.ContainsFunc(s.scenario.Comers, func(c Workflow) bool { return c.Name == w.Name }) {
			promises = append(promises, w)
		}
	}
	return promises
}

func within(m model.Metric, s float64) model.Objective { return model.Objective{Metric: m, MaxS: s} }

func promise(name string, share float64, o ...model.Objective) model.WorkflowSpec {
	return model.WorkflowSpec{Name: name, Share: share, PeriodS: model.DefaultPeriodS, Objectives: o}
}
