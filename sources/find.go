package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
)

// Finder is a source that finds targets instead of being one: what a file lists, or
// a name's addresses. Its polls look again, and Run then watches what is new and
// lets go of what is gone. A look that fails changes nothing.
type Finder interface {
	Source
	// Found are the targets as of the last good poll, each once.
	Found() []Spec
}

// Paced is a source that is polled no more often than it says, whatever the interval.
type Paced interface {
	Pace() time.Duration
}

// maxFound bounds what one finder may find: several fleets of those that the
// program is made for.
const maxFound = 5000

// found is what the last look of a finder showed.
type found struct {
	options Options
	specs   []Spec
	about   *model.About
}

// take notes what a look showed, and gives the batch that says so.
func (f *found) take(specs []Spec, notes ...string) model.Batch {
	slices.SortStableFunc(specs, func(a, b Spec) int { return strings.Compare(a.Address, b.Address) })
	specs = slices.CompactFunc(specs, func(a, b Spec) bool { return a.Address == b.Address })
	batch := model.Batch{}
	if len(specs) > maxFound {
		batch.Dropped = len(specs) - maxFound
		notes = append(notes, fmt.Sprintf("%d of them are left out: at most %d are watched", batch.Dropped, maxFound))
		specs = specs[:maxFound]
	}
	said := append([]string{fmt.Sprintf("%d found", len(specs))}, notes...)
	if f.about == nil || !slices.Equal(f.about.Notes, said) {
		f.about = &model.About{Kind: model.FinderTarget, StepS: findEvery.Seconds(), Notes: said}
	}
	f.specs, batch.About = specs, f.about
	return batch
}

// Found are the targets as of the last good poll.
func (f *found) Found() []Spec { return f.specs }

// findEvery is how often a finder looks: a pod takes longer to start.
const findEvery = 5 * time.Second

// Pace is how often a finder looks.
func (f *found) Pace() time.Duration { return findEvery }

// Close has nothing to close.
func (f *found) Close() error { return nil }

// roster is who is watched in a run, and on whose word.
type roster struct {
	byID  map[model.TargetID]*polled
	named map[string]bool
}

func newRoster(all []*polled) roster {
	r := roster{byID: map[model.TargetID]*polled{}, named: map[string]bool{}}
	for _, p := range all {
		r.byID[p.Target.ID] = p
		r.named[p.Target.Name] = true
	}
	return r
}

// follow watches what a finder found that is new, and lets go of what it, and
// everybody else, lists no more.
func (r *run) follow(ctx context.Context, finder *polled, specs []Spec) error {
	listed := make(map[model.TargetID]bool, len(specs))
	var errs []error
	joined := 0
	before := finder.opened
	finder.opened = make(map[string][]model.TargetID, len(specs))
	for _, spec := range specs {
		ids, known := before[spec.Address]
		if !known {
			opened, err := open(ctx, spec)
			if err != nil { // it is tried, and told of, at each look
				errs = append(errs, err)
				continue
			}
			for _, o := range opened {
				ids = append(ids, o.Target.ID)
				if r.roster.byID[o.Target.ID] != nil {
					errs = append(errs, o.Source.Close())
					continue
				}
				r.join(o, joined)
				joined++
			}
		}
		finder.opened[spec.Address] = ids
		for _, id := range ids {
			listed[id] = true
			if p := r.roster.byID[id]; p != nil {
				p.listedBy(finder)
			}
		}
	}
	for _, p := range slices.Clone(r.polled) {
		if slices.Contains(p.finders, finder) && !listed[p.Target.ID] {
			p.finders = slices.DeleteFunc(p.finders, func(f *polled) bool { return f == finder })
			if len(p.finders) == 0 {
				errs = append(errs, r.leave(p))
			}
		}
	}
	return errors.Join(errs...)
}

// listedBy notes who found a target. One that the user named stays whoever lists it.
func (p *polled) listedBy(finder *polled) {
	if p.found && !slices.Contains(p.finders, finder) {
		p.finders = append(p.finders, finder)
	}
}

// join begins to watch a target that was found.
func (r *run) join(o Opened, nth int) {
	o.Target.Name = r.roster.name(o.Target)
	p := r.newPolled(o, r.now()+time.Duration(nth)*firstStep)
	p.found = true
	r.polled = append(r.polled, p)
	r.roster.byID[o.Target.ID] = p
	r.left++
	target := o.Target
	r.pass(model.Input{Join: &target})
}

// name is one that nobody bears yet.
func (r *roster) name(t model.Target) string {
	name := t.Name
	if r.named[name] {
		name = strings.TrimPrefix(string(t.ID), "http://")
	}
	for n := 2; r.named[name]; n++ {
		name = fmt.Sprintf("%s#%d", t.Name, n)
	}
	r.named[name] = true
	return name
}

// leave ends with a target. A poll of it that is under way is called off, and what
// it brings is nobody's.
func (r *run) leave(p *polled) error {
	r.polled = slices.DeleteFunc(r.polled, func(o *polled) bool { return o == p })
	delete(r.roster.byID, p.Target.ID)
	delete(r.roster.named, p.Target.Name)
	if !p.ended {
		r.left--
	}
	r.pass(model.Input{Leave: p.Target.ID})
	if p.flying {
		p.gone = true
		p.cancel()
		return nil
	}
	return p.Source.Close()
}
