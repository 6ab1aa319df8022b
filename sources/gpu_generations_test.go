//go:build linux && (amd64 || arm64) && !nonvml

package sources_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"slotop/sources/sourcetest/shared"
)

// answers is what NVIDIA's own stand-in for its library told once of one card of a
// generation.
type answers struct {
	Driver string
	GPU    struct {
		UUID, Name string
		Util       struct{ GPU, Memory int }
		Mem        struct{ Total, Reserved, Used uint64 } `json:"mem_v2"`
		BusWidth   any                                    `json:"bus_width"` // a number, or why there is none
		Power      int                                    `json:"power_mw"`
		Limit      int                                    `json:"enforced_limit_mw"`
		Energy     int                                    `json:"energy_mj"`
		SM         int                                    `json:"clk_sm"`
		SMMax      int                                    `json:"clk_sm_max"`
		MemClock   int                                    `json:"clk_mem"`
		MemMax     int                                    `json:"clk_mem_max"`
		Temp       int
		Reasons    int                             `json:"event_reasons"`
		ECC        int                             `json:"ecc_dbe_vol"`
		Support    struct{ IsSupportedDevice int } `json:"gpm_support"`
		GPM        map[string]float64
		Fields     []struct {
			ID    int   `json:"FieldId"`
			Type  int   `json:"ValueType"`
			Value []int // its bytes
		}
	} `json:"gpu0"`
}

func (a *answers) script() string {
	g := &a.GPU
	var b strings.Builder
	fmt.Fprintf(&b, "clock 1000000\nversion %s\ngpu %s index=0 name=%s busy=%d membusy=%d total=%d reserved=%d used=%d",
		a.Driver, g.UUID, strings.ReplaceAll(g.Name, " ", "_"), g.Util.GPU, g.Util.Memory, g.Mem.Total, g.Mem.Reserved, g.Mem.Used)
	fmt.Fprintf(&b, " power=%d limit=%d energy=%d sm=%d smmax=%d mem=%d memmax=%d temp=%d reasons=%d ecc=%d gpm=%d",
		g.Power, g.Limit, g.Energy, g.SM, g.SMMax, g.MemClock, g.MemMax, g.Temp, g.Reasons, g.ECC, g.Support.IsSupportedDevice)
	if bits, ok := g.BusWidth.(float64); ok {
		fmt.Fprintf(&b, " width=%d", int(bits))
	}
	for _, f := range g.Fields {
		var raw [8]byte
		for i, v := range f.Value {
			raw[i] = byte(v)
		}
		width := ""
		if f.Type == 1 { // NVML_VALUE_TYPE_UNSIGNED_INT
			width = "u"
		}
		fmt.Fprintf(&b, " f%d=%s%d", f.ID, width, binary.LittleEndian.Uint64(raw[:]))
	}
	for id, v := range g.GPM {
		fmt.Fprintf(&b, " g%s=%g", id, v)
	}
	return b.String()
}

// What a card of each generation tells, read through this library: which has
// performance counters, and which lacks what.
func TestGenerationsOfGPUs(t *testing.T) {
	for _, name := range []string{"t4", "a100", "h100", "b200", "gb200"} {
		t.Run(name, func(t *testing.T) {
			var a answers
			if err := json.Unmarshal(shared.File(t, "corpus/gpu/nvml-mock-driver/"+name+"-one-shot.json"), &a); err != nil {
				t.Fatal(err)
			}
			b := newGPUBench(t, a.script())
			b.good(0)
			b.lib.Script(strings.Replace(a.script(), "clock 1000000", "clock 3000000", 1))
			batch, err := b.at(2)
			if err != nil || batch.About.Version != a.Driver {
				t.Fatalf("%v, %+v", err, batch.About)
			}
			asGolden(t, "driver-"+name, say(batch.Devices))
		})
	}
}
