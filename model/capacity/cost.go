package capacity

import "slotop/model"

const (
	hour    = 3600.0 // s
	million = 1e6
)

// PerMillion is what a million tokens cost at a price an hour and a rate of tokens a
// second. Of good tokens only: divide by their share.
func PerMillion(perHour, tokens float64) float64 { return perHour / (tokens * hour) * million }

// PerJoule is tokens per joule at a rate of tokens a second and a power in W.
func PerJoule(tokens, watts float64) float64 { return tokens / watts }

// WhPerMillion is the energy of a million tokens in watt-hours, by tokens per joule.
func WhPerMillion(perJoule float64) float64 { return million / (hour * perJoule) }

// GoodCost is what a million good tokens cost where one in good of them is good: the
// more are good the less each costs, so the ends change places. The costlier end
// is unknown where perhaps none is good.
func GoodCost(perMillion float64, good model.Range) model.Range {
	return model.Range{Lo: over(perMillion, good.Hi), Hi: over(perMillion, good.Lo)}
}

// GoodPerJoule is good tokens per joule.
func GoodPerJoule(perJoule float64, good model.Range) model.Range {
	return model.Range{Lo: times(perJoule, good.Lo), Hi: times(perJoule, good.Hi)}
}

func over(v float64, by model.Reading) model.Reading {
	if !by.OK() {
		return by
	}
	return model.Of(v / by.Value)
}

func times(v float64, by model.Reading) model.Reading {
	if !by.OK() {
		return by
	}
	return model.Of(v * by.Value)
}
