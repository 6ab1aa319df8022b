package dialect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// The pages of GPU exporters have goldens in testdata/devices, to be read against
// what the exporters document. What looks odd there and is right:
//
//   - a100-mig: three devices from rows of two. The GPU has what is measured of all of
//     it, which each row repeats: 231.7 W are not 463.4. Its slices have the rest.
//   - h100-x2 in both forms: two GPUs with the same energy and the same PCIe rates, as
//     the page has them. Busy is the driver's 98 %, not the counters' 97.1 %.
//   - t4: the memory is used + free, a little less than the card has, since the
//     release tells of no reserved memory. DRAM active is blank, n/a, and not 140 TB.
//   - nvlink-group: a switch's row is about no device, and counters alone make no rate:
//     nothing is left to tell.
//   - the h100 and its MIG form: the uuid's zeros are masked, its prefix is put back.
//     With MIG on there is no utilization, n/a, and slices are not listed by nvidia-smi.
//   - two-gpus-demo: one slice is of its own, two others share a GPU instance and with
//     it memory and activity; the processes stand on them.
//   - rtx2080s-windows: no ECC, no memory temperature, and processes without memory.
//   - mi300x: "196592 MB" are 192 GiB; the name is a board's part number.
//   - xpumd: copying is no work of a model, the compute engines' 93 % count.
//   - gb10: the memory is the host's, shared with it.
//   - gpu-garbage: 700123456 % and 4294967295 % are bad samples; the blanks are n/a.
//   - mig: utilization 0 and 0 of the slices is nowhere; activity 93 % and 2 % is.
func TestDevicePages(t *testing.T) {
	set := builtinSet(t)
	pages := map[string]string{}
	for _, name := range []string{"gpu-garbage", "mig"} {
		pages["cases/"+name] = string(shared.File(t, "cases/files/"+name+".prom"))
	}
	root := shared.Dir(t, "corpus/gpu")
	for _, page := range pagesIn(t, root) {
		body, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		pages[strings.TrimSuffix(filepath.ToSlash(page), ".prom")] = string(body)
	}
	for name, body := range pages {
		t.Run(name, func(t *testing.T) {
			compare(t, filepath.Join("testdata", "devices", filepath.FromSlash(name)+".golden"), devicesText(t, set, body))
		})
	}
	for _, golden := range pagesIn(t, filepath.Join("testdata", "devices")) {
		if _, known := pages[strings.TrimSuffix(filepath.ToSlash(golden), ".golden")]; !known {
			t.Errorf("%s belongs to no page", golden)
		}
	}
}

// devicesText writes down what was read of the devices on a page.
func devicesText(t *testing.T, set *Set, body string) string {
	page := scan(t, []byte(body))
	plan := set.Plan(page)
	if plan == nil {
		return "unknown\n"
	}
	samples, devices, about := plan.Read(page, nil), plan.Devices(page), plan.About(page)
	var b strings.Builder
	fmt.Fprintf(&b, "kind     %s\nengine   %s\nversion  %s\n", about.Kind, about.Engine, about.Version)
	for _, n := range about.Notes {
		fmt.Fprintf(&b, "note     %s\n", n)
	}
	if len(samples)+len(about.Missing)+len(about.Models) > 0 {
		fmt.Fprintf(&b, "samples  %d, missing %d, models %d\n", len(samples), len(about.Missing), len(about.Models))
	}
	for i := range devices {
		writeDevice(&b, &devices[i])
	}
	return b.String()
}

func writeDevice(b *strings.Builder, d *model.Device) {
	fmt.Fprintf(b, "\n%s\n", d.UUID)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "  %-26s %s\n", name, text)
		}
	}
	line("name", d.Name)
	if d.Index >= 0 {
		line("index", fmt.Sprint(d.Index))
	}
	line("bus", d.Bus)
	line("host", d.Host)
	line("part of", d.Parent)
	line("profile", d.Profile)
	line("state", string(d.State))
	line("detail", d.Detail)
	line("pods", strings.Join(d.Pods, ", "))
	if d.Shared {
		line("memory", "is the host's")
	}
	var without []string
	for m := range model.NumDeviceMetrics {
		r := d.Readings[m]
		switch {
		case r.Status == model.NotExported:
			without = append(without, m.String())
		case r.Status != model.Measured:
			line(m.String(), r.Status.String())
		default:
			line(m.String(), number(r.Value)+map[model.Precision]string{model.FromCounters: " (counters)"}[d.From[m]])
		}
	}
	line("throttle", throttleText(d))
	for _, p := range d.Processes {
		line(fmt.Sprintf("process %d", p.PID), p.Name+" "+readingText(p.Memory))
	}
	line("not exported", strings.Join(without, " "))
}

func throttleText(d *model.Device) string {
	switch {
	case d.ThrottleStatus != model.Measured:
		return d.ThrottleStatus.String()
	case len(d.Throttle) == 0:
		return "none"
	}
	return strings.Join(d.Throttle, ", ")
}

func readingText(r model.DeviceReading) string {
	if r.Status != model.Measured {
		return r.Status.String()
	}
	return number(r.Value)
}
