package sources

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"slotop/model"
)

// load keeps what our questions cost the server within bounds. A server's work grows
// with the series that it adds up, whatever the answer's size: a thousand engines
// have a quarter of a million. Where all of them are too much for one question, the
// counters are asked for each time, and the histograms in turns.
type load struct {
	most   float64 // series that one question may add up; 0: as many as there are
	failed int     // questions in a row that were too much
	turns  bool    // not everything was asked for at once
}

// maxServerTime is what one question may take of the server.
const maxServerTime = 300 * time.Millisecond

const (
	// firstSeries is what is asked for before anything is known of the server: 6 µs a
	// series are what a small one takes.
	firstSeries = 50_000
	// bucketsGuess is how many buckets a histogram is taken to have before they are known.
	bucketsGuess = 20
	// backOff is by how much less is asked for after a question that was too much.
	backOff = 4
	// maxDoublings bounds how rare the questions become.
	maxDoublings = 4
	// recovery is how much more is asked for after each good answer of a server that
	// does not tell its time.
	recovery = 1.05
)

// weights say how often a distribution is asked for when they come in turns: the
// smaller, the oftener. The others have 4.
var weights = map[model.Signal]float64{model.TTFT: 1, model.TPOT: 1, model.E2E: 2, model.ITL: 2, model.Queue: 2, model.Prefill: 3, model.Decode: 3}

// cost is about how many series the server adds up for a track.
func (t *track) cost() float64 {
	each := 1.0
	switch {
	case t.read.Buckets && t.groups > 0:
		each = float64(len(t.rows)) / float64(t.groups)
	case t.read.Buckets, t.read.Native:
		each = bucketsGuess
	}
	return t.read.Series * each
}

func costOf(tracks []*track) float64 {
	n := 0.0
	for _, t := range tracks {
		n += t.cost()
	}
	return n
}

// turn is a distribution with all that belongs to it, which is asked for together.
func (t *track) turn() model.Signal {
	signal := t.read.Signals[0]
	for _, info := range model.Signals {
		if info.Signal == signal && info.Kind == model.Histogram {
			return signal
		}
	}
	return ""
}

// choose picks what to ask for at an instant.
func (l *load) choose(tracks []*track, at time.Time) []*track {
	l.turns = l.most > 0 && costOf(tracks) > l.most
	if !l.turns {
		return tracks
	}
	byTurn := map[model.Signal][]*track{}
	for _, t := range tracks {
		byTurn[t.turn()] = append(byTurn[t.turn()], t)
	}
	due := byTurn[""]
	delete(byTurn, "")
	left := l.most - costOf(due)
	for i, turn := range l.byUrgency(byTurn, at) {
		cost := costOf(byTurn[turn])
		if i > 0 && cost > left {
			break
		}
		left -= cost
		due = append(due, byTurn[turn]...)
	}
	return due
}

// byUrgency orders the turns: the longest not asked for first, in proportion to
// their weights and to how often they were too much.
func (l *load) byUrgency(byTurn map[model.Signal][]*track, at time.Time) []model.Signal {
	urgency := func(s model.Signal) float64 {
		t := byTurn[s][0]
		since := longestPlay
		if !t.asked.IsZero() {
			since = at.Sub(t.asked)
		}
		weight := weights[s]
		if weight == 0 {
			weight = 4
		}
		return since.Seconds() / weight / float64(uint(1)<<min(t.refused, maxDoublings))
	}
	turns := make([]model.Signal, 0, len(byTurn))
	for s := range byTurn {
		turns = append(turns, s)
	}
	slices.SortFunc(turns, func(a, b model.Signal) int {
		return cmp.Or(cmp.Compare(urgency(b), urgency(a)), cmp.Compare(a, b))
	})
	return turns
}

// tell learns from an answer what the next question may cost.
func (l *load) tell(asked []*track, spent time.Duration, err error) {
	cost := costOf(asked)
	switch {
	case err == nil && spent > 0:
		l.failed = 0
		l.most = max(1, cost*maxServerTime.Seconds()/spent.Seconds())
	case err == nil:
		l.failed = 0
		l.most *= recovery
	case tooCostly(err):
		l.failed++
		l.most = max(1, cost/backOff)
	default:
		return
	}
	for _, t := range asked {
		if err == nil {
			t.refused = 0
		} else {
			t.refused++
		}
	}
}

// wait is how long to wait before the next question after one that failed.
func (l *load) wait(step time.Duration) time.Duration {
	return step << min(l.failed, maxDoublings)
}

// note says what the server is spared.
func (l *load) note(tracks []*track) string {
	if !l.turns {
		return ""
	}
	longest := time.Duration(0)
	for _, t := range tracks {
		longest = max(longest, t.lag)
	}
	return fmt.Sprintf("to spare the server, distributions are asked for in turns: the rarest every %.0f s", longest.Seconds())
}
