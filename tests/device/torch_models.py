#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""BERT and GPT-2 with random lengths by PyTorch: memory and time by allocator.

The inference of a BERT-large and the training of a GPT-2 of 355 million
parameters, both with random weights, do the same work with each allocator of
torch_allocators.py, the runs of which alternate; then with a pool that may
reserve --limit times what it was asked for at its peak. Each run prints a line
of JSON, each model one with the best times and the peaks in the end. The exit
status is 0 if the pool never failed, reserved at most --most times the peak of
requests, and no more than expandable segments did. Times decide nothing.
"""

import argparse
import json
import random
import sys
import time

import torch_allocators as allocators

AHEAD = 32  # batches that are queued before the host waits


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    allocators.add_arguments(parser)
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, help="of a run, by model")
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


# With how many batches of one run.
MODELS = {"bert": (bert, 1500), "gpt2": (gpt2, 400)}


def run(args):
    import torch

    keep = allocators.begin(args)  # noqa: F841
    draw = random.Random(1)
    torch.manual_seed(1)
    batch = MODELS[args.model[0]][0]()
    torch.cuda.synchronize()
    begun = time.monotonic()
    for i in range(args.batches):
        batch(draw)
        if i % AHEAD == AHEAD - 1:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    allocators.end(args, seconds=round(time.monotonic() - begun, 3))


# ---- all of them ------------------------------------------------------------


def best(runs, allocator):
    """The shortest time and the highest peak of its runs, or None."""
    own = [run for run in runs if run["allocator"] == allocator]
    if any("failed" in run for run in own):
        return None
    return {
        "seconds": min(run["seconds"] for run in own),
        "peak_requested_bytes": max(r["peak_requested_bytes"] for r in own),
        "peak_reserved_bytes": max(r["peak_reserved_bytes"] for r in own),
    }


def compare(args, name):
    """True: the pool did what was asked of it."""
    batches = args.batches or MODELS[name][1]
    more = f"--model={name}", f"--batches={batches}"
    runs = [
        allocators.spawn(args, each, 0, *more)
        for _ in range(args.rounds)
        for each in allocators.ALL
    ]
    of = {each: best(runs, each) for each in allocators.ALL}
    pool, expandable = of[allocators.GPUMEM], of[allocators.EXPANDABLE]
    good = pool is not None
    if good:
        limit = int(pool["peak_requested_bytes"] * args.limit)
        tight = [
            allocators.spawn(args, allocators.GPUMEM, limit, *more)
            for _ in range(args.rounds)
        ]
        of["gpumem, limited"] = best(tight, allocators.GPUMEM)
        most = pool["peak_requested_bytes"] * args.most
        if expandable:
            most = min(most, expandable["peak_reserved_bytes"])
        good = pool["peak_reserved_bytes"] <= most
        good = good and of["gpumem, limited"] is not None
    print(json.dumps({"model": name, "batches": batches, "good": good, **of}))
    return good


def main():
    args = arguments()
    if args.child:
        run(args)
    names = args.model or MODELS
    return 0 if all([compare(args, name) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
