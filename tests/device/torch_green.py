#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Memory of a green context, with gpumem for PyTorch's allocator, on a real GPU.

A green context is a part of a device's processors. It has streams of its own, and the
pool records its events in the primary context. So tensors are filled, summed and freed
in turns in a green context and outside of it, with nothing but the streams' order to
keep them apart: the sums are right, and all memory comes back in the end.

    PYTHONPATH=... python3 tests/device/torch_green.py

The exit status is 0 if that is so, and if this PyTorch or this driver has none.
"""

import contextlib
import random
import sys

import torch

import gpumem.torch

ROUNDS = 200
SIZES = 1 << 10, 24 << 20  # bytes, from and to


def context():
    """One of a few processors, or None and why not."""
    try:
        from torch.cuda.green_contexts import GreenContext

        return GreenContext.create(num_sms=16, device_id=0), ""
    except (ImportError, AttributeError, RuntimeError) as error:
        return None, str(error).splitlines()[0]


@contextlib.contextmanager
def set_and_popped(green):
    green.set_context()
    yield
    green.pop_context()


def entrance(green):
    """What makes its stream the current one; PyTorch 2.14 has another door."""
    if hasattr(green, "Stream"):
        stream = green.Stream()
        return lambda: torch.cuda.stream(stream)
    return lambda: set_and_popped(green)


def work(draw, kept):
    """Fills a tensor, keeps it for a while, and sums one that it kept before."""
    words = draw.randint(*SIZES) // 4
    value = draw.randint(1, 9)
    kept.append((torch.full((words,), value, dtype=torch.int32, device="cuda"), value))
    if len(kept) < 6:
        return None
    tensor, value = kept.pop(draw.randrange(len(kept)))
    return tensor.sum(dtype=torch.int64), tensor.numel() * value


def turns(green, draw):
    """The sums that are wrong."""
    inside, outside, sums = [], [], []
    enter = entrance(green)
    for _ in range(ROUNDS):
        with enter():
            sums += [work(draw, inside) for _ in range(draw.randint(1, 5))]
        sums += [work(draw, outside) for _ in range(draw.randint(1, 5))]
    torch.cuda.synchronize()
    sums = [(got.item(), want) for got, want in filter(None, sums)]
    return [pair for pair in sums if pair[0] != pair[1]]


def main():
    gpumem.torch.enable(subclass=True)
    torch.ones(1, device="cuda")
    green, why = context()
    if not green:
        print("skipped:", why)
        return 0
    wrong = turns(green, random.Random(1))
    del green
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    left = torch.cuda.memory_allocated()
    print("wrong sums:", wrong[:3], "left:", left)
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(main())
