package sources

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/sources/nvml"
)

// readMemory reads how much memory there is and is used. A success with no bytes at
// all is no memory that anybody has; a part that shares the host's memory has none
// of its own.
func (c *card) readMemory(r *reading) nvml.Return {
	if c.device.Shared {
		if !hostMemory(&c.device, r.proc) {
			putMemory(&c.device, nvml.Memory{}, model.NotReady)
		}
		return nvml.Success
	}
	if c.off[model.MemTotal] {
		return nvml.Success
	}
	m, answer := r.driver.Memory(c.handle)
	r.took(answer)
	none := statusOf(answer) == model.NotSupported || answer == nvml.Success && m.Total == 0
	if none && sharesMemory(c.device.Name) && hostMemory(&c.device, r.proc) {
		c.device.Shared = true
		return nvml.Success
	}
	if none {
		answer = nvml.NotSupported
	}
	putMemory(&c.device, m, statusOf(answer))
	c.off[model.MemTotal] = none
	return answer
}

func putMemory(d *model.Device, m nvml.Memory, status model.Status) {
	put(d, model.MemTotal, float64(m.Total), status, model.FromDriver)
	if status == model.Measured && m.Used > m.Total {
		status = model.BadSample
	}
	put(d, model.MemUsed, float64(m.Used), status, model.FromDriver)
	if status == model.Measured && !m.Split {
		status = model.NotSupported // it is a part of what is used
	}
	put(d, model.MemReserved, float64(m.Reserved), status, model.FromDriver)
}

// unified are words in the names of parts that have no memory of their own: DGX
// Spark, and the Jetsons where they have a library.
var unified = []string{"GB10", "N1X", "Thor", "Orin", "Xavier", "Tegra"}

func sharesMemory(name string) bool {
	for _, word := range unified {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// hostMemory takes the host's memory for the device's, as far as proc tells.
func hostMemory(d *model.Device, proc string) bool {
	text, err := os.ReadFile(filepath.Join(proc, "meminfo"))
	if err != nil {
		return false
	}
	total, known := meminfo(text, "MemTotal:")
	free, said := meminfo(text, "MemAvailable:")
	if !known || !said || free > total {
		return false
	}
	putMemory(d, nvml.Memory{Total: total, Free: free, Used: total - free}, model.Measured)
	return true
}

// meminfo is a line of /proc/meminfo in bytes.
func meminfo(text []byte, key string) (uint64, bool) {
	for line := range bytes.Lines(text) {
		rest, found := bytes.CutPrefix(line, []byte(key))
		if !found {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSpace(string(rest)), " ")
		kib, err := strconv.ParseUint(number, 10, 54)
		return kib << 10, err == nil
	}
	return 0, false
}
