#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""How long PyTorch's memory takes to grow out of nothing, and to go back.

Blocks of one size are allocated until there are 48 GiB, as when a model is loaded;
then all of them are dropped and, while the device is idle, torch.cuda.empty_cache()
gives back what they had. And empty_cache() after --batches of the inference of a
BERT-large with random shapes. The native allocator, expandable segments and gpumem
take turns of that in one run, each in a process of its own, and in another for the
batches.

Lines of JSON for each allocator: milliseconds, the median of the --rounds turns and
then all of them; how many MiB were reserved before and after; and of gpumem which
calls of its backend that took, each with its milliseconds. Takes 100 s and 60 GiB of
device memory, and transformers for the batches. Where there is no GPU, preload
bindings/python/tests/cudart_double.cpp and take --allocators gpumem --backend host:
then the batches are sizes of blocks alone, and the memory is the host's. Times decide
nothing.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time

import torch_allocators as allocators

MIB = 1 << 20
NAMES = allocators.NATIVE, allocators.EXPANDABLE, allocators.GPUMEM
# How many blocks of how many MiB.
SHAPES = ["16384x3", "1024x48", "1x49152"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--allocators", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--backend", default="cuda", help="gpumem's")
    parser.add_argument(
        "--shapes", nargs="*", default=SHAPES, help="blocks x MiB of each"
    )
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", help="for one of them: its allocator")
    return parser.parse_args()


# ---- one allocator, in a process of its own ------------------------------------


def calls(own):
    """Of the backend, by name: how many, and their milliseconds."""
    if not own:
        return {}
    return {
        name: (each["count"], each["ns"] / 1e6)
        for name, each in own.calls().items()
    }


def timed(own, what):
    """What something took: milliseconds, and the calls of the pool."""
    before = calls(own)
    begun = time.perf_counter()
    kept = what()
    told = {"ms": (time.perf_counter() - begun) * 1e3}
    found = {
        name: [count - before[name][0], round(ms - before[name][1], 3)]
        for name, (count, ms) in calls(own).items()
        if count > before[name][0]
    }
    if own:
        told["calls"] = found
    return kept, told


def returned(torch, own):
    """empty_cache(), with the device idle."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_reserved()
    _, told = timed(own, torch.cuda.empty_cache)
    told["MiB"] = [before // MIB, torch.cuda.memory_reserved() // MIB]
    return told


def grown(torch, own, shape):
    """Growth and return of so many blocks."""
    count, mib = map(int, shape.split("x"))
    torch.cuda.synchronize()
    torch.cuda.empty_cache()

    def grow():
        return [
            torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")
            for _ in range(count)
        ]

    blocks, told = timed(own, grow)
    told["MiB"] = torch.cuda.memory_reserved() // MIB
    del blocks
    return {"growth " + shape: told, "return " + shape: returned(torch, own)}


class Sizes:
    """What the inference of a BERT-large allocates, without its work."""

    def __init__(self, torch):
        self.torch = torch
        self.kept = [self.empty(1024 * 1024, 4) for _ in range(24 * 12 + 30)]

    def empty(self, *sizes):
        return self.torch.empty(sizes, dtype=self.torch.uint8, device="cuda")

    def layer(self, words, pairs):
        wide = [self.empty(words, 2048) for _ in range(4)]
        wide.append(self.empty(pairs, 2 * 16))
        wide.append(self.empty(words, 2048))
        inner = self.empty(words, 8192)
        return wide[-1], inner

    def __call__(self, draw):
        rows, length = draw.randint(1, 32), draw.randint(8, 512)
        state = self.empty(rows * length, 2048)
        for _ in range(24):
            state = self.layer(rows * length, rows * length * length)[0]


def batches(torch, own, args, state):
    """empty_cache() after some with random shapes; the model stays."""
    if not state:
        if args.backend == "cuda":
            from torch_workloads import bert

            torch.manual_seed(1)
            state.append(bert())
        else:
            state.append(Sizes(torch))
    draw = random.Random(1)
    for _ in range(args.batches):
        state[0](draw)
    return {"return after batches": returned(torch, own)}


def run(args):
    """Does what its standard input says, and tells what it took."""
    import torch

    own = None
    if args.child == allocators.GPUMEM:
        import gpumem.torch

        gpumem.torch.enable(backend=args.backend)
        own = gpumem.torch.pool(0)
    torch.empty(1, device="cuda")
    state = []
    for line in sys.stdin:
        what = line.strip()
        if what == "batches":
            told = batches(torch, own, args, state)
        else:
            told = grown(torch, own, what)
        print(json.dumps(told), flush=True)
    # What PyTorch frees after its allocator is gone is nobody's business.
    os._exit(0)


# ---- all of them ---------------------------------------------------------------


class Child:
    def __init__(self, args, name):
        self.name = name
        self.found = {}
        line = [sys.executable, os.path.abspath(__file__), f"--child={name}"]
        line += [f"--backend={args.backend}", f"--batches={args.batches}"]
        args.device = args.backend + ":0"
        self.process = subprocess.Popen(
            line,
            env=allocators.environment(args, name, 0),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def turn(self, what):
        """What it says; it has said why if it has ended."""
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):
            line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: status {self.process.wait()}")
        for name, told in json.loads(line).items():
            self.found.setdefault(name, []).append(told)

    def end(self):
        """Of each the median turn, with its calls."""
        self.process.communicate()
        line = {"allocator": self.name}
        for name, turns in self.found.items():
            middle = statistics.median_low(each["ms"] for each in turns)
            told = next(each for each in turns if each["ms"] == middle)
            told["ms"] = [round(each["ms"], 2) for each in [told, *turns]]
            line[name] = told
        print(json.dumps(line), flush=True)


def take_turns(args, turns):
    """All of them of each allocator, which change places."""
    children = [Child(args, name) for name in args.allocators]
    for what in turns:
        for i in range(args.rounds):
            first = i % len(children)
            for child in children[first:] + children[:first]:
                child.turn(what)
    for child in children:
        child.end()


def main():
    args = arguments()
    if args.child:
        run(args)
    if args.shapes:
        take_turns(args, args.shapes)
    if args.batches:
        take_turns(args, ["batches"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
