#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Models with batches of random sizes by PyTorch, for minutes, all allocators at once.

The inference of a BERT-large and the training of a GPT-2 of 355 million parameters
(torch_workloads.py), each for --seconds with each allocator of torch_allocators.py,
in a process and on a GPU of its own: so five minutes of each take five minutes. With
--peak the pool also works with a limit of --limit times that many bytes, which a
run without one has been asked for: the batches are the same ones. Which of two
GPUs is faster this cannot tell apart from which allocator is: --shift moves all of
them by so many GPUs, and runs with and without it belong together.

Each run prints a line of JSON. The exit status is 0 if the pool never failed,
reserved at most --most times what it was asked for, and no more than expandable
segments did. Times decide nothing.

    python3 tests/device/torch_minutes.py --peak bert=1064877568
"""

import argparse
import copy
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import torch_allocators as allocators
from torch_workloads import MODELS

AHEAD = 32  # batches that are queued before the host waits


def peak(text):
    name, _, number = text.partition("=")
    return name, int(number)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    allocators.add_arguments(parser)
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--peak", type=peak, action="append", default=[])
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--shift", type=int, default=0)
    parser.add_argument("--most", type=float, default=1.05)
    return parser.parse_args()


# ---- one run, in a process of its own ---------------------------------------


def run(args):
    import torch

    keep = allocators.begin(args)  # noqa: F841
    draw = random.Random(1)
    torch.manual_seed(1)
    batch = MODELS[args.model[0]]()
    torch.cuda.synchronize()
    begun = time.monotonic()
    done = 0
    while time.monotonic() - begun < args.seconds:
        for _ in range(AHEAD):
            batch(draw)
        torch.cuda.synchronize()
        done += AHEAD
    took = time.monotonic() - begun
    allocators.end(
        args, batches=done, seconds=round(took, 1), per_second=round(done / took, 3)
    )


# ---- all of them ------------------------------------------------------------


def runs(args):
    """Model, allocator and limit of each."""
    limits = {name: int(bytes_ * args.limit) for name, bytes_ in args.peak}
    for name in args.model or ["bert", "gpt2"]:
        for allocator in allocators.there_are(args):
            yield name, allocator, 0
        if name in limits:
            pool = [x for x in allocators.there_are(args) if x in allocators.POOLS]
            yield name, pool[-1], limits[name]


def start(args, count, number, name, allocator, limit):
    import torch

    devices = torch.cuda.device_count()
    if count > devices:
        sys.exit(f"{count} runs at once need so many GPUs; there are {devices}")
    own = copy.copy(args)
    own.device = f"cuda:{(number + args.shift) % devices}"
    more = f"--model={name}", f"--seconds={args.seconds}"
    return dict(allocators.spawn(own, allocator, limit, *more), model=name)


def spared(args, results):
    """The pool's peaks are within what it may reserve, and within what expandable
    segments reserve, which have done other batches too."""
    others = {
        x["model"]: x["peak_reserved_bytes"]
        for x in results
        if x["allocator"] == allocators.EXPANDABLE
    }
    return all(
        x["peak_reserved_bytes"]
        <= min(x["peak_requested_bytes"] * args.most, others[x["model"]])
        for x in results
        if x["allocator"] in allocators.POOLS
    )


def main():
    args = arguments()
    if args.child:
        run(args)
    every = list(runs(args))
    with ThreadPoolExecutor(len(every)) as pool:
        results = list(
            pool.map(lambda x: start(args, len(every), x[0], *x[1]), enumerate(every))
        )
    good = not any("failed" in x for x in results) and spared(args, results)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
