package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"slotop/model/roofline"
	"slotop/model/unit"
)

const utilizationPage = "../../docs/utilization.md"

// The tables of the page on utilization are made from those of the program, and its
// example is a configuration that is taken.
func TestDocsOfUtilization(t *testing.T) {
	text, err := os.ReadFile(utilizationPage)
	if err != nil {
		t.Fatal(err)
	}
	fresh := replacePart(t, string(text), "accelerators", acceleratorTable())
	fresh = replacePart(t, fresh, "models", modelTable())
	if fresh != string(text) {
		if !*update {
			t.Fatal("docs/utilization.md is not what the program says; run go test ./cmd/slotop -run Docs -update and read the difference")
		}
		if err := os.WriteFile(utilizationPage, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, example, _ := strings.Cut(fresh, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if f, err := parseConfig("utilization.md", []byte(example)); err != nil || len(f.Hardware) != 2 || len(f.Models) != 2 {
		t.Errorf("%v: %+v", err, f)
	}
}

func acceleratorTable() string {
	var b strings.Builder
	b.WriteString("| accelerator | names | BF16 | FP16 | FP8 | FP4 | INT8 | GB/s | ridge | |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, a := range roofline.Accelerators() {
		p := roofline.NamedPeaks(a.Product)
		fmt.Fprintf(&b, "| %s | `%s` |", a.Product, strings.Join(a.Names, "`, `"))
		for _, in := range []roofline.Precision{roofline.BF16, roofline.FP16, roofline.FP8, roofline.FP4, roofline.INT8} {
			v, native := p.Peak(in)
			b.WriteString(peakCell(v/1e12, native == in))
		}
		sixteen, _ := p.Peak(roofline.BF16)
		b.WriteString(peakCell(p.Bytes/1e9, true))
		b.WriteString(peakCell(math.Round(sixteen/p.Bytes), true))
		fmt.Fprintf(&b, " %s |\n", a.Confidence)
	}
	return b.String()
}

func peakCell(v float64, native bool) string {
	if !native || math.IsNaN(v) {
		return " |"
	}
	return " " + unit.Number(v) + " |"
}

func modelTable() string {
	var b strings.Builder
	b.WriteString("| model | parameters | of which a token uses | KV bytes a token, 16 bit | |\n|---|---|---|---|---|\n")
	for _, s := range roofline.Models() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Model, unit.Count(s.Params), unit.Count(s.Active), unit.Integer(s.KVPerToken()), s.Confidence)
	}
	return b.String()
}
