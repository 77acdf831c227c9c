#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A recording as the first version of the format would have it.

    recording_first.py RECORDING FILE

Every short event is written in full, in chunks that are four times as large. What
reads FILE has to say what it says of RECORDING.
"""

import struct
import sys

CHUNK = 64
TIME, BYTES, SERVED, ALLOC, FREE = 1, 4, 7, 17, 18


def expand(chunk):
    """The events of a chunk, each of 16 bytes."""
    out, at, base, last, huge = [], CHUNK, 0, 0, False
    places = {}
    while at + 4 <= len(chunk):
        (word,) = struct.unpack_from("=I", chunk, at)
        what, number = word >> 29 & 3, word >> 21 & 255
        if word >> 31:
            at += 4
            if what == 3:
                continue
            last += word & 0x1FFFFF
            tag, high, value = (0, 0, number) if what == 2 else places[number]
            kind = (ALLOC, FREE, SERVED)[what]
        else:
            if at + 16 > len(chunk):
                break
            time, tag, kind, high, value = struct.unpack_from("=IHBBQ", chunk, at)
            at += 16
            if not kind:
                break
            if kind == TIME:
                base, places = value, {}
            if kind in (ALLOC, FREE) and not huge:
                place = (value + (tag << 48)) * 0x9E3779B97F4A7C15 >> 56 & 255
                places[place] = tag, high, value
            huge = kind == BYTES
            last = base + time
        if kind != TIME and last - base >> 32:
            sys.exit("a time is too far from its base")
        out.append(struct.pack("=IHBBQ", last - base, tag, kind, high, value))
    return b"".join(out)


def first(data):
    version, order, header, room, at, count = struct.unpack_from("=IIIIQQ", data, 16)
    if version == 1:
        return data
    if version != 2:
        sys.exit(f"version {version}")
    parts = [
        data[:16],
        struct.pack("=IIIIQQ", 1, order, header, 4 * room, at, count),
        data[48:at],
    ]
    while at + room <= len(data):
        chunk = data[at : at + room]
        if not any(chunk[:8]):
            break  # as if the file had been cut behind the last that is used
        parts.append((chunk[:CHUNK] + expand(chunk)).ljust(4 * room, b"\0"))
        at += room
    return b"".join(parts)


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    with open(sys.argv[2], "wb") as file:
        file.write(first(data))


main()
