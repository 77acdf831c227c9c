#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Whether gpumem-run --no-pool counts what the driver says that a program takes.

    run_exact.py BUILD [--seconds S] [PROGRAM...]

BUILD is a folder in which `make` has been run. Programs allocate by the driver
(run_exact.c, compiled with cc), CuPy, PyTorch and JAX, each in a process of its own,
which says at some points what cuMemGetInfo() tells it, and kills itself at the last
one. What gpumem-run has counted there is read from its recording, and at the last
point from its report, too, which has to be the same. Since the point "base", where
kernels are loaded, the driver has to have taken as much as was counted, rounded as it
rounds: blocks of more than 1 MiB up to pages of 2 MiB, smaller ones to 512 bytes in
pages that they share, and with others that were there before. So it may differ by

    a page of 2 MiB for its own tables, and if smaller blocks came or went
    another one, and one for each power of two among their sizes;
    with stream-ordered memory by 32 MiB, beside what the driver says its pool has;
    before "base" by what the driver takes for kernels, which is told.

Prints lines of TAP. Needs a device that nobody else uses. What is not installed, or
what there is no time for, is left out, and said to be. The exit status is 0 if
nothing failed.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import run_exact_programs as programs

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT, SMALL, PAGE, OF_POOL = 512, 1 << 20, 2 << 20, 32 << 20
HOST = "managed", "pinned", "registered"  # not in the figures of a device
LIMIT = 60  # seconds of a program
ERRORS = OSError, subprocess.SubprocessError, ValueError, RuntimeError
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- what gpumem-run has counted ---------------------------------------------------


def sizes(text):
    """Of the blocks that are live at the end of a trace."""
    live = {}
    for word, *fields in map(str.split, text.splitlines()):
        if word in ("a", "r"):
            live[fields[0]] = int(fields[1])
        elif word == "f":
            del live[fields[0]]
    return sorted(live.values())


def recorded(tools, path):
    """{kind: sizes of live blocks} of the first device."""
    if not os.path.exists(path):
        return {}
    tool = f"{tools}/gpumem-trace"
    live = {}
    for pool in json.loads(output(tool, "--json", path))["pools"]:
        if pool["device"] != "cuda:0" or not pool["live_blocks"]:
            continue
        text = output(tool, "--to=trace", f"--pool={pool['number']}", path)
        live[pool["name"]] = sizes(text)
        if sum(live[pool["name"]]) != pool["live_bytes"]:
            raise RuntimeError(f"the trace is not the recording: {pool}")
    return {kind: blocks for kind, blocks in live.items() if kind not in HOST}


def reported(report, pid):
    """{kind: bytes} at the end."""
    with open(report, encoding="utf-8") as file:
        processes = json.load(file)["processes"]
    return {
        kind: counts["current_bytes"]
        for process in processes
        if process["pid"] == pid
        for device in process["devices"]
        if device["device"] == 0
        for kind, counts in device["kinds"].items()
        if kind not in HOST and counts["current_bytes"]
    }


# ---- what the driver says ------------------------------------------------------------


class Info(ctypes.Structure):
    """nvmlProcessInfo_t"""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class Nvml:
    """Bytes of a process on the first device, by NVML, or None."""

    def __init__(self):
        self.device = ctypes.c_void_p()
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            if not self.nvml.nvmlInit_v2():
                get = self.nvml.nvmlDeviceGetHandleByIndex_v2
                if get(0, ctypes.byref(self.device)):
                    self.device.value = None
        except (OSError, AttributeError):
            pass

    def bytes_of(self, pid):
        if not self.device:
            return None
        count, list_ = ctypes.c_uint(64), (Info * 64)()
        get = self.nvml.nvmlDeviceGetComputeRunningProcesses_v3
        if get(self.device, ctypes.byref(count), list_):
            return None
        for each in list_[: count.value]:
            if each.pid == pid and each.used != 2**64 - 1:
                return each.used
        return None


# ---- how it rounds -------------------------------------------------------------------


def up(count, unit):
    return -(-count // unit) * unit


def rounded(blocks):
    """What whole pages take, and smaller blocks together."""
    small = sum(up(each, UNIT) for each in blocks if each <= SMALL)
    return sum(up(each, PAGE) for each in blocks if each > SMALL) + up(small, PAGE)


def classes(blocks):
    return len({each.bit_length() for each in blocks if each <= SMALL})


def expected(said, live):
    """Bytes of the driver."""
    live = dict(live)
    pool = 0
    if "pool_reserved" in said:
        live.pop("async", None)
        pool = said["pool_reserved"]
    return pool + rounded([each for blocks in live.values() for each in blocks])


def bound(before, after):
    """How many bytes less or more the driver may have."""
    kinds = [
        [each for kind, blocks in live.items() if kind != "async" for each in blocks]
        for live in (before, after)
    ]
    few = max(map(classes, kinds))
    ordered = "async" in before or "async" in after
    return PAGE + (few + 1) * PAGE * bool(few) + OF_POOL * ordered


def total(live):
    return sum(map(sum, live.values()))


# ---- a program -----------------------------------------------------------------------


def judge(name, base, now):
    """Two points: (what was said, live blocks, bytes by NVML)."""
    (said0, live0, nvml0), (said, live, nvml) = base, now
    where = f"{name}, {said['phase']}"
    counted = total(live) - total(live0)
    want = expected(said, live) - expected(said0, live0)
    used = said["used"] - said0["used"]
    most = bound(live0, live)
    text = f"{counted} counted, {want} as the driver rounds, {used} taken"
    text += f": {used - want:+}"
    if nvml is not None and nvml0 is not None:
        text += f", by NVML {nvml - nvml0 - want:+}"
    if said.get("loads"):
        ok(used >= want - most, where, text + ", kernels among it")
        return
    ok(abs(used - want) <= most, where, text + f", within {most}")
    if said.get("own") is not None:
        own = said["own"] - said0["own"]
        ok(own == counted, f"{where}: the framework says", own, "counted", counted)
    held, blocks = said.get("pool_used"), live.get("async", [])
    if held or (held is not None and blocks):
        most = sum(up(each, PAGE) for each in blocks)
        name = f"{where}: of {held} that the driver's pool holds"
        ok(sum(blocks) <= held <= most, name, sum(blocks), "counted")


def ended(name, status, pid, last, report):
    ok(status == -signal.SIGKILL, f"{name}: kills itself", status)
    want = {kind: sum(blocks) for kind, blocks in last.items()}
    got = reported(report, pid)
    ok(got == want, f"{name}: the report says at its end", got, want)


def follow(process, name, tools, path, nvml):
    """What is live at its last point, and its pid."""
    base, live, pid = None, {}, None
    for line in process.stdout:
        try:
            said = json.loads(line)
        except ValueError:
            print("#", line.rstrip(), flush=True)
            continue
        live, pid = recorded(tools, path), said["pid"]
        now = said, live, nvml.bytes_of(pid)
        if base and said["phase"] != "base":
            judge(name, base, now)
        else:
            base = now
            used = f"{said['used']} taken of the device, {total(live)} counted"
            print(f"# {name}, {said['phase']}: {used}", flush=True)
        process.stdin.write("\n")
        process.stdin.flush()
    return live, pid


def run(name, tools, folder, nvml):
    report, path = f"{folder}/report", f"{folder}/recording"
    command = [f"{tools}/gpumem-run", "--no-pool", "--json", f"--report={report}"]
    command += [f"--record={path}", *programs.command(name, folder)]
    errors = open(f"{folder}/errors", "w+")
    process = subprocess.Popen(
        command,
        env={**os.environ, **programs.environment(name)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        start_new_session=True,
    )
    timer = threading.Timer(LIMIT, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        last, pid = follow(process, name, tools, path, nvml)
        status = process.wait()
    finally:
        timer.cancel()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if status != -signal.SIGKILL or pid is None:
        errors.seek(0)
        print("#", *errors.read()[-1500:].splitlines(), sep="\n# ", flush=True)
    ended(name, status, pid, last, report)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("program", nargs="*", help=" ".join(programs.NAMES))
    parser.add_argument("--seconds", type=float, default=300)
    args = parser.parse_args()
    tools = os.path.join(os.path.abspath(args.build), "tools")
    until = time.monotonic() + args.seconds
    nvml = Nvml()
    for name in args.program or programs.NAMES:
        module = programs.module(name)
        if module and importlib.util.find_spec(module) is None:
            print(f"# {name}: left out: there is no {module}", flush=True)
        elif time.monotonic() > until:
            print(f"# {name}: left out: no time is left", flush=True)
        else:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    run(name, tools, folder, nvml)
                except ERRORS as why:
                    ok(False, name, why)
    print("# failed:" if failed else "# all passed", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
