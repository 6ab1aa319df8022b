package paper

import "strings"

// Bars is a whole in its parts, a bar a row.
type Bars struct {
	Rows   []Bar
	Parts  []string // names of the parts, in the order of each row; the last one is what is left over
	Format func(float64) string
}

// Bar is one whole. Parts below 0 take nothing; the sum is written behind the bar.
type Bar struct {
	Name  string
	Parts []float64
	Sum   float64
}

const (
	barRow    = 38
	barHeight = 14
)

func (b *Bars) draw(c *canvas) {
	c.height = len(b.Rows)*barRow + 4
	most := 0.0
	for _, r := range b.Rows {
		sum := 0.0
		for _, p := range r.Parts {
			sum += max(p, 0)
		}
		most = max(most, sum, r.Sum)
	}
	if most <= 0 {
		most = 1
	}
	for i, r := range b.Rows {
		top := float64(i * barRow)
		c.text("name", 0, top+14, "start", shortName(r.Name, 34))
		c.text("", 100, top+14, "end", b.Format(r.Sum))
		x := 0.0
		for k, p := range r.Parts {
			if p > 0 {
				c.rect(b.class(k), x, top+19, 100*p/most, barHeight)
				x += 100 * p / most
			}
		}
	}
}

func (b *Bars) class(part int) string {
	if part == len(b.Parts)-1 {
		return "bar rest"
	}
	return "bar p" + string(rune('0'+min(part, 3)))
}

func (b *Bars) legend() []entry {
	out := make([]entry, len(b.Parts))
	for i, name := range b.Parts {
		out[i] = entry{b.class(i), "cell", name}
	}
	return out
}

func (b *Bars) sparks() []spark { return nil }

// shortName is a name in n signs: one that is too long is cut in its
// middle, because both ends tell names apart.
func shortName(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	half := (n - 1) / 2
	return strings.TrimSpace(string(r[:half])) + "…" + strings.TrimSpace(string(r[len(r)-half:]))
}
