#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What once went wrong in programs of PyTorch and CuPy on a pool.

Each part runs in a process of its own, on a GPU, with the Python package that
is found: a capture that fails, a limit below what is in use, and children of
fork(). A line for each check, and one for what is only told. The exit status is
0 if no check failed. --native runs the same on PyTorch's and CuPy's own
allocators, to compare; --plug with the package's plug.
"""

import gc
import os
import subprocess
import sys

MIB = 1 << 20
GIB = 1 << 30
failed = 0


def check(good, what):
    global failed
    failed += not good
    print("ok" if good else "not ok", "-", what, flush=True)


def pytorch():
    import torch

    if "--native" not in sys.argv:
        import gpumem.torch

        gpumem.torch.enable(subclass="--plug" not in sys.argv)
    torch.zeros(1, device="cuda")
    return torch


def block(torch, size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def refuses(torch, size):
    try:
        block(torch, size)
    except torch.OutOfMemoryError:
        return True
    return False


def capture():
    torch = pytorch()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    try:
        with torch.cuda.graph(graph, stream=stream):
            part = block(torch, 512 * MIB)
            part.fill_(1)
            torch.cuda.synchronize()  # which a capture does not allow
    except RuntimeError as error:
        print("# the capture fails:", str(error).splitlines()[0])
    part = None
    try:
        graph.reset()
    except RuntimeError as error:
        print("# and so does reset():", str(error).splitlines()[0])
    del graph
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    kept = torch.cuda.memory_reserved() - before
    check(kept <= 4 * MIB, f"a failed capture keeps {kept // MIB} MiB")
    check(torch.ones(1000, device="cuda").sum().item() == 1000, "it goes on")


def fraction():
    torch = pytorch()
    total = torch.cuda.mem_get_info()[1]
    kept = block(torch, 4 * GIB)
    torch.cuda.set_per_process_memory_fraction(2 * GIB / total)
    check(refuses(torch, GIB), "nothing more above a fraction below what is live")
    del kept
    check(not refuses(torch, GIB), "a free makes room")
    check(refuses(torch, 3 * GIB), "and the fraction holds")


def cupy():
    import cupy as cp

    if "--native" not in sys.argv:
        import gpumem.cupy

        gpumem.cupy.enable()
    pool = cp.get_default_memory_pool()
    kept = cp.ones(200 * MIB, cp.uint8)
    for limit in (1024, 100 * MIB):
        pool.set_limit(limit)
        try:
            cp.ones(10 * MIB, cp.uint8)
        except cp.cuda.memory.OutOfMemoryError:
            check(True, f"CuPy takes a limit of {limit} bytes, and holds it")
        else:
            check(False, f"CuPy's limit of {limit} bytes does not hold")
    pool.set_limit(0)
    check(int(cp.ones(10, cp.uint8).sum()) == 10, "without a limit it goes on")
    del kept


def fork():
    torch = pytorch()
    values = torch.ones(1000, device="cuda")
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=stream):
        twice = values * 2
    own = [] if "--plug" in sys.argv else [torch.cuda.MemPool()]

    def end():
        nonlocal values, twice, graph
        values = twice = graph = None
        own.clear()
        gc.collect()

    for name, work in (
        ("empty", lambda: torch.empty(10, device="cuda")),
        ("add", lambda: values + 1),
        ("empty_cache", torch.cuda.empty_cache),
        ("replay", lambda: graph.replay()),
        ("end", end),
    ):
        child = os.fork()
        if not child:
            try:
                work()
                print(f"# a child's {name} returns", flush=True)
            except RuntimeError as error:
                text = str(error).splitlines()[0][:100]
                print(f"# a child's {name}: {text}", flush=True)
            os._exit(0)
        check(os.waitpid(child, 0)[1] == 0, f"a child survives {name}")
    check((values + 1).sum().item() == 2000, "its parent goes on")


def main():
    parts = {part.__name__: part for part in (capture, fraction, cupy, fork)}
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    words = [word for word in sys.argv[1:] if not word.startswith("--")]

    if words:
        parts[words[0]]()
        return failed > 0
    ends = []
    for name in parts:
        print("#", name, flush=True)
        try:
            end = subprocess.run(
                [sys.executable, __file__, name] + options, timeout=240
            )
            ends.append(end.returncode)
        except subprocess.TimeoutExpired:
            print("not ok -", name, "did not end")
            ends.append(1)
    return any(ends)


if __name__ == "__main__":
    sys.exit(main())
