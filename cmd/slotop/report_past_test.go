package main

import (
	"strings"
	"testing"
)

// A report of the past, out of a server that scraped the incident, tells of it as a
// report of the incident itself does: who was hurt, and why.
func TestReportOfThePast(t *testing.T) {
	if testing.Short() {
		t.Skip("plays minutes of virtual time, with no second goroutine to race with")
	}
	i := storedIncident(t, "S1")
	r := i.past(t, "report")
	if r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	title, _, _ := strings.Cut(r.out, "\n")
	says(t, "the title", title, "chat breached its objectives for at least 1 min")
	says(t, "the report", r.out, i.start.UTC().Format("2006-01-02"))
	says(t, "the report", r.out, "**Because** arrivals ×3.")
	says(t, "the report", r.out, "TTFT 500 ms for 95 %")
	says(t, "the report", r.out, "| **page fires** | chat | slo-burn:")
}
