#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""How gpumem's subclass counts for PyTorch, on a real GPU.

What PyTorch's native allocator counts of the same program is beside it. Needs
what tests/device/torch_subclass.py needs, and prints TAP. The exit status is 0 if
nothing failed. Takes half a minute and 1 GiB of device memory.

    python3 tests/device/torch_counts.py
"""

import gc
import json
import os
import subprocess
import sys

MIB = 1 << 20
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def graph(torch, elements, pool):
    """What a graph, and then its result alone, add to the statistics."""
    names = ("segment", "reserved_bytes", "active", "active_bytes")

    def now():
        gc.collect()
        stats = torch.cuda.memory_stats()
        return [stats[f"{name}.{pool}.current"] for name in names]

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        given = torch.ones(elements, device="cuda")
        before = now()
        captured = torch.cuda.CUDAGraph()
        captured.capture_begin()
        result = given.clone()
        for _ in range(5):
            result = result.clone() + 1
        captured.capture_end()
    torch.cuda.current_stream().wait_stream(side)
    with_graph = now()
    captured.replay()
    right = result.sum().item() == 6 * elements
    del captured
    gc.collect()
    torch.cuda.empty_cache()
    alone = now()
    del given, result
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return [
        right,
        [a - b for a, b in zip(with_graph, before)],
        [a - b for a, b in zip(alone, before)],
    ]


def graphs(torch):
    sizes = (
        (128, "small_pool"),
        (MIB // 4, "small_pool"),
        (MIB // 4 + 128, "large_pool"),
        (10 * MIB // 4 - 128, "large_pool"),
        (10 * MIB // 4 + 128, "large_pool"),
    )
    return [graph(torch, *each) for each in sizes]


def blocks(torch):
    found = []
    for size in (1, 511, 513, 1000, MIB, MIB + 1, 7 * MIB):
        before = torch.cuda.memory_allocated()
        x = torch.empty(size, dtype=torch.uint8, device="cuda")
        found.append(torch.cuda.memory_allocated() - before)
        del x
    return found


def history(torch):
    """Whose stack is with memory that went back, by each kind of context."""
    found = []
    for context in ("alloc", "all", "state"):
        torch.cuda.empty_cache()
        torch.cuda.memory._record_memory_history(context=context)
        torch.empty(12, device="cuda")
        torch.cuda.empty_cache()
        found.append("empty_cache" in json.dumps(torch.cuda.memory._snapshot()))
        torch.cuda.memory._record_memory_history(None)
    torch.cuda.memory._record_memory_history("all")
    x = torch.empty(1001, dtype=torch.uint8, device="cuda")
    last = torch.cuda.memory._snapshot()["device_traces"][0][-1]
    found.append([last["action"], last["size"]])
    torch.cuda.memory._record_memory_history(None)
    del x
    return found


def too_large(torch):
    try:
        torch.empty(8_000_000_000 << 30, dtype=torch.int8, device="cuda")
    except torch.OutOfMemoryError as error:
        return str(error).splitlines()[0]
    return "nothing was raised"


PARTS = (graphs, blocks, history, too_large)


def main():
    native = "--native" in sys.argv[1:]
    import torch

    if not native:
        import gpumem.torch

        gpumem.torch.enable(subclass=True)
        print(f"# PyTorch {torch.__version__}, gpumem {gpumem.__version__}")
        print(f"# {torch.cuda.get_device_name(0)}", flush=True)
    torch.ones(1, device="cuda")
    mine = {part.__name__: part(torch) for part in PARTS}
    if native:
        print(json.dumps(mine))
        return 0
    command = [sys.executable, os.path.abspath(__file__), "--native"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(done.stderr)
    theirs = json.loads(done.stdout.splitlines()[-1])
    for name, found in mine.items():
        more = (found,) if found == theirs[name] else (found, theirs[name])
        ok(found == theirs[name], f"{name} as the native allocator's", *more)
    print("# all passed" if not failed else f"# failed: {' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
