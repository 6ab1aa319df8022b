package sources

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"slotop/model"
	"slotop/sources/nvml"
)

const (
	// smiSeldom is how often processes and MIG instances are listed, each by a
	// program of its own.
	smiSeldom = 30 * time.Second
	// maxSMILine bounds a line: all columns that there are take 8 KiB.
	maxSMILine = 64 << 10
	// maxSMIText bounds what is kept of an answer that is no table, or of a list.
	maxSMIText = 256 << 10
)

// smi reads the GPUs through NVIDIA's tool, which prints a table a second for as
// long as it runs: starting it for each poll costs tens of milliseconds and more.
type smi struct {
	path string // "" there is none
	why  string // it is used at all

	ctx    context.Context // ends all programs
	cancel context.CancelFunc
	fields []string // what is asked for, without what this driver does not know
	run    *smiRun  // nil: none runs
	retry  retry

	seldomAt  time.Duration
	instances []model.Device
	apps      map[string][]model.Process
	lost      map[string]model.Device // by UUID, as they were last
	order     []string                // UUIDs in the order of first sight
	procs     processTable
	about     *model.About
}

func newSMI() *smi {
	s := &smi{fields: smiAsked(), procs: processTable{root: "/proc"}, lost: map[string]model.Device{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, name := range []string{"nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"} {
		if path, err := exec.LookPath(name); err == nil {
			s.path = path
			break
		}
	}
	return s
}

// smiAsked are the columns that are asked for, the newest name of each.
func smiAsked() []string {
	asked := []string{smiCount, smiIndex, smiUUID, smiBus, smiName, smiDriver, smiMIG, smiReasons}
	for _, f := range smiFields {
		if f.asked {
			asked = append(asked, f.name)
		}
	}
	return asked
}

func (s *smi) doing() string { return "nvidia-smi" }

// stop ends the programs.
func (s *smi) stop() bool {
	s.cancel()
	return true
}

func (s *smi) close() {
	s.cancel()
	if s.run != nil {
		<-s.run.ended
	}
}

func (s *smi) read(at time.Duration) (gpuRound, error) {
	if err := s.retry.early(at); err != nil {
		return gpuRound{}, err
	}
	rows, fault := s.rows()
	if fault != nil {
		return gpuRound{}, s.retry.after(at, fault)
	}
	s.retry.well()
	s.readSeldom(at, rows)
	devices := s.devices(rows)
	s.procs.name(devices, at)
	s.describe(rows)
	return gpuRound{devices: devices, about: s.about}, nil
}

// rows waits for the newest table, and begins to read tables where none are read.
func (s *smi) rows() ([]smiRow, *FaultError) {
	if s.path == "" {
		return nil, &FaultError{model.NotFound, "there is no nvidia-smi in PATH: install the NVIDIA driver"}
	}
	for {
		if s.run == nil {
			run, err := startSMI(s.ctx, s.path, s.fields)
			if err != nil {
				return nil, &FaultError{model.UnsupportedPage, "nvidia-smi does not start: " + excerpt(err.Error())}
			}
			s.run = run
		}
		rows, said := s.run.next()
		if rows != nil {
			s.run.gave = true
			return rows, nil
		}
		again := s.run.gave && said == "" // it was killed
		s.run = nil
		if !again && !s.doWithout(said) {
			return nil, smiFault(said)
		}
	}
}

// invalidField is what nvidia-smi says of a column that its driver does not know.
var invalidField = regexp.MustCompile(`Field "([^"]+)" is not a valid field to query`)

// doWithout stops to ask for a column that nvidia-smi refused, and reports whether
// there was one. The reasons for slow clocks have an older name.
func (s *smi) doWithout(said string) bool {
	m := invalidField.FindStringSubmatch(said)
	if m == nil {
		return false
	}
	at := slices.Index(s.fields, m[1])
	if at < 0 {
		return false
	}
	if m[1] == smiReasons {
		s.fields[at] = smiThrottles
		return true
	}
	s.fields = slices.Delete(s.fields, at, at+1)
	return true
}

// smiFaults say what the tool prints in the place of a table, and what it means.
var smiFaults = []struct {
	said  string
	fault *FaultError
}{
	{"couldn't communicate with the NVIDIA driver", noDriver(nvml.DriverNotLoaded)},
	{"Driver Not Loaded", noDriver(nvml.DriverNotLoaded)},
	{"Driver/library version mismatch", noDriver(nvml.VersionMismatch)},
	{"Insufficient Permissions", noDriver(nvml.NoPermission)},
	{"No devices were found", noGPUs},
	{"GPU is lost", &FaultError{model.Refused, "nvidia-smi tells of no GPU while one is lost: see dmesg for its Xid; it takes a reset or a reboot"}},
}

func smiFault(said string) *FaultError {
	for _, f := range smiFaults {
		if strings.Contains(said, f.said) {
			return f.fault
		}
	}
	if said == "" {
		return &FaultError{model.Refused, "nvidia-smi ended without a word"}
	}
	return &FaultError{model.Malformed, "nvidia-smi printed no table of GPUs: " + excerpt(said)}
}

// readSeldom lists what no table tells. What cannot be listed now stays as it was.
func (s *smi) readSeldom(at time.Duration, rows []smiRow) {
	if at < s.seldomAt {
		return
	}
	s.seldomAt = at + smiSeldom
	if text, err := s.ask("--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory", "--format=csv"); err == nil {
		s.apps = readSMIApps(text)
	}
	if !slices.ContainsFunc(rows, func(r smiRow) bool { return r.divided }) {
		s.instances = nil
	} else if text, err := s.ask("-L"); err == nil {
		s.instances = smiInstances(text)
	}
}

// ask runs the tool once.
func (s *smi) ask(args ...string) (string, error) {
	out := &limited{left: maxSMIText}
	cmd := smiCommand(s.ctx, s.path, args...)
	cmd.Stdout = out
	err := cmd.Run()
	return out.text.String(), err
}

// devices are the GPUs of a table, with their instances, and those that a table
// does not list any more.
func (s *smi) devices(rows []smiRow) []model.Device {
	now := map[string]model.Device{}
	for _, r := range rows {
		d := r.shown()
		if d.Readings[model.MemTotal].Status == model.NotSupported && sharesMemory(d.Name) {
			d.Shared = hostMemory(&d, s.procs.root)
		}
		d.Processes = s.apps[d.UUID]
		judge(&d)
		now[d.UUID] = d
		if !slices.Contains(s.order, d.UUID) {
			s.order = append(s.order, d.UUID)
		}
		s.lost[d.UUID] = model.Device{UUID: d.UUID, Index: -1, Name: d.Name, Bus: d.Bus, State: model.DeviceLost, Detail: "not listed by nvidia-smi any more"}
	}
	var all []model.Device
	for _, uuid := range s.order {
		d, there := now[uuid]
		if !there {
			d = s.lost[uuid]
		}
		all = append(all, d)
		for _, i := range s.instances {
			if i.Parent == uuid && there {
				all = append(all, i)
			}
		}
	}
	return all
}

func (s *smi) describe(rows []smiRow) {
	notes := []string{"through nvidia-smi, which has no performance counters"}
	if s.why != "" {
		notes[0] += ": " + s.why
	}
	version := rows[0].driver
	if s.about == nil || s.about.Version != version {
		s.about = &model.About{Engine: "nvidia-smi", Version: version, Notes: notes}
	}
}

// smiRun is a program that prints tables until it is killed. What it prints is read
// as it comes, and of the tables the newest is kept.
type smiRun struct {
	newest chan []smiRow // room for one
	ended  chan struct{}
	said   string // instead of a table; once it has ended
	gave   bool   // a table was taken
}

// smiCommand is a call of the tool. What goes by its name may be a script that starts
// others: they end with it, and if they do not, nobody waits for what they print.
func smiCommand(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second / 4
	return cmd
}

// startSMI starts nvidia-smi, printing once a second.
func startSMI(ctx context.Context, path string, fields []string) (*smiRun, error) {
	ctx, kill := context.WithCancel(ctx)
	cmd := smiCommand(ctx, path, "--query-gpu="+strings.Join(fields, ","), "--format=csv", "-l", "1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		kill()
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = out.Close() })
	r := &smiRun{newest: make(chan []smiRow, 1), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		said := r.drain(out)
		kill()         // a program whose words nobody reads any more waits for ever
		_ = cmd.Wait() // what it said tells more than how it ended
		r.said = said
	}()
	return r, nil
}

// drain reads tables until there are no more, or too much of something else, and
// returns what else was printed since the last.
func (r *smiRun) drain(out io.Reader) (said string) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxSMILine)
	var table smiTable
	for len(said) < maxSMIText && lines.Scan() {
		bad := table.bad
		if rows := table.add(lines.Text()); len(rows) > 0 {
			r.publish(rows)
			said = ""
		}
		if table.bad > bad {
			said += lines.Text() + "\n"
		}
	}
	if rows := table.end(); len(rows) > 0 {
		r.publish(rows)
	}
	return said
}

// publish replaces a table that nobody took.
func (r *smiRun) publish(rows []smiRow) {
	select {
	case <-r.newest:
	default:
	}
	r.newest <- rows
}

// next waits for a table that was not taken yet. There is none once the program
// has ended, and what it said tells why.
func (r *smiRun) next() ([]smiRow, string) {
	select {
	case rows := <-r.newest:
		return rows, ""
	case <-r.ended:
	}
	select { // the last table may have come with the end
	case rows := <-r.newest:
		return rows, ""
	default:
		return nil, r.said
	}
}

// limited keeps the start of what is written to it.
type limited struct {
	text strings.Builder
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.text.Write(b[:n])
	l.left -= n
	return len(b), nil
}
