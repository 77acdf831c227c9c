# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A program that repeats one step of a recorded one for ever: the step at its peak.

What is live where the step begins is allocated first. A step frees what it allocated,
and of the step before what the recorded one freed of its predecessor. What is left of
a step after the next one goes, so that nothing grows.
"""

import gzip

from scripted_trace import Full


def recorded(path):
    """The head, and the events: kind, number of the block, and other fields."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        head, *lines = lines.read().splitlines()
    names, events = {}, []
    for kind, name, *rest in (line.split() for line in lines if line[0] in "afu"):
        if kind == "a":
            names[name] = len(names)
        events.append((kind, names[name], rest))
    return head, events


def before_the_peak(events, length):
    """How many events lie before the lowest point of so many before the peak."""
    sizes, live, levels = {}, 0, []
    for kind, block, rest in events:
        if kind == "a":
            sizes[block] = int(rest[0])
            live += sizes[block]
        elif kind == "f":
            live -= sizes[block]
        levels.append(live)
    peak = max(range(len(levels)), key=levels.__getitem__)
    return 1 + min(range(max(0, peak - length), peak + 1), key=levels.__getitem__)


class Steps:
    """What is written, and the names of blocks by their numbers in the recorded step:
    of this step, of the step before, and of before all steps."""

    def __init__(self, limit):
        self.lines, self.limit, self.last = [], limit, 0
        self.now, self.before, self.base = {}, {}, {}

    def line(self, *fields):
        if len(self.lines) == self.limit:
            raise Full
        self.lines.append(" ".join(map(str, fields)))

    def allocate(self, of, block, rest):
        self.last += 1
        of[block] = self.last
        self.line("a", self.last, *rest)

    def other(self, kind, block, rest):
        """A free or a use. What is gone was freed by an earlier step."""
        for of in self.now, self.before, self.base:
            if block in of:
                self.line(kind, of[block], *rest)
                if kind == "f":
                    del of[block]
                return

    def end(self, count):
        """The end of a step, in which so many blocks are allocated."""
        for name in self.before.values():
            self.line("f", name)
        self.before = {block - count: name for block, name in self.now.items()}
        self.now = {}


def repeated(path, length, limit):
    """The trace, of so many events at most."""
    head, events = recorded(path)
    begin = before_the_peak(events, length)
    step = events[begin:begin + length]
    count = sum(kind == "a" for kind, *_ in step)
    freed = {block for kind, block, _ in events[:begin] if kind == "f"}
    steps = Steps(limit)
    try:
        for kind, block, rest in events[:begin]:
            if kind == "a" and block not in freed:
                steps.allocate(steps.base, block, rest)
        while count:
            for kind, block, rest in step:
                if kind == "a":
                    steps.allocate(steps.now, block, rest)
                else:
                    steps.other(kind, block, rest)
            steps.end(count)
    except Full:
        pass
    what = f"# the step of {length} events after the first {begin}, again and again, of:"
    return "\n".join([head, what, *steps.lines]) + "\n"
