# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A program of scripted.py: the events so far, and its random numbers."""

import random

KIB, MIB = 1 << 10, 1 << 20


class Full(Exception):
    """The trace is as long as it should be."""


class Trace:
    """The events of a program so far, and its random numbers."""

    def __init__(self, name, seed, events):
        self.random = random.Random(f"{name} {seed}").random
        self.events, self.version = events, 1
        self.lines, self.sizes, self.last = [], {}, 0

    def line(self, text):
        if len(self.lines) == self.events:
            raise Full
        self.lines.append(text)

    def new(self, size, stream=0):
        self.last += 1
        self.sizes[self.last] = max(int(size), 1)
        self.line(f"a {self.last} {self.sizes[self.last]} {stream}")
        return self.last

    def free(self, *blocks):
        for block in blocks:
            del self.sizes[block]
            self.line(f"f {block}")

    def use(self, block, stream):
        self.version = 2
        self.line(f"u {block} {stream}")

    def then(self, old, size, stream=0):
        """A block made from another, which is then freed."""
        block = self.new(size, stream)
        self.free(old)
        return block

    def between(self, low, high):
        return low + int(self.random() * (high - low + 1))

    def log(self, low, high):
        """Log-uniform."""
        return int(low * (high / low) ** self.random())

    def choice(self, of):
        return of[int(self.random() * len(of))]


def together(p, programs):
    """Programs side by side; a chunk of events of one, then of another."""
    while True:
        program = p.choice(programs)
        for _ in range(p.between(5, 25)):
            next(program)
            yield
