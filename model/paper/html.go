package paper

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed style.css
var style string

// page is an HTML document that is being written. It is well-formed XML as well, so
// that a strict reader finds a tag that is not closed.
type page struct {
	b       strings.Builder
	level   int
	figures int
}

// policy lets the page ask for nothing and run nothing.
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

// HTML is the document as one page that opens from a file.
func (p *Paper) HTML() string {
	w := &page{level: 1}
	w.b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n" +
		"<meta name=\"color-scheme\" content=\"light dark\"/>\n" +
		"<meta name=\"referrer\" content=\"no-referrer\"/>\n")
	w.f("<meta http-equiv=\"Content-Security-Policy\" content=\"%s\"/>\n", policy)
	w.b.WriteString("<link rel=\"icon\" href=\"data:,\"/>\n")
	w.f("<title>%s</title>\n<style>\n", plain(p.Title))
	w.b.WriteString(style)
	w.b.WriteString("</style>\n</head>\n<body>\n<header>\n")
	w.f("<p class=\"over\">%s", plain(p.Over))
	if p.Badge != "" {
		w.f(" <span class=\"badge\">%s</span>", plain(p.Badge))
	}
	w.f("</p>\n<h1>%s</h1>\n", plain(bound(p.Title)))
	w.paras("under", p.Under)
	w.b.WriteString("</header>\n<main>\n")
	for _, b := range p.Body {
		b.html(w)
	}
	w.b.WriteString("</main>\n<footer>\n")
	w.paras("", p.Foot)
	w.b.WriteString("</footer>\n</body>\n</html>\n")
	return w.b.String()
}

// f writes markup; what is put into it is escaped already.
func (w *page) f(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

var special = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// plain is text as it stands in HTML, in an attribute too.
func plain(s string) string { return special.Replace(clean(s)) }

// units are what a number is not torn from at the end of a line.
var units = []string{"%", "ms", "s", "min", "h", "d", "W", "kW", "Wh", "MHz", "FLOP/B", "TFLOP/s"}

// signs are what belongs to the number behind it.
var signs = []string{"≥", "≤", "≈", ">"}

// longer are the units behind which a time goes on: 1 min 53 s.
var longer = []string{"d", "h", "min"}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// bound is text with its numbers bound to their units and signs.
func bound(s string) string {
	words := strings.Split(s, " ")
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case together(words[i-1], strings.TrimRight(w, ".,;:)")):
			b.WriteString("\u00a0")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// together reports whether two words are a number and its unit, or a sign and its
// number.
func together(before, word string) bool {
	if slices.Contains(signs, before) {
		return true
	}
	if slices.Contains(longer, before) {
		return len(word) > 0 && isDigit(word[0])
	}
	n := len(before)
	return n > 0 && isDigit(before[n-1]) && slices.Contains(units, word)
}

func (w *page) paras(class string, all []Text) {
	for _, t := range all {
		w.f("<p%s>%s</p>\n", classed(class), inline(t))
	}
}

func classed(names ...string) string {
	s := strings.TrimSpace(strings.Join(names, " "))
	if s == "" {
		return ""
	}
	return ` class="` + s + `"`
}

// inline is a text as HTML. A figure of the frame carries where it is from and its
// number.
func inline(t Text) string {
	var b strings.Builder
	for _, s := range t {
		body := plain(bound(s.Text))
		if s.Code {
			body = "<code>" + plain(s.Text) + "</code>"
		}
		if s.Strong {
			body = "<strong>" + body + "</strong>"
		}
		class := classed(string(s.Tone))
		switch {
		case s.Key != "":
			body = fmt.Sprintf(`<data%s value="%s" data-key="%s">%s</data>`, class, number(s.Value), plain(s.Key), body)
		case class != "":
			body = "<span" + class + ">" + body + "</span>"
		}
		b.WriteString(body)
	}
	return b.String()
}

func (s Section) html(w *page) {
	w.level++
	w.f("<section>\n<h%d>%s</h%d>\n", w.level, plain(s.Title), w.level)
	for _, b := range s.Body {
		b.html(w)
	}
	w.b.WriteString("</section>\n")
	w.level--
}

func (p Para) html(w *page) { w.f("<p>%s</p>\n", inline(p.Text)) }

func (l List) html(w *page) {
	if len(l.Items) == 0 {
		return
	}
	w.b.WriteString("<ul>\n")
	for _, t := range l.Items {
		w.f("<li>%s</li>\n", inline(t))
	}
	w.b.WriteString("</ul>\n")
}

func (t Table) html(w *page) {
	// A table wider than the page scrolls by itself, with the keyboard too.
	w.f("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n", plain(t.Caption))
	w.f("<caption>%s</caption>\n<thead>\n<tr>", plain(t.Caption))
	for _, c := range t.Columns {
		w.f("<th scope=\"col\"%s>%s</th>", c.class(), plain(c.Head))
	}
	w.b.WriteString("</tr>\n</thead>\n<tbody>\n")
	for _, r := range t.Rows {
		w.f("<tr%s>", classed(string(r.Tone)))
		for i, c := range r.Cells {
			if i == 0 {
				w.f("<th scope=\"row\"%s>%s</th>", t.Columns[i].class(), inline(c))
				continue
			}
			w.f("<td%s>%s</td>", t.Columns[i].class(), inline(c))
		}
		w.b.WriteString("</tr>\n")
	}
	w.b.WriteString("</tbody>\n</table>\n</div>\n")
}

func (c Column) class() string {
	switch {
	case c.Right:
		return classed("right")
	case c.Wide:
		return classed("wide")
	default:
		return ""
	}
}

func (f Facts) html(w *page) {
	if len(f.Items) == 0 {
		return
	}
	w.b.WriteString("<dl class=\"facts\">\n")
	for _, x := range f.Items {
		w.f("<div><dt>%s</dt><dd%s>%s</dd>", plain(x.Name), classed("value", string(x.Tone)), inline(x.Value))
		if len(x.Note) > 0 {
			w.f("<dd class=\"note\">%s</dd>", inline(x.Note))
		}
		w.b.WriteString("</div>\n")
	}
	w.b.WriteString("</dl>\n")
}

func (n Notice) html(w *page) {
	w.f("<div%s>\n", classed("notice", string(n.Tone)))
	for _, b := range n.Body {
		b.html(w)
	}
	w.b.WriteString("</div>\n")
}

func (f Figures) html(w *page) {
	if len(f.Items) == 0 {
		return
	}
	one := ""
	if len(f.Items) == 1 {
		one = "one"
	}
	w.f("<div%s>\n", classed("figures", one))
	for _, x := range f.Items {
		w.figure(x)
	}
	w.b.WriteString("</div>\n")
}

func (w *page) figure(x Figure) {
	w.figures++
	w.f("<figure>\n<figcaption>%s</figcaption>\n", plain(x.Title))
	if entries := x.Picture.legend(); len(entries) > 0 {
		w.b.WriteString("<ul class=\"legend\">")
		for _, e := range entries {
			w.f("<li>%s%s</li>", e.sample(), plain(e.text))
		}
		w.b.WriteString("</ul>\n")
	}
	says := make([]string, len(x.Says))
	for i, t := range x.Says {
		says[i] = t.String()
	}
	c := &canvas{}
	x.Picture.draw(c)
	id := fmt.Sprintf("fig%d", w.figures)
	w.f("<div class=\"plot\"><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"%s-title %s-desc\" height=\"%d\">", id, id, c.height)
	w.f("<title id=\"%s-title\">%s</title><desc id=\"%s-desc\">%s</desc>", id, plain(x.Title), id, plain(strings.Join(says, " ")))
	w.b.WriteString(c.b.String())
	w.b.WriteString("</svg></div>\n")
	for _, t := range x.Says {
		w.f("<p class=\"says\">%s</p>\n", inline(t))
	}
	w.b.WriteString("</figure>\n")
}

// sample is a small picture of how something is drawn.
func (e entry) sample() string {
	const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 12" aria-hidden="true">`
	body := ""
	switch e.shape {
	case "line":
		body = fmt.Sprintf(`<path class="%s" d="M1 6H21"/>`, e.class)
	case "cell":
		body = fmt.Sprintf(`<rect class="%s" x="1" y="1" width="20" height="10"/>`, e.class)
	case "point":
		body = fmt.Sprintf(`<circle class="%s" cx="11" cy="6" r="4"/>`, e.class)
	default:
		return ""
	}
	return open + body + "</svg>"
}
