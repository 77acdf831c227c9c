#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Stacks of recordings in gpumem-report, and in the snapshots and Chrome's JSON of
# gpumem-trace: which blocks have one, which functions and lines they name, and that
# a file which contradicts itself, or modules that are not what they were, cost names
# only. The recordings are written here, but for one of a program.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool report
need_tool trace
have_python || skip_all "there is no python3"
report=$tools/gpumem-report
trace=$tools/gpumem-trace
recording=$scratch/recording

# Python's `write(definitions, events)`, and what they are made of.
cat >"$scratch/write.py" <<'END'
import struct, sys
MODULE, STACK_OF, POOL = 4, 3, 1
BEGIN = 0x7000000000
def definition(kind, number, content, more=0):
    content += b'\0' * (-len(content) % 8)
    return struct.pack('=IIQ', 16 + len(content) + more, kind, number) + content
def stack(number, *addresses):
    return definition(STACK_OF, number,
                      struct.pack('=%dQ' % len(addresses), *addresses))
def module(number, line):
    return definition(MODULE, number, line.encode() + b'\0')
def at(path, offset=0x1000, begin=BEGIN, end=0):
    return '%x-%x r-xp %08x fe:00 1234                   %s' % (
        begin, end or begin + 0x100000, offset, path)
def event(kind, value, tag=0):
    return struct.pack('=IHBBQ', 0, tag, kind, 0, value)
def of(number):
    return event(5, number)
def block(kind, number, size):
    return event(kind, (0x100 + number) * 0x10000 << 16 | size)
def alloc(number, size):
    return block(17, number, size)
def free(number, size):
    return block(18, number, size)
def write(definitions, events):
    definitions = [definition(POOL, 1, b'pool\0host:0\0device\0')] + definitions
    defined = b''.join(definitions)
    events = b''.join([event(1, 1000), event(2, 0, 1), event(3, 7)] + events)
    room = -len(defined) % 64
    chunk = struct.pack('=QQQII32x', 1, 1000, 500, 7, 0) + events
    chunk += b'\0' * (64 + -len(chunk) % 64)
    header = struct.pack('=16sIIIIQQQIIQQQQQQQQ64s32s', b'gpumem recording',
        1, 0x01020304, 256, len(chunk), 256 + len(defined) + room, 1,
        len(defined), 0, 7, 1000, 500, 0, 2000001000, 2000000500, 0, 0, 0, b'planted',
        b'0.1.0')
    open(sys.argv[1], 'wb').write(header.ljust(256, b'\0') + defined +
                                  b'\0' * room + chunk)
END

# plants NAME: writes the recording that the program on standard input makes, and
# reports it as JSON
plants()
{
	{
		cat "$scratch/write.py"
		cat
	} >"$scratch/planted.py"
	python3 "$scratch/planted.py" "$recording" "$scratch" ||
		fail "$1: written"
	exits 0 "$1" "$report" --json "$recording"
}

# Of each stack at the end: bytes, blocks, and modules and offsets of its frames.
stacks="[(s['bytes'], s['blocks'], [(f['module'] and f['module'].split('/')[-1],
	f['offset']) for f in s['frames']]) for s in d['end']['stacks']]"
# Of each block that is listed: bytes and stack.
blocks="[(b['bytes'], b['stack']) for b in d['end']['largest']]"

# refused REASON: it is no recording to anyone
refused()
{
	{
		cat "$scratch/write.py"
		cat
	} >"$scratch/planted.py"
	python3 "$scratch/planted.py" "$recording" "$scratch"
	for option in --json --html --blocks=1; do
		exits 1 "$1 ($option)" "$report" $option "$recording"
		is "$(cat "$scratch/err")" "gpumem-report: $recording: $1" \
			"says so"
	done
}

# ---- which blocks have one ---------------------------------------------------------

plants "blocks of two stacks" <<'END'
write([stack(1 << 63, BEGIN + 0x10, BEGIN + 0x20), module(1, at('/none/x.so')),
       stack(2, BEGIN + 0x30)],
      [of(2), alloc(1, 3000), of(1 << 63), alloc(2, 1000),
       of(1 << 63), alloc(3, 2500), of(2), alloc(4, 77), free(4, 77)])
END
json_is "$stacks" "[(3500, 2, [('x.so', 4111), ('x.so', 4127)]), (3000, 1, [('x.so', 4143)])]" \
	"are grouped by it, most bytes first"
json_is "$blocks" "[(3000, 1), (2500, 0), (1000, 0)]" "and each has its own"
json_is "[(s['bytes'], s['blocks']) for s in d['peak']['stacks']]" \
	"[(3500, 2), (3077, 2)]" "as at the peak"
json_is "d['end']['stacks'][0]['frames'][0]" \
	"{'function': None, 'file': None, 'line': None, 'module': '/none/x.so', 'offset': 4111}" \
	"what is not known is null"
is "$(cat "$scratch/err")" "" "that a module is not there is no error"
exits 0 "one of them" "$report" --json --blocks=1 "$recording"
json_is "$stacks" "[(3500, 2, [('x.so', 4111), ('x.so', 4127)])]" "is the largest"
json_is "$blocks" "[(3000, None)]" "the other has no index"
exits 0 "none of them" "$report" --json --blocks=0 "$recording"
json_is "d['end']['stacks'], d['peak']['stacks']" "([], [])" "is none"
exits 0 "as text" "$report" "$recording"
is "$(sed -n '/^Live at the end, by where/,/^$/p' "$scratch/out")" \
	"Live at the end, by where it was allocated:
3.42 KiB (3500 bytes) in 2 blocks, allocated at
    x.so+0x100f
    x.so+0x101f
2.93 KiB (3000 bytes) in 1 block, allocated at
    x.so+0x102f" "has the same stacks"
is "$(sed -n '/^Live at the peak, by where/,/^$/p' "$scratch/out" | grep bytes)" \
	"3.42 KiB (3500 bytes) in 2 blocks, allocated at
3 KiB (3077 bytes) in 2 blocks, allocated at" "also at the peak"
exits 0 "one as text" "$report" --blocks=1 "$recording"
is "$(grep -c 'allocated at$' "$scratch/out")" 2 "one at each moment"
exits 0 "as a page" "$report" --html "$recording"
is "$(grep -c '<tr>.*<details><summary>x.so+0x10' "$scratch/out")" 2 \
	"has a row for each"
check "and all frames of it" grep -qF '<td>3.42 KiB</td><td>3500</td><td>2</td><td><details><summary>x.so+0x100f</summary><div>x.so+0x101f</div></details></td></tr>' \
	"$scratch/out"

plants "a stack of what is not next" <<'END'
write([stack(9, 0x50), stack(8, 0x60)],
      [of(9), event(34, 4096), event(6, 4096), alloc(1, 100),
       of(9), free(1, 100), alloc(2, 200), of(9), of(8), alloc(3, 300),
       of(9), event(4, 1 << 33), alloc(4, 0), of(9), event(99, 1),
       alloc(5, 500), of(9), block(20, 5, 501)])
END
json_is "$blocks" "[(8589934592, 0), (501, None), (300, 1), (200, None)]" \
	"is dropped"
json_is "$stacks" "[(8589934592, 1, [(None, 79)]), (300, 1, [(None, 95)])]" \
	"and of a block of 8 GiB it is there"

plants "what was live before, and grew" <<'END'
write([stack(9, 0x50)], [of(9), block(16, 1, 100), block(20, 1, 200)])
END
json_is "$stacks" "[(200, 1, [(None, 79)])]" "has its stack"

# ---- as a snapshot -----------------------------------------------------------------

# frames ARGUMENT...: of the recording's snapshot: of each entry action, size and
# frames; of each block that is live; and how many lists of frames there are that
# have some
frames()
{
	"$trace" --to=pytorch "$@" "$recording" >"$scratch/pickle"
	python3 -c 'import pickle, sys
d = pickle.load(open(sys.argv[1], "rb"))
def of(frames):
    return [(f["name"], f["filename"].split("/")[-1], f["line"]) for f in frames]
entries = [e for t in d["device_traces"] for e in t]
blocks = [b for s in d["segments"] for b in s["blocks"]]
assert all(list(f) == ["name", "filename", "line"]
           for e in entries + blocks for f in e["frames"])
print([(e["action"], e["size"], of(e["frames"])) for e in entries],
      [of(b["frames"]) for b in blocks if b["state"] == "active_allocated"],
      sum(b["frames"] != [] for b in blocks),
      len({id(e["frames"]) for e in entries + blocks if e["frames"]}))' \
		"$scratch/pickle"
}

cat >"$scratch/snapshot.py" <<'END'
write([stack(7, BEGIN + 0x10, 0x50), module(1, at('/none/x.so')), stack(8, 0x60)],
      [of(7), alloc(1, 100), block(20, 1, 300), of(8), alloc(2, 50), alloc(3, 20),
       of(7), alloc(4, 90), free(2, 50)])
END
plants "for a snapshot" <"$scratch/snapshot.py"
x="[('x.so+0x100f', 'x.so', 0), ('0x4f', '', 0)]"
y="[('0x5f', '', 0)]"
is "$(frames)" "[('alloc', 100, $x), ('free_requested', 100, []), ('free_completed', 100, []), ('alloc', 300, $x), ('alloc', 50, $y), ('alloc', 20, []), ('alloc', 90, $x), ('free_requested', 50, []), ('free_completed', 50, [])] [$x, [], $x] 2 2" \
	"it has the stacks of allocations and blocks, each list once"
is "$(frames --min-bytes=60)" "[('alloc', 100, $x), ('free_requested', 100, []), ('free_completed', 100, []), ('alloc', 300, $x), ('alloc', 90, $x)] [$x, $x] 2 1" \
	"as far as they are asked for"
is "$(frames --anonymise --min-bytes=60)" "[('alloc', 100, []), ('free_requested', 100, []), ('free_completed', 100, []), ('alloc', 300, []), ('alloc', 90, [])] [[], []] 0 0" \
	"and none for strangers"
is "$(frames --from=1 --min-bytes=60)" "[('alloc', 300, $x), ('alloc', 90, $x)] [$x, $x] 2 1" \
	"and of what is live when it begins"
exits 0 "it can be read again" "$report" "$scratch/pickle"

# ---- as Chrome's JSON --------------------------------------------------------------

# What a reader relies on: each key is there once, each frame that is named is there
# and leads to one without a parent, and each frame is of an event's stack. Then, of
# each moment with a stack: its name, bytes and frames, innermost first, and if all of
# them are in its args; and how many frames there are.
cat >"$scratch/chrome.py" <<'END'
import json, sys
def once(pairs):
    assert len(pairs) == len(dict(pairs)), pairs
    return dict(pairs)
def chain(frames, at):
    found = []
    while at is not None:
        assert at in frames and len(found) < len(frames), at
        found.append(at)
        at = frames[at].get('parent')
    return found
def read(text):
    data = json.loads(text, object_pairs_hook=once)
    frames = data.get('stackFrames', {})
    assert 'stackFrames' not in data or frames
    assert all(set(f) - {'parent'} == {'name', 'category'} and f['name']
               for f in frames.values())
    used, told, moments = set(), set(), []
    for e in data['traceEvents']:
        if 'sf' not in e:
            assert e['name'] not in ('alloc', 'live')
            continue
        assert (e['ph'], e['s'], type(e['sf'])) == ('i', 't', int)
        ids = chain(frames, str(e['sf']))
        used.update(ids)
        names = [frames[i]['name'] for i in ids]
        args = e['args']
        assert (args['sf'], args['at']) == (e['sf'], names[0])
        assert args.get('stack', names) == names
        assert ('stack' in args) == (e['sf'] not in told)
        told.add(e['sf'])
        moments.append((e['name'], args['bytes'], names, 'stack' in args))
    assert used == set(frames)
    return moments, frames
if __name__ == '__main__':
    moments, frames = read(open(sys.argv[1]).read())
    print(moments, len(frames))
END

# chrome ARGUMENT...: of a recording
chrome()
{
	"$trace" --to=chrome "$@" >"$scratch/chrome"
	python3 "$scratch/chrome.py" "$scratch/chrome" 2>&1
}

plants "for Chrome" <<'END'
write([stack(7, BEGIN + 0x10, 0x50), module(1, at('/none/x.so')),
       stack(8, BEGIN + 0x30, 0x50), stack(9, 0x50), stack(5, 0x50, 0x50),
       stack(6, 0x90)],
      [of(7), alloc(1, 100), of(8), alloc(2, 50), alloc(3, 20), of(9),
       alloc(4, 90), of(7), alloc(5, 30), block(20, 5, 60), free(2, 50),
       of(5), alloc(6, 70)])
END
x="['x.so+0x100f', '0x4f']"
y="['x.so+0x102f', '0x4f']"
z="('alloc', 70, ['0x4f', '0x4f'], True)"
is "$(chrome "$recording")" "[('alloc', 100, $x, True), ('alloc', 50, $y, True), ('alloc', 90, ['0x4f'], True), ('alloc', 30, $x, False), $z] 4" \
	"it has the stacks of allocations, whose frames share their callers"
is "$(grep -c '"category":"/none/x.so","parent"' "$scratch/chrome")" 2 \
	"and their modules"
is "$(chrome --from=1 "$recording")" "[('live', 100, $x, True), ('live', 90, ['0x4f'], True), ('live', 60, $x, False), $(echo "$z" | sed s/alloc/live/)] 3" \
	"and of what is live when it begins, and no other frames"
is "$(chrome --anonymise "$recording")" "[] 0" "and none for strangers"
"$trace" --to=pytorch -o "$scratch/pickle" "$recording"
is "$(chrome "$scratch/pickle" | sed 's: at /none/x.so::g')" "[('alloc', 100, $x, True), ('alloc', 50, $y, True), ('alloc', 90, ['0x4f'], True), ('alloc', 30, $x, False), ('alloc', 60, $x, False), $z] 4" \
	"also those of a snapshot"

# Without stacks it is, byte by byte, what it was before there were any.
plants "without stacks" <<'END'
write([stack(7, 0x50)],
      [event(34, 4096), event(6, 4096), of(9), alloc(1, 100), alloc(2, 50),
       block(20, 1, 200), free(2, 50)])
END
"$trace" --to=chrome "$recording" >"$scratch/out"
cat >"$scratch/expected" <<'END'
{"displayTimeUnit":"ns","otherData":{"program":"planted","gpumem":"0.1.0"},"traceEvents":[
{"name":"process_name","ph":"M","pid":7,"args":{"name":"planted"}},
{"name":"pool 1 pool","ph":"C","pid":7,"tid":7,"ts":0.000,"args":{"requested":0,"reserved":4096}},
{"name":"grow","ph":"i","pid":7,"tid":7,"ts":0.000,"s":"t","args":{"pool":"pool 1 pool","bytes":4096,"reserved":4096}},
{"name":"pool 1 pool","ph":"C","pid":7,"tid":7,"ts":0.000,"args":{"requested":100,"reserved":4096}},
{"name":"pool 1 pool","ph":"C","pid":7,"tid":7,"ts":0.000,"args":{"requested":150,"reserved":4096}},
{"name":"pool 1 pool","ph":"C","pid":7,"tid":7,"ts":0.000,"args":{"requested":250,"reserved":4096}},
{"name":"pool 1 pool","ph":"C","pid":7,"tid":7,"ts":0.000,"args":{"requested":200,"reserved":4096}}
]}
END
check "nothing is more" diff "$scratch/expected" "$scratch/out"

# Whatever bytes are others, it is refused or as it should be.
cat >"$scratch/spoil.py" <<'END'
import random, subprocess
sys.path.insert(0, sys.argv[2])
import chrome
write([stack(7, BEGIN + 0x10, 0x50), module(1, at('/none/x.so')),
       stack(8, BEGIN + 0x30, 0x50)],
      [of(7), alloc(1, 100), of(8), alloc(2, 50), of(7), alloc(3, 90),
       block(20, 3, 60), free(2, 50)])
whole = open(sys.argv[1], 'rb').read()
chance = random.Random(1)
written = stacks = 0
for i in range(150):
    data = bytearray(whole)
    for j in range(chance.randrange(1, 5)):
        data[chance.randrange(256, len(data))] = chance.choice(
            (0, 1, 5, 17, 20, 127, 255))
    open(sys.argv[1], 'wb').write(data)
    ran = subprocess.run([sys.argv[3], '--to=chrome', sys.argv[1]],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert ran.returncode in (0, 1), (i, ran)
    if ran.returncode == 0:
        written += 1
        stacks += chrome.read(ran.stdout.decode())[0] != []
assert written > 50 and stacks > 50, (written, stacks)
END
cat "$scratch/write.py" "$scratch/spoil.py" >"$scratch/planted.py"
is "$(python3 "$scratch/planted.py" "$recording" "$scratch" "$trace" 2>&1)" "" \
	"so is that of recordings with other bytes"

# ---- what is defined ---------------------------------------------------------------

plants "a number that is not defined" <<'END'
write([stack(3, 0x50)], [of(4), alloc(1, 100), of(0), alloc(2, 50)])
END
json_is "$stacks, $blocks" "([], [(100, None), (50, None)])" "is not known"
exits 0 "as text" "$report" "$recording"
is "$(grep -c 'by where' "$scratch/out")" 0 "says nothing of it"

plants "a number that is defined twice, one without addresses, and 0" <<'END'
write([stack(3, 0x50), stack(4), stack(0, 0x99), stack(3, 0x70, 0x80)],
      [of(3), alloc(1, 100), of(4), alloc(2, 50), of(0), alloc(3, 20)])
END
json_is "$stacks, $blocks" \
	"([(100, 1, [(None, 79)])], [(100, 0), (50, None), (20, None)])" \
	"the first counts, and the others are none"

plants "modules in any order, with lines that are none" <<'END'
lines = [at('/none/late.so', 0x3000, 0x5000, 0x6000), 'x', '', '5-4 r 0 f 0 /x',
    '1000-2000 r-xp', '1000-2000 r-xp 0 0', '-1000-2000 r-xp 0 0:0 0 /y',
    '1000-99999999999999999 r-xp 0 0:0 0 /y', '1000-800 r-xp 0 0:0 0 /y',
    '1000-2000 r-xp zz fe:00 0 /z',
    at('/none/a b (deleted)', 0, 0x1000, 0x2000),
    at('/none/twice.so', 0, 0x1000, 0x2000),
    '2000-3000 r-xp 00000000 00:00 0 ', '3000-4000 r-xp 00000000 00:00 0',
    at('[vdso]', 0, 0x7000, 0x8000),
    at('/none/end.so', 0, 0xfffffffffffff000, 0xffffffffffffffff)]
write([stack(1, 0x1000, 0x1001, 0x2000, 0x2001, 0x3500, 0x4001, 0x5004, 0x6001,
             0x7003, 0, 0xffffffffffffffff)] +
      [module(i, line) for i, line in enumerate(lines)],
      [of(1), alloc(1, 100)])
END
json_is "[(m, hex(int(o))) for m, o in ${stacks}[0][2]]" \
	"[(None, '0xfff'), ('a b (deleted)', '0x0'), ('a b (deleted)', '0xfff'), (None, '0x2000'), (None, '0x34ff'), (None, '0x4000'), ('late.so', '0x3003'), (None, '0x6000'), ('[vdso]', '0x2'), (None, '0x0'), ('end.so', '0xffe')]" \
	"each address has its own, or none"
exits 0 "as text" "$report" "$recording"
is "$(sed -n '/^Live at the end, by where/,/^$/s/^    //p' "$scratch/out" |
	tr '\n' ,)" \
	"0xfff,a b (deleted)+0x0,a b (deleted)+0xfff,0x2000,0x34ff,0x4000,late.so+0x3003,0x6000,[vdso]+0x2,0x0,end.so+0xffe," \
	"has them too"

plants "a path that commands a terminal" <<'END'
write([stack(1, BEGIN + 1), module(1, at('/none/\033[2J<b>&'))],
      [of(1), alloc(1, 100)])
END
exits 0 "as text" "$report" "$recording"
check "is escaped" grep -qxF '    \x1b[2J<b>&+0x1000' "$scratch/out"
exits 0 "as a page" "$report" --html "$recording"
check "is escaped" grep -qF '<summary>\x1b[2J&lt;b&gt;&amp;+0x1000<' \
	"$scratch/out"

refused "damaged: a definition has 32 bytes" <<'END'
write([definition(STACK_OF, 1, b'x' * 8, 8)], [alloc(1, 100)])
END
refused "damaged: a definition has 28 bytes" <<'END'
write([definition(STACK_OF, 1, b'x' * 16, -4)], [alloc(1, 100)])
END
refused "damaged: the line of a module has no end" <<'END'
write([definition(MODULE, 1, b'x' * 16)], [alloc(1, 100)])
END

# ---- functions and lines -----------------------------------------------------------

# A module whose addresses are not those in its file. The address behind the call
# is that of the next statement.
mkdir "$scratch/a b"
cat >"$scratch/planted.c" <<'END'
static inline __attribute__((always_inline)) void inner(void)
{
	__asm__ volatile("nop");
}
void outer(void)
{
	inner();
	__asm__ volatile(".globl planted\nplanted: nop");
}
END
so="$scratch/a b/lib x.so"
cat >"$scratch/module.py" <<'END'
import subprocess
path = sys.argv[2] + '/a b/lib x.so'
elf = open(path, 'rb').read()
headers, = struct.unpack_from('=Q', elf, 32)
size, count = struct.unpack_from('=HH', elf, 54)
segment = [h for h in (struct.unpack_from('=IIQQQQ', elf, headers + i * size)
                       for i in range(count)) if h[0] == 1 and h[1] & 1][0]
symbol, = [int(line.split()[0], 16) for line in
           subprocess.check_output(['nm', path], text=True).splitlines()
           if line.endswith(' planted')]
page = segment[2] & -4096
planted = BEGIN + symbol - segment[3] + segment[2] - page
def plant(path, *more):
    write([stack(1, planted, BEGIN + 0xff000), module(1, at(path, page)),
           *more], [of(1), alloc(1, 100)])
END
names="[(f['function'], f['file'] and f['file'].split('/')[-1], f['line'])
	for f in d['end']['stacks'][0]['frames']]"
if ! command -v addr2line >/dev/null || ! command -v nm >/dev/null; then
	skip "there is no addr2line" "functions and lines"
	done_testing
fi
if ! $CC -g -O1 -shared -fPIC -nostdlib -Wl,-Ttext-segment=0x300000 \
	"$scratch/planted.c" -o "$so" 2>"$scratch/err"; then
	skip "$(head -n 1 "$scratch/err")" "functions and lines"
	done_testing
fi

# The module in that program is PATH
here()
{
	cat "$scratch/module.py"
	echo "plant($1)"
}

here path >"$scratch/here.py"
plants "a module that is there" <"$scratch/here.py"
json_is "$names" "[('inner', 'planted.c', 3), ('outer', 'planted.c', 7), (None, None, None)]" \
	"has the functions and lines of the call, also of one that was inlined"
json_is "[f['module'].split('/')[-1] for f in d['end']['stacks'][0]['frames']],
	hex(d['end']['stacks'][0]['frames'][1]['offset'])" \
	"(['lib x.so', 'lib x.so', 'lib x.so'], '$(nm "$so" | awk '
		$3 == "planted" { print $1 }' | python3 -c \
	'print(hex(int(input(), 16) - 1))')')" "and addresses that debuggers take"
is "$(cat "$scratch/err")" "" "nothing is wrong"
exits 0 "as text" "$report" "$recording"
# A line that is long, and has a blank, is broken.
is "$(sed -n '/^Live at the end, by where/,/^$/p' "$scratch/out" |
	sed -e ':all' -e '$!N' -e 's/\n        / /' -e 't all' -e 'P' -e 'D' |
	sed -n 's/^    //p' |
	sed "s|at .*/planted|at planted|; s/0x[0-9a-f]*/0x/" | tr '\n' ,)" \
	"inner at planted.c:3,outer at planted.c:7,lib x.so+0x," \
	"says at which"
exits 0 "as a page" "$report" --html "$recording"
check "says at which" grep -qE \
	'<summary>inner at [^<]*planted.c:3</summary><div>outer at [^<]*planted.c:7</div><div>lib x.so' \
	"$scratch/out"

last=$(sed -n 's/.*<div>\(lib x.so+0x[0-9a-f]*\)<.*/\1/p' "$scratch/out")
lines="[('inner', 'planted.c', 3), ('outer', 'planted.c', 7), ('$last', 'lib x.so', 0)]"
is "$(frames)" "[('alloc', 100, $lines)] [$lines] 1 1" "as a snapshot too"
is "$(chrome "$recording" | sed "s|at [^']*/planted|at planted|g")" \
	"[('alloc', 100, ['inner at planted.c:3', 'outer at planted.c:7', '$last'], True)] 3" \
	"and as Chrome's JSON"

# Without the program, and with a program that says nothing of use.
mkdir "$scratch/path"
ln -s /bin/* /usr/bin/* "$scratch/path" 2>"$scratch/err"
rm -f "$scratch/path/addr2line"
cp "$so" "$scratch/a b/y.so"
cp "$recording" "$scratch/one"
{
	cat "$scratch/module.py"
	echo "write([stack(1, planted, planted + 0x200000), module(1, at(path, page)),
		module(2, at(sys.argv[2] + '/a b/y.so', page, BEGIN + 0x200000))],
		[of(1), alloc(1, 100)])"
} >"$scratch/here.py"
plants "two modules" <"$scratch/here.py"
json_is "$names" "[('inner', 'planted.c', 3), ('outer', 'planted.c', 7), ('inner', 'planted.c', 3), ('outer', 'planted.c', 7)]" \
	"have the names of each"
exits 0 "without addr2line" env PATH="$scratch/path" "$report" --json "$recording"
json_is "$names" "[(None, None, None), (None, None, None)]" "nothing has names"
is "$(cat "$scratch/err")" \
	"gpumem-report: functions are shown as addresses: addr2line: it is not installed (Debian's binutils)" \
	"which is told once"
mv "$scratch/one" "$recording"
# answers NAME ANSWER NAMES: an addr2line that says that
answers()
{
	rm -f "$scratch/path/addr2line"
	printf "#!/bin/sh\nprintf '%s'\n" "$2" >"$scratch/path/addr2line"
	chmod +x "$scratch/path/addr2line"
	exits 0 "$1" env PATH="$scratch/path" "$report" --json "$recording"
	json_is "$names" "$3" "is taken for what it is"
}
offset=0x$(nm "$so" | awk '$3 == "planted" { print $1 }' |
	python3 -c 'print("%016x" % (int(input(), 16) - 1))')
nothing="[(None, None, None), (None, None, None)]"
answers "no answer" '' "$nothing"
answers "another's answer" '0x1\nf\nx.c:3\n' "$nothing"
answers "half an answer" "$offset\\nf\\n" "$nothing"
answers "two answers" "$offset\\nf\\nx.c:3\\n$offset\\ng\\ny.c:4\\n" \
	"[('f', 'x.c', 3), (None, None, None)]"
answers "a discriminator" "$offset\\nf\\nx:y.c:3 (discriminator 7)\\n" \
	"[('f', 'x:y.c', 3), (None, None, None)]"
answers "no line" "$offset\\nf\\nx.c:?\\n" \
	"[('f', 'x.c', None), (None, None, None)]"
answers "no function" "$offset\\n??\\nx.c:99999999999999999999\\n" \
	"[(None, 'x.c', None), (None, None, None)]"
answers "no text" "$offset\\n\\377\\n??:0\\n" \
	"[('\\\\xff', None, None), (None, None, None)]"
printf '#!/bin/sh\nexit 1\n' >"$scratch/path/addr2line"
exits 0 "one that fails" env PATH="$scratch/path" "$report" --json "$recording"
json_is "$names" "$nothing" "names nothing"

# What a module's file can be instead. Each is asked for under its path.
printf '#!/bin/sh\nmkdir "%s/asked"\n' "$scratch" >"$scratch/path/addr2line"
# other NAME: nothing is asked of $scratch/other
other()
{
	here "sys.argv[2] + '/other'" >"$scratch/here.py"
	{
		cat "$scratch/write.py" "$scratch/here.py"
	} >"$scratch/planted.py"
	python3 "$scratch/planted.py" "$recording" "$scratch"
	exits 0 "$1" env PATH="$scratch/path" "$report" --json "$recording"
	json_is "$names" "$nothing" "has no names"
	check "and is not asked for" test ! -d "$scratch/asked"
	rm -rf "$scratch/other" "$scratch/asked"
}

other "a file that is not there"
mkdir "$scratch/other"
other "a folder"
mkfifo "$scratch/other"
other "a pipe"
: >"$scratch/other"
other "an empty file"
head -c 70 "$so" >"$scratch/other"
other "an ELF file that is cut off"
# spoilt OFFSET BYTES: the module with other bytes there
spoilt()
{
	cp "$so" "$scratch/other"
	printf "$2" | dd of="$scratch/other" bs=1 seek="$1" conv=notrunc \
		2>"$scratch/err"
}
spoilt 0 'x'
other "a file of another kind"
spoilt 4 '\001'
other "an ELF file of 32 bits"
spoilt 32 '\377\377\377\377\377\377\377\377'
other "headers beyond the end of all numbers"
spoilt 56 '\000\000'
other "no headers"
python3 - "$so" "$scratch/other" <<'END'
import struct, sys
elf = bytearray(open(sys.argv[1], 'rb').read())
headers, = struct.unpack_from('=Q', elf, 32)
for at in range(headers, headers + 56 * elf[56], 56):
    elf[at + 4] &= ~1
open(sys.argv[2], 'wb').write(elf)
END
other "no code"
spoilt 54 '\001\000'
other "headers of another size"
cp "$so" "$scratch/other"
here "'other'" >"$scratch/here.py"
plants "a path that is not absolute" <"$scratch/here.py"
is "$(cd "$scratch" && "$report" --json "$recording" | grep -c inner)" 0 \
	"is not looked for"
cp "$so" "$scratch/other"
here "sys.argv[2] + '/other'" >"$scratch/here.py"
plants "this test can fail" <"$scratch/here.py"
exits 0 "a module" env PATH="$scratch/path" "$report" --json "$recording"
check "is asked for" test -d "$scratch/asked"

# ---- a program ----------------------------------------------------------------------

library=$top_builddir/.libs
if [ ! -f "$library/libgpumem.so" ]; then
	skip "there is no $library/libgpumem.so" "a program"
	done_testing
fi
cat >"$scratch/leak.c" <<'END'
#include <gpumem/gpumem.h>
static gpumem_pool *pool;
static inline __attribute__((always_inline)) void *inner(void)
{
	void *block = NULL;
	if (gpumem_alloc(pool, 5000, NULL, &block) != GPUMEM_OK)
		return NULL;
	return block;
}
__attribute__((noinline)) static void *outer(void)
{
	return inner();
}
int main(void)
{
	gpumem_device *device;
	if (gpumem_device_open(NULL, &device) != GPUMEM_OK ||
	    gpumem_device_pool(device, &pool) != GPUMEM_OK)
		return 1;
	return outer() == NULL;
}
END
check "a program compiles" $CC $SANITIZE_CFLAGS -g -O1 -I"$top_srcdir/include" \
	-o "$scratch/leak" "$scratch/leak.c" -L"$library" -lgpumem \
	-Wl,-rpath,"$library"
rm -f "$recording"
exits 0 "and runs" env GPUMEM_BACKEND=host \
	GPUMEM_CONF="record:$recording,record_max:1MiB,track:on" "$scratch/leak"
exits 0 "it leaks" "$report" --json "$recording"
json_is "[(f['function'], f['file'].split('/')[-1], f['line'])
	for f in d['end']['stacks'][0]['frames'][:3]],
	d['end']['stacks'][0]['bytes'], d['end']['largest'][0]['stack']" \
	"([('inner', 'leak.c', 6), ('outer', 'leak.c', 12), ('main', 'leak.c', 20)], 5000, 0)" \
	"where it does"
is "$(chrome "$recording" | sed "s|at [^']*/leak|at leak|g" |
	grep -o "^.('alloc', 5000, .\('[^']*', \)\{3\}")" \
	"[('alloc', 5000, ['inner at leak.c:6', 'outer at leak.c:12', 'main at leak.c:20', " \
	"also as Chrome's JSON"

done_testing
