#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# PyTorch's snapshots in gpumem-trace, of which something is missing, odd or new: what
# is live and reserved at the end is what the segments say, to the byte. All of them
# are written here, of programs that are made up.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool trace
need_tool replay
need_tool report
have_python || skip_all "there is no python3"
trace=$tools/gpumem-trace

# An allocator that gives the lowest address that is free, and records what it does as
# PyTorch's: `python3 -c "from snapshot import *; ..."`.
cat >"$scratch/snapshot.py" <<'END_OF_PYTHON'
import pickle, random

MB = 1 << 20
BASE = 0x7f0000000000
FRAMES = [{'filename': 'train.py', 'line': 10, 'name': 'step'}]


class Device:
    def __init__(self, base=BASE, segment=20 * MB, number=0):
        self.entries, self.live, self.pending, self.segments = [], {}, {}, {}
        self.base, self.size, self.number = base, segment, number
        self.us, self.step, self.on = 1700000000000000, 10, True
        self.peak = self.peak_reserved = 0

    def add(self, action, addr, size, **more):
        self.us += self.step
        now = sum(n for n, _ in self.live.values())
        self.peak = max(self.peak, now)
        self.peak_reserved = max(self.peak_reserved, self.reserved())
        if self.on:
            self.entries.append({'action': action, 'addr': addr, 'size': size,
                                 'stream': 0, 'time_us': self.us,
                                 'frames': FRAMES, 'pool_id': (0, 0), **more})

    def reserved(self):
        return sum(self.segments.values())

    def place(self, rounded):
        for first in sorted(self.segments):
            at = first
            taken = sorted((a, r) for b in (self.live, self.pending)
                           for a, (_, r) in b.items()
                           if first <= a < first + self.segments[first])
            for address, bytes in taken + [(first + self.segments[first], 0)]:
                if address - at >= rounded:
                    return at
                at = address + bytes
        return None

    def alloc(self, size, **more):
        rounded = (size + 511) // 512 * 512
        at = self.place(rounded)
        if at is None:
            first = self.base
            while first in self.segments:
                first += 64 * MB
            self.segments[first] = max(self.size, rounded)
            self.add('segment_alloc', first, self.segments[first])
            at = first
        self.live[at] = size, rounded
        self.add('alloc', at, size, **more)
        return at

    def free(self, at, later=False, **more):
        self.pending[at] = self.live.pop(at)
        self.add('free_requested', at, self.pending[at][0], **more)
        if not later:
            self.complete(at, **more)

    def complete(self, at, **more):
        size, _ = self.pending.pop(at)
        self.add('free_completed', at, size, **more)

    def empty_cache(self):
        for first in list(self.segments):
            if not any(first <= a < first + self.segments[first]
                       for a in [*self.live, *self.pending]):
                size = self.segments.pop(first)
                self.add('segment_free', first, size)

    def blocks(self, first):
        at, end = first, first + self.segments[first]
        for address in sorted([*self.live, *self.pending, end]):
            if not first <= address <= end:
                continue
            if address > at:
                yield {'address': at, 'size': address - at,
                       'requested_size': 7, 'state': 'inactive', 'frames': []}
            if address == end:
                return
            size, rounded = {**self.live, **self.pending}[address]
            yield {'address': address, 'size': rounded, 'requested_size': size,
                   'state': 'active_allocated' if address in self.live
                   else 'active_awaiting_free', 'frames': FRAMES}
            at = address + rounded

    def at_end(self):
        return [{'device': self.number, 'address': first, 'total_size': size,
                 'allocated_size': 0, 'active_size': 0, 'requested_size': 0,
                 'stream': 0, 'segment_type': 'large', 'segment_pool_id': (0, 0),
                 'is_expandable': False, 'frames': [],
                 'blocks': list(self.blocks(first))}
                for first, size in self.segments.items()]

    def live_bytes(self):
        return sum(size for size, _ in self.live.values())


def snapshot(*devices, **more):
    return {'segments': [s for d in devices for s in d.at_end()],
            'device_traces': [d.entries for d in devices],
            'allocator_settings': {}, 'external_annotations': [], **more}


def write(path, data, protocol=4):
    with open(path, 'wb') as out:
        pickle.dump(data, out, protocol)


# A program of random steps; pauses of the recording with that chance.
def program(seed, steps=300, pause=0.0, base=BASE):
    chance = random.Random(seed)
    device = Device(base=base, segment=chance.choice([2, 4, 20]) * MB)
    for _ in range(steps):
        if chance.random() < pause:
            device.on = not device.on
        what = chance.random()
        if what < 0.5 or not device.live:
            device.alloc(chance.choice([1, 511, 512, 5000, MB, 3 * MB]))
        elif what < 0.9:
            device.free(chance.choice(list(device.live)), chance.random() < 0.3)
        elif what < 0.97 and device.pending:
            device.complete(chance.choice(list(device.pending)))
        else:
            device.empty_cache()
    return device
END_OF_PYTHON
export PYTHONPATH="$scratch" PYTHONDONTWRITEBYTECODE=1
file=$scratch/file

# made CODE: makes the file, and prints what CODE does
made()
{
	python3 -c "from snapshot import *
file = '$file'
$1" || fail "python wrote a snapshot"
}

# figures NAME EXPECTED: peak, live and reserved at the end of the file, and that it
# replays to that peak
figures()
{
	exits 0 "$1" "$trace" --json "$file"
	json_is "d['peak_requested_bytes'], d['live_bytes'], d['reserved_bytes'],
		d['damaged_events']" "($2, 0)" "peak, live, reserved, damaged"
	"$trace" --to=trace -o "$scratch/trace" "$file" 2>"$scratch/err" || return 0
	exits 0 "$1, replayed" "$tools/gpumem-replay" --device=host:0 --json \
		"$scratch/trace"
	json_is "d['peak_requested_bytes']" "${2%%,*}" "the same peak"
}

# ---- addresses ----------------------------------------------------------------------

small="
device = Device(base=base)
blocks = [device.alloc(MB) for _ in range(4)]
for block in blocks[:3]:
    device.free(block)
data = snapshot(device)"
for protocol in 2 3 4 5; do
	made "base = 0xffff81ffabe00000$small
write(file, data, $protocol)"
	figures "addresses above 2^63, protocol $protocol" \
		"$((4 << 20)), $((1 << 20)), $((20 << 20))"
	"$trace" --to=pytorch -o "$scratch/again" "$file"
	is "$(python3 -c "import pickle
for segment in pickle.load(open('$scratch/again', 'rb'))['segments']:
    for block in segment['blocks']:
        if block['state'] != 'inactive':
            print(hex(block['address']))")" 0xffff81ffac100000 "written as it is"
	made "base = 0xffff81ffabe00000 - (1 << 64)$small
write(file, data, $protocol)"
	figures "the same with a sign" "$((4 << 20)), $((1 << 20)), $((20 << 20))"
done
made "base = (1 << 64) - 20 * MB$small
write(file, data)"
figures "the last addresses that there are" \
	"$((4 << 20)), $((1 << 20)), $((20 << 20))"
made "base = BASE$small
del device.entries[1]['addr']
device.entries[2]['addr'] = 1 << 80
write(file, data)"
exits 0 "without addresses" "$trace" --json "$file"
json_is "d['damaged_events'], d['live_bytes']" "(2, $((1 << 20)))" \
	"such entries are damaged"

# ---- what was not recorded ----------------------------------------------------------

# Each set of actions that skip_actions can have. Without one of the two of a free,
# nothing is missing; without more, the end is still right.
made "
import itertools, json, subprocess
names = ['alloc', 'free_requested', 'free_completed', 'segment_alloc',
         'segment_free']
wrong = 0
for seed in range(4):
    device = program(seed)
    for block in list(device.pending):
        device.complete(block)
    for length in range(len(names) + 1):
        for skipped in itertools.combinations(names, length):
            data = snapshot(device)
            data['device_traces'] = [[e for e in device.entries
                                      if e['action'] not in skipped]]
            write(file, data)
            d = json.loads(subprocess.check_output(['$trace', '--json', file]))
            at_end = d['live_bytes'], d['reserved_bytes']
            right = at_end == (device.live_bytes(), device.reserved())
            blocks = {'alloc', 'free_requested', 'free_completed'} & {*skipped}
            if len(blocks) == 0 or blocks == {'free_completed'}:
                right &= d['peak_requested_bytes'] == device.peak
            if not {'segment_alloc', 'segment_free'} & {*skipped}:
                right &= d['peak_reserved_bytes'] == device.peak_reserved
            if not right:
                wrong += 1
                print(seed, skipped, d['peak_requested_bytes'], device.peak,
                      at_end, device.live_bytes(), device.reserved())
print(wrong)" >"$scratch/out"
is "$(cat "$scratch/out")" 0 "whatever skip_actions leaves out"

for skipped in free_requested free_completed; do
	made "
device = Device(segment=400 * MB)
for i in range(100):
    device.free(device.alloc(4 * MB))
data = snapshot(device)
data['device_traces'][0] = [e for e in device.entries
                            if e['action'] != '$skipped']
write(file, data)"
	figures "steps without $skipped" "$((4 << 20)), 0, $((400 << 20))"
done

made "
device = Device()
device.alloc(10 * MB)
first = device.alloc(2 * MB)
device.on = False
for block in list(device.live):
    device.free(block)
device.alloc(2 * MB)
device.on = True
device.alloc(4 * MB)
device.on = False
device.free(min(device.live))
write(file, snapshot(device))"
figures "a pause" "$((12 << 20)), $((4 << 20)), $((20 << 20))"
exits 0 "in words" "$trace" "$file"
check "says that ends are missing" \
	grep -q "2 blocks have no end, but their memory" "$scratch/out"

made "
device = Device()
device.alloc(10 * MB)
device.on = False
device.free(min(device.live))
device.empty_cache()
device.on = True
write(file, snapshot(device))"
figures "all is given back in a pause" "$((10 << 20)), 0, 0"

made "
import json, subprocess
wrong = 0
for seed in range(60):
    device = program(seed, pause=0.04)
    write(file, snapshot(device))
    d = json.loads(subprocess.check_output(['$trace', '--json', file]))
    if (d['live_bytes'], d['reserved_bytes'], d['damaged_events'],
        d['unknown_events']) != (device.live_bytes(), device.reserved(), 0, 0):
        wrong += 1
        print(seed, d['live_bytes'], device.live_bytes(), d['reserved_bytes'],
              device.reserved())
print(wrong)" >"$scratch/out"
is "$(cat "$scratch/out")" 0 "whatever pauses leave out"

# ---- times --------------------------------------------------------------------------

made "
device = Device()
for i in range(10):
    block = device.alloc(2 * MB)
    device.step = -5
    device.free(block)
    device.step = 100
write(file, snapshot(device))"
figures "stamps that run backwards" "$((2 << 20)), 0, $((20 << 20))"
made "
device = program(3)
peak = device.peak
for entry in device.entries:
    entry['time_us'] = random.choice([0, 5, 1 << 62, -4, 1 << 70, 'x'])
write(file, snapshot(device))
print(peak, device.live_bytes(), device.reserved(), sep=', ')" >"$scratch/expected"
figures "stamps of no use" "$(cat "$scratch/expected")"

# ---- PyTorch 2.0 --------------------------------------------------------------------

made "
device = program(5)
data = snapshot(device)
for entry in device.entries:
    del entry['time_us'], entry['pool_id']
for segment in data['segments']:
    del segment['segment_pool_id'], segment['is_expandable']
    for block in segment['blocks']:
        del block['address']
        block['history'] = [{'addr': 0, 'real_size': block['requested_size'],
                             'frames': block.pop('frames')}]
        del block['requested_size']
        block['state'] = block['state'].replace('awaiting', 'pending')
write(file, data, 2)
print(device.peak, device.live_bytes(), device.reserved(), sep=', ')" \
	>"$scratch/expected"
figures "without times, addresses of blocks and requested sizes" \
	"$(cat "$scratch/expected")"

# ---- what waits to be freed ---------------------------------------------------------

made "
device = Device()
device.free(device.alloc(3 * MB), later=True)
device.alloc(2 * MB)
write(file, snapshot(device))"
figures "a block that waits" "$((3 << 20)), $((2 << 20)), $((20 << 20))"
made "
device = Device()
block = device.alloc(3 * MB)
device.free(block, later=True)
device.entries.clear()
device.complete(block)
device.free(device.alloc(MB))
write(file, snapshot(device))"
figures "one that waited before" "$((1 << 20)), 0, $((20 << 20))"

# ---- pinned memory ------------------------------------------------------------------

host="
device, host = Device(), Device(base=BASE + (1 << 40), segment=8 * MB)
device.alloc(MB)
host.free(host.alloc(5 * MB))
host.alloc(8 * MB)"
for lists in '[host.entries]' host.entries; do
	made "$host
write(file, snapshot(device, host_segments=host.at_end(), host_traces=$lists))"
	figures "pinned memory, $lists" \
		"$((9 << 20)), $((9 << 20)), $((28 << 20))"
	exits 0 "in short" "$trace" --json "$file"
	json_is "[(p['number'], p['kind'], p['live_bytes'], p['reserved_bytes'])
		for p in d['pools']]" \
		"[(1, None, $((1 << 20)), $((20 << 20))), (65, 'pinned', $((8 << 20)), $((8 << 20)))]" \
		"is a pool"
	"$trace" --to=pytorch -o "$scratch/again" "$file"
	exits 0 "written again" "$trace" --json "$scratch/again"
	json_is "[(p['number'], p['kind'], p['live_bytes'])
		for p in d['pools']]" \
		"[(1, None, $((1 << 20))), (65, 'pinned', $((8 << 20)))]" \
		"it is one as well"
done
# first_line TEXT: it is in what stands first in $scratch/out, which is wrapped where
# the path of the file makes it too long
first_line()
{
	sed '/^$/q' "$scratch/out" | tr '\n' ' ' | grep -q "$1"
}

made "$host
write(file, {'segments': [], 'device_traces': [],
             'host_segments': host.at_end(), 'host_traces': host.entries})"
figures "pinned memory alone" "$((8 << 20)), $((8 << 20)), $((8 << 20))"
exits 0 "in words" "$trace" "$file"
check "of its time" first_line "allocator, 2023-11-14"
check "and kind" grep -qE "^ +65 +- +- +pinned " "$scratch/out"
made "write(file, {'segments': [], 'device_traces': []})"
exits 0 "nothing" "$trace" "$file"
check "has no date" first_line "allocator, 0.00 ns: 0 events"

# ---- names --------------------------------------------------------------------------

# tags: of the blocks that are live at the end, with their sizes
tags()
{
	"$trace" --to=trace "$file" | LC_ALL=C awk '$1 == "g" { tag = substr($0, 3) }
		$1 == "a" { printf "%d %s,", $3, tag }'
}

made "
device = Device()
early = device.alloc(100)
device.entries.clear()
one, two = device.alloc(200), device.alloc(300, user_metadata='mine')
device.add('annotate', early, 0, user_metadata='early')
device.add('annotate', one, 0, user_metadata='kv_cache')
device.add('annotate', two, 0, user_metadata='')
device.add('annotate', two + 1, 0, user_metadata='inside')
device.free(one)
device.alloc(201)
del device.entries[2]['size']
write(file, snapshot(device))"
is "$(tags)" "100 early,200 kv_cache,300 mine,201 ," \
	"an annotation is the tag of the live block"

made "
device = Device()
block = device.alloc(8 * MB, internal_metadata='mallocWithAddress')
device.alloc(4 * MB)
device.free(block, internal_metadata='mallocWithAddress')
write(file, snapshot(device))"
figures "what PyTorch allocates for itself counts, as it does there" \
	"$((12 << 20)), $((4 << 20)), $((20 << 20))"
is "$(tags)" "8388608 mallocWithAddress,4194304 ," "and has a name"

# ---- what is new --------------------------------------------------------------------

made "
device = program(7)
right = device.peak, device.live_bytes(), device.reserved()
for entry in device.entries:
    entry['colour'] = 'red'
device.add('defragment', BASE, 5 * MB)
device.add('teleport', None, -5)
data = snapshot(device, galaxies=[1])
data['segments'][0]['blocks'][0]['shade'] = 1
data['segments'][0]['depth'] = 1
for segment in data['segments']:
    for block in segment['blocks']:
        if block['state'] == 'active_allocated':
            block['state'] = 'active\nhappy'
write(file, data)
print(*right, sep=', ')" >"$scratch/expected"
figures "new keys, actions and states" "$(cat "$scratch/expected")"
exits 0 "in short" "$trace" --json "$file"
json_is "sorted(d['unknown_names'])" \
	"['action \"defragment\"', 'action \"teleport\"', 'key \"colour\"', 'key \"depth\"', 'key \"galaxies\"', 'key \"shade\"', 'state \"active\\nhappy\"']" \
	"names them"
exits 0 "in words" "$trace" "$file"
is "$(tr '\n' ' ' <"$scratch/out" |
	grep -c ' Not known, and left out: .*action "teleport".*key "galaxies"')" \
	1 "too"

made "
devices = [Device(base=BASE + (i << 36), number=i) for i in range(65)]
devices[64].alloc(5)
write(file, snapshot(*devices))"
exits 1 "more devices than there can be" "$trace" "$file"
is "$(cat "$scratch/err")" "gpumem-trace: $file: more than 64 devices" "says so"

done_testing
