package sources

import (
	"bytes"
	"context"
	"errors"
	"io"

	"slotop/model"
	"slotop/sources/expo"
)

const (
	// streamFrom is the size from which on a page is read line by line, and never
	// held. No page without a series for each user has a tenth of it. A page that
	// was read so once is so until it has less than half of that.
	streamFrom = 4 << 20
	// maxHeld bounds what must be held to be read: a document.
	maxHeld = 32 << 20
)

// incoming is a body on its way in.
type incoming struct {
	io.Reader
	size  int // bytes read so far
	limit int // of the whole body
	// fault says why the body ended early.
	fault func(err error, size int) error
}

// Read implements io.Reader.
func (in *incoming) Read(b []byte) (int, error) {
	n, err := in.Reader.Read(b)
	if in.size += n; in.size > in.limit {
		return n, oversized(in.limit)
	}
	return n, err
}

// take reads one poll's page as it comes in: as a whole into buf, or, where it
// is large, line by line. It returns buf, grown.
func (p *page) take(ctx context.Context, in *incoming, buf []byte, started float64) ([]byte, model.Batch, error) {
	most := streamFrom
	if p.large {
		most = firstRead
	}
	buf, whole, err := readUpTo(in, buf[:0], min(most, in.limit))
	if err == nil && !whole && (p.onlyStats || startsObject(buf)) {
		buf, whole, err = readUpTo(in, buf, min(maxHeld, in.limit))
		if err == nil && !whole {
			err = oversized(min(maxHeld, in.limit))
		}
	}
	if err != nil {
		return buf, model.Batch{}, in.fault(err, in.size)
	}
	if whole {
		p.large = false
		batch, err := p.read(ctx, buf, started)
		return buf, batch, err
	}
	batch, err := p.stream(in, buf, started)
	return buf, batch, err
}

// stream reads a large page, of which head has been read.
func (p *page) stream(in *incoming, head []byte, started float64) (model.Batch, error) {
	scanned, err := p.scanner.ScanFrom(io.MultiReader(bytes.NewReader(head), in))
	var not *expo.NotMetricsError
	var large *expo.OversizedError
	switch {
	case errors.As(err, &not), errors.As(err, &large):
		return model.Batch{}, p.fault(err, head)
	case err != nil:
		return model.Batch{}, in.fault(err, in.size)
	}
	p.large = in.size >= streamFrom/2
	p.noteNew(scanned)
	// However late it is: what this page says of rows that are given up, no other will.
	return p.batch(scanned, started), nil
}
