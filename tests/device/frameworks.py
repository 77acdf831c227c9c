#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""CuPy, Numba, ONNX Runtime, RMM, JAX and PyTorch with gpumem on a real GPU.

Needs the package gpumem installed, or its folder in PYTHONPATH (docs/python.md),
and of these packages those that there are: a missing one is skipped. Each part
runs in a process of its own, all at once, and prints lines of TAP; after 100
seconds those that have not ended are killed. The exit status is 0 if nothing
failed. Takes up to two minutes and 8 GiB of device memory.

    python3 tests/device/frameworks.py [PART...]
"""

import argparse
import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback

MIB = 1 << 20
SECONDS = 100
# Of Numba, on the memory of devices; on its own manager as well, to compare.
NUMBA_TESTS = (
    "test_emm_plugins test_cuda_memory test_cuda_ndarray test_deallocations "
    "test_host_alloc test_managed_alloc test_pinned test_cuda_array_slicing "
    "test_reset_device"
).split()


class Skip(Exception):
    """The part cannot run here; why."""


def ok(condition, name, *more):
    print("ok" if condition else "not ok", "-", name, *more, flush=True)


def need(name):
    try:
        return importlib.import_module(name)
    except Exception as why:  # also what a package raises without a driver
        text = str(why).splitlines() or [type(why).__name__]
        raise Skip(f"{name} cannot be imported: {text[0]}") from None


def tried(name, call):
    """One line for what may raise; its result."""
    try:
        result = call()
    except Exception as why:  # the next line shall be tried all the same
        text = str(why).splitlines() or [""]
        ok(False, name, f"{type(why).__name__}: {text[0][:200]}")
        return None
    return result


def in_threads(count, work):
    """What work(index) returns in each thread, or what it raised, as text."""
    results = [None] * count

    def run(index):
        try:
            results[index] = work(index)
        except Exception as why:
            results[index] = f"{type(why).__name__}: {why}"

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def blocks(pool):
    gc.collect()
    return pool.stats()["blocks"]["current"]


# ---- CuPy ----------------------------------------------------------------------


def cupy_work(cupy):
    """Some numbers, of arrays that come and go."""
    x = cupy.arange(3_000_000, dtype=cupy.float32)
    sums = []
    for i in range(30):
        y = cupy.sin(x[: 100_000 * (i + 1)]) * i
        z = cupy.sort(y)[::3] + cupy.ones(len(y[::3]), dtype=cupy.float32)
        sums += [float(z.max()), float(z[len(z) // 2]), float(y.min())]
    return sums


def cupy_streams(cupy):
    """Streams that come and go, with work on what others have freed."""
    wrong = 0
    for i in range(300):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            x = cupy.full(MIB, i, dtype=cupy.float32)
            y = x * 2 + 1
            del x
            z = cupy.full(MIB, -1, dtype=cupy.float32)
            wrong += int((y != 2 * i + 1).sum()) + int((z != -1).sum())
        del y, z, stream
    return wrong


def cupy_thread(cupy):
    def work(index):
        wrong = 0
        with cupy.cuda.Stream(non_blocking=True) as stream:
            for i in range(100):
                x = cupy.full(1000 * (i % 50 + 1), index, dtype=cupy.int64)
                wrong += int(x.sum()) != index * len(x)
            stream.synchronize()
        return wrong

    return work


def cupy_refused(cupy, size):
    try:
        cupy.empty(size, dtype=cupy.uint8)
    except cupy.cuda.memory.OutOfMemoryError:
        return True
    return False


def part_cupy():
    cupy = need("cupy")
    if not cupy.cuda.runtime.getDeviceCount():
        raise Skip("no device")
    import gpumem.cupy

    before = tried("CuPy works without gpumem", lambda: cupy_work(cupy))
    gpumem.cupy.enable()
    own, theirs = gpumem.cupy.pool(), cupy.get_default_memory_pool()
    x = cupy.empty(10 * MIB, dtype=cupy.uint8)
    ok(blocks(own) == 1 and theirs.used_bytes() >= 10 * MIB, "is in the pool")
    del x
    after = tried("it works with gpumem", lambda: cupy_work(cupy))
    ok(before == after and after, "results are those without, bit by bit")
    ok(tried("streams", lambda: cupy_streams(cupy)) == 0, "300 streams")
    results = in_threads(8, cupy_thread(cupy))
    ok(results == [0] * 8, "eight threads with a stream each", results)
    ok(cupy_refused(cupy, 1 << 45), "cupy's OutOfMemoryError")
    limit = theirs.total_bytes() + 64 * MIB
    theirs.set_limit(limit)
    ok(theirs.get_limit() == limit, "a limit is known")
    ok(cupy_refused(cupy, limit + MIB), "and holds")
    theirs.set_limit()
    ring = [cupy.empty(MIB, dtype=cupy.uint8)]
    ring.append(ring)
    del ring
    ok(blocks(own) == 0, "all is freed", blocks(own))
    cupy.cuda.Device().synchronize()
    theirs.free_all_blocks()
    ok(theirs.total_bytes() == 0, "free_all_blocks() leaves nothing")
    tried("the pool is as it should be", own.check)
    managed = tried(
        "managed memory is CuPy's own",
        lambda: cupy.cuda.malloc_managed(MIB).ptr,
    )
    ok(managed and blocks(own) == 0, "and not in the pool")


# ---- Numba ---------------------------------------------------------------------


def numba_copies(cuda, numpy):
    """Arrays there and back, with views and streams; how many were wrong."""
    wrong = 0
    for i in range(100):
        stream = cuda.stream()
        given = numpy.arange(1000 * (i + 1), dtype=numpy.int64) + i
        array = cuda.to_device(given, stream=stream)
        part = array[10:20]
        del array
        got = part.copy_to_host(stream=stream)
        stream.synchronize()
        wrong += not (got == given[10:20]).all()
    return wrong


def numba_kernel(cuda, numpy):
    @cuda.jit
    def scale(x, factor):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= factor

    wrong = 0
    for i in range(100):
        stream = cuda.stream()
        given = numpy.arange(10_000 + i, dtype=numpy.float32)
        array = cuda.to_device(given, stream=stream)
        scale[(array.size + 255) // 256, 256, stream](array, 3)
        got = array.copy_to_host(stream=stream)
        del array
        stream.synchronize()
        wrong += not (got == given * 3).all()
    return wrong


def part_numba():
    cuda = need("numba.cuda")
    numpy = need("numpy")
    if not cuda.is_available():
        raise Skip("Numba finds no device")
    import gpumem.numba

    gpumem.numba.enable()
    manager = cuda.current_context().memory_manager
    own = gpumem.numba.pool()
    ok(isinstance(manager, gpumem.numba.Manager), "gpumem is Numba's manager")
    array = cuda.device_array(10 * MIB, dtype=numpy.uint8)
    ok(blocks(own) == 1, "an array is in the pool")
    address = array.__cuda_array_interface__["data"][0]
    ok(address in {x["address"] for x in own.snapshot()}, "at its address")
    del array
    wrong = tried("copies", lambda: numba_copies(cuda, numpy))
    ok(wrong == 0, "arrays come back as they were", wrong)
    # What Numba itself lacks in this NumPy, it lacks with any manager.
    if hasattr(numpy, "row_stack"):
        wrong = tried("a kernel", lambda: numba_kernel(cuda, numpy))
        ok(wrong == 0, "a kernel on 100 streams", wrong)
    else:
        print("ok - a kernel on 100 streams # SKIP Numba compiles none with",
              "NumPy", numpy.__version__)
    results = in_threads(4, lambda _: numba_copies(cuda, numpy))
    ok(results == [0] * 4, "four threads", results)
    try:
        cuda.device_array(1 << 45, dtype=numpy.uint8)
        ok(False, "an out of memory is CudaAPIError 2", "it succeeded")
    except cuda.cudadrv.driver.CudaAPIError as error:
        ok(int(error.code) == 2, "an out of memory is CudaAPIError 2", error)
    pinned = cuda.pinned_array(1000, dtype=numpy.uint8)
    ok(pinned.nbytes == 1000, "pinned memory is Numba's own")
    gc.collect()
    manager.deallocations.clear()
    ok(blocks(own) == 0, "all is freed", blocks(own))
    cuda.current_context().reset()
    left = own.stats()["reserved"]["current"]
    ok(left == 0, "reset() leaves nothing", left)
    tried("the pool is as it should be", own.check)
    del own, manager
    cuda.get_current_device().reset()
    wrong = tried("copies", lambda: numba_copies(cuda, numpy))
    ok(wrong == 0, "after a device's reset() it goes on", wrong)


def numba_failures(manager):
    """A process that runs Numba's tests and prints [run, [failed...]]."""
    script = (
        "import importlib, json, sys, unittest\n"
        "suite = unittest.TestSuite()\n"
        f"for name in {NUMBA_TESTS!r}:\n"
        "    try:\n"
        "        module = importlib.import_module(\n"
        "            'numba.cuda.tests.cudadrv.' + name)\n"
        "    except Exception:\n"
        "        continue\n"
        "    load = unittest.defaultTestLoader.loadTestsFromModule\n"
        "    suite.addTests(load(module))\n"
        "r = unittest.TextTestRunner(stream=sys.stderr).run(suite)\n"
        "bad = [x[0].id() for x in r.failures + r.errors]\n"
        "print(json.dumps([r.testsRun, len(r.skipped), sorted(bad)]))\n"
    )
    environment = dict(os.environ)
    if manager:
        environment["NUMBA_CUDA_MEMORY_MANAGER"] = manager
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def part_numba_tests():
    if not need("numba.cuda").is_available():
        raise Skip("Numba finds no device")
    need("numba.cuda.tests.cudadrv.test_emm_plugins")
    both = [numba_failures("gpumem.numba"), numba_failures(None)]
    results = []
    for child in both:
        output = child.communicate()[0].splitlines()
        results.append(json.loads(output[-1]) if output else None)
    mine, native = results
    if not mine or not native:
        ok(False, "Numba's tests run to their end", child.returncode)
        return
    print(f"# {mine[0]} run, {mine[1]} skipped, of", *NUMBA_TESTS)
    print(f"# with Numba's own manager {len(native[2])} fail", *native[2])
    new = sorted(set(mine[2]) - set(native[2]))
    ok(mine[0] > 0 and not new, "Numba's tests pass that passed without", *new)


# ---- ONNX Runtime ----------------------------------------------------------------


def field(number, value):
    """A field of a protocol buffer: an int, bytes or text."""

    def varint(n):
        out = b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def model(numpy, layers, width):
    """ONNX's ModelProto of layers of x = relu(x @ w + x), as bytes."""

    def shaped(name, *sizes):
        dims = b"".join(
            field(1, field(2, x) if isinstance(x, str) else field(1, x))
            for x in sizes
        )
        kind = field(1, field(1, 1) + field(2, dims))
        return field(1, name) + field(2, kind)

    def node(kind, output, *inputs):
        text = b"".join(field(1, x) for x in inputs)
        return field(1, text + field(2, output) + field(4, kind))

    graph, random = b"", numpy.random.default_rng(1)
    for i in range(layers):
        w = random.standard_normal((width, width)).astype(numpy.float32)
        w /= width**0.5
        graph += field(
            5,
            field(1, width)
            + field(1, width)
            + field(2, 1)
            + field(8, f"w{i}")
            + field(9, w.tobytes()),
        )
        graph += node("MatMul", f"m{i}", f"x{i}", f"w{i}")
        graph += node("Add", f"a{i}", f"m{i}", f"x{i}")
        graph += node("Relu", f"x{i + 1}", f"a{i}")
    graph += field(2, "g") + field(11, shaped("x0", "n", width))
    graph += field(12, shaped(f"x{layers}", "n", width))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def part_onnxruntime():
    ort = need("onnxruntime")
    numpy = need("numpy")
    cuda = "CUDAExecutionProvider"
    if cuda not in ort.get_available_providers():
        raise Skip("this ONNX Runtime was built without CUDA")
    if hasattr(ort, "preload_dlls"):
        ort.preload_dlls()
    import gpumem
    import gpumem.onnxruntime

    made = model(numpy, 6, 512)
    inputs = [
        numpy.random.default_rng(i)
        .standard_normal((16 + i * 13, 512))
        .astype(numpy.float32)
        for i in range(20)
    ]

    def session(options):
        found = ort.InferenceSession(made, providers=[(cuda, options)])
        if found.get_providers()[0] != cuda:
            raise Skip("ONNX Runtime's CUDA provider does not load")
        return found

    def outputs(on, count=1):
        return [on.run(None, {"x0": x})[0] for x in inputs * count]

    def same(first, second):
        return all((x == y).all() for x, y in zip(first, second))

    native = outputs(session({"device_id": "0"}))
    pool = gpumem.Device("cuda:0").pool
    options = gpumem.onnxruntime.provider_options()
    mine = session(options)
    ok(blocks(pool) > 0, "the weights are in the pool", blocks(pool))
    ok(same(outputs(mine), native), "results are those without, bit by bit")
    results = in_threads(4, lambda _: same(outputs(mine, 3), native))
    ok(results == [True] * 4, "four threads, one session", results)
    streams = [pool.device.stream_create() for _ in range(4)]
    own = [session(gpumem.onnxruntime.provider_options(0, x)) for x in streams]
    results = in_threads(4, lambda i: same(outputs(own[i], 3), native))
    ok(results == [True] * 4, "four sessions, a stream each", results)
    del mine, own
    ok(blocks(pool) == 0, "all is freed with the sessions", blocks(pool))
    for stream in streams:
        pool.device.stream_sync(stream)
    pool.device.stream_sync(int(options["user_compute_stream"]))
    pool.trim()
    left = pool.stats()["reserved"]["current"]
    ok(left == 0, "and given back", left)
    tried("the pool is as it should be", pool.check)


# ---- RMM, JAX, all of them -------------------------------------------------------


def part_rmm():
    rmm = need("rmm")
    import gpumem.rmm

    pool = gpumem.rmm.enable()
    data = bytes(range(256)) * 1000
    buffer = rmm.DeviceBuffer.to_device(data)
    ok(blocks(pool) == 1, "a DeviceBuffer is in the pool")
    ok(buffer.tobytes() == data, "and holds what it was given")

    streams = [rmm.pylibrmm.stream.Stream() for _ in range(4)]

    def work(index):
        on, wrong = streams[index], 0
        for i in range(200):
            given = bytes([index]) * (1000 * (i % 20 + 1))
            made = rmm.DeviceBuffer.to_device(given, stream=on)
            wrong += made.tobytes(stream=on) != given
        return wrong

    results = in_threads(4, work)
    ok(results == [0] * 4, "four threads with a stream each", results)
    try:
        rmm.DeviceBuffer(size=1 << 45)
        ok(False, "an out of memory is a MemoryError", "it succeeded")
    except MemoryError:
        ok(True, "an out of memory is a MemoryError")
    del buffer
    ok(blocks(pool) == 0, "all is freed", blocks(pool))
    tried("the pool is as it should be", pool.check)


def part_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    jax = need("jax")
    numpy = need("numpy")
    if jax.default_backend() != "gpu":
        raise Skip("this JAX has no GPU")
    import gpumem

    pool = gpumem.Pool("cuda:0")
    buffer = pool.alloc(1000)
    given = numpy.arange(1000).astype(numpy.uint8)
    buffer.write(given.tobytes())
    array = tried("DLPack", lambda: jax.dlpack.from_dlpack(buffer))
    if array is None:
        return
    ok((numpy.asarray(array) == given).all(), "JAX reads a buffer")
    total = int((array.astype("int32") * 2).sum())
    ok(total == 2 * int(given.sum()), "and computes with it", total)
    address = array.unsafe_buffer_pointer()
    ok(address == buffer.ptr, "without a copy")
    del buffer
    ok(blocks(pool) == 1, "the array keeps the block")
    del array
    ok(blocks(pool) == 0, "which ends with it", blocks(pool))


def part_together():
    torch = need("torch")
    cupy = need("cupy")
    if not torch.cuda.is_available():
        raise Skip("PyTorch finds no device")
    import gpumem.cupy
    import gpumem.torch

    gpumem.torch.enable()
    gpumem.cupy.enable()
    tensor = torch.arange(1000, device="cuda", dtype=torch.float32)
    array = cupy.arange(1000, dtype=cupy.float32)
    pool = gpumem.torch.pool(0)
    addresses = {x["address"] for x in pool.snapshot() if x["state"] == "live"}
    ok(
        {tensor.data_ptr(), array.data.ptr} <= addresses,
        "PyTorch and CuPy use one pool",
    )
    both = torch.from_dlpack(array) + tensor
    ok(both.sum().item() == 999000, "and each other's memory")
    del tensor, array, both
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    left = torch.cuda.memory_reserved()
    ok(left == 0, "which one call gives back", left)


PARTS = {
    name[5:]: value
    for name, value in list(globals().items())
    if name.startswith("part_")
}


# ---- processes -------------------------------------------------------------------


def run_part(name):
    try:
        PARTS[name]()
    except Skip as why:
        print(f"ok - {name} # SKIP {why}", flush=True)
    except Exception:
        print("#", traceback.format_exc().replace("\n", "\n# "))
        ok(False, f"{name} runs to its end")
    # What frameworks do when an interpreter ends is not what is tried here.
    sys.stdout.flush()
    os._exit(0)


def started(name):
    output = tempfile.TemporaryFile("w+")
    command = [sys.executable, os.path.abspath(__file__), "--part", name]
    child = subprocess.Popen(
        command, stdout=output, stderr=subprocess.STDOUT, text=True
    )
    return child, output


def ended(name, child, output, deadline):
    """Its lines of TAP, and the others behind #."""
    try:
        status = child.wait(max(0, deadline - time.monotonic()))
        late = [f"not ok - {name}: exit status {status}"] if status else []
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        late = [f"not ok - {name} ends within {SECONDS} seconds"]
    output.seek(0)
    lines = output.read().splitlines()
    if not late and not any(x.startswith(("ok", "not ok")) for x in lines):
        late = [f"not ok - {name} says something"]
    return lines + late


def versions():
    from importlib import metadata

    import gpumem

    found = [f"gpumem {gpumem.__version__}"]
    for name in (
        "torch cupy-cuda13x cupy-cuda12x numba numba-cuda onnxruntime-gpu "
        "rmm-cu13 jax"
    ).split():
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            pass
    print("#", ", ".join(found))
    for device in gpumem.devices("cuda"):
        print("#", device["name"], device["product"], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="*", help=" ".join(PARTS))
    parser.add_argument("--part", dest="one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        run_part(args.one)
    try:
        versions()
    except Exception as why:  # no package, no driver
        print(f"Bail out! {why}")
        return 1
    deadline = time.monotonic() + SECONDS
    children = [(name, *started(name)) for name in args.part or PARTS]
    count, failed = 0, []
    for name, child, output in children:
        print(f"# {name}")
        for line in ended(name, child, output, deadline):
            verdict, dash, rest = line.partition("- ")
            if dash and verdict.strip() in ("ok", "not ok"):
                count += 1
                print(f"{verdict.strip()} {count} - {rest}")
                failed += [rest] * (verdict.strip() == "not ok")
            else:
                print(line if line.startswith("#") else f"# {line}")
        sys.stdout.flush()
    print(f"1..{count}")
    print(f"# {len(failed)} failed" if failed else "# all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
