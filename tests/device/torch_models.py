#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Models with batches of random sizes by PyTorch: memory and time by allocator.

The inference of a BERT-large, the training of a GPT-2 of 355 million parameters
and of a ResNet-50 whose batches are fetched beside it, the generation of words by a
Llama of 1.2 billion, and the training of a GPT-2 whose activations wait on the host
(torch_workloads.py), do the same work with each allocator of torch_allocators.py.
Their processes take turns of 32 batches, or of --passes times as many, on one device, so that a machine that is faster in one minute than in the
next disturbs less: what is compared are turns that did the same work one after the
other. The turns before, --warm of them, are of --warm-passes. With --lists a control
takes turns too, which says what the door for allocators that are not PyTorch's costs. Then a pool and one that may reserve --limit times what the first
was asked for at its peak do so.

Each run prints a line of JSON, each model one in the end: peaks, and the time of
the pool's turns as a ratio, the median and the quartiles. The first turns do not
count there. The exit status is 0 if the pool never failed, reserved at most --most
times the peak of requests, and no more than expandable segments did. Times decide
nothing.
"""

import argparse
import json
import random
import statistics
import sys
import time

import torch_allocators as allocators
from torch_workloads import MODELS

AHEAD = 32  # batches that are queued before the host waits: a pass


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    allocators.add_arguments(parser)
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument(
        "--seconds", type=float, default=900, help="of three allocators"
    )
    parser.add_argument("--passes", type=int, default=1, help="of a turn")
    parser.add_argument(
        "--warm", type=int, default=4, help="turns that are not compared"
    )
    parser.add_argument("--warm-passes", type=int, default=0, help="0: as the others")
    parser.add_argument("--turns", type=int, default=2, help="that are, at least")
    parser.add_argument(
        "--limit", type=float, default=1.05, help="times the peak; 0: do not try"
    )
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

    def turn(passes):
        for _ in range(passes):
            for _ in range(AHEAD):
                batch(draw)
            torch.cuda.synchronize()

    allocators.take_turns(turn)
    allocators.end(args)


# ---- all of them ------------------------------------------------------------


def alternate(args, workers, seconds):
    """Whether none failed."""
    until = time.monotonic() + seconds
    turns = 0
    good = True
    while good and (turns < args.warm + args.turns or time.monotonic() < until):
        passes = args.warm_passes if turns < args.warm else 0
        # Each is first, and follows each other one, equally often.
        order = workers[turns % len(workers) :] + workers[: turns % len(workers)]
        if turns % 2:
            order.reverse()
        good = all([worker.turn(passes or args.passes) for worker in order])
        turns += 1
    results = [worker.end() for worker in workers]
    return not any("failed" in result for result in results)


def against(args, pool, other):
    """Quartiles of the ratios of turns that did the same; of one turn, its ratio."""
    pairs = zip(pool.seconds[args.warm :], other.seconds[args.warm :])
    ratios = [a / b for a, b in pairs]
    parts = statistics.quantiles(ratios) if len(ratios) > 1 else ratios
    return [round(part, 4) for part in parts]


def medians(args, workers):
    """Of all turns of each."""
    return {
        worker.result["allocator"]: round(
            statistics.median(worker.seconds[args.warm :]), 3
        )
        for worker in workers
    }


def of_pools(workers):
    return [each for each in workers if each.result["allocator"] in allocators.POOLS]


def times(args, workers):
    """Of the pool by each of its doors, as a ratio to each other allocator."""
    pools = of_pools(workers)
    return {
        "time of {}, by {}".format(
            pool.result["allocator"], other.result["allocator"]
        ): against(args, pool, other)
        for pool in pools
        for other in workers
        if other not in pools
    }


def spared(args, workers):
    """The pool's peaks are within what it may reserve, and within what expandable
    segments reserve."""
    named = {worker.result["allocator"]: worker.result for worker in workers}
    others = named[allocators.EXPANDABLE]["peak_reserved_bytes"]
    return all(
        named[pool]["peak_reserved_bytes"]
        <= min(named[pool]["peak_requested_bytes"] * args.most, others)
        for pool in allocators.POOLS
        if pool in named
    )


def limited(args, name, pool):
    """The time with a limit, or None if it failed."""
    more = f"--model={name}", f"--passes={args.passes}"
    limits = 0, int(pool.result["peak_requested_bytes"] * args.limit)
    pair = [
        allocators.Worker(args, pool.result["allocator"], each, *more)
        for each in limits
    ]
    if not alternate(args, pair, args.seconds / 3):
        return None
    return against(args, pair[1], pair[0])


def compare(args, name):
    """True: the pool did what was asked of it."""
    more = f"--model={name}", f"--passes={args.passes}"
    workers = [
        allocators.Worker(args, each, 0, *more)
        for each in allocators.there_are(args)
    ]
    good = alternate(args, workers, args.seconds)
    told = {"model": name, "good": good}
    if good:
        told["good"] = spared(args, workers)
        told["turns"] = len(workers[0].seconds)
        told["median seconds of a turn"] = medians(args, workers)
        told.update(times(args, workers))
        pools = of_pools(workers)
        if args.limit and pools:
            told["time, limited by not"] = limited(args, name, pools[0])
            told["good"] = told["good"] and bool(told["time, limited by not"])
    print(json.dumps(told), flush=True)
    return told["good"]


def main():
    args = arguments()
    if args.child:
        run(args)
    names = args.model or MODELS
    return 0 if all([compare(args, name) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
