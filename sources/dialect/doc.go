// Package dialect knows what inference engines call things: it turns the series
// of a scanned page into canonical samples, by name tables that are data. It
// computes no rate and no percentile and keeps no history; what a page does not
// say it leaves out.
//
// # Adding an engine
//
// One file, engine.yaml, in this folder, or in the user's dialect folder without
// rebuilding. The least that works:
//
//	engine: foo
//	prefixes: ["foo:"]
//	detect: {any: ["*"]}
//	labels: {model: model_name}
//	signals:
//	  ttft_seconds:     {from: [first_token_seconds, ttft_seconds]}   # newest name first
//	  requests_waiting: {from: queue_length}
//	  kv_cache_ratio:   {from: cache_percent, scale: 0.01}
//
// Then run the tests with -update and read the golden of a real page. Say in a
// comment where an engine changed what a name means: a rename is easy, a
// redefinition misleads people. A key that does not exist is an error.
//
// # Selectors
//
// Where a name is asked for, a selector may stand, as in PromQL:
// name{label="v",other!="w",third=~"a|b"}. An absent label counts as empty, a
// page's name with dots as the same with underscores. In detect, versions, notes
// and unless a name may end in * for any rest, and a family that is declared
// without samples counts as well. Every name is looked for under each of the
// prefixes.
//
// # The keys of a file
//
//	engine        the dialect's name; a user's file of the same name replaces ours
//	kind          what its targets are: engine (the default), gateway or gpu
//	like          a dialect to start from: what this file does not state is taken
//	              from there, except detect and priority. A user's file may be like
//	              the one it replaces
//	also          dialects that speak first on the same page if they recognise it:
//	              a Dynamo worker also carries its engine's metrics
//	priority      among dialects that recognise a page the highest one is chosen
//	prefixes      what stands before every name, newest spelling first; default none
//	detect        the condition under which a page is this engine's: some series
//	              matches one of any, all of all, none of none
//	versions      hints, first match: {say: "0.11 or later", any: …, all: …, none: …}
//	labels        what the engine's labels mean, a|b being the first that is there:
//	  model         the served model
//	  engine        those whose rows are different work and stay apart, joined with /
//	  ranks         those whose rows repeat the same work: the lowest is taken, and a
//	                note says when they disagree
//	  copies        process copies of one level: the largest is taken
//	  reason        the finish reason
//	  failure       why a request failed or was cancelled
//	  workflow      what a gateway calls the workflow, unless the user names another
//	                label (Set.Naming)
//	  adapter       the LoRA adapter
//	  placeholders  values that name nothing: None, unknown
//	              Rows that differ in any other label, unless a workflow of the
//	              user's matches on it (Set.Keeping), are added up (levels that cannot
//	              be added: the largest). A row of such a sum of counters that is gone
//	              from the page stands still, so that nothing seems to have restarted
//	lower_models  compare model names in lower case
//	only          matchers every row must satisfy: 'priority=""' skips the rows that
//	              are parts of another row
//	reasons       {stop: […], length: […], aborted: […], error: […]}: what the engine
//	              calls them; anything else is other
//	failures      {rate_limited: […], …}: what the labels of failure call the reasons
//	              of events. An HTTP status needs no entry, anything else is shown as it is
//	collected     its pages may also come from an OpenTelemetry collector, which gives
//	              every series a job and an instance as a federation does
//	choose        tells apart rows in each of which one request appears:
//	  label         where the row's name stands
//	  front, step   expressions for the row that counts requests, and the engine's own
//	  counts        the counter that shows whether the step counts at all
//	lazy          series appear with their first event: until a request has finished
//	              an absent one means no event yet, not that it is not exported
//	notes         sentences for the reader: {say: …}, with any, all, none as a condition
//	enable        how to get what the engine can export and does not: {for: [signals,
//	              or metrics of a device], say: the flag, setting or version}
//	without       signals of the like dialect that this engine does not have
//	devices       the GPUs that the page tells of, see below
//	signals       by canonical name (package model), one way or a list of ways; the
//	              first that the page has is taken, two are never added. Where the page
//	              names workflows, or several models, a way whose rows name neither
//	              comes last: nobody could tell whose requests it counts
//
// # The keys of a way
//
//	from          exposed names, newest first. Gauges and counters: the sample name,
//	              with _total, _sum or _count. Histograms: the name before _bucket
//	sum           exposed names that are added up; all must be there
//	minus, times, over
//	              an exposed name to subtract, multiply with, divide by
//	read          labels whose numbers are multiplied, instead of the value: {from:
//	              config_info, read: [blocks, block_size]}
//	mean          {sum: …, count: …}: two counters that make a histogram without
//	              buckets, of which only the mean is known
//	ranges        {from: …, label: …, edges: [[…], …]}: counters that make a histogram,
//	              one a bucket, whose edges are the text of the label: "[100-200)",
//	              "100-200ms", "5000ms+". A bucket without a count may be absent, so the
//	              edges that a release has are listed; the first list that fits is taken
//	weight        a label with whose number each row's value is multiplied
//	bare          the names have no prefix
//	scale         factor to seconds, tokens or a ratio; bounds and sums included
//	unset         the value that means not available when every row shows it. A ratio
//	              below 0 means that anyhow
//	removed       the value of a row whose subject is gone for good: the row counts as absent
//	rows          front or step, see choose. A step's rows bear the front's name
//	if_counted    left out while the step counts nothing that passes the front
//	caution       {below: …, say: …}: said while the mean since start is below
//	measures      what it measures here, where that differs from the signal's definition
//	at_finish     moves only when a request finishes
//	needs         the option or version it takes; absent, it is not called missing
//	rare          with lazy: its first event may never come, absence says nothing. But
//	              at a gateway that has such a counter for others, or for other outcomes,
//	              one who has none had no event: 0
//	unless        not used on a page that has this series
//	kind          may repeat the signal's kind: gauge, counter or histogram
//
// # GPUs
//
// A page of kind gpu has devices in place of signals (an engine's page may have
// both). The least that works:
//
//	engine: bar-exporter
//	kind: gpu
//	detect: {any: ["bar_*"]}
//	devices:
//	  labels: {uuid: uuid, index: gpu, name: model}
//	  metrics:
//	    busy:        {from: bar_utilization_percent, scale: 0.01}
//	    memory_used: {from: bar_memory_used_mib, scale: 1048576}
//	    dram_active: {from: bar_dram_active_ratio, counters: true}
//
// A dialect has no clock: what an exporter only counts is not made into a rate. The
// keys of devices:
//
//	labels        what the labels mean: a|b is the first that is there, a/b both, joined
//	  uuid          what tells the devices apart, most lasting first
//	  index, name, bus, host
//	                its number, its make, its PCI address, the machine it is in
//	  pod           namespace/pod/container that it is given to
//	  driver        the driver's version
//	prefix        what stands before the uuid where the exporter strips it: GPU-
//	facts         metrics that name the devices, looked at before all others
//	slices        rows of a part of a GPU (a MIG instance, a partition). Each is a device
//	              of its own; their GPU is one too, though no row may be about it alone
//	  called        the word for it on screen
//	  id            the slice in its GPU: without it a row is about the whole GPU
//	  only          matchers the row of a slice must satisfy
//	  part          a part of a slice: one with no part on its row is about all of them
//	  uuid, prefix  its own name; else it is prefix, the GPU and the id
//	  profile       its size, as its maker calls it
//	  parent        the GPU, where the uuid among the labels is the slice's own
//	  on            a metric that is 1 where a GPU is cut into slices
//	  say           what it takes to know how busy a slice is
//	shared        an expression for the names of devices whose memory is the host's
//	blank, blank_from
//	              values that mean not available; all from blank_from on do
//	metrics       by the key of the metric (model.DeviceMetric), one way or a list of
//	              ways. A way of which a device has no row, or a blank one, leaves it to
//	              the next. A value that cannot be is a bad sample, and does not
//	throttle      why a device is slowed down, by the reasons of package model: one way
//	              or a list, the first that the device has
//	  from, bits    a mask, and the bit of each reason
//	  label, words  a value above 0 on the row whose label says a word
//	  flags         a metric, or several, for each reason, above 0 where it holds
//	  grows         flags are counters: the reason holds while they grow
//	processes     {from: …, pid: …, name: …, memory: …}: a row for each process, its
//	              labels, and the metric that says how much memory it has, in bytes
//
// The keys of a way of a metric: from, sum, scale, blank and blank_from as above, and
//
//	add           the rows of a device are parts of it and add up; else the largest counts
//	counters      from hardware counters: shown before what a driver says of the same
//	whole         of the whole GPU, also on the row of a slice: the slice has none itself
//	unsliced      says nothing of a slice, nor of a GPU that is cut into slices
//
// # Crowds
//
// Of a page larger than any engine's own, a gateway's with a series for each user,
// families of very many series are tables (expo.Crowd). From alone is read off
// those: what is computed with them is left out, and a note says so. The models
// that their rows name are not listed.
package dialect
