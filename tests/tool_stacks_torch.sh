#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The frames of PyTorch's snapshots in gpumem-report, and that gpumem-trace writes them
# as it has read them. The snapshot is written here.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool report
need_tool trace
have_python || skip_all "there is no python3"
report=$tools/gpumem-report
trace=$tools/gpumem-trace

cat >"$scratch/snapshot.py" <<'END'
import pickle, sys
forward = {'filename': '/app/model.py', 'line': 7, 'name': 'forward'}
main = {'filename': '/app/train.py', 'line': 70, 'name': 'main'}
inside = {'filename': '??', 'line': 0, 'name': 'at::empty'}
shared = [inside, forward, main]
us = 1000
def entry(action, address, size, frames):
    global us
    us += 1
    return {'action': action, 'addr': address, 'size': size, 'stream': 0,
            'time_us': us, 'frames': frames}
trace = [
    entry('segment_alloc', 1 << 21, 1 << 21, [main]),
    entry('alloc', 1 << 21, 1 << 20, shared),
    entry('alloc', 3 << 20, 4096, [dict(inside), dict(forward), dict(main)]),
    entry('alloc', 13 << 18, 300, shared),
    # The second time elsewhere, and its free says nothing of it.
    entry('alloc', 14 << 18, 512, [main]),
    entry('free_requested', 14 << 18, 512, shared),
    entry('alloc', 14 << 18, 700, [{'filename': '<i>', 'line': -1, 'name': ''}]),
    # No frames: other types, nothing known, none.
    entry('alloc', 15 << 18, 10, 'frames'),
    entry('alloc', 61 << 16, 11, [3, [], {}, {'name': 5, 'filename': '??'}]),
    entry('alloc', 62 << 16, 12, []),
    entry('alloc', 63 << 16, 13, {'name': 'x'}),
    entry('alloc', 127 << 15, 14, [{'name': '\0x', 'filename': 'y\0'}]),
]
block = {'size': 1024, 'requested_size': 1000, 'state': 'active_allocated',
         'address': 1 << 20, 'frames': [main, {'name': 'no file', 'line': 1 << 40}]}
segment = {'device': 0, 'address': 1 << 20, 'total_size': 1 << 20, 'stream': 0,
           'blocks': [block]}
pickle.dump({'segments': [segment], 'device_traces': [trace]},
            open(sys.argv[1], 'wb'))
END
python3 "$scratch/snapshot.py" "$scratch/snapshot" || fail "a snapshot is written"
lines="[(s['bytes'], s['blocks'], [(f['function'], f['file'], f['line'])
	for f in s['frames']]) for s in d['end']['stacks']]"
known="[(1052972, 3, [('at::empty', None, None), ('forward', '/app/model.py', 7), ('main', '/app/train.py', 70)]), (1000, 1, [('main', '/app/train.py', 70), ('no file', None, None)]), (700, 1, [(None, '<i>', None)])]"
exits 0 "a snapshot" "$report" --json "$scratch/snapshot"
json_is "$lines" "$known" "has the places that it names"
json_is "d['end']['stacks'][0]['frames'][0]" \
	"{'function': 'at::empty', 'file': None, 'line': None, 'module': None, 'offset': None}" \
	"without modules"
json_is "[b['stack'] for b in d['end']['largest']]" \
	"[0, 0, 1, 2, 0, None, None, None, None, None]" "each block by its own"
exits 0 "as text" "$report" "$scratch/snapshot"
is "$(sed -n '/^Live at the end, by where/,/^$/p' "$scratch/out")" \
	"Live at the end, by where it was allocated:
1 MiB (1052972 bytes) in 3 blocks, allocated at
    at::empty
    forward at /app/model.py:7
    main at /app/train.py:70
1000 B (1000 bytes) in 1 block, allocated at
    main at /app/train.py:70
    no file
700 B (700 bytes) in 1 block, allocated at
    ?? at <i>" "it names them"
exits 0 "as a page" "$report" --html "$scratch/snapshot"
check "and there" grep -q '<details><summary>?? at &lt;i&gt;</summary></details>' \
	"$scratch/out"
exits 0 "written again" "$trace" --to=pytorch --output="$scratch/again" \
	"$scratch/snapshot"
exits 0 "and read" "$report" --json "$scratch/again"
json_is "$lines" "$known" "it has the same"
exits 0 "of one that may not tell" "$trace" --to=pytorch --anonymise \
	--output="$scratch/again" "$scratch/snapshot"
exits 0 "nothing" "$report" --json "$scratch/again"
json_is "d['end']['stacks']" "[]" "is told"

done_testing
