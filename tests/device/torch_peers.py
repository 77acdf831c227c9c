#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyTorch on two GPUs, and in two processes, with gpumem's subclass.

Needs what torch_subclass.py needs. Prints TAP; each part runs in processes of its
own, which are ended, and the part failed, when it takes longer than LIMITS says.
What needs a second GPU is skipped where there is one. NVLink's multicast is left
alone: NCCL_NVLS_ENABLE is 0 in every process. The exit status is 0 if nothing
failed. Takes about five minutes and 5 GiB of each device's memory.

    python3 tests/device/torch_peers.py [PART...]
"""

import argparse
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch_sent

HERE = Path(__file__).resolve().parent
MIB, GIB = 1 << 20, 1 << 30
HOOK = "TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK"
# Seconds of a part. The first compiles the subclass.
LIMITS = {"devices": 300, "ranks": 400, "registered": 400}
LIMIT = 120
ALONE = {"sent_fd": "fd", "sent_ipc": "ipc"}  # on one GPU, sharing so
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def clean(torch):
    gc.collect()
    for number in range(torch.cuda.device_count()):
        torch.cuda.synchronize(number)
    torch.cuda.empty_cache()


def filled(torch, megabytes, device, value=0.0):
    return torch.full((megabytes * MIB // 4,), value, device=f"cuda:{device}")


# ---- parts -----------------------------------------------------------------------


def part_devices(torch):
    """Work on both at once, of which none sees the other's."""
    torch.manual_seed(0)
    a = torch.randn(512, 512)
    want = a @ a
    near = [a.to(f"cuda:{i}") for i in range(2)]
    for i, x in enumerate(near):
        ok(x.device.index == i, f"a tensor of device {i} is there")
    wrong = 0
    for i in range(100):
        kept = [filled(torch, 1 + i % 9, d, float(i)) for d in range(2)]
        products = [x @ x for x in near]
        wrong += any(not bool((x == i).all()) for x in kept)
        close = [torch.allclose(x.cpu(), want, atol=1e-2) for x in products]
        wrong += not all(close)
    ok(wrong == 0, "both work at once", wrong)
    try:
        near[0] + near[1]
        ok(False, "an operation on both is refused")
    except RuntimeError as error:
        same = "same device" in str(error)
        ok(same, "an operation on both is refused", str(error)[:100])
    with torch.cuda.device(1):
        inner = torch.ones(1000, device="cuda")
    ok(inner.device.index == 1, "torch.cuda.device() decides where")


def part_statistics(torch):
    def now(what):
        read = getattr(torch.cuda, what)
        return [read(i) for i in range(2)]

    x = [filled(torch, 1, i) for i in range(2)]
    clean(torch)
    base = now("memory_allocated")
    x += [filled(torch, 64, 0), filled(torch, 32, 1)]
    grown = [b - a for a, b in zip(base, now("memory_allocated"))]
    ok(grown == [64 * MIB, 32 * MIB], "each counts its own", grown)
    torch.cuda.reset_peak_memory_stats(0)
    del x[3]
    grown = [b - a for a, b in zip(base, now("memory_allocated"))]
    ok(grown == [64 * MIB, 0], "a free counts where it was", grown)
    peaks = [b - a for a, b in zip(base, now("max_memory_allocated"))]
    ok(peaks == [64 * MIB, 32 * MIB], "and so do peaks", peaks)
    held = now("memory_reserved")
    clean(torch)
    after = now("memory_reserved")
    ok(after[0] >= 64 * MIB, "empty_cache() leaves what is live", *after)
    ok(after[1] < held[1], "and gives back what is not", *after)
    found = {
        segment["device"]
        for segment in torch.cuda.memory_snapshot()
        for block in segment["blocks"]
        if block["address"] == x[2].data_ptr()
    }
    ok(found == {0}, "memory_snapshot() says whose a block is", found)
    torch.cuda.set_per_process_memory_fraction(0.01, 1)
    y = filled(torch, 4096, 0)
    try:
        filled(torch, 4096, 1)
        ok(False, "a fraction is one device's")
    except torch.OutOfMemoryError as error:
        told = " out of memory." in str(error)
        ok(told, "a fraction is one device's", str(error)[:100])
    del y
    torch.cuda.set_per_process_memory_fraction(1.0, 1)


def part_copies(torch):
    there = [torch.cuda.can_device_access_peer(i, 1 - i) for i in range(2)]
    print("# peers can reach each other:", *there)
    wrong = []
    for count in (1, 1000, 3 * MIB + 1, 64 * MIB):
        for dtype in (torch.uint8, torch.float32):
            x = (torch.arange(count) % 251).to(dtype)
            a = x.to("cuda:0")
            b = a.to("cuda:1")
            c = torch.empty_like(a).copy_(b, non_blocking=True)
            if not (torch.equal(b.cpu(), x) and torch.equal(c.cpu(), x)):
                wrong.append((count, dtype))
    ok(not wrong, "tensors go there and back", *wrong)
    changed = 0
    for i in range(100):
        x = filled(torch, 8 + i % 5, i % 2, float(i))
        y = x.to(f"cuda:{1 - i % 2}", non_blocking=True)
        del x  # what follows may get its memory, after the copy
        filled(torch, 8 + i % 5, i % 2, -1.0)
        changed += not bool((y == i).all())
    ok(changed == 0, "a source that is freed at once", changed)
    sides = [torch.cuda.Stream(i) for i in range(2)]
    changed = 0
    for i in range(100):
        x = filled(torch, 16, 0, float(i))
        sides[0].wait_stream(torch.cuda.current_stream(0))
        with torch.cuda.stream(sides[0]):
            y = x.to("cuda:1", non_blocking=True)
        x.record_stream(sides[0])
        del x
        filled(torch, 16, 0, -1.0)
        changed += not bool((y == i).all())
    ok(changed == 0, "on other streams, with record_stream()", changed)


def part_strided(torch):
    """Kernels that read and write the other device's memory, whenever it came."""
    wrong = []
    for i in range(2):
        old = torch.zeros(2048, 1024, device=f"cuda:{1 - i}")
        for n in range(25):
            x = (torch.arange(1 << 20) * (n + 1) % 977).float().view(1024, 1024)
            a = x.to(f"cuda:{i}")
            new = torch.zeros(1024 + n, 2048, device=f"cuda:{1 - i}")
            old[::2].copy_(a)
            new[:1024, 1::2].copy_(a.t())
            there = {
                "transposed": (a.t().to(f"cuda:{1 - i}"), x.t()),
                "of another type": (a.to(f"cuda:{1 - i}", torch.float64), x.double()),
                "into what was there": (old[::2], x),
                "into what came later": (new[:1024, 1::2], x.t()),
            }
            for what, (y, want) in there.items():
                if not torch.equal(y.cpu(), want):
                    wrong.append((i, n, what))
    ok(not wrong, "kernels use the other device's memory", *wrong[:5])


def part_strided_pools(torch):
    """The same with memory of a private pool, and after it has moved."""
    wrong = []
    for n in range(10):
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool, device="cuda:0"):
            a = torch.full((2048, 512 + n), float(n), device="cuda:0")
        small = [filled(torch, 3, 0, float(k)) for k in range(12)]
        del small[::2]
        large = torch.full((512, 9216), n + 0.5, device="cuda:0")
        for x in (a, large, small[2].view(512, -1)):
            if not torch.equal(x.t().to("cuda:1").cpu(), x.cpu().t()):
                wrong.append((n, tuple(x.shape)))
        del a, small, large, pool
        clean(torch)
    ok(not wrong, "those of a private pool, and moved pages", *wrong[:5])


def part_opening(torch):
    """How long it takes to open a pool that has memory already."""
    import gpumem

    torch.zeros(1, device="cuda:1")
    for count, megabytes in (2000, 2), (1000, 20), (20, 1000):
        pool = gpumem.Pool("cuda:0")
        kept = [pool.alloc(megabytes * MIB) for _ in range(count)]
        begun = time.perf_counter()
        pool.add_peer(gpumem.Device("cuda:1"))
        took = time.perf_counter() - begun
        pool.check()
        print(f"# {count} blocks of {megabytes} MiB: {took * 1e3:.1f} ms")
        del kept
        pool.close()
    ok(True, "pools are opened when they have memory already")


def part_group(torch):
    """NCCL with both devices in one process."""
    wrong = 0
    for i in range(40):
        count = (1, 1000, 3 * MIB + 1, 16 * MIB)[i % 4] + i
        x = [
            (torch.arange(count, device=f"cuda:{d}") % 17).float() * (d + 1)
            for d in range(2)
        ]
        want = (torch.arange(count) % 17).float() * 3
        torch.cuda.nccl.all_reduce(x)
        wrong += not all(torch.equal(each.cpu(), want) for each in x)
        if i % 7 == 6:
            del x
            clean(torch)
    ok(wrong == 0, "all_reduce of two devices in one process", wrong)


def part_ranks(torch):
    del torch
    compare_ranks("0")


def part_registered(torch):
    del torch
    compare_ranks("1")


def part_sent_fd(torch):
    torch_sent.run(torch, "fd", ok)


def part_sent_ipc(torch):
    torch_sent.run(torch, "ipc", ok)


PARTS = {
    name[5:]: value
    for name, value in list(globals().items())
    if name.startswith("part_")
}


# ---- processes ----------------------------------------------------------------------


def compare_ranks(hook):
    """The results of two processes, with each allocator."""
    results = {}
    for allocator in ("native", "subclass", "shared"):
        told, statuses, lines = ranks(allocator, hook)
        wrong = [each["wrong"] for each in told]
        good = statuses == [0, 0] and wrong == [[], []]
        name = f"collectives, {allocator}, {HOOK}={hook}"
        ok(good, name, f"exit statuses {statuses}", *wrong)
        print(f"# NCCL's lines on registration: {lines}")
        results[allocator] = [each["digest"] for each in told]
    same = all(each == results["native"] for each in results.values())
    ok(same, "results are the native allocator's, bit by bit", results)


def ranks(allocator, hook):
    """What two processes say, their exit statuses, and how often NCCL spoke of
    registering. One that fails, or a hang, ends both."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(
            os.environ,
            NCCL_DEBUG="INFO",
            NCCL_DEBUG_SUBSYS="REG",
            NCCL_DEBUG_FILE=f"{folder}/nccl.%p",
            **{HOOK: hook},
        )
        command = [sys.executable, str(HERE / "torch_ranks.py"), allocator]
        running = [
            subprocess.Popen(
                [*command, str(rank), f"{folder}/store"],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        until = time.monotonic() + LIMITS["ranks"] / 4
        while any(each.poll() is None for each in running):
            failing = any(each.poll() for each in running)
            if failing or time.monotonic() > until:
                break
            time.sleep(0.2)
        for each in running:
            each.kill()
        out = [each.communicate()[0].splitlines() for each in running]
        told = [json.loads(lines[-1]) for lines in out if lines]
        logs = [x.read_text(errors="replace") for x in Path(folder).glob("nccl.*")]
        count = sum("egist" in line for log in logs for line in log.splitlines())
        return told, [each.returncode for each in running], count


def run_part(name, plug):
    import torch

    import gpumem.torch

    if plug:
        gpumem.torch.enable(subclass=False)
    else:
        gpumem.torch.enable(subclass=True, share=ALONE.get(name))
    PARTS[name](torch)
    sys.exit(1 if failed else 0)


def watch(name, plug):
    """A part's exit status, or why it has none."""
    command = [sys.executable, os.path.abspath(__file__), "--part", name]
    command += ["--plug"] * plug
    process = subprocess.Popen(command, start_new_session=True)
    try:
        status = process.wait(LIMITS.get(name, LIMIT))
        return f"exit status {status}" if status else None
    except subprocess.TimeoutExpired:
        return f"it takes longer than {LIMITS.get(name, LIMIT)} s"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="*", help=" ".join(PARTS))
    parser.add_argument("--part", dest="one", help=argparse.SUPPRESS)
    parser.add_argument(
        "--plug", action="store_true", help="not the subclass: devices, copies, strided"
    )
    args = parser.parse_args()
    os.environ["NCCL_NVLS_ENABLE"] = "0"
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    if args.one:
        return run_part(args.one, args.plug)
    import torch

    import gpumem

    print(f"# PyTorch {torch.__version__}, gpumem {gpumem.__version__}")
    count = torch.cuda.device_count()
    print(f"# {count} of {torch.cuda.get_device_name(0)}", flush=True)
    bad = []
    for name in args.part or PARTS:
        print(f"# {name}", flush=True)
        if count < 2 and name not in ALONE:
            print(f"ok - {name} # SKIP there is one GPU", flush=True)
            continue
        why = watch(name, args.plug)
        if why:
            print(f"not ok - {name}: {why}")
            bad.append(name)
    print("# all passed" if not bad else f"# failed: {' '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
