package sources

import (
	"slices"
	"strconv"
	"strings"

	"slotop/model"
)

// smiField is a column of nvidia-smi's that is a reading.
type smiField struct {
	name   string
	metric model.DeviceMetric
	asked  bool // it is asked for; others stand in what people save
}

// smiFields are the columns that are readings. Of two of one metric the later one
// is taken where it has a value: since Ampere power.draw is the mean of a second.
var smiFields = []smiField{
	{"utilization.gpu", model.Busy, true},
	{"utilization.memory", model.MemBusy, true},
	{"memory.total", model.MemTotal, true},
	{"memory.reserved", model.MemReserved, true},
	{"memory.used", model.MemUsed, true},
	{"power.draw", model.Power, true},
	{"power.draw.instant", model.Power, true},
	{"power.limit", model.PowerLimit, false},
	{"enforced.power.limit", model.PowerLimit, true},
	{"clocks.current.sm", model.SMClock, true},
	{"clocks.max.sm", model.SMClockMax, true},
	{"clocks.current.memory", model.MemClock, true},
	{"clocks.max.memory", model.MemClockMax, true},
	{"temperature.gpu", model.Temperature, true},
	{"temperature.memory", model.MemTemperature, true},
	{"ecc.errors.uncorrected.volatile.total", model.ECCErrors, true},
}

// What the other columns say that are read. Drivers before 535 call the reasons by
// their older name.
const (
	smiIndex     = "index"
	smiUUID      = "uuid"
	smiBus       = "pci.bus_id"
	smiName      = "name"
	smiDriver    = "driver_version"
	smiCount     = "count"
	smiMIG       = "mig.mode.current"
	smiReasons   = "clocks_event_reasons.active"
	smiThrottles = "clocks_throttle_reasons.active"
)

// smiColumn is one column of a table, by its heading.
type smiColumn struct {
	name, unit string
	metric     model.DeviceMetric
	reading    bool
}

// smiHeading reads the first line of a table: names, with their unit in brackets.
// What does not tell the GPUs apart, or measures nothing, is no table of them.
func smiHeading(line string) ([]smiColumn, bool) {
	var columns []smiColumn
	named, measured := false, false
	for _, cell := range strings.Split(line, ", ") {
		name, unit, _ := strings.Cut(strings.TrimSpace(cell), " [")
		c := smiColumn{name: name, unit: strings.TrimSuffix(unit, "]")}
		for _, f := range smiFields {
			if f.name == name {
				c.metric, c.reading = f.metric, true
			}
		}
		named = named || name == smiUUID || name == smiIndex || name == smiBus
		measured = measured || c.reading
		columns = append(columns, c)
	}
	return columns, named && measured
}

// startsSMI reports whether a file whose first line begins so holds such tables:
// the heading of all the columns that there are is longer than a start is.
func startsSMI(line []byte) bool {
	_, ok := smiHeading(string(line))
	return ok
}

// smiRow is one line of a table.
type smiRow struct {
	device  model.Device
	driver  string
	count   int // GPUs of the host, 0 where that was not asked
	divided bool
}

// readSMIRow reads a line under a heading. It reports false for what is no row of
// it, or of a GPU that has no name at all.
func readSMIRow(columns []smiColumn, line string) (row smiRow, ok bool) {
	cells := strings.Split(line, ", ")
	if len(cells) != len(columns) {
		return row, false
	}
	d := &row.device
	d.Index, d.State = -1, model.DevicePresent
	for i, c := range columns {
		cell := strings.TrimSpace(cells[i])
		if c.reading {
			takeSMICell(d, c, cell)
			continue
		}
		row.fact(c.name, cell)
	}
	if d.UUID == "" && d.Bus == "" && d.Index >= 0 {
		d.UUID = "GPU-" + strconv.Itoa(d.Index)
	}
	if d.UUID == "" {
		d.UUID = d.Bus
	}
	if d.State == model.DeviceLost {
		*d = model.Device{UUID: d.UUID, Index: d.Index, Name: d.Name, Bus: d.Bus, State: d.State, Detail: d.Detail}
	}
	return row, d.UUID != ""
}

// shown is the row as a device. The tool does not know how busy a GPU is that is
// divided.
func (r smiRow) shown() model.Device {
	d := r.device
	if r.divided && d.State == model.DevicePresent {
		put(&d, model.Busy, 0, model.NotSupported, model.FromText)
		put(&d, model.MemBusy, 0, model.NotSupported, model.FromText)
	}
	return d
}

// fact takes in a cell that is no reading.
func (r *smiRow) fact(name, cell string) {
	status, _ := smiStatus(cell)
	if status != model.Measured {
		if name == smiReasons || name == smiThrottles {
			r.device.ThrottleStatus = status
		}
		return
	}
	switch name {
	case smiUUID:
		r.device.UUID = deviceUUID(cell)
	case smiBus:
		r.device.Bus = cell
	case smiName:
		r.device.Name = cell
	case smiDriver:
		r.driver = cell
	case smiIndex:
		if n, err := strconv.Atoi(cell); err == nil && n >= 0 {
			r.device.Index = n
		}
	case smiCount:
		r.count, _ = strconv.Atoi(cell)
	case smiMIG:
		r.divided = cell == "Enabled"
	case smiReasons, smiThrottles:
		mask, err := strconv.ParseUint(strings.TrimPrefix(cell, "0x"), 16, 64)
		if err != nil {
			r.device.ThrottleStatus = model.BadSample
			return
		}
		r.device.ThrottleStatus, r.device.Throttle = model.Measured, throttleWords(mask)
	}
}

// takeSMICell takes in a cell that is a reading.
func takeSMICell(d *model.Device, c smiColumn, cell string) {
	status, lost := smiStatus(cell)
	if lost {
		d.State, d.Detail = model.DeviceLost, strings.Trim(cell, "[]")
		return
	}
	if status != model.Measured {
		if d.Readings[c.metric].Status == model.NotExported {
			put(d, c.metric, 0, status, model.FromText)
		}
		return
	}
	v, ok := smiNumber(cell, c.unit)
	if !ok {
		status = model.BadSample
	}
	put(d, c.metric, v, status, model.FromText)
}

// smiStatus is what a cell without a number means, and whether it says that the GPU
// is lost. Temperatures say N/A without brackets, on the same row where others have
// them.
func smiStatus(cell string) (model.Status, bool) {
	switch cell {
	case "", "N/A", "[N/A]", "[Not Supported]", "[Requested functionality has been deprecated]":
		return model.NotSupported, false
	case "[Insufficient Permissions]":
		return model.NotPermitted, false
	case "[GPU is lost]", "[GPU requires reset]":
		return model.Failing, true
	}
	if strings.HasPrefix(cell, "[") || cell == "ERR!" {
		return model.Failing, false
	}
	return model.Measured, false
}

// smiUnits are the units in which nvidia-smi counts, in ours. Temperatures and
// numbers of errors have none.
var smiUnits = map[string]struct {
	value float64
	share bool // the value divides
}{
	"":    {1, false},
	"%":   {100, true},
	"MiB": {1 << 20, false},
	"W":   {1, false},
	"MHz": {mega, false},
}

// smiNumber reads a number with its unit, or with that of its heading.
func smiNumber(cell, unit string) (float64, bool) {
	number, own, found := strings.Cut(cell, " ")
	if found {
		unit = own
	}
	v, err := strconv.ParseFloat(number, 64)
	scale, known := smiUnits[unit]
	switch {
	case err != nil || !known:
		return 0, false
	case scale.share:
		return v / scale.value, true
	default:
		return v * scale.value, true
	}
}

// smiTable reads tables of GPUs, line by line: one table after the other, as
// nvidia-smi -l prints them, under one heading or under one each.
type smiTable struct {
	columns []smiColumn
	rows    []smiRow // of the table that is being read
	bad     int
	first   string // of the bad lines
}

// add takes in a line. It returns the rows of a table that this line shows to be
// whole: its last row was the last GPU, or another table begins.
func (t *smiTable) add(line string) (whole []smiRow) {
	line = strings.TrimRight(line, "\r\n ")
	if line == "" {
		return nil
	}
	if columns, ok := smiHeading(line); ok {
		t.columns = columns
		return t.end()
	}
	row, ok := readSMIRow(t.columns, line)
	if !ok {
		if t.bad++; t.bad == 1 {
			t.first = excerpt(line)
		}
		return nil
	}
	if t.has(row.device.UUID) {
		whole = t.end()
	}
	if len(t.rows) < maxGPUs {
		t.rows = append(t.rows, row)
	}
	if row.count > 0 && len(t.rows) >= row.count {
		return t.end()
	}
	return whole
}

func (t *smiTable) has(uuid string) bool {
	for _, r := range t.rows {
		if r.device.UUID == uuid {
			return true
		}
	}
	return false
}

// end ends the table that is being read.
func (t *smiTable) end() []smiRow {
	rows := t.rows
	t.rows = nil
	return rows
}

// smiApps are the columns of what nvidia-smi --query-compute-apps prints.
type smiApps struct{ columns, uuid, pid, name, memory int }

// smiAppsHeading reads the first line of such a list.
func smiAppsHeading(line string) (smiApps, bool) {
	cells := strings.Split(line, ", ")
	at := func(name string) int {
		return slices.IndexFunc(cells, func(c string) bool { n, _, _ := strings.Cut(c, " ["); return n == name })
	}
	h := smiApps{len(cells), at("gpu_uuid"), at("pid"), at("process_name"), at("used_gpu_memory")}
	return h, min(h.uuid, h.pid, h.name, h.memory) >= 0
}

// readSMIApps reads such a list: the processes on each GPU, by its UUID.
func readSMIApps(text string) map[string][]model.Process {
	apps := map[string][]model.Process{}
	var heading smiApps
	known := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n ")
		if !known {
			heading, known = smiAppsHeading(line)
			continue
		}
		if uuid, p, ok := heading.read(line); ok {
			apps[uuid] = append(apps[uuid], p)
		}
	}
	return apps
}

// read reads a line. A process's name may hold commas, so that the line is cut from
// both ends.
func (h smiApps) read(line string) (uuid string, p model.Process, ok bool) {
	cells := strings.Split(line, ", ")
	extra := len(cells) - h.columns
	if extra < 0 {
		return "", p, false
	}
	at := func(column int) string {
		if column > h.name {
			column += extra
		}
		return cells[column]
	}
	pid, err := strconv.ParseInt(at(h.pid), 10, 64)
	if err != nil || !possiblePID(pid) {
		return "", p, false
	}
	status, _ := smiStatus(at(h.memory))
	bytes, number := smiNumber(at(h.memory), "MiB")
	switch {
	case status != model.Measured:
		p.Memory.Status = status
	case !number:
		p.Memory.Status = model.BadSample
	default:
		p.Memory = model.Measure(bytes)
	}
	p.PID, p.Name = int(pid), programOf(strings.Join(cells[h.name:h.name+extra+1], ", "))
	return deviceUUID(at(h.uuid)), p, true
}

// programOf is a program's own name, without its folder, of whichever system.
func programOf(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// smiInstances reads the MIG instances out of what nvidia-smi -L prints: they are
// listed indented under their GPU, and that they are there is all that is said.
//
//	GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)
//	  MIG 3g.40gb     Device  0: (UUID: MIG-…)
func smiInstances(text string) []model.Device {
	var found []model.Device
	var gpu model.Device
	for line := range strings.Lines(text) {
		what, rest, known := strings.Cut(line, "(UUID: ")
		uuid, _, closed := strings.Cut(rest, ")")
		if !known || !closed {
			continue
		}
		words := strings.Fields(what)
		if !strings.HasPrefix(strings.TrimSpace(line), "MIG ") {
			_, name, _ := strings.Cut(what, ": ")
			gpu = model.Device{UUID: deviceUUID(uuid), Name: strings.TrimSpace(name)}
			continue
		}
		i := model.Device{UUID: deviceUUID(uuid), Index: -1, Name: gpu.Name, Parent: gpu.UUID, State: model.DevicePresent}
		if len(words) == 4 { // MIG 3g.40gb Device 0:
			i.Profile = words[1]
			if n, err := strconv.Atoi(strings.TrimSuffix(words[3], ":")); err == nil {
				i.Index = n
			}
		}
		found = append(found, i)
	}
	return found
}
