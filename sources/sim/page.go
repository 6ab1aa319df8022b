package sim

import (
	"slices"
	"strconv"
	"strings"
)

// template is a page with holes: text that stays, and where the numbers are.
// It is built once a start of a replica; writing a page allocates nothing.
type template struct {
	text  []byte
	holes []hole

	created clock // of the children that the process made at its start
}

// clock is when the next child of the registry was made, Unix seconds.
type clock float64

// next is the time of one more child.
func (c *clock) next() float64 {
	*c += registryStep
	return float64(*c)
}

// child is the labels of one row, and the clock by which it was made.
type child struct {
	labels string
	made   *clock
}

// children are rows that the process made at its start.
func (t *template) children(rows ...string) []child {
	out := make([]child, len(rows))
	for i, labels := range rows {
		out[i] = child{labels, &t.created}
	}
	return out
}

// hole is a number after text[:end].
type hole struct {
	end  int
	slot *float64
	how  fill
}

type fill uint8

const (
	value       fill = iota // the slot
	firstBucket             // the slot; starts the sum over buckets
	nextBucket              // the sum so far and the slot
	bucketTotal             // the sum so far
)

// write appends the page with the numbers as they are now.
func (t *template) write(dst []byte) []byte {
	from, sum := 0, 0.0
	for _, h := range t.holes {
		dst = append(dst, t.text[from:h.end]...)
		from = h.end
		switch h.how {
		case value:
			dst = appendNumber(dst, *h.slot)
			continue
		case firstBucket:
			sum = *h.slot
		case nextBucket:
			sum += *h.slot
		}
		dst = appendNumber(dst, sum)
	}
	return append(dst, t.text[from:]...)
}

func (t *template) put(parts ...string) {
	for _, p := range parts {
		t.text = append(t.text, p...)
	}
}

func (t *template) line(name, labels string, slot *float64, how fill) {
	t.put(name, labels, " ")
	t.holes = append(t.holes, hole{len(t.text), slot, how})
	t.put("\n")
}

func (t *template) fixed(name, labels string, v float64) {
	t.put(name, labels, " ")
	t.text = append(appendNumber(t.text, v), '\n')
}

func (t *template) head(name, help string, k kind) {
	t.put("# HELP ", name, " ", help, "\n# TYPE ", name, " ", string(k), "\n")
}

// times writes the _created family of a family with the given rows.
func (t *template) times(name, help string, rows []child) {
	t.head(name+"_created", help, gaugeKind)
	for _, c := range rows {
		t.fixed(name+"_created", c.labels, c.made.next())
	}
}

// registryStep is the time in which a process makes one child of its registry.
const registryStep = 8e-6

// histogram writes one child of a histogram. The labels are pairs without le.
func (t *template) histogram(name string, h *histogram, pairs ...string) {
	le := append(slices.Clone(pairs), "le", "")
	for i := range h.counts {
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = string(appendNumber(nil, h.bounds[i]))
		}
		le[len(le)-1] = bound
		how := nextBucket
		if i == 0 {
			how = firstBucket
		}
		t.line(name+"_bucket", labels(le...), &h.counts[i], how)
	}
	t.line(name+"_count", labels(pairs...), &h.counts[0], bucketTotal)
	t.line(name+"_sum", labels(pairs...), &h.sum, value)
}

// labels writes pairs in the order of their names.
func labels(pairs ...string) string {
	if len(pairs) == 0 {
		return ""
	}
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		parts = append(parts, pairs[i]+`="`+pairs[i+1]+`"`)
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ",") + "}"
}

func (s *served) labels(extra ...string) []string {
	return append([]string{"engine", "0", "model_name", s.name}, extra...)
}

// family writes one family of the engine with the rows of every served name.
func (t *template) family(f family, names []*served) {
	var rows []child
	name := f.name
	if f.kind == counterKind {
		name += "_total"
	}
	t.head(name, f.help, f.kind)
	for _, s := range names {
		made := &t.created
		if s.since > 0 {
			made = &s.created
		}
		if f.kind == histogramKind {
			t.histogram(name, f.hist(s), s.labels()...)
			rows = append(rows, child{labels(s.labels()...), made})
			continue
		}
		for _, r := range f.rows(s) {
			pairs := s.labels()
			if r.label != "" {
				pairs = s.labels(r.label, r.value)
			}
			t.line(name, labels(pairs...), r.slot, value)
			rows = append(rows, child{labels(pairs...), made})
		}
	}
	if f.kind != gaugeKind {
		t.times(f.name, f.help, rows)
	}
}

// newTemplate lays out a replica's page: the process, the engine, the HTTP layer.
func newTemplate(p *process, names []*served, f *front, lim Limits, families []family) *template {
	t := &template{created: clock(p.ready)}
	for _, s := range names {
		s.created = clock(s.since)
	}
	t.process(p)
	for _, fam := range families {
		t.family(fam, names)
	}
	t.config(lim)
	t.http(f)
	return t
}

func (t *template) config(lim Limits) {
	t.head("vllm:cache_config_info", "Information of the LLMEngine CacheConfig", gaugeKind)
	t.fixed("vllm:cache_config_info", labels(
		"_block_size_resolved", "True", "block_size", strconv.Itoa(lim.BlockSize), "cache_dtype", "auto",
		"calculate_kv_scales", "False", "enable_prefix_caching", "True", "engine", "0",
		"gpu_memory_utilization", "0.9", "hash_block_size", "None", "is_attention_free", "False",
		"kv_cache_dtype_skip_layers", "[]", "kv_cache_memory_bytes", "None",
		"kv_offloading_backend", "native", "kv_offloading_size", "None",
		"kv_sharing_fast_prefill", "False", "mamba_block_size", "None", "mamba_cache_dtype", "auto",
		"mamba_cache_mode", "none", "mamba_page_size_padded", "None", "mamba_ssm_cache_dtype", "auto",
		"num_cpu_blocks", "None", "num_gpu_blocks", strconv.Itoa(lim.Blocks),
		"num_gpu_blocks_override", "None", "prefix_caching_hash_algo", "sha256", "sliding_window", "None",
		"user_specified_block_size", "False", "user_specified_mamba_block_size", "False"), 1)
}
