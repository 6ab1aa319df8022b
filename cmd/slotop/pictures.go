package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/themes"
	"slotop/tui"
	"slotop/tui/layout"
	"slotop/tui/picture"
)

// album is the folder that pictures of the screen go to, "" for the current one.
type album struct{ dir string }

// maxSame bounds the pictures of one second.
const maxSame = 100

// keep writes the screen as SVG and PNG, named after the time of its frame and never
// over what is there.
func (a album) keep(s tui.Shot) (string, error) {
	svg, err := picture.SVG(s.Screen, s.Size, s.Back)
	if err != nil {
		return "", err
	}
	png, err := picture.PNG(s.Screen, s.Size, s.Back)
	if err != nil {
		return "", err
	}
	stem, err := a.stem(s.At, svg)
	if err != nil {
		return "", fmt.Errorf("picture: %w", err)
	}
	if err := writePicture(stem+".png", png); err != nil {
		return "", fmt.Errorf("picture: %w", err)
	}
	return stem + ".svg and .png", nil
}

// stem writes the SVG under the first name that is free.
func (a album) stem(at time.Time, svg []byte) (string, error) {
	name := filepath.Join(a.dir, "slotop-"+at.UTC().Format("20060102T150405Z"))
	if at.IsZero() {
		name = filepath.Join(a.dir, "slotop")
	}
	for i := range maxSame {
		stem := name
		if i > 0 {
			stem = fmt.Sprintf("%s-%d", name, i+1)
		}
		if _, err := os.Lstat(stem + ".png"); err == nil {
			continue
		}
		if err := writePicture(stem+".svg", svg); !errors.Is(err, fs.ErrExist) {
			return stem, err
		}
	}
	return "", fmt.Errorf("%s.svg and %d more of this second are there already", name, maxSame-1)
}

// writePicture writes a file that is not there yet; a part of one does not stay.
func writePicture(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// posed is which screen a picture shows, and how.
type posed struct {
	file  string // .svg or .png, "": no picture is wanted
	size  layout.Size
	page  string // one of tui.Screens, or its number
	theme string
	ascii bool
	saved bool // the frame is of a tape, saved pages or a server's past: not live
}

// usualPose is a picture's size unless it is said.
var usualPose = posed{size: layout.Size{W: 120, H: 40}, page: "1"}

// check says what is wrong with it before anything is polled.
func (p posed) check() error {
	if form := filepath.Ext(p.file); p.file != "" && form != ".svg" && form != ".png" {
		return usageError(fmt.Errorf("--picture %s: a name that ends in .svg or .png", p.file))
	}
	if _, err := p.key(); err != nil {
		return usageError(err)
	}
	if p.file == "" {
		return nil
	}
	return takesFiles(p.file, filepath.Dir(p.file))
}

// key is the key that leads to the screen.
func (p posed) key() (string, error) {
	all := tui.Screens()
	if i := slices.Index(all, p.page); i >= 0 {
		return fmt.Sprint(i + 1), nil
	}
	for i := range all {
		if p.page == fmt.Sprint(i+1) {
			return p.page, nil
		}
	}
	return "", fmt.Errorf("--screen %s: 1 to %d, or %s", p.page, len(all), strings.Join(all, ", "))
}

// draw writes the picture of a frame, over one of an earlier run.
func (p posed) draw(f *model.Frame) error {
	set, err := loadThemes()
	if err != nil {
		return usageError(err)
	}
	key, err := p.key()
	if err != nil {
		return usageError(err)
	}
	shot, err := still(f, set, p, key)
	if err != nil {
		return usageError(err)
	}
	form := picture.SVG
	if filepath.Ext(p.file) == ".png" {
		form = picture.PNG
	}
	data, err := form(shot.Screen, shot.Size, shot.Back)
	if err != nil {
		return usageError(err)
	}
	return replaceFile(p.file, data)
}

// still is a frame as the screen would show it after some keys, without a terminal.
func still(f *model.Frame, set *themes.Set, p posed, keys ...string) (tui.Shot, error) {
	m, err := tui.New(tui.Options{
		Latest: func() *model.Frame { return f },
		Tick:   func(time.Duration) tea.Cmd { return nil },
		Window: func(time.Duration) {}, Ack: func(model.AlertID) {}, Mark: func(string) {},
		Themes: set, Theme: p.theme, ASCII: p.ascii, Recorded: p.saved,
	})
	if err != nil {
		return tui.Shot{}, err
	}
	m.Update(tea.WindowSizeMsg{Width: p.size.W, Height: p.size.H})
	m.Update(tui.TickMsg{At: f.At.Wall})
	for _, k := range keys {
		m.Update(press(k))
	}
	return m.Shot(), nil
}

// press is a key as a terminal sends it: a letter, or the name of another key.
func press(key string) tea.KeyPressMsg {
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	}
	if code, ok := named[key]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	r := []rune(key)[0]
	return tea.KeyPressMsg{Code: r, Text: key}
}

// parseCells reads a size such as 120x40.
func parseCells(s string) (layout.Size, error) {
	var size layout.Size
	if n, err := fmt.Sscanf(s, "%dx%d", &size.W, &size.H); n != 2 || err != nil || s != fmt.Sprintf("%dx%d", size.W, size.H) {
		return layout.Size{}, fmt.Errorf("%q is no size such as 120x40", s)
	}
	if size.W < 40 || size.H < 10 || size.W > 300 || size.H > 100 {
		return layout.Size{}, errors.New("from 40x10 to 300x100")
	}
	return size, nil
}

// cellsFlag is a flag of a size in cells.
type cellsFlag struct{ to *layout.Size }

// Set implements pflag.Value.
func (c cellsFlag) Set(s string) (err error) {
	*c.to, err = parseCells(s)
	return err
}

// String implements pflag.Value.
func (c cellsFlag) String() string {
	if c.to == nil {
		return ""
	}
	return fmt.Sprintf("%dx%d", c.to.W, c.to.H)
}

// Type implements pflag.Value.
func (c cellsFlag) Type() string { return "size" }

// pictureFlags lets a command without a screen draw one.
func (a *app) pictureFlags(c *cobra.Command) {
	p := &a.flags.pose
	*p = usualPose
	c.Flags().StringVar(&p.file, "picture", "", "draw the screen into this .svg or .png instead of printing text")
	c.Flags().Var(cellsFlag{&p.size}, "size", "columns and lines of the picture")
	c.Flags().StringVar(&p.page, "screen", p.page, "which screen it shows: "+strings.Join(tui.Screens(), ", "))
	c.Flags().StringVar(&p.theme, "theme", "", "theme of the picture (default dark)")
}
