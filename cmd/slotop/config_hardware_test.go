package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"slotop/model"
)

const hardwareConfig = `hardware:
  - target: "vllm-*"
    accelerator: H100 SXM5 80GB
    gpus: 2
    precision: fp8
    peak_tflops: 989
    bandwidth_gbs: 3350
    sequences: 256
    token_budget: 2048
    gpu_hour: 3.24
  - {accelerator: L4}
models:
  - name: llama-70b
    shape: meta-llama/Llama-3.1-70B-Instruct
    weight_bytes_per_param: 1
    kv_bytes_per_element: 1
  - {name: "*", params: 8.03e9, layers: 32, heads: 32, kv_heads: 8}
prices: {currency: "€", gpu_hour: 2.5}
forecast: {chat: 25, rag: 0.5}
`

func TestConfigHardware(t *testing.T) {
	c, err := parseConfig("f.yaml", []byte(hardwareConfig))
	if err != nil {
		t.Fatal(err)
	}
	p := c.policy()
	want := model.Policy{
		GraceS: defaultGrace.Seconds(),
		Hardware: []model.HardwareSpec{
			{Target: "vllm-*", Accelerator: "H100 SXM5 80GB", GPUs: 2, Precision: "fp8", PeakFLOPs: 989e12, PeakBytes: 3350e9, Sequences: 256, TokenBudget: 2048, GPUHour: 3.24},
			{Accelerator: "L4"},
		},
		Models: []model.ModelSpec{
			{Name: "llama-70b", Shape: "meta-llama/Llama-3.1-70B-Instruct", WeightBytes: 1, KVBytes: 1},
			{Name: "*", Params: 8.03e9, Layers: 32, Heads: 32, KVHeads: 8},
		},
		Prices:   model.PriceSpec{Currency: "€", GPUHour: 2.5},
		Forecast: map[string]float64{"chat": 25, "rag": 0.5},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("policy\n%+v\nwant\n%+v", p, want)
	}
}

func TestConfigHardwareErrors(t *testing.T) {
	const flows = "workflows:\n- {name: chat}\n"
	tests := []struct{ name, text, want string }{
		{"unknown key", "hardware:\n- acelerator: L4\n", `f.yaml:2:3: unknown key "acelerator": did you mean accelerator?`},
		{"a price in the hardware's place", "prices:\n  peak_tflops: 3\n", `f.yaml:2:3: unknown key "peak_tflops": it belongs under hardware`},
		{"no GPU", "hardware:\n- {gpus: 0}\n", `f.yaml:2:10: gpus 0: from 1 to 4096 that serve one target`},
		{"half a GPU", "hardware:\n- {gpus: 0.5}\n", `f.yaml:2:10: this cannot be a number: write a whole number`},
		{"a word for a number", "hardware:\n- {gpus: two}\n", `f.yaml:2:10: this cannot be a text: write a whole number`},
		{"terabytes", "hardware:\n- {bandwidth_gbs: 3.35}\n", `f.yaml:2:19: bandwidth_gbs 3.35: from 10 to 1e+06 GB/s of one GPU`},
		{"FLOP/s", "hardware:\n- {peak_tflops: 989e12}\n", `f.yaml:2:17: peak_tflops 9.89e+14: from 0.5 to 100000 TFLOP/s of one GPU`},
		{"no number", "hardware:\n- {peak_tflops: .nan}\n", `f.yaml:2:17: peak_tflops NaN: from 0.5`},
		{"sequences", "hardware:\n- {sequences: -1}\n", `f.yaml:2:15: sequences -1: from 1`},
		{"a budget of none", "hardware:\n- {token_budget: 0}\n", `f.yaml:2:18: token_budget 0: from 1`},
		{"precision", "hardware:\n- {precision: fp88}\n", `f.yaml:2:15: "fp88" is not one of bf16, fp16, fp8, fp4, int8: did you mean fp8?`},
		{"nothing said", "hardware:\n- {target: a}\n", "f.yaml:2:3: hardware that says nothing"},
		{"accelerator", "hardware:\n- {accelerator: H100 SXM}\n", `f.yaml:2:17: no accelerator of the table is called "H100 SXM", and its peak_tflops and bandwidth_gbs are not written: did you mean H100 SXM5 80GB?`},
		{"a letter", "hardware:\n- {accelerator: H100 SXM5 80GO}\n", `: did you mean H100 SXM5 80GB?`},
		{"its maker too", "hardware:\n- {accelerator: NVIDIA H100}\n", `and its peak_tflops and bandwidth_gbs are not written: which one, H100 SXM5 80GB, H100 PCIe`},
		{"half a name", "hardware:\n- {accelerator: H100, peak_tflops: 989}\n", `f.yaml:2:17: no accelerator of the table is called "H100", and its peak_tflops and bandwidth_gbs are not written: which one, H100 SXM5 80GB, H100 PCIe`},
		{"shape", "models:\n- {name: x, shape: meta-llama/Llama-3.1-70B-Instrukt}\n", `f.yaml:2:20: no model of the table is called "meta-llama/Llama-3.1-70B-Instrukt": did you mean meta-llama/Llama-3.1-70B-Instruct?`},
		{"end of a shape", "models:\n- {name: x, shape: Llama-3.1-70B-Instrukt}\n", `: did you mean Llama-3.1-70B-Instruct?`},
		{"half a shape", "models:\n- {name: x, params: 8e9}\n", `f.yaml:2:3: model "x": its model is in no table, and its configuration does not say layers`},
		{"an empty row", "hardware:\n-\n", "an empty row"},
		{"behind all", "hardware:\n- {gpus: 2}\n- {target: a, gpus: 1}\n", `f.yaml:3:12: nothing is left for the hardware of "a": "*" before it takes all that is called so`},
		{"no name", "models:\n- {layers: 3}\n", "f.yaml:2:3: model 1 has no name"},
		{"no shape", "models:\n- {name: x}\n", `f.yaml:2:3: model "x" has no shape`},
		{"billions", "models:\n- {name: x, params: 70.6}\n", "f.yaml:2:21: params 70.6: from 1e+06 to 1e+14 parameters: write 70.6e9"},
		{"more active than all", "models:\n- {name: x, params: 1e9, active_params: 2e9}\n", "f.yaml:2:41: active_params 2e+09: no more than params"},
		{"more KV heads", "models:\n- {name: x, heads: 8, kv_heads: 9}\n", "f.yaml:2:33: kv_heads 9: no more than heads, 8"},
		{"a free GPU", "prices: {gpu_hour: 0}\n", "f.yaml:1:20: gpu_hour 0: from 0.0001"},
		{"a currency", "prices: {currency: dollars}\n", `f.yaml:1:20: "dollars" is no currency`},
		{"a control character", "prices: {currency: \"\\e[1m\"}\n", `f.yaml:1:20: "\x1b[1m" is no currency`},
		{"no rate", "forecast: {chat: 0}\n", "f.yaml:1:18: forecast 0: a rate above 0"},
		{"of nobody", "forecast: {\"\": 3}\n", "f.yaml:1:16: a forecast of no workflow"},
		{"a word for a rate", "forecast: {chat: many}\n", "f.yaml:1:18: this cannot be a text: write a number"},
		{"a workflow misspelt", flows + "forecast: {chatt: 3}\n", `f.yaml:3:19: no workflow is called "chatt": did you mean chat?`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parseConfig("f.yaml", []byte(tc.text))
			if err == nil {
				t.Fatal("no error")
			}
			says(t, "the error", err.Error(), tc.want)
		})
	}
}

// TestConfigOwnAccelerator: what the table does not have can be said.
func TestConfigOwnAccelerator(t *testing.T) {
	for _, text := range []string{
		"hardware:\n- {accelerator: Own 3000, peak_tflops: 300, bandwidth_gbs: 1200}\n",
		"hardware:\n- {accelerator: nvidia h100 80gb hbm3}\n",
		"models:\n- {name: llama-3.1-8b-instruct, kv_bytes_per_element: 1}\n",
		"models:\n- {name: \"llama-*\", kv_bytes_per_element: 1}\n",
	} {
		if _, err := parseConfig("f.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCapacityPageIsRight: its examples are configurations that are taken.
func TestCapacityPageIsRight(t *testing.T) {
	text, err := os.ReadFile("../../docs/capacity.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(text), "```yaml\n")[1:]
	if len(examples) != 2 {
		t.Errorf("%d examples", len(examples))
	}
	for i, e := range examples {
		e, _, _ = strings.Cut(e, "```")
		if _, err := parseConfig("capacity.md", []byte(e)); err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
	}
}

// TestConfigShowHardware: what is shown is the configuration again, each row with
// its place.
func TestConfigShowHardware(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "my.yaml")
	if err := os.WriteFile(path, []byte(hardwareConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	r := headless(t, "config", "show", "--config", path)
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	text := strings.Join(strings.Fields(r.out), " ")
	for _, s := range []string{
		`{target: "vllm-*", accelerator: "H100 SXM5 80GB", gpus: 2, precision: fp8, peak_tflops: 989, bandwidth_gbs: 3350, sequences: 256, token_budget: 2048, gpu_hour: 3.24} # my.yaml:2`,
		"{name: llama-70b, shape: meta-llama/Llama-3.1-70B-Instruct, weight_bytes_per_param: 1, kv_bytes_per_element: 1} # my.yaml:13",
		"gpu_hour: 2.5} # my.yaml:18", "forecast: {chat: 25, rag: 0.5} # my.yaml:19",
	} {
		says(t, "the configuration", text, s)
	}
	shown, err := parseConfig("show.yaml", []byte(r.out))
	if err != nil {
		t.Fatalf("it is no configuration: %v\n%s", err, r.out)
	}
	own, err := parseConfig("f.yaml", []byte(hardwareConfig))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown.policy(), own.policy(); !reflect.DeepEqual(got, want) {
		t.Errorf("shown\n%+v\nread\n%+v", got, want)
	}
}

// TestTapeEquipment: a recording's machines and prices hold, unless a configuration
// that was named says others; what a recording lacks any configuration adds.
func TestTapeEquipment(t *testing.T) {
	mine, err := parseConfig("f.yaml", []byte("hardware:\n- {gpus: 8}\nprices: {gpu_hour: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	promised := []model.WorkflowSpec{{Name: "chat", Share: 0.9, PeriodS: 60, Objectives: []model.Objective{{Metric: model.MetricTTFT, MaxS: 1}}}}
	full := model.Policy{Workflows: promised, Hardware: []model.HardwareSpec{{GPUs: 2}}, Forecast: map[string]float64{"chat": 9}}
	old := model.Policy{Workflows: promised}
	none := model.Policy{Hardware: []model.HardwareSpec{{GPUs: 4}}}
	for _, tc := range []struct {
		name     string
		recorded model.Policy
		named    bool
		gpus     int
		price    float64
		forecast float64
	}{
		{"recorded", full, false, 2, 2, 9},
		{"named", full, true, 8, 2, 9},
		{"an old tape", old, false, 8, 2, 0},
		{"promises nothing", none, false, 4, 2, 0},
	} {
		a := &app{}
		if tc.named {
			a.flags.config = "f.yaml"
		}
		p, err := a.tapePolicy(mine, tc.recorded)
		if err != nil {
			t.Fatal(err)
		}
		if p.Hardware[0].GPUs != tc.gpus || p.Prices.GPUHour != tc.price || p.Forecast["chat"] != tc.forecast {
			t.Errorf("%s: %+v", tc.name, p)
		}
	}
}
