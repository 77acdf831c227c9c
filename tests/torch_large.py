#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Writes a snapshot of any size, as PyTorch's _dump_snapshot() pickles one: each event
# once for the device, a key of a dictionary by its number after the first time, and the
# list of frames of a free in both of its entries. It is made up, and not held in
# memory. Prints how many blocks it has.

import argparse
import random

FRAMES = 200

parser = argparse.ArgumentParser(description='Write a snapshot as PyTorch pickles it.')
parser.add_argument('file')
parser.add_argument('mib', type=int, help='about how large it becomes')
parser.add_argument('--depth', type=int, default=0, help='frames of a stack (0: none)')
parser.add_argument('--stacks', type=int, default=500,
                    help='different ones (0: each is another)')
parser.add_argument('--live', type=int, default=1000, help='blocks live at a time')
parser.add_argument('--again', type=int, default=1,
                    help='blocks that an address has, one after the other, before '
                         'the addresses go on (0: the same ones for ever)')
options = parser.parse_args()
known = {}
unnamed = 0


def remember(data, key=None):
    """The pickle numbers it; without a key it is not named again."""
    global unnamed
    if key is None:
        unnamed += 1
    else:
        known[key] = len(known) + unnamed
    return data + b'\x94'


def again(key):
    number = known[key]
    return (b'h' + number.to_bytes(1, 'little') if number < 256 else
            b'j' + number.to_bytes(4, 'little'))


def text(word):
    if word in known:
        return again(word)
    return remember(b'\x8c' + bytes([len(word)]) + word.encode(), word)


def number(value):
    if value < 1 << 8:
        return b'K' + value.to_bytes(1, 'little')
    if value < 1 << 16:
        return b'M' + value.to_bytes(2, 'little')
    if value < 1 << 31:
        return b'J' + value.to_bytes(4, 'little')
    size = value.bit_length() // 8 + 1
    return b'\x8a' + bytes([size]) + value.to_bytes(size, 'little')


def frame(i):
    return (remember(b'}', i) + b'(' + text('name') + text(f'forward{i}') +
            text('filename') + text(f'layer{i % 30}.py') + text('line') + number(i) +
            b'u')


def entry(action, address, size, time, frames):
    return (remember(b'}') + b'(' + (text('frames') + frames if frames else b'') +
            text('action') + text(action) + text('addr') + number(address) +
            text('size') + number(size) + text('stream') + b'K\0' +
            text('time_us') + number(time) + text('compile_context') + text('N/A') +
            text('user_metadata') + remember(b'\x8c\0') + b'u')


def freed(address, size, time, stack):
    frames = remember(b']', 'last') + stack if stack else b''
    first = entry('free_requested', address, size, time, frames)
    return first + entry('free_completed', address, size, time,
                         again('last') if stack else b'')


def write(out):
    draw = random.Random(1)
    live, blocks, time = [], 0, 1 << 50
    out.write(b'\x80\x04' + remember(b'}') + b'(' + text('allocator_settings') +
              remember(b']') + b'(')
    out.write(b''.join(text(word) for word in (
        'frames', 'action', 'addr', 'size', 'stream', 'time_us', 'compile_context',
        'user_metadata', 'N/A', 'alloc', 'free_requested', 'free_completed')))
    out.write(b''.join(frame(i) for i in range(FRAMES)))
    out.write(b'e' + text('device_traces') + remember(b']') + remember(b']'))
    frames = [again(i) for i in range(FRAMES)]

    def make_stack():
        return b'(' + b''.join(draw.choices(frames, k=options.depth)) + b'e'

    stacks = [make_stack() for _ in range(options.stacks)]

    def stack():
        if not options.depth:
            return b''
        return draw.choice(stacks) if stacks else make_stack()

    while out.tell() < options.mib << 20:
        out.write(b'(')
        data = []
        for _ in range(1000):
            time += 3
            if len(live) >= options.live:
                data.append(freed(*live.pop(draw.randrange(len(live))), time,
                                  stack()))
            round = blocks // (options.live * options.again) if options.again else 0
            place = blocks % options.live + round * options.live
            block = ((1 << 40) + place * 4096, 512 + blocks % 3000)
            data.append(entry('alloc', *block, time, options.depth and
                              remember(b']') + stack()))
            live.append(block)
            blocks += 1
        out.write(b''.join(data) + b'e')
    for block in live:
        time += 1
        out.write(freed(*block, time, stack()).join((b'(', b'e')))
    out.write(b'a' + text('segments') + remember(b']') + b'u.')
    return blocks


with open(options.file, 'wb') as file:
    print(write(file))
