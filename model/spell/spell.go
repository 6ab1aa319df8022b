// Package spell finds the word that was perhaps meant. It knows no language and
// puts nothing right: who wrote the word decides.
package spell

import "strings"

// far is the number of changes from which on two words are not alike.
const far = 3

// Nearest is the known word from which the one that was written differs least,
// the first of several: by two letters at most, and not by all it has. It is ""
// where none is so near. Capital letters count as small ones.
func Nearest(word string, known []string) string {
	best, least := "", min(far, len(word))
	for _, k := range known {
		if d := changes(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// changes is how many bytes must be added, dropped or replaced to get from a to
// b (Levenshtein).
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
