package panes

import (
	"fmt"
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file lays the engines inside a target under its row.

// fleetRow is a row of the fleet: a target, an engine inside it, or how many engines
// more it has.
type fleetRow struct {
	t      *model.TargetView
	engine *model.EngineView
	more   int
	last   bool // of its target
}

// mostInside is how many engines of one target are rows of the fleet, the fullest first:
// more of them would hide the other targets. The target itself, opened, has all.
const mostInside = 16

// fleetRows is the rows in order, and the one under the cursor.
func fleetRows(order []*model.TargetView, v View) (rows []fleetRow, at int) {
	rows = make([]fleetRow, 0, len(order))
	for _, t := range order {
		if t.ID == v.Target {
			at = len(rows)
		}
		rows = append(rows, fleetRow{t: t})
		if !v.Inside || len(t.Engines) < 2 {
			continue
		}
		inside := fullestFirst(t.Engines)
		for i, e := range inside[:min(len(inside), mostInside)] {
			rows = append(rows, fleetRow{t: t, engine: e, last: i == len(inside)-1})
		}
		if n := len(inside) - mostInside; n > 0 {
			rows = append(rows, fleetRow{t: t, more: n, last: true})
		}
	}
	return rows, at
}

// fullestFirst orders engines by what waits at them, then by cache, then by their names.
func fullestFirst(all []model.EngineView) []*model.EngineView {
	out := make([]*model.EngineView, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortStableFunc(out, func(a, b *model.EngineView) int {
		for _, x := range [][2]model.Reading{{b.Waiting, a.Waiting}, {b.KVCacheUsage, a.KVCacheUsage}, {b.Running, a.Running}} {
			if l, r := sortable(x[0]), sortable(x[1]); l != r {
				if l < r {
					return -1
				}
				return 1
			}
		}
		return naturalCompare(a.ID, b.ID)
	})
	return out
}

// amid is the row to show in the middle of h lines, so that the target at the cursor
// and what is inside it are seen.
func amid(rows []fleetRow, at, h int) int {
	last := at
	for last+1 < len(rows) && rows[last+1].t == rows[at].t {
		last++
	}
	return at + min(last-at, max(h-1, 0))/2
}

// targetsIn is the targets of some rows.
func targetsIn(rows []fleetRow) []*model.TargetView {
	var out []*model.TargetView
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1] != r.t {
			out = append(out, r.t)
		}
	}
	return out
}

// moreRows says which rows are shown, in targets where each row is one.
func moreRows(shown []fleetRow, targets, from, to, rows int) string {
	if rows == targets {
		return fmt.Sprintf("%d to %d of %d", from+1, to, targets)
	}
	return fmt.Sprintf("%d of %s shown, with their engines", len(targetsIn(shown)), plural(targets, "target"))
}

// draw is the row in the columns of the targets.
func (r fleetRow) draw(f *model.Frame, t table[row], cursor bool, look Look) string {
	switch {
	case r.more > 0:
		return look.line(t.w).pad(indent).put(themes.Rule, look.branch(true)+" ").put(themes.Muted, plural(r.more, "engine")+" more: enter").String()
	case r.engine == nil:
		return t.row(rowOf(r.t, f), conditionOf(r.t), cursor, look)
	}
	too := imbalances(ranksOf(r.t), look)
	worst := slices.ContainsFunc(too, func(u uneven) bool { return u.name == r.engine.ID })
	l := look.line(t.w).pad(indent)
	for i, c := range t.cols {
		about := r.about(c.title)
		l.begin(about)
		t.place(l, i, c.left, r.cell(c.title, t.width[i], worst, look))
		l.end(about)
	}
	return l.String()
}

// branch is the sign before what lies inside a row.
func (k Look) branch(last bool) string {
	if last {
		return k.pick("└", "`")
	}
	return k.pick("├", "|")
}

// about says what an engine's number in a column is; its name is its target's row.
func (r fleetRow) about(title string) About {
	topic := map[string]string{"RUN": "running", "WAIT": "waiting", "KV": "kv_cache_usage"}[title]
	switch {
	case title == "TARGET":
		return About{"row.target", string(r.t.ID)}
	case topic == "":
		return About{}
	}
	return About{topic, Within(string(r.t.ID), r.engine.ID)}
}

// cell is what an engine has in a column: nobody tells more of it.
func (r fleetRow) cell(title string, w int, uneven bool, k Look) cell {
	old := row{t: r.t}
	mark := func(c cell) cell {
		if uneven && c.role == themes.Text {
			c.role = themes.Warn
		}
		return k.aged(old, c)
	}
	switch title {
	case "TARGET":
		name := unit.Escape(r.engine.ID, k.ASCII)
		if long := "engine " + name; cells(long) <= w-2 {
			name = long
		}
		return mark(cell{themes.Text, k.branch(r.last) + " " + k.cut(name, w-2)})
	case "RUN":
		return mark(k.count(r.engine.Running, w))
	case "WAIT":
		return mark(k.count(r.engine.Waiting, w))
	case "KV":
		return mark(k.ratio(r.engine.KVCacheUsage, w))
	default:
		return cell{}
	}
}
