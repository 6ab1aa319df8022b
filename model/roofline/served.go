package roofline

import (
	"math"
	"regexp"
	"strings"

	"slotop/model"
)

// FindShape finds the shape behind a served name: the id of a model, or the last
// element of its path, in any case; of a quantised copy with the usual suffix the
// model it was made of. Anything else, an alias above all, is nil: names that look
// alike are not the same model.
func FindShape(served string) *Shape {
	if s := exact(served); s != nil {
		return s
	}
	name := strings.ToLower(last(strings.TrimRight(served, "/")))
	for _, q := range quantised {
		m := q.suffix.FindStringIndex(name)
		if m == nil {
			continue
		}
		if of := models().byLast[name[:m[0]]]; of != nil {
			s := of.stored(q.in)
			return &s
		}
	}
	return nil
}

// StoredIn is the precision that the suffix of a served name says, whether or not
// the model is in the table.
func StoredIn(served string) (Precision, bool) {
	name := strings.ToLower(last(strings.TrimRight(served, "/")))
	for _, q := range quantised {
		if q.suffix.MatchString(name) {
			return q.in, true
		}
	}
	return "", false
}

func exact(served string) *Shape {
	name := strings.ToLower(strings.TrimRight(served, "/"))
	if s := models().byName[name]; s != nil {
		return s
	}
	return models().byLast[last(name)]
}

// quantised are the suffixes of copies, and how their layers are stored.
var quantised = []struct {
	suffix *regexp.Regexp
	in     Precision
}{
	{regexp.MustCompile(`[-_.](fp8([-_](dynamic|static|kv|block))?)$`), FP8},
	{regexp.MustCompile(`[-_.](nvfp4|mxfp4|fp4)$`), FP4},
	{regexp.MustCompile(`[-_.](quantized\.w8a8|w8a8|int8)$`), INT8},
	{regexp.MustCompile(`[-_.](awq([-_](int4|4bit|marlin))?|gptq([-_](int4|4bit))?|quantized\.w4a16|w4a16|int4|4bit)$`), Int4},
}

// stored is the shape with its layers stored in another precision. Embeddings and
// the output projection usually stay in 16 bit.
func (s Shape) stored(in Precision) Shape {
	s.Weights = in
	s.WeightBytes, s.ExpertBytes, s.HeadBytes = in.Bytes(), in.Bytes(), BF16.Bytes()
	return s
}

// Configured is the shape that an operator describes for a served name: a row of
// the table with what differs, or one of its own. It is nil where the description is
// not enough to compute with, and why says what it lacks.
func Configured(spec model.ModelSpec, served string) (s *Shape, why string) {
	row := FindShape(served)
	if spec.Shape != "" {
		if row = FindShape(spec.Shape); row == nil {
			return nil, "the shape " + spec.Shape + " is not in the table of models"
		}
	}
	own := Shape{Attention: GQA, WeightBytes: 2, ExpertBytes: 2, HeadBytes: 2, KVBytes: 2, Weights: BF16}
	if row != nil {
		own = *row
	}
	own.Model, own.From = served, FromConfiguration
	if row != nil {
		own.Model = row.Model
	}
	own.override(spec)
	if row == nil {
		if why = own.lacks(); why != "" {
			return nil, why
		}
		own.complete()
	}
	return &own, ""
}

// override puts in what the operator says.
func (s *Shape) override(spec model.ModelSpec) {
	set := func(to *float64, v float64) {
		if v > 0 {
			*to = v
		}
	}
	heads := s.Heads * s.HeadSize * s.Layers
	set(&s.Params, spec.Params)
	set(&s.Matmul, spec.ActiveParams)
	set(&s.Layers, float64(spec.Layers))
	set(&s.Hidden, float64(spec.Hidden))
	set(&s.Heads, float64(spec.Heads))
	set(&s.KVHeads, float64(spec.KVHeads))
	set(&s.HeadSize, float64(spec.HeadSize))
	set(&s.Vocabulary, float64(spec.Vocabulary))
	set(&s.KVBytes, spec.KVBytes)
	if spec.WeightBytes > 0 {
		s.WeightBytes, s.ExpertBytes, s.HeadBytes = spec.WeightBytes, spec.WeightBytes, spec.WeightBytes
		s.Weights = storedIn(spec.WeightBytes, s.Weights)
	}
	if now := s.Heads * s.HeadSize * s.Layers; now != heads && s.Attention != MLA {
		s.PrefillPairs = 4 * now
		if spec.Layers > 0 {
			s.FullLayers, s.Window = s.Layers, 0
		}
	}
}

// storedIn is the precision that weights of so many bytes are stored in. One byte may
// be an integer as well as a float: what is known stays.
func storedIn(bytes float64, was Precision) Precision {
	switch {
	case bytes > 1.5:
		return BF16
	case bytes > 0.9:
		if was == INT8 {
			return INT8
		}
		return FP8
	case was == FP4:
		return FP4
	default:
		return Int4
	}
}

// lacks names what a shape of its own must say.
func (s *Shape) lacks() string {
	for _, need := range []struct {
		v    float64
		name string
	}{
		{s.Params, "params"}, {s.Layers, "layers"}, {s.Heads, "heads"}, {s.KVHeads, "kv_heads"}, {s.HeadSize, "head_size"},
		{s.Hidden, "hidden"}, {s.Vocabulary, "vocabulary"},
	} {
		if need.v == 0 {
			return "its model is in no table, and its configuration does not say " + need.name
		}
	}
	return ""
}

// sparse is the share of its parameters below which a model must have experts.
const sparse = 0.9

// complete works out what a shape of its own did not say. Its input table and its
// output projection are taken to be two tables.
func (s *Shape) complete() {
	s.FullLayers = s.Layers
	table := s.Vocabulary * s.Hidden
	if s.Matmul == 0 {
		s.Matmul = s.Params - table
	}
	s.Active = s.Matmul + table
	if s.Matmul < sparse*(s.Params-table) {
		s.ExpertParams = math.NaN() // it has experts, of a number and a size that nobody says
	}
	if s.KVHeads == 1 {
		s.Attention = MQA
	}
}
