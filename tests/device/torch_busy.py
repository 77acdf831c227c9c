#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Inference of random lengths, the host far ahead of the GPU, by PyTorch.

A transformer with random weights runs on batches of random lengths: the same
ones with PyTorch's native allocator, with its expandable segments, and with a
pool (torch_plug.c), each in a process of its own; first without a limit, then
with one of --limit times the peak of what the pool was asked for. Each prints a
line of JSON with its peaks, or with why it failed. The exit status is 0 if
the pool did what was asked of it in every run.
"""

import argparse
import ctypes
import json
import os
import random
import subprocess
import sys
import time

NATIVE, EXPANDABLE, GPUMEM = "native", "expandable_segments", "gpumem"
LAYERS, WIDTH, HEADS, WORDS = 12, 1024, 16, 30522
AHEAD = 32  # batches that are queued before the host waits


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plug", required=True, help="torch_plug.c, built")
    parser.add_argument("--device", default="cuda:0", help="gpumem's name")
    parser.add_argument("--batches", type=int, default=400)
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--bytes", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- one run, in a process of its own ---------------------------------------


def plug(path):
    """Makes the pool PyTorch's allocator; before anything of it is used."""
    import torch

    pool = torch.cuda.memory.CUDAPluggableAllocator(
        path, "torch_plug_alloc", "torch_plug_free"
    )
    torch.cuda.memory.change_current_allocator(pool)
    return pool


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


def peaks(args):
    import torch

    if args.child == GPUMEM:
        values = ctypes.c_uint64(), ctypes.c_uint64()
        ctypes.CDLL(args.plug).torch_plug_peaks(*map(ctypes.byref, values))
        return values[0].value, values[1].value
    stats = torch.cuda.memory_stats()
    requested = stats.get("requested_bytes.all.peak", 0)
    return requested, stats["reserved_bytes.all.peak"]


def run(args):
    import torch

    device = int(args.device.rpartition(":")[2] or 0)
    keep = plug(args.plug) if args.child == GPUMEM else None
    torch.cuda.set_device(device)
    if args.bytes and not keep:
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(args.bytes / total)
    draw = random.Random(1)
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = False
    with torch.inference_mode():
        layers, words = model(torch.device("cuda", device))
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
    requested, reserved = peaks(args)
    result = {
        "peak_requested_bytes": requested,
        "peak_reserved_bytes": reserved,
        "ratio": round(reserved / requested, 4) if requested else None,
        "seconds": round(seconds, 3),
        "torch": torch.__version__,
    }
    print(json.dumps(result), flush=True)
    # What PyTorch frees after its allocator is gone is nobody's business.
    os._exit(0)


# ---- all of them ------------------------------------------------------------


def spawn(args, allocator, limit):
    """A run's results, with its failure if there was one."""
    result = {"allocator": allocator, "limit_bytes": limit}
    environment = dict(os.environ, GPUMEM_TORCH_DEVICE=args.device)
    conf = "expandable_segments:" + str(allocator == EXPANDABLE)
    # The second is the name that replaces the first in newer versions.
    environment["PYTORCH_CUDA_ALLOC_CONF"] = conf
    environment["PYTORCH_ALLOC_CONF"] = conf
    environment["PYTORCH_HIP_ALLOC_CONF"] = conf
    if allocator == GPUMEM:
        for name in ("CUDA", "HIP"):
            del environment[f"PYTORCH_{name}_ALLOC_CONF"]
        del environment["PYTORCH_ALLOC_CONF"]
        if limit:
            before = environment.get("GPUMEM_CONF")
            environment["GPUMEM_CONF"] = ",".join(
                filter(None, [before, f"limit:{limit}"])
            )
    command = [sys.executable, os.path.abspath(__file__)]
    command += [f"--plug={args.plug}", f"--device={args.device}"]
    command += [f"--batches={args.batches}", f"--child={allocator}"]
    try:
        child = subprocess.run(
            command + [f"--bytes={limit}"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        lines = child.stdout.splitlines()
        if child.returncode == 0 and lines:
            result.update(json.loads(lines[-1]))
        else:
            said = child.stderr.strip().splitlines() or ["nothing"]
            result["failed"] = f"status {child.returncode}: {said[-1]}"
    except subprocess.TimeoutExpired:
        result["failed"] = "it takes longer than 15 minutes"
    print(json.dumps(result), flush=True)
    return result


def main():
    args = arguments()
    if args.child:
        run(args)
    results = [spawn(args, each, 0) for each in (NATIVE, EXPANDABLE, GPUMEM)]
    pool = results[-1]
    if "failed" in pool:
        return 1
    limit = int(pool["peak_requested_bytes"] * args.limit)
    for each in (NATIVE, EXPANDABLE, GPUMEM):
        results.append(spawn(args, each, limit))
    return 1 if "failed" in results[-1] else 0


if __name__ == "__main__":
    sys.exit(main())
