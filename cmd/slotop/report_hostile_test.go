package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model/unit"
)

// hostileNames are names that somebody chose who does not mean well, or who does not
// write Latin; url is what some of them would have the page ask.
func hostileNames(url string) []string {
	return []string{
		`</script><script>window.broken=true;fetch("` + url + `")</script>`,
		`"><img src="` + url + `" onerror="window.broken=true">`,
		`</title></style><style>@import url(` + url + `)</style>`,
		`'onmouseover='window.broken=true' x='`,
		`]]><svg onload="window.broken=true"/>`,
		`=HYPERLINK("` + url + `","open")`, `+1+1`, `-2+3`, `@SUM(A1:A9)`,
		"[click](" + url + ") **bold** `code` | cell", "# heading", "![x](" + url + ")",
		"モデル・大規模言語模型", "😀 🏳️‍🌈 café", "abc\u202edefgh", "\x1b[31mred\x07", "tab\tand | pipe",
		strings.Repeat("very-long-name-without-a-blank", 8),
	}
}

// visible is a name as a page shows it.
func visible(name string) string { return unit.Escape(name, false) }

// labelled is a name as a label of an exposition.
func labelled(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// hostilePages are two saved pages of an engine that serves models of such names, and
// what is given to a command that plays them.
func hostilePages(t testing.TB, url string) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "engine <b>&amp; \"x\"")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for poll := range 8 {
		var b strings.Builder
		for _, kind := range []string{"time_to_first_token_seconds", "request_time_per_output_token_seconds", "e2e_request_latency_seconds"} {
			fmt.Fprintf(&b, "# TYPE vllm:%s histogram\n", kind)
			for i, name := range hostileNames(url) {
				n := 100*poll + i
				for _, le := range []string{"0.05", "0.5", "1.0", "+Inf"} {
					fmt.Fprintf(&b, "vllm:%s_bucket{model_name=%s,le=%q} %d\n", kind, labelled(name), le, n)
				}
				fmt.Fprintf(&b, "vllm:%s_sum{model_name=%s} %g\n", kind, labelled(name), 0.04*float64(n))
				fmt.Fprintf(&b, "vllm:%s_count{model_name=%s} %d\n", kind, labelled(name), n)
			}
		}
		for _, gauge := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"} {
			fmt.Fprintf(&b, "# TYPE vllm:%s gauge\n", gauge)
			for _, name := range hostileNames(url) {
				fmt.Fprintf(&b, "vllm:%s{model_name=%s} 0.5\n", gauge, labelled(name))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.prom", poll)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{dir}
}
