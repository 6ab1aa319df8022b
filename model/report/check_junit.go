package report

import (
	"encoding/xml"
	"fmt"
	"io"

	"slotop/model"
	"slotop/model/unit"
)

// JUnit's form, as far as CI systems agree on it: a suite a workflow, a case for
// each of its promises. A promise that was broken is a failure, one that could
// not be told is an error, one that was only assumed and is not measured is
// skipped: the goodput is judged without it.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     float64      `xml:"time,attr"` // seconds
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Time    float64     `xml:"time,attr"`
	Failure *junitFault `xml:"failure"`
	Error   *junitFault `xml:"error"`
	Skipped *junitFault `xml:"skipped"`
	Out     string      `xml:"system-out,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// CheckJUnit writes a check as JUnit XML.
func CheckJUnit(w io.Writer, c *Check) error {
	out := junitSuites{Name: "slotop check", Time: c.frame.CoveredS.Value}
	for i := range c.Rows {
		r := &c.Rows[i]
		out.add(suite(r.Name, r.cases(), c.frame))
	}
	if len(c.Rows) == 0 || !anyAnswer(c.frame.Targets) {
		all := junitCase{Name: "something to judge"}
		all.judge(CheckUntold, c.Why)
		out.add(suite("slotop check", []junitCase{all}, c.frame))
	}
	b, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("write check as JUnit XML: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

func (s *junitSuites) add(one junitSuite) {
	s.Tests, s.Failures, s.Errors = s.Tests+one.Tests, s.Failures+one.Failures, s.Errors+one.Errors
	s.Suites = append(s.Suites, one)
}

func suite(name string, cases []junitCase, f *model.Frame) junitSuite {
	s := junitSuite{Name: unit.Escape(name, false), Tests: len(cases), Cases: cases}
	if !f.At.IsZero() {
		s.Timestamp = f.At.Wall.UTC().Format("2006-01-02T15:04:05")
	}
	for i := range cases {
		cases[i].Class = s.Name
		if cases[i].Failure != nil {
			s.Failures++
		}
		if cases[i].Error != nil {
			s.Errors++
		}
		if cases[i].Skipped != nil {
			s.Skipped++
		}
	}
	return s
}

// cases are the row's promises: each objective, all of them together, and the
// deadline.
func (r *CheckRow) cases() []junitCase {
	all := junitCase{Name: "goodput"}
	if r.flow == nil || r.flow.Goodput == nil {
		all.judge(r.Outcome, r.Why)
		return []junitCase{all}
	}
	w, g := r.flow, r.flow.Goodput
	var cases []junitCase
	for _, o := range w.Objectives {
		one := junitCase{Name: o.Metric.Title() + " " + unit.Limit(o.MaxS) + " for " + unit.Promised(o.Target), Out: kept(o)}
		if w.AssumedObjectives && o.Verdict == model.CannotCompute {
			one.Skipped = &junitFault{Message: "not exported"}
		} else {
			r.judge(&one, o.Verdict, kept(o))
		}
		cases = append(cases, one)
	}
	all.Name, all.Out = "goodput "+unit.Promised(g.Target.Value), shareOf(g)
	r.judge(&all, g.Verdict, whyGoodput(w))
	cases = append(cases, all)
	if d := w.Deadline; d != nil {
		one := junitCase{Name: "deadline " + unit.Period(d.DeadlineS)}
		r.judge(&one, d.Verdict, whyDeadline(d))
		cases = append(cases, one)
	}
	if w.AssumedObjectives {
		for i := range cases {
			cases[i].Name += " (assumed)"
		}
	}
	return cases
}

// judge gives a case its verdict; where the whole row cannot be told, that.
func (r *CheckRow) judge(c *junitCase, v model.Verdict, why string) {
	if r.hush {
		c.judge(CheckUntold, r.Why)
		return
	}
	c.judge(outcomeOf(v), why)
	if c.Failure != nil {
		for _, s := range r.cause {
			c.Failure.Text += "\n" + unit.Escape(s, false)
		}
	}
}

func (c *junitCase) judge(o Outcome, why string) {
	why = unit.Escape(why, false)
	switch o {
	case CheckMet:
	case CheckMissed:
		c.Failure = &junitFault{Message: why, Type: string(o), Text: why}
	default:
		c.Error = &junitFault{Message: why, Type: string(o), Text: why}
	}
}

// kept says by how many an objective was kept.
func kept(o model.ObjectiveView) string {
	p := page{}
	if s := p.share(o.Share, " within it"); s != "" {
		return o.Verdict.Word() + ": " + s
	}
	return o.Verdict.Word()
}

func shareOf(g *model.GoodputView) string {
	p := page{}
	if s := p.share(g.Share, " of "+plural(g.N, "request")); s != "" {
		return g.Verdict.Word() + ": " + s
	}
	return g.Verdict.Word()
}
