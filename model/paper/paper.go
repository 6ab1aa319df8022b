package paper

// Paper is a document.
type Paper struct {
	Title string
	Over  string // what kind of document it is, above the title
	Under []Text // of what time, from where, below the title
	Badge string // a word that must not be overlooked: SIMULATED
	Body  []Block
	Foot  []Text
}

// Block is a part of a document: Section, Para, List, Table, Facts, Notice, Figures.
type Block interface {
	markdown(*markdown)
	html(*page)
}

// Section is a part with a title of its own. One within another is a level lower.
type Section struct {
	Title string
	Body  []Block
}

// Para is a paragraph.
type Para struct{ Text Text }

// List is one text an item.
type List struct{ Items []Text }

// Table has a cell a column in each row. Its first column names the row.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
}

// Column is a column of a table.
type Column struct {
	Head  string
	Right bool // numbers
	Wide  bool // sentences, which may be broken into lines
}

// Row is a row of a table.
type Row struct {
	Cells []Text
	Tone  Tone
}

// Facts are the few figures that matter most.
type Facts struct{ Items []Fact }

// Fact is a figure with its name and what is to be known of it.
type Fact struct {
	Name  string
	Value Text
	Note  Text
	Tone  Tone
}

// Notice is what is to be read first.
type Notice struct {
	Tone Tone
	Body []Block
}

// Figures are pictures beside one another where there is room.
type Figures struct{ Items []Figure }

// Figure is a picture with its title and in words what is to be seen on it.
type Figure struct {
	Title   string
	Picture Picture
	Says    []Text // a sentence each; they stand for the picture where there is none
}

// Picture is something that can be drawn: *Chart, *Heat, *Bars, *Scatter, *Roofline.
type Picture interface {
	draw(*canvas)
	legend() []entry
	sparks() []spark
}

// entry is a line of a picture's legend.
type entry struct {
	class string // of its sample
	shape string // line, band, dash, point, cell, none
	text  string
}

// spark is a series as a row of small bars, for where there are no pictures.
type spark struct {
	name   string
	values []float64
}
