package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"slotop/model/story"
	"slotop/model/unit"
)

// SeriesFile is one file of series.
type SeriesFile struct {
	Name  string // workflows.csv
	Write func(io.Writer) error
}

// seriesHead are the columns of every file of series. Name is that of the workflow, the
// target, the pool or the device. A value that is not known is empty; where it lies
// beyond the last bucket of a histogram, value is empty, lo is that bucket's edge and
// hi is Inf.
var seriesHead = []string{"time", "of", "name", "signal", "unit", "value", "lo", "hi", "n"}

// SeriesFiles are the series of a story, a file a kind of subject.
func SeriesFiles(s *story.Story) []SeriesFile {
	return []SeriesFile{
		{"workflows.csv", func(w io.Writer) error { return seriesCSV(w, s, kindsOfSeries(s)[:1]) }},
		{"targets.csv", func(w io.Writer) error { return seriesCSV(w, s, kindsOfSeries(s)[1:2]) }},
		{"pools.csv", func(w io.Writer) error { return seriesCSV(w, s, kindsOfSeries(s)[2:3]) }},
		{"devices.csv", func(w io.Writer) error { return seriesCSV(w, s, kindsOfSeries(s)[3:]) }},
	}
}

// CSV writes all series of a story as one file, as RFC 4180 has it: a row a point that
// is known. Text from outside that a spreadsheet would take for a formula is preceded
// by an apostrophe.
func CSV(w io.Writer, s *story.Story) error { return seriesCSV(w, s, kindsOfSeries(s)) }

// ofKind are the subjects of one kind.
type ofKind struct {
	word     string
	subjects []story.Subject
}

func kindsOfSeries(s *story.Story) []ofKind {
	return []ofKind{{"workflow", s.Workflows}, {"target", s.Targets}, {"pool", s.Pools}, {"device", s.Devices}}
}

func seriesCSV(out io.Writer, s *story.Story, kinds []ofKind) error {
	buffered := bufio.NewWriter(out)
	w := csv.NewWriter(buffered)
	w.UseCRLF = true
	if err := w.Write(seriesHead); err != nil {
		return fmt.Errorf("write the series: %w", err)
	}
	row := make([]string, len(seriesHead))
	for _, k := range kinds {
		for i := range k.subjects {
			for _, one := range k.subjects[i].Series {
				row[1], row[2], row[3], row[4] = k.word, inert(k.subjects[i].Name), one.Signal, string(one.Unit)
				if err := writeSeries(w, row, s, one); err != nil {
					return fmt.Errorf("write the series: %w", err)
				}
			}
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("write the series: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write the series: %w", err)
	}
	return nil
}

func writeSeries(w *csv.Writer, row []string, s *story.Story, one *story.Series) error {
	for i := range one.Len() {
		p := one.At(i)
		if !p.Known() {
			continue
		}
		row[0] = s.Axis.At(i).Wall.UTC().Format(time.RFC3339Nano)
		row[5], row[6], row[7], row[8] = cellOf(p.Value), cellOf(p.Lo), cellOf(p.Hi), cellOf(p.N)
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// cellOf is a number as it is in the frame; nothing where there is none.
func cellOf(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 1):
		return "Inf"
	default:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// inert is text from outside that no spreadsheet takes for a formula, and no terminal
// obeys.
func inert(s string) string {
	s = unit.Escape(s, false)
	if t := strings.TrimLeft(s, " "); t != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(t)[0]) {
		return "'" + s
	}
	return s
}
