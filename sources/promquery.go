package sources

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	prommodel "github.com/prometheus/common/model"

	"slotop/sources/dialect"
)

// tagLabel says in an answer which part of a question it answers. Many sums are
// asked for in one query, joined by "or", which keeps what differs in a label.
const tagLabel = "__slotop"

// promQL writes queries about one part of what a server knows.
type promQL struct {
	match string            // matchers of the user's that every series must satisfy
	leave []string          // jobs whose servers another job scrapes as well
	alias map[string]string // rules that stand for levels which the server does not have
}

// maxSizes bounds how many different numbers in labels are added up. Where there are
// more, each server may have its own, and the answer would grow with their number.
const maxSizes = 40

// tagged is an expression whose answer bears a tag and nothing else of a name.
func tagged(expr, tag string) string {
	return fmt.Sprintf(`label_replace(%s,%q,%q,"","")`, expr, tagLabel, tag)
}

// joined is one question of several that are tagged apart.
func joined(exprs []string) string { return strings.Join(exprs, " or ") }

// selector picks the series of a name.
func (q *promQL) selector(name, match string) string {
	var all []string
	if strings.ContainsAny(name, ".") { // such a name cannot stand before the braces
		all = append(all, "__name__="+strconv.Quote(name))
		name = ""
	}
	for _, m := range []string{match, q.match} {
		if m != "" {
			all = append(all, m)
		}
	}
	for _, job := range q.leave {
		all = append(all, "job!="+strconv.Quote(job))
	}
	if len(all) == 0 {
		return name
	}
	return name + "{" + strings.Join(all, ",") + "}"
}

// increase asks for what a metric gained over a span, over all servers.
func (q *promQL) increase(r *dialect.Read, span time.Duration) string {
	each := q.each(r, "increase", span)
	if !r.Native {
		each = "(" + each + ") >= 0" // one server's NaN must not hide the others
	}
	return q.all(r, "sum", each)
}

// level asks for what a metric shows, over all servers. One that did not answer
// within the span is not counted any more.
func (q *promQL) level(r *dialect.Read, span time.Duration) string {
	each := "(" + q.each(r, "last_over_time", span) + ") > -Inf"
	if r.Except != nil {
		each += fmt.Sprintf(" != %g", *r.Except)
	}
	switch r.Merge {
	case dialect.Max:
		return q.all(r, "max", each)
	case dialect.Count:
		return fmt.Sprintf("topk(%d, %s)", maxSizes, q.all(r, "count", each))
	case dialect.Sum:
	}
	return q.all(r, "sum", each)
}

// each is a function of every series. Of a server that bears several of the names the
// first counts.
func (q *promQL) each(r *dialect.Read, function string, span time.Duration) string {
	part := func(name string) string {
		match := r.Match
		if rule := q.alias[name]; rule != "" { // it has added the right series up already
			name, match = rule, ""
		}
		return fmt.Sprintf("%s(%s[%s])", function, q.selector(name, match), promSpan(span))
	}
	each := part(r.Names[0])
	for _, name := range r.Names[1:] {
		each = fmt.Sprintf("%s or (%s unless on (job,instance) (%s))", each, part(name), each)
	}
	if r.Beside != "" {
		each = fmt.Sprintf("(%s) and on (job,instance) last_over_time(%s[%s])", each, q.selector(r.Beside, ""), promSpan(span))
	}
	return each
}

// all makes one value of all series that agree in the labels to be kept.
func (q *promQL) all(r *dialect.Read, merge, each string) string {
	if len(r.Within) > 0 && !r.Native {
		each = fmt.Sprintf("max without (%s) (%s)", labelList(r.Within), each)
	}
	by := r.By
	if r.Buckets {
		by = append([]string{"le"}, by...)
	}
	return fmt.Sprintf("%s by (%s) (%s)", merge, labelList(by), each)
}

// labelList writes names of labels. Those that older servers cannot have are quoted.
func labelList(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		if all[i] = name; !prommodel.LegacyValidation.IsValidLabelName(name) {
			all[i] = strconv.Quote(name)
		}
	}
	return strings.Join(all, ",")
}

// promSpan is a duration as PromQL has it.
func promSpan(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
