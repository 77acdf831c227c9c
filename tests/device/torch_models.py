#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""BERT and GPT-2 with random lengths by PyTorch: memory and time by allocator.

The inference of a BERT-large and the training of a GPT-2 of 355 million
parameters, both with random weights, do the same work with each allocator of
torch_allocators.py. Their processes take turns of 32 batches on one device, which
a machine that is faster in one minute than in the next does not disturb: what is
compared are turns that did the same work one after the other. With --lists a
control takes turns too, which says what the door for allocators that are not
PyTorch's costs. Then a pool and one that may reserve --limit times what the first
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

AHEAD = 32  # batches that are queued before the host waits: a turn
WARM = 4  # turns that are not compared


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    allocators.add_arguments(parser)
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument(
        "--seconds", type=float, default=900, help="of three allocators"
    )
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--most", type=float, default=1.05)
    return parser.parse_args()


# ---- one run, in a process of its own ---------------------------------------


def bert():
    """What a batch does."""
    import torch
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
    )
    model = BertModel(config).half().eval().cuda()

    def infer(draw):
        shape = draw.randint(1, 32), draw.randint(8, 512)
        words = torch.randint(0, config.vocab_size, shape, device="cuda")
        with torch.inference_mode():
            model(words, attention_mask=torch.ones_like(words))

    return infer


def gpt2():
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_embd=1024, n_layer=24, n_head=16)
    model = GPT2LMHeadModel(config).cuda()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-5)

    def train(draw):
        shape = draw.randint(2, 8), draw.randint(64, 1024)
        words = torch.randint(0, config.vocab_size, shape, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(words, labels=words).loss
        loss.backward()
        adam.step()
        adam.zero_grad(set_to_none=True)

    return train


MODELS = {"bert": bert, "gpt2": gpt2}


def run(args):
    import torch

    keep = allocators.begin(args)  # noqa: F841
    draw = random.Random(1)
    torch.manual_seed(1)
    batch = MODELS[args.model[0]]()
    torch.cuda.synchronize()

    def turn():
        begun = time.monotonic()
        for _ in range(AHEAD):
            batch(draw)
        torch.cuda.synchronize()
        return time.monotonic() - begun

    allocators.take_turns(turn)
    allocators.end(args)


# ---- all of them ------------------------------------------------------------


def alternate(args, name, workers, seconds):
    """Whether none failed."""
    until = time.monotonic() + seconds
    turns = 0
    good = True
    while good and (turns < WARM + 2 or time.monotonic() < until):
        # Each is first, and follows each other one, equally often.
        order = workers[turns % len(workers) :] + workers[: turns % len(workers)]
        if turns % 2:
            order.reverse()
        good = all([worker.turn() for worker in order])
        turns += 1
    results = [worker.end() for worker in workers]
    return not any("failed" in result for result in results)


def against(pool, other):
    """Quartiles of the ratios of turns that did the same."""
    pairs = zip(pool.seconds[WARM:], other.seconds[WARM:])
    parts = statistics.quantiles([a / b for a, b in pairs])
    return [round(part, 4) for part in parts]


def times(workers):
    """Of the pool by each of its doors, as a ratio to each other allocator."""
    doors = allocators.GPUMEM, allocators.SUBCLASS
    named = {worker.result["allocator"]: worker for worker in workers}
    return {
        f"time of {door}, by {other}": against(named[door], named[other])
        for door in doors
        for other in named
        if door in named and other not in doors
    }


def compare(args, name):
    """True: the pool did what was asked of it."""
    more = (f"--model={name}",)
    every = allocators.ALL + ((allocators.LISTS,) if args.lists else ())
    if allocators.has_subclass():
        every += (allocators.SUBCLASS,)
    workers = [allocators.Worker(args, each, 0, *more) for each in every]
    native, expandable, pool = workers[:3]
    good = alternate(args, name, workers, args.seconds)
    told = {"model": name, "good": good}
    if good:
        peak = pool.result["peak_requested_bytes"]
        most = min(peak * args.most, expandable.result["peak_reserved_bytes"])
        good = all(
            worker.result["peak_reserved_bytes"] <= most
            for worker in workers
            if worker.result["allocator"] in (allocators.GPUMEM, allocators.SUBCLASS)
        )
        told["turns"] = len(pool.seconds)
        told.update(times(workers))
        limits = 0, int(peak * args.limit)
        pair = [
            allocators.Worker(args, allocators.GPUMEM, each, *more)
            for each in limits
        ]
        runs = alternate(args, name, pair, args.seconds / 3)
        if runs:
            told["time, limited by not"] = against(pair[1], pair[0])
        told["good"] = good and runs
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
