package expo

import "strings"

// family is what # TYPE lines say of one name.
type family struct {
	name string
	typ  Type
	at   uint32 // the last page that declared it
}

// families are the declarations of a target. Only those made on the current
// page count: a type belongs to the page, not to the order of its lines, since
// exporters move families about and some write # TYPE behind the samples.
type families struct {
	all []family
	// byName and byPlain are nil until they are needed.
	byName map[string]int32
	// byPlain finds a family whose name has colons by the name with underscores:
	// some python clients answer OpenMetrics with vllm_x samples under # TYPE vllm:x.
	byPlain map[string]int32
}

func (f *families) index(name string) int32 {
	f.lookup()
	if i, ok := f.byName[name]; ok {
		return i
	}
	i := int32(len(f.all))
	f.all = append(f.all, family{name: name})
	f.place(i)
	return i
}

func (f *families) knows(name string) bool {
	f.lookup()
	_, known := f.byName[name]
	return known
}

func (f *families) lookup() {
	if f.byName != nil {
		return
	}
	f.byName, f.byPlain = map[string]int32{}, map[string]int32{}
	for i := range f.all {
		f.place(int32(i))
	}
}

func (f *families) place(i int32) {
	name := f.all[i].name
	f.byName[name] = i
	if strings.Contains(name, ":") {
		f.byPlain[strings.ReplaceAll(name, ":", "_")] = i
	}
}

// declare notes that page says typ of family i. The first declaration of a page
// holds. It reports whether that differs from the page before.
func (f *families) declare(i int32, typ Type, page uint32) (first, changed bool) {
	fam := &f.all[i]
	if fam.at == page {
		return false, false
	}
	changed = fam.at != page-1 || fam.typ != typ
	fam.typ, fam.at = typ, page
	return true, changed
}

// suffixes are the endings that samples add to the name of their family.
var suffixes = [...]struct {
	text string
	typ  Type
}{
	{"_bucket", Histogram}, {"_count", Histogram}, {"_sum", Histogram},
	{"_count", Summary}, {"_sum", Summary},
	{"_total", Counter},
}

// cover finds the family that the page declares for a sample name. A _created
// sample belongs to none but its own, so that a start time is never added to
// the counter it was written for.
func (f *families) cover(sample string, page uint32) (name string, typ Type) {
	f.lookup()
	for _, byName := range [...]map[string]int32{f.byName, f.byPlain} {
		if fam := f.declared(byName, sample, page); fam != nil {
			return fam.name, fam.typ
		}
		for _, s := range suffixes {
			base, ok := strings.CutSuffix(sample, s.text)
			if !ok {
				continue
			}
			if fam := f.declared(byName, base, page); fam != nil && fam.typ == s.typ {
				return fam.name, fam.typ
			}
		}
	}
	return sample, Untyped
}

func (f *families) declared(byName map[string]int32, name string, page uint32) *family {
	i, ok := byName[name]
	if !ok || f.all[i].at != page {
		return nil
	}
	return &f.all[i]
}

// types are the words of # TYPE lines, OpenMetrics' included. A gauge histogram
// has buckets that may fall, so nothing here may treat it as a histogram.
var types = map[string]Type{
	"gauge": Gauge, "counter": Counter, "histogram": Histogram, "summary": Summary,
	"untyped": Untyped, "unknown": Untyped, "info": Untyped, "stateset": Untyped,
	"gaugehistogram": Gauge, "gauge_histogram": Gauge,
}

// commentLine is what a comment says.
type commentLine struct {
	keyword string // HELP, TYPE or none
	family  string // of a TYPE line
	typ     Type
}

// parseComment reads a line that starts with #. A # TYPE line that says nothing
// is no error, as in expfmt.
func parseComment(line []byte) (c commentLine, why string) {
	i := skipBlanks(line, skipBlanks(line, 0)+1)
	end := tokenEnd(line, i)
	switch string(line[i:end]) {
	case "HELP":
		return commentLine{keyword: "HELP"}, ""
	case "TYPE":
	default:
		return commentLine{}, ""
	}
	i = skipBlanks(line, end)
	end = nameEnd(line, i, true)
	if i == len(line) || end == len(line) {
		return commentLine{}, ""
	}
	name := nameSpan(line, i, end)
	if end == i || line[end] != ' ' && line[end] != '\t' || !name.raw && !validName(name.of(line)) {
		return commentLine{}, whyName
	}
	word := strings.TrimRight(string(line[skipBlanks(line, end):]), " \t")
	typ, ok := types[strings.ToLower(word)]
	if !ok && word != "" {
		return commentLine{}, whyType
	}
	return commentLine{"TYPE", decodedName(string(line), name), typ}, ""
}
