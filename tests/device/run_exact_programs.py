# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The programs of run_exact.py: how each is started, and those that are Python's.

    run_exact_programs.py NAME

prints a line of JSON at each point, waits for a line, and kills itself at the last.
A line has the `phase`, the `pid`, what the driver says is `used` of the device, what
its pool of streams has (`pool_reserved`) and holds (`pool_used`), what the framework
says that it took (`own`), and `loads` where kernels were loaded since the one before.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ODD = 1, 513, 100001, 1 << 20, (1 << 20) + 1, 3000001, 20 << 20, (64 << 20) + 1
RESERVED, USED = 5, 7  # CU_MEMPOOL_ATTR_..._CURRENT

# Its module, or the case of run_exact.c; and its environment.
NAMES = {
    "driver_plain": ("plain", {}),
    "driver_async": ("async", {}),
    "driver_virtual": ("virtual", {}),
    "cupy": ("cupy", {}),
    "cupy_without_pool": ("cupy", {}),
    "torch": ("torch", {}),
    "torch_expandable": (
        "torch",
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    ),
    "torch_async": ("torch", {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}),
    "jax": ("jax", {}),
    "jax_platform": (
        "jax",
        {
            "XLA_PYTHON_CLIENT_ALLOCATOR": "platform",
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        },
    ),
}


def module(name):
    """What it needs of Python."""
    return None if name.startswith("driver_") else NAMES[name][0]


def environment(name):
    return {"TF_CPP_MIN_LOG_LEVEL": "3", **NAMES[name][1]}


def command(name, folder):
    if module(name):
        return [sys.executable, os.path.abspath(__file__), name]
    files = ["run_exact.c", "../run/driver_ways.c", "../run/driver_memory.c"]
    program = f"{folder}/exact"
    compiler = [*os.environ.get("CC", "cc").split(), "-w", "-o", program]
    compiler += [f"{HERE}/{file}" for file in files]
    subprocess.run([*compiler, "-ldl"], check=True)
    return [program, NAMES[name][0]]


class Driver:
    """NVIDIA's, with the first device's primary context, which frameworks use too."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status:
            raise RuntimeError(f"{name}() returned {status}")

    def used(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuCtxSynchronize")
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return total.value - free.value

    def pool(self):
        """Of the device's default pool, which is the one of each framework."""
        pool, value = ctypes.c_void_p(), ctypes.c_uint64()
        told = {}
        try:
            self.call("cuDeviceGetDefaultMemPool", ctypes.byref(pool), 0)
            for name, which in (("pool_reserved", RESERVED), ("pool_used", USED)):
                self.call("cuMemPoolGetAttribute", pool, which, ctypes.byref(value))
                told[name] = value.value
        except (AttributeError, RuntimeError):
            return {}
        return told

    def phase(self, name, own=None, loads=False):
        said = {"phase": name, "pid": os.getpid(), "used": self.used()}
        if own is not None:
            said["own"] = own
        print(json.dumps({**said, **self.pool(), "loads": loads}), flush=True)
        if not sys.stdin.readline():
            os._exit(1)  # nobody reads any more

    def last(self, name, own=None):
        self.phase(name, own)
        os.kill(os.getpid(), signal.SIGKILL)  # while its blocks are live


# ---- the programs ------------------------------------------------------------------


def run_cupy(driver, pooled=True):
    import cupy

    if not pooled:
        cupy.cuda.set_allocator(None)
    pool = cupy.get_default_memory_pool()

    def taken():
        pool.free_all_blocks()
        return pool.total_bytes() if pooled else None

    cupy.zeros(1 << 20).sum()
    driver.phase("base", taken())
    blocks = [cupy.empty(each, cupy.uint8) for each in ODD]
    driver.phase("allocated", taken())
    del blocks[::2]
    driver.last("half of it freed", taken())


def run_cupy_without_pool(driver):
    run_cupy(driver, False)


def run_torch(driver):
    import torch

    def taken():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        known = torch.cuda.get_allocator_backend() == "native"
        return torch.cuda.memory_reserved() if known else None

    torch.ones(1 << 20, device="cuda").sum().item()
    driver.phase("base", taken())
    blocks = [torch.empty(each, dtype=torch.uint8, device="cuda") for each in ODD]
    driver.phase("allocated", taken())
    del blocks[::2]
    driver.last("half of it freed", taken())


def run_jax(driver):
    """From before it has its arena, which is most of the device where it is one."""
    driver.phase("base")
    import jax
    import numpy

    if jax.default_backend() != "gpu":
        raise SystemExit("this JAX has no GPU")
    (jax.numpy.ones(1 << 20) * 2).sum().block_until_ready()
    arrays = [numpy.zeros(each, numpy.uint8) for each in ODD]
    for array in jax.device_put(arrays):
        array.block_until_ready()
        array.delete()
    time.sleep(0.5)  # another thread may do it
    driver.phase("begun", loads=True)
    driver.phase("base")
    blocks = jax.block_until_ready(jax.device_put(arrays))
    driver.phase("allocated")
    for array in blocks[::2]:
        array.delete()
    time.sleep(0.5)
    driver.last("half of it freed")


RUN = {
    **{name: run_torch for name in NAMES if name.startswith("torch")},
    **{name: run_jax for name in NAMES if name.startswith("jax")},
    "cupy": run_cupy,
    "cupy_without_pool": run_cupy_without_pool,
}

if __name__ == "__main__":
    RUN[sys.argv[1]](Driver())
