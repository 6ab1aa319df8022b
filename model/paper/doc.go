// Package paper writes a document once and shows it twice: as Markdown, and as one
// HTML page that holds all it needs. It knows nothing of what the document is about:
// it is handed words, figures in words, and numbers to draw.
//
// Every text is taken to be foreign. What a terminal would obey is made visible, what
// Markdown, HTML or SVG would read as markup is escaped; there is no way to hand
// markup in. The page has no script and asks for nothing from anywhere.
package paper
