#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-trace: what it says of recordings of programs whose figures are known,
# traces that replay to the same peaks, and recordings that are damaged, cut or
# none. Under AddressSanitizer a leak fails it, too.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool trace
need_tool replay
trace=$tools/gpumem-trace
replay=$tools/gpumem-replay
recording=$scratch/recording

common_manners trace

# record TRACE: records its replay on the simulated GPU
record()
{
	rm -f "$recording"
	with "record:$recording,record_max:16MiB" "$replay" --device=host:0 \
		--json "$1" >"$scratch/replayed"
}

# figure KEY: of the replay
figure()
{
	sed -n "s/^  \"$1\": \([0-9]*\),*\$/\1/p" "$scratch/replayed"
}

# refused NAME FILE REASON
refused()
{
	for option in --json --to=trace; do
		exits 1 "$1 ($option)" "$trace" $option "$2"
		is "$(cat "$scratch/err")" "gpumem-trace: $2: $3" "says why"
		check "prints nothing else" test ! -s "$scratch/out"
	done
}

# ---- a small program ---------------------------------------------------------

cat >"$scratch/small" <<'END'
# gpumem-trace 1
a 7 1048576 0
a 1 4096 9
a 8 5000000000 0
f 7
a 7 2097152 0
f 8
f 1
END

record "$scratch/small"
exits 0 "a recording" "$trace" "$recording"
is "$(tr '\n' ' ' <"$scratch/out" |
	grep -c "recording: gpumem-replay, process [0-9]")" 1 "says the program"
check "says the peak" grep -qE \
	'^peak requested +4\.66 GiB +5002101248 +[0-9]+\.[0-9]{6}$' "$scratch/out"
check "says the pool" grep -qE '^ +1 +replay +host:0 +device memory +4 ' \
	"$scratch/out"
check "says the events" grep -qE '^ +4 +freed$' "$scratch/out"
check "says that it was not ended" grep -q '^It was not ended' "$scratch/out"
is "$(grep -cE 'overwritten|lost|damaged|not here' "$scratch/out")" 0 \
	"nothing is missing"
exits 0 "as JSON" "$trace" --json "$recording"
valid_json "it is JSON"
json_is "d['program'], d['threads'], d['streams'], d['ended'],
	d['overwritten_events'] + d['lost_events'] + d['lost_definitions'] +
	d['unknown_events'] + d['unended_blocks'] + d['damaged_events']" \
	"('gpumem-replay', 1, 2, False, 0)" "the program is as it was"
json_is "d['allocations'], d['peak_blocks'], d['peak_requested_bytes'],
	d['live_blocks'], d['live_bytes'], d['reserved_bytes']" \
	"(4, 3, 5002101248, 0, 0, 0)" "all counts are exact"
json_is "d['peak_reserved_bytes']" "$(figure peak_reserved_bytes)" \
	"and what was reserved"
json_is "d['kinds']['alloc'], d['kinds']['free'], d['kinds']['pool'],
	d['kinds']['pool_end'], d['kinds']['trim'] > 0,
	sum(d['kinds'].values()) == d['events']" "(4, 4, 1, 1, True, True)" \
	"so are the events"
json_is "[(p['number'], p['name'], p['device'], p['peak_requested_bytes'])
	for p in d['pools']]" "[(1, 'replay', 'host:0', 5002101248)]" \
	"and the pools"
json_is "0 < d['peak_requested_seconds'] < d['seconds'] < 600" True \
	"times are those of seconds"
cp "$scratch/out" "$scratch/json"
gzip -c "$recording" >"$scratch/recording.gz"
exits 0 "the same, compressed" "$trace" --json "$scratch/recording.gz"
json_is "d['peak_requested_bytes']" 5002101248 "says the same"
exits 0 "from standard input" sh -c "'$trace' --json - <'$recording'"
json_is "d['peak_requested_bytes']" 5002101248 "says the same"

# ---- the first version ---------------------------------------------------------

# What it says where each event is written in full has to be the same.
have_python && for program in small gpt2_varlen; do
	file=$scratch/$program
	test -f "$file" || file=$top_srcdir/tests/traces/$program.trace.gz
	record "$file"
	exits 0 "$program: as JSON" "$trace" --json "$recording"
	sed '/^  "file"/d' "$scratch/out" >"$scratch/second"
	check "$program: is of the second version" python3 \
		"$top_srcdir/tests/recording_first.py" "$recording" \
		"$scratch/first"
	exits 0 "$program: the first version is read" "$trace" --json "$scratch/first"
	sed '/^  "file"/d' "$scratch/out" >"$scratch/expected"
	check "$program: and says the same" diff "$scratch/expected" \
		"$scratch/second"
	"$trace" --to=trace "$recording" >"$scratch/second"
	"$trace" --to=trace "$scratch/first" >"$scratch/expected"
	check "$program: event by event" cmp "$scratch/expected" "$scratch/second"
done || skip "there is no python3" "the first version"
record "$scratch/small"

# ---- as a trace ----------------------------------------------------------------

# events FILE: of a trace, without its times and the process
events()
{
	sed '/^t [0-9]*$/d; s/process [0-9]*$/process N/' "$1"
}

exits 0 "as a trace" "$trace" --to=trace "$recording"
events "$scratch/out" >"$scratch/trace"
check "has times" grep -qx 't [0-9][0-9]*' "$scratch/out"
cat >"$scratch/expected" <<'END'
# gpumem-trace 2 recorded from gpumem-replay, process N
a 1 1048576 0
a 2 4096 1
a 3 5000000000 0
f 1
a 4 2097152 0
f 3
f 2
f 4
END
check "is what was replayed, and freed at the end" \
	diff "$scratch/expected" "$scratch/trace"
cp "$scratch/out" "$scratch/whole"
exits 0 "into a file" "$trace" -t trace -o "$scratch/file" "$recording"
check "prints nothing" test ! -s "$scratch/out"
check "and is the same" diff "$scratch/whole" "$scratch/file"

# All that version 2 has, through a replay, a recording and back.
cat >"$scratch/two" <<'END'
# gpumem-trace 2
a 1 1048576 0
a 2 4096 9
u 1 9
r 2 100
r 2 3000 0
u 1 7
f 1 9
a 3 300 0
f 3
f 2
END
record "$scratch/two"
exits 0 "uses, resizes and frees elsewhere" "$trace" --to=trace "$recording"
sed '1s/$/ recorded from gpumem-replay, process N/; s/9$/1/; s/7$/2/' \
	"$scratch/two" >"$scratch/expected"
events "$scratch/out" >"$scratch/trace"
check "are what was replayed" diff "$scratch/expected" "$scratch/trace"
exits 0 "in short" "$trace" --json "$recording"
json_is "d['kinds']['use'], d['kinds']['resize'], d['peak_requested_bytes'],
	d['streams']" "(2, 2, 1052672, 3)" "they are there"
record "$scratch/small"

# A replay tags no blocks: a tag is written into its recording.
if have_python; then
	cat >"$scratch/tag.py" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read(1 << 23))
header, chunk, chunks = struct.unpack_from('=IIQ', data, 24)
used, = struct.unpack_from('=Q', data, 48)
path = b'model/\x1blayer\0'.ljust(24, b'\0')
struct.pack_into('=IIQ24s', data, header + used, 40, 2, 3, path)
struct.pack_into('=Q', data, 48, used + 40)
at = chunks + 64
seen = 0
while seen < 2:
    if data[at + 6] == 17:
        seen += 1
        struct.pack_into('=H', data, at + 4, 3)
    at += 16
open(sys.argv[2], 'wb').write(data)
END
	python3 "$top_srcdir/tests/recording_first.py" "$recording" \
		"$scratch/first"
	python3 "$scratch/tag.py" "$scratch/first" "$scratch/tagged"
	exits 0 "blocks with a tag" "$trace" --to=trace "$scratch/tagged"
	is "$(grep -v '^t' "$scratch/out" | sed -n '2,6p' | tr '\n' ',')" \
		'g model/\x1blayer,a 1 1048576 0,a 2 4096 1,g,a 3 5000000000 0,' \
		"it is there"
	cp "$scratch/out" "$scratch/file"
	exits 0 "replays" "$replay" --device=host:0 "$scratch/file"
	exits 0 "anonymised" "$trace" --to=trace --anonymise "$scratch/tagged"
	is "$(grep -c layer "$scratch/out")" 0 "it is not"
else
	skip "there is no python3" "blocks with a tag"
fi

# Ends that were stamped before their beginnings, in the recordings of a processor
# that reads the clock early.
early()
{
	python3 "$scratch/early.py" "$recording" "$scratch/early" "$@"
	exits 0 "ends $*" "$trace" --json "$scratch/early"
}
if have_python; then
	cat >"$scratch/early.py" <<'END'
import struct, sys
source, out, lost, *threads = sys.argv[1:]
data = bytearray(open(source, 'rb').read(1 << 20))
chunk, chunks = struct.unpack_from('=IQ', data, 28)
data = data[:chunks] + bytearray(chunk * len(threads))
struct.pack_into('=I', data, 56, 0)
struct.pack_into('=QQQQQQ', data, 64, 1000, 1000, 0, 10**6, 10**6, int(lost))
for i, events in enumerate(threads):
    at = chunks + i * chunk
    struct.pack_into('=QQQI', data, at, i + 1, 1000, 1000, i + 7)
    prepared = [(0, 0, 1, 0), (0, 1, 2, 0), (0, 0, 3, i + 7)]
    for event in events.split():
        time, kind, address, size = event.split(',')
        prepared.append((int(time), 0, {'a': 17, 'f': 18}[kind],
                         int(address) << 24 | int(size)))
    for n, (time, tag, kind, value) in enumerate(prepared):
        struct.pack_into('=IHBBQ', data, at + 64 + 16 * n, time, tag, kind,
                         0, value)
open(out, 'wb').write(data)
END
	counts="d['allocations'], d['live_blocks'], d['peak_requested_bytes'],
		d['unknown_events'], d['unended_blocks']"
	early 0 "5000,a,16,100" "4000,f,16,100"
	json_is "$counts" "(1, 0, 100, 0, 0)" "come right behind them"
	early 0 "5000,a,16,100 6000,f,16,100 6100,a,16,200" "5900,f,16,200"
	json_is "$counts" "(2, 0, 200, 0, 0)" "also of the block that is next"
	early 0 "5000,a,16,100 6000,a,16,200" "4900,f,16,100 4950,f,16,200"
	json_is "$counts" "(2, 0, 200, 0, 0)" "two in a row"
	early 0 "5000,a,16,100" "2999,f,16,100"
	json_is "$counts" "(1, 1, 100, 1, 0)" "not later"
	early 0 "5000,a,16,100" "4000,f,17,100"
	json_is "$counts" "(1, 1, 100, 1, 0)" "not elsewhere"
	early 1 "5000,a,16,100" "4000,f,16,100"
	json_is "$counts" "(1, 1, 100, 1, 0)" "not where events were lost"
else
	skip "there is no python3" "ends before their beginnings"
fi

# ---- parts of it -----------------------------------------------------------------

# blocks ARGUMENT...: the allocations of the trace, without their numbers
blocks()
{
	"$trace" --to=trace "$@" "$recording" 2>/dev/null |
		awk '/^a/ { print $3 "@" $4 }' | xargs
}

is "$(blocks --min-bytes=1MiB)" "1048576@0 5000000000@0 2097152@0" \
	"blocks of 1 MiB or more"
is "$(blocks --min-bytes=1.5m)" "5000000000@0 2097152@0" "of 1.5 MiB"
is "$(blocks --min-bytes=4097)" "1048576@0 5000000000@0 2097152@0" "of 4097"
is "$(blocks --min-bytes=4096 --stream=1)" "4096@1" "of a stream"
is "$(blocks --stream=0)" "1048576@0 5000000000@0 2097152@0" \
	"of the default stream"
is "$(blocks --pool=replay)" "$(blocks)" "of a pool by name"
is "$(blocks --pool=1)" "$(blocks)" "and by number"
is "$(blocks --pool=2)" "" "of another pool there are none"
exits 1 "a number that no pool has" "$trace" --pool=2 --json "$recording"
is "$(cat "$scratch/err" "$scratch/out")" \
	"gpumem-trace: $recording: it has no pool of that number" "says so"
exits 1 "a pool that is not there" "$trace" --pool=none "$recording"
is "$(cat "$scratch/err")" \
	"gpumem-trace: $recording: it has no pool of that name" "says so"
for to in "" --json --to=trace --to=chrome --to=pytorch; do
	exits 1 "a stream that is not there ($to)" "$trace" $to --stream=7 \
		"$recording"
	is "$(cat "$scratch/err")" \
		"gpumem-trace: $recording: it has no block of stream 7, but of 0 and 1" \
		"says which there are"
	exits 1 "from after the end ($to)" "$trace" $to --from=1e8 "$recording"
	check "says when that was" grep -qE \
		': it ends at second [0-9]+\.[0-9]{6}, before --from$' \
		"$scratch/err"
done
exits 0 "a stream that may come after --until" "$trace" --stream=7 --until=0 \
	"$recording"
if have_python; then
	# Of that stream there is no block in the pool that was asked for.
	printf 'Thread,Time,Action,Pointer,Size,Stream\n%s\n%s\n' \
		'1,10:00:00.000001,allocate,0x1000,256,0x9' \
		'1,10:00:00.000002,allocate,0x2000,256,0x8' >"$scratch/log"
	exits 1 "the default stream, of which there is no block" "$trace" \
		--stream=0 "$scratch/log"
	is "$(cat "$scratch/err")" \
		"gpumem-trace: $scratch/log: it has no block of stream 0, but of 1 and 2" \
		"too"
	exits 0 "a file that knows of no pool" "$trace" "$scratch/log"
	is "$(grep -c reserved "$scratch/out")" 1 "says nothing of what was reserved"
	check "but in the table of pools, where it is not known" grep -qE \
		'^ *[0-9]+ .* 512 B +[0-9.]+ +-$' "$scratch/out"
fi
seconds=$("$trace" --json "$recording" | sed -n 's/^  "seconds": \(.*\),$/\1/p')
exits 0 "from the very end" "$trace" --from="$seconds" --json "$recording"
json_is "d['live_blocks'], d['kinds']['pool']" "(0, 1)" "is what is there then"
exits 0 "a part in short" "$trace" --json --stream=1 "$recording"
json_is "d['allocations'], d['peak_requested_bytes'], d['streams'],
	d['reserved_bytes'] == 0 < d['peak_reserved_bytes']" \
	"(1, 4096, 1, True)" "is that of the part"

# ---- as JSON for Chrome and Perfetto ------------------------------------------------

counters="[(e['ts'], e['args']['requested'], e['args']['reserved'])
	for e in d['traceEvents'] if e['ph'] == 'C']"
exits 0 "as Chrome's JSON" "$trace" --to=chrome "$recording"
valid_json "it is JSON"
json_is "max(c[1] for c in $counters), max(c[2] for c in $counters),
	$counters[-1][1:]" \
	"(5002101248, $(figure peak_reserved_bytes), (0, 0))" \
	"its counters are what the pool has"
json_is "[e['ts'] for e in d['traceEvents'] if 'ts' in e] ==
	sorted(e['ts'] for e in d['traceEvents'] if 'ts' in e)" True \
	"they are in their order"
json_is "all(type(e['name']) is str and e['ph'] in 'CiXM' and
	type(e['pid']) is int and (e['ph'] == 'M' or type(e['tid']) is int) and
	(e['ph'] != 'i' or e['s'] in 'pt') for e in d['traceEvents'])" True \
	"every event has what the format asks for"
json_is "[e['args'] for e in d['traceEvents'] if e['ph'] == 'M'],
	{'grow', 'pool begins', 'pool ends', 'shrink', 'trim'} <=
	{e['name'] for e in d['traceEvents'] if e['ph'] == 'i'}" \
	"([{'name': 'gpumem-replay'}], True)" "and its names are there"

# What is live at a moment is what a recording that begins there begins with, and
# one that ends there ends with.
if have_python; then
	for nth in 2 4 6 8; do
		"$trace" --to=chrome "$recording" >"$scratch/out"
		cut=$(json "'%.9f %d' % (($counters[$nth][0] +
			$counters[$nth + 1][0]) / 2e6, $counters[$nth][1])")
		live=${cut#* }
		exits 0 "from event $nth" "$trace" --to=chrome \
			--from="${cut% *}" "$recording"
		json_is "[c[1] for c in $counters if c[0] == $counters[0][0]][-1],
			$counters[-1][1], $counters[0][2] > 0" \
			"($live, 0, True)" "begins with what is live"
		exits 0 "until there" "$trace" --to=chrome --until="${cut% *}" \
			"$recording"
		json_is "$counters[-1][1]" "$live" "ends with it"
		exits 0 "both" "$trace" --json --from="${cut% *}" \
			--until="${cut% *}" "$recording"
		json_is "d['live_bytes'], d['peak_requested_bytes'],
			d['kinds']['live'] == d['live_blocks'],
			d['kinds']['alloc']" "($live, $live, True, 0)" \
			"is that alone"
	done
else
	skip "there is no python3" "cuts"
fi

for option in "--json" "" "--to=chrome" "--to=trace"; do
	exits 0 "anonymised $option" "$trace" $option --anonymise "$recording"
	is "$(sed "s,$recording,,; s/requested//" "$scratch/out" |
		grep -c replay)" 0 "names nobody"
done
is "$(head -n 1 "$scratch/out")" \
	"# gpumem-trace 2 recorded from program, process 0" "not even the process"
is "$(blocks --anonymise)" "$(blocks)" "the blocks are the same"

exits 1 "a program that is out of memory" with "record:$scratch/oom,record_max:1MiB,limit:4MiB" \
	"$replay" --device=host:0 "$scratch/small"
exits 0 "as Chrome's JSON" "$trace" --to=chrome "$scratch/oom"
json_is "[(e['args']['bytes'], e['args']['status'], e['args']['would help'],
	e['s']) for e in d['traceEvents'] if e['name'] == 'out of memory']" \
	"[(5000000000, 'GPUMEM_LIMIT', 'limit', 'p')]" "says when, how much and why"

# ---- as PyTorch's snapshot ----------------------------------------------------------

# What a reader relies on: entries in their order, each free of a live block of
# that size, all addresses within segments, blocks that fill their segment.
cat >"$scratch/check.py" <<'END'
import pickle, sys

def walk(entries, segments):
    live, total, peak, last = {}, 0, 0, 0
    for e in entries:
        assert e['frames'] == [] and e['time_us'] >= last and e['stream'] >= 0
        last = e['time_us']
        if e['action'] == 'oom':
            assert e['device_free'] == 0
            continue
        at, size = e['addr'], e['size']
        if e['action'] == 'alloc':
            assert at not in live
            live[at] = [size, False]
            total += size
            peak = max(peak, total)
            assert any(s['address'] <= at and
                       at + size <= s['address'] + s['total_size']
                       for s in segments)
        elif e['action'] == 'free_requested':
            assert live[at] == [size, False]
            live[at][1] = True
        else:
            assert e['action'] == 'free_completed' and live[at] == [size, True]
            total -= live.pop(at)[0]
    return live, total, peak

data = pickle.load(open(sys.argv[1], 'rb'))
result = []
for device, entries in enumerate(data['device_traces']):
    segments = [s for s in data['segments'] if s['device'] == device]
    live, total, peak = walk(entries, segments)
    assert all(not pending for _, pending in live.values())
    found = {}
    for s in segments:
        assert s['segment_pool_id'] == (0, 0) and s['segment_type'] == 'large'
        at = s['address']
        for b in s['blocks']:
            assert b['address'] == at and b['frames'] == []
            assert b['size'] >= b['requested_size'] > 0
            at += b['size']
            if b['state'] == 'active_allocated':
                found[b['address']] = b['requested_size']
            else:
                assert b['state'] == 'inactive'
        assert at == s['address'] + s['total_size']
        assert s['requested_size'] == s['active_size'] == s['allocated_size']
    assert found == {at: size for at, (size, _) in live.items()}
    assert sum(s['allocated_size'] for s in segments) == total
    result.append((len(entries), peak, total))
assert data['allocator_settings']['backend'] == 'gpumem'
assert data['external_annotations'] == []
print(result)
END

# snapshot NAME EXPECTED ARGUMENT...
snapshot()
{
	name=$1
	expected=$2
	shift 2
	exits 0 "$name" "$trace" --to=pytorch "$@"
	if have_python; then
		is "$(python3 "$scratch/check.py" "$scratch/out" 2>&1)" \
			"$expected" "Python opens it, and all fits together"
	else
		skip "there is no python3" "Python opens it"
	fi
}

snapshot "as PyTorch's snapshot" "[(12, 5002101248, 0)]" "$recording"
snapshot "large blocks" "[(9, 5002097152, 0)]" --min-bytes=1MiB "$recording"
snapshot "nothing" "[]" --min-bytes=1TiB --until=0 "$recording"
snapshot "an out of memory" "[(7, 1052672, 0)]" "$scratch/oom"
if have_python; then
	"$trace" --json "$recording" >"$scratch/out"
	cut=$(json "'%.9f' % (d['peak_requested_seconds'] + 1e-7)")
	snapshot "with blocks that are live at the end" \
		"[(6, 5002101248, 5002101248)]" --until="$cut" "$recording"
	snapshot "and at the beginning" "[(9, 5002101248, 0)]" \
		--from="$cut" "$recording"
	snapshot "blocks with a tag" "[(12, 5002101248, 0)]" "$scratch/tagged"
	is "$(python3 -c "import pickle
for e in pickle.load(open('$scratch/out', 'rb'))['device_traces'][0]:
    print(e.get('user_metadata'))" | grep -c 'model/.x1blayer')" 2 "have it"
fi
# Numbers on both sides of each form that a pickle has for them.
printf '# gpumem-trace 1\n' >"$scratch/sizes"
for size in 1 127 128 255 256 32768 65535 65536 2147483647 2147483648 \
	4294967295 4294967296; do
	printf "a $size $size 0\nf $size\n" >>"$scratch/sizes"
	record "$scratch/sizes"
	printf '# gpumem-trace 1\n' >"$scratch/sizes"
	snapshot "a block of $size bytes" "[(3, $size, 0)]" "$recording"
done
record "$scratch/two"
snapshot "a program that resizes" "[(15, 1052672, 0)]" "$recording"
record "$scratch/small"

# The page memory_viz reads a snapshot by itself, and knows these opcodes only, numbers
# of at most 8 bytes, and lists that fit on the stack of a call.
if have_python; then
	record "$top_srcdir/tests/traces/llama_generate.trace.gz"
	"$trace" --to=pytorch -o "$scratch/out" "$recording"
	record "$scratch/small"
	is "$(python3 -c "import pickletools, sys
known = '''PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1
BINFLOAT SHORT_BINUNICODE BINUNICODE EMPTY_LIST APPEND APPENDS LIST EMPTY_DICT DICT
SETITEM SETITEMS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 MEMOIZE BINPUT LONG_BINPUT
BINGET LONG_BINGET'''.split()
marks, entries, most = [], 0, 0
for opcode, value, _ in pickletools.genops(open(sys.argv[1], 'rb')):
    name = opcode.name
    if name not in known or name == 'PROTO' and not 2 <= value <= 4:
        print(name, value)
    if name == 'LONG1' and not -1 << 63 <= value < 1 << 63:
        print(value)
    if name == 'EMPTY_DICT' and marks:
        marks[-1] += 1
        entries += 1
    if name == 'MARK':
        marks.append(0)
    elif name in ('APPENDS', 'SETITEMS', 'LIST', 'DICT', 'TUPLE'):
        most = max(most, marks.pop())
print(entries > 50000, most <= 10000)" "$scratch/out")" "True True" "memory_viz can read it"
fi

# PyTorch's own functions open them, and their totals are those of the recording.
# opened NUMBER ARGUMENT...: a snapshot, and what is said of the same events
opened()
{
	number=$1
	shift
	"$trace" --json "$@" >"$scratch/viz$number.json"
	"$trace" --to=pytorch -o "$scratch/viz$number.pickle" "$@"
	set -- "$scratch/viz$number.pickle" "$scratch/viz$number.json"
	python3 "$top_srcdir/tests/device/memory_viz.py" "$@" 2>&1 | tail -n 3
}

if python3 -c 'from torch.cuda._memory_viz import compare, memory, segment_plot, \
	segments, segsum, trace, trace_plot' >/dev/null 2>&1; then
	is "$(opened 1 "$recording")" right "PyTorch opens a program"
	is "$(opened 2 --until="$cut" "$recording")" right "what is live"
	is "$(opened 3 --from="$cut" "$recording")" right "and what was before"
	is "$(opened 4 "$scratch/oom")" right "an out of memory"
	is "$(opened 5 "$scratch/tagged")" right "blocks with a tag"
	record "$scratch/two"
	is "$(opened 6 "$recording")" right "resizes"
	record "$scratch/small"
else
	skip "there is no PyTorch that has these functions" "PyTorch opens them"
fi

# ---- from PyTorch's snapshot --------------------------------------------------------

# What was written is read again.
exits 0 "a program as a snapshot" "$trace" --to=pytorch \
	-o "$scratch/small.pickle" "$recording"
"$trace" --to=trace "$recording" | sed '1d; /^t/d' >"$scratch/expected"
"$trace" --to=trace "$scratch/small.pickle" | sed '1d; /^t/d' >"$scratch/trace"
check "its blocks are the same in both" diff "$scratch/expected" \
	"$scratch/trace"
exits 0 "a snapshot in short" "$trace" --json "$scratch/small.pickle"
json_is "d['program'], d['peak_requested_bytes'], d['allocations'],
	d['live_blocks'], d['unknown_events'], d['damaged_events']" \
	"('PyTorch', 5002101248, 4, 0, 0, 0)" "has the same figures"
exits 0 "in words" "$trace" "$scratch/small.pickle"
is "$(tr '\n' ' ' <"$scratch/out" |
	grep -c "small.pickle: snapshot of PyTorch's allocator, 20")" 1 \
	"says what it is"

cat >"$scratch/snapshot.py" <<'END'
import pickle, sys

def entry(action, addr, size, us, stream=0, **more):
    frame = {'filename': 'train.py', 'line': 7, 'name': 'step'}
    return {'action': action, 'addr': addr, 'size': size, 'stream': stream,
            'time_us': us, 'frames': [frame, frame], **more}

MB = 1 << 20
first = 1700000000000000
one = [
    entry('segment_alloc', 64 * MB, 20 * MB, first),
    entry('alloc', 64 * MB, 3 * MB, first + 5, user_metadata='model/é\nx'),
    entry('free_requested', 32 * MB, 5 * MB, first + 7, user_metadata='free'),
    entry('free_completed', 32 * MB, 5 * MB, first + 9),
    entry('alloc', 70 * MB, 300, first + 2000000, stream=0x7f1234567890,
          user_metadata=''),
    {'action': 'oom', 'device_free': 1, 'size': 1 << 40, 'stream': 0,
     'time_us': first + 2000001, 'frames': []},
    entry('snapshot', 0, 0, first + 2000002),
]
two = [entry('alloc', 640 * MB, 7, first + 6,
             user_metadata='x' + 'é' * 900)]
segments = [
    {'device': 0, 'address': 32 * MB, 'total_size': 32 * MB, 'stream': 0,
     'segment_pool_id': (0, 0), 'is_expandable': False, 'blocks': [
         {'size': 16 * MB, 'requested_size': 0, 'state': 'inactive'},
         {'size': 16 * MB, 'requested_size': 15 * MB,
          'state': 'active_allocated', 'frames': []}]},
    {'device': 0, 'address': 64 * MB, 'total_size': 20 * MB, 'stream': 0,
     'blocks': [
         {'address': 64 * MB, 'size': 3 * MB, 'requested_size': 3 * MB,
          'state': 'active_allocated'}]},
    {'device': 1, 'address': 640 * MB, 'total_size': 2 * MB, 'blocks': []},
]
data = {'segments': segments, 'device_traces': [one, two],
        'allocator_settings': {'a': 0.5, 'b': None, 'c': 1 << 80},
        'external_annotations': []}
pickle.dump(data, open(sys.argv[1], 'wb'), int(sys.argv[2]))
END
if have_python; then
	for protocol in 2 3 4 5; do
		python3 "$scratch/snapshot.py" "$scratch/torch.pickle" \
			$protocol || break
		exits 0 "a snapshot, protocol $protocol" "$trace" --json \
			"$scratch/torch.pickle"
		json_is "d['allocations'], d['kinds']['live'],
			d['kinds']['free'], d['kinds']['oom'], d['seconds'],
			d['damaged_events'], d['begin_unix_seconds']" \
			"(3, 2, 1, 1, 2.000001, 0, 1700000000.0)" \
			"all is there, and what was live before"
		json_is "[(p['number'], p['peak_requested_bytes'],
			p['peak_reserved_bytes'], p['live_bytes'],
			p['peak_requested_seconds']) for p in d['pools']]" \
			"[(1, $((23 << 20)), $((52 << 20)), $(((18 << 20) + 300)), 5e-06), (2, 7, $((2 << 20)), 7, 6e-06)]" \
			"of each device"
	done
	exits 0 "as a trace" "$trace" --to=trace -o "$scratch/file" \
		"$scratch/torch.pickle"
	exits 0 "replays" "$replay" --device=host:0 --json "$scratch/file"
	json_is "d['blocks'], d['streams'], d['peak_requested_bytes']" \
		"(5, 2, $(((23 << 20) + 7)))" "to the same peak"
	is "$(LC_ALL=C awk '$1 == "g" { tag = substr($0, 3) }
		$1 == "a" { printf "%d %d,", $3, length(tag) }' \
			"$scratch/file")" \
		"5242880 0,15728640 0,3145728 10,7 999,300 0," \
		"the metadata of an allocation is the tag of its block"
	exits 0 "one device" "$trace" --to=trace --pool=2 \
		"$scratch/torch.pickle"
	is "$(grep -c '^a' "$scratch/out")" 1 "has its own blocks"
	python3 -c "import pickle
pickle.dump([1, 2], open('$scratch/bad', 'wb'))"
	refused "a pickle of something else" "$scratch/bad" \
		"it is a pickle, but no snapshot of PyTorch's: it has no segments"
	python3 -c "import pickle, os
class Call:
    def __reduce__(self):
        return os.system, ('touch $scratch/called',)
pickle.dump({'segments': Call()}, open('$scratch/bad', 'wb'), 2)"
	exits 1 "a pickle that calls" "$trace" "$scratch/bad"
	check "is refused" grep -q \
		'it is not data only: instruction 0x63 of pickles is refused' \
		"$scratch/err"
	check "and calls nothing" test ! -e "$scratch/called"
	for part in 2 10 50 99; do
		head -c $(($(wc -c <"$scratch/torch.pickle") * part / 100)) \
			"$scratch/torch.pickle" >"$scratch/bad"
		refused "$part % of a snapshot" "$scratch/bad" \
			"cut off: the pickle has no end"
	done
else
	skip "there is no python3" "snapshots of Python's"
fi
printf '\200\002cos\nsystem\nX\004\000\000\000true\205R.' >"$scratch/bad"
refused "a call" "$scratch/bad" \
	"it is not data only: instruction 0x63 of pickles is refused"
printf '\200\006.' >"$scratch/bad"
none="it is no recording, snapshot or profile of PyTorch's, or log of RMM's or Umpire's"
refused "protocol 6" "$scratch/bad" "$none"
printf '\200\002.' >"$scratch/bad"
refused "nothing in it" "$scratch/bad" "damaged: the stack is empty"

# Whole programs: as many blocks, streams and bytes at the peak.
for name in llama_generate prefetch_streams; do
	file=$top_srcdir/tests/traces/$name.trace.gz
	record "$file"
	for key in blocks peak_blocks streams peak_requested_bytes; do
		eval "$key=\$(figure $key)"
	done
	exits 0 "$name" "$trace" --to=trace --output="$scratch/file" \
		"$recording"
	exits 0 "replays" "$replay" --device=host:0 --json "$scratch/file"
	json_is "d['blocks'], d['peak_blocks'], d['streams'],
		d['peak_requested_bytes'], d['final_requested_bytes']" \
		"($blocks, $peak_blocks, $streams, $peak_requested_bytes, 0)" \
		"to the same peak of requested bytes"
	snapshot "$name as PyTorch's snapshot" \
		"[($((3 * blocks)), $peak_requested_bytes, 0)]" "$recording"
done

# Several threads, which free each other's blocks: each block begins and ends.
if [ -x "$tools/gpumem-bench" ]; then
	rm -f "$recording"
	with "record:$recording" "$tools/gpumem-bench" --device=host:0 \
		--iterations=20000 --rounds=1 --threads=4 threads >"$scratch/replayed"
	exits 0 "a program of several threads" "$trace" --json "$recording"
	json_is "d['threads'] > 2, d['overwritten_events'],
		d['unknown_events'], d['unended_blocks'], d['live_blocks'],
		d['kinds']['alloc'] == d['kinds']['free'] > 20000" \
		"(True, 0, 0, 0, 0, True)" "is in its order"
else
	skip "gpumem-bench was not built" "a program of several threads"
fi

# A file that holds the newest only: what is there is a trace all the same.
rm -f "$recording"
with "record:$recording,record_max:1MiB" "$replay" --device=host:0 --passes=8 \
	"$top_srcdir/tests/traces/llama_generate.trace.gz" >"$scratch/replayed"
exits 0 "a recording that begins late" "$trace" --json "$recording"
json_is "d['overwritten_events'] > 10000 and d['unknown_events'] > 0 and
	d['damaged_events'] == 0" True "says what is missing"
exits 0 "in words" "$trace" "$recording"
check "too" grep -q 'overwritten: the recording begins late' "$scratch/out"
exits 0 "as a trace" "$trace" --to=trace -o "$scratch/file" "$recording"
exits 0 "replays" "$replay" --device=host:0 "$scratch/file"

# ---- what is refused -----------------------------------------------------------

record "$scratch/small"
refused "a file that is not there" "$scratch/none" "No such file or directory"
: >"$scratch/bad"
refused "nothing" "$scratch/bad" "$none"
refused "another file" "$scratch/small" \
	"it is no recording but a trace, which gpumem-replay and gpumem-report read"
head -c 4095 "$recording" >"$scratch/bad"
refused "half a page" "$scratch/bad" \
	"cut off: 4095 bytes of $(od -An -t u8 -j 32 -N 8 "$recording" |
		tr -d ' ') are there"
head -c 100 "$recording" >"$scratch/bad"
refused "half a header" "$scratch/bad" "$none"
head -c 8MiB "$recording" | gzip -c | head -c 1000 >"$scratch/bad.gz"
refused "compressed data that ends early" "$scratch/bad.gz" \
	"the file is cut off: gzip data ends too early"

# patched OFFSET BYTES: the recording, with other bytes there
patched()
{
	head -c 8MiB "$recording" >"$scratch/bad"
	printf "$2" | dd of="$scratch/bad" bs=1 seek="$1" conv=notrunc 2>/dev/null
}

patched 16 '\003'
refused "a later version" "$scratch/bad" "version 3 of the format is not known"
patched 20 '\001\002\003\004'
refused "another byte order" "$scratch/bad" \
	"written by a machine of another byte order"
patched 24 '\001'
refused "a header of odd size" "$scratch/bad" \
	"damaged: the header contradicts itself"
patched 48 '\377\377\377\377\377\377\377\377'
refused "definitions without end" "$scratch/bad" \
	"damaged: the header contradicts itself"
patched 56 '\007'
refused "a clock from elsewhere" "$scratch/bad" "clock 7 is not known"
patched 4096 '\377\377\377\377'
refused "a definition without end" "$scratch/bad" \
	"damaged: a definition has 4294967295 bytes"
patched 40 '\000\000\000\000'
exits 0 "no chunks" "$trace" --json "$scratch/bad"
json_is "d['events'], d['peak_requested_bytes']" "(0, 0)" "nothing happened"
exits 1 "no chunks as a trace" "$trace" --to=trace "$scratch/bad"
is "$(cat "$scratch/err")" "gpumem-trace: $scratch/bad: no block begins in it" \
	"is none"

exits 1 "a recording is not overwritten" "$trace" --to=trace -o "$recording" \
	"$recording"
is "$(cat "$scratch/err")" \
	"gpumem-trace: $recording: it is a recording, which is not overwritten" \
	"says so"
exits 0 "it is as it was" "$trace" "$recording"
exits 1 "a folder that is not there" "$trace" --to=trace \
	-o "$scratch/none/file" "$recording"
is "$(cat "$scratch/err")" \
	"gpumem-trace: $scratch/none/file: No such file or directory" "says so"
if [ -c /dev/full ]; then
	exits 1 "a full disk" "$trace" --to=trace -o /dev/full "$recording"
	is "$(cat "$scratch/err")" \
		"gpumem-trace: /dev/full: No space left on device" "says so"
else
	skip "there is no /dev/full" "a full disk"
fi

refuses trace "expected a recording"
refuses trace "y: expected one recording only" x y
refuses trace "--to=svg: expected trace, chrome or pytorch" --to=svg x
refuses trace "--until: expected no time before --from" --from=2 --until=1 x
refuses trace "--from=-1: expected a number of seconds from 0 to 1e+09" \
	--from=-1 x
for size in 0 x 1KB2 1XB -1 1..5M 99999999999T; do
	refuses trace "--min-bytes=$size: expected a size such as 64KiB or 1.5GiB" \
		--min-bytes=$size x
done
exits 0 "--from=0" "$trace" --from=0 --json "$recording"
exits 0 "--anonymize" "$trace" --anonymize --json "$recording"
json_is "d['program']" program "is --anonymise"
exits 1 "a trace" "$trace" "$top_srcdir/tests/traces/llama_generate.trace.gz"
check "is read by other tools, which are named" \
	grep -q 'which gpumem-replay and gpumem-report read' "$scratch/err"
exits 1 "replaying a recording" "$replay" "$recording"
check "is told how" grep -q 'it is a recording: gpumem-trace --to=trace' \
	"$scratch/err"
if have_python; then
	exits 2 "a snapshot to a terminal" python3 \
		"$top_srcdir/tests/terminal.py" 80 "$trace" --to=pytorch \
		"$recording"
	check "is refused" grep -q '^gpumem-trace: --to=pytorch: expected --output' \
		"$scratch/out"
else
	skip "there is no python3" "a snapshot to a terminal"
fi
refuses trace "--output needs --to" -o y x
refuses trace "--json: expected no --to beside it" --json --to=trace x

done_testing
