package paper

import "math"

// Roofline is what a machine can do at most for how much it computes on each byte, and
// where it runs.
type Roofline struct {
	Peak, Bandwidth float64 // FLOP/s and bytes/s of one device
	Points          []Place // the one that matters most first
	Flops           func(float64) string
	Intensity       func(float64) string
}

// Place is where something runs on a roofline.
type Place struct {
	Name         string
	X, Y         float64 // FLOP a byte, FLOP/s
	Quiet        bool
	Past         bool // one of its trail: no name
	NameToTheLow bool // its name stands under it, where another is near
}

// span is the range of intensities that is shown.
func (r *Roofline) span() (from, to float64) {
	ridge := r.Peak / r.Bandwidth
	from, to = ridge/30, ridge*6
	for _, p := range r.Points {
		if p.X > 0 {
			from, to = min(from, p.X/2), max(to, p.X*2)
		}
	}
	return from, to
}

func (r *Roofline) draw(c *canvas) {
	c.height = chartOver + chartField + chartUnder + 24
	const bottom = chartOver + chartField + 10
	from, to := r.span()
	x, xs := decades(from, to, 0, 100)
	least := r.Bandwidth * x.from
	for _, p := range r.Points {
		if p.Y > 0 {
			least = min(least, p.Y)
		}
	}
	y, ys := decades(least, r.Peak*1.2, bottom, chartOver)
	for _, t := range ys {
		c.line("grid", 0, y.at(t), 100, y.at(t))
		c.beside(y.at(t)+4, r.Flops(t))
	}
	c.line("axis", 0, bottom, 100, bottom)
	for i, t := range xs {
		anchor := "middle"
		switch i {
		case 0:
			anchor = "start"
		case len(xs) - 1:
			anchor = "end"
		}
		c.line("axis", x.at(t), bottom, x.at(t), bottom+4)
		c.text("", x.at(t), bottom+17, anchor, r.Intensity(t))
	}
	r.roof(c, x, y)
	for i := len(r.Points) - 1; i >= 0; i-- {
		r.place(c, r.Points[i], x, y)
	}
}

// roof draws the two ceilings and the ridge between them.
func (r *Roofline) roof(c *canvas, x, y scale) {
	ridge := r.Peak / r.Bandwidth
	left := x.from
	if r.Bandwidth*left < y.from {
		left = y.from / r.Bandwidth
	}
	xs := []float64{x.at(left) * fieldWidth / 100, x.at(ridge) * fieldWidth / 100, fieldWidth}
	c.open()
	c.path("line s1", trace(xs, []float64{y.at(r.Bandwidth * left), y.at(r.Peak), y.at(r.Peak)}))
	c.close()
	c.text("", 100, y.at(r.Peak)-5, "end", "compute: "+r.Flops(r.Peak))
	c.line("markline", x.at(ridge), y.at(r.Peak), x.at(ridge), y.a)
	c.text("", x.at(ridge)+1, y.a-6, "start", "ridge "+r.Intensity(ridge))
}

func (r *Roofline) place(c *canvas, p Place, x, y scale) {
	if !(p.X > 0 && p.Y > 0) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) {
		return
	}
	class, radius := "dot", 5.0
	if p.Quiet {
		class += " quiet"
	}
	if p.Past {
		c.dot(class, x.at(p.X), y.at(p.Y), 2.5, "")
		return
	}
	c.dot(class, x.at(p.X), y.at(p.Y), radius, p.Name)
	dy, anchor, dx := 4.0, "start", 2.0
	if p.NameToTheLow {
		dy = 20
	}
	if x.at(p.X) > 70 {
		anchor, dx = "end", -2
	}
	c.text("name", x.at(p.X)+dx, y.at(p.Y)+dy, anchor, p.Name)
}

func (r *Roofline) legend() []entry {
	return []entry{{"line s1", "line", "what one device can do at most"}, {"dot", "point", "where it runs"}}
}

func (r *Roofline) sparks() []spark { return nil }
