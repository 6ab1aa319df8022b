package panes

import (
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// This file writes rows of tables as plain text, a "name: value" a line: what is copied
// is pasted into a chat, where columns do not stand under one another.

// copiedWidth is the width that a value may take where no screen bounds it.
const copiedWidth = 60

// pairs is every column of a row, those that no screen has room for as well.
func pairs[R any](cols []column[R], r R, look Look) string {
	var b strings.Builder
	name := ""
	for _, c := range cols {
		value := strings.TrimSpace(c.draw(r, copiedWidth, look).text)
		title := c.title
		if title == "SLO" { // of the column before it
			title = strings.Fields(name)[0] + " SLO"
		}
		name = c.title
		if title != "" && value != "" {
			b.WriteString(title + ": " + value + "\n")
		}
	}
	return b.String()
}

// copiedScreen is a width in which tables choose their columns as on a wide screen.
const copiedScreen = 200

// WorkflowText is the workflow under the cursor, and its name.
func WorkflowText(f *model.Frame, look Look) (text, name string) {
	w := chosenOne(f, look)
	if w == nil {
		return "", ""
	}
	return pairs(workflowColumns(f, []model.WorkflowView{*w}, copiedScreen, look), w, look), unit.Escape(w.Name, look.ASCII)
}

// TargetText is the target under the cursor of the fleet, and its name.
func TargetText(f *model.Frame, look Look) (text, name string) {
	order := targetOrder(f, look.View.Filter, look.View.Sort)
	if len(order) == 0 {
		return "", ""
	}
	t := order[0]
	for _, v := range order {
		if v.ID == look.View.Target {
			t = v
		}
	}
	return pairs(targetColumns(f, []*model.TargetView{t}, copiedScreen, 0, look), rowOf(t, f), look), unit.Escape(t.Name, look.ASCII)
}

// UseText is the engine or the GPU under the cursor of the utilization, and its name.
func UseText(f *model.Frame, look Look) (text, name string) {
	row := UseUnder(f, look.View)
	if d := deviceNamed(f, row.Device); d != nil {
		return pairs(deviceColumns([]deviceEntry{{d: d}}, copiedScreen, look), d, look), deviceLabel(d, look)
	}
	u := utilizationOf(f, row.Engine)
	if u == nil {
		return "", ""
	}
	return pairs(utilizationColumns([]*model.UtilizationView{u}, copiedScreen, look), u, look), unit.Escape(u.Target, look.ASCII)
}
