#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What gpumem-report says of addresses that have memory is what a count of the same
# recording by other means says, moment by moment: of replays whose pages move, and of
# files that lie.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool report
need_tool trace
need_tool replay
have_python || skip_all "there is no python3"
report=$tools/gpumem-report
trace=$tools/gpumem-trace
replay=$tools/gpumem-replay

# Writes a recording: events of one thread, (kind, tag, value, ...), each of a kind
# that is known a nanosecond later.
cat >"$scratch/write.py" <<'END'
import random, struct

LIVE, ALLOC, FREE, POOL, END, GROW = 16, 17, 18, 32, 33, 34
OOM, MAP, UNMAP = 41, 44, 45
MIB = 1 << 20

def block(kind, address, size):
    return (kind, 0, address // 256 << 24 | size)

def write(name, events):
    data = struct.pack('=QQQII4Q', 1, 1, 1, 1, 0, 0, 0, 0, 0)
    data += struct.pack('=IHBBQ', 0, 0, 1, 0, 1)
    pool, time = None, 0
    for where, (kind, tag, *values) in events:
        time += kind <= UNMAP
        if where != pool:
            pool = where
            data += struct.pack('=IHBBQ', 0, pool, 2, 0, 0)
        for i, value in enumerate(values):
            data += struct.pack('=IHBBQ', time, tag, 6 if i else kind, 0,
                                value % 2 ** 64)
    room = (len(data) + 63) // 64 * 64
    head = struct.pack('=16sIIIIQQQII8Q64s32s', b'gpumem recording', 1, 0x01020304,
                       256, room, 256, 1, 0, 0, 1, 1, 1, 0, 10 ** 9, 10 ** 9, 0, 0,
                       0, b'lies', b'0')
    with open(name, 'wb') as out:
        out.write(head.ljust(256, b'\0') + data.ljust(room, b'\0'))

def example():
    a, page = 1 << 40, 2 * MIB
    yield POOL, 0, 0
    yield GROW, 0, 3 * page, 3 * page
    yield MAP, 0, a, page, 7, 0
    yield MAP, 0, a + page, 2 * page, 8, 0
    yield block(ALLOC, a, 1 * MIB)
    yield block(FREE, a, 1 * MIB)
    yield MAP, 0, a + 8 * page, page, 7, a
    yield block(ALLOC, a + 8 * page, 2 * MIB)
    yield UNMAP, 0, a + page, 2 * page
    yield MAP, 0, a + 9 * page, 2 * page, 8, a + page
    yield UNMAP, 0, a, page

def lies(seed):
    pick = random.Random(seed)
    unit = pick.choice((256, 4096, 2 * MIB))
    addresses = [unit * i for i in range(1, 24)] + \
        [(1 << 48) - unit, (1 << 48) + unit, (1 << 64) - unit, (1 << 64) - 1, 0, 77]
    sizes = [unit] * 4 + [2 * unit, 5 * unit, 0, 1, 1 << 48, 1 << 62, (1 << 64) - 1]
    live = {}
    yield 1, (POOL, 0, 0)
    for i in range(pick.choice((60, 400))):
        pool, what = pick.choice((1, 1, 2)), pick.random()
        at, size = pick.choice(addresses), pick.choice(sizes)
        if what < .5:
            event = (MAP, 0, at, size, pick.randrange(6), pick.choice(addresses + [0] * 9))
            yield pool, event[:pick.choice((6, 6, 6, 5, 4))]
        elif what < .75:
            yield pool, (UNMAP, 0, at, size)[:pick.choice((4, 4, 4, 3))]
        elif what < .77:
            live = {k: v for k, v in live.items() if k[0] != pool}
            yield pool, (END, 0, pool)
        elif (pool, i % 7) in live:
            yield pool, live.pop((pool, i % 7))
        else:
            at = (pool * 7 + i % 7) << 12
            live[pool, i % 7] = block(FREE, at, 99 + i)
            yield pool, block(ALLOC, at, 99 + i)
END

# Reads a recording, and compares what it has with the JSON and the page of it.
cat >"$scratch/compare.py" <<'END'
import base64, json, re, struct, sys

LIVE, ALLOC, FREE, POOL, END, MAP, UNMAP = 16, 17, 18, 32, 33, 44, 45
TOP = 1 << 48

def events(data):
    start, room, at, count = struct.unpack_from('=IIQQ', data, 24)
    chunks = []
    for i in range(count):
        if at + room > len(data):
            break
        sequence = struct.unpack_from('=Q', data, at)[0]
        if sequence:
            chunks.append((sequence, data[at + 64:at + room]))
        at += room
    for _, chunk in sorted(chunks):
        found, pool, huge = None, 0, 0
        for _, tag, kind, high, value in struct.iter_unpack('=IHBBQ', chunk):
            if kind == 6 and found:
                found[2].append(value)
            elif kind == 2:
                pool = tag
            elif kind == 4:
                huge = value
            elif not kind:
                break
            elif kind >= 16:
                if found:
                    yield found
                found = (kind, pool, [value], huge or high << 24 | value & 0xffffff)
                huge = 0
        if found:
            yield found

class Places:
    def __init__(self):
        self.live, self.pages, self.count, self.ever = [], {}, 0, {}

    def drop(self, pool, begin, end):
        self.live = [p for p in self.live
                     if p[0] != pool or p[2] <= begin or p[1] >= end]

    def add(self, kind, pool, value):
        at, size, number, origin = (value + [0] * 4)[:4]
        if kind == END:
            self.drop(pool, 0, 1 << 65)
        elif kind == UNMAP and size:
            self.drop(pool, at, at + size)
        elif kind == MAP and size and at + size <= TOP:
            self.drop(pool, at, at + size)
            key = pool, number, size
            old = self.pages.get(key)
            self.count += 1
            if not origin or all(p[3] != old for p in self.live if old):
                old = self.pages[key] = self.count
            page = (old or self.count) if number else None
            self.live.append((pool, at, at + size, page))
            self.ever.setdefault(pool, []).append((at, at + size))

    def sums(self):
        size = sum(end - begin for _, begin, end, _ in self.live)
        paged = [p for p in self.live if p[3] is not None]
        pages = {p[3]: p[2] - p[1] for p in paged}
        return size, sum(p[2] - p[1] for p in paged) - sum(pages.values())

    def all(self):
        total = 0
        for ranges in self.ever.values():
            high = 0
            for begin, end in sorted(ranges):
                total += max(0, end - max(begin, high))
                high = max(high, end)
        return total

def numbers(text):
    number = shift = 0
    for byte in base64.b64decode(text, validate=True):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0

def drawn(page):
    """What the page's own events come to, after each."""
    found = dict(re.findall('id="(map-[a-z]+)">(.*?)</script>', page, re.S))
    if not found:
        return
    info, rest = json.loads(found['map-data']), numbers(found['map-events'])
    kind = {key: row[0] for key, row in info['kinds'].items()}
    places, live = [], {}
    for _ in range(info['events']):
        next(rest)
        what = next(rest)
        if what in (MAP, UNMAP, END):
            for back in iter(lambda: next(rest), 0):
                del live[len(places) - back]
            size = next(rest) if what == MAP else 0
            if size:
                unit, twin, origin = (next(rest) for _ in range(3))
                assert 0 <= unit < info['end'] and origin <= info['end']
                page = places[-twin] if twin else len(places)
                live[len(places)] = size, page
                places.append(page)
        else:
            for _ in range({ALLOC: 4, LIVE: 4, kind['resize']: 2,
                            kind['use']: 0}.get(what, 1)):
                next(rest)
        size = sum(s for s, _ in live.values())
        yield size, size - sum({p: s for s, p in live.values()}.values())
    assert next(rest, None) is None and len(places) == info['places']

data, d = open(sys.argv[1], 'rb').read(), json.load(open(sys.argv[2]))
page = drawn(open(sys.argv[3]).read())
places, moments, blocks = Places(), [(0, 0)], {}
for kind, pool, value, size in events(data):
    if kind in (ALLOC, LIVE):
        blocks[pool, value[0] >> 24] = size
    elif kind == FREE:
        del blocks[pool, value[0] >> 24]
    elif kind == END:
        # The blocks that it still has end with events of their own.
        ends = [key for key in blocks if key[0] == pool]
        moments += moments[-1:] * len(ends)
        for key in ends:
            del blocks[key]
    places.add(kind, pool, value)
    moments.append(places.sums())
known = places.count > 0
assert d['events'] + 1 == len(moments), (d['events'], len(moments))
assert d['damaged_events'] == 0, d['damaged_events']
for m in 'peak', 'end':
    said = [d[m][k] for k in ('mapped_bytes', 'twice_mapped_bytes', 'hole_bytes')]
    size, twice = moments[d[m]['event']]
    assert said == ([size, twice, places.all() - size] if known
                    else [None] * 3), (m, said, size, twice)
assert list(page) == moments[1:]
print(*(d['peak'][k] for k in ('mapped_bytes', 'twice_mapped_bytes', 'hole_bytes')))
END

# mapped NAME RECORDING [EXPECTED]: of the report, and what was at the peak
mapped()
{
	exits 0 "$1: the page" "$report" -o "$scratch/page.html" "$2"
	exits 0 "$1: the numbers" "$report" --json "$2"
	python3 "$top_srcdir/tests/recording_first.py" "$2" "$scratch/first"
	said=$(python3 "$scratch/compare.py" "$scratch/first" "$scratch/out" \
		"$scratch/page.html" 2>&1 | tail -n 1)
	if [ $# -eq 3 ]; then
		is "$said" "$3" "$1: what is mapped, twice, and holes"
	else
		check "$1: agree ($said)" matches '^[0-9N]' "$said"
	fi
}

matches()
{
	echo "$2" | grep -qE "$1"
}

# made NAME PYTHON: a recording of those events
made()
{
	rm -f "$scratch/$1"
	(cd "$scratch" && python3 -B -c "from write import *
write('$1', $2)")
}

# ---- a small file -----------------------------------------------------------------

made small "[(1, e) for e in example()]"
mapped "a page that moves, and one that is lent" "$scratch/small" \
	"$((8 << 20)) $((2 << 20)) $((4 << 20))"
json_is "[(d['end'][k]) for k in ('mapped_bytes', 'twice_mapped_bytes',
	'hole_bytes')]" "[$((6 << 20)), 0, $((6 << 20))]" "and at the end"
exits 0 "in words" "$report" "$scratch/small"
is "$(sed -n '/^addresses/,/^$/p' "$scratch/out" | tr -s ' ' | tr '\n' ,)" \
	"addresses mapped mapped twice holes,peak 8 MiB 2 MiB 4 MiB,end 6 MiB 0 B 6 MiB,," \
	"too"
check "the page explains its marks" grep -q 'class="key twice"' \
	"$scratch/page.html"
exits 0 "the events are counted" "$trace" --json "$scratch/small"
json_is "d['kinds']['map'], d['kinds']['unmap'], d['damaged_events']" \
	"(4, 2, 0)" "by kind"

# A reader skips what it does not know, with all its numbers.
made later "[x for e in example() for x in ((1, e), (1, (200, 0, 1, 2)),
	(1, (255, 3, 1 << 63, 7, 7, 7, 7)))]"
"$report" --json "$scratch/small" >"$scratch/first"
"$report" --json "$scratch/later" >"$scratch/second"
is "$(diff "$scratch/first" "$scratch/second" | grep -c '^>')" 1 \
	"kinds of a later version change nothing but the file's name"

# An older one has no such events.
made older "[(1, e) for e in example() if e[0] not in (MAP, UNMAP)]"
mapped "an older recording" "$scratch/older" "None None None"
exits 0 "in words" "$report" "$scratch/older"
is "$(grep -c '^addresses' "$scratch/out")" 0 "says nothing of it"
check "the page says that it is not known" grep -q \
	'Whether memory is mapped there the file does not say' \
	"$scratch/page.html"

# Blocks that a program has of the driver itself are of no pool.
made native "[(1, e) for e in ((POOL, 0, 0), block(ALLOC, 1 << 40, 1 * MIB),
	block(ALLOC, 1 << 41, 2 * MIB), (OOM, 0, 1 << 40, -2, 0),
	block(FREE, 1 << 40, 1 * MIB))]"
mapped "without a pool" "$scratch/native" "None None None"
json_is "d['most_unreleasable'], [[d[m][k] for k in ('reserved_bytes',
	'unused_bytes', 'unreleasable_bytes')] for m in ('peak', 'end')],
	[o['reserved_bytes'] for o in d['out_of_memory']]" \
	"(None, [[None, None, None], [None, None, None]], [None])" \
	"there are no pages that a pool could not give back"
exits 0 "in words" "$report" "$scratch/native"
is "$(sed -n '/^moment/,/^$/p' "$scratch/out" | sed 1d | tr -s ' ' |
	cut -d' ' -f1,5-9 | tr '\n' ,)" "peak 3 MiB - - -,end 2 MiB - - -,," \
	"nor is there a word of them"
is "$(grep -cE 'most unreleasable|pages of 2 MiB|class="pages"|mapped a second' \
	"$scratch/page.html")" 0 "nor in the page"
check "the map is there all the same" grep -q 'id="map-data"' \
	"$scratch/page.html"
exits 0 "two such runs" "$report" --json "$scratch/native" "$scratch/native"
json_is "d['first']['most_unreleasable_bytes'],
	d['second']['most_unreleasable_bytes']" "(None, None)" "neither"

# ---- lies -------------------------------------------------------------------------

for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	made lies "list(lies($seed))"
	mapped "lies $seed" "$scratch/lies"
	for to in trace chrome pytorch; do
		exits 0 "lies $seed to $to" "$trace" --to=$to -o "$scratch/to" \
			"$scratch/lies"
	done
done

# ---- replays ----------------------------------------------------------------------

# Blocks of growing size, so that free memory in pieces has to be put together.
awk 'BEGIN {
	for (round = 0; round < 30; round++) {
		for (i = 0; i < 20; i++)
			print "a", round * 100 + i, 1500000 * (1 + (i + round) % 9), 0
		for (i = 0; i < 20; i += 2)
			print "f", round * 100 + i
		for (i = 0; i < 5; i++)
			print "a", round * 100 + 50 + i, 20000000, 0
		for (i = 1; i < 20; i += 2)
			print "f", round * 100 + i
		for (i = 0; i < 5; i++)
			print "f", round * 100 + 50 + i
	}
}' >"$scratch/program"

# replayed NAME CONF: the program, 40 events behind, while it is recorded
replayed()
{
	rm -f "$scratch/recording"
	exits 0 "$1" with "record:$scratch/recording,record_max:16MiB$2" \
		"$replay" --device=host:0 --lag=40 "$scratch/program"
	mapped "$1" "$scratch/recording"
	exits 0 "$1: the numbers" "$report" --json "$scratch/recording"
	json_is "0 < d['peak']['mapped_bytes'] -
		d['peak']['twice_mapped_bytes'] <= d['peak']['reserved_bytes']" \
		True "of memory there is no more than was reserved"
}

replayed "pages that move" ""
json_is "d['most_unreleasable']['twice_mapped_bytes'] > 0 or
	d['peak']['twice_mapped_bytes'] > 0" True "some of them twice"
replayed "segments" ",vm:off"
json_is "d['peak']['twice_mapped_bytes'], d['peak']['mapped_bytes'] ==
	d['peak']['reserved_bytes']" "(0, True)" "have one place each"

done_testing
