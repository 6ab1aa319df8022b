package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"slotop/model"
)

// logPage is what one page of a log holds.
type logPage struct {
	rows           int
	total          int         // rows in the window, -1 where it does not say
	oldest, newest model.Stamp // of the rows that could be read
	dropped        model.Reading
	found          bool // it is a list of rows at all
	capped         bool // there are more in the window than total says
}

// takeRow is handed each row of a page: what came of it, or why nothing, and a hash of
// what tells it from all others.
type takeRow func(m *message, why string, key uint64)

// ask asks for one page of the log.
func (s *recordLog) ask(ctx context.Context, w window, page, size int, take takeRow) (logPage, error) {
	path := s.paths[0]
	p, err := s.get(ctx, s.before+path, s.how.query(path, w, page, size), take)
	if err == nil && !p.found {
		err = s.foreign()
	}
	return p, err
}

// get asks for a document of the gateway's. What else the user asked for stays asked
// for.
func (s *recordLog) get(ctx context.Context, path string, query url.Values, take takeRow) (logPage, error) {
	request := s.request.Clone(s.sent.watch(ctx))
	request.URL.Path, request.URL.RawPath = path, ""
	given := request.URL.Query()
	for name, values := range query {
		given[name] = values
	}
	request.URL.RawQuery = given.Encode()
	response, err := s.client.Do(request)
	if err != nil {
		return logPage{}, requestFault(err, request, s.sent)
	}
	defer response.Body.Close()
	if err := s.acceptable(response); err != nil {
		return logPage{}, err
	}
	s.clock = model.Batch{}
	tellClock(&s.clock, response)
	body, done, err := plainBody(response)
	if err != nil {
		return logPage{}, bodyFault(err, 0, s.sent)
	}
	defer done()
	return s.read(body, take)
}

// read reads a document as it comes in. Of its text only the named fields are held,
// and those until they are read.
func (s *recordLog) read(body io.Reader, take takeRow) (logPage, error) {
	most := maxRows
	if s.bare() {
		most = maxHeld
	}
	s.sieve.reset(s.wanted, most)
	defer s.sieve.forget()
	for size := 0; ; {
		n, err := body.Read(s.buf)
		s.sieve.take(s.buf[:n])
		clear(s.buf[:n])
		switch size += n; {
		case errors.Is(err, io.EOF):
			return s.page(take)
		case err != nil:
			return logPage{}, bodyFault(err, size, s.sent)
		case size > s.limit:
			return logPage{}, oversized(s.limit)
		case s.sieve.over:
			return logPage{}, &FaultError{model.Oversized, fmt.Sprintf("the rows of a page hold more than %d bytes besides their texts", most)}
		}
	}
}

// page reads what the sieve let through.
func (s *recordLog) page(take takeRow) (logPage, error) {
	if !s.sieve.whole() {
		return logPage{}, &FaultError{model.Malformed, "the answer is not JSON, or was cut off"}
	}
	r := s.reader
	r.outer.reset(s.sieve.out)
	r.t = &r.outer
	p := logPage{total: -1}
	switch r.t.peek() {
	case '[':
		s.rows(&p, take)
	case '{':
		r.object(func(name []byte) { s.field(&p, name, take) })
	}
	if !r.outer.ends() {
		return logPage{}, &FaultError{model.Malformed, "the answer is not JSON"}
	}
	if p.capped {
		p.total = -1
	}
	return p, nil
}

func (s *recordLog) field(p *logPage, name []byte, take takeRow) {
	r := s.reader
	switch string(name) {
	case s.how.list:
		if r.t.peek() == '[' {
			s.rows(p, take)
		}
	case "pagination":
		r.object(func(name []byte) { s.field(p, name, take) })
	case "total", "total_count":
		if n := r.count(); n.OK() && s.how.windowed {
			p.total = int(n.Value)
		}
	case "total_is_capped":
		capped, _ := r.truth()
		p.capped = capped
	case "dropped_requests":
		p.dropped = r.count()
	}
}

// rows reads the list that comes next.
func (s *recordLog) rows(p *logPage, take takeRow) {
	r := s.reader
	p.found = true
	for range r.t.items {
		p.rows++
		from := r.t.i
		why := s.how.row(r)
		if r.t.i == from {
			r.t.skip()
		}
		m := &r.m
		if by := s.how.by(&m.Request); by != 0 {
			p.newest = max(p.newest, by)
			if p.oldest == 0 || by < p.oldest {
				p.oldest = by
			}
		}
		if take == nil {
			continue
		}
		if why == "" {
			take(m, "", hashOf(m.ID))
			continue
		}
		take(m, fmt.Sprintf("row %d: %s", p.rows, why), hashOf(string(r.t.b[from:r.t.i])))
	}
}
