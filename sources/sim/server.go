package sim

import (
	"strconv"
	"time"
)

// process is the Python process of a replica as its client library reports it.
type process struct {
	started, ready float64 // Unix seconds
	cpu            float64
	files          float64
	collected      [3]float64 // by generation
	collections    [3]float64
}

// observe sets what the process says of itself after so much work.
func (p *process) observe(up time.Duration, steps, open float64) {
	p.cpu = float64(int64((bootCPU+product(0.004, up.Seconds())+product(0.0015, steps))*100)) / 100
	p.files = 64 + open
	p.collections = [3]float64{float64(int64(steps / 110)), float64(int64(steps / 1210)), float64(int64(steps / 16000))}
	for i, each := range [3]float64{72, 190, 5200} {
		p.collected[i] = each * p.collections[i]
	}
}

// bootCPU is the CPU time in seconds that loading the model cost.
const bootCPU = 41.7

func (t *template) process(p *process) {
	generations := func(name, help string, slots func(i int) *float64) {
		t.head(name, help, counterKind)
		for i := range 3 {
			t.line(name, labels("generation", strconv.Itoa(i)), slots(i), value)
		}
	}
	zero := new(float64)
	generations("python_gc_objects_collected_total", "Objects collected during gc",
		func(i int) *float64 { return &p.collected[i] })
	generations("python_gc_objects_uncollectable_total", "Uncollectable objects found during GC",
		func(int) *float64 { return zero })
	generations("python_gc_collections_total", "Number of times this generation was collected",
		func(i int) *float64 { return &p.collections[i] })
	t.head("python_info", "Python platform information", gaugeKind)
	t.fixed("python_info", labels("implementation", "CPython", "major", "3", "minor", "12",
		"patchlevel", "11", "version", "3.12.11"), 1)
	t.head("process_virtual_memory_bytes", "Virtual memory size in bytes.", gaugeKind)
	t.fixed("process_virtual_memory_bytes", "", 2.873442304e10)
	t.head("process_resident_memory_bytes", "Resident memory size in bytes.", gaugeKind)
	t.fixed("process_resident_memory_bytes", "", 2.574942208e9)
	t.head("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", gaugeKind)
	t.line("process_start_time_seconds", "", &p.started, value)
	t.head("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", counterKind)
	t.line("process_cpu_seconds_total", "", &p.cpu, value)
	t.head("process_open_fds", "Number of open file descriptors.", gaugeKind)
	t.line("process_open_fds", "", &p.files, value)
	t.head("process_max_fds", "Maximum number of open file descriptors.", gaugeKind)
	t.fixed("process_max_fds", "", 1048576)
}

// http writes the families of the API server. The router asked it once for its
// models before it sent the first request.
func (t *template) http(f *front) {
	const models, chat = "/v1/models", "/v1/chat/completions"
	get := []string{"handler", models, "method", "GET"}
	post := []string{"handler", chat, "method", "POST"}
	byHandler := t.children(labels("handler", models), labels("handler", chat))
	zero := new(float64)

	name, help := "http_requests", "Total number of requests by method, status and handler."
	rows := t.children(labels(append(get, "status", "2xx")...), labels(append(post, "status", "2xx")...))
	t.head(name+"_total", help, counterKind)
	t.fixed(name+"_total", rows[0].labels, 1)
	t.line(name+"_total", rows[1].labels, &f.requests, value)
	t.times(name, help, rows)

	summary := func(name, help string, modelsSum float64, sum *float64) {
		help += " Only value of header is respected. Otherwise ignored. No percentile calculated."
		t.head(name, help, summaryKind)
		t.fixed(name+"_count", byHandler[0].labels, 1)
		t.fixed(name+"_sum", byHandler[0].labels, modelsSum)
		t.line(name+"_count", byHandler[1].labels, &f.requests, value)
		t.line(name+"_sum", byHandler[1].labels, sum, value)
		t.times(name, help, byHandler)
	}
	summary("http_request_size_bytes", "Content length of incoming requests by handler.", 0, &f.bytes)
	summary("http_response_size_bytes", "Content length of outgoing responses by handler.", modelsBytes, zero)

	name = "http_request_duration_highr_seconds"
	help = "Latency with many buckets but no API specific labels. Made for more accurate percentile calculations."
	t.head(name, help, histogramKind)
	t.histogram(name, &f.fine)
	t.times(name, help, t.children(""))

	name = "http_request_duration_seconds"
	help = "Latency with only few buckets by handler. Made to be only used if aggregation by handler is important."
	t.head(name, help, histogramKind)
	once := newHistogram(fewBounds)
	once.observe(modelsSeconds)
	t.histogram(name, &once, get...)
	t.histogram(name, &f.few, post...)
	t.times(name, help, t.children(labels(get...), labels(post...)))
}
