#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""MemPools whose memory is another library's, natively and under gpumem.

    python3 tests/device/torch_foreign.py [--vllm FOLDER] [PART...]

Parts, each in a process with PyTorch's native allocator and in one after
gpumem.torch.enable(); what is not installed is left out, and said to be:

    saver    torch_memory_saver with hook_mode="torch": regions, pause, resume
    vllm     vLLM's CuMemAllocator: sleep, wake_up, discard, a graph in its pool.
             FOLDER has vLLM's wheel unpacked, or of it vllm/device_allocator and
             vllm/cumem_allocator*.so; what these import of the rest is stood in
             for here
    managed  torch.cuda.memory._use_uvm(), which needs cuda.bindings

Prints TAP, and what the device had free. The exit status is 0 if under gpumem
nothing failed that works natively. Takes a minute and 4 GiB of device memory.
"""

import argparse
import gc
import importlib.util
import logging
import os
import re
import subprocess
import sys
import types

MIB = 1 << 20
SLACK = 64 * MIB  # what the device and the driver take meanwhile
failed = []


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)
    if not condition:
        failed.append(name)


def free(torch):
    """Of the device's memory, without what is kept unused."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info()[0]


def pattern(torch, mib, start):
    """Of so many MiB, each element another."""
    count = mib * MIB // 4
    return torch.arange(start, start + count, dtype=torch.int32, device="cuda")


def is_pattern(torch, x, start):
    return torch.equal(x, pattern(torch, x.numel() * 4 // MIB, start))


class Paused:
    """What the device has free before, while, and after."""

    def __init__(self, torch, name, mib):
        self.torch, self.name, self.mib = torch, name, mib
        self.before = free(torch)

    def given(self):
        more = (free(self.torch) - self.before) // MIB
        ok(
            abs(more - self.mib) * MIB <= SLACK,
            f"{self.name} gives {self.mib} MiB back:",
            f"{more} MiB more are free",
        )

    def taken(self):
        less = (self.before - free(self.torch)) // MIB
        ok(abs(less) * MIB <= SLACK, f"{self.name} ends: {less} MiB fewer are free")


def meanwhile(torch, ordinary):
    """The rest of the program goes on."""
    for mib in (1, 300, 20, 700):
        x = pattern(torch, mib, mib)
        if not is_pattern(torch, x, mib):
            return False
    return is_pattern(torch, ordinary, 5)


# ---- torch_memory_saver ------------------------------------------------------------


def part_saver(torch, _):
    from torch_memory_saver import torch_memory_saver as saver

    saver.hook_mode = "torch"
    ordinary = pattern(torch, 64, 5)
    with saver.region(tag="weights", enable_cpu_backup=True):
        weights = [pattern(torch, mib, 7) for mib in (1, 100, 411)]
    with saver.region(tag="cache"):
        cache = pattern(torch, 1024, 9)
        small = torch.full((1000,), 3, device="cuda")
    addresses = [x.data_ptr() for x in (*weights, cache, small)]
    held = torch.cuda.memory_allocated()
    ok(held >= 1600 * MIB, "its memory is counted", held // MIB, "MiB")
    for turn in range(3):
        whole = Paused(torch, f"pause {turn}", 512 + 1024)
        part = Paused(torch, f"pause of one tag {turn}", 1024)
        saver.pause("cache")
        part.given()
        saver.pause("weights")
        whole.given()
        ok(meanwhile(torch, ordinary), "the rest goes on")
        saver.resume("weights")
        right = all(is_pattern(torch, x, 7) for x in weights)
        ok(right, "what has a backup is as before")
        saver.resume("cache")
        torch.arange(9, 9 + cache.numel(), out=cache)
        ok(is_pattern(torch, cache, 9), "what has none can be written")
        whole.taken()
    now = [x.data_ptr() for x in (*weights, cache, small)]
    ok(addresses == now, "addresses are as before")
    del cache
    with saver.region(tag="cache"):
        cache = pattern(torch, 1000, 2)
    ok(cache.data_ptr() == addresses[3], "its memory is used again")
    ok(is_pattern(torch, cache, 2), "and can be")
    saver.pause()
    saver.resume()
    ok(is_pattern(torch, weights[2], 7), "all tags at once")
    end_of_saver(torch, saver, weights)


def end_of_saver(torch, saver, weights):
    before = free(torch)
    with saver.region(tag="end"):  # outside of one it ends the process
        del weights[:]
        saver._impl._mem_pools.clear()
        gc.collect()
        torch.cuda.empty_cache()
    more = (free(torch) - before) // MIB
    ok(more >= 512 - 64, f"its memory goes with its pools: {more} MiB")


# ---- vLLM --------------------------------------------------------------------------


class Runtime:
    """The few functions of CUDA's runtime that vLLM's allocator calls."""

    def __init__(self):
        import ctypes

        self.library = ctypes.CDLL(loaded_library("libcudart"))
        self.copy = self.library.cudaMemcpy
        sizes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.copy.argtypes = sizes

    def cudaMemcpy(self, to, of, count):
        default = 4  # by the addresses
        status = self.copy(to, of, count, default)
        if status:
            raise RuntimeError(f"cudaMemcpy: {status}")


def loaded_library(name):
    with open("/proc/self/maps") as maps:
        paths = [x.split(maxsplit=5)[5:] for x in maps]
    for path in paths:
        if path and os.path.basename(path[0]).startswith(name):
            return path[0].strip()
    return None


def stand_in(name, folder=None, **names):
    module = types.ModuleType(name)
    module.__path__ = [folder] if folder else []
    vars(module).update(names)
    sys.modules[name] = module


def load_vllm(folder):
    """Its class CuMemAllocator, without what else vLLM imports."""
    platform = types.SimpleNamespace(
        is_rocm=lambda: False,
        is_cuda_alike=lambda: True,
        is_xpu=lambda: False,
        device_type="cuda",
    )
    stand_in("vllm", os.path.join(folder, "vllm"))
    stand_in("vllm.logger", init_logger=logging.getLogger)
    stand_in("vllm.platforms", current_platform=platform)
    stand_in("vllm.utils")
    stand_in("vllm.utils.system_utils", find_loaded_library=loaded_library)
    stand_in("vllm.utils.torch_utils", PIN_MEMORY=True)
    stand_in("vllm.distributed")
    stand_in("vllm.distributed.device_communicators")
    name = "vllm.distributed.device_communicators.cuda_wrapper"
    stand_in(name, CudaRTLibrary=Runtime)
    from vllm.device_allocator.cumem import CuMemAllocator

    return CuMemAllocator


def part_vllm(torch, folder):
    torch.ones(1, device="cuda")
    allocator = load_vllm(folder).get_instance()
    ordinary = pattern(torch, 64, 5)
    with allocator.use_memory_pool(tag="weights"):
        weights = [pattern(torch, mib, 7) for mib in (1, 100, 411)]
        before = free(torch)
        for mib in (50, 600):
            pattern(torch, mib, 1)
    more = (free(torch) - before) // MIB
    ok(abs(more) * MIB <= SLACK, f"what is free in its pool goes back: {more} MiB")
    with allocator.use_memory_pool(tag="kv_cache"):
        cache = pattern(torch, 1024, 9)
    used = allocator.get_current_usage() // MIB
    ok(512 + 1024 <= used <= 512 + 1024 + 64, f"it has {used} MiB")
    addresses = [x.data_ptr() for x in (*weights, cache)]
    for turn in range(3):
        asleep = Paused(torch, f"sleep {turn}", used)
        allocator.sleep(offload_tags=("weights",))
        asleep.given()
        ok(meanwhile(torch, ordinary), "the rest goes on")
        allocator.wake_up(["weights"])
        right = all(is_pattern(torch, x, 7) for x in weights)
        ok(right, "what was offloaded is as before")
        allocator.wake_up(["kv_cache"])
        torch.arange(9, 9 + cache.numel(), out=cache)
        ok(is_pattern(torch, cache, 9), "what was not can be written")
        asleep.taken()
    now = [x.data_ptr() for x in (*weights, cache)]
    ok(addresses == now, "addresses are as before")
    dropped = Paused(torch, "discard", 1024)
    allocator.discard("kv_cache")
    dropped.given()
    allocator.wake_up()
    ok(is_pattern(torch, weights[2], 7), "and wakes up")
    graph_of_vllm(torch, allocator)
    end_of_vllm(torch, allocator, weights, cache)


def graph_of_vllm(torch, allocator):
    """A graph whose memory is the allocator's, which sleeps in between."""
    given = torch.ones(MIB, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with allocator.cudagraph_pool() as pool:
        with torch.cuda.graph(graph, pool=pool):
            result = (given * 2).cumsum(0) + 1
    allocator.sleep(offload_tags=("weights", "kv_cache"))
    allocator.wake_up()
    given.fill_(3)
    graph.replay()
    want = (given * 2).cumsum(0) + 1
    ok(torch.equal(result, want), "a graph in its pool, after a sleep")


def end_of_vllm(torch, allocator, weights, cache):
    before = free(torch)
    del weights[:], cache
    gc.collect()
    allocator.release_pools()
    gc.collect()
    torch.cuda.empty_cache()
    more = (free(torch) - before) // MIB
    ok(more >= 512 - 64, f"its memory goes with its pools: {more} MiB")


# ---- managed memory ----------------------------------------------------------------


def part_managed(torch, _):
    ordinary = pattern(torch, 64, 5)
    before = torch.cuda.memory_allocated()
    with torch.cuda.memory._use_uvm():
        x = pattern(torch, 300, 4)
    ok(is_pattern(torch, x, 4), "managed memory can be used")
    more = torch.cuda.memory_allocated() - before
    ok(more == 300 * MIB, "and is counted", more // MIB)
    ok(bool((x.cpu() == x.to("cpu")).all()), "and copied")
    ok(meanwhile(torch, ordinary), "the rest goes on")
    del x
    gc.collect()
    torch.cuda.empty_cache()
    left = torch.cuda.memory_allocated() - before
    ok(left == 0, "and goes", left)


PARTS = {x[5:]: y for x, y in list(globals().items()) if x.startswith("part_")}


# ---- processes ---------------------------------------------------------------------


def why_not(name, folder):
    """Why a part cannot be; None: it can."""
    if name == "saver" and not importlib.util.find_spec("torch_memory_saver"):
        return "there is no torch_memory_saver"
    if name == "vllm" and not folder:
        return "no --vllm FOLDER"
    if name == "managed":
        import torch

        if not hasattr(torch.cuda.memory, "_use_uvm"):
            return "PyTorch has no _use_uvm()"
        if not importlib.util.find_spec("cuda"):
            return "there is no cuda.bindings"
    return None


def run_part(name, allocator, folder):
    import torch

    if allocator == "gpumem":
        import gpumem.torch

        gpumem.torch.enable(subclass=True)
    PARTS[name](torch, folder)
    sys.exit(1 if failed else 0)


def spawn(name, allocator, folder):
    """The checks that failed, and how the process ended."""
    print(f"# {name}, {allocator}", flush=True)
    command = [sys.executable, os.path.abspath(__file__), "--vllm", folder]
    command += ["--allocator", allocator, "--part", name]
    environment = dict(os.environ, PYTHONFAULTHANDLER="1")
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        timeout=300,
    )
    print(done.stdout, end="")
    bad = [re.sub(r"\d+", "N", x) for x in re.findall(r"(?m)^not ok - (.*)", done.stdout)]
    if done.returncode not in (0, 1) or done.returncode and not bad:
        bad.append(f"exit status {done.returncode}")
        print(f"not ok - exit status {done.returncode}")
    return bad


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("part", nargs="*", help=" ".join(PARTS))
    parser.add_argument("--vllm", default="", help="folder with vllm/")
    parser.add_argument("--allocator", help=argparse.SUPPRESS)
    parser.add_argument("--part", dest="one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return run_part(args.one, args.allocator, args.vllm)
    import torch

    import gpumem

    print(f"# PyTorch {torch.__version__}, gpumem {gpumem.__version__}")
    print(f"# {torch.cuda.get_device_name(0)}", flush=True)
    worse = []
    for name in args.part or PARTS:
        why = why_not(name, args.vllm)
        if why:
            print(f"# {name} is left out: {why}")
            continue
        natively = spawn(name, "native", args.vllm)
        bad = [x for x in spawn(name, "gpumem", args.vllm) if x not in natively]
        worse += [f"{name}: {x}" for x in bad]
    print("# all passed" if not worse else f"# worse than native: {worse}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
