package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"slotop/model"
	"slotop/sources/expo"
)

// processRow is one process on a device.
type processRow struct {
	fixed  model.Process
	row    int
	memory int // none where nothing says
}

// processes lists the processes on each device, in the order of their numbers.
func (b *deviceBuilder) processes() {
	p := b.spec.Processes
	if p == nil {
		return
	}
	memory := map[string]int{}
	if p.Memory != nil {
		for _, row := range b.rowsOf(*p.Memory) {
			memory[b.processKey(row)] = row
		}
	}
	for _, row := range b.rowsOf(p.From) {
		labels := b.page.Series[row].Labels
		pid, err := strconv.Atoi(p.PID.of(labels))
		if err != nil || pid <= 0 || pid > maxPID {
			continue
		}
		one := processRow{fixed: model.Process{PID: pid, Name: p.Name.of(labels)}, row: row, memory: none}
		if at, ok := memory[b.processKey(row)]; ok {
			one.memory = at
		}
		for _, i := range b.devicesOf(labels) {
			r := &b.l.rows[i]
			if len(r.processes) >= maxProcesses {
				b.refused[fmt.Sprintf("more than %d processes on a device: the rest is not listed", maxProcesses)] = true
				continue
			}
			r.processes, r.own = append(r.processes, one), append(r.own, row)
		}
	}
	for i := range b.l.rows {
		slices.SortStableFunc(b.l.rows[i].processes, func(x, y processRow) int { return cmp.Compare(x.fixed.PID, y.fixed.PID) })
	}
}

// maxProcesses bounds the processes of one device.
const maxProcesses = 1024

// maxPID is beyond what any system numbers its processes with. Some drivers write
// 0 and 4294967295 for one that they do not know.
const maxPID = 1<<31 - 1

// processKey tells processes on devices apart.
func (b *deviceBuilder) processKey(row int) string {
	labels := b.page.Series[row].Labels
	key := b.spec.Processes.PID.of(labels) + "\x00" + b.spec.Labels.UUID.of(labels)
	if s := b.spec.Slices; s != nil {
		key += "\x00" + s.ID.of(labels) + "\x00" + s.Part.of(labels)
	}
	return key
}

// processesOf lists the processes of a device. The list is a new one when it
// changes, since whoever took the last one may keep it.
func processesOf(p *expo.Page, r *deviceRows, last []model.Process) []model.Process {
	n, same := 0, true
	for i := range r.processes {
		if one := &r.processes[i]; p.Seen[one.row] {
			same = same && n < len(last) && last[n].PID == one.fixed.PID && last[n].Memory == one.used(p)
			n++
		}
	}
	if same && n == len(last) {
		return last
	}
	all := make([]model.Process, 0, n)
	for i := range r.processes {
		if one := &r.processes[i]; p.Seen[one.row] {
			all = append(all, one.fixed)
			all[len(all)-1].Memory = one.used(p)
		}
	}
	return all
}

// used is a process's memory.
func (r *processRow) used(p *expo.Page) model.DeviceReading {
	if r.memory == none || !p.Seen[r.memory] {
		return model.DeviceReading{}
	}
	return plausible(model.MemUsed, p.Values[r.memory])
}
