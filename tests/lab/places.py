#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Say what a pool would move if each block had a place of its own.

    places.py [--lag N] [--passes N] [--choice NAME] TRACE...

A model, not the pool: each block of a page or more has addresses of its own, which stay
mapped to the pages that it had. The next block of that size and stream takes such a place
without a call, if all of its pages are unused; else a new place is made, to which unused
pages move, the lowest first, or new ones. --choice: of several places that one

    first     that was made first (the default)
    last      that was used last

A page is mapped at one place more for each move, at MOST places besides the first; then
the places go that were unused for longest. What one stream frees is another's, and what
others use anybody's, --lag events later.

    ratio     pages, and smaller blocks at their peak, by the peak of requested bytes
    places    how many there are at the end, and on how many pages
    moved     MiB in each tenth of all passes, new memory included
"""

import argparse
import collections
import sys

sys.dont_write_bytecode = True
from plan import Trace  # noqa: E402  pylint: disable=wrong-import-position

PAGE, MOST = 2 << 20, 32768


class Place:
    """Addresses of one size and stream, and the pages that are mapped there."""

    def __init__(self, key, pages):
        self.key, self.pages = key, pages


class Pages:
    """All pages, and their places: by key, and those without a block by their last use."""

    def __init__(self, lag, last):
        self.lag, self.last, self.now, self.mapped = lag, last, 0, 0
        self.busy, self.stream, self.ready = bytearray(), [], []
        self.by_key, self.unused = collections.defaultdict(list), collections.OrderedDict()

    def is_free(self, page, stream):
        """Whether the stream can have it."""
        return not self.busy[page] and \
            (self.stream[page] == stream or self.ready[page] <= self.now)

    def make(self, key, count, stream):
        """A new place."""
        pages, page = [], -1
        while len(pages) < count:
            page = self.busy.find(0, page + 1)
            if page < 0:
                page = len(self.busy)
                self.busy.append(0)
                self.stream.append(stream)
                self.ready.append(0)
            if self.is_free(page, stream):
                pages.append(page)
        place = Place(key, pages)
        self.by_key[key].append(place)
        self.mapped += count
        return place

    def drop(self):
        """Places go, if there are too many."""
        while self.unused and self.mapped - len(self.busy) > MOST:
            place, _ = self.unused.popitem(last=False)
            self.mapped -= len(place.pages)
            self.by_key[place.key].remove(place)

    def begin(self, block):
        """Where the block goes, and how many pages move."""
        key, count = (block.bytes, block.stream), -(-block.bytes // PAGE)
        place = next((one for one in self.by_key[key][::-1 if self.last else 1]
                      if all(self.is_free(page, block.stream) for page in one.pages)), None)
        moved = 0 if place else count
        if not place:
            place = self.make(key, count, block.stream)
        elif self.last:
            self.by_key[key].remove(place)
            self.by_key[key].append(place)
        self.unused.pop(place, None)
        for page in place.pages:
            if self.busy[page]:
                sys.exit("two live blocks have page %d" % page)
            self.busy[page] = 1
        self.drop()
        return place, moved

    def end(self, place, block):
        """The block ends: other streams have its pages later."""
        self.unused[place] = None
        for page in place.pages:
            self.busy[page] = 0
            self.stream[page] = None if block.shared else block.stream
            self.ready[page] = self.now + self.lag


def run(trace, asked):
    """The pages when all is over, and MiB moved in each tenth."""
    large = [event for event in trace.events if trace.blocks[max(event, ~event)].bytes >= PAGE]
    lag = len(large) * asked.passes if asked.lag == "inf" else \
        int(asked.lag) * len(large) // trace.lines
    pages, tenths = Pages(lag, asked.choice == "last"), [0] * 10
    for now in range(asked.passes):
        at = {}
        for count, event in enumerate(large):
            pages.now += 1
            if event < 0:
                pages.end(at.pop(~event), trace.blocks[~event])
                continue
            at[event], moved = pages.begin(trace.blocks[event])
            tenths[(now * len(large) + count) * 10 // (asked.passes * len(large))] += moved
        for number, place in at.items():
            pages.end(place, trace.blocks[number])
    return pages, [tenth * PAGE >> 20 for tenth in tenths]


def smaller(trace):
    """The peak of what has no place."""
    now = most = 0
    for event in trace.events:
        size = trace.blocks[max(event, ~event)].bytes
        if size < PAGE:
            now += size if event >= 0 else -size
            most = max(most, now)
    return most + trace.small


def main():
    """All traces, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", metavar="TRACE", nargs="+")
    parser.add_argument("--lag", default="0")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--choice", choices=("first", "last"), default="first")
    asked = parser.parse_args()
    for path in asked.traces:
        trace = Trace(path)
        pages, moved = run(trace, asked)
        made = [place for of_key in pages.by_key.values() for place in of_key]
        print("%-18s ratio %.4f  places %d of %d pages  moved %s" % (
            trace.name, (len(pages.busy) * PAGE + smaller(trace)) / trace.peak, len(made),
            sum(len(place.pages) for place in made), " ".join(map(str, moved))), flush=True)


if __name__ == "__main__":
    main()
