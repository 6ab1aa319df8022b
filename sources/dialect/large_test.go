package dialect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/expo"
)

// quadratic is far beyond what a hundred thousand lines take, even under the race
// detector on a busy machine. Where each is compared with all others they take
// minutes.
const quadratic = 30 * time.Second

// A page may have a hundred thousand series that differ in one label. Working
// out how it is read takes time in proportion to them, not to their square.
func TestLargePagesCompileFast(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	const n = 100_000
	rows := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	small := "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 1\n"
	hist := "# TYPE vllm:time_to_first_token_seconds histogram\n"
	for name, body := range map[string]string{
		"users":   rows(`vllm:num_requests_running{engine="0",model_name="m",user="u%d"} 1`),
		"models":  rows(`vllm:num_requests_running{engine="0",model_name="m%d"} 1`),
		"engines": rows(`vllm:num_requests_running{engine="%d",model_name="m"} 1`),
		"users with a histogram": hist + rows(`vllm:time_to_first_token_seconds_bucket{engine="0",model_name="m",user="u%[1]d",le="+Inf"} 1`) +
			rows(`vllm:time_to_first_token_seconds_count{engine="0",model_name="m",user="u%[1]d"} 1`),
		"bounds": hist + rows(`vllm:time_to_first_token_seconds_bucket{engine="0",model_name="m",le="%[1]d"} %[1]d`),
	} {
		t.Run(name, func(t *testing.T) {
			s := expo.NewScanner(expo.Limits{Series: 3 * n})
			page, err := s.Scan([]byte(small + body))
			if err != nil {
				t.Fatal(err)
			}
			from := time.Now()
			plan := builtinSet(t).Plan(page)
			samples := plan.Read(page, nil)
			if took := time.Since(from); took > quadratic {
				t.Errorf("took %v", took)
			}
			for _, one := range samples {
				if one.Signal == model.Running && strings.HasPrefix(name, "users") && one.Value != n {
					t.Errorf("running %v, want %d", one.Value, n)
				}
			}
		})
	}
}

func TestManyRanks(t *testing.T) {
	var b strings.Builder
	b.WriteString("# TYPE sglang:num_running_reqs gauge\n")
	for i := range 50_000 {
		fmt.Fprintf(&b, "sglang:num_running_reqs{model_name=\"m\",tp_rank=\"%d\"} 3\n", 50_000-i)
	}
	from := time.Now()
	readPage(t, b.String()).value(model.Running, 3)
	if took := time.Since(from); took > quadratic {
		t.Errorf("took %v", took)
	}
}
