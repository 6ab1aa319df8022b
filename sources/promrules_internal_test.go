package sources

import (
	"slices"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

func TestRecordingRules(t *testing.T) {
	for _, c := range []struct {
		query string
		want  recorded
	}{
		{`sum by (model_name, le) (rate(vllm:time_to_first_token_seconds_bucket[1m]))`, recorded{metric: "vllm:time_to_first_token_seconds_bucket", merge: "sum", of: "rate", window: time.Minute, by: []string{"model_name", "le"}}},
		{"sum by(le)(increase(x_bucket{job=\"a\",}[1h30m]))", recorded{metric: "x_bucket", match: `job="a"`, merge: "sum", of: "increase", window: 90 * time.Minute, by: []string{"le"}}},
		{`max(vllm:kv_cache_usage_perc) by (model_name)`, recorded{metric: "vllm:kv_cache_usage_perc", merge: "max", by: []string{"model_name"}}},
		{`sum(rate(x_total[5m])) by (a)`, recorded{metric: "x_total", merge: "sum", of: "rate", window: 5 * time.Minute, by: []string{"a"}}},
	} {
		got, ok := recordedBy(promv1.RecordingRule{Name: "r", Query: c.query})
		if !ok || got.name != "r" || got.metric != c.want.metric || got.match != c.want.match || got.merge != c.want.merge || got.of != c.want.of || got.window != c.want.window || !slices.Equal(got.by, c.want.by) {
			t.Errorf("%s: %+v, %v", c.query, got, ok)
		}
	}
	for _, query := range []string{
		`histogram_quantile(0.95, sum by (le) (rate(x_bucket[1m])))`, `sum(rate(x_total[5m]))`, `sum by (a) (rate(x_total[5m])) / sum by (a) (rate(y_total[5m]))`,
		`max by (a) (rate(x_total[5m]))`, `sum by (a) (irate(x_total[5m]))`, `sum by (a) (rate(x_total[5m] offset 1h))`, `sum by (a) (x_total[5m])`, `sum by (a) (rate(x_total))`, ``, `x`,
		`avg by (a) (x)`, `sum without (a) (x)`, `sum by (a) (x + y)`, `sum by (a) (rate(x_total[5m])) by (b)`,
	} {
		if got, ok := recordedBy(promv1.RecordingRule{Query: query}); ok {
			t.Errorf("%s is read as %+v", query, got)
		}
	}
}
