package series

import (
	"encoding/binary"
	"math"
)

// packed is a row in a quarter of the memory. Most columns are whole counts, and
// what a bucket counted since the first row differs little from what its
// neighbour did: that difference, as a varint, is nearly always a byte or two.
// Nothing is rounded: a column that ever does not fit, such as a sum of seconds,
// is wide from then on and stands in full before the others.
type packed struct {
	width int
	wide  int // of the columns
	text  []byte
}

// absent stands for NaN, and for a column that is wide, among the differences.
const absent = 0

// code is what the rows of one ring share. A wide column keeps its base, because
// rows packed before it became wide still count from there.
type code struct {
	base   []float64 // first number of each column, NaN before it
	born   []bool    // rows that are too short had 0 here
	isWide []bool
	wide   []int // the wide columns in the order in which they became so
	text   []byte
}

func (c *code) column(born bool) {
	c.base = append(c.base, math.NaN())
	c.born = append(c.born, born)
	c.isWide = append(c.isWide, false)
}

// pack writes row into p, whose memory is used again if it fits.
func (c *code) pack(row []float64, p *packed) *packed {
	text := c.text[:0]
	before := int64(0)
	for i, v := range row {
		if c.isWide[i] || !c.fits(i, v) {
			text = append(text, absent)
			continue
		}
		offset := int64(v - c.base[i])
		text = binary.AppendUvarint(text, zigzag(offset-before)+1)
		before = offset
	}
	for _, i := range c.wide {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(row[i]))
	}
	c.text = text
	if n := cap(p.text); n < len(text) || n > 2*len(text) {
		p.text = make([]byte, 0, len(text))
	}
	p.width, p.wide, p.text = len(row), len(c.wide), append(p.text[:0], text...)
	return p
}

// most is the largest offset for which every smaller one is exact.
const most = 1 << 53

// fits is whether v is exactly a whole number from the base of column i. Where
// another number is not, the column becomes wide.
func (c *code) fits(i int, v float64) bool {
	if math.IsNaN(v) {
		return false
	}
	if math.IsNaN(c.base[i]) {
		c.base[i] = v
	}
	d := v - c.base[i]
	if d == math.Trunc(d) && math.Abs(d) <= most && c.base[i]+d == v {
		return true
	}
	c.isWide[i] = true
	c.wide = append(c.wide, i)
	return false
}

func zigzag(d int64) uint64   { return uint64(d<<1) ^ uint64(d>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// unpack writes the first len(row) columns of what was packed into p.
func (c *code) unpack(row []float64, p *packed) {
	text := p.text
	offset := int64(0)
	n := min(len(row), p.width)
	for i := range n {
		u := uint64(text[0])
		if u < 0x80 {
			text = text[1:]
		} else {
			var size int
			u, size = binary.Uvarint(text)
			text = text[size:]
		}
		if u == absent {
			row[i] = math.NaN()
			continue
		}
		offset += unzigzag(u - 1)
		row[i] = c.base[i] + float64(offset)
	}
	for i := n; i < len(row); i++ {
		row[i] = math.NaN()
		if c.born[i] {
			row[i] = 0
		}
	}
	wide := p.text[len(p.text)-8*p.wide:]
	for k, i := range c.wide[:p.wide] {
		if i < len(row) {
			row[i] = math.Float64frombits(binary.LittleEndian.Uint64(wide[8*k:]))
		}
	}
}

// gains writes newest minus p for the first len(dst) columns.
func (c *code) gains(dst, newest []float64, p *packed) {
	c.unpack(dst, p)
	for i, then := range dst {
		dst[i] = newest[i] - then
	}
}
