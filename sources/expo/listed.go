package expo

import "math"

// awayPages is for how many pages a row of a crowd may be away.
const awayPages = 16

// cover tells the columns their families: all of them after the page declared
// others than the page before, else those that are new. It reports how many of
// those crowds have, and whether one that was known belongs to another family now.
func (g *gathering) cover(f *families, page uint32, declared bool) (fresh int, changed bool) {
	for _, c := range g.crowds {
		for i := range c.Columns {
			col := &c.Columns[i]
			isNew := col.Family == ""
			if !isNew && !declared {
				continue
			}
			if isNew && c.apart {
				fresh++
			}
			family, typ := f.cover(col.Name, page)
			changed = changed || !isNew && (family != col.Family || typ != col.Type)
			col.Family, col.Type = family, typ
		}
	}
	return fresh, changed
}

// setApart takes the crowds out of the list that have more cells than the limit.
// It reports whether one of them was listed.
func (g *gathering) setApart(limit int) (changed bool) {
	for _, c := range g.crowds {
		if c.apart || c.used()*len(c.Columns) <= limit {
			continue
		}
		c.apart = true
		for i := range c.Columns {
			changed = changed || c.Columns[i].series != nil
		}
	}
	return changed
}

// used is the number of rows that have labels.
func (c *Crowd) used() int { return len(c.texts) - len(c.free) }

// giveUp lets go of rows that are away: of a crowd apart after some time, or at
// once where room is short; of those that are listed when they are most of what
// is. It reports whether series on the list are gone.
func (g *gathering) giveUp() (changed bool) {
	here, away := 0, 0
	for _, c := range g.crowds {
		switch {
		case !c.apart:
			here, away = here+c.here, away+c.used()-c.here
		case g.full:
			c.give(1)
		default:
			c.give(awayPages)
		}
	}
	if away == 0 || away <= here+spareEntries && !g.full {
		return false
	}
	for _, c := range g.crowds {
		if !c.apart {
			c.give(1)
			g.cost -= c.release()
		}
	}
	return true
}

// worn is whether most of the sample names are of pages long gone, or columns
// that no row has any more leave no room for others.
func (g *gathering) worn() bool {
	empty := 0
	for _, c := range g.crowds {
		if c.here == 0 {
			empty++
		}
		if g.full && len(c.Columns) == maxColumns && !c.allShown() {
			return true
		}
	}
	here := len(g.crowds) - empty
	return empty > here+spareEntries || g.full && empty > here
}

func (c *Crowd) allShown() bool {
	for i := range c.Columns {
		if !c.Shown(i) {
			return false
		}
	}
	return true
}

// unlist forgets which series stand for which cells.
func (g *gathering) unlist() {
	for _, c := range g.crowds {
		for i := range c.Columns {
			c.Columns[i].series = nil
		}
	}
}

// list gives the series of small crowds their values, and those that are new a
// place, as long as there are no more than the limit.
func (g *gathering) list(p *Page, limit int) {
	for i := range p.Series {
		p.Values[i], p.Seen[i] = math.NaN(), false
	}
	for _, c := range g.crowds {
		if c.apart {
			continue
		}
		for row := range c.texts {
			if c.Seen(row) {
				c.listRow(p, row, limit)
			}
		}
	}
}

func (c *Crowd) listRow(p *Page, row, limit int) {
	var labels []Label
	for i := range c.Columns {
		col := &c.Columns[i]
		v, ok := col.Value(row)
		if !ok {
			continue
		}
		at := col.number(row)
		if *at == none {
			if len(p.Series) >= limit {
				p.Dropped++
				continue
			}
			if labels == nil {
				labels = c.Labels(row, nil)
			}
			*at = int32(len(p.Series))
			p.Series, p.Values, p.Seen = append(p.Series, col.as(labels)), append(p.Values, v), append(p.Seen, true)
			p.New++
		}
		p.Values[*at], p.Seen[*at] = v, true
	}
}
