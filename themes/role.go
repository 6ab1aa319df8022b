package themes

// Role is what a piece of the screen means. Code names roles; themes say how
// they look.
type Role uint8

// The roles. Only the first five must be in a theme: the others fall back as
// the table below says.
const (
	Text Role = iota
	Muted
	OK
	Warn
	Breach
	Strong
	Rule
	Key
	Gone
	Cursor
	Low
	High
	Over
	Band
	Objective
	Event
	Meter
	// RoleCount is how many there are.
	RoleCount
)

// roleInfo is one row of the table of roles.
type roleInfo struct {
	name string
	like Role   // whose style it takes when the theme says nothing; itself: required
	doc  string // what it marks
}

var roles = [RoleCount]roleInfo{
	Text:      {"text", Text, "numbers and plain text"},
	Muted:     {"muted", Muted, "labels, units, remarks"},
	OK:        {"ok", OK, "the word of a healthy state"},
	Warn:      {"warn", Warn, "needs a look"},
	Breach:    {"breach", Breach, "users are hurt now"},
	Strong:    {"strong", Text, "names, the headline"},
	Rule:      {"rule", Muted, "rules and axes"},
	Key:       {"key", Strong, "keys in the footer and the help"},
	Gone:      {"gone", Muted, "stale or missing values"},
	Cursor:    {"cursor", Strong, "the row under the cursor"},
	Low:       {"low", Muted, "the lower line of a chart"},
	High:      {"high", Text, "the upper line of a chart"},
	Over:      {"over", Breach, "the part of a line beyond its objective"},
	Band:      {"band", Rule, "the bracket around a line"},
	Objective: {"objective", Warn, "the objective's line"},
	Event:     {"event", Muted, "restarts and stages on a chart"},
	Meter:     {"meter", Text, "the filled part of a meter"},
}

// Roles lists every role once, in the order of their table.
func Roles() []Role {
	all := make([]Role, RoleCount)
	for i := range all {
		all[i] = Role(i)
	}
	return all
}

// String is the role's name in theme files.
func (r Role) String() string { return roles[r].name }

// Doc says what the role marks.
func (r Role) Doc() string { return roles[r].doc }

func roleNamed(name string) (Role, bool) {
	for i, info := range roles {
		if info.name == name {
			return Role(i), true
		}
	}
	return 0, false
}
