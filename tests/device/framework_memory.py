#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""TensorFlow, Keras and JAX by their own allocators and under gpumem-run: memory.

    python3 tests/device/framework_memory.py BUILD --set tensorflow

Each program of the set (keras_programs.py, jax_programs.py, pool_programs.py) runs
with each of the set's allocators, in processes that follow one another, by turns,
--turns times. The device is read from outside: with a context, at the most while it
trains, trained, after what users call to clear memory, ten seconds later (under
gpumem-run --adopt, in the first way of the first turn), and trimmed. --python=COMMAND
runs the programs; BUILD is a folder in which `make` has been run. Needs a device that
nobody else uses; --tiny, which reads no device, needs none, and tries the programs.

--out=FILE gets a line of JSON for each program in each process; a table follows on
the standard output (framework_table.py). The exit status is 0 if each program's text
was the same with every allocator and gpumem-run gave back what it should have. Times
decide nothing.
"""

import argparse
import json
import os
import shlex
import sys
import tempfile
import time

import framework_table
import measured

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 150  # seconds without a word
WAIT = 10.5  # in which what is unused goes back by itself
GROWTH = {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}
SLOWLY = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
ALLOCATOR = "XLA_PYTHON_CLIENT_ALLOCATOR"
DRIVER_POOL = {"PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync"}
UNDER = "run", "adopt", "adopt-platform"  # of gpumem-run
ONCE = "growth", "run", "platform", "async-growth"  # of which one turn is enough
KERAS = "keras_programs.py"
QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "XLA_FLAGS": "--xla_gpu_deterministic_ops=true",
}

# What runs, and the allocators, the first of which is what the others are compared
# with. `run` is gpumem-run without --adopt over the setting beside it; "adopt-" what
# --adopt does with a setting of the user's.
SETS = {
    "tensorflow": (
        [[KERAS, "dense"], [KERAS, "conv"], [KERAS, "transformer"]],
        {
            "default": {},
            "growth": GROWTH,
            "async": {"TF_GPU_ALLOCATOR": "cuda_malloc_async"},
            "run": GROWTH,
            "adopt": {},
        },
    ),
    "jit": (
        [[KERAS, "dense", "--ways=jit"], [KERAS, "transformer", "--ways=jit"]],
        {
            "default": {},
            "growth": GROWTH,
            "async": {"TF_GPU_ALLOCATOR": "cuda_malloc_async"},
            "adopt": {},
        },
    ),
    "ten": (
        [[KERAS, "dense", "--ways=function", "--epochs=2", "--repeat=10"]],
        {"growth": GROWTH, "adopt": {}},
    ),
    "jax": (
        [["jax_programs.py", "gpt"]],
        {
            "default": {},
            "growth": SLOWLY,
            "platform": {ALLOCATOR: "platform"},
            "async": {ALLOCATOR: "cuda_async"},
            "async-growth": {ALLOCATOR: "cuda_async", **SLOWLY},
            "vmm": {ALLOCATOR: "vmm"},
            "run": SLOWLY,
            "adopt": {},
            "adopt-platform": {ALLOCATOR: "platform"},
        },
    ),
    "keras-jax": (
        [[KERAS, "dense"]],
        {"default": {}, "growth": SLOWLY, "adopt": {}},
    ),
    "keras-torch": ([[KERAS, "dense"]], {"default": {}, "run": {}, "adopt": {}}),
    "pools": (
        [["pool_programs.py", each] for each in ("cupy", "rmm", "torch")],
        {"default": DRIVER_POOL, "adopt": DRIVER_POOL},
    ),
}
BACKENDS = {"keras-jax": "jax", "keras-torch": "torch"}


# ---- one process -----------------------------------------------------------------


def command(args, program, allocator, report):
    words = shlex.split(args.python) + [os.path.join(HERE, program[0]), *program[1:]]
    if args.ways and not any(each.startswith("--ways") for each in program):
        words.append(f"--ways={args.ways}")
    if args.tiny:
        words.append("--tiny")
    if allocator in UNDER:
        tool = os.path.join(args.build, "tools", "gpumem-run")
        adopt = [] if allocator == "run" else ["--adopt"]
        words = [tool, *adopt, "--json", f"--report={report}", "--", *words]
    return words


def started(args, job, folder):
    program, allocator, turn = job
    report = os.path.join(folder, f"{program[1]}.{allocator}.{turn}.json")
    environment = {**QUIET, **os.environ}
    environment["KERAS_BACKEND"] = BACKENDS.get(args.set, "tensorflow")
    environment.update(SETS[args.set][1][allocator])
    errors = open(report + ".err", "w+", encoding="utf-8", errors="replace")
    child = measured.Child(
        command(args, program, allocator, report), environment, errors
    )
    return child, report, errors


def waits(args, row):
    """Whether it waits for what goes back by itself: once for each program."""
    first = row.get("before_mib") == row["context_mib"]
    return row["allocator"] == "adopt" and not row["turn"] and first and not args.tiny


def read(args, watch, child, row, said):
    """What a phase says and is, into the row of its way."""
    name = said.pop("phase").replace(" ", "_")
    if name == "waited" and waits(args, row):
        time.sleep(WAIT)
        row["long"] = True
    if name == "trained":
        row["peak_mib"] = watch.end()
    if name != "imported":  # the process before may still have something then
        row[name + "_mib"] = watch.meter.mib()
    row.update(said)
    if name == "trained" and row.get("pid"):
        row["process_mib"] = measured.of_process(row["pid"])
    if name in ("context", "cleared", "trimmed"):
        watch.begin()
    child.go()


def rows_of(args, watch, child, row):
    """A row for each of the ways that a process trains: what it said before the
    first, and what it said of that way. `row` alone if it trained nothing."""
    rows, before = [], None
    said = child.next(LIMIT)
    while said:
        if said.get("phase") == "trained":
            rows.append({**row, "before_mib": before})
        at = rows[-1] if rows else row
        read(args, watch, child, at, said)
        before = at.get("trimmed_mib", at.get("cleared_mib", at.get("context_mib")))
        said = child.next(LIMIT)
    return rows or [row]


def counted(report):
    """What gpumem-run saw, of all devices and processes; {} without it."""
    try:
        with open(report, encoding="utf-8") as file:
            processes = json.load(file)["processes"]
    except (OSError, ValueError):
        return {}
    devices = [each for one in processes for each in one["devices"]]
    names = "peak_bytes", "reserved_peak_bytes", "current_bytes"
    return {
        "report_" + name: sum(each.get(name, 0) for each in devices) for name in names
    }


def finished(args, watch, job, running):
    """The rows of a process that was started before."""
    program, allocator, turn = job
    child, report, errors = running
    row = {"set": args.set, "program": program[1], "allocator": allocator}
    row["turn"] = turn
    row["setting"] = SETS[args.set][1][allocator]
    watch.meter.settled()  # the process before is gone
    rows = rows_of(args, watch, child, row)
    status = child.end()
    seen = counted(report)
    for each in rows:
        mine = f"{program[1]} {each.get('way')} "
        each["text"] = [line for line in child.text if line.startswith(mine)]
        each["status"] = status
        each.update(seen)
    if status or not rows[0].get("way"):
        rows[0]["status"] = status or "it trained nothing"
        errors.seek(0)
        rows[0]["error"] = errors.read()[-1500:]
    errors.close()
    return rows


# ---- all of them -----------------------------------------------------------------


def jobs(args):
    """(program, allocator, turn) of each, the allocators in another order each turn."""
    programs, allocators = SETS[args.set]
    names = [each for each in allocators if each in (args.only or allocators)]
    for turn in range(args.turns):
        at = turn % len(names)
        for program in programs:
            if args.programs and program[1] not in args.programs:
                continue
            for allocator in names[at:] + names[:at]:
                if not turn or allocator not in ONCE:
                    yield program, allocator, turn


def measure(args, watch, folder):
    """Each row, as it is known; the next process imports its framework meanwhile."""
    begun, waiting = time.monotonic(), list(jobs(args))
    running = []
    while waiting or running:
        while waiting and len(running) < 2:
            if time.monotonic() - begun > args.seconds:
                print(f"# left out: {len(waiting)} processes: no time is left")
                waiting.clear()
                break
            job = waiting.pop(0)
            running.append((job, started(args, job, folder)))
        if running:
            job, process = running.pop(0)
            yield from finished(args, watch, job, process)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--set", choices=SETS, default="tensorflow")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="+", help="of the allocators")
    parser.add_argument("--programs", nargs="+", help="of the set's")
    parser.add_argument("--ways", help="WAY,WAY...: as the program has them")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=480, help="to begin one")
    parser.add_argument("--out", default=os.devnull)
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


def main():
    args = arguments()
    watch = measured.Watch(args.tiny)
    rows = []
    with tempfile.TemporaryDirectory() as folder, open(args.out, "a") as out:
        for row in measure(args, watch, folder):
            rows.append(row)
            print(json.dumps(row), file=out, flush=True)
            if row["status"]:
                print("#", row["allocator"], row["program"], row["status"])
                print(row.get("error", ""), flush=True)
    return 0 if framework_table.judged(args.set, rows) else 1


if __name__ == "__main__":
    sys.exit(main())
