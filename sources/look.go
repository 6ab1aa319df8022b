package sources

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"slotop/sources/expo"
)

// looks say what a page without a dialect is, by the start of a family's name.
// The most telling come first: nearly every program also exports go_ or python_.
var looks = []struct{ prefix, what string }{
	{"slotop_", "slotop's own export: watch what it watches"},
	{"amd_gpu_", "AMD's GPU exporter, without a figure that slotop reads"},
	{"gpu_", "a GPU exporter"},
	{"node_", "the host exporter (node_exporter)"},
	{"prometheus_tsdb_", "a Prometheus server's own page"},
	{"vm_", "a VictoriaMetrics server's own page"},
	{"alertmanager_", "Alertmanager's own page"},
	{"traefik_", "Traefik, without AI figures"},
	{"envoy_", "Envoy, without AI figures: Envoy AI Gateway has its own on port 1064"},
	{"istio_", "Istio"},
	{"llamaswap_", "llama-swap, host figures only"},
	{"ray_", "Ray, without Serve's or an engine's figures"},
	{"python_", "a Python program"},
	{"go_", "a Go program"},
}

// lookOf is the note on a page that no dialect claims.
func lookOf(scanned *expo.Page, sent *sent) string {
	n, first := 0, ""
	for name, series := range scanned.Names {
		if n += series; first == "" {
			first = name
		}
	}
	if n == 0 {
		return "a metrics page without a single series yet"
	}
	for _, l := range looks {
		for name := range scanned.Names {
			if strings.HasPrefix(name, l.prefix) {
				return fmt.Sprintf("no engine that slotop knows; it looks like %s (%d series, such as %s)",
					l.what, n, sent.excerpt(name))
			}
		}
	}
	return fmt.Sprintf("no engine that slotop knows (%d series, such as %s)", n, sent.excerpt(first))
}

// hints recognise well-known answers that are no metrics page, and say what to
// do instead. drains marks pages that cost the server something to read.
var hints = []hint{
	{needle: "does not support metrics endpoint", text: llamaOff},
	{needle: `"iterLatencyMS"`, drains: true, text: "TensorRT-LLM's iteration statistics, a queue that reading empties: " + trtllmPage},
	{needle: "these metrics count token in the unit of serving model", drains: true, text: "MLC-LLM's figures, for which each reading puts a request through the engine: measure it from outside by a probe, openai+http://HOST:PORT"},
	{needle: "Ollama is running", text: "Ollama exports no metrics page"},
	{needle: "HTTP request to an HTTPS server", text: "the server speaks TLS: write https://"},
	{needle: `"completionStartTime"`, text: "it looks like LiteLLM's log of requests: write events+ before its address"},
	{needle: `"selected_key_name"`, text: "it looks like Bifrost's log of requests: write events+ before its address"},
	{needle: `"dynamo.request.trace.`, text: "it looks like Dynamo's trace of requests: write events: before the file"},
	{needle: `"gen_ai.request.model"`, text: "it looks like Envoy AI Gateway's access log: write events: before the file"},
	{needle: `"ai_log"`, text: "it looks like Higress' access log: write events: before the file"},
	{needle: `"llm_latency"`, text: "it looks like Kong's log of requests: write events: before the file"},
	{needle: "event: log\ndata: {", text: "it looks like Portkey's log of requests: write events: before a file, events+ before http://"},
	{needle: ", GPU-", text: "it looks like nvidia-smi's table without its heading: leave noheader away"},
	{needle: `"queued_at"`, text: "it looks like reports of single requests: write events: before a file, events+ before http://"},
	{needle: "plain HTTP request was sent to HTTPS port", text: "the server speaks TLS: write https://"},
}

// emptyList is what an idle TensorRT-LLM server answers.
var emptyList = hint{drains: true, text: "an empty list, as TensorRT-LLM's iteration statistics: " + trtllmPage}

const llamaOff = "llama.cpp runs without its metrics: start it with --metrics"

const trtllmPage = "its page is /prometheus/metrics, with return_perf_metrics: true"

type hint struct {
	needle, text string
	drains       bool
}

// drained is what a page is that costs the server something to read, "" for others.
func (h hint) drained() string {
	if !h.drains {
		return ""
	}
	return h.text
}

// hintWithin is how far into a body a hint is looked for.
const hintWithin = 4 << 10

// hintOf is the zero hint for a body that nothing is known of.
func hintOf(body []byte) hint {
	body = body[:min(len(body), hintWithin)]
	for _, h := range hints {
		if bytes.Contains(body, []byte(h.needle)) {
			return h
		}
	}
	if string(bytes.TrimSpace(body)) == "[]" {
		return emptyList
	}
	return hint{}
}

// maxExcerpt bounds foreign text in a message, in runes.
const maxExcerpt = 160

// excerpt makes foreign text fit for a message: one line, bounded, and no
// character that a terminal obeys.
func excerpt(s string) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			space = b.Len() > 0
			continue
		}
		if n++; n > maxExcerpt {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteString(visible(r))
	}
	return b.String()
}

// visible is a rune, or a mark for one that is not a plain character: controls,
// direction marks and broken encoding.
func visible(r rune) string {
	switch {
	case r == utf8.RuneError:
		return "\uFFFD"
	case r < 0x20:
		return string(0x2400 + r) // the Unicode pictures of the control characters
	case r == 0x7f:
		return "\u2421"
	case !unicode.IsPrint(r):
		return fmt.Sprintf("<U+%04X>", r)
	default:
		return string(r)
	}
}
