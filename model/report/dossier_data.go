package report

import (
	"fmt"
	"strings"

	"slotop/model/paper"
	"slotop/model/story"
	"slotop/model/unit"
)

// maxGapRows bounds the table of gaps.
const maxGapRows = 40

// quality is what is to be known of the data that a dossier rests on.
func (d *dossier) quality() paper.Block {
	s := d.s
	polls, failed, restarts, bad, dropped := 0, 0, 0, 0, 0
	for i := range s.Polls {
		p := &s.Polls[i]
		polls, failed, restarts, bad, dropped = polls+p.All, failed+p.Failed, restarts+p.Restarts, bad+p.BadLines, dropped+p.Dropped
	}
	var items []paper.Text
	items = append(items, paper.T(fmt.Sprintf("%s from %s of %s, every %s; %s failed.",
		plural(s.Frames, "frame"), plural(polls, "poll"), plural(len(s.Polls)+s.Left.Polls, "target"), unit.Limit(s.Axis.Poll.Seconds()), unit.Integer(float64(failed)))))
	items = append(items, paper.T(d.gapsLine(failed)))
	if restarts > 0 {
		items = append(items, paper.T(plural(restarts, "restart")+": a counter that falls is of a process that began anew, and what it shows from then on is new."))
	} else {
		items = append(items, paper.T("No target restarted."))
	}
	if bad+dropped > 0 {
		items = append(items, paper.T(fmt.Sprintf("In the last good pages %s could not be read, %s were refused by a limit.", plural(bad, "line"), unit.Integer(float64(dropped))+" series")))
	}
	items = append(items, paper.T(d.thinned()))
	for _, text := range d.from.Damage {
		items = append(items, paper.Toned(text, paper.Warn))
	}
	if text := leftOut(s.Left); text != "" {
		items = append(items, paper.T(text))
	}
	body := []paper.Block{paper.List{Items: items}}
	body = append(body, d.gapTable()...)
	body = append(body, d.badPolls()...)
	return paper.Section{Title: "How good the data is", Body: body}
}

func (d *dossier) gapsLine(failed int) string {
	switch {
	case len(d.s.Gaps) == 0 && failed == 0:
		return "No gap: every target answered throughout."
	case len(d.s.Gaps) == 0:
		return "No gap: a target whose poll failed answered again before its figures were old."
	}
	return plural(len(d.s.Gaps)+d.s.Left.Gaps, "gap") + " without data; nothing is filled in, charts are broken there."
}

// thinned says how points were merged.
func (d *dossier) thinned() string {
	if d.s.Axis.Merged <= 1 {
		return "Series keep every poll. Where a chart has no room for all points, each of its points is the worst of those it stands for: the highest latency, queue and cache usage, the lowest goodput; of rates it is the last."
	}
	return fmt.Sprintf("Series keep a point every %s, each of up to %s: of those it is the worst one, the highest latency, queue and cache usage, the lowest goodput; of rates it is the last. Nothing is averaged.",
		unit.Period(d.s.Axis.Step.Seconds()), plural(d.s.Axis.Merged, "poll"))
}

// leftOut says what the bounds of a story kept out.
func leftOut(l story.Left) string {
	var parts []string
	for _, x := range []struct {
		n    int
		noun string
	}{
		{l.Subjects, "series of workflows, targets or devices"}, {l.Breaches, "breaches"}, {l.Alerts, "alerts"}, {l.Findings, "findings"},
		{l.Events, "events"}, {l.Gaps, "gaps"}, {l.Polls, "targets' polls"},
	} {
		if x.n > 0 {
			parts = append(parts, unit.Integer(float64(x.n))+" "+x.noun)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Left out for want of room: " + strings.Join(parts, ", ") + "."
}

func (d *dossier) gapTable() []paper.Block {
	if len(d.s.Gaps) == 0 {
		return nil
	}
	t := paper.Table{Caption: "Gaps, oldest first", Columns: []paper.Column{{Head: "Target"}, {Head: "What"}, {Head: "From"}, {Head: "Until"}, {Head: "Lasted", Right: true}, {Head: "Why", Wide: true}}}
	for i := range d.s.Gaps[:min(len(d.s.Gaps), maxGapRows)] {
		g := &d.s.Gaps[i]
		who, until := g.Target, d.time(g.To)
		if who == "" {
			who = "all"
		}
		if g.Open {
			until = "the end"
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(who), paper.T(gapWord(g)), paper.T(d.time(g.From)), paper.T(until), paper.T(lasted(g.Lasted().Seconds(), g.Open)), paper.T(g.Why),
		}})
	}
	return []paper.Block{t}
}

// badPolls is a row a target that did not always answer well.
func (d *dossier) badPolls() []paper.Block {
	t := paper.Table{Caption: "Targets that did not always answer well", Columns: []paper.Column{
		{Head: "Target"}, {Head: "Polls", Right: true}, {Head: "Failed", Right: true}, {Head: "Restarts", Right: true}, {Head: "Bad lines", Right: true}, {Head: "Series refused", Right: true},
	}}
	for i := range d.s.Polls {
		p := &d.s.Polls[i]
		if p.Failed+p.Restarts+p.BadLines+p.Dropped == 0 || len(t.Rows) >= maxGapRows {
			continue
		}
		n := func(v int) paper.Text { return paper.T(unit.Integer(float64(v))) }
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{paper.T(p.Target), n(p.All), n(p.Failed), n(p.Restarts), n(p.BadLines), n(p.Dropped)}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []paper.Block{t}
}
