package discover

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
)

// choose decides what is watched, so that nothing counts twice: engines and
// gateways themselves and not through a Prometheus server that scrapes them, GPUs
// through their driver and not through an exporter that reads the same ones.
func choose(all []Finding) {
	for i := range all {
		f := &all[i]
		if f.Skip != "" {
			continue
		}
		if f.found() {
			f.Open = true
			continue
		}
		f.Open, f.Why = f.worthShowing(), f.failure()
	}
	once(all)
	nvml := all[0].Address == NVML && all[0].Open
	engines := slices.ContainsFunc(all, func(f Finding) bool { return f.found() && f.Kind == model.EngineTarget })
	for i := range all {
		switch f := &all[i]; {
		case !f.Open:
		case f.Kind == model.PrometheusTarget && engines:
			f.leave("the engines are watched themselves: through it they would count twice")
		case f.Kind == model.GPUTarget && f.Address != NVML && nvml && isNVIDIA(f.Engine):
			f.leave("nvml: tells of the same GPUs")
		}
	}
}

func (f *Finding) leave(why string) { f.Open, f.Why = false, why }

// found reports whether something is there that slotop reads.
func (f *Finding) found() bool { return f.Skip == "" && f.Fault == nil && f.Kind != "" }

// Refused reports whether something is there that is worth reading, and does not
// let itself be read.
func (f *Finding) Refused() bool {
	if f.Skip != "" || f.Fault == nil {
		return false
	}
	if f.Address == NVML { // else there is no driver, or no GPU
		return slices.Contains([]model.FaultKind{model.Timeout, model.Denied, model.UnsupportedPage}, f.Fault.Kind)
	}
	switch f.Fault.Kind {
	case model.Denied, model.Certificate:
		return true
	case model.Refused:
		return f.serves != "" // else nothing listens there
	default:
		return f.serves != "" || f.Engine != "" || f.Likely && f.Fault.Kind == model.Timeout
	}
}

// worthShowing reports whether a place that refused is watched all the same, so
// that the refusal is seen to end: where its owner is known to serve, or it asked
// for a key.
func (f *Finding) worthShowing() bool {
	return f.Refused() && (f.serves != "" || f.Engine != "" || f.Address == NVML || f.Likely && f.asksForKey())
}

// failure is what a place has against being read.
func (f *Finding) failure() string {
	if f.Fault != nil {
		return f.Fault.Kind.Word() + ": " + f.Fault.Detail
	}
	if f.Note != "" {
		return f.Note
	}
	return "nothing that slotop reads"
}

// once leaves out what is the same server again: another port of a process that
// was found, or of software that was found and has no page at this one.
func once(all []Finding) {
	for i := range all {
		f := &all[i]
		for j := range all {
			o := &all[j]
			if !f.Open || i == j || !o.found() || !o.Open {
				continue
			}
			switch {
			case f.found() && i > j && f.sameAs(o):
				f.leave("the same as " + o.Address)
			case !f.found() && !f.asksForKey() && f.isPartOf(o):
				f.leave(fmt.Sprintf("another port of %s, which is read at %s", f.Program, o.Address))
			}
		}
	}
}

// isPartOf reports whether a place without a page belongs to a server that was found.
func (f *Finding) isPartOf(o *Finding) bool {
	return f.PID != 0 && f.PID == o.PID || f.serves != "" && f.serves == o.serves
}

// sameAs reports whether two pages are those of one process, and tell of the same.
func (f *Finding) sameAs(o *Finding) bool {
	return f.PID != 0 && f.PID == o.PID && f.Kind == o.Kind && f.Engine == o.Engine && slices.Equal(f.Models, o.Models)
}

func (f *Finding) asksForKey() bool {
	return f.Fault.Kind == model.Denied || f.Fault.Kind == model.Certificate
}

// isNVIDIA reports whether an exporter reads NVIDIA's GPUs.
func isNVIDIA(engine string) bool {
	return strings.Contains(engine, "nvidia") || strings.Contains(engine, "dcgm")
}
