package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"slotop/model"
	"slotop/model/unit"
)

const gib = 1 << 30

// card is a GPU of a host as its driver's counters tell of it.
func card(i int, busy float64) model.DeviceView {
	d := model.DeviceView{
		UUID: fmt.Sprintf("GPU-0000000%d-aaaa", i), Name: "NVIDIA H100 80GB HBM3", Target: "gpus", Host: "node-1",
		Index: model.Of(float64(i)), Bus: model.Text(fmt.Sprintf("00000000:%02X:00.0", 16*i+11)), State: model.DevicePresent,
		Since: at(0), GoodAt: at(14 * time.Minute), Throttled: []string{}, Processes: []model.ProcessView{}, Pods: []string{}, Engines: []string{},
	}
	for m, v := range map[model.DeviceMetric]float64{
		model.Busy: busy, model.TensorActive: .31, model.DRAMActive: .61, model.MemUsed: 68.4 * gib, model.MemTotal: 80 * gib,
		model.Power: 512, model.PowerLimit: 700, model.SMClock: 1980e6, model.Temperature: 61,
	} {
		d.Values[m] = model.DeviceValue{Reading: model.Of(v), Status: model.Measured}
	}
	return d
}

func absent(d *model.DeviceView, m model.DeviceMetric, why model.Status) {
	d.Values[m] = model.DeviceValue{Reading: model.DeviceReading{Status: why}.Reading(), Status: why}
}

// old makes a device's numbers those of a while ago.
func old(d *model.DeviceView) {
	for m := range d.Values {
		if d.Values[m].OK() {
			d.Values[m].State = model.Stale
		}
	}
	d.GoodAt = at(13 * time.Minute)
}

// gpus is a GPU in each state.
func gpus() *model.Frame {
	f := calm()
	f.Every = time.Second
	f.Targets = append(f.Targets, model.TargetView{
		Name: "gpus", ID: "nvml:", Kind: model.GPUTarget, State: model.Up, Polls: 60, Models: []string{}, Missing: []model.Signal{},
		Notes: []string{}, Meanings: []model.Meaning{}, GPUs: []string{}, Engines: []model.EngineView{},
	})
	f.Targets[0].GPUs = []string{"GPU-00000000-aaaa"}
	busy, lost, stale, bad, zero, divided := card(0, .98), card(1, 0), card(2, .5), card(3, 0), card(4, 0), card(5, 0)
	busy.Engines, busy.JoinedBy, busy.Throttled = []string{"vllm-0:8000"}, "process", []string{model.ThrottlePowerCap, model.ThrottleThermal}
	lost.State, lost.Since, lost.Detail = model.DeviceLost, at(12*time.Minute), "GPU is lost: it fell off the bus"
	old(&lost)
	stale.Stale = true
	old(&stale)
	absent(&bad, model.Busy, model.BadSample)
	absent(&bad, model.TensorActive, model.NotPermitted)
	absent(&bad, model.DRAMActive, model.NotReady)
	absent(&bad, model.Temperature, model.Failing)
	absent(&bad, model.PowerLimit, model.NotExported)
	bad.BadSamples, bad.UnchangedS = 3, model.Of(24)
	zero.NotCredible, zero.Throttled = true, nil
	absent(&zero, model.MemUsed, model.NotSupported)
	absent(&zero, model.MemTotal, model.NotSupported)
	absent(&divided, model.Busy, model.NotSupported)
	divided.Slices = 1
	slice := card(6, .93)
	slice.UUID, slice.Parent, slice.Profile = "MIG-1", model.Text(divided.UUID), "3g.40gb"
	f.Devices = []model.DeviceView{busy, lost, stale, bad, zero, divided, slice}
	f.DeviceSum = &model.DevicesView{
		Total: 6, Present: 4, Measured: 1, Busy: model.Of(.98), PowerW: model.Of(2048), Used: model.Of(205 * gib), Memory: model.Of(240 * gib),
		TookS: model.Of(2), Bad: 3,
	}
	return f
}

// fleetOfGPUs is more than anyone wants a row for.
func fleetOfGPUs() *model.Frame {
	f := calm()
	for i := range 64 {
		d := card(i%10, .5)
		d.UUID = fmt.Sprintf("GPU-%08d-aaaa", i)
		if i%31 == 7 {
			d.State, d.Since, d.Detail = model.DeviceLost, at(12*time.Minute), "not listed any more by node-1:9400"
			old(&d)
		}
		f.Devices = append(f.Devices, d)
	}
	f.DeviceSum = &model.DevicesView{Total: 64, Present: 62, Measured: 62, Busy: model.Of(.5), PowerW: model.Of(31744)}
	return f
}

func TestManyGPUsAreFewLines(t *testing.T) {
	f := fleetOfGPUs()
	text := Text(f, Options{Width: 100})
	gpus := text[strings.Index(text, "GPUS"):]
	if n := strings.Count(gpus, "\n"); n > 12 || strings.Count(gpus, "LOST") != 2 {
		t.Errorf("%d lines for 64 GPUs:\n%s", n, gpus)
	}
	for i := range f.Devices {
		f.Devices[i].State = model.DeviceLost
	}
	gpus = Text(f, Options{Width: 100})
	if !strings.Contains(gpus, "+ 48 more, 48 of them out of the ordinary") {
		t.Errorf("64 lost:\n%s", gpus[strings.Index(gpus, "GPUS"):])
	}
}

// Each reason for which there is no number has a word of its own, and the words are
// explained.
func TestWordsForMissingReadings(t *testing.T) {
	text := Text(gpus(), Options{Width: 140})
	for _, want := range []string{
		"GPUS  5 of 6 present, 1 stale, busy 98.0 % (some kernel ran), mean of 1 of 6", "GPU round 2.0 s", "3 bad samples",
		"n/a (MIG)", "0 %?", "0 % busy is not credible: tokens are flowing", "bad: bad sample", "admin: needs admin rights", "wait: no sample yet", "error: its source failed to read it",
		"n/a: the device has no such reading", "stale since 03:13:00", "lost since 03:12:00", "bus 00000000:1B:00.0", "power cap, thermal",
		"no reading has moved for 24 s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text[strings.Index(text, "GPUS"):])
		}
	}
	gpus := text[strings.Index(text, "GPUS"):]
	if strings.Count(gpus, " 0 % ") != strings.Count(gpus, "0 % busy is not credible") {
		t.Errorf("something reads 0 %%:\n%s", gpus)
	}
}

// In JSON each reading has a key of its own, null where there is no number.
func TestDevicesInJSON(t *testing.T) {
	var f struct {
		Devices []map[string]any `json:"devices"`
		Sum     map[string]any   `json:"device_summary"`
	}
	if err := json.Unmarshal(jsonLine(t, gpus()), &f); err != nil {
		t.Fatal(err)
	}
	d := f.Devices
	if d[0]["busy"] != .98 || d[0]["sm_active"] != nil || d[0]["power_limit_w"] != 700.0 || d[1]["busy"] != nil || d[2]["memory_used"] != nil || d[2]["stale"] != true {
		t.Errorf("%v", d[:3])
	}
	if d[4]["throttled"] != nil || len(d[0]["throttled"].([]any)) != 2 || len(d[1]["throttled"].([]any)) != 0 || d[6]["parent"] != d[5]["uuid"] || d[5]["slices"] != 1.0 {
		t.Errorf("%v", d[4:])
	}
	for m := range model.NumDeviceMetrics {
		if _, ok := d[0][m.String()]; !ok {
			t.Errorf("no key %s", m)
		}
	}
	if f.Sum["busy"] != .98 || f.Sum["present"] != 4.0 || f.Sum["round_s"] != 2.0 {
		t.Errorf("%v", f.Sum)
	}
}

// Names of devices are foreign text.
func TestHostileGPUs(t *testing.T) {
	f := gpus()
	for i := range f.Devices {
		d := &f.Devices[i]
		for _, s := range []*model.Text{&d.Name, &d.Host, &d.Bus, &d.Detail, &d.Profile} {
			*s = "\x1b]0;owned\a\u202e模型/通义千问-七十二亿-指令微调版本"
		}
		d.UUID = "\x1b[2J" + strings.Repeat("x", 90)
		d.Engines, d.Throttled = []string{"\x1b[31m"}, []string{"\r0 OK"}
	}
	for _, opt := range []Options{{Width: 40}, {Width: 80, ASCII: true}, {Width: 140}} {
		for l := range strings.Lines(Text(f, opt)) {
			l = strings.TrimSuffix(l, "\n")
			if n := unit.Width(l); n > opt.Width {
				t.Errorf("%d cells in %d: %q", n, opt.Width, l)
			}
			if strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' || opt.ASCII && r > 126 }) {
				t.Errorf("obeyed: %q", l)
			}
		}
	}
}
