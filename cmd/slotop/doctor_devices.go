package main

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/report"
)

// device says what can be read of a GPU.
func (t *tells) device(d *model.DeviceView) report.DeviceCheckup {
	c := report.DeviceCheckup{UUID: d.UUID, Name: d.Name, State: d.State, Detail: d.Detail, Shows: []string{}, Lacks: []report.Lack{}}
	for m := range model.NumDeviceMetrics {
		status := d.Values[m].Status
		if status == model.Measured {
			c.Shows = append(c.Shows, wordOf(m))
			continue
		}
		do := t.remedy(m, status)
		if status == model.NotExported && do == "" && !slices.Contains(missed, m) {
			continue
		}
		c.Lacks = append(c.Lacks, report.Lack{What: wordOf(m), Why: status.String(), Metrics: []string{}, Do: model.Text(do)})
	}
	return c
}

// remedy is what to do for a reading without a value, "" where nothing is known to
// help.
func (t *tells) remedy(m model.DeviceMetric, status model.Status) string {
	switch {
	case status == model.NotExported:
		advice, _ := t.dialects.Advice(t.about, m.String())
		return advice.Enable
	case status == model.NotPermitted:
		return "run it as root, set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia module, or stop the other profiler"
	case status == model.NotSupported && t.about.Engine == nvmlEngine && slices.Contains(countersOnly, m):
		return "NVML has it from Hopper on: for older cards watch dcgm-exporter as well (DCGM_FI_PROF_*)"
	default:
		return ""
	}
}

// wordOf is a metric's word in a list: without a comma.
func wordOf(m model.DeviceMetric) string {
	word, more, found := strings.Cut(m.Title(), ", ")
	if found {
		word += " (" + more + ")"
	}
	return word
}

// nvmlEngine is what this host's GPUs are read through.
const nvmlEngine = "nvml"

// countersOnly are the metrics that only hardware counters tell.
var countersOnly = []model.DeviceMetric{model.SMActive, model.SMOccupancy, model.TensorActive, model.DRAMActive}

// missed are the metrics of a device that are worth a line where nothing exports
// them: the roofline and the health of a GPU rest on them.
var missed = []model.DeviceMetric{
	model.Busy, model.SMActive, model.TensorActive, model.DRAMActive,
	model.MemUsed, model.MemTotal, model.Power, model.SMClock, model.Temperature,
}
