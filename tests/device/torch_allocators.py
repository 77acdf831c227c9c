# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A program of PyTorch with each of three allocators, in processes of their own.

PyTorch's native one, its expandable segments, and a pool (torch_plug.c). Where
the package gpumem is found, the pool by the subclass of gpumem.torch comes too,
and where one is built, as a control, lists behind the plug's door (torch_lists.c).
A script that uses this calls spawn() for each run, or makes a Worker() of each
that goes on in turns, and in the process that these make, where --child names the
allocator, first begin() and last end().
"""

import ctypes
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

NATIVE, EXPANDABLE, GPUMEM = "native", "expandable_segments", "gpumem"
SUBCLASS, LISTS = "subclass", "lists"
POOLS = GPUMEM, SUBCLASS
ALL = NATIVE, EXPANDABLE, GPUMEM
MINUTES = 15  # that a run may take


def has_subclass():
    return importlib.util.find_spec("gpumem") is not None


def there_are(args):
    """Those that can be tried here."""
    result = [NATIVE, EXPANDABLE]
    result += [GPUMEM] * bool(args.plug) + [LISTS] * bool(args.lists)
    return result + [SUBCLASS] * has_subclass()


def add_arguments(parser):
    parser.add_argument("--plug", default="", help="torch_plug.c, built")
    parser.add_argument("--lists", default="", help="torch_lists.c, built")
    parser.add_argument("--device", default="cuda:0", help="gpumem's name")
    parser.add_argument("--child", help="for one run: its allocator")
    parser.add_argument("--bytes", type=int, default=0, help="its limit, or 0")


# ---- one run, in a process of its own ---------------------------------------


def plug(args):
    """What PyTorch is to load, or None."""
    return {GPUMEM: args.plug, LISTS: args.lists}.get(args.child)


def begin(args):
    """Before anything of PyTorch's memory is used; keep what it returns."""
    import torch

    device = int(args.device.rpartition(":")[2] or 0)
    keep = None
    if args.child == SUBCLASS:
        import gpumem.torch

        gpumem.torch.enable(subclass=True)
        keep = gpumem.torch
    elif plug(args):
        keep = torch.cuda.memory.CUDAPluggableAllocator(
            plug(args), "torch_plug_alloc", "torch_plug_free"
        )
        torch.cuda.memory.change_current_allocator(keep)
    torch.cuda.set_device(device)
    if args.bytes and not keep:
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(args.bytes / total)
    return keep


def peaks(args):
    import torch

    if plug(args):
        values = ctypes.c_uint64(), ctypes.c_uint64()
        ctypes.CDLL(plug(args)).torch_plug_peaks(*map(ctypes.byref, values))
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
    ours = allocator in POOLS
    for name in names:
        result[name] = "expandable_segments:" + str(allocator == EXPANDABLE)
        if ours:
            del result[name]
    if ours and limit:
        before = result.get("GPUMEM_CONF")
        conf = filter(None, [before, f"limit:{limit}"])
        result["GPUMEM_CONF"] = ",".join(conf)
    return result


def command(args, allocator, limit, more):
    script = os.path.abspath(sys.argv[0])
    result = [sys.executable, script, *more]
    result += [f"--plug={args.plug}", f"--lists={args.lists}"]
    result += [f"--device={args.device}", f"--child={allocator}"]
    return result + [f"--bytes={limit}"]


def finish(result, status, out, err):
    """Adds what a process printed last, or why it failed."""
    lines = out.splitlines()
    if status == 0 and lines:
        result.update(json.loads(lines[-1]))
    else:
        said = err.strip().splitlines() or ["nothing"]
        result["failed"] = f"status {status}: {said[-1]}"


def spawn(args, allocator, limit, *more):
    """A run's results, which are printed too, with its failure if there was
    one. `more`: arguments of the script that runs."""
    result = {"allocator": allocator, "limit_bytes": limit}
    try:
        child = subprocess.run(
            command(args, allocator, limit, more),
            env=environment(args, allocator, limit),
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
        )
        finish(result, child.returncode, child.stdout, child.stderr)
    except subprocess.TimeoutExpired:
        result["failed"] = f"it takes longer than {MINUTES} minutes"
    print(json.dumps(result), flush=True)
    return result


class Worker:
    """A run that is done in turns, so that several can alternate on one device
    by the second: its process calls take_turns()."""

    def __init__(self, args, allocator, limit, *more):
        self.result = {"allocator": allocator, "limit_bytes": limit}
        self.seconds = []
        self.busy = []  # the seconds of a processor
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command(args, allocator, limit, more),
            env=environment(args, allocator, limit),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def turn(self, passes=1):
        """False: the process has ended."""
        try:
            self.process.stdin.write(f"{passes}\n")
            self.process.stdin.flush()
            seconds, busy = map(float, self.process.stdout.readline().split())
        except (OSError, ValueError):
            return False
        self.seconds.append(seconds)
        self.busy.append(busy)
        return True

    def end(self):
        """Its results, which are printed too."""
        out, _ = self.process.communicate()
        self.errors.seek(0)
        status = self.process.returncode
        finish(self.result, status, out, self.errors.read())
        self.result["seconds"] = [round(each, 3) for each in self.seconds]
        self.result["processor_seconds"] = [round(each, 3) for each in self.busy]
        print(json.dumps(self.result), flush=True)
        return self.result


def take_turns(turn):
    """Calls turn() as often as it is asked for, with the passes that are asked
    for, and tells its seconds and those of a processor."""
    for line in sys.stdin:
        begun = time.monotonic(), time.process_time()
        turn(int(line))
        ended = time.monotonic(), time.process_time()
        print(*(b - a for a, b in zip(begun, ended)), flush=True)
