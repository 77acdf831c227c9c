#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What each recipe for clearing GPU memory frees, measured: docs/clearing-memory.md.

Each recipe runs in a process of its own, one after the other, with the allocator
of the framework and with gpumem. Between the steps this process, which has
a context of its own, asks the driver how much of the device is in use, and so
sees all that the recipe leaves, the other process's context too. Needs the
package gpumem, an NVIDIA GPU that nobody else uses, and of PyTorch, Accelerate,
CuPy, Numba, JAX and TensorFlow those that there are. Takes up to two and a half
minutes and 10 GiB of device memory. The recipes of PyTorch that end with
empty_cache() wait for the device before, as PyTorch's own does; one does not.

    python3 tests/device/clearing.py [--json FILE]

prints a table in Markdown; a row that fails or is left out says why. The exit
status is 0 if every row was measured or its package is missing.
"""

import argparse
import collections
import ctypes
import gc
import importlib
import json
import os
import queue
import subprocess
import sys
import threading
import time

MIB = 1 << 20
LAYERS, WIDTH, BATCH = 8, 8192, 8192  # 2 GiB of parameters, 8 once trained
SECONDS, EACH = 140, 30  # for all rows, and at most for one
AHEAD = 6  # processes that import their framework meanwhile
LEFT_OUT = "left out: "


class Missing(Exception):
    """The row cannot run here; why."""


# ---- PyTorch -------------------------------------------------------------------
# Each is a pair of functions: what there is before the recipe, and the recipe.
# What a recipe returns is still referred to when it is measured.


def torch_context(torch):
    torch.zeros(1, device="cuda")
    torch.cuda.empty_cache()


def network(torch):
    return torch.nn.Sequential(
        *(
            torch.nn.Linear(WIDTH, WIDTH, bias=False, device="cuda")
            for _ in range(LAYERS)
        )
    )


def trained(torch):
    model = network(torch)
    adam = torch.optim.Adam(model.parameters())
    x = torch.randn(64, WIDTH, device="cuda")
    model(x).sum().backward()
    adam.step()
    return {"model": model, "adam": adam}


def passed(torch):
    """A forward pass, whose result keeps what a backward one would need."""
    model = torch.nn.Sequential(network(torch), torch.nn.ReLU())
    x = torch.randn(BATCH, WIDTH, device="cuda")
    return {"model": model, "x": x, "y": model(x)}


def nothing(torch, own):
    return own


def delete(torch, own):
    own.clear()


def collect(torch, own):
    own.clear()
    gc.collect()


def empty_at_once(torch, own):
    torch.cuda.empty_cache()
    return own


def wait_and_empty(torch):
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def empty(torch, own):
    wait_and_empty(torch)
    return own


def everything(torch, own):
    own.clear()
    gc.collect()
    wait_and_empty(torch)


def forgotten(torch, own):
    keep = list(own.values())  # as a notebook or a log does
    own.clear()
    gc.collect()
    wait_and_empty(torch)
    return keep


def accelerate(torch, own):
    try:
        from accelerate.utils import release_memory
    except ImportError as why:
        raise Missing(str(why)) from None
    model, adam = own.pop("model"), own.pop("adam")
    model, adam = release_memory(model, adam)


def no_gradients(torch, own):
    own["adam"].zero_grad(set_to_none=True)
    wait_and_empty(torch)
    return own


def to_host(torch, own):
    own["model"].cpu()
    wait_and_empty(torch)
    return own


def inference(torch, own):
    del own["y"]
    with torch.inference_mode():
        own["y"] = own["model"](own["x"])
    wait_and_empty(torch)
    return own


def smaller(torch, own):
    del own["y"]
    own["x"] = own["x"][: BATCH // 4].clone()
    own["y"] = own["model"](own["x"])
    wait_and_empty(torch)
    return own


def reset_by_numba(torch, own):
    try:
        from numba import cuda
    except ImportError as why:
        raise Missing(str(why)) from None
    cuda.get_current_device().reset()
    try:
        torch.ones(1, device="cuda").item()
        own["note"] = "PyTorch goes on"
    except Exception as why:  # PyTorch's errors of the driver have no one class
        own["note"] = "then: " + str(why).splitlines()[0][:80]
    return own


def release(torch, own):
    import gpumem

    keep = list(own.values())  # it ends their memory all the same
    gpumem.release(own)
    return keep


# ---- other frameworks ------------------------------------------------------------


def cupy_context(cupy):
    cupy.zeros(1)
    cupy.get_default_memory_pool().free_all_blocks()


def cupy_array(cupy):
    return {"x": cupy.zeros(2 << 30, dtype=cupy.uint8)}


def cupy_free(cupy, own):
    own.clear()
    cupy.cuda.Device().synchronize()
    cupy.get_default_memory_pool().free_all_blocks()


def numba_context(cuda):
    cuda.current_context()


def numba_array(cuda):
    return {"x": cuda.device_array(2 << 30, dtype="uint8")}


def numba_reset(cuda, own):
    own.clear()
    cuda.get_current_device().reset()


def jax_context(jax):
    if jax.default_backend() != "gpu":
        raise Missing("this JAX has no GPU")
    jax.numpy.zeros(1).block_until_ready()


def jax_array(jax):
    return {"x": jax.numpy.zeros(2 << 30, dtype="uint8").block_until_ready()}


def jax_clear(jax, own):
    own.clear()
    gc.collect()
    jax.clear_caches()


def tensorflow_context(tensorflow):
    if not tensorflow.config.list_physical_devices("GPU"):
        raise Missing("this TensorFlow has no GPU")
    tensorflow.zeros(1)


def tensorflow_array(tensorflow):
    return {"x": tensorflow.zeros(2 << 30, dtype=tensorflow.uint8)}


def keras_clear(tensorflow, own):
    own.clear()
    tensorflow.keras.backend.clear_session()
    gc.collect()


Row = collections.namedtuple("Row", "name module context make recipe with_")
# Neither takes most of the device at once then.
GROW = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}
NATIVE, GPUMEM = "native", "gpumem"
BOTH = (NATIVE, GPUMEM)


def of_torch(name, recipe, make=trained, with_=BOTH):
    return Row(name, "torch", torch_context, make, recipe, with_)


# The most wanted first: time may run out.
ROWS = [
    of_torch("nothing", nothing),
    of_torch("`del model, optimizer`", delete),
    of_torch("`empty_cache()` alone, work queued", empty_at_once),
    of_torch("`empty_cache()` alone", empty),
    of_torch("`del`, `gc.collect()`, `empty_cache()`", everything),
    of_torch("the same, while one variable still refers to them", forgotten),
    of_torch(
        "`gpumem.release(model, optimizer)`, while one variable does",
        release,
        with_=(GPUMEM,),
    ),
    of_torch("Accelerate's `release_memory()`", accelerate),
    of_torch("`model.cpu()`, `empty_cache()`", to_host),
    of_torch("`zero_grad(set_to_none=True)`, `empty_cache()`", no_gradients),
    of_torch("`inference_mode()`, `empty_cache()`", inference, passed),
    of_torch("a quarter of the batch, `empty_cache()`", smaller, passed),
    of_torch("`del`, `gc.collect()`", collect),
    of_torch("Numba's `device.reset()`", reset_by_numba, with_=(NATIVE,)),
    Row(
        "CuPy: `del`, `free_all_blocks()`",
        "cupy",
        cupy_context,
        cupy_array,
        cupy_free,
        BOTH,
    ),
    Row(
        "Numba: `del`, `device.reset()`",
        "numba.cuda",
        numba_context,
        numba_array,
        numba_reset,
        BOTH,
    ),
    Row(
        "JAX: `del`, `clear_caches()`",
        "jax",
        jax_context,
        jax_array,
        jax_clear,
        (NATIVE,),
    ),
    Row(
        "TensorFlow: `del`, `clear_session()`",
        "tensorflow",
        tensorflow_context,
        tensorflow_array,
        keras_clear,
        (NATIVE,),
    ),
]


# ---- the process of a row ----------------------------------------------------------


def say(**what):
    print("clearing:" + json.dumps(what), flush=True)


def await_go():
    if not sys.stdin.readline():
        os._exit(1)  # nobody measures any more


def run_row(index, allocator):
    row = ROWS[index]
    try:
        framework = importlib.import_module(row.module)
        say(step="imported")
        await_go()
        if allocator == GPUMEM:
            adapter = "gpumem." + row.module.partition(".")[0]
            importlib.import_module(adapter).enable()
        row.context(framework)
        say(step="context")
        await_go()
        own = row.make(framework)
        say(step="model")
        await_go()
        keep = row.recipe(framework, own)  # until the end
        say(step="after", note=own.get("note"))
        await_go()
        del keep
    except (Missing, ImportError) as why:
        say(missing=str(why).splitlines()[0])
    except Exception as why:  # a row that fails is told; the others go on
        text = str(why).splitlines() or [""]
        say(failed=f"{type(why).__name__}: {text[0][:150]}")
    os._exit(0)


class Child:
    """A process of a row, that is told to go on from step to step."""

    def __init__(self, index, allocator):
        command = [sys.executable, os.path.abspath(__file__)]
        command += ["--row", str(index), "--allocator", allocator]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **GROW},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.said = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("clearing:"):
                self.said.put(json.loads(line[len("clearing:") :]))
        self.said.put({"failed": "its process ended"})

    def next(self, deadline):
        """What it says next; it is told to go on before, if it waits."""
        try:
            return self.said.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            return {"failed": LEFT_OUT + "no time left"}

    def go(self):
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, and said so

    def end(self):
        self.process.kill()
        self.process.wait()


# ---- measuring -----------------------------------------------------------------------


class Meter:
    """What of the device is in use, beside what was when this began."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.also_here()
        self.before = 0
        self.before = self.mib()

    def _call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status:
            raise RuntimeError(f"{name}() returned {status}")

    def also_here(self):
        """Lets the calling thread read it, too."""
        self._call("cuCtxSetCurrent", self.context)

    def mib(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return (total.value - free.value) // MIB - self.before

    def settled(self):
        """Once what processes have left is gone: half a second without change."""
        last, since = self.mib(), time.monotonic()
        begun = since
        while time.monotonic() < min(since + 0.3, begun + 5):
            time.sleep(0.05)
            now = self.mib()
            if now != last:
                last, since = now, time.monotonic()
        return last


def measured(meter, child, deadline):
    """{"context": MiB, "model": MiB, "after": MiB}, or why not."""
    result = {}
    deadline = min(deadline, time.monotonic() + EACH)
    said = child.next(deadline)
    for step in ("context", "model", "after"):
        if "step" not in said:
            break
        child.go()
        said = child.next(deadline)
        if said.get("step") == step:
            result[step] = meter.mib()
    if "step" not in said:
        result.update(said)
    elif said.get("note"):
        result["note"] = said["note"]
    child.end()
    result["ended"] = meter.settled()
    return result


def measure_all(meter, wanted):
    """(row, allocator, result) of each, as it is known."""
    deadline = time.monotonic() + SECONDS
    waiting = collections.deque(wanted)
    running = collections.deque()
    while waiting or running:
        while waiting and len(running) < AHEAD:
            index, allocator = waiting.popleft()
            running.append((index, allocator, Child(index, allocator)))
        index, allocator, child = running.popleft()
        yield index, allocator, measured(meter, child, deadline)


def cell(result):
    if result is None:
        return ""
    if "missing" in result:
        return LEFT_OUT + result["missing"]
    if "failed" in result:
        return result["failed"]
    text = f"{result['model']} to {result['after']}"
    return text + (f" ({result['note']})" if result.get("note") else "")


def about():
    """What there is, for the head of the table."""
    from importlib import metadata

    import gpumem

    found = [f"gpumem {gpumem.__version__}"]
    names = "torch accelerate cupy-cuda13x cupy-cuda12x numba numba-cuda jax "
    for name in (names + "tensorflow").split():
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            pass
    device = gpumem.devices("cuda")[0]
    return {"packages": found, "device": device["product"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="all that was measured")
    parser.add_argument("--row", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--allocator", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.row is not None:
        run_row(args.row, args.allocator)
    head = about()
    meter = Meter()
    print(", ".join(head["packages"]) + "; " + head["device"])
    print("MiB in use on the device with the model, and after the recipe:\n")
    print("| recipe | native | gpumem |\n|---|---|---|")
    wanted = [(i, x) for i, row in enumerate(ROWS) for x in row.with_]
    results, bad, contexts, ends = {}, 0, [], []
    for index, allocator, result in measure_all(meter, wanted):
        row = ROWS[index]
        results.setdefault(row.name, {})[allocator] = result
        bad += "failed" in result
        contexts += [result[x] for x in ("context",) if x in result]
        ends.append(result["ended"])
        if allocator == row.with_[-1]:
            cells = [cell(results[row.name].get(x)) for x in BOTH]
            print(f"| {row.name} | {cells[0]} | {cells[1]} |", flush=True)
    if contexts:
        print(f"\ncontexts, before any model: {min(contexts)} to", end=" ")
        print(f"{max(contexts)} MiB; after the process has ended:", end=" ")
        print(f"{min(ends)} to {max(ends)} MiB")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({**head, "rows": results}, file, indent=1)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
