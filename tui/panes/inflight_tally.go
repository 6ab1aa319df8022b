package panes

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
)

// This file counts requests: those in flight by where they stand, and those that ended
// by how. Both are whole tables of rows that keep their places, whatever is in them.

// tally is one row: how many requests, and what share of all of the table.
type tally struct {
	name, what string // what all rows count: "flight", "the window"
	topic, of  string // of the glossary, and whose
	n          model.Reading
	perSecond  float64 // NaN: not known
	share      float64 // NaN: none
	alarm      bool    // any of them is too many
	bar        themes.Role
	note       string // what to know of them, where there is room
}

// ink is the role of the number.
func (t tally) ink() themes.Role {
	switch v, ok := t.n.Get(); {
	case ok && v == 0:
		return themes.Muted
	case t.alarm:
		return themes.Warn
	default:
		return themes.Text
	}
}

// standingRows is the requests in flight by phase, as far as anybody tells: a gateway's
// events tell each, engines only who runs.
func standingRows(w *model.WorkflowView) []tally {
	row := func(name, topic string, n model.Reading, bar themes.Role) tally {
		return tally{name: name, what: "flight", topic: topic, of: w.Name, n: n, bar: bar, perSecond: math.NaN(), share: math.NaN()}
	}
	p := w.Phases
	if p == nil {
		out := []tally{row("waiting", "waiting", w.Requests.Waiting, themes.High), row("running", "running", w.Requests.Running, themes.Low)}
		if !out[0].n.OK() || !out[1].n.OK() { // the one is no share of all where nobody tells the other
			return out
		}
		return shared(out)
	}
	out := []tally{
		row("queued", "phase.queued", p.Queued, themes.High), row("preparing context", "phase.preparing_context", p.PreparingContext, themes.High),
		row("waiting for model", "phase.waiting_for_model", p.WaitingForModel, themes.High), row("streaming", "phase.streaming", p.Streaming, themes.Low),
		row("tool call", "phase.tool_call", p.ToolCall, themes.Low), row("retrying", "phase.retrying", p.Retrying, themes.High),
	}
	if p.Other.Value > 0 {
		out = append(out, row("another phase", "phase.other", p.Other, themes.Low))
	}
	if p.Unknown.Value > 0 {
		silent := row("silent", "phase.unknown", p.Unknown, themes.Warn)
		silent.alarm = true
		out = append(out, silent)
	}
	return shared(out)
}

// shared gives each row its share of all.
func shared(rows []tally) []tally {
	all := 0.0
	for _, r := range rows {
		all += r.n.Value
	}
	for i := range rows {
		rows[i].share = math.NaN()
		if v, ok := rows[i].n.Get(); ok && all > 0 {
			rows[i].share = v / all
		}
	}
	return rows
}

// endedRows is what became of the requests of the window.
func endedRows(f *model.Frame, w *model.WorkflowView) []tally {
	r := w.Requests
	row := func(name, topic string, n model.Reading, alarm bool, bar themes.Role) tally {
		t := tally{name: name, what: "the window", topic: "requests." + topic, of: w.Name, n: n, alarm: alarm, bar: bar, perSecond: math.NaN()}
		if s, ok := f.CoveredS.Get(); ok && s > 0 && n.OK() && r.Basis != model.SinceStart {
			t.perSecond = n.Value / s
		}
		return t
	}
	failed := row("failed", "failed_otherwise", less(r.Failed, r.Throttled), true, themes.Warn)
	failed.note = endReasons(r.FailedBy)
	cancelled := row("cancelled", "cancelled", r.Cancelled, false, themes.High)
	cancelled.note = endReasons(r.CancelledBy)
	out := shared([]tally{
		row("served whole", "whole", less(r.Finished, r.OutputLimit), false, themes.Low),
		row("cut at limit", "output_limit", r.OutputLimit, false, themes.High),
		cancelled, failed,
		row("throttled", "throttled", r.Throttled, true, themes.Warn),
		row("unaccounted", "unaccounted", r.Unaccounted, true, themes.Warn),
	})
	if !r.OutputLimit.OK() {
		out[0].name = "served"
	}
	return out
}

// less takes away a part, as far as that is known.
func less(all, some model.Reading) model.Reading {
	if !all.OK() || !some.OK() {
		return all
	}
	return model.Of(max(all.Value-some.Value, 0))
}

// endReasons names why requests ended badly, the most frequent first.
func endReasons(all []model.Cause) string {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0].Reason
	default:
		return fmt.Sprintf("%s %s, +%d", all[0].Reason, samples(all[0].N), len(all)-1)
	}
}

// inFlightTitle is how many are in flight, and who says so.
func inFlightTitle(w *model.WorkflowView) []seg {
	all, known := 0.0, false
	for _, r := range []model.Reading{w.Requests.Running, w.Requests.Waiting} {
		all, known = all+r.Value, known || r.OK()
	}
	title := []seg{{themes.Strong, "IN FLIGHT"}}
	if known {
		title = append(title, seg{themes.Text, " " + samples(all)})
	}
	return title
}

// untoldPhases is what engines do not tell of those who run, and who would.
func untoldPhases(w int, look Look) []string {
	s := &sheet{w: w, look: look}
	s.text(1, themes.Muted, "running: prefill or decode not told apart. A gateway's events tell each phase: events+http://HOST beside the engines")
	return s.out
}

// endedRemarks is how many attempts were repeated, which are no end and have no share,
// and what the counts cover where it is not the window.
func endedRemarks(f *model.Frame, w *model.WorkflowView, look Look) []part {
	r := w.Requests
	out := []part{look.measure(1, "retried", look.reading(r.Retries, tallyN, samples), "").of("requests.retries", w.Name)}
	if s, ok := f.CoveredS.Get(); ok && s > 0 && r.Retries.Value > 0 {
		out[0].segs = append(out[0].segs, seg{themes.Muted, " " + unit.Rate(r.Retries.Value/s) + "/s"})
	}
	if r.Basis == model.SinceStart {
		out = append(out, say(0, themes.Warn, "since the server started"))
	}
	return out
}

// What the columns of a tally take.
const (
	tallyNameW = 17
	endedNameW = 12
	tallyN     = 5
	tallyRate  = 7
	tallyShare = 5
	tallyBar   = 16 // at most
)

// tallies is a table of requests with a bar for each share.
func tallies(title []seg, rows []tally, w int, rates bool, look Look, remarks ...part) []string {
	out := []string{look.rule(w, title, remarks...)}
	name := tallyNameW
	if rates {
		name = endedNameW
	}
	at := 1 + name + 1 + tallyN + 1 + tallyShare + 1
	if rates {
		at += tallyRate + 1
	}
	notes := 0
	if room := w - at - tallyBar - 2; room > 14 {
		notes = room
	}
	bar := min(max(w-at, 0), tallyBar)
	for _, r := range rows {
		l := look.line(w).pad(1).put(themes.Muted, look.cut(r.name, name)).pad(name + 2)
		n := look.reading(r.n, tallyN, samples)
		if r.n.OK() {
			n.role = r.ink()
		}
		l.right(tallyN, n, About{r.topic, r.of})
		some := r.n.Value > 0
		if rates && some {
			l.pad(l.w+1).right(tallyRate, perSecondCell(r.perSecond), About{})
		}
		l.pad(at - tallyShare - 1)
		if some && !math.IsNaN(r.share) {
			l.right(tallyShare, cell{themes.Muted, unit.Percent(r.share)}, About{})
		}
		l.pad(at)
		switch full, empty := chart.Meter(r.share, bar, look.ASCII); {
		case !math.IsNaN(r.share):
			l.put(r.bar, full).put(themes.Rule, empty)
		case r.note != "" && notes == 0:
			l.put(themes.Muted, look.clipped(r.note, w-at))
		}
		if notes > 0 && some {
			l.pad(at+bar+2).put(themes.Muted, look.foreign(r.note, notes))
		}
		out = append(out, l.String())
	}
	return out
}

func perSecondCell(v float64) cell {
	if math.IsNaN(v) {
		return cell{}
	}
	return cell{themes.Muted, unit.Rate(v) + "/s"}
}

// right writes a cell at the right end of n cells, marked as a number where it is one.
func (l *line) right(n int, c cell, a About) *line {
	l.pad(l.w + max(n-cells(c.text), 0))
	l.begin(a)
	l.put(c.role, c.text)
	l.end(a)
	return l
}
