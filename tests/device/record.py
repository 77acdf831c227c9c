#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A recording of PyTorch on a real GPU, and what recording costs there.

Needs PyTorch with CUDA or ROCm, transformers, the package gpumem (docs/python.md),
and BUILD, a folder in which `make` has been run. Prints lines of TAP; times are
shown and decide nothing. The exit status is 0 if nothing failed. Takes about
two minutes and 4 GiB of device memory.

    python3 tests/device/record.py BUILD [TRACE...]

The inference of a BERT with random lengths runs with GPUMEM_CONF=record:FILE. What
the pool counted at its peak has to be what the recording says, what its snapshot
for PyTorch says in the functions of torch.cuda._memory_viz, and what a replay of it
on `host` counts, where there is no GPU. The same is recorded with stacks, and has to
name functions of PyTorch's; and an out of memory of PyTorch, of which the table has to
add up to the device's memory. Then each TRACE is replayed on the GPU with and without
a recording by turns.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

BATCHES = 60
TURNS = 5
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def run(*command, **settings):
    """What it prints."""
    return subprocess.run(
        [str(word) for word in command],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, **settings},
    ).stdout


# ---- the program that is recorded ----------------------------------------------


def infer():
    import gpumem.torch

    gpumem.torch.enable()
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(1)
    draw = random.Random(1)
    model = BertModel(BertConfig(hidden_size=512, num_attention_heads=8))
    model = model.half().eval().cuda()
    for _ in range(BATCHES):
        shape = draw.randint(1, 32), draw.randint(8, 512)
        words = torch.randint(0, 30000, shape, device="cuda")
        with torch.inference_mode():
            model(words, attention_mask=torch.ones_like(words))
    torch.cuda.synchronize()
    stats = gpumem.torch.pool().stats()
    print(json.dumps(stats["requested"]))


def run_out():
    """Of memory, with a gigabyte live."""
    import gpumem.torch

    gpumem.torch.enable()
    import torch

    kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    try:
        torch.empty(4 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        print("out of memory", kept.numel())


# ---- what is compared ----------------------------------------------------------


def recording(tools, folder):
    path = f"{folder}/recording"
    told = json.loads(
        run(sys.executable, __file__, "--infer", tools, GPUMEM_CONF=f"record:{path}")
    )
    print(f"# {os.path.getsize(path)} bytes of recording")
    read = json.loads(run(tools / "gpumem-trace", "--json", path))
    ok(
        read["peak_requested_bytes"] == told["peak"],
        "the recording's peak:",
        read["peak_requested_bytes"],
        told["peak"],
    )
    with open(f"{folder}/summary", "w", encoding="utf-8") as file:
        json.dump(read, file)
    run(tools / "gpumem-trace", "--to=pytorch", f"--output={folder}/pickle", path)
    beside = os.path.join(os.path.dirname(__file__), "memory_viz.py")
    said = run(sys.executable, beside, f"{folder}/pickle", f"{folder}/summary")
    ok(said == b"right\n", "PyTorch's functions open the snapshot, with our totals")
    run(tools / "gpumem-trace", "--to=trace", f"--output={folder}/trace", path)
    again = json.loads(
        run(tools / "gpumem-replay", "--device=host:0", "--json", f"{folder}/trace")
    )
    ok(
        again["peak_requested_bytes"] == told["peak"],
        "a replay's peak:",
        again["peak_requested_bytes"],
        told["peak"],
    )
    run(tools / "gpumem-report", "-o", f"{folder}/page.html", path)
    ok(os.path.getsize(f"{folder}/page.html") > 10000, "a page is made")


def stacks(tools, folder):
    path = f"{folder}/stacks"
    conf = f"record:{path},track:on"
    run(sys.executable, __file__, "--infer", tools, GPUMEM_CONF=conf)
    read = json.loads(run(tools / "gpumem-report", "--json", "--blocks=50", path))
    for moment in read["peak"], read["end"]:
        known = sum(stack["bytes"] for stack in moment["stacks"])
        print(f"# {len(moment['stacks'])} stacks of {known} bytes, of all", end=" ")
        print(moment["requested_bytes"])
    frames = [frame for stack in read["peak"]["stacks"] for frame in stack["frames"]]
    named = [frame["function"] for frame in frames if frame["function"]]
    ok(frames and len(named) > len(frames) / 4, "frames:", len(frames), len(named))
    ok(
        any(name.startswith("at::") for name in named),
        "functions of PyTorch have names:",
        next((name for name in named if name.startswith("at::")), "")[:60],
    )
    ok(
        read["peak"]["largest"][0]["stack"] is not None,
        "the largest block is known by where it was allocated",
    )
    summary = run(tools / "gpumem-trace", "--json", path)
    with open(f"{folder}/summary", "wb") as file:
        file.write(summary)
    run(tools / "gpumem-trace", "--to=pytorch", f"--output={folder}/pickle", path)
    beside = os.path.join(os.path.dirname(__file__), "memory_viz.py")
    said = run(sys.executable, beside, f"{folder}/pickle", f"{folder}/summary")
    ok(said == b"right\n", "PyTorch's functions open its snapshot, too")


def out_of_memory(tools, folder):
    path = f"{folder}/oom"
    conf = f"record:{path},record_max:16MiB,limit:2GiB"
    said = run(sys.executable, __file__, "--run-out", tools, GPUMEM_CONF=conf)
    ok(said.startswith(b"out of memory"), "PyTorch runs out of memory")
    read = json.loads(run(tools / "gpumem-report", "--json", path))
    told = read["out_of_memory"][-1]["report"]
    rows = told["table"]["rows"]
    total = told["table"]["total_bytes"]
    ok(
        sum(row["bytes"] for row in rows) == total,
        "the table adds up to the device's memory:",
        {row["what"]: row["bytes"] for row in rows},
        total,
    )
    ok(told["request"]["bytes"] == 4 << 30, "of the request that failed")


def cost(tools, folder, trace):
    """Nanoseconds an event, with and without, the least of TURNS each."""
    least = {}
    for _ in range(TURNS):
        for conf in "", f"record:{folder}/cost,record_max:64MiB":
            told = json.loads(
                run(
                    tools / "gpumem-replay",
                    "--json",
                    "--passes=5",
                    "--device=cuda:0",
                    trace,
                    GPUMEM_CONF=conf,
                )
            )
            least[conf] = min(least.get(conf, 1e9), told["pass"][-1]["ns_per_op"])
    plain, recorded = least.values()
    print(
        f"# {os.path.basename(trace)}: {plain:.1f} ns an event, recorded "
        f"{recorded:.1f}, {recorded / plain - 1:+.1%}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("traces", nargs="*")
    parser.add_argument("--infer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--run-out", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.infer:
        infer()
        return 0
    if args.run_out:
        run_out()
        return 0
    from pathlib import Path

    tools = Path(args.build) / "tools"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        recording(tools, folder)
        stacks(tools, folder)
        out_of_memory(tools, folder)
        for trace in args.traces:
            cost(tools, folder, trace)
    print(run(tools / "gpumem-bench", "--device=cuda:0", "record").decode())
    print(run(tools / "gpumem-bench", "--device=host:0", "record").decode())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
