#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What gpumem's subclass of PyTorch's allocator adds to its plug, on a real GPU.

Needs PyTorch with CUDA and its headers, a C++ compiler, and the package gpumem
installed (docs/python.md). Prints TAP; each part runs in a process of its own,
and the first of them compiles the subclass. The exit status is 0 if nothing
failed. Takes about three minutes and 8 GiB of device memory.

    python3 tests/device/torch_subclass.py [PART...]
"""

import argparse
import gc
import json
import os
import pickle
import subprocess
import sys
import tempfile

MIB, GIB = 1 << 20, 1 << 30
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def clean(torch):
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def convolutions(torch, steps=30):
    torch.manual_seed(3)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(64, 64, 3, stride=2),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 10),
    ).cuda()
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for step in range(steps):
        x = torch.randn(8, 3, 32 + 8 * (step % 3), 64, device="cuda")
        loss = net(x).square().mean()
        loss.backward()
        sgd.step()
        sgd.zero_grad()
        losses.append(loss.item())
    return losses


# ---- parts -----------------------------------------------------------------------


def part_losses(torch):
    torch.use_deterministic_algorithms(True)
    mine = convolutions(torch)
    theirs = native("losses")
    ok(mine == theirs, "losses are the native allocator's, bit by bit")
    torch.use_deterministic_algorithms(False)
    torch.backends.cudnn.benchmark = True
    ok(len(convolutions(torch)) == 30, "cudnn.benchmark")


def part_statistics(torch):
    x = torch.ones(1, device="cuda")
    mine, theirs = set(torch.cuda.memory_stats()), set(native("statistics"))
    ok(mine == theirs, "memory_stats() has the native keys", mine ^ theirs)
    torch.empty(GIB, dtype=torch.uint8, device="cuda")
    before = torch.cuda.memory_reserved()
    clean(torch)
    after = torch.cuda.memory_reserved()
    ok(after <= before - GIB, "empty_cache() gives back", before, after)
    torch.cuda.set_per_process_memory_fraction(0.01)
    try:
        torch.empty(4 * GIB, dtype=torch.uint8, device="cuda")
        ok(False, "a fraction holds")
    except torch.OutOfMemoryError as error:
        ok(" out of memory." in str(error), "a fraction holds", str(error)[:90])
    ok(torch.cuda.get_per_process_memory_fraction() == 0.01, "and is known")
    torch.cuda.set_per_process_memory_fraction(1.0)
    ok(float(x) == 1, "and it goes on")


def part_history(torch):
    from torch.cuda import _memory_viz

    torch.cuda.memory._record_memory_history("all", stacks="all")
    x = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
    kept = torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
    address = x.data_ptr()
    del x
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dump.pickle")
        torch.cuda.memory._dump_snapshot(path)
        with open(path, "rb") as file:
            dump = pickle.load(file)
    actions = [
        entry["action"]
        for entry in dump["device_traces"][0]
        if entry["addr"] == address and "segment" not in entry["action"]
    ]
    want = ["alloc", "free_requested", "free_completed"]
    ok(actions == want, "_record_memory_history()", actions)
    held = [
        block
        for segment in dump["segments"]
        for block in segment["blocks"]
        if block["address"] == kept.data_ptr()
    ]
    ok("part_history" in str(held[0]["frames"]), "with stacks")
    page = _memory_viz.trace_plot(dump)
    ok(len(page) > 1000, "_memory_viz.trace_plot()", len(page))
    page = _memory_viz.segment_plot(dump)
    ok(len(page) > 1000, "_memory_viz.segment_plot()", len(page))


def part_mempool(torch):
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        x = torch.ones(16 * MIB, device="cuda")
    ok(len(pool.snapshot()) == 1, "a MemPool has its own segment")
    side = torch.cuda.Stream()
    wrong = 0
    with torch.cuda.use_mem_pool(pool):
        for i in range(100):
            y = torch.full((MIB,), float(i), device="cuda")
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.cuda._sleep(1_000_000)
                mean = y.mean()
            y.record_stream(side)
            del y
            torch.full((MIB,), -1.0, device="cuda")
            side.synchronize()
            wrong += float(mean) != i
    ok(wrong == 0, "record_stream() in it", wrong)
    ok(bool((x == 1).all()), "what it has stays")
    before = torch.cuda.memory_reserved()
    del x, pool
    clean(torch)
    after = torch.cuda.memory_reserved()
    ok(after <= before - 64 * MIB, "its memory goes with it", before, after)


def private(torch):
    """Of private pools: the segments' bytes, and what is live in each pool."""
    live, total = {}, 0
    for segment in torch.cuda.memory_snapshot():
        if tuple(segment["segment_pool_id"]) == (0, 0):
            continue
        total += segment["total_size"]
        sizes = live.setdefault(str(segment["segment_pool_id"]), [])
        sizes += [
            block["size"]
            for block in segment["blocks"]
            if block["state"] == "active_allocated"
        ]
    return [total, sorted(sorted(sizes) for sizes in live.values())]


def graphs(torch):
    """How often a replay was wrong, and what is left of the graphs' memory."""
    model = torch.nn.Sequential(
        torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)
    ).cuda()
    given = torch.randn(64, 512, device="cuda")
    wrong = 0
    with torch.no_grad():
        model(given)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = model(given)
        second = torch.cuda.CUDAGraph()
        with torch.cuda.graph(second, pool=graph.pool()):
            other = model(given) * 2
        for i in range(50):
            given.normal_()
            want = model(given)
            churn = [torch.randn(64, 2048, device="cuda") for _ in range(20)]
            del churn
            if i % 10 == 0:
                torch.cuda.empty_cache()
            graph.replay()
            wrong += not torch.equal(result, want)
            second.replay()
            wrong += not torch.equal(other, want * 2)
    trained = torch.cuda.make_graphed_callables(model, (given,))
    trained(given).sum().backward()
    wrong += sum(x.grad is None for x in model.parameters())
    del graph, second, result, other, trained, model, given, want
    clean(torch)
    return [wrong, *private(torch)]


def part_graphs(torch):
    mine, theirs = graphs(torch), native("graphs")
    ok(mine[0] == theirs[0] == 0, "replays compute what the model does", mine)
    # What cuBLAS and its like keep of a graph's pool stays with both.
    ok(mine[1] <= theirs[1], "its memory goes with it", mine, theirs)


def part_compile(torch):
    torch.manual_seed(5)
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256)
    ).cuda()
    compiled = torch.compile(model, mode="reduce-overhead")
    wrong = 0
    for i in range(20):
        torch.compiler.cudagraph_mark_step_begin()
        x = torch.randn(64, 256, device="cuda")
        with torch.no_grad():
            # Two runs of a path, whose outputs both live, then a backward.
            first = compiled(x)
            second = compiled(first + 1)
            want = model(model(x) + 1)
            wrong += not torch.allclose(second, want, atol=1e-3, rtol=1e-3)
        if i % 3 == 2:
            torch.compiler.cudagraph_mark_step_begin()
            model.zero_grad()
            compiled(x).square().mean().backward()
            mine = model[0].weight.grad.clone()
            model.zero_grad()
            model(x).square().mean().backward()
            theirs = model[0].weight.grad
            wrong += not torch.allclose(mine, theirs, atol=1e-4, rtol=1e-2)
    ok(wrong == 0, 'torch.compile(mode="reduce-overhead")', wrong)
    counters = torch._dynamo.utils.counters["inductor"]
    ok(counters["cudagraph_skips"] == 0, "with graphs", dict(counters))


def part_oom(torch):
    seen = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *x: seen.append(x))
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
        ok(False, "torch.OutOfMemoryError")
    except torch.OutOfMemoryError as error:
        begins = str(error).startswith("CUDA out of memory. Tried to allocate")
        ok(begins, "torch.OutOfMemoryError", str(error)[:300])
    ok(len(seen) == 1 and seen[0][0] == 0, "its observers are told", seen)


def part_plug(torch):
    """The fallback, without a compiler."""
    import gpumem.torch

    ok(gpumem.torch.how() == "plug", "without a compiler there is the plug")
    ok(float(torch.ones(1000, device="cuda").sum()) == 1000, "which works")


PARTS = {
    name[5:]: value
    for name, value in list(globals().items())
    if name.startswith("part_")
}


# ---- processes ----------------------------------------------------------------------


def native(part):
    """What the native allocator gives, from a process without gpumem."""
    command = [sys.executable, os.path.abspath(__file__), "--native", part]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def run_native(part):
    import torch

    if part == "losses":
        torch.use_deterministic_algorithms(True)
        print(json.dumps(convolutions(torch)))
    elif part == "graphs":
        print(json.dumps(graphs(torch)))
    else:
        torch.ones(1, device="cuda")
        print(json.dumps(list(torch.cuda.memory_stats())))


def run_part(name):
    if name == "plug":
        os.environ["CXX"] = "/nonexistent/c++"
    import torch

    import gpumem.torch

    gpumem.torch.enable(subclass=None if name == "plug" else True)
    PARTS[name](torch)
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="*", help=" ".join(PARTS))
    parser.add_argument("--native", help=argparse.SUPPRESS)
    parser.add_argument("--part", dest="one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    if args.native:
        return run_native(args.native)
    if args.one:
        return run_part(args.one)
    import torch

    import gpumem

    print(f"# PyTorch {torch.__version__}, gpumem {gpumem.__version__}")
    print(f"# {torch.cuda.get_device_name(0)}", flush=True)
    bad = []
    for name in args.part or PARTS:
        print(f"# {name}", flush=True)
        command = [sys.executable, os.path.abspath(__file__), "--part", name]
        status = subprocess.run(command, timeout=300).returncode
        if status:
            print(f"not ok - {name}: exit status {status}")
            bad.append(name)
    print("# all passed" if not bad else f"# failed: {' '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
