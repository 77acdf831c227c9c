#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem-suspend and gpumem-resume on a program of PyTorch's, on a real GPU.

A process fills GIB of a device's memory, sums it in a loop and replays a captured
graph. It is suspended: the device then has what it had before. It is resumed: the sums
are the same, and it goes on. Once with PyTorch's own allocator, once with gpumem's.

    python3 tests/device/suspend.py FOLDER-OF-THE-TOOLS [GIB]

The exit status is 0 if that is so, and the figures are printed. The device has to be
otherwise idle.
"""

import json
import os
import subprocess
import sys
import time

MIB = 1 << 20


def used():
    """MiB of the first device, of all processes."""
    query = "--query-gpu=memory.used"
    out = subprocess.check_output(["nvidia-smi", query, "--format=csv,noheader,nounits"])
    return int(out.split()[0])


# ---- the process that is suspended --------------------------------------------------


def captured(x):
    import torch

    y = torch.zeros_like(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y.add_(x)
    return graph, y


def child(allocator, gib):
    import torch

    if allocator == "gpumem":
        import gpumem.torch

        gpumem.torch.enable(subclass=True)
    torch.manual_seed(1)
    blocks = [
        torch.randint(0, 1 << 20, (64 * MIB // 8,), device="cuda")
        for _ in range(int(gib * 16))
    ]
    x = torch.ones(1000, device="cuda")  # the graph reads it at each replay
    graph, y = captured(x)
    rounds = 0
    for line in sys.stdin:  # a round a line
        graph.replay()
        rounds += 1
        sums = [int(block.sum()) for block in blocks]
        told = {"sum": sum(sums), "graph": y.sum().item() / 1000 == rounds}
        told["addresses"] = [block.data_ptr() for block in blocks[:3]]
        print(json.dumps(told), flush=True)


# ---- the one that suspends it ------------------------------------------------------------


class Program:
    def __init__(self, allocator, gib):
        command = [sys.executable, __file__, "--child", allocator, str(gib)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def begin(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())


def tool(folder, name, *arguments):
    """What it says of the process, and its seconds."""
    begin = time.monotonic()
    path = os.path.join(folder, name)
    done = subprocess.run([path, "--json", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.returncode} {done.stdout} {done.stderr}")
    told = json.loads(done.stdout)["processes"][0]
    return told, time.monotonic() - begin


def attempt(folder, allocator, gib):
    before = used()
    program = Program(allocator, gib)
    pid = str(program.process.pid)
    program.begin()
    first = program.answer()
    figures = {"allocator": allocator, "device_mib": {"before": before, "filled": used()}}
    asleep, figures["suspend_seconds"] = tool(folder, "gpumem-suspend", pid)
    figures["device_mib"]["suspended"] = used()
    program.begin()  # waits at its first call
    awake, figures["resume_seconds"] = tool(folder, "gpumem-resume", pid)
    second = program.answer()
    figures["device_mib"]["resumed"] = used()
    figures["same"] = first == second
    figures["host_mib"] = asleep["host_bytes"] // MIB, awake["host_bytes"] // MIB
    program.process.stdin.close()
    figures["status"] = program.process.wait()
    print(json.dumps(figures), flush=True)
    if not figures["same"]:
        print("before:", first, "after:", second, flush=True)
    near = figures["device_mib"]["suspended"] <= before + 64
    return figures["same"] and near and not figures["status"]


def main():
    if sys.argv[1] == "--child":
        return child(sys.argv[2], float(sys.argv[3]))
    gib = float(sys.argv[2]) if len(sys.argv) > 2 else 8
    return int(not all([attempt(sys.argv[1], each, gib) for each in ("native", "gpumem")]))


if __name__ == "__main__":
    sys.exit(main())
