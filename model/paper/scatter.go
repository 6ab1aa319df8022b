package paper

import "math"

// Scatter is points over two values, each with an interval upwards and downwards.
type Scatter struct {
	Points           []Spot
	XName, YName     string
	XFormat, YFormat func(float64) string
	Top              float64 // the highest y that can be; 0: as high as the points
	Limit            float64 // y that was promised; 0: nothing
	Promise          string
	Rule             float64 // x of a vertical rule; 0: none
	RuleName         string
	Name             string // what a point is
}

// Spot is a point of a scatter.
type Spot struct {
	X, Y, Lo, Hi float64 // Lo and Hi NaN: no interval
	Quiet        bool    // it proves nothing
	Says         string
}

func (s *Scatter) draw(c *canvas) {
	c.height = chartOver + chartField + chartUnder + 14
	mostX, mostY := s.Rule, max(s.Limit, s.Top)
	for _, p := range s.Points {
		mostX = max(mostX, p.X)
		if s.Top == 0 {
			mostY = max(mostY, p.Y)
		}
	}
	x, xs := linear(mostX, 0, 100)
	const bottom = chartOver + chartField
	y, ys := linear(mostY, bottom, chartOver)
	for _, t := range ys {
		c.line("grid", 0, y.at(t), 100, y.at(t))
		c.beside(y.at(t)+4, s.YFormat(t))
	}
	c.line("axis", 0, bottom, 100, bottom)
	for i, t := range xs {
		anchor := "middle"
		if i == len(xs)-1 {
			anchor = "end"
		}
		c.line("axis", x.at(t), bottom, x.at(t), bottom+4)
		c.text("", x.at(t), bottom+17, anchor, s.XFormat(t))
	}
	c.text("", 50, bottom+32, "middle", s.XName)
	for _, p := range s.Points {
		if !math.IsNaN(p.Lo) && !math.IsNaN(p.Hi) {
			c.line("whisker", x.at(p.X), y.at(p.Lo), x.at(p.X), y.at(p.Hi))
		}
	}
	for _, p := range s.Points {
		class := "dot"
		if p.Quiet {
			class += " quiet"
		}
		c.dot(class, x.at(p.X), y.at(p.Y), 4, p.Says)
	}
	if s.Limit > 0 {
		c.line("limitline", 0, y.at(s.Limit), 100, y.at(s.Limit))
		c.text("limit", 0, y.at(s.Limit)+14, "start", s.Promise)
	}
	if s.Rule > 0 {
		at := x.at(s.Rule)
		c.line("markline", at, chartOver-2, at, bottom)
		anchor := "start"
		if at > 60 {
			anchor = "end"
		}
		c.text("name", at, chartOver-6, anchor, s.RuleName)
	}
}

func (s *Scatter) legend() []entry {
	out := []entry{{"dot", "point", s.Name}}
	for _, p := range s.Points {
		if p.Quiet {
			out = append(out, entry{"dot quiet", "point", "too few requests to prove anything"})
			break
		}
	}
	if s.Limit > 0 {
		out = append(out, entry{"limitline", "line", "objective"})
	}
	return out
}

func (s *Scatter) sparks() []spark { return nil }
