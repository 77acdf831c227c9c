#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# A snapshot of PyTorch's that is larger than the memory that the tools may have: they
# hold what they know of it, not what it says. It is made up here.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool trace
need_tool replay
need_tool report
have_python || skip_all "there is no python3"
[ "${SANITIZER:-none}" = none ] ||
	skip_all "a sanitizer takes more addresses than there may be"

# 500 stacks of 200 frames, as PyTorch writes them: a list for each allocation, and
# one for both entries of its free.
cat >"$scratch/large.py" <<'END_OF_PYTHON'
import sys

path, most = sys.argv[1], int(sys.argv[2]) << 20
known = {}


def remember(data, key):
    known[key] = len(known)
    return data + b'\x94'


def again(key):
    return b'j' + known[key].to_bytes(4, 'little')


def text(word):
    if word in known:
        return again(word)
    return remember(b'\x8c' + bytes([len(word)]) + word.encode(), word)


def number(value):
    return b'\x8a\x08' + value.to_bytes(8, 'little')


def frame(i):
    return (remember(b'}', i) + b'(' + text('filename') +
            text(f'layer{i % 30}.py') + text('line') + number(i) +
            text('name') + text(f'forward{i}') + b'u')


begin = [b'\x80\x04' + remember(b'}', 'root') + b'(' + text('allocator_settings') +
         remember(b']', 'kept') + b'(']
begin += [frame(i) for i in range(200)]
begin += [text(word) for word in ('action', 'alloc', 'free_requested', 'addr', 'size',
                                  'free_completed', 'time_us', 'frames')]
begin += [b'e' + text('device_traces') + remember(b']', 'devices') +
          remember(b']', 'entries')]
stacks = [b'(' + b''.join(again((i * k + k) % 200) for k in range(200)) + b'e'
          for i in range(500)]


def entry(i, action, frames):
    return (remember(b'}', (i, action)) + b'(' + text('action') + text(action) +
            text('addr') + number((1 << 40) + i % 1000 * 4096) + text('size') +
            number(1000) + text('time_us') + number(1 << 50 | i) + text('frames') +
            frames() + b'u')


def allocated_and_freed(i):
    first = entry(i, 'alloc', lambda: remember(b']', (i, 0)) + stacks[i % 500])
    second = entry(i, 'free_requested',
                   lambda: remember(b']', (i, 1)) + stacks[i * 7 % 500])
    return first + second + entry(i, 'free_completed', lambda: again((i, 1)))


with open(path, 'wb') as out:
    out.write(b''.join(begin))
    i = 0
    while out.tell() < most:
        out.write(b'(')
        for i in range(i, i + 300):
            out.write(allocated_and_freed(i))
        out.write(b'e')
        i += 1
    out.write(b'a' + text('segments') + remember(b']', 'segments of') + b'u.')
print(i)
END_OF_PYTHON
large=$scratch/large.pickle
blocks=$(python3 "$scratch/large.py" "$large" 64)
check "there are many blocks" [ "$blocks" -gt 20000 ]

# With 48 MiB of addresses, code and libraries in them.
limited() {
	(
		ulimit -v 49152 && exec "$@"
	)
}

limited "$tools/gpumem-trace" --json "$large" >"$scratch/out"
is $? 0 "gpumem-trace reads 64 MiB with 48"
is "$(value allocations | head -n 1)" "$blocks" "it has all blocks"
limited "$tools/gpumem-trace" --to=trace "$large" >"$scratch/trace"
is $? 0 "so it does where it writes"
is "$(grep -c '^a' "$scratch/trace")" "$blocks" "all of them"
limited "$tools/gpumem-replay" "$large" >"$scratch/replayed" 2>&1
is $? 0 "gpumem-replay does"
gzip -1 "$large"
limited "$tools/gpumem-trace" --to=trace "$large.gz" | cmp -s - "$scratch/trace"
is $? 0 "of what gzip made, too"
head -c 100000 "$large.gz" >"$scratch/cut.gz"
"$tools/gpumem-trace" "$scratch/cut.gz" 2>&1 | grep -q "gzip data ends too early"
is $? 0 "what is cut off is told"
gzip -dc "$large.gz" | "$tools/gpumem-trace" --to=trace - | cmp -s - "$scratch/trace"
is $? 0 "a pipe, which is read once, is held"
done_testing
