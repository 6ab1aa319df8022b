package roofline

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

//go:embed models.csv
var modelsCSV string

// The kinds of attention.
const (
	GQA = "GQA" // grouped queries; with as many KV heads as heads it is plain
	MQA = "MQA" // one KV head
	MLA = "MLA" // one latent for all heads
)

// Shape is what FLOPs and bytes of a model follow from.
type Shape struct {
	Model      string
	From       string // FromTable or FromConfiguration
	Confidence string // A, B, C
	Attention  string

	Layers, Hidden, Heads, KVHeads, HeadSize float64
	Vocabulary                               float64
	Tied                                     bool    // the output projection is the input table
	Window                                   float64 // of windowed layers, tokens; 0: there are none
	FullLayers                               float64 // of Layers, that see everything

	Experts, PerToken float64 // routed; 0 in a dense model
	ExpertParams      float64 // of one routed expert in all its layers; NaN: it has experts and nobody says how large

	Params float64 // all
	Active float64 // that one token uses
	Matmul float64 // of them, that a decoded token multiplies by: without the input table

	Weights      Precision // how the layers' weights are stored
	WeightBytes  float64   // a weight of the layers, outside of routed experts
	ExpertBytes  float64   // a weight of routed experts
	HeadBytes    float64   // a weight of the output projection
	KVBytes      float64   // an element of the KV cache
	PrefillPairs float64   // FLOP a pair of a token and one that it attends to, of all layers, in prefill
}

// models is the table, read when it is first asked for. A test reads every row.
var models = sync.OnceValue(func() *modelTable {
	t, _ := readModels(modelsCSV)
	return t
})

type modelTable struct {
	rows   []Shape
	byName map[string]*Shape // by lower-case id
	byLast map[string]*Shape // by the last element of its path; nil where two share it
}

// Models are all rows, in the order of the table.
func Models() []Shape { return slices.Clone(models().rows) }

func readModels(text string) (*modelTable, error) {
	rows, err := readTable(text)
	t := &modelTable{byName: map[string]*Shape{}, byLast: map[string]*Shape{}}
	if err != nil {
		return t, err
	}
	t.rows = make([]Shape, len(rows))
	for i, r := range rows {
		if t.rows[i], err = shape(r); err != nil {
			return t, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	for i := range t.rows {
		s := &t.rows[i]
		id := strings.ToLower(s.Model)
		if t.byName[id] != nil {
			return t, fmt.Errorf("%s stands twice in the table", s.Model)
		}
		t.byName[id] = s
		if _, shared := t.byLast[last(id)]; shared {
			t.byLast[last(id)] = nil
			continue
		}
		t.byLast[last(id)] = s
	}
	return t, nil
}

// last is the last element of a path.
func last(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

func shape(r row) (Shape, error) {
	s := Shape{
		Model: r.text("model_id"), From: FromTable, Confidence: r.text("confidence"), Attention: r.text("attention"),
		Layers: r.number("layers"), Hidden: r.number("hidden"), Heads: r.number("q_heads"), KVHeads: r.number("kv_heads"),
		HeadSize: r.number("head_dim"), Vocabulary: r.number("vocab"), Tied: r.text("tied_embeddings") == "true",
		Window: r.count("sliding_window"), FullLayers: r.number("full_attention_layers"),
		Experts: r.count("experts"), PerToken: r.count("experts_per_token"),
		Params: r.number("params_total_b") * 1e9, Active: r.number("params_active_b") * 1e9, Matmul: r.number("params_matmul_active_b") * 1e9,
		KVBytes: 2, PrefillPairs: r.number("attn_flops_per_token_per_ctx_token"),
	}
	if s.Experts > 0 {
		s.ExpertParams = 3 * s.Hidden * r.number("moe_ff") * (s.Layers - r.count("dense_layers"))
	}
	stored, _, _ := strings.Cut(r.text("weight_dtype"), " ")
	p, known := PrecisionNamed(stored)
	if !known {
		return s, fmt.Errorf("weight_dtype %q is no precision", stored)
	}
	s.Weights = p
	bytes := r.number("weight_bytes_per_param")
	s.WeightBytes, s.ExpertBytes, s.HeadBytes = bytes, bytes, bytes
	if p == FP4 { // of the experts only
		s.WeightBytes, s.ExpertBytes, s.HeadBytes = BF16.Bytes(), FP4.Bytes(), BF16.Bytes()
	}
	if s.Heads < s.KVHeads || math.IsNaN(s.Matmul) {
		return s, fmt.Errorf("%s: heads or parameters are missing", s.Model)
	}
	return s, r.err()
}
