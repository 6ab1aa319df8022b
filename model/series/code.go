package series

import "math"

// absent marks NaN among the offsets.
const absent = math.MaxUint32

// packed is a row in half the memory: most columns are whole counts, which fit
// in 32 bits as the distance from the column's first value. Nothing is rounded:
// a column that ever does not fit, such as a sum of seconds, is wide from then
// on and stands in full behind the others.
type packed struct {
	offset []uint32
	wide   []float64
}

// code is what the rows of one ring share. A wide column keeps its base, because
// rows packed before it became wide still count from there.
type code struct {
	base   []float64 // first number of each column, NaN before it
	born   []bool    // rows that are too short had 0 here
	isWide []bool
	wide   []int // the wide columns in the order in which they became so
}

func (c *code) column(born bool) {
	c.base = append(c.base, math.NaN())
	c.born = append(c.born, born)
	c.isWide = append(c.isWide, false)
}

// pack writes row into p, whose memory is used again.
func (c *code) pack(row []float64, p *packed) *packed {
	p.offset = p.offset[:0]
	for i, v := range row {
		p.offset = append(p.offset, c.offset(i, v))
	}
	p.wide = p.wide[:0]
	for _, i := range c.wide {
		p.wide = append(p.wide, row[i])
	}
	return p
}

// offset is v as a distance from the column's base. Where that is not exact the
// column becomes wide, and the offset is not looked at.
func (c *code) offset(i int, v float64) uint32 {
	if c.isWide[i] || math.IsNaN(v) {
		return absent
	}
	if math.IsNaN(c.base[i]) {
		c.base[i] = v
	}
	if d := v - c.base[i]; d >= 0 && d < absent && c.base[i]+float64(uint32(d)) == v {
		return uint32(d)
	}
	c.isWide[i] = true
	c.wide = append(c.wide, i)
	return absent
}

// at is column i of a packed row, wide columns aside.
func (c *code) at(p *packed, i int) float64 {
	if i >= len(p.offset) {
		if c.born[i] {
			return 0
		}
		return math.NaN()
	}
	if p.offset[i] == absent {
		return math.NaN()
	}
	return c.base[i] + float64(p.offset[i])
}

// unpack writes the row that was packed into p.
func (c *code) unpack(row []float64, p *packed) {
	for i := range row {
		row[i] = c.at(p, i)
	}
	for k, v := range p.wide {
		row[c.wide[k]] = v
	}
}

// gains writes newest minus p for the first len(dst) columns.
func (c *code) gains(dst, newest []float64, p *packed) {
	for i := range dst {
		dst[i] = newest[i] - c.at(p, i)
	}
	for k, v := range p.wide {
		if i := c.wide[k]; i < len(dst) {
			dst[i] = newest[i] - v
		}
	}
}
