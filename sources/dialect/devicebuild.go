package dialect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slotop/model"
	"slotop/sources/expo"
)

const (
	// maxDevices bounds the devices of one page: a row of racks behind one exporter
	// has some hundreds.
	maxDevices = 2048
	// maxKin is how many series of a GPU are enough to name its slices.
	maxKin = 32
	// maxParts bounds the parts of one slice: a GPU instance has seven at most.
	maxParts = 16
)

// deviceLayout is how the devices of a page are read. Like all of a layout it
// follows from the series alone and is shared by targets: nobody writes to it.
type deviceLayout struct {
	spec     *deviceSpec
	rows     []deviceRows // a GPU stands before its slices
	driver   string
	unsliced [model.NumDeviceMetrics]bool // says nothing of a GPU that is cut into slices
	whole    [model.NumDeviceMetrics]bool // is of the whole GPU, on whichever row it stands
	counted  [model.NumDeviceMetrics]bool // is a share that is counted for each slice, and for no GPU that is cut
}

// deviceRows are where one device stands on a page.
type deviceRows struct {
	fixed  model.Device // what does not change: its name for good, and what it is part of
	slice  bool
	gpu    int  // of a slice, while the layout is made: the GPU's place
	sliced bool // others are slices of it
	on     int  // the series that says so, none where there is none

	unmeasured string // what to say where slices are why nobody knows how busy it is

	own       []int // every series that is about it, what names it first
	kin       []int // those of its slices, or of its GPU: they tell of it as well
	cells     [model.NumDeviceMetrics][]deviceCell
	throttle  *throttleCells
	processes []processRow
}

// deviceCell is one way of reading a metric: the rows of each operand.
type deviceCell struct {
	way   *deviceWay
	terms [][]int
}

// deviceBuilder sorts the series of a page by the devices they are about.
type deviceBuilder struct {
	*compiler
	d    *Dialect
	spec *deviceSpec
	l    *deviceLayout

	byKey   map[string][]int // devices, by UUID, and slices by GPU and id
	of      map[int][]int    // devices, by series
	named   map[string]int   // names that devices have, and how many of them
	drivers map[string]bool
	lost    map[string]int  // series that name no device, by their name
	refused map[string]bool // what a bound left out
}

// devices works out the layout of the devices of a dialect, nil where it has none.
func (c *compiler) devices(d *Dialect, l *layout) *deviceLayout {
	if d.devices == nil {
		return nil
	}
	b := &deviceBuilder{
		compiler: c, d: d, spec: d.devices, l: &deviceLayout{spec: d.devices},
		byKey: map[string][]int{}, of: map[int][]int{}, named: map[string]int{}, drivers: map[string]bool{}, lost: map[string]int{}, refused: map[string]bool{},
	}
	b.find()
	b.metrics()
	b.modes()
	b.throttle()
	b.processes()
	b.order()
	l.notes = append(l.notes, b.notes()...)
	if len(b.drivers) > 0 {
		b.l.driver = "driver " + strings.Join(slices.Sorted(maps.Keys(b.drivers)), ", ")
	}
	return b.l
}

// rowsOf are the series of a pattern, under the first prefix that has any.
func (b *deviceBuilder) rowsOf(p pattern) []int {
	for _, prefix := range b.d.prefixes {
		if name := prefix + p.name; b.crowds[name] != nil {
			b.tooMany = append(b.tooMany, name)
		}
		var rows []int
		for _, i := range b.byName[prefix+p.name] {
			if labels := b.page.Series[i].Labels; p.matchers.match(labels) && b.d.only.match(labels) {
				rows = append(rows, i)
			}
		}
		if rows != nil {
			return rows
		}
	}
	return nil
}

// find makes the devices: first those that facts name, then those of any series
// that is read, in the order of the page.
func (b *deviceBuilder) find() {
	for _, p := range b.spec.Facts {
		for _, i := range b.rowsOf(p) {
			b.meet(i)
		}
	}
	var rows []int
	for _, p := range b.spec.patterns() {
		rows = append(rows, b.rowsOf(p)...)
	}
	slices.Sort(rows)
	for _, i := range slices.Compact(rows) {
		b.meet(i)
	}
}

// patterns are the metrics that are about a device.
func (s *deviceSpec) patterns() []pattern {
	var all []pattern
	for _, name := range deviceMetricNames() {
		for i := range s.Metrics[deviceKey(name)] {
			all = append(all, slices.Concat(s.Metrics[deviceKey(name)][i].operands()...)...)
		}
	}
	for i := range s.Throttle {
		all = append(all, s.Throttle[i].From...)
		for _, p := range s.Throttle[i].Flags {
			all = append(all, p...)
		}
	}
	if s.Slices != nil && s.Slices.On != nil {
		all = append(all, *s.Slices.On)
	}
	return all
}

// meet notes which devices a series is about, and makes them where they are new.
func (b *deviceBuilder) meet(row int) {
	if _, known := b.of[row]; known {
		return
	}
	labels := b.page.Series[row].Labels
	of := b.devicesOf(labels)
	b.of[row] = of
	if of == nil {
		b.lost[b.page.Series[row].Name]++
	}
	for _, i := range of {
		b.l.rows[i].own = append(b.l.rows[i].own, row)
	}
	if v := b.spec.Labels.Driver.of(labels); v != "" && b.page.Seen[row] {
		b.drivers[v] = true
	}
}

// devicesOf are the devices that labels name: one, or all parts of a slice where
// the labels say which slice only. The GPU of a slice is a device of its own even
// where no series is about it alone: what is measured of all of it belongs to it.
func (b *deviceBuilder) devicesOf(labels []expo.Label) []int {
	uuid := uuidOf(b.spec.Labels.UUID.of(labels), b.spec.Prefix)
	s := b.spec.Slices
	if s == nil || s.ID.of(labels) == "" || !s.only.match(labels) {
		return b.device(uuid, uuid, model.Device{Index: -1})
	}
	parent, own := uuid, ""
	if len(s.Parent) > 0 {
		parent, own = s.Parent.of(labels), uuid
	}
	if parent == "" {
		return b.device(uuid, uuid, model.Device{Index: -1})
	}
	id, part := s.ID.of(labels), s.Part.of(labels)
	group := parent + "\x00" + id
	if known := b.byKey[group]; part == "" && known != nil {
		return known
	}
	if known := b.byKey[group+"\x00"+part]; known != nil {
		return known
	}
	if own == "" {
		own = s.uuid(parent, id, part, labels)
	}
	if len(b.byKey[group]) >= maxParts {
		b.refused[fmt.Sprintf("more than %d parts of a slice: the rest is not read", maxParts)] = true
		return nil
	}
	gpus := b.device(parent, parent, model.Device{Index: -1})
	if gpus == nil {
		return nil
	}
	gpu := gpus[0]
	b.l.rows[gpu].sliced = true
	fixed := model.Device{Index: -1, Parent: b.l.rows[gpu].fixed.UUID, Profile: s.Profile.of(labels)}
	of := b.device(own, group+"\x00"+part, fixed)
	for _, i := range of {
		b.l.rows[i].gpu = gpu
	}
	b.byKey[group] = append(b.byKey[group], of...)
	return of
}

// uuid names a slice: as its labels do, else as NVIDIA once named them, by the
// GPU and the ids in it.
func (s *sliceSpec) uuid(parent, id, part string, labels []expo.Label) string {
	if given := s.UUID.of(labels); given != "" {
		return uuidOf(given, s.Prefix)
	}
	own := s.Prefix + parent + "/" + id
	if part != "" {
		own += "/" + part
	}
	return own
}

// device is the device of that key, made where it is new, nil where it has no name
// or there are too many.
func (b *deviceBuilder) device(uuid, key string, fixed model.Device) []int {
	if uuid == "" {
		return nil
	}
	if known := b.byKey[key]; known != nil {
		return known
	}
	if len(b.l.rows) >= maxDevices {
		b.refused[fmt.Sprintf("more than %d devices: the rest is not read", maxDevices)] = true
		return nil
	}
	for given := uuid; b.named[uuid] > 0; {
		b.named[given]++
		uuid = fmt.Sprintf("%s#%d", given, b.named[given])
	}
	b.named[uuid] = 1
	fixed.UUID, fixed.State = uuid, model.DevicePresent
	of := []int{len(b.l.rows)}
	b.l.rows = append(b.l.rows, deviceRows{fixed: fixed, slice: fixed.Parent != "", on: none})
	b.byKey[key] = of
	return of
}

// metrics gives each device the rows of each metric.
func (b *deviceBuilder) metrics() {
	for m := range model.NumDeviceMetrics {
		ways := b.spec.Metrics[deviceKey(m.String())]
		for i := range ways {
			w := &ways[i]
			b.l.unsliced[m] = b.l.unsliced[m] || w.Unsliced
			b.l.whole[m] = b.l.whole[m] || w.Whole
			b.l.counted[m] = b.l.counted[m] || w.Counters && !w.Whole && isRatio(m)
			b.way(m, w)
		}
	}
}

// way gives the rows of one way to the devices they are about. A way that says
// nothing of slices is not theirs; one that is of the whole GPU is their parent's.
func (b *deviceBuilder) way(m model.DeviceMetric, w *deviceWay) {
	operands := w.operands()
	terms := map[int][][]int{} // by device
	for n, names := range operands {
		for i, rows := range b.rowsByDevice(names, w.Whole) {
			if b.l.rows[i].slice && w.Unsliced {
				continue
			}
			if terms[i] == nil {
				terms[i] = make([][]int, len(operands))
			}
			terms[i][n] = rows
		}
	}
	for i, rows := range terms {
		if !slices.ContainsFunc(rows, func(r []int) bool { return r == nil }) {
			b.l.rows[i].cells[m] = append(b.l.rows[i].cells[m], deviceCell{w, rows})
		}
	}
}

// rowsByDevice are each device's rows of the first of the names that it has.
func (b *deviceBuilder) rowsByDevice(names []pattern, whole bool) map[int][]int {
	all := map[int][]int{}
	for _, p := range names {
		fresh := map[int][]int{}
		for _, row := range b.rowsOf(p) {
			for _, i := range b.owners(row, whole) {
				if all[i] == nil {
					fresh[i] = append(fresh[i], row)
				}
			}
		}
		maps.Copy(all, fresh)
	}
	return all
}

// owners are the devices a series is about, the GPUs in place of their slices
// where whole is set.
func (b *deviceBuilder) owners(row int, whole bool) []int {
	of := b.of[row]
	if !whole || len(of) == 0 || !b.l.rows[of[0]].slice {
		return of
	}
	return []int{b.l.rows[of[0]].gpu}
}

// modes finds the series that say whether a GPU is cut into slices.
func (b *deviceBuilder) modes() {
	if b.spec.Slices == nil || b.spec.Slices.On == nil {
		return
	}
	for _, row := range b.rowsOf(*b.spec.Slices.On) {
		for _, i := range b.owners(row, true) {
			b.l.rows[i].on = row
		}
	}
}

// order puts each GPU before its slices, and otherwise keeps the page's order.
func (b *deviceBuilder) order() {
	for i := range b.l.rows {
		if r := &b.l.rows[i]; r.slice {
			b.inherit(r, &b.l.rows[r.gpu])
			continue
		}
		b.l.rows[i].gpu = i
		if b.spec.Slices != nil {
			b.l.rows[i].unmeasured = b.spec.Slices.Called + " is on: how busy the whole GPU is is not measured"
		}
	}
	slices.SortStableFunc(b.l.rows, func(x, y deviceRows) int {
		return cmp.Or(cmp.Compare(x.gpu, y.gpu), cmp.Compare(bit(x.slice), bit(y.slice)))
	})
}

// inherit lets a slice and its GPU tell of each other: what their rows say of the
// GPU. As long as a slice is there its GPU is.
func (b *deviceBuilder) inherit(slice, gpu *deviceRows) {
	gpu.kin = append(gpu.kin, slice.own...)
	slice.kin = slices.Clone(gpu.own[:min(len(gpu.own), maxKin)])
	slice.unmeasured = b.spec.Slices.Say
	if b.parts(slice) > 1 {
		slice.fixed.Detail = "memory and activity are those of the GPU instance that it shares with others"
		slice.unmeasured += "; " + slice.fixed.Detail
	}
}

// parts is how many devices share a slice's rows.
func (b *deviceBuilder) parts(slice *deviceRows) int {
	most := 0
	for _, row := range slice.own {
		most = max(most, len(b.of[row]))
	}
	return most
}

func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}

// notes say what of the page was not read.
func (b *deviceBuilder) notes() []string {
	notes := slices.Sorted(maps.Keys(b.refused))
	if len(notes) > 0 {
		return notes
	}
	for _, name := range slices.Sorted(maps.Keys(b.lost)) {
		notes = append(notes, fmt.Sprintf("%d series of %s name no device", b.lost[name], name))
	}
	return notes
}
