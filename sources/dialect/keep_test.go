package dialect

import (
	"slices"
	"strings"
	"testing"

	"slotop/model"
)

// tenants is a page on which two tenants share a model, each with a row of its own.
const tenants = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m",tenant="a"} 3
vllm:num_requests_running{engine="0",model_name="m",tenant="b"} 1
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="m",tenant="a"} 500
vllm:generation_tokens_total{engine="0",model_name="m",tenant="b"} 20
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m",tenant="a"} 7
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m",tenant="b"} 2
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m",tenant="a"} 6
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m",tenant="a"} 7
vllm:time_to_first_token_seconds_count{engine="0",model_name="m",tenant="a"} 7
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m",tenant="a"} 1
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m",tenant="b"} 0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m",tenant="b"} 2
vllm:time_to_first_token_seconds_count{engine="0",model_name="m",tenant="b"} 2
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m",tenant="b"} 4
`

// kept reads a page with a set that keeps labels, one sample a line.
func kept(t *testing.T, set *Set, body string, names ...string) string {
	t.Helper()
	keeping, err := set.Keeping(names)
	if err != nil {
		t.Fatal(err)
	}
	page := scan(t, []byte(body))
	plan := keeping.Plan(page)
	if plan == nil {
		t.Fatal("no dialect claims the page")
	}
	var lines []string
	for _, s := range plan.Read(page, nil) {
		lines = append(lines, string(s.Signal)+s.Labels.String()+" "+valueText(&s))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestKeptLabelsPartSeries(t *testing.T) {
	const apart = `output_tokens{engine=0,model=m,tenant=a} 500
output_tokens{engine=0,model=m,tenant=b} 20
requests_finished{engine=0,model=m,reason=stop,tenant=a} 7
requests_finished{engine=0,model=m,reason=stop,tenant=b} 2
requests_running{engine=0,model=m,tenant=a} 3
requests_running{engine=0,model=m,tenant=b} 1
ttft_seconds{engine=0,model=m,tenant=a} n 7, sum 1, 1 bounds 0.1 to 0.1
ttft_seconds{engine=0,model=m,tenant=b} n 2, sum 4, 1 bounds 0.1 to 0.1`
	const together = `output_tokens{engine=0,model=m} 520
requests_finished{engine=0,model=m,reason=stop} 9
requests_running{engine=0,model=m} 4
ttft_seconds{engine=0,model=m} n 9, sum 5, 1 bounds 0.1 to 0.1`
	set := builtinSet(t)
	for _, tc := range []struct {
		name string
		keep []string
		want string
	}{
		{"none", nil, together},
		{"the one that differs", []string{"tenant"}, apart},
		{"twice, and one that no series has", []string{"zone", "tenant", "tenant"}, apart},
		{"what has a meaning already", []string{model.LabelModel, model.LabelEngine, model.LabelReason, model.LabelWorkflow, model.LabelAdapter, "le"}, together},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := kept(t, set, tenants, tc.keep...); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
	if got := kept(t, set, tenants); got != together {
		t.Errorf("a set that keeps nothing is changed by one that does:\n%s", got)
	}
}

// Rows that repeat one value must not be counted once each.
func TestLabelsOfRepeatedRowsAreNotKept(t *testing.T) {
	const ranks = `# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{model_name="m",tp_rank="0",dp_rank="0",pid="8"} 4
sglang:num_running_reqs{model_name="m",tp_rank="1",dp_rank="0",pid="9"} 4
`
	if got, want := kept(t, builtinSet(t), ranks, "tp_rank", "pid"), "requests_running{engine=0,model=m} 4"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDialectsMapWorkflowsAndAdapters(t *testing.T) {
	set := builtinSet(t)
	err := set.AddDir(files("gw.yaml", `engine: gw
detect: {any: ["gw_*"]}
labels: {model: model, workflow: "tag|team", adapter: lora}
signals:
  requests_running: {from: gw_active}
`))
	if err != nil {
		t.Fatal(err)
	}
	const page = `gw_active{model="m",tag="chat",team="x",lora="sql"} 1
gw_active{model="m",team="batch",workflow="not this"} 2
`
	want := "requests_running{adapter=sql,model=m,workflow=chat} 1\nrequests_running{model=m,workflow=batch} 2"
	if got := kept(t, set, page, "workflow"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A row of a sum that is gone stands still within its own label's sum.
func TestKeptLabelsKeepTheirMemory(t *testing.T) {
	p := newPoller(t)
	var err error
	if p.set, err = p.set.Keeping([]string{"tenant"}); err != nil {
		t.Fatal(err)
	}
	row := func(host, tenant, v string) string {
		return `vllm:generation_tokens_total{engine="0",host="` + host + `",model_name="m",tenant="` + tenant + `"} ` + v + "\n"
	}
	const head = "# TYPE vllm:generation_tokens_total counter\n"
	p.poll(head + row("x", "a", "100") + row("y", "a", "50") + row("x", "b", "7"))
	p.poll(head + row("y", "a", "55") + row("x", "b", "8"))
	got := map[string]float64{}
	for _, s := range p.samples {
		got[s.Labels.Get("tenant")] = s.Value
	}
	if got["a"] != 155 || got["b"] != 8 {
		t.Errorf("got %v", got)
	}
}
