package fleet

import (
	"slotop/model"
)

// outside is the part of TTFT that passes before a request reaches an engine: mean
// at the gateways less mean at the engines behind them, over the same window. Nil
// unless both measure it. Gateways whose rows are others are held against the engines
// by the model that both name.
func (w *workflow) outside(f *Fleet) *model.OutsideView {
	if w.engines.fresh == 0 {
		return nil
	}
	v := &model.OutsideView{Engine: w.engines.tally().distOf(model.TTFT)}
	if w.edge.fresh > 0 {
		v.Gateway = w.edge.tally().distOf(model.TTFT)
	} else {
		v.Gateway = f.gatewayTTFT(w)
	}
	switch {
	case v.Gateway == nil || v.Engine == nil:
		return nil
	case v.Gateway.N == 0 || v.Engine.N == 0:
		v.Note = "no first token on both sides in the window"
	case v.Gateway.Basis != v.Engine.Basis:
		v.Note = "the two sides cover different spans so far"
	case !v.Gateway.Mean.OK() || !v.Engine.Mean.OK():
		v.Note = "a side has no sum, so no mean"
	default:
		v.Mean = model.Of(v.Gateway.Mean.Value - v.Engine.Mean.Value)
		v.Note = model.Text(outsideDoubt(v))
	}
	return v
}

// outsideDoubt is what speaks against the difference of two means: they are of
// different requests, or of clocks that do not start at the same event.
func outsideDoubt(v *model.OutsideView) string {
	g, e := v.Gateway.N, v.Engine.N
	switch {
	case v.Mean.Value < 0:
		return "the gateway's clock starts later than the engine's: the difference says nothing"
	case g < differ*e:
		return "engines serve more requests than pass the gateways: means of different requests"
	case e < differ*g:
		return "gateways see more requests than these engines serve: means of different requests"
	default:
		return ""
	}
}

// differ is how few of the one side's requests the other may have seen for their
// means to be those of the same requests: those in flight, and little more.
const differ = 0.8
