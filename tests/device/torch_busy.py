#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Inference of random lengths, the host far ahead of the GPU, by PyTorch.

A transformer with random weights runs on batches of random lengths: the same
ones with each allocator of torch_allocators.py; first without a limit, then
with one of --limit times the peak of what the pool was asked for. Each prints a
line of JSON with its peaks, or with why it failed. The exit status is 0 if
the pool did what was asked of it in every run.
"""

import argparse
import random
import sys
import time

import torch_allocators as allocators

LAYERS, WIDTH, HEADS, WORDS = 12, 1024, 16, 30522
AHEAD = 32  # batches that are queued before the host waits


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    allocators.add_arguments(parser)
    parser.add_argument("--batches", type=int, default=400)
    parser.add_argument("--limit", type=float, default=1.05)
    return parser.parse_args()


def model(device):
    import torch

    def parameter(*shape):
        return torch.randn(*shape, device=device, dtype=torch.float16) * 0.02

    layers = [
        (
            parameter(3 * WIDTH, WIDTH),
            parameter(WIDTH, WIDTH),
            parameter(4 * WIDTH, WIDTH),
            parameter(WIDTH, 4 * WIDTH),
        )
        for _ in range(LAYERS)
    ]
    return layers, parameter(WORDS, WIDTH)


def infer(layers, words, x):
    from torch.nn import functional as f

    count, length = x.shape[:2]
    for three, out, up, down in layers:
        q, k, v = (
            part.view(count, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in f.linear(f.layer_norm(x, (WIDTH,)), three).chunk(3, -1)
        )
        y = f.scaled_dot_product_attention(q, k, v)
        x = x + f.linear(y.transpose(1, 2).reshape(x.shape), out)
        y = f.gelu(f.linear(f.layer_norm(x, (WIDTH,)), up))
        x = x + f.linear(y, down)
    return f.linear(x, words).argmax(-1)


def run(args):
    import torch

    keep = allocators.begin(args)  # noqa: F841
    draw = random.Random(1)
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = False
    with torch.inference_mode():
        layers, words = model(torch.device("cuda"))
        torch.cuda.synchronize()
        begun = time.monotonic()
        for batch in range(args.batches):
            shape = draw.randint(1, 32), draw.randint(16, 512), WIDTH
            x = torch.randn(*shape, device="cuda", dtype=torch.float16)
            infer(layers, words, x)
            if batch % AHEAD == AHEAD - 1:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
        seconds = time.monotonic() - begun
    allocators.end(args, seconds=round(seconds, 3))


def main():
    args = arguments()
    if args.child:
        run(args)
    batches = f"--batches={args.batches}"
    for each in allocators.ALL:
        pool = allocators.spawn(args, each, 0, batches)
    if "failed" in pool:
        return 1
    limit = int(pool["peak_requested_bytes"] * args.limit)
    for each in allocators.ALL:
        pool = allocators.spawn(args, each, limit, batches)
    return 1 if "failed" in pool else 0


if __name__ == "__main__":
    sys.exit(main())
