// A libnvidia-ml.so.1 without a driver, which does what a script says. It is built
// and scripted by the package around it. Signatures and layouts are those of
// NVIDIA's public header.
//
// V1_ONLY leaves out all that old drivers lack, NO_GPM the performance counters,
// NO_FIELDS the reading of many fields at once, NO_TEMPERATURE both ways of reading
// the temperature, NO_COUNT what no driver lacks.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

typedef unsigned int ret;
typedef uintptr_t handle;

enum { SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

enum { MAX_CARDS = 64, MAX_KEYS = 64, MAX_SLOTS = 8, MAX_PROCESSES = 512, MAX_NAMES = 64 };

struct value {
	char key[24], text[96];
};

struct process {
	unsigned pid;
	unsigned long long memory;
};

// A card or an instance. It keeps its place, so that its handle stays the same
// while others come and go.
struct card {
	char uuid[96];
	int index; // -1: not listed
	int parent, slot; // of an instance, else -1
	unsigned epoch; // grows when it was away
	struct value values[MAX_KEYS];
	int n;
	struct process processes[MAX_PROCESSES];
	int running;
};

static struct card cards[MAX_CARDS];
static int known;

static struct {
	ret init, all;
	int count;
	long delay;
	long long clock;
	char hang[64], version[80];
} world;

static volatile int released;
static unsigned generation; // of the initialisation
static int alive;

static struct {
	char name[64];
	long n;
} calls[MAX_NAMES];
static long total;

// enter counts a call, and lets it take as long as it should.
static ret enter(const char *name) {
	int i = 0;
	total++;
	while (i < MAX_NAMES - 1 && calls[i].name[0] && strcmp(calls[i].name, name))
		i++;
	snprintf(calls[i].name, sizeof calls[i].name, "%s", name);
	calls[i].n++;
	if (world.delay)
		usleep(world.delay);
	if (!strcmp(world.hang, name))
		while (!released)
			usleep(1000);
	if (!strcmp(name, "nvmlInit"))
		return world.init;
	if (!alive)
		return UNINITIALIZED;
	return world.all;
}

#define ENTER(name) do { ret r_ = enter(name); if (r_) return r_; } while (0)

long fake_calls(const char *name) {
	if (!*name)
		return total;
	for (int i = 0; i < MAX_NAMES; i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].n;
	return 0;
}

void fake_release(void) { released = 1; }

static struct card *card_named(const char *uuid) {
	for (int i = 0; i < known; i++)
		if (!strcmp(cards[i].uuid, uuid))
			return &cards[i];
	struct card *c = &cards[known < MAX_CARDS - 1 ? known++ : known];
	snprintf(c->uuid, sizeof c->uuid, "%s", uuid);
	return c;
}

static const char *find(struct card *c, const char *key) {
	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->values[i].key, key))
			return c->values[i].text;
	return NULL;
}

static void set(struct card *c, const char *pair) {
	const char *eq = strchr(pair, '=');
	if (!eq || c->n == MAX_KEYS)
		return;
	struct value *v = &c->values[c->n++];
	snprintf(v->key, sizeof v->key, "%.*s", (int)(eq - pair), pair);
	snprintf(v->text, sizeof v->text, "%s", eq + 1);
	for (char *p = v->text; *p; p++)
		if (*p == '_')
			*p = ' ';
}

static int is_lost(struct card *c) {
	const char *lost = find(c, "lost");
	return lost ? atoi(lost) : 0;
}

// line takes in one line of the script: a word, its subject, and pairs of a key
// and a value, in which _ is a blank and ! stands before a return code.
static void line(char *text) {
	char *save, *word = strtok_r(text, " ", &save), *arg;
	if (!word)
		return;
	arg = strtok_r(NULL, " ", &save);
	if (!arg)
		return;
	if (!strcmp(word, "init"))
		world.init = atoi(arg);
	else if (!strcmp(word, "all"))
		world.all = atoi(arg);
	else if (!strcmp(word, "count"))
		world.count = atoi(arg);
	else if (!strcmp(word, "delay"))
		world.delay = atol(arg);
	else if (!strcmp(word, "clock"))
		world.clock = atoll(arg);
	else if (!strcmp(word, "hang"))
		snprintf(world.hang, sizeof world.hang, "%s", arg);
	else if (!strcmp(word, "version"))
		snprintf(world.version, sizeof world.version, "%s", arg);
	else if (!strcmp(word, "process")) {
		struct card *c = card_named(arg);
		char *pid = strtok_r(NULL, " ", &save), *memory = strtok_r(NULL, " ", &save);
		if (pid && memory && c->running < MAX_PROCESSES)
			c->processes[c->running++] = (struct process){strtoul(pid, NULL, 10), strtoull(memory, NULL, 10)};
	} else if (!strcmp(word, "gpu") || !strcmp(word, "mig")) {
		struct card *c = card_named(arg);
		char *pair;
		while ((pair = strtok_r(NULL, " ", &save)))
			set(c, pair);
		if (!strcmp(word, "gpu")) {
			const char *index = find(c, "index");
			c->index = index ? atoi(index) : world.count;
			if (c->index >= world.count)
				world.count = c->index + 1;
		} else {
			const char *parent = find(c, "parent"), *slot = find(c, "slot");
			c->parent = card_named(parent) - cards;
			c->slot = atoi(slot);
		}
	}
}

// fake_script replaces all that was. Cards that are not in it are gone.
void fake_script(const char *script) {
	int was[MAX_CARDS];
	char *copy = strdup(script), *save, *l;
	for (int i = 0; i < known; i++) {
		was[i] = cards[i].index >= 0 && !is_lost(&cards[i]);
		cards[i].n = cards[i].running = 0;
		cards[i].index = cards[i].parent = -1;
	}
	memset(&world, 0, sizeof world);
	strcpy(world.version, "550.163.01");
	for (int i = known; i < MAX_CARDS; i++)
		cards[i].index = cards[i].parent = -1;
	int before = known;
	for (l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		line(l);
	for (int i = 0; i < before; i++)
		if (was[i] && (cards[i].index < 0 || is_lost(&cards[i])))
			cards[i].epoch++;
	free(copy);
}

static handle handle_of(struct card *c) { return (handle)(c - cards + 1) << 16 | (generation & 0xffff); }

static ret card_at(handle h, struct card **c) {
	size_t i = (h >> 16) - 1;
	if (i >= (size_t)known || (h & 0xffff) != (generation & 0xffff))
		return INVALID_ARGUMENT;
	*c = &cards[i];
	if ((*c)->parent < 0 && (*c)->index < 0)
		return 15;
	return is_lost(*c);
}

#define CARD(h) struct card *c; do { ret r_ = card_at(h, &c); if (r_) return r_; } while (0)

// number is a card's value: what stands before it says of what kind it is.
static ret number(struct card *c, const char *key, unsigned long long *v, char *kind) {
	const char *text = find(c, key);
	if (!text)
		return NOT_SUPPORTED;
	if (*text == '!')
		return atoi(text + 1);
	if (kind)
		*kind = *text;
	if (*text == 'u' || *text == 'd')
		text++;
	*v = *text == '-' ? (unsigned long long)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
	return SUCCESS;
}

static ret word(handle h, const char *key, unsigned *to) {
	unsigned long long v = 0;
	CARD(h);
	ret r = number(c, key, &v, NULL);
	if (!r)
		*to = v;
	return r;
}

static ret wide(handle h, const char *key, unsigned long long *to) {
	CARD(h);
	return number(c, key, to, NULL);
}

static ret text(handle h, const char *key, char *to, unsigned n) {
	CARD(h);
	const char *v = !strcmp(key, "uuid") ? c->uuid : find(c, key);
	if (!v)
		return NOT_SUPPORTED;
	if (*v == '!')
		return atoi(v + 1);
	if (strlen(v) >= n)
		return INSUFFICIENT_SIZE;
	strcpy(to, v);
	return SUCCESS;
}

#ifdef V1_ONLY
#define NO_GPM
#define NO_FIELDS
ret nvmlInit(void) {
#else
ret nvmlInit_v2(void) {
#endif
	if (!total && !known && getenv("FAKE_NVML")) {
		static char script[1 << 16];
		FILE *f = fopen(getenv("FAKE_NVML"), "r");
		if (f) {
			script[fread(script, 1, sizeof script - 1, f)] = 0;
			fclose(f);
			fake_script(script);
		}
	}
	ENTER("nvmlInit");
	alive = 1;
	generation++;
	return SUCCESS;
}

ret nvmlShutdown(void) {
	enter("nvmlShutdown");
	alive = 0;
	return SUCCESS;
}

ret nvmlSystemGetDriverVersion(char *to, unsigned n) {
	ENTER("nvmlSystemGetDriverVersion");
	snprintf(to, n, "%s", world.version);
	return SUCCESS;
}

#ifndef NO_COUNT
#ifdef V1_ONLY
ret nvmlDeviceGetCount(unsigned *n) {
#else
ret nvmlDeviceGetCount_v2(unsigned *n) {
#endif
	ENTER("nvmlDeviceGetCount");
	*n = world.count;
	return SUCCESS;
}
#endif

#ifdef V1_ONLY
ret nvmlDeviceGetHandleByIndex(unsigned index, handle *h) {
#else
ret nvmlDeviceGetHandleByIndex_v2(unsigned index, handle *h) {
#endif
	ENTER("nvmlDeviceGetHandleByIndex");
	for (int i = 0; i < known; i++)
		if (cards[i].index == (int)index) {
			*h = handle_of(&cards[i]);
			return is_lost(&cards[i]);
		}
	return INVALID_ARGUMENT;
}

ret nvmlDeviceGetUUID(handle h, char *to, unsigned n) { ENTER("nvmlDeviceGetUUID"); return text(h, "uuid", to, n); }
ret nvmlDeviceGetName(handle h, char *to, unsigned n) { ENTER("nvmlDeviceGetName"); return text(h, "name", to, n); }

struct pci {
	char legacy[16];
	unsigned domain, bus, device, id, sub;
	char address[32];
};

#ifdef V1_ONLY
ret nvmlDeviceGetPciInfo_v2(handle h, struct pci *p) {
	ENTER("nvmlDeviceGetPciInfo");
	char address[32] = "0000";
	ret r = text(h, "bus", address, sizeof address);
	strcpy(p->legacy, address + 4); // without the upper half of the domain
	return r;
}
#else
ret nvmlDeviceGetPciInfo_v3(handle h, struct pci *p) {
	ENTER("nvmlDeviceGetPciInfo");
	return text(h, "bus", p->address, sizeof p->address);
}
#endif

ret nvmlDeviceGetUtilizationRates(handle h, unsigned *to) {
	ENTER("nvmlDeviceGetUtilizationRates");
	ret r = word(h, "busy", to);
	to[1] = 0;
	word(h, "membusy", to + 1);
	return r;
}

ret nvmlDeviceGetMemoryInfo(handle h, unsigned long long *to) {
	ENTER("nvmlDeviceGetMemoryInfo");
	unsigned long long reserved = 0;
	ret r = wide(h, "total", &to[0]);
	if (r)
		return r;
	wide(h, "used", &to[2]);
	wide(h, "reserved", &reserved);
	to[2] += reserved;
	to[1] = to[0] - to[2];
	return r;
}

struct memory {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

#ifndef V1_ONLY
ret nvmlDeviceGetMemoryInfo_v2(handle h, struct memory *m) {
	ENTER("nvmlDeviceGetMemoryInfo_v2");
	if (m->version != (sizeof *m | 2 << 24))
		return 25;
	ret r = wide(h, "total", &m->total);
	if (r)
		return r;
	wide(h, "used", &m->used);
	wide(h, "reserved", &m->reserved);
	m->free = m->total - m->used - m->reserved;
	return r;
}
#endif

ret nvmlDeviceGetPowerUsage(handle h, unsigned *v) { ENTER("nvmlDeviceGetPowerUsage"); return word(h, "power", v); }
ret nvmlDeviceGetEnforcedPowerLimit(handle h, unsigned *v) { ENTER("nvmlDeviceGetEnforcedPowerLimit"); return word(h, "limit", v); }
ret nvmlDeviceGetTotalEnergyConsumption(handle h, unsigned long long *v) { ENTER("nvmlDeviceGetTotalEnergyConsumption"); return wide(h, "energy", v); }

ret nvmlDeviceGetClockInfo(handle h, unsigned which, unsigned *v) {
	ENTER("nvmlDeviceGetClockInfo");
	return word(h, which == 1 ? "sm" : which == 2 ? "mem" : "?", v);
}

ret nvmlDeviceGetMaxClockInfo(handle h, unsigned which, unsigned *v) {
	ENTER("nvmlDeviceGetMaxClockInfo");
	return word(h, which == 1 ? "smmax" : which == 2 ? "memmax" : "?", v);
}

struct temperature {
	unsigned version, sensor;
	int celsius;
};

#ifndef NO_TEMPERATURE
ret nvmlDeviceGetTemperature(handle h, unsigned sensor, unsigned *v) {
	ENTER("nvmlDeviceGetTemperature");
	return sensor ? INVALID_ARGUMENT : word(h, "temp", v);
}

#ifndef V1_ONLY
ret nvmlDeviceGetTemperatureV(handle h, struct temperature *t) {
	ENTER("nvmlDeviceGetTemperatureV");
	if (t->version != (sizeof *t | 1 << 24))
		return 25;
	return word(h, "tempv", (unsigned *)&t->celsius);
}
#endif
#endif

#ifdef V1_ONLY
ret nvmlDeviceGetCurrentClocksThrottleReasons(handle h, unsigned long long *v) {
#else
ret nvmlDeviceGetCurrentClocksEventReasons(handle h, unsigned long long *v) {
#endif
	ENTER("nvmlDeviceGetCurrentClocksEventReasons");
	return wide(h, "reasons", v);
}

ret nvmlDeviceGetTotalEccErrors(handle h, unsigned type, unsigned kept, unsigned long long *v) {
	ENTER("nvmlDeviceGetTotalEccErrors");
	return type == 1 && kept == 0 ? wide(h, "ecc", v) : INVALID_ARGUMENT;
}

// Processes: the old form is shorter, and both say how many there are.
static ret processes(handle h, unsigned *n, char *to, size_t size) {
	CARD(h);
	const char *refused = find(c, "processes");
	if (refused && *refused == '!')
		return atoi(refused + 1);
	unsigned room = *n;
	*n = c->running;
	if (room < *n)
		return INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < *n; i++) {
		memset(to + i * size, 0xff, size);
		memcpy(to + i * size, &c->processes[i].pid, sizeof(unsigned));
		memcpy(to + i * size + 8, &c->processes[i].memory, sizeof(unsigned long long));
	}
	return SUCCESS;
}

#ifdef V1_ONLY
ret nvmlDeviceGetComputeRunningProcesses(handle h, unsigned *n, void *to) {
	ENTER("nvmlDeviceGetComputeRunningProcesses");
	return processes(h, n, to, 16);
}
#else
ret nvmlDeviceGetComputeRunningProcesses_v3(handle h, unsigned *n, void *to) {
	ENTER("nvmlDeviceGetComputeRunningProcesses_v3");
	return processes(h, n, to, 24);
}
#endif

ret nvmlDeviceGetMigMode(handle h, unsigned *now, unsigned *pending) {
	ENTER("nvmlDeviceGetMigMode");
	ret r = word(h, "migmode", now);
	if (!r)
		*pending = *now;
	return r;
}

ret nvmlDeviceGetMaxMigDeviceCount(handle h, unsigned *n) {
	ENTER("nvmlDeviceGetMaxMigDeviceCount");
	CARD(h);
	(void)c;
	*n = MAX_SLOTS;
	return SUCCESS;
}

ret nvmlDeviceGetMigDeviceHandleByIndex(handle h, unsigned slot, handle *to) {
	ENTER("nvmlDeviceGetMigDeviceHandleByIndex");
	CARD(h);
	for (int i = 0; i < known; i++)
		if (cards[i].parent == c - cards && cards[i].slot == (int)slot) {
			*to = handle_of(&cards[i]);
			return SUCCESS;
		}
	return NOT_FOUND;
}

ret nvmlDeviceGetMemoryBusWidth(handle h, unsigned *v) { ENTER("nvmlDeviceGetMemoryBusWidth"); return word(h, "width", v); }
ret nvmlDeviceGetNumGpuCores(handle h, unsigned *v) { ENTER("nvmlDeviceGetNumGpuCores"); return word(h, "cores", v); }
ret nvmlDeviceGetCudaComputeCapability(handle h, int *major, int *minor) {
	ENTER("nvmlDeviceGetCudaComputeCapability");
	ret r = word(h, "major", (unsigned *)major);
	return r == SUCCESS ? word(h, "minor", (unsigned *)minor) : r;
}
ret nvmlDeviceGetGpuInstanceId(handle h, unsigned *v) { ENTER("nvmlDeviceGetGpuInstanceId"); return word(h, "instance", v); }

#ifndef NO_FIELDS
struct field {
	unsigned id, scope;
	long long stamp, latency;
	unsigned kind;
	ret r;
	unsigned long long value;
};

ret nvmlDeviceGetFieldValues(handle h, int n, struct field *f) {
	ENTER("nvmlDeviceGetFieldValues");
	CARD(h);
	struct timeval now;
	gettimeofday(&now, NULL);
	for (int i = 0; i < n; i++) {
		char key[16], kind = 0;
		snprintf(key, sizeof key, "f%u", f[i].id);
		f[i].r = number(c, key, &f[i].value, &kind);
		if ((f[i].id == 138 || f[i].id == 139) && f[i].scope != 0xffffffff)
			f[i].r = INVALID_ARGUMENT;
		f[i].stamp = world.clock ? world.clock : now.tv_sec * 1000000LL + now.tv_usec;
		f[i].kind = kind == 'u' ? 1 : kind == 'd' ? 0 : kind == '-' ? 4 : 3;
	}
	return SUCCESS;
}
#endif

#ifndef NO_GPM
struct sample {
	int card, instance;
	unsigned epoch, taken;
};

struct metric {
	unsigned id;
	ret r;
	double value;
	char *info[3];
};

struct metrics {
	unsigned version, n;
	struct sample *from, *to;
	struct metric metrics[512];
};

ret nvmlGpmQueryDeviceSupport(handle h, unsigned *to) {
	ENTER("nvmlGpmQueryDeviceSupport");
	if (to[0] != 1)
		return 25;
	return word(h, "gpm", to + 1);
}

ret nvmlGpmSampleAlloc(struct sample **s) {
	ENTER("nvmlGpmSampleAlloc");
	*s = calloc(1, sizeof **s);
	return SUCCESS;
}

ret nvmlGpmSampleFree(struct sample *s) {
	enter("nvmlGpmSampleFree");
	free(s);
	return SUCCESS;
}

static ret take(handle h, int instance, struct sample *s) {
	static unsigned taken;
	unsigned long long refused = 0;
	CARD(h);
	ret r = number(c, "gpmtake", &refused, NULL);
	if (r && r != NOT_SUPPORTED)
		return r;
	*s = (struct sample){c - cards, instance, c->epoch, ++taken};
	return SUCCESS;
}

ret nvmlGpmSampleGet(handle h, struct sample *s) { ENTER("nvmlGpmSampleGet"); return take(h, -1, s); }
ret nvmlGpmMigSampleGet(handle h, unsigned instance, struct sample *s) { ENTER("nvmlGpmMigSampleGet"); return take(h, instance, s); }

// The metrics of an instance are its own card's in the script.
static struct card *measured(struct sample *s) {
	for (int i = 0; s->instance >= 0 && i < known; i++) {
		const char *number = find(&cards[i], "instance");
		if (cards[i].parent == s->card && number && atoi(number) == s->instance)
			return &cards[i];
	}
	return &cards[s->card];
}

ret nvmlGpmMetricsGet(struct metrics *q) {
	ENTER("nvmlGpmMetricsGet");
	if (q->version != 1 || !q->from->taken || q->from->taken >= q->to->taken || q->from->epoch != cards[q->to->card].epoch)
		return INVALID_ARGUMENT;
	for (unsigned i = 0; i < q->n; i++) {
		char key[16];
		snprintf(key, sizeof key, "g%u", q->metrics[i].id);
		const char *v = find(measured(q->to), key);
		q->metrics[i].r = !v ? NOT_SUPPORTED : *v == '!' ? (ret)atoi(v + 1) : SUCCESS;
		q->metrics[i].value = v ? atof(v) : 0;
	}
	return SUCCESS;
}
#endif
