package roofline

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Every row reads, and says how sure it is.
func TestTableOfAccelerators(t *testing.T) {
	table, err := readAccelerators(acceleratorsCSV)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.rows) != strings.Count(acceleratorsCSV, "\n")-1 || len(table.rows) < 60 {
		t.Errorf("%d rows", len(table.rows))
	}
	for _, a := range table.rows {
		if !slices.Contains([]string{"A", "B", "C"}, a.Confidence) {
			t.Errorf("%s: confidence %q", a.Product, a.Confidence)
		}
		if a.Product == "" || slices.Contains(a.Names, "") || !(a.bytes > 1e11 && a.bytes < 1e13) || !(a.Memory >= 16e9) {
			t.Errorf("%+v", a)
		}
		for p, v := range a.peaks {
			if !(v > 1e12 && v < 2e16) {
				t.Errorf("%s: %s %v", a.Product, p, v)
			}
		}
		if len(a.peaks) == 0 && a.Product != "MI308X" {
			t.Errorf("%s has no peak", a.Product)
		}
	}
}

// The multiprocessors and the clock of a card give its peak, and its memory clock and
// width its bandwidth: the check on both columns, and on what is derived of others.
func TestPeaksFollowFromClocks(t *testing.T) {
	rows, err := readTable(acceleratorsCSV)
	if err != nil {
		t.Fatal(err)
	}
	odd := []string{"H20 96GB", "H20-3e 141GB", "A10G", "GB200 186GB", "GB300 288GB", "B300 SXM 288GB"}
	checked := 0
	for i, a := range Accelerators() {
		clock := a.BoostHz
		if a.Vendor != "NVIDIA" || math.IsNaN(clock) || slices.Contains(odd, a.Product) {
			continue
		}
		checked++
		if r := a.sms * a.perSM * clock / a.peaks[FP16]; math.Abs(r-1) > 0.02 {
			t.Errorf("%s: FLOP/s by clock are %.3f of the table's", a.Product, r)
		}
		memory := 2 * rows[i].number("mem_clock_mhz_nvml") * 1e6 * rows[i].number("mem_bus_bits") / 8
		if math.IsNaN(memory) || strings.HasPrefix(a.Product, "H200") || rows[i].text("arch") == "Turing" {
			continue
		}
		if r := memory / a.bytes; math.Abs(r-1) > 0.02 {
			t.Errorf("%s: bandwidth by clock is %.3f of the table's", a.Product, r)
		}
	}
	if checked < 40 {
		t.Errorf("%d cards checked", checked)
	}
}

func TestBrokenTables(t *testing.T) {
	line, _, _ := strings.Cut(acceleratorsCSV, "\n")
	for name, text := range map[string]string{
		"a word for a number": strings.Replace(acceleratorsCSV, ",989.4,989.4,", ",many,989.4,", 1),
		"no column":           strings.Replace(acceleratorsCSV, "mem_bw_gbs", "gbs", 1),
		"two of one name":     acceleratorsCSV + strings.Split(acceleratorsCSV, "\n")[1] + "\n",
		"a short line":        line + "\nNVIDIA,X\n",
	} {
		if _, err := readAccelerators(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := readModels(strings.Replace(modelsCSV, ",bf16,", ",bf17,", 1)); err == nil {
		t.Error("a model in no precision: no error")
	}
	if _, err := readModels(modelsCSV + strings.Split(modelsCSV, "\n")[1] + "\n"); err == nil {
		t.Error("a model twice: no error")
	}
}

// Every shape reads, and its parts add up to what is published of it.
func TestTableOfModels(t *testing.T) {
	table, err := readModels(modelsCSV)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readTable(modelsCSV)
	if err != nil || len(rows) != 40 || len(table.rows) != 40 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	near := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got/want-1) <= within) {
			t.Errorf("%s: %v, the table says %v", what, got, want)
		}
	}
	for i := range table.rows {
		s, r := &table.rows[i], rows[i]
		if !slices.Contains([]string{"A", "B", "C"}, s.Confidence) || !slices.Contains([]string{GQA, MQA, MLA}, s.Attention) {
			t.Errorf("%s: confidence %q, attention %q", s.Model, s.Confidence, s.Attention)
		}
		near(s.Model+" KV bytes", s.KVPerToken(), r.number("kv_bytes_per_token_16bit"), 1e-9)
		near(s.Model+" stored", s.WeightsStored(), r.number("weights_gb")*1e9, 0.03)
		if s.Attention != MLA {
			near(s.Model+" attention", 4*s.Heads*s.HeadSize*s.Layers, s.PrefillPairs, 1e-9)
		} else {
			near(s.Model+" attention", s.Layers*s.Heads*(2*(128+64)+2*128), s.PrefillPairs, 1e-9)
		}
		if s.Experts > 0 {
			// Some experts have biases, which the table counts and the shape does not.
			near(s.Model+" active", s.dense()+s.PerToken*s.ExpertParams, s.Active, 8e-3)
		}
		input := s.head()
		if s.Tied {
			input = 0
		}
		near(s.Model+" multiplied by", s.Active-input, s.Matmul, 2e-3)
		if s.FullLayers > s.Layers || s.Window > 0 == (s.FullLayers == s.Layers) {
			t.Errorf("%s: %v of %v layers see everything, window %v", s.Model, s.FullLayers, s.Layers, s.Window)
		}
	}
}

// Nothing is read before it is asked for.
func BenchmarkTables(b *testing.B) {
	for b.Loop() {
		if _, err := readAccelerators(acceleratorsCSV); err != nil {
			b.Fatal(err)
		}
		if _, err := readModels(modelsCSV); err != nil {
			b.Fatal(err)
		}
	}
}
