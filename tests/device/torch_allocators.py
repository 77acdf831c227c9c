# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A program of PyTorch with each of three allocators, in processes of their own.

PyTorch's native one, its expandable segments, and a pool (torch_plug.c). A
script that uses this calls spawn() for each run, and in the process that it
makes, where --child names the allocator, first begin() and last end().
"""

import ctypes
import json
import os
import subprocess
import sys

NATIVE, EXPANDABLE, GPUMEM = "native", "expandable_segments", "gpumem"
ALL = NATIVE, EXPANDABLE, GPUMEM
MINUTES = 15  # that a run may take


def add_arguments(parser):
    parser.add_argument("--plug", required=True, help="torch_plug.c, built")
    parser.add_argument("--device", default="cuda:0", help="gpumem's name")
    parser.add_argument("--child", help="for one run: its allocator")
    parser.add_argument("--bytes", type=int, default=0, help="its limit, or 0")


# ---- one run, in a process of its own ---------------------------------------


def begin(args):
    """Before anything of PyTorch's memory is used; keep what it returns."""
    import torch

    device = int(args.device.rpartition(":")[2] or 0)
    keep = None
    if args.child == GPUMEM:
        keep = torch.cuda.memory.CUDAPluggableAllocator(
            args.plug, "torch_plug_alloc", "torch_plug_free"
        )
        torch.cuda.memory.change_current_allocator(keep)
    torch.cuda.set_device(device)
    if args.bytes and not keep:
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(args.bytes / total)
    return keep


def peaks(args):
    import torch

    if args.child == GPUMEM:
        values = ctypes.c_uint64(), ctypes.c_uint64()
        ctypes.CDLL(args.plug).torch_plug_peaks(*map(ctypes.byref, values))
        return values[0].value, values[1].value
    stats = torch.cuda.memory_stats()
    requested = stats.get("requested_bytes.all.peak", 0)
    return requested, stats["reserved_bytes.all.peak"]


def end(args, **more):
    """Prints the results, and ends the process: what PyTorch frees after its
    allocator is gone is nobody's business."""
    import torch

    requested, reserved = peaks(args)
    result = {
        "peak_requested_bytes": requested,
        "peak_reserved_bytes": reserved,
        "ratio": round(reserved / requested, 4) if requested else None,
        "torch": torch.__version__,
    }
    print(json.dumps(dict(result, **more)), flush=True)
    os._exit(0)


# ---- all of them ------------------------------------------------------------


def environment(args, allocator, limit):
    result = dict(os.environ, GPUMEM_TORCH_DEVICE=args.device)
    # The second is the name that replaces the first in newer versions.
    names = ["PYTORCH_" + x + "ALLOC_CONF" for x in ("CUDA_", "", "HIP_")]
    for name in names:
        result[name] = "expandable_segments:" + str(allocator == EXPANDABLE)
        if allocator == GPUMEM:
            del result[name]
    if allocator == GPUMEM and limit:
        before = result.get("GPUMEM_CONF")
        conf = filter(None, [before, f"limit:{limit}"])
        result["GPUMEM_CONF"] = ",".join(conf)
    return result


def spawn(args, allocator, limit, *more):
    """A run's results, which are printed too, with its failure if there was
    one. `more`: arguments of the script that runs."""
    result = {"allocator": allocator, "limit_bytes": limit}
    command = [sys.executable, os.path.abspath(sys.argv[0]), *more]
    command += [f"--plug={args.plug}", f"--device={args.device}"]
    command += [f"--child={allocator}", f"--bytes={limit}"]
    try:
        child = subprocess.run(
            command,
            env=environment(args, allocator, limit),
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
        )
        lines = child.stdout.splitlines()
        if child.returncode == 0 and lines:
            result.update(json.loads(lines[-1]))
        else:
            said = child.stderr.strip().splitlines() or ["nothing"]
            result["failed"] = f"status {child.returncode}: {said[-1]}"
    except subprocess.TimeoutExpired:
        result["failed"] = f"it takes longer than {MINUTES} minutes"
    print(json.dumps(result), flush=True)
    return result
