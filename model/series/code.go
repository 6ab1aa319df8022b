package series

import (
	"encoding/binary"
	"math"
)

// packed is a row in a fifth of the memory. Most columns are whole counts, and
// what a bucket counted since the first row differs little from what its
// neighbour did, or not at all. So a row is a text of varints, each one of
//
//	0           one column that is NaN, or wide
//	1 … maxRun  as many columns that counted what the one before them did
//	more        one column, by the difference to the one before it
//
// Nothing is rounded: a column that ever is not a whole number from its base,
// such as a sum of seconds, is wide from then on and stands in full at the end.
type packed struct {
	width int
	wide  int // of the columns
	text  []byte
}

const (
	absent = 0
	maxRun = 16
)

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
	before, run := int64(0), byte(0)
	for i, v := range row {
		counted, whole := c.offset(i, v)
		if whole && counted == before && run < maxRun {
			run++
			continue
		}
		if run > 0 {
			text = append(text, run)
			run = 0
		}
		switch {
		case !whole:
			text = append(text, absent)
		case counted == before:
			run = 1
		default:
			text = binary.AppendUvarint(text, zigzag(counted-before)+maxRun)
			before = counted
		}
	}
	if run > 0 {
		text = append(text, run)
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

// offset is v as a whole number from the base of column i. Where it is another
// number, the column becomes wide.
func (c *code) offset(i int, v float64) (offset int64, whole bool) {
	if c.isWide[i] || math.IsNaN(v) {
		return 0, false
	}
	if math.IsNaN(c.base[i]) {
		c.base[i] = v
	}
	if d := v - c.base[i]; math.Abs(d) <= most && float64(int64(d)) == d && c.base[i]+d == v {
		return int64(d), true
	}
	c.isWide[i] = true
	c.wide = append(c.wide, i)
	return 0, false
}

// zigzag makes small numbers of either sign small ones without.
func zigzag(d int64) uint64   { return uint64(d<<1) ^ uint64(d>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// unpack writes the first len(row) columns of what was packed into p.
func (c *code) unpack(row []float64, p *packed) {
	text := p.text
	counted := int64(0)
	n := min(len(row), p.width)
	for i := 0; i < n; {
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
			i++
			continue
		}
		end := min(i+int(u), n)
		if u > maxRun {
			counted += unzigzag(u - maxRun)
			end = i + 1
		}
		for ; i < end; i++ {
			row[i] = c.base[i] + float64(counted)
		}
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
