package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"slotop/model"
)

const (
	// backlog is how much of a file that is followed is read before what is added
	// to it: enough to know what is under way.
	backlog = 1 << 20
	// maxBytes bounds what is read between two polls: a quarter of a second's work.
	maxBytes = 16 << 20
)

// followed reads the events that are added to a file. The file may not exist
// yet, be cut to nothing, or be put aside for another of its name.
type followed struct {
	path   string
	file   *os.File    // nil while there is none
	info   os.FileInfo // of the file opened last
	offset int64       // in it, of what is read next
	wire   *wire
	got    gathering
}

var _ Source = (*followed)(nil)

func newFollowed(path string, keep []string) *followed {
	return &followed{path: path, wire: newWire(keep)}
}

// Poll takes in what was added since the last one.
func (f *followed) Poll(ctx context.Context) (model.Batch, error) {
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	if err := f.read(ctx); err != nil {
		if ctx.Err() != nil {
			return model.Batch{}, ctx.Err()
		}
		_ = f.Close() // it is opened again by the next poll
		return model.Batch{}, f.fault(err)
	}
	return f.got.take()
}

func (f *followed) fault(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return soon{&FaultError{model.NotFound, "no such file yet: " + excerpt(f.path) + ": it is read as soon as it is there"}}
	}
	return fileFault(err)
}

// read takes in what the file holds, and goes on with its successor where it has
// one. A file is put aside before its successor is there, so what it holds when
// that is seen is all it ever will.
func (f *followed) read(ctx context.Context) error {
	for budget := maxBytes; ; {
		if err := f.open(); err != nil {
			return err
		}
		replaced, err := f.look()
		if err != nil {
			return err
		}
		atEnd, err := f.drain(ctx, &budget)
		if err != nil || !atEnd || !replaced {
			return err
		}
		f.leave()
		if err := f.Close(); err != nil {
			return err
		}
	}
}

// open opens the file that has the name, unless one is open. Of the first only
// the end is read, of later ones everything.
func (f *followed) open() error {
	if f.file != nil {
		return nil
	}
	file, err := OpenFile(f.path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	switch {
	case f.info == nil && info.Size() > backlog:
		if f.offset, err = lineAfter(file, info.Size()-backlog); err != nil {
			return errors.Join(err, file.Close())
		}
		f.got.say(fmt.Sprintf("the file was longer than %d bytes: read from its last ones", backlog))
	case f.info != nil && !os.SameFile(f.info, info):
		f.offset = 0
		f.wire.restart()
	}
	f.file, f.info = file, info
	return nil
}

// lineAfter is where the first line begins that begins after a place.
func lineAfter(file io.ReaderAt, at int64) (int64, error) {
	buf := make([]byte, 4<<10)
	defer clear(buf)
	for {
		n, err := file.ReadAt(buf, at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// look reports whether another file has the name now. One that was cut is read
// from its first byte again.
func (f *followed) look() (replaced bool, err error) {
	mine, err := f.file.Stat()
	if err != nil {
		return false, err
	}
	if mine.Size() < f.offset {
		f.leave()
		f.offset = 0
		f.wire.restart()
	}
	named, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // until there is another, this one may grow
	}
	return err == nil && !os.SameFile(mine, named), err
}

// leave ends with what the file held.
func (f *followed) leave() {
	f.got.finish(f.wire)
	f.got.interrupted()
}

// drain reads to the end of the file, or as far as the budget and the batch go.
func (f *followed) drain(ctx context.Context, budget *int) (atEnd bool, err error) {
	for f.got.draw(f.wire) && *budget > 0 {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := f.file.ReadAt(f.wire.inbox.room(), f.offset)
		f.wire.inbox.came(n)
		f.offset += int64(n)
		*budget -= n
		switch {
		case n > 0:
		case errors.Is(err, io.EOF):
			return true, nil
		default:
			return false, err
		}
	}
	return false, nil
}

// Close lets go of the file. A later poll would go on with it.
func (f *followed) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
