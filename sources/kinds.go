package sources

import "slices"

// kinds is every way of reading a target. The first row that matches an
// argument reads it, so the forms with a sign of their own come first and the
// bare host:port last.
var kinds = []Kind{demoKind, eventsKind, statsKind, promKind, fileSDKind, dnsKind, nvmlKind, probeKind, tapeKind, pagesKind, engineKind}

// Kinds is the table of kinds, for help texts and the README.
func Kinds() []Kind { return slices.Clone(kinds) }

func kindOf(address string) (Kind, bool) {
	for _, k := range kinds {
		if k.Match(address) {
			return k, true
		}
	}
	return Kind{}, false
}
