package slo

import "strings"

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?") }

// Glob reports whether s matches the pattern: * is any run of characters, ? is
// one, anything else is itself.
func Glob(pattern, s string) bool {
	if !isGlob(pattern) {
		return pattern == s
	}
	p, r := []rune(pattern), []rune(s)
	star, tried := -1, 0 // the last *, and how much of r it was last given
	i, j := 0, 0
	for j < len(r) {
		switch {
		case i < len(p) && p[i] == '*':
			star, tried = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == r[j]):
			i++
			j++
		case star >= 0:
			tried++
			i, j = star+1, tried
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
