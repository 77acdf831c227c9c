#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What gpumem-run --record writes of programs as they are, on an NVIDIA GPU.

    run_record.py BUILD [PROGRAM...]

BUILD is a folder in which `make` has been run; PROGRAM are those of run_programs.py,
with --adopt where the name ends in +adopt. Of each, every kind of memory has to have
the same peak, allocations and end in the recording and in the report of gpumem-run,
and a replay of it on `host` the recording's peak. Prints lines of TAP, and for each
program what it had at its peak and what a pool would have reserved for it. The exit
status is 0 if nothing failed.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Without torch+adopt: it captures a graph, where cudaMalloc() fails, which is what
# PyTorch calls without a cache, under gpumem-run or not.
PROGRAMS = "torch", "jax", "jax+adopt", "cupy", "numba"
HOST = "pinned", "registered"  # kinds that are not recorded
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def name_of(process, device):
    return device.get("name") or f"{process['api']}:{device['device']}"


def reported(process):
    """Of each kind on each device: bytes at the peak, allocations, and what frees
    leave."""
    return {
        (name_of(process, device), kind): (
            counts["peak_bytes"],
            counts["allocations"],
            counts["current_bytes"],
        )
        for device in process["devices"]
        for kind, counts in device["kinds"].items()
        if counts["allocations"] and kind not in HOST
    }


def recorded(summary):
    return {
        (pool["device"], pool["name"]): (
            pool["peak_requested_bytes"],
            pool["allocations"],
            pool["live_bytes"],
        )
        for pool in summary["pools"]
        if pool["allocations"]
    }


def look(tools, program, process, folder):
    path = process["recording"]
    summary = json.loads(output(f"{tools}/gpumem-trace", "--json", path))
    said, read = reported(process), recorded(summary)
    ok(read == said, f"{program}: the recording and the report", read, said)
    trace = f"{folder}/trace"
    with open(trace, "wb") as file:
        file.write(output(f"{tools}/gpumem-trace", "--to=trace", path))
    played = json.loads(
        output(f"{tools}/gpumem-replay", "--device=host:0", "--json", trace)
    )
    ok(
        played["peak_requested_bytes"] == summary["peak_requested_bytes"],
        f"{program}: a replay has its peak",
    )
    print(
        f"# {program}: {summary['peak_requested_bytes']} bytes at the peak in",
        f"{summary['kinds']['alloc']} allocations; a pool would have reserved",
        played["peak_reserved_bytes"],
        flush=True,
    )
    page = output(f"{tools}/gpumem-report", "--html", path)
    ok(b"</html>" in page, f"{program}: a page is made")


def record(tools, name):
    program, _, adopt = name.partition("+")
    with tempfile.TemporaryDirectory() as folder:
        command = [f"{tools}/gpumem-run", "--json", f"--report={folder}/report"]
        command += ["--adopt"] * bool(adopt) + [f"--record={folder}/recording"]
        done = subprocess.run(
            command + [sys.executable, f"{HERE}/run_programs.py", program],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(os.environ, TIMES=f"{folder}/times"),
        )
        ok(done.returncode == 0, f"{name}: runs", done.stderr[-300:])
        with open(f"{folder}/report", encoding="utf-8") as file:
            report = json.load(file)
        there = [p for p in report["processes"] if p.get("recording")]
        ok(len(there) > 0, f"{name}: is recorded")
        for process in there:
            look(tools, name, process, folder)


def main():
    tools = os.path.join(os.path.abspath(sys.argv[1]), "tools")
    for name in sys.argv[2:] or PROGRAMS:
        record(tools, name)
    print("# failed:" if failed else "# all passed", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
