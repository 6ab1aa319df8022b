package roofline

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed accelerators.csv
var acceleratorsCSV string

// Accelerator is one row of the table of peaks. All peaks are dense: data sheets like
// to print those for sparse matrices, which are twice as high.
type Accelerator struct {
	Vendor, Product string
	Names           []string // as drivers print them
	Capability      string   // compute capability, "9.0"; of AMD the gfx name
	BoostHz         float64  // clock of the peaks
	Memory          float64  // bytes, nominal
	Confidence      string   // A cross-checked, B one secondary source, C derived or remembered
	Note            string

	peaks map[Precision]float64 // FLOP/s; what is not in it the device has not
	bytes float64               // bytes/s
	sms   float64               // streaming multiprocessors, or compute units
	perSM float64               // FLOP a clock of each, dense 16 bit
	seen  float64               // bytes that a driver was seen to report
}

// peakColumns are the table's columns of peaks, in units of 10¹² a second.
var peakColumns = []struct {
	column string
	of     Precision
}{
	{"bf16_dense_tflops", BF16}, {"fp16_dense_tflops", FP16}, {"fp8_dense_tflops", FP8},
	{"fp4_dense_tflops", FP4}, {"int8_dense_tops", INT8},
}

// accelerators is the table, read when it is first asked for. A test reads every row.
var accelerators = sync.OnceValue(func() *acceleratorTable {
	t, _ := readAccelerators(acceleratorsCSV)
	return t
})

type acceleratorTable struct {
	rows   []Accelerator
	byName map[string]*Accelerator // by driver's names and the product's, plain
}

// Accelerators are all rows, in the order of the table.
func Accelerators() []Accelerator { return slices.Clone(accelerators().rows) }

func readAccelerators(text string) (*acceleratorTable, error) {
	rows, err := readTable(text)
	t := &acceleratorTable{byName: map[string]*Accelerator{}}
	if err != nil {
		return t, err
	}
	t.rows = make([]Accelerator, len(rows))
	for i, r := range rows {
		if t.rows[i], err = accelerator(r); err != nil {
			return t, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	for i := range t.rows {
		a := &t.rows[i]
		for _, n := range a.Names {
			if t.byName[plain(n)] != nil && t.byName[plain(n)] != a {
				return t, fmt.Errorf("%s is the name of two accelerators", n)
			}
			t.byName[plain(n)] = a
		}
	}
	for i := range t.rows { // what a driver prints goes before what a product is called
		a := &t.rows[i]
		if t.byName[plain(a.Product)] == nil {
			t.byName[plain(a.Product)] = a
		}
	}
	return t, nil
}

func accelerator(r row) (Accelerator, error) {
	a := Accelerator{
		Vendor: r.text("vendor"), Product: r.text("product"), Names: strings.Split(r.text("nvml_names"), "|"),
		Capability: r.text("compute_capability"),
		BoostHz:    r.number("boost_mhz_of_figure") * 1e6, Memory: r.number("mem_gb") * 1e9,
		Confidence: r.text("confidence"), Note: r.text("note"),
		peaks: map[Precision]float64{}, bytes: r.number("mem_bw_gbs") * 1e9,
		sms: r.number("sm_or_cu"), perSM: r.number("flop_per_clk_per_sm_bf16"), seen: r.number("nvml_total_mib_seen") * mib,
	}
	for _, p := range peakColumns {
		if v := r.number(p.column); !math.IsNaN(v) {
			a.peaks[p.of] = v * 1e12
		}
	}
	return a, r.err()
}

const mib = 1 << 20

// row is one line of a table by the names of its columns.
type row struct {
	cells map[string]string
	bad   *error
}

func readTable(text string) ([]row, error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(lines)-1)
	for _, line := range lines[1:] {
		r := row{cells: make(map[string]string, len(line)), bad: new(error)}
		for i, name := range lines[0] {
			r.cells[name] = line[i]
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (r row) err() error { return *r.bad }

// text is a cell that must be there.
func (r row) text(column string) string {
	s, found := r.cells[column]
	if !found && *r.bad == nil {
		*r.bad = fmt.Errorf("no column %s", column)
	}
	return s
}

// number is a cell's number, NaN where it is empty.
func (r row) number(column string) float64 {
	s := r.text(column)
	if s == "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && *r.bad == nil {
		*r.bad = fmt.Errorf("%s: %w", column, err)
	}
	return v
}

// count is a cell's number, 0 where it is empty.
func (r row) count(column string) float64 {
	if v := r.number(column); !math.IsNaN(v) {
		return v
	}
	return 0
}
