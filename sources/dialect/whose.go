package dialect

import "slotop/model"

// owners are those whose requests a page tells apart, as a dialect reads it.
type owners struct {
	workflows bool // it names any
	models    bool // … several
}

// placeable reports whether it can be told whose requests a reading counts: it
// names workflows, where anything on the page does, or models, where the page has
// several. One that names neither is taken only where there is no other.
func (c *compiler) placeable(d *Dialect, r *reading) bool {
	if d.labels.Workflow == "" || r.crowd != nil || r.names(model.LabelWorkflow) {
		return true
	}
	of, known := c.whose[d]
	if !known {
		of = c.ownersOf(d)
		c.whose[d] = of
	}
	return !of.workflows && (!of.models || r.names(model.LabelModel))
}

// names reports whether any sample of the reading bears the label.
func (r *reading) names(label string) bool {
	for i := range r.rows {
		if r.rows[i].labels.Get(label) != "" {
			return true
		}
	}
	for i := range r.hists {
		if r.hists[i].labels.Get(label) != "" {
			return true
		}
	}
	return false
}

func (c *compiler) ownersOf(d *Dialect) owners {
	var of owners
	first := ""
	for i, s := range c.page.Series {
		if !c.page.Seen[i] || !d.only.match(s.Labels) {
			continue
		}
		of.workflows = of.workflows || d.named(s.Labels, d.labels.Workflow) != ""
		switch m := d.named(s.Labels, d.labels.Model); {
		case m == "" || m == first:
		case first == "":
			first = m
		default:
			of.models = true
		}
	}
	return of
}
