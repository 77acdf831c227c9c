#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Programs that allocate in stream order, for framework_memory.py.

    python3 tests/device/pool_programs.py cupy|rmm|torch

CuPy's is its MemoryAsyncPool, over the device's default pool, RMM's its
CudaAsyncMemoryResource, which makes one, and whose memory CuPy uses, and PyTorch's its
backend cudaMallocAsync, which PYTORCH_ALLOC_CONF in the environment asks for. On four
streams each allocates, fills, adds up and frees arrays of 64 KiB to 256 MiB beside
2 GiB that stay. Prints sums, and speaks with who measures as measured.py says.
"""

import argparse
import gc
import importlib
import statistics
import time

import measured

EPOCHS, STEPS, STREAMS = 16, 40, 4  # the first epoch is not counted
LIVE = 2 << 30
SMALL, DOUBLINGS = 64 << 10, 13


# ---- where memory comes from -----------------------------------------------------


class Cupy:
    """Arrays of CuPy's, by its own asynchronous pool or RMM's."""

    def __init__(self, cupy):
        self.array = cupy
        self.streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(STREAMS)]

    def start(self, name):
        if name == "rmm":
            import rmm
            from rmm.allocators.cupy import rmm_cupy_allocator as allocator

            rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())
        else:
            allocator = self.array.cuda.MemoryAsyncPool().malloc
        self.array.cuda.set_allocator(allocator)

    def full(self, count, value):
        return self.array.full(count, value, dtype="float32")

    def on(self, stream):
        return stream

    def wait(self):
        self.array.cuda.runtime.deviceSynchronize()


class Torch:
    """Tensors, by the backend that the environment asks for."""

    def __init__(self, torch):
        self.array = torch
        self.streams = [torch.cuda.Stream() for _ in range(STREAMS)]

    def start(self, _name):
        backend = self.array.cuda.get_allocator_backend()
        if backend != "cudaMallocAsync":
            raise SystemExit(f"PyTorch's backend is {backend}")

    def full(self, count, value):
        return self.array.full((count,), value, device="cuda")

    def on(self, stream):
        return self.array.cuda.stream(stream)

    def wait(self):
        self.array.cuda.synchronize()


MAKERS = {"cupy": ("cupy", Cupy), "rmm": ("cupy", Cupy), "torch": ("torch", Torch)}


# ---- what is done with it --------------------------------------------------------


def step(maker, at):
    """On each stream an array and its double, which are freed behind their sum."""
    sums = []
    for i, stream in enumerate(maker.streams):
        with maker.on(stream):
            count = (SMALL << (at * 5 + i * 3) % DOUBLINGS) // 4 + 256 * at
            one = maker.full(count, float(at % 7 + i))
            two = one + one
            sums.append(two[:: max(1, count // 1024)].sum())
            del one, two
    maker.wait()
    return sum(map(float, sums))


def run(name, maker):
    maker.start(name)
    own = [maker.full(LIVE // 16 // 4, float(i)) for i in range(16)]
    seconds, sums = [], []
    for _ in range(EPOCHS):
        begun = time.perf_counter()
        sums.append(sum(step(maker, at) for at in range(STEPS)))
        seconds.append(time.perf_counter() - begun)
    sums.append(sum(float(each[-1]) for each in own))
    print(name, "async", "sums", *map(repr, sums), flush=True)
    measured.phase("trained", way="async", epoch_s=statistics.median(seconds[1:]))
    own.clear()
    gc.collect()
    measured.phase("deleted")
    maker.wait()
    measured.phase("cleared")
    measured.given_back()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", choices=MAKERS)
    args = parser.parse_args()
    name, maker = MAKERS[args.program]
    module = importlib.import_module(name)
    measured.imported(module)
    maker = maker(module)
    maker.wait()
    measured.phase("context")
    run(args.program, maker)
    measured.leave()


if __name__ == "__main__":
    main()
