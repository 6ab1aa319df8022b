package fleet

import (
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// What is to be doubted of a stream of reports stands on its target's page.
func TestDoubtsAreNotes(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.report(b.done("fine", 0.1, 1, 10), b.done("fine too", 0.1, 1, 10))
	if notes := b.tick().Targets[0].Notes; len(notes) != 0 {
		t.Errorf("nothing to doubt: %q", notes)
	}
	b.pass(time.Second)
	nameless := b.done("", 0.1, 1, 10)
	negative := b.done("negative", 0.1, 1, -10)
	backwards := b.done("backwards", 0.1, 1, 10)
	backwards.FirstToken = backwards.Queued - 1
	batch := &model.Batch{Target: "a", About: about, Lost: 3, Requests: []model.Request{nameless, negative, backwards}}
	for i := range batch.Requests {
		batch.Requests[i].Seq = []uint64{1, 7, 8}[i] // five are missing, of which three are known to be lost
	}
	b.f.Step(model.Input{At: b.at, Batch: batch})
	want := []string{
		"reports lost on the way: 3",
		"numbers of its reports that never came, lost or left out: 2",
		"reports refused, without a usable id or of too many requests at once: 1",
		"reports with a time or a count that cannot be, taken as unknown: 1",
		"requests whose times contradict each other, counted without a latency: 1",
	}
	if notes := b.tick().Targets[0].Notes; !slices.Equal(notes, want) {
		t.Errorf("%q", notes)
	}
}

// A reporter whose clock is wrong is told from one whose reports take their time.
func TestClockOfReports(t *testing.T) {
	for by, want := range map[time.Duration][]string{
		-3 * time.Second: {},
		-time.Minute:     {"its clock is 1 min 00 s behind ours, or its reports are so late"},
		20 * time.Minute: {"its clock is 20 min 00 s ahead of ours"},
	} {
		b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
		there := *b
		there.pass(by)
		b.report(there.done("1", 0.1, 1, 10), there.done("2", 0.1, 1, 10))
		if notes := b.tick().Targets[0].Notes; !slices.Equal(notes, want) {
			t.Errorf("by %v: %q", by, notes)
		}
	}
}
