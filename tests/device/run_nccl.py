#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""NCCL on two GPUs, by PyTorch, as it is and under gpumem-run.

    run_nccl.py BUILD [--seconds S] [--only WAY/PART]

BUILD is a folder in which `make` has been run. Two parts, "ranks", two processes with
a device each, and "group", one with both, sum, broadcast, gather and send tensors of
4 bytes to 256 MiB; in two ways: "ipc", where PyTorch and NCCL have memory of
cudaMalloc(), and "virtual", with PyTorch's expandable segments and what NCCL takes by
itself. Each natively, under gpumem-run, and so with --no-pool and with --adopt: it has
to print the same and end alike, and what is printed are the right sums. Prints lines
of TAP, and what gpumem-run counted for each process. What there is no time for is left
out, and said to be.

NVLink's multicast is left alone: NCCL_NVLS_ENABLE is 0 in every process. The exit
status is 0 if nothing failed. Takes two and a half minutes and 4 GiB of each device.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from run_nccl_work import ALONE, MIB, RANKS

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 45  # seconds of a run
WAYS = {
    "ipc": {"NCCL_CUMEM_ENABLE": "0"},
    "virtual": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
}
HOWS = {"run": [], "no-pool": ["--no-pool"], "adopt": ["--adopt"]}
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def counted(report, name, part):
    """Of each process what it had of each device; each rank has one."""
    with open(report, encoding="utf-8") as file:
        processes = json.load(file)["processes"]
    large = 0
    for process in processes:
        for device in process["devices"]:
            large += device["peak_bytes"] >= 256 * MIB
            kinds = {
                kind: (x["peak_bytes"], x["allocations"], x["current_bytes"])
                for kind, x in device["kinds"].items()
                if x["allocations"]
            }
            pool = {x: device["pool"][x] for x in ("hits", "misses", "current_bytes")}
            told = f"device {device['device']}, peak {device['peak_bytes']}"
            print(f"#   {process['pid']}: {told}", kinds, "pool", pool)
        notes = {x: process[x] for x in ("unknown_frees", "unhooked", "untracked")}
        if any(notes.values()) or process["stopped"]:
            print("#  ", notes, "stopped", process["stopped"])
    want = {"ranks": RANKS, "group": 1}[part]
    ok(len(processes) == want, f"{name}: {want} processes are counted", len(processes))
    ok(large == RANKS, f"{name}: and tensors on each device", large)


def run(tools, way, part, how, limit):
    """(what it printed and its status), None if it took too long."""
    name = f"{way}, {part}, {how}"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, f"{HERE}/run_nccl_work.py", part, folder]
        report = f"{folder}/report"
        if how != "native":
            tool = [f"{tools}/gpumem-run", "--json", f"--report={report}"]
            command = tool + HOWS[how] + command
        errors = open(f"{folder}/errors", "w+")
        begin = time.monotonic()
        process = subprocess.Popen(
            command,
            env={**os.environ, **WAYS[way]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        try:
            out = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            out = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        seconds = time.monotonic() - begin
        print(f"# {name}: {seconds:.1f} s, status {process.returncode}", flush=True)
        if process.returncode:
            errors.seek(0)
            print("#", *errors.read()[-2000:].splitlines(), sep="\n#   ", flush=True)
        if out is not None and how != "native":
            counted(report, name, part)
        return out and f"{out}status {process.returncode}\n"


def compare(tools, way, part, until):
    native = None
    for how in ("native", *HOWS):
        name = f"{way}, {part}, {how}"
        left = until - time.monotonic()
        if left < 10:
            print(f"# {name}: left out: no time is left", flush=True)
            continue
        if how != "native" and native is None:
            print(f"# {name}: left out: it does not end natively", flush=True)
            continue
        try:
            out = run(tools, way, part, how, min(LIMIT, left))
        except (OSError, ValueError) as why:
            ok(False, name, why)
            continue
        if how == "native":
            native = out
            good = bool(out) and out.endswith("status 0\n") and "WRONG" not in out
            ok(good, f"{name}: runs, and sums are right")
            if way == next(iter(WAYS)):  # the others' are the same
                print("#", *(out or "").splitlines(), sep="\n#   ", flush=True)
        else:
            same = bool(out) and out == native
            ok(same, f"{name}: prints and ends as it does natively")


def is_able():
    """Whether there are two GPUs, asked in a process that ends."""
    ask = "import torch; print(torch.cuda.device_count(), torch.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", ask], stdout=subprocess.PIPE, text=True, timeout=60
    )
    print("# GPUs, and PyTorch:", done.stdout.strip() or "none", flush=True)
    return done.returncode == 0 and int(done.stdout.split()[0]) >= RANKS


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=165)
    parser.add_argument("--only", help="such as ipc/ranks")
    args = parser.parse_args()
    until = time.monotonic() + args.seconds
    os.environ.update(ALONE)
    if not is_able():
        print("# left out: there are not two GPUs that PyTorch finds")
        return 0
    tools = os.path.join(os.path.abspath(args.build), "tools")
    for part in ("ranks", "group"):
        for way in WAYS:
            if args.only in (None, f"{way}/{part}"):
                compare(tools, way, part, until)
    print("# failed:" if failed else "# all passed", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
