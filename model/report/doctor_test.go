package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"slotop/model"
	"slotop/model/report"
	"slotop/model/unit"
)

// hostile is text that a terminal would obey, in every field that may hold some.
const hostile = "\x1b[2Jred\u202e\n# x"

func checkup() *report.Checkup {
	lack := func(what, why, do string, metrics ...string) report.Lack {
		return report.Lack{What: what, Why: why, Do: model.Text(do), Metrics: metrics}
	}
	return &report.Checkup{
		Watching: 12,
		Targets: []report.TargetCheckup{
			{
				Name: "chat-0", Kind: model.EngineTarget, Engine: "vllm", Version: "0.12", Models: []string{"m"},
				TookS: model.Of(0.012), SkewS: model.Of(-42), StepS: model.Of(15), Replicas: model.Replicas{Fresh: 2, Total: 3},
				BadLines: 1, FirstBad: "1 line skipped (7): no value", Dropped: 4, Shows: []string{"TTFT", "running"}, Waits: []string{"preemptions"},
				Lacks: []report.Lack{
					lack("TPOT", "not exported here", "upgrade", "a:tpot"), lack("ITL", "not exported here", "upgrade", "a:itl", "a:tpot"),
					lack("E2E latency", "not exported here", "upgrade", "a:e2e", "a:x", "a:y"), lack("MFU", "vllm exports none", ""),
				},
				Notes:   []string{"a note"},
				Signals: []model.Meaning{{Signal: model.TTFT, Metric: "a:ttft"}, {Signal: model.E2E, Metric: "a:e2e", Measures: "much", AtFinish: true}},
			},
			{Name: "chat-1", Kind: model.EngineTarget, Fault: &model.Fault{Kind: model.NotFound, Detail: "404: do this"}},
			{
				Name: "gpus", Kind: model.GPUTarget, SkewS: model.Of(0.2),
				Devices: []report.DeviceCheckup{
					{UUID: "GPU-a", Name: "H100", State: model.DevicePresent, Shows: []string{"busy"}},
					{UUID: "GPU-b", Name: "H100", State: model.DevicePresent, Shows: []string{"busy"}},
					{UUID: "GPU-c", Name: "H100", State: model.DeviceLost, Detail: "fell off the bus"},
				},
			},
		},
		Promises: []report.PromiseCheckup{{Workflow: "chat", Lost: true, Says: []string{"TTFT 1 s cannot be evaluated"}, Do: []string{"upgrade"}}, {Workflow: "rag", Says: []string{"exact"}}},
		Blind:    []report.RuleCheckup{{Rule: "kv-full", On: "on chat-0", Why: "it takes more"}, {Rule: "kv-full", On: "on chat-1", Why: "it takes more"}},
		Host:     []report.Fact{{What: "GPUs", Says: "2", Bad: false}},
	}
}

const wantCheckup = `chat-0: vllm 0.12 (engine)
  serves      m
  answers     in 12 ms, its clock is 42 s behind ours, a new value every 15 s,
              2 of the 3 servers behind it answer
  skipped     1 line skipped (7): no value
  dropped     4 series, beyond the limits
  shows       TTFT, running
  not yet     preemptions
  lacks       TPOT, ITL, E2E latency: not exported here (a:e2e, a:itl, a:tpot
              and 2 more) -> upgrade
              MFU: vllm exports none
  note        a note
  reads       TTFT         a:ttft
              E2E latency  a:e2e: much (at finish)

chat-1: not found: 404: do this

gpus: nothing that is known (gpu)
  answers     its clock and ours agree
  GPU         2 x H100
              GPU-a, GPU-b
    shows     busy
  GPU         H100, lost: fell off the bus
              GPU-c

promise chat: CANNOT BE JUDGED
              TTFT 1 s cannot be evaluated
  to do       upgrade

promise rag
              exact

rules that cannot be evaluated
  kv-full  on chat-0: it takes more
  kv-full  on chat-1: it takes more

this host
  GPUs        2

2 targets answer, 1 does not, 1 promise cannot be judged, 1 rule cannot be
evaluated
`

func TestCheckupText(t *testing.T) {
	if got := report.CheckupText(checkup(), 80, true); got != wantCheckup {
		t.Errorf("got\n%s\nwant\n%s", got, wantCheckup)
	}
	c := checkup()
	if c.Told() || c.Answered() != 2 {
		t.Errorf("told %v, %d answered", c.Told(), c.Answered())
	}
}

// TestCheckupTextIsSafe: whatever came from a target is shown and not obeyed, and no
// line is wider than asked.
func TestCheckupTextIsSafe(t *testing.T) {
	long := hostile + strings.Repeat("x", 200) + "{" + strings.Repeat("y", 200) + "}"
	c := checkup()
	d := &c.Targets[0]
	d.Name, d.Engine, d.Version, d.Models, d.FirstBad = long, model.Text(long), model.Text(long), []string{long}, model.Text(long)
	d.Notes, d.Shows, d.Signals[0].Metric, d.Signals[0].Measures = []string{long}, []string{long}, long, long
	d.Lacks[0] = report.Lack{What: long, Why: long, Do: model.Text(long), Metrics: []string{long}}
	c.Targets[1].Fault.Detail = long
	c.Targets[2].Devices[0] = report.DeviceCheckup{UUID: long, Name: model.Text(long), Detail: model.Text(long)}
	c.Promises[0] = report.PromiseCheckup{Workflow: long, Says: []string{long}, Do: []string{long}}
	c.Blind[0] = report.RuleCheckup{Rule: hostile, On: model.Text(long), Why: long}
	c.Host[0].Says = long
	for _, ascii := range []bool{false, true} {
		for _, width := range []int{10, 40, 80, 120} {
			text := report.CheckupText(c, width, ascii)
			if strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("width %d: %q", width, text)
			}
			for line := range strings.Lines(text) {
				if w := unit.Width(strings.TrimRight(line, "\n")); w > max(width, 40) {
					t.Errorf("width %d: %d cells: %q", width, w, line)
				}
				if i := strings.IndexFunc(line, func(r rune) bool { return r > 0x7e }); ascii && i >= 0 {
					t.Errorf("not ASCII: %q", line)
				}
			}
		}
	}
}

func TestCheckupJSON(t *testing.T) {
	c := checkup()
	c.Targets[0].Notes = []string{hostile}
	var b bytes.Buffer
	if err := report.CheckupJSON(&b, c); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("%q", b.String())
	}
	var back struct {
		Schema  string `json:"schema"`
		Told    *bool  `json:"all_promises_can_be_judged"`
		Targets []struct {
			Took  *float64 `json:"took_s"`
			Notes []string `json:"notes"`
			Fault *model.Fault
		} `json:"targets"`
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Schema != "slotop.doctor/1" || back.Told == nil || *back.Told || len(back.Targets) != 3 || *back.Targets[0].Took != 0.012 ||
		back.Targets[1].Took != nil || back.Targets[1].Fault == nil || back.Targets[0].Notes[0] != hostile {
		t.Errorf("%+v", back)
	}
}
