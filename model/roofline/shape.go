package roofline

import "math"

// The latent of multi-head latent attention, in elements: what is cached for a token
// and layer, and the part of it that carries the position. Every such model so far
// has these.
const (
	latent     = 512
	positional = 64
)

// HeadFLOPs is the output projection of one position: 2·V·D.
func (s *Shape) HeadFLOPs() float64 { return 2 * s.head() }

// head is the weights of the output projection, or of the input table.
func (s *Shape) head() float64 { return s.Vocabulary * s.Hidden }

// TokenFLOPs is the matrix products of one decoded token: two for each weight that
// it multiplies by.
func (s *Shape) TokenFLOPs() float64 { return 2 * s.Matmul }

// LayerFLOPs is the matrix products of one prompt token. Servers project only a
// prompt's last position to the vocabulary.
func (s *Shape) LayerFLOPs() float64 { return s.TokenFLOPs() - s.HeadFLOPs() }

// DecodeAttention is the attention of one decoded token to a context of so many
// tokens: 4·heads·head size in each layer and for each of them. Latent attention
// decodes on the latent itself, with more FLOPs and far fewer bytes.
func (s *Shape) DecodeAttention(context float64) float64 {
	perLayer := s.PrefillPairs / s.Layers
	if s.Attention == MLA {
		perLayer = 2 * s.Heads * (latent + positional + latent)
	}
	return perLayer * s.attended(context)
}

// attended is how many tokens one token attends to, summed over the layers. A
// windowed layer sees its window.
func (s *Shape) attended(context float64) float64 {
	return s.FullLayers*context + (s.Layers-s.FullLayers)*s.windowed(context)
}

func (s *Shape) windowed(context float64) float64 {
	if s.Window > 0 {
		return math.Min(context, s.Window)
	}
	return context
}

// PromptAttention is the attention of so many computed prompt tokens to themselves,
// causally halved, and to cached ones before them.
func (s *Shape) PromptAttention(computed, cached float64) float64 {
	full := pairs(computed, cached, math.Inf(1))
	windowed := full
	if s.Window > 0 {
		windowed = pairs(computed, cached, s.Window)
	}
	return s.PrefillPairs / s.Layers * (s.FullLayers*full + (s.Layers-s.FullLayers)*windowed)
}

// pairs is the area under min(position, window) from cached to cached + computed.
func pairs(computed, cached, window float64) float64 {
	end := cached + computed
	below := func(x float64) float64 {
		if x <= window {
			return x * x / 2
		}
		return window*window/2 + (x-window)*window
	}
	return below(end) - below(cached)
}

// PromptFLOPs is a prompt of which so many tokens are computed and so many cached.
func (s *Shape) PromptFLOPs(computed, cached float64) float64 {
	return computed*s.LayerFLOPs() + s.HeadFLOPs() + s.PromptAttention(computed, cached)
}

// DecodeFLOPs is one decoded token behind a context.
func (s *Shape) DecodeFLOPs(context float64) float64 {
	return s.TokenFLOPs() + s.DecodeAttention(context)
}

// expectedExperts is how many of the routed experts of a layer tokens touch, each of
// them choosing k of e by itself: e·(1 − (1 − k/e)^tokens).
func expectedExperts(e, k, tokens float64) float64 {
	return e * (1 - math.Pow(1-k/e, tokens))
}

// WeightsRead is the bytes of weights that a step over so many tokens reads: all that
// it touches, once. The input table is only indexed, unless it projects the output too.
// NaN for a model with experts of unknown size.
func (s *Shape) WeightsRead(tokens float64) float64 {
	head := s.head() * s.HeadBytes
	layers := (s.dense() - s.tables()) * s.WeightBytes
	if s.ExpertParams == 0 {
		return layers + head
	}
	return layers + head + s.ExpertParams*expectedExperts(s.Experts, s.PerToken, tokens)*s.ExpertBytes
}

// dense is the parameters outside of routed experts.
func (s *Shape) dense() float64 { return s.Params - s.Experts*s.ExpertParams }

// tables is the parameters of the input table and the output projection.
func (s *Shape) tables() float64 {
	if s.Tied {
		return s.head()
	}
	return 2 * s.head()
}

// WeightsStored is the bytes that all weights take.
func (s *Shape) WeightsStored() float64 {
	if math.IsNaN(s.ExpertParams) {
		return s.Params * s.WeightBytes
	}
	return (s.dense()-s.tables())*s.WeightBytes + s.tables()*s.HeadBytes + s.Experts*s.ExpertParams*s.ExpertBytes
}

// KVPerToken is the bytes that a token takes in a KV cache that drops nothing: keys
// and values of each KV head, or one latent for all heads.
func (s *Shape) KVPerToken() float64 { return s.kvPerLayer() * s.Layers }

func (s *Shape) kvPerLayer() float64 {
	if s.Attention == MLA {
		return (latent + positional) * s.KVBytes
	}
	return 2 * s.KVHeads * s.HeadSize * s.KVBytes
}

// KVRead is the bytes of KV cache that one decoded token reads behind a context.
func (s *Shape) KVRead(context float64) float64 { return s.kvPerLayer() * s.attended(context) }

// Replicated is how many times tensor parallelism over t devices reads the KV cache
// in all: once while there are as many KV heads as devices, else once for each device
// that shares a head; a latent stands on every device.
func (s *Shape) Replicated(t float64) float64 {
	if s.Attention == MLA {
		return t
	}
	return t / math.Min(t, s.KVHeads)
}

// StepBytes is what one step reads, over tensor-parallel devices together: the weights
// once for all of its tokens, decoded and of prompts, and the KV cache of each sequence
// that decodes behind a mean context.
func (s *Shape) StepBytes(sequences, prompt, context, devices float64) float64 {
	return s.WeightsRead(sequences+prompt) + sequences*s.KVRead(context)*s.Replicated(devices)
}
