package roofline

import (
	"math"
	"strings"
	"testing"
)

func TestFindPeaks(t *testing.T) {
	for _, c := range []struct {
		card    Card
		product string // "" is unknown
		from    string
		bf16    float64 // TFLOP/s, or FP16
		gbs     float64
		why     string
	}{
		{card: Card{Name: "NVIDIA H100 80GB HBM3"}, product: "H100 SXM5 80GB", bf16: 989.4, gbs: 3350},
		{card: Card{Name: "  nvidia   h100 80GB  hbm3 "}, product: "H100 SXM5 80GB", bf16: 989.4, gbs: 3350},
		{card: Card{Name: "NVIDIA H100 PCIe"}, product: "H100 PCIe 80GB", bf16: 756, gbs: 2039},
		{card: Card{Name: "A100-SXM4-40GB"}, product: "A100 SXM4 40GB", bf16: 312, gbs: 1555},
		{card: Card{Name: "NVIDIA A100 80GB PCIe"}, product: "A100 PCIe 80GB", bf16: 312, gbs: 1935},
		{card: Card{Name: "Tesla T4"}, product: "T4", bf16: 65, gbs: 320},
		{card: Card{Name: "NVIDIA H20"}, product: "H20 96GB", bf16: 148, gbs: 4000},
		{card: Card{Name: "NVIDIA H200"}, product: "H200 SXM5 141GB", bf16: 989.4, gbs: 4800},
		{card: Card{Name: "NVIDIA L4"}, product: "L4", bf16: 121, gbs: 300},
		{card: Card{Name: "NVIDIA L40S"}, product: "L40S", bf16: 362, gbs: 864},
		{card: Card{Name: "NVIDIA A10"}, product: "A10", bf16: 125, gbs: 600},
		{card: Card{Name: "NVIDIA GH200 480GB"}, product: "GH200 96GB", bf16: 989.4, gbs: 4000},
		{card: Card{Name: "NVIDIA GeForce RTX 4090"}, product: "RTX 4090", bf16: 165.2, gbs: 1008},
		{card: Card{Name: "NVIDIA B300 SXM6 AC"}, product: "B300 SXM 288GB", bf16: 2250, gbs: 8000},
		{card: Card{Name: "AMD Instinct MI300X OAM"}, product: "MI300X", bf16: 1307.4, gbs: 5300},
		{card: Card{Name: "NVIDIA RTX PRO 6000 Blackwell Server Edition"}, product: quotedTwice, bf16: 467.8, gbs: 1792},
		{card: Card{Name: "NVIDIA RTX PRO 6000 Blackwell Server Edition", Bandwidth: 1597e9}, product: quotedTwice, bf16: 467.8, gbs: 1597},
		{card: Card{Name: "NVIDIA H200", Bandwidth: 4917e9}, product: "H200 SXM5 141GB", bf16: 989.4, gbs: 4800},
		{card: Card{Name: "NVIDIA GB10"}, product: "GB10 (DGX Spark)", bf16: 125, gbs: 273},

		{card: Card{Name: "NVIDIA A100-SXM4-40GB MIG 2g.10gb"}, product: "A100 SXM4 40GB 2g.10gb", bf16: 312 * 2. / 7, gbs: 1555 * 2. / 8},
		{card: Card{Name: "NVIDIA H100 80GB HBM3", Profile: "1g.10gb"}, product: "H100 SXM5 80GB 1g.10gb", bf16: 989.4 / 7, gbs: 3350. / 8},
		{card: Card{Name: "NVIDIA H100 80GB HBM3", Profile: "1g.20gb"}, product: "H100 SXM5 80GB 1g.20gb", bf16: 989.4 / 7, gbs: 3350. / 4},
		{card: Card{Name: "NVIDIA A30", Profile: "1g.6gb"}, product: "A30 1g.6gb", bf16: 165. / 4, gbs: 933. / 4},
		{card: Card{Name: "NVIDIA H100 80GB HBM3", Profile: "1c.3g.40gb"}, why: "not known which share"},
		{card: Card{Name: "NVIDIA L40S", Profile: "1g.6gb"}, why: "not known which share"},
		{card: Card{Name: "NVIDIA H100 80GB HBM3", Profile: "9g.80gb"}, why: "has no slice"},
		{card: Card{Name: "NVIDIA X1000", Profile: "1g.10gb"}, why: "not in the table"},

		{card: Card{Name: "GRID A100-4C"}, why: "virtual"},
		{card: Card{Name: "NVIDIA A10-8Q"}, why: "virtual"},
		{card: Card{Name: "102-G30211-0C"}, why: "part number"},
		{card: Card{}, why: "no name"},
		{card: Card{Name: "NVIDIA H100"}, why: "not in the table"}, // which of three
		{card: Card{Name: "NVIDIA H2"}, why: "not in the table"},

		// A name in no table, and the only card of its kind with its memory.
		{card: Card{Name: "NVIDIA L40S-48Q2", Capability: "8.0", Memory: 24 << 30}, product: "A30", bf16: 165, gbs: 933},
		// Several such cards differ: then only its clocks are left.
		{
			card:    Card{Name: "NVIDIA H100 OEM", Capability: "9.0", Memory: 81559 * mib, Cores: 132 * 128, SMClockMax: 1830e6, Bandwidth: 3352e9},
			product: "NVIDIA H100 OEM", from: FromDerived, bf16: 989.4, gbs: 3352,
		},
		{card: Card{Name: "NVIDIA H100 OEM", Capability: "9.0", Memory: 81559 * mib}, why: "not in the table"},
		{
			card:    Card{Name: "NVIDIA GeForce RTX 4070 Ti", Capability: "8.9", Memory: 12282 * mib, Cores: 7680, SMClockMax: 2610e6, Bandwidth: 504e9},
			product: "NVIDIA GeForce RTX 4070 Ti", from: FromDerived, bf16: 80.2, gbs: 504,
		},
		{
			card:    Card{Name: "Quadro RTX 6000", Capability: "7.5", Cores: 4608, SMClockMax: 1770e6},
			product: "Quadro RTX 6000", from: FromDerived, bf16: 130.5, gbs: math.NaN(),
		},
	} {
		p, why := FindPeaks(c.card)
		if c.product == "" {
			if p != nil || !strings.Contains(why, c.why) {
				t.Errorf("%+v: %+v, %q, want %q", c.card, p, why, c.why)
			}
			continue
		}
		if p == nil {
			t.Errorf("%+v: %s", c.card, why)
			continue
		}
		from := c.from
		if from == "" {
			from = FromTable
		}
		flops, _ := p.Peak(BF16)
		if p.Product != c.product || p.From != from || math.Abs(flops/c.bf16/1e12-1) > 2e-3 {
			t.Errorf("%+v: %+v, %v FLOP/s", c.card, p, flops)
		}
		if math.IsNaN(c.gbs) != math.IsNaN(p.Bytes) || math.Abs(p.Bytes/c.gbs/1e9-1) > 1e-6 {
			t.Errorf("%+v: %v bytes/s", c.card, p.Bytes)
		}
		if from == FromDerived && p.Confidence != "C" {
			t.Errorf("%+v: derived with confidence %s", c.card, p.Confidence)
		}
	}
}

// No name of the table is found by a longer or a shorter one.
func TestNamesAreNeverPrefixes(t *testing.T) {
	for _, a := range Accelerators() {
		for _, n := range a.Names {
			p, why := FindPeaks(Card{Name: n})
			if p == nil || p.Product != a.Product {
				t.Errorf("%s: %+v %s", n, p, why)
			}
			if p, _ := FindPeaks(Card{Name: n + " Xtra"}); p != nil {
				t.Errorf("%s Xtra is taken for %s", n, p.Product)
			}
		}
		if p := NamedPeaks(a.Product); p == nil {
			t.Errorf("%s is not found by what it is called", a.Product)
		}
	}
}

func TestPeakOfAPrecision(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   Precision
		tflops float64
		in     Precision
	}{
		{"NVIDIA H100 80GB HBM3", BF16, 989.4, BF16},
		{"NVIDIA H100 80GB HBM3", FP8, 1978.9, FP8},
		{"NVIDIA H100 80GB HBM3", INT8, 1978.9, INT8},
		{"NVIDIA H100 80GB HBM3", Int4, 989.4, BF16}, // AWQ, GPTQ: stored so, multiplied in 16 bit
		{"NVIDIA H100 80GB HBM3", FP4, 989.4, BF16},  // MXFP4 on Hopper
		{"NVIDIA B200", FP4, 9000, FP4},
		{"NVIDIA A100-SXM4-80GB", FP8, 312, BF16}, // no native FP8
		{"Tesla V100-SXM2-16GB", BF16, 125, FP16},
		{"Tesla T4", FP8, 65, FP16},
		{"Intel(R) Arc(TM) Pro B60 Graphics", FP8, 98.3, FP8}, // its FP8 is no faster than its BF16
	} {
		p, _ := FindPeaks(Card{Name: c.name})
		if flops, in := p.Peak(c.want); flops != c.tflops*1e12 || in != c.in {
			t.Errorf("%s in %s: %v in %s", c.name, c.want, flops, in)
		}
	}
	p, _ := FindPeaks(Card{Name: "AMD Instinct MI308X"})
	if flops, _ := p.Peak(BF16); !math.IsNaN(flops) || p.Bytes != 5300e9 {
		t.Errorf("an unverified figure is used: %v", flops)
	}
}

func TestPrecisionNames(t *testing.T) {
	for s, want := range map[string]Precision{"BF16": BF16, "half": FP16, "fp8": FP8, "MXFP4": FP4, "int8": INT8, "int4": Int4} {
		if got, ok := PrecisionNamed(s); !ok || got != want {
			t.Errorf("%s: %s", s, got)
		}
	}
	if _, ok := PrecisionNamed("q8"); ok {
		t.Error("q8 is a precision")
	}
}
