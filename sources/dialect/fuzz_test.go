package dialect

import (
	"bytes"
	"fmt"
	"testing"

	"slotop/model"
	"slotop/sources/expo"
)

// FuzzRead gives two pages in a row to whatever dialect claims them: nothing in
// a page may bring the program down or make a histogram that is none.
func FuzzRead(f *testing.F) {
	set, err := Builtin()
	if err != nil {
		f.Fatal(err)
	}
	whole := fmt.Sprintf(vllmHist, 3, 5, 6, 7, 7, 4.5)
	f.Add([]byte(whole), []byte(fmt.Sprintf(vllmHist, 1, 1, 1, 1, 1, 0.1)))
	f.Add([]byte(whole), []byte("vllm:num_requests_running 1\n"))
	f.Add([]byte("vllm:time_to_first_token_seconds_bucket{le=\"1\"} 1\n"), []byte(whole))
	f.Add([]byte("nv_inference_request_success{model=\"ensemble\"} 64\nnv_inference_request_success{model=\"tensorrt_llm\"} 0\n"),
		[]byte("nv_inference_request_duration_us{model=\"ensemble\"} 4\n"))
	f.Add([]byte("sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"-3\",pid=\"7\"} NaN\n"),
		[]byte("sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"1\",priority=\"1\"} 8\n"))
	f.Add([]byte("trtllm_kv_cache_used_blocks 3\ntrtllm_kv_cache_max_blocks 0\n"), []byte("trtllm_kv_cache_max_blocks 2\n"))
	f.Add([]byte("gateway_ttft_bucket_total{bucket=\"200-500ms\"} 3\ngateway_ttft_bucket_total{bucket=\"5000ms+\"} 1\n"),
		[]byte("gateway_ttft_bucket_total{bucket=\"[1-2)\"} 3\ngateway_ttft_bucket_total{bucket=\"9-1ms\"} NaN\n"))
	f.Add([]byte("bifrost_upstream_requests_total{model=\"m\",number_of_retries=\"2\"} 3\nbifrost_success_requests_total{model=\"m\"} 3\n"),
		[]byte("bifrost_upstream_requests_total{number_of_retries=\"x\"} 3\nbifrost_error_requests_total{model=\"m\",status_code=\"499\"} 1\n"))
	f.Add([]byte("smg_worker_requests_active{worker=\"a\"} -1\nsmg_engine_token_usage{worker=\"a\"} -1\n"), []byte("smg_worker_requests_active{worker=\"a\"} 2\n"))
	f.Add([]byte("{\"gen_ai.server.request.duration_seconds_count\",\"error.type\"=\"\",job=\"a\",instance=\"b\"} 3\n"), []byte("gen_ai_server_request_duration_seconds_count 4\n"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		held := expo.NewScanner(expo.Limits{})
		streamed := expo.NewScanner(expo.Limits{Crowd: 1})
		held.Complete, streamed.Complete = true, true
		for _, scan := range []func(body []byte) (*expo.Page, error){
			held.Scan,
			func(body []byte) (*expo.Page, error) { return streamed.ScanFrom(bytes.NewReader(body)) },
		} {
			readTwo(t, set, scan, first, second)
		}
	})
}

func readTwo(t *testing.T, set *Set, scan func(body []byte) (*expo.Page, error), first, second []byte) {
	generation, plan := 0, (*Plan)(nil)
	for _, body := range [][]byte{first, second, first} {
		page, err := scan(body)
		if err != nil {
			return
		}
		if page.Generation != generation || page.New > 0 {
			before := plan
			generation, plan = page.Generation, set.Plan(page)
			if plan == nil {
				return
			}
			if before != nil {
				plan.Continue(before)
			}
		}
		for _, sample := range plan.Read(page, nil) {
			if (sample.Kind == model.Histogram) != (sample.Hist != nil) {
				t.Errorf("%s is a %v with buckets %v", sample.Signal, sample.Kind, sample.Hist)
			}
			if h := sample.Hist; h != nil && len(h.Counts) != len(h.Bounds)+1 {
				t.Errorf("%s has %d bounds and %d counts", sample.Signal, len(h.Bounds), len(h.Counts))
			}
		}
		if plan.About(page) == nil {
			t.Error("nothing is said of the target")
		}
	}
}
