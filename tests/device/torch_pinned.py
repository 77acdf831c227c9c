#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyTorch's pinned memory, its own and gpumem's, on a real GPU.

Tensors of random sizes are pinned and filled, copied to the device on two streams and
dropped at once, while what arrived is summed there: the sums are right. Then all is
given back. A process for each allocator prints a line of JSON: the bytes that the
tensors had at their peak and those that were pinned, the time, the rate of a copy of
256 MiB, and what is pinned after empty_host_cache().

    PYTHONPATH=... python3 tests/device/torch_pinned.py

The exit status is 0 if all sums are right, gpumem's pool pinned at most what PyTorch's
own allocator did, and gave all back. Times decide nothing.
"""

import json
import random
import subprocess
import sys
import time

import torch

TENSORS = 400
KEPT = 6
MIB = 1 << 20
SIZES = 1 * MIB, 96 * MIB  # bytes, from and to


def stats():
    """The blocks' bytes and the driver's; PyTorch 2.10 changed the names."""
    found = torch.cuda.host_memory_stats()
    new = "active_requests.current" in found
    if new:
        return found, "active_bytes", "allocated_bytes"
    return found, "allocated_bytes", "reserved_bytes"


def peaks():
    found, blocks, pinned = stats()
    return found[f"{blocks}.peak"], found[f"{pinned}.peak"]


def left():
    found, _, pinned = stats()
    return found[f"{pinned}.current"]


def fill(draw, streams):
    """One tensor's way to the device: the sum there, and the right one."""
    size, value = draw.randint(*SIZES), draw.randint(1, 100)
    host = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    host.fill_(value)
    with torch.cuda.stream(draw.choice(streams)):
        there = host.to("cuda", non_blocking=True)
        total = there.sum(dtype=torch.int64)
    return host, total, size * value


def work(draw):
    """(sums that are wrong, the most bytes that tensors had)"""
    streams = [torch.cuda.Stream() for _ in range(2)]
    kept, sums, peak = [], [], 0
    for _ in range(TENSORS):
        host, *pair = fill(draw, streams)
        kept.append(host)
        peak = max(peak, sum(x.numel() for x in kept))
        sums.append(pair)
        if len(kept) >= KEPT:
            kept.pop(draw.randrange(len(kept)))
        del host
    torch.cuda.synchronize()
    return sum(total.item() != want for total, want in sums), peak


def rate():
    """GB/s of the best of ten copies."""
    host = torch.empty(256 * MIB, dtype=torch.uint8, pin_memory=True)
    there = torch.empty_like(host, device="cuda")
    best = 0.0
    for _ in range(10):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        there.copy_(host, non_blocking=True)
        end.record()
        end.synchronize()
        best = max(best, host.numel() / begin.elapsed_time(end) / 1e6)
    return best


def child(name):
    if name == "gpumem":
        import gpumem.torch

        gpumem.torch.enable(subclass=True, pinned=True)
    torch.ones(1, device="cuda")
    begin = time.monotonic()
    wrong, live = work(random.Random(1))
    seconds = time.monotonic() - begin
    active, pinned = peaks()
    result = {"allocator": name, "wrong": wrong, "live_bytes": live}
    result.update(active_bytes=active, pinned_bytes=pinned)
    result["seconds"] = round(seconds, 3)
    result["copy_gb_s"] = round(rate(), 1)
    torch.cuda.synchronize()
    torch._C._host_emptyCache()
    print(json.dumps(dict(result, left_bytes=left())), flush=True)


def main():
    if len(sys.argv) > 1:
        return child(sys.argv[1])
    results = []
    for name in "native", "gpumem":
        command = [sys.executable, __file__, name]
        out = subprocess.run(command, capture_output=True, text=True)
        print(out.stdout, out.stderr if out.returncode else "", flush=True)
        if out.returncode:
            return 1
        results.append(json.loads(out.stdout.splitlines()[-1]))
    native, ours = results
    return int(
        bool(native["wrong"] or ours["wrong"] or ours["left_bytes"])
        or ours["pinned_bytes"] > native["pinned_bytes"]
    )


if __name__ == "__main__":
    sys.exit(main())
