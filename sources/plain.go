package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"slotop/model"
)

// plain is a server at an address that does not say what it is. The first poll
// looks, and from then on it is read as what was found. It is looked at again only
// after it failed: another program, or the same one started otherwise, may be
// there since.
type plain struct {
	page  *engine
	ways  []way
	prom  *asked // the answer by which a Prometheus-compatible server is known; nil where a page is meant
	open  func() (Source, error)
	fleet Source        // such a server, once one was found
	time  time.Duration // as the schedule has it
	kind  string        // what the last look showed even where it then could not be read
	as    Source        // what it is read as; nil before a look that found something
	next  int           // way to try: a look goes on where time ran out
	slow  bool          // it ran out there before
	tried bool          // every way was tried in vain: only the page is asked for again
	known string        // what is known of a server of which nothing can be read

	good    int // polls since the look
	self    identity
	told    bool         // self was asked for
	from    *model.About // the source's own description, of which about was made
	about   *model.About
	ours    bool  // the path is our guess
	slots   slots // of llama.cpp, read after its page
	noSlots bool  // it does not give them
}

// way is one way of reading a server without a page.
type way struct {
	fits func(*FaultError) bool // whether it is worth a request after what the page answered; nil: always
	Source
}

var _ Source = (*plain)(nil)

// newPlain is a server whose page has been opened. A path that was given is the
// user's word for where its page lies, or for what stands before the paths of a
// Prometheus-compatible server, which open opens.
func newPlain(page *engine, drain bool, open func() (Source, error)) *plain {
	p := &plain{page: page, ours: page.guess, open: open}
	if p.ours || !strings.HasSuffix(strings.TrimSuffix(page.request.URL.Path, "/"), "metrics") {
		p.prom = page.beside("/api/v1/status/buildinfo")
	}
	if !p.ours {
		return p
	}
	add := func(path string, r reader, fits func(*FaultError) bool) {
		p.ways = append(p.ways, way{fits, &document{page.beside(path), r}})
	}
	if drain {
		add("/metrics", &iterations{}, func(*FaultError) bool { return page.drains != "" })
	}
	add("/slots", &slots{}, func(f *FaultError) bool { return strings.Contains(f.Detail, llamaOff) })
	add("/v1/loads", &loads{}, nil)
	add("/api/ps", &ollama{}, nil)
	add("/api/v0/models", &lmStudio{}, nil)
	add("/.well-known/serviceinfo", &tabby{}, nil)
	return p
}

// Poll reads the server, and looks before that where it is not known what it is.
func (p *plain) Poll(ctx context.Context) (batch model.Batch, err error) {
	if p.as == nil {
		batch, err = p.look(ctx)
	} else {
		batch, err = p.as.Poll(ctx)
	}
	if err != nil {
		if ctx.Err() == nil { // what was only slow is no other server
			p.lost(err)
		}
		return model.Batch{}, err
	}
	p.good++
	p.readSlots(ctx, &batch)
	p.identify(ctx, batch.About)
	batch.About = p.complete(batch.About)
	return batch, nil
}

// lost notes a failure, after which the server may be another.
func (p *plain) lost(err error) {
	p.as, p.good, p.told, p.noSlots, p.next = nil, 0, false, false, 0
	if fault := (*FaultError)(nil); errors.As(err, &fault) && !answered(fault.Kind) {
		p.tried = false
		p.page.start(p.ours)
	}
}

// answered reports whether a fault says that a server is there, without a page.
func answered(kind model.FaultKind) bool {
	return kind == model.NotFound || kind == model.NotMetrics
}

// look finds out what the server is: by its page, or by what else it answers. None
// of what is asked costs a server anything.
func (p *plain) look(ctx context.Context) (model.Batch, error) {
	p.kind = ""
	batch, err := p.page.Poll(ctx)
	fault := (*FaultError)(nil)
	switch {
	case err == nil && batch.About.Engine == "" && batch.About.Kind == "" && p.isPrometheus(ctx):
		return p.asFleet(ctx)
	case err == nil:
		p.as = p.page
		return batch, nil
	case !errors.As(err, &fault), !answered(fault.Kind):
		return batch, err
	case !p.tried:
		if batch, ok, err := p.tryAll(ctx, fault); ok {
			return batch, err
		}
		p.known = p.whatElse(ctx)
		p.tried = ctx.Err() == nil
	}
	detail := fault.Detail + p.known
	if drains := p.page.drains; drains != "" && !strings.Contains(detail, drains) {
		detail += "; " + defaultPath + " is not read again: " + drains
	}
	return model.Batch{}, &FaultError{fault.Kind, detail}
}

// tryAll tries the ways of reading a server without a page, and reports whether
// one of them is right, or nobody waits for that any more.
func (p *plain) tryAll(ctx context.Context, fault *FaultError) (batch model.Batch, ok bool, err error) {
	for ; p.next < len(p.ways); p.next++ {
		w := p.ways[p.next]
		if w.fits != nil && !w.fits(fault) {
			continue
		}
		if batch, err = w.Poll(ctx); err == nil {
			p.as = w.Source
			return batch, true, nil
		}
		if ctx.Err() != nil {
			if p.slow { // twice: this one never answers
				p.next++
			}
			p.slow = !p.slow
			return model.Batch{}, true, err
		}
		p.slow = false
	}
	if p.isPrometheus(ctx) {
		batch, err = p.asFleet(ctx)
		return batch, true, err
	}
	if err := ctx.Err(); err != nil {
		return model.Batch{}, true, requestFault(err, p.page.request, p.page.sent)
	}
	return model.Batch{}, false, nil
}

// isPrometheus reports whether a Prometheus-compatible server answers.
func (p *plain) isPrometheus(ctx context.Context) (is bool) {
	if p.prom == nil {
		return false
	}
	_ = p.prom.get(ctx, func(body []byte, _ *http.Response) error {
		is = isBuildInfo(body)
		return nil
	})
	return is
}

// isBuildInfo reports whether an answer is that of the query API.
func isBuildInfo(body []byte) bool {
	t := &jsonText{}
	t.reset(body)
	if t.peek() != '{' {
		return false
	}
	success, versioned := false, false
	for name := range t.fields {
		switch {
		case string(name) == "status":
			success = t.cleaned() == "success"
		case string(name) == "data" && t.peek() == '{':
			for name := range t.fields {
				versioned = versioned || string(name) == "version"
			}
		}
	}
	return success && versioned && t.ends()
}

// asFleet reads the server as a Prometheus-compatible one. The source is kept for
// when it comes back.
func (p *plain) asFleet(ctx context.Context) (batch model.Batch, err error) {
	if p.fleet == nil {
		fleet, err := p.open()
		if err != nil {
			return batch, err
		}
		p.fleet = fleet
		p.Advance(p.time)
	}
	p.as, p.kind = p.fleet, model.PrometheusTarget
	return p.fleet.Poll(ctx)
}

// whatElse adds what is known of a server of which nothing can be read: that it
// answers as OpenAI's does; "" where it does not.
func (p *plain) whatElse(ctx context.Context) (what string) {
	if !p.ours {
		return ""
	}
	_ = p.page.beside("/v1/models").get(ctx, func(body []byte, _ *http.Response) error {
		id := readIdentity(body)
		if len(id.models) == 0 {
			return nil
		}
		u := p.page.request.URL
		what = fmt.Sprintf("; it is an OpenAI-compatible server (owned_by %s): openai+%s://%s measures it from outside",
			p.page.sent.excerpt(cmp.Or(id.owner, "nobody")), u.Scheme, u.Host)
		return nil
	})
	return what
}

// identify asks a server for its version and models, once: with the first poll
// where it has no page or one without a model's name, else with the second, so that
// a fleet's first polls stay short.
func (p *plain) identify(ctx context.Context, about *model.About) {
	if p.told || about == nil || about.Kind != "" {
		return
	}
	if p.good < 2 && p.as == Source(p.page) && (len(about.Models) > 0 || !nameless(about.Engine)) {
		return
	}
	p.told = true
	p.self = p.page.identify(ctx, about.Engine)
	p.about = nil
}

// identifyNow is identify without waiting for the second poll, and what the look
// showed the server to be.
func (p *plain) identifyNow(ctx context.Context) (about *model.About, kind string) {
	if p.as == nil {
		return nil, p.kind
	}
	p.good = 2
	p.identify(ctx, p.from)
	return p.complete(p.from), p.kind
}

// complete is the source's description with what the server says of itself.
func (p *plain) complete(about *model.About) *model.About {
	switch {
	case about == nil:
		return nil
	case p.about != nil && p.from == about:
		return p.about
	}
	p.from, p.about = about, p.self.complete(about)
	return p.about
}

// readSlots completes a page of llama.cpp's with its slots, unless they are off.
func (p *plain) readSlots(ctx context.Context, batch *model.Batch) {
	if p.as != Source(p.page) || batch.About == nil || batch.About.Engine != "llama.cpp" {
		return
	}
	p.slots.now = slotSum{}
	if !p.noSlots {
		err := p.page.beside("/slots").get(ctx, func(body []byte, _ *http.Response) error { return p.slots.scan(body) })
		fault := (*FaultError)(nil)
		p.noSlots = err != nil && !(errors.As(err, &fault) && fault.Kind == model.Timeout)
	}
	p.slots.join(batch)
}

// Close ends the kept connections.
func (p *plain) Close() error {
	err := p.page.Close()
	if p.fleet != nil {
		err = errors.Join(err, p.fleet.Close())
	}
	return err
}

// Advance tells the time to the source of a Prometheus-compatible server.
func (p *plain) Advance(to time.Duration) {
	p.time = to
	if a, ok := p.fleet.(Advancer); ok {
		a.Advance(to)
	}
}

// drainOption is the option of an address that allows to read what reading uses up.
const drainOption = "drain"

// takeDrain takes the option out of an address.
func takeDrain(arg string, u *url.URL) (drain bool, err error) {
	if !strings.Contains(u.RawQuery, drainOption+"=") {
		return false, nil
	}
	q := u.Query()
	switch v := q.Get(drainOption); {
	case !q.Has(drainOption):
		return false, nil
	case v != "yes":
		return false, usage(arg, "drain="+v, "write drain=yes, or leave it out: it reads statistics that are gone once they are read")
	}
	q.Del(drainOption)
	u.RawQuery = q.Encode()
	return true, nil
}
