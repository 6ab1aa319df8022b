package sources

import (
	"bufio"
	"context"
	"io"
	"os"

	"slotop/model"
)

// savedTables plays tables of GPUs that nvidia-smi --query-gpu --format=csv printed
// into files, with its headings: one table a poll, in the order given.
type savedTables struct {
	files []string
	next  int
	file  *os.File
	lines *bufio.Scanner
	table smiTable
	whole [][]smiRow // that were read and not handed out
	about *model.About
}

var _ Source = (*savedTables)(nil)

// Poll reads the next table; after the last it returns io.EOF.
func (s *savedTables) Poll(ctx context.Context) (model.Batch, error) {
	for len(s.whole) == 0 {
		if err := ctx.Err(); err != nil {
			return model.Batch{}, err
		}
		if err := s.line(); err != nil {
			return model.Batch{}, err
		}
	}
	rows := s.whole[0]
	s.whole = s.whole[1:]
	batch := model.Batch{BadLines: s.table.bad, FirstBad: s.table.first}
	s.table.bad, s.table.first = 0, ""
	for _, r := range rows {
		d := r.shown()
		judge(&d)
		batch.Devices = append(batch.Devices, d)
	}
	if version := rows[0].driver; s.about == nil || s.about.Version != version {
		s.about = &model.About{Engine: "nvidia-smi", Version: version, Notes: []string{"tables that nvidia-smi printed"}}
	}
	batch.About = s.about
	return batch, nil
}

// line reads one line of a file, or goes on to the next file.
func (s *savedTables) line() error {
	if s.lines == nil {
		return s.open()
	}
	var rows []smiRow
	if s.lines.Scan() {
		rows = s.table.add(s.lines.Text())
	} else {
		if err := s.lines.Err(); err != nil {
			return &FaultError{model.Malformed, "the file could not be read: " + excerpt(err.Error())}
		}
		rows = s.table.end()
		_ = s.Close()
	}
	if len(rows) > 0 {
		s.whole = append(s.whole, rows)
	}
	return nil
}

func (s *savedTables) open() error {
	if s.next >= len(s.files) {
		return io.EOF
	}
	f, err := OpenFile(s.files[s.next])
	s.next++
	if err != nil {
		return fileFault(err)
	}
	s.file, s.lines = f, bufio.NewScanner(f)
	s.lines.Buffer(nil, maxSMILine)
	return nil
}

// Close closes the file that is being read.
func (s *savedTables) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file, s.lines = nil, nil
	return err
}
