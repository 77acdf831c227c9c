#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Say what a pool could gain by planning what a program repeats.

    plan.py [--replay PROGRAM] [--lag N] [--passes N] [--parts NAME,...] TRACE...

A line for each trace and part. Blocks above 16 KiB are looked at one by one, and
events are theirs; all smaller ones are one block of their peak. Ratios are by the
peak of requested bytes, as in gpumem-replay.

    exact   what could be foretold: each event is compared with the one so many before
            it, where the 32 events before were last the same, at least 512 events ago
            (a step, not a layer). share: foretold rightly; run: how many in a row,
            mean; known: how many events pass before the first; peak: share of bytes
            where those that live for less than a quarter of the trace are most
    order   the same without sizes: only on which stream, and which block is freed
    plan    the whole trace known: first fit of known lifetimes in order of size,
            lifetime or product, then with what lies too high put first, --rounds
            times, until one is below 1.005. No less than the best plan. KiB: at 16
            bytes a block
    one     the pool with vm:off, when it has one segment from the start (an earlier
            run said how large): the smallest of SIZES that was enough
    ends    addresses side by side, where what lives for long is put at one end and
            the rest at the other, by the best and the worst of BORDERS: lifetimes
            known, and as foretold by "order"; right: foretold rightly, mean
    pages   the pool: ratio; driver calls per 1000 lines of the trace in the third,
            the fifth and the last pass; the calls' time on an H200 by the replay's
            model in ns a line, in the last pass
    off     the same with vm:off

What one stream frees is another's, and what others use anybody's, --lag events later
in "plan", "one", "pages" and "off"; "ends" knows no streams. Nothing here knows what a
plan does when the program departs from it.
"""

import argparse
import bisect
import collections
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile

SMALL, GRAIN, CONTEXT, STEP, BUCKETS, PLAN_BYTES = 16384, 256, 32, 512, 1024, 16
PRIME, BASE, GOOD = (1 << 61) - 1, 1000003, 1.005
SIZES = (1.0, 1.005, 1.01, 1.015, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.12, 1.14, 1.16,
         1.18, 1.2, 1.25, 1.3, 1.4, 1.5)
BORDERS = (64, 512, 4096)
PARTS = ("exact", "order", "plan", "one", "ends", "pages", "off")

Block = collections.namedtuple("Block", "bytes stream begin end shared")


class Trace:
    """events: n where block n begins, ~n where it ends; begin <= event < end: it lives."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path).split(".trace")[0]
        self.events, self.lines, self.peak, self.small = [], 0, 0, 0
        found, live, shared, total, small = [], {}, set(), 0, 0
        for field in (line.split() for line in self.text().decode().splitlines()):
            if field[0] == "r":
                sys.exit("%s: has resizes, which are not looked at" % path)
            if field[0] not in ("a", "f", "u"):
                continue
            self.lines += 1
            if field[0] == "a":
                live[field[1]] = number, size = len(found), int(field[2])
                sign, event = 1, number
                if size > SMALL:
                    found.append([-(-size // GRAIN) * GRAIN, int(field[3]),
                                  len(self.events), None])
            else:
                number, size = live[field[1]]
                if len(field) > 2 and size > SMALL:
                    shared.add(number)
                if field[0] == "u":
                    continue
                del live[field[1]]
                sign, event = -1, ~number
                if size > SMALL:
                    found[number][3] = len(self.events)
            total += sign * size
            if size > SMALL:
                self.events.append(event)
            else:
                small += sign * size
            self.peak, self.small = max(self.peak, total), max(self.small, small)
        self.blocks = [Block(size, stream, begin, len(self.events) if end is None else end,
                             number in shared)
                       for number, (size, stream, begin, end) in enumerate(found)]

    def text(self):
        """What is in the file."""
        with (gzip.open if self.path.endswith(".gz") else open)(self.path, "rb") as file:
            return file.read()


def tokens(trace, exact):
    """A number for each event, the same where a program repeats itself."""
    begun = 0
    for event in trace.events:
        begun += event >= 0
        block = trace.blocks[max(event, 0)]
        yield hash((block.stream, block.bytes * exact) if event >= 0 else begun - ~event) % PRIME


def before(all_):
    """For each token the place of the same one after the same CONTEXT, or None."""
    value, seen, late, drop = 0, {}, collections.deque(), pow(BASE, CONTEXT, PRIME)
    for place, token in enumerate(all_):
        value = (value * BASE + token) % PRIME
        if place < CONTEXT:
            yield None
            continue
        value = (value - all_[place - CONTEXT] * drop) % PRIME
        late.append((value, place))
        if len(late) > STEP:
            seen.update((late.popleft(),))
        yield seen.get(value)


def foretold(trace, exact):
    """What could be foretold."""
    all_ = list(tokens(trace, exact))
    distance, hits = 0, []
    for place, where in enumerate(before(all_)):
        hits.append(distance > 0 and all_[place - distance] == all_[place])
        if not hits[-1]:
            distance = place - where if where is not None else 0
    total = told = 0
    most = 0, 0
    passing = [b.end - b.begin < len(all_) // 4 for b in trace.blocks]
    for event in trace.events:
        number = max(event, ~event)
        block = trace.blocks[number]
        change = block.bytes * passing[number] * (1 if event >= 0 else -1)
        total, told = total + change, told + change * hits[block.begin]
        most = max(most, (total, told))
    runs = sum(1 for hit, _ in itertools.groupby(hits) if hit)
    return {"share": "%.2f" % (sum(hits) / len(hits)), "run": sum(hits) // max(runs, 1),
            "known": hits.index(True) if runs else None,
            "peak": "%.2f" % (most[1] / max(most[0], 1))}


def pack(trace, order, lag):
    """First fit in this order: where each block ends."""
    def wait(block, other):
        return lag if block.shared or block.stream != other.stream else 0

    width, tops = len(trace.events) // BUCKETS + 1, {}
    live, born = ([[] for _ in range(BUCKETS + 1)] for _ in range(2))
    for number in order:
        block = trace.blocks[number]
        first = max(0, block.begin - lag) // width
        later = born[first + 1:min(len(trace.events), block.end + lag) // width + 1]
        near = sorted(itertools.chain(live[first], *later)) if any(later) else live[first]
        at = 0
        for low, high, other in near:
            if low - at >= block.bytes:
                break
            if high > at and other.begin < block.end + wait(block, other) \
                    and block.begin < other.end + wait(other, block):
                at = high
        placed = at, at + block.bytes, block
        for bucket in live[block.begin // width:block.end // width + 1]:
            bisect.insort(bucket, placed)
        bisect.insort(born[block.begin // width], placed)
        tops[number] = placed[1]
    return tops


def check(trace, tops):
    """Live blocks have no address in common."""
    live = []
    for event in trace.events:
        block = trace.blocks[max(event, ~event)]
        pair = tops[max(event, ~event)] - block.bytes, tops[max(event, ~event)]
        place = bisect.bisect(live, pair)
        if event < 0:
            live.remove(pair)
        elif (place and live[place - 1][1] > pair[0]) or \
                (place < len(live) and live[place][0] < pair[1]):
            sys.exit("%s: two live blocks at %d" % (trace.path, pair[0]))
        else:
            live.insert(place, pair)


def plan(trace, lag, rounds):
    """The best plan that was found."""
    def area(block):
        return block.bytes * (block.end - block.begin)

    def ratio(tops):
        return (max(tops.values()) + trace.small) / trace.peak

    keys = {"size": lambda b: (b.bytes, b.end - b.begin),
            "life": lambda b: (b.end - b.begin, b.bytes), "area": lambda b: (area(b), b.bytes)}
    best = float("inf"), None
    for name, key in keys.items():
        order = sorted(range(len(trace.blocks)), key=lambda n: key(trace.blocks[n]), reverse=True)
        for _ in range(rounds):
            if best[0] < GOOD:
                break
            tops = pack(trace, order, lag)
            check(trace, tops)
            best = min(best, (ratio(tops), name))
            border = max(trace.peak * 1.0005 - trace.small, max(tops.values()) * 0.97)
            order.sort(key=lambda n: tops[n] <= border)
    return {"ratio": "%.4f" % best[0], "by": best[1],
            "KiB": len(trace.blocks) * PLAN_BYTES >> 10}


def fits(trace, top, low_end):
    """Whether it runs in so many bytes, with these blocks at the low end."""
    low, high, at = [0], [top - trace.small], {}
    for event in trace.events:
        if event >= 0:
            size, up = trace.blocks[event].bytes, low_end[event]
            every = range(len(low)) if up else range(len(low) - 1, -1, -1)
            place = next((i for i in every if high[i] - low[i] >= size), None)
            if place is None:
                return False
            at[event] = low[place] if up else high[place] - size
            low[place] += size * up
            high[place] -= size * (not up)
            if low[place] == high[place]:
                del low[place], high[place]
            continue
        begin = at.pop(~event)
        end, place = begin + trace.blocks[~event].bytes, bisect.bisect(low, begin)
        if place < len(low) and low[place] == end:
            end = high[place]
            del low[place], high[place]
        if place and high[place - 1] == begin:
            high[place - 1] = end
        else:
            low.insert(place, begin)
            high.insert(place, end)
    return True


def ends(trace):
    """Long-lived blocks at one end."""
    def least(low_end):
        return next((s for s in SIZES if fits(trace, int(trace.peak * s), low_end)), float("inf"))

    known, guessed, right = [], [], 0
    places = list(before(list(tokens(trace, False))))
    for border in BORDERS:
        true = [block.end - block.begin >= border for block in trace.blocks]
        guess = [False] * len(true)
        for now, (event, where) in enumerate(zip(trace.events, places)):
            if event >= 0 and where is not None:
                # What lives on yet has lived for as long as it has.
                other = trace.blocks[trace.events[where]]
                guess[event] = min(other.end, now) - other.begin >= border
        right += sum(map(bool.__eq__, true, guess)) / len(true) / len(BORDERS)
        known.append(least(true))
        guessed.append(least(guess))
    return {"known": "%s to %s" % (min(known), max(known)),
            "foretold": "%s to %s" % (min(guessed), max(guessed)), "right": "%.2f" % right}


def replay(asked, path, conf, *options):
    """What gpumem-replay says."""
    command = ["setarch", "-R", asked.replay, "-d", "host:0", "--json", "--model=h200", "--lag", asked.lag,
               *options, path]
    done = subprocess.run(command, env=dict(os.environ, GPUMEM_CONF="decay_ms:0," + conf),
                          check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def one(trace, asked):
    """The pool in one segment, of which a block of 64 KiB at its end is never freed."""
    head, _, rest = trace.text().partition(b"\n")
    for size in SIZES:
        top, n = int(trace.peak * size) >> 21 << 21, 1 << 62
        with tempfile.NamedTemporaryFile(suffix=".trace") as file:
            file.write(b"%s\na %d %d 0\nf %d\na %d %d 0\na %d 65536 0\nf %d\n%s" % (
                head, n, top, n, n + 1, top - (128 << 10), n + 2, n + 1, rest))
            file.flush()
            said = replay(asked, file.name, "vm:off")
        if said["peak_reserved_bytes"] <= top + (1 << 20):
            return {"ratio": size, "calls": said["calls"]["alloc"]["count"]}
    return {"ratio": "above %s" % SIZES[-1]}


def pool(trace, asked, conf):
    """The pool as it is."""
    said = replay(asked, trace.path, conf, "--passes", str(asked.passes))
    calls = ["%.2f" % (said["pass"][number - 1]["driver_calls"] * 1000 / trace.lines)
             for number in sorted({3, 5, asked.passes})]
    return {"ratio": "%.4f" % said["reserved_ratio"], "calls": " ".join(calls),
            "ns": "%.0f" % said["model"]["pass"][-1]["ns_per_op"]}


def main():
    """All traces, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", metavar="TRACE", nargs="+")
    parser.add_argument("--replay", default="gpumem-replay", metavar="PROGRAM")
    parser.add_argument("--lag", default="0")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=PARTS)
    asked = parser.parse_args()
    for path in asked.traces:
        trace = Trace(path)
        lag = len(trace.events) if asked.lag == "inf" else \
            int(asked.lag) * len(trace.events) // trace.lines
        parts = {"exact": lambda: foretold(trace, True), "order": lambda: foretold(trace, False),
                 "plan": lambda: plan(trace, lag, asked.rounds), "one": lambda: one(trace, asked),
                 "ends": lambda: ends(trace), "pages": lambda: pool(trace, asked, ""),
                 "off": lambda: pool(trace, asked, "vm:off")}
        for part in asked.parts:
            print("%-18s %-6s %s" % (trace.name, part, "  ".join(
                "%s %s" % item for item in parts[part]().items())), flush=True)


if __name__ == "__main__":
    main()
