package sources

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// IrregularError says that a name is that of no regular file. Reading such a
// thing may never end, or take from it what belongs to somebody else.
type IrregularError struct {
	Path string
	What string // "a pipe"
}

func (e *IrregularError) Error() string {
	return fmt.Sprintf("open %s: it is %s, not a regular file: save its content to one", e.Path, e.What)
}

// OpenFile opens a regular file to read and refuses everything else. It never
// waits for somebody to write.
func OpenFile(path string) (*os.File, error) {
	if err := regular(path); err != nil {
		return nil, err // before it is opened: that alone has an effect on some devices
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat() // it may have been exchanged since
	if err == nil {
		err = regularMode(path, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func regular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return regularMode(path, info.Mode())
}

func regularMode(path string, mode fs.FileMode) error {
	what := "something else"
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return &IrregularError{path, what}
}
