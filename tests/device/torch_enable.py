#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyTorch with gpumem by its plug on a real GPU, beside its own allocator.

Needs PyTorch with CUDA or ROCm, and the package gpumem installed (docs/python.md).
Each part runs in a process of its own and prints lines of TAP; "native" runs do
the same work without gpumem, for what both have to agree on. The exit status is
0 if nothing failed. Takes about two minutes and 20 GiB of device memory.

    python3 tests/device/torch_enable.py [PART...]
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

MIB, GIB = 1 << 20, 1 << 30
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def clean():
    import torch

    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


# ---- parts ---------------------------------------------------------------------


def train(torch):
    """Losses of a small transformer on sequences of varying length."""
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    layer = torch.nn.TransformerEncoderLayer(
        256, 8, 1024, dropout=0.1, batch_first=True
    )
    model = torch.nn.TransformerEncoder(layer, 4).cuda()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses = []
    for step in range(60):
        length = 16 + (step * 37) % 200
        x = torch.randn(8, length, 256, device="cuda")
        loss = (model(x) - x.roll(1, 1)).pow(2).mean()
        loss.backward()
        adam.step()
        adam.zero_grad(set_to_none=True)
        losses.append(loss.item())
    return losses


def train_and_clean(torch):
    """The losses, and how many bytes are allocated afterwards."""
    losses = train(torch)
    clean()
    return losses, torch.cuda.memory_allocated()


def part_losses(torch):
    mine, left = train_and_clean(torch)
    theirs, left_there = native("losses")
    ok(mine == theirs, "losses are those of the native allocator, bit by bit")
    # What libraries keep to work in is in both.
    ok(left <= left_there + MIB, "and the model is gone", left, left_there)


def part_statistics(torch):
    cuda = torch.cuda
    keys = set(native("statistics"))
    x = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
    ok(cuda.memory_allocated() == 64 * MIB, "memory_allocated()")
    ok(cuda.memory_reserved() >= 64 * MIB, "memory_reserved()")
    y = torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
    del y
    ok(cuda.max_memory_allocated() == 96 * MIB, "max_memory_allocated()")
    ok(cuda.max_memory_reserved() >= 96 * MIB, "max_memory_reserved()")
    cuda.reset_peak_memory_stats()
    ok(cuda.max_memory_allocated() == 64 * MIB, "reset_peak_memory_stats()")
    cuda.reset_accumulated_memory_stats()
    stats = cuda.memory_stats()
    ok(
        stats["allocated_bytes.all.freed"] == 0
        and stats["allocated_bytes.all.current"] == 64 * MIB,
        "reset_accumulated_memory_stats()",
    )
    missing = sorted(keys - set(stats))
    ok(not missing, "memory_stats() has PyTorch's keys", *missing[:5])
    ok("Allocated memory" in cuda.memory_summary(), "memory_summary()")
    free, total = cuda.mem_get_info()
    ok(0 < free < total, "mem_get_info()")
    blocks = [b for s in cuda.memory_snapshot() for b in s["blocks"]]
    live = [b for b in blocks if b["address"] == x.data_ptr()]
    ok(len(live) == 1 and live[0]["size"] == 64 * MIB, "memory_snapshot()")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dump.pickle")
        cuda.memory._dump_snapshot(path)
        ok(os.path.getsize(path) > 100, "_dump_snapshot()")
    del x
    clean()
    ok(cuda.memory_reserved() == 0, "empty_cache() leaves nothing")


def part_busy(torch):
    """empty_cache() while a kernel runs, on another stream: on its own the free
    before the kernel is not known to be over."""
    torch.empty(8 * GIB, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    after = torch.cuda.Event()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(10_000_000_000)
        after.record()
    begun = time.monotonic()
    torch.cuda.empty_cache()
    took = time.monotonic() - begun
    ok(not after.query(), "empty_cache() waits for no kernel")
    ok(torch.cuda.memory_reserved() < 16 * MIB, "and gives back what is free")
    print(f"# empty_cache() of 8 GiB under a kernel: {took * 1e3:.1f} ms")
    torch.cuda.synchronize()
    for megabytes in 64, 256, 512, 1024, 2048:
        times = [time_of_empty_cache(torch, megabytes) * 1e3 for _ in range(5)]
        print(
            f"# of {megabytes} MiB, under one of 100 ms: {min(times):.2f} to"
            f" {max(times):.2f} ms"
        )


def time_of_empty_cache(torch, megabytes):
    kept = [
        torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
        for _ in range(megabytes // 32)
    ]
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(200_000_000)
    kept.clear()
    begun = time.monotonic()
    torch.cuda.empty_cache()
    took = time.monotonic() - begun
    torch.cuda.synchronize()
    return took


def part_oom(torch):
    def refused(call, name):
        try:
            call()
        except torch.OutOfMemoryError as error:
            ok(" out of memory." in str(error), name)
        except Exception as error:  # noqa: BLE001
            ok(False, name, type(error).__name__, str(error)[:200])
        else:
            ok(False, name, "it succeeded")

    def huge():
        return torch.empty(1 << 45, dtype=torch.uint8, device="cuda")

    refused(huge, "torch.OutOfMemoryError")

    class Greedy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            huge()

    x = torch.ones(4, device="cuda", requires_grad=True)
    refused(lambda: Greedy.apply(x).sum().backward(), "also in a backward pass")
    torch.cuda.set_per_process_memory_fraction(0.05)
    refused(
        lambda: torch.empty(
            torch.cuda.mem_get_info()[1] // 10, dtype=torch.uint8, device="cuda"
        ),
        "beyond set_per_process_memory_fraction()",
    )
    ok(torch.cuda.get_per_process_memory_fraction() == 0.05, "which is known")
    torch.cuda.set_per_process_memory_fraction(1.0)
    ok(float(torch.ones(1000, device="cuda").sum()) == 1000, "and it goes on")


def part_streams(torch):
    side = torch.cuda.Stream()
    wrong = 0
    for i in range(200):
        x = torch.full((4 * MIB,), float(i), device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(1_000_000)
            total = x.double().mean()
        x.record_stream(side)
        del x
        torch.full((4 * MIB,), -1.0, device="cuda")
        wrong += float(total) != i
    ok(wrong == 0, "record_stream() keeps what a stream still reads", wrong)

    def work(results, index):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for i in range(300):
                x = torch.full((1000 * (i % 50 + 1),), 1.0, device="cuda")
                results[index] += float(x.sum()) == len(x)

    results = [0] * 8
    threads = [
        threading.Thread(target=work, args=(results, i)) for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok(results == [300] * 8, "eight threads with a stream each", results)


def part_graphs(torch):
    import gpumem.torch

    own = gpumem.torch.pool(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)
    ).cuda()
    given = torch.randn(64, 512, device="cuda")
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(given)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = model(given)
        second = torch.cuda.CUDAGraph()
        with torch.cuda.graph(second, pool=graph.pool()):
            other = model(given) * 2
        ok(own.stats()["graph_bytes"] > 0, "a graph has memory of its own")
        wrong = 0
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
        ok(wrong == 0, "replays compute what the model does", wrong)
    trained = torch.cuda.make_graphed_callables(model, (given,))
    trained(given).sum().backward()
    ok(all(x.grad is not None for x in model.parameters()), "graphed callables")
    del graph, second, result, other, trained, model, given, want
    clean()
    ok(own.stats()["graph_bytes"] == 0, "which goes with the last graph")


def part_known(torch):
    """What is known not to work: told, not counted."""
    conv = torch.nn.Conv2d(64, 64, 3).cuda()
    torch.backends.cudnn.benchmark = True
    try:
        conv(torch.randn(4, 64, 32, 32, device="cuda"))
        print("# cudnn.benchmark works")
    except RuntimeError as error:
        print("# cudnn.benchmark:", str(error).splitlines()[0])
    ok(True, "known limits are told")


PARTS = {
    name[5:]: value
    for name, value in list(globals().items())
    if name.startswith("part_")
}


# ---- processes -------------------------------------------------------------------


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
        print(json.dumps(train_and_clean(torch)))
    else:
        torch.ones(1, device="cuda")
        print(json.dumps(list(torch.cuda.memory_stats())))


def run_part(name):
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    import gpumem.torch

    gpumem.torch.enable(subclass=False)
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
        status = subprocess.run(command, timeout=900).returncode
        if status:
            print(f"not ok - {name}: exit status {status}")
            bad.append(name)
    print("# all passed" if not bad else f"# failed: {' '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
