# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem's subclass of PyTorch's allocator, in a real PyTorch without a GPU.

Needs a PyTorch that was built for CUDA, with its headers, and a C++ compiler. The
tests run in a process of their own, into which cudart_double.cpp is preloaded;
blocks are those of `host`.
"""

import ctypes
import functools
import importlib.machinery
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from pathlib import Path

import gpumem
import gpumem._torch_subclass as subclass

HERE = Path(__file__).resolve().parent
MIB = 1 << 20

kept = []  # what C refers to, for ever
inside = os.environ.get("GPUMEM_TEST_CUDART")
if inside:
    import gpumem.torch
    import torch

    double = ctypes.CDLL(inside)


def found():
    """CUDA's headers beside a PyTorch for CUDA with its own; or why not."""
    # Another test may have a stand-in of that name loaded.
    spec = importlib.machinery.PathFinder.find_spec("torch")
    if not spec or not spec.origin:
        return None, "there is no PyTorch"
    home = Path(spec.origin).parent
    if not (home / "include/c10/cuda/CUDACachingAllocator.h").is_file():
        return None, "PyTorch came without headers of CUDA builds"
    if not (home / "lib/libtorch_cuda.so").is_file():
        return None, "PyTorch was built without CUDA"
    if not shutil.which(shlex.split(os.environ.get("CXX", "c++"))[0]):
        return None, "there is no C++ compiler"
    try:
        return subclass.cuda_headers(home), ""
    except subclass.Unavailable as why:
        return None, str(why)


@unittest.skipIf(inside, "this is the inner process")
class Compiling(unittest.TestCase):
    """Of a PyTorch and by a compiler that are not there."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        home = self.folder / "with a blank"
        headers = home / "torch/include/c10/cuda"
        headers.mkdir(parents=True)
        (headers / "CUDACachingAllocator.h").touch()
        runtime = home / "nvidia/cu0/include"
        runtime.mkdir(parents=True)
        (runtime / "crt").mkdir()
        (runtime / "crt/host_config.h").touch()
        (runtime / "cuda_runtime_api.h").touch()
        self.torch = types.SimpleNamespace(
            __version__="0.0",
            __file__=str(home / "torch/__init__.py"),
            version=types.SimpleNamespace(cuda="0.0"),
            compiled_with_cxx11_abi=lambda: True,
        )
        self.calls = self.folder / "calls"
        self.compiler(
            'while [ "$1" != -o ]; do shift; done; sleep 0.1; echo made >"$2"'
        )
        before = dict(os.environ)
        self.addCleanup(os.environ.update, before)
        self.addCleanup(os.environ.clear)
        os.environ["CXX"] = shlex.quote(str(self.folder / "c++"))
        os.environ["GPUMEM_TORCH_CACHE"] = str(self.folder / "cache")

    def compiler(self, text):
        path = self.folder / "c++"
        path.write_text(f'#!/bin/sh\necho "$*" >>"{self.calls}"\n{text}\n')
        path.chmod(0o755)

    def count(self):
        """How many libraries it made."""
        return self.calls.read_text().count(" -shared ")

    def test_once(self):
        found = []
        threads = [
            threading.Thread(
                target=lambda: found.append(subclass.library(self.torch))
            )
            for _ in range(4)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(len(set(found)), 1)
        self.assertEqual(found[0].read_text(), "made\n")
        self.assertEqual(self.count(), 1)

    def test_for_each_version(self):
        first = subclass.library(self.torch)
        self.torch.__version__ = "0.1"
        self.assertNotEqual(subclass.library(self.torch), first)
        self.assertEqual(self.count(), 2)

    def test_a_compiler_that_fails(self):
        self.compiler("echo 'x.cpp:1: error: no such class'; exit 1")
        for _ in range(2):
            with self.assertRaisesRegex(
                subclass.Unavailable, "error: no such class"
            ):
                subclass.library(self.torch)
        left = sorted(x.name for x in (self.folder / "cache").iterdir())
        self.assertEqual(left, ["lock"])

    def test_headers_of_two_wheels(self):
        first, second = (
            self.folder / f"with a blank/nvidia/cuda_{x}/include"
            for x in ("nvcc", "runtime")
        )
        shutil.rmtree(self.folder / "with a blank/nvidia")
        (first / "crt").mkdir(parents=True)
        (first / "crt/host_config.h").touch()
        second.mkdir(parents=True)
        (second / "cuda_runtime_api.h").touch()
        line = subclass.command(self.torch)
        self.assertIn(str(first), line)
        self.assertIn(str(second), line)
        self.assertNotIn("/usr/local/cuda/include", line)

    def test_what_is_missing(self):
        os.environ["CXX"] = "/nonexistent/c++"
        with self.assertRaisesRegex(subclass.Unavailable, "no C\\+\\+ comp"):
            subclass.library(self.torch)
        self.torch.version.cuda = None
        with self.assertRaisesRegex(subclass.Unavailable, "CUDA builds"):
            subclass.library(self.torch)

    def test_a_folder_that_cannot_be(self):
        (self.folder / "file").touch()
        os.environ["GPUMEM_TORCH_CACHE"] = str(self.folder / "file" / "cache")
        with self.assertRaises(subclass.Unavailable):
            subclass.library(self.torch)


def run_inside(test, module, least, **more):
    """The tests of a module, in a process with CUDA's runtime doubled."""
    headers, why = found()
    if not headers:
        test.skipTest(why)
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "cudart_double.so"))
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        subprocess.run(
            compiler
            + ["-shared", "-fPIC", *(f"-isystem{x}" for x in headers)]
            + ["-Wl,-soname,libcuda.so.1"]  # which PyTorch opens
            + ["-o", library, str(HERE / "cudart_double.cpp")],
            check=True,
        )
        done = subprocess.run(
            [sys.executable, "-m", "unittest", "-v", module],
            env={
                "GPUMEM_TORCH_CACHE": folder,
                **os.environ,
                # Some compilers do so on their own.
                "CXX": shlex.join([*compiler, "-static-libstdc++"]),
                "LD_PRELOAD": library,
                "GPUMEM_TEST_CUDART": library,
                "GPUMEM_CONF": "host.devices:2",
                "PYTORCH_ALLOC_CONF": "",
                "PYTORCH_CUDA_ALLOC_CONF": "",
                **more,
            },
            cwd=HERE,
            stderr=subprocess.PIPE,
            text=True,
        )
    test.assertEqual(done.returncode, 0, done.stderr)
    # From Python 3.12 on a warning of os.fork() may come in between.
    passed = re.findall(r"(?m)(?:\.\.\. |^)ok$", done.stderr)
    test.assertGreater(len(passed), least, done.stderr)


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(self, Path(__file__).stem, 15)


def setUpModule():
    if inside:
        gpumem.torch.enable(backend="host")  # the subclass, if it can be


@functools.lru_cache()
def asks():
    """torch_asks.cpp, compiled as the subclass is."""
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "asks.so"))
        line = [*subclass.command(torch), f"-I{subclass.SOURCES}", "-O0", "-shared"]
        line += [str(HERE / "torch_asks.cpp"), "-o", library]
        subprocess.run([*line, *subclass.libraries(torch)], check=True)
        return ctypes.PyDLL(library)


def empty(size, device=0):
    return torch.empty(size, dtype=torch.uint8, device=f"cuda:{device}")


def blocks(state="active_allocated", pool=None):
    return {
        block["address"]: block["size"]
        for segment in torch.cuda.memory_snapshot()
        for block in segment["blocks"]
        if block["state"] == state
        and (pool is None or segment["segment_pool_id"] == pool)
    }


@unittest.skipUnless(inside, "in the inner process")
class Subclass(unittest.TestCase):
    def tearDown(self):
        torch.cuda.memory._record_memory_history(None)
        torch.cuda.empty_cache()
        gpumem.torch.pool(0).check()

    def test_is_pytorchs_allocator(self):
        self.assertEqual(gpumem.torch.how(), "subclass")
        self.assertEqual(torch.cuda.get_allocator_backend(), "gpumem")
        x = empty(1000)
        live = [
            b
            for b in gpumem.torch.pool(0).snapshot()
            if b["address"] == x.data_ptr()
        ]
        self.assertEqual(live[0]["requested_bytes"], 1000)
        self.assertEqual(live[0]["state"], "live")

    def test_has_no_cxx_library_of_its_own(self):
        with open("/proc/self/maps") as maps:
            paths = {Path(x.split()[-1]) for x in maps}
        (path,) = [x for x in paths if x.name.startswith("torch-")]
        self.assertTrue(b"\0libstdc++.so.6\0" in path.read_bytes())

    def test_by_the_type_of_device(self):
        """torch.accelerator, since 2.9."""
        if not hasattr(torch._C, "_accelerator_getDeviceStats"):
            self.skipTest("PyTorch has it since 2.9")
        x = empty(8 * MIB)
        by_type = torch.accelerator
        ours, theirs = torch.cuda.memory_stats(), by_type.memory_stats()
        common = set(ours) & set(theirs)
        self.assertGreater(len(common), 100)
        for key in common:
            self.assertEqual(theirs[key], ours[key], key)
        self.assertGreaterEqual(by_type.memory_allocated(), 8 * MIB)
        del x
        by_type.reset_peak_memory_stats()
        self.assertEqual(
            by_type.max_memory_allocated(), by_type.memory_allocated()
        )
        by_type.reset_accumulated_memory_stats()
        self.assertEqual(
            torch.cuda.memory_stats()["allocated_bytes.all.freed"], 0
        )
        before = torch.cuda.memory_reserved()
        by_type.empty_cache()
        self.assertLess(torch.cuda.memory_reserved(), before)

    def test_nothing(self):
        self.assertEqual(empty(0).data_ptr(), 0)

    def test_devices(self):
        before = torch.cuda.memory_allocated(1)
        x = empty(3 * MIB, 1)
        self.assertEqual(torch.cuda.memory_allocated(1) - before, 3 * MIB)
        del x
        self.assertEqual(torch.cuda.memory_allocated(1), before)
        self.assertEqual(
            [x.name for x in gpumem.torch.used_devices()][-1], "host:1"
        )

    def test_statistics(self):
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.reset_accumulated_memory_stats()
        before = torch.cuda.memory_allocated()
        x, y = empty(2 * MIB), empty(1000)
        del x
        stats = torch.cuda.memory_stats()
        self.assertEqual(stats["allocated_bytes.large_pool.peak"], 2 * MIB)
        self.assertEqual(stats["allocated_bytes.large_pool.freed"], 2 * MIB)
        self.assertEqual(stats["requested_bytes.small_pool.current"], 1000)
        self.assertEqual(stats["allocation.all.allocated"], 2)
        self.assertEqual(stats["allocation.all.freed"], 1)
        used = torch.cuda.memory_allocated()
        self.assertGreaterEqual(used, before + 1000)
        self.assertGreaterEqual(torch.cuda.memory_reserved(), used)
        self.assertGreaterEqual(
            torch.cuda.max_memory_allocated(), used + 2 * MIB
        )
        torch.cuda.reset_peak_memory_stats()
        self.assertEqual(torch.cuda.max_memory_allocated(), used)
        torch.cuda.reset_accumulated_memory_stats()
        stats = torch.cuda.memory_stats()
        self.assertEqual(stats["allocation.all.allocated"], 0)
        self.assertEqual(stats["reserved_bytes.all.freed"], 0)
        self.assertEqual(stats["num_device_alloc"], 0)
        self.assertIn("Allocated memory", torch.cuda.memory_summary())
        del y

    def test_counts_in_units(self):
        """Of 512 bytes, whatever size gpumem's blocks have."""
        names = ("allocated_bytes", "active_bytes", "requested_bytes")
        for asked, pool in ((1, "small"), (1000, "small"), (MIB + 1, "large")):
            before = torch.cuda.memory_stats()
            x = empty(asked)
            after = torch.cuda.memory_stats()
            grown = [
                after[f"{name}.{pool}_pool.current"]
                - before[f"{name}.{pool}_pool.current"]
                for name in names
            ]
            unit = (asked + 511) // 512 * 512
            self.assertEqual(grown, [unit, unit, asked])
            del x
            self.assertEqual(
                torch.cuda.memory_allocated(),
                before["allocated_bytes.all.current"],
            )

    def test_counts_segments(self):
        """Of private pools, in PyTorch's sizes; the rest is expandable."""

        def now():
            stats = torch.cuda.memory_stats()
            for name in ("segment", "reserved_bytes"):
                small, large, whole = (
                    stats[f"{name}.{pool}.current"]
                    for pool in ("small_pool", "large_pool", "all")
                )
                self.assertEqual(small + large, whole)
            return stats

        cases = (
            (512, 1, 2 * MIB, "small"),
            (MIB, 1, 2 * MIB, "small"),
            (MIB + 512, 1, 20 * MIB, "large"),
            (10 * MIB + 512, 1, 12 * MIB, "large"),
        )
        for asked, count, total, size in cases:
            torch.cuda.empty_cache()
            before = now()
            pool = torch.cuda.MemPool()
            with torch.cuda.use_mem_pool(pool):
                x = empty(asked)
            after = now()
            for name, want in (("segment", count), ("reserved_bytes", total)):
                key = f"{name}.{size}_pool.current"
                self.assertEqual(after[key] - before[key], want, (key, asked))
            del x, pool
            torch.cuda.empty_cache()
            self.assertEqual(
                now()["segment.all.current"], before["segment.all.current"]
            )

    def test_no_such_size(self):
        before = torch.cuda.memory_stats()["num_ooms"]
        for size in (1 << 60, (1 << 63) - 1024):
            with self.assertRaisesRegex(
                torch.OutOfMemoryError, "Tried to allocate more than 1EB memory"
            ):
                empty(size)
        self.assertEqual(torch.cuda.memory_stats()["num_ooms"], before)
        with self.assertRaisesRegex(
            torch.OutOfMemoryError, "Tried to allocate 1073741824"
        ):
            empty((1 << 60) - 4096)

    def test_out_of_memory(self):
        seen = []
        torch._C._cuda_attach_out_of_memory_observer(
            lambda *given: seen.append(given)
        )
        before = torch.cuda.memory_stats()["num_ooms"]
        with self.assertRaises(torch.OutOfMemoryError) as caught:
            empty(1 << 50)
        text = str(caught.exception)
        self.assertTrue(text.startswith("CUDA out of memory. Tried to "), text)
        self.assertIn(" out of memory.", text)
        self.assertEqual(seen[0][:2], (0, 1 << 50))
        self.assertEqual(torch.cuda.memory_stats()["num_ooms"], before + 1)
        empty(1)

    def test_empty_cache(self):
        empty(8 * MIB)
        self.assertGreaterEqual(torch.cuda.memory_reserved(), 8 * MIB)
        live = torch.cuda.memory_allocated()
        torch.cuda.empty_cache()
        self.assertLess(torch.cuda.memory_reserved(), live + 8 * MIB)

    def test_fraction(self):
        total = gpumem.torch.device(0).info["total_bytes"]
        torch.cuda.set_per_process_memory_fraction(0.5)
        self.assertEqual(torch.cuda.get_per_process_memory_fraction(), 0.5)
        self.assertEqual(
            gpumem.torch.pool(0).stats()["limit_bytes"], total // 2
        )
        with self.assertRaises(torch.OutOfMemoryError):
            empty(total // 4 * 3)
        torch.cuda.set_per_process_memory_fraction(1.0)
        self.assertEqual(gpumem.torch.pool(0).stats()["limit_bytes"], 0)

    def test_rejections(self):
        """Of 2.12: what the limit refuses, if the program asks to be told."""
        if not asks().asks_watch_rejections():
            self.skipTest("PyTorch has them since 2.12")
        settings = torch._C._accelerator_setAllocatorSettings
        before = asks().asks_rejections()
        torch.cuda.reset_accumulated_memory_stats()
        torch.cuda.set_per_process_memory_fraction(0.01)
        try:
            for wanted, key in (0, "False"), (1, "True"):
                settings(f"throw_on_cudamalloc_oom:{key}")
                with self.assertRaises(torch.OutOfMemoryError):
                    empty(900 * MIB)
                self.assertEqual(asks().asks_rejections() - before, wanted)
                stats = torch.cuda.memory_stats()
                self.assertEqual(stats["num_oom_rejections"], wanted)
            with self.assertRaises(torch.OutOfMemoryError):
                empty(1 << 61)
            self.assertEqual(asks().asks_rejections() - before, 1)
        finally:
            settings("throw_on_cudamalloc_oom:False")
            torch.cuda.set_per_process_memory_fraction(1.0)

    def test_switched_off(self):
        empty(1)
        with self.assertRaisesRegex(RuntimeError, "cannot be switched off"):
            torch.cuda.caching_allocator_enable(False)

    def test_ways_to_share(self):
        for more in ({"share": "yes"}, {"share": "fd", "subclass": False}):
            with self.assertRaisesRegex(RuntimeError, "any, fd, ipc"):
                gpumem.torch.enable(**more)

    def test_other_processes(self):
        with self.assertRaisesRegex(RuntimeError, "send tensor.cpu"):
            empty(10).untyped_storage()._share_cuda_()

    def test_record_stream(self):
        device = gpumem.torch.device(0)
        host = ctypes.CDLL(
            str(Path(gpumem.__file__).with_name("lib") / "libgpumem.so.0")
        )
        handle = device.stream_create()
        other = torch.cuda.ExternalStream(handle)
        x = empty(MIB)
        host.gpumem_host_hold(0, ctypes.c_void_p(handle), True)
        gpumem.torch.pool(0).alloc(MIB, handle).fill(1, handle)
        x.record_stream(other)
        del x
        pending = gpumem.torch.pool(0).stats()["pending_bytes"]
        self.assertGreaterEqual(pending, MIB)
        self.assertGreaterEqual(
            torch.cuda.memory_stats()["active_bytes.all.current"],
            torch.cuda.memory_allocated() + MIB,
        )
        host.gpumem_host_hold(0, ctypes.c_void_p(handle), False)
        device.stream_sync(handle)

    def test_a_context_is_current(self):
        found = []

        def work():
            found.append(double.double_current())
            empty(100)
            found.append(double.double_current())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(found, [0, 1])

    def test_threads(self):
        def work():
            for i in range(2000):
                empty(1000 + i * 100)

        before = torch.cuda.memory_allocated()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(torch.cuda.memory_allocated(), before)


@unittest.skipUnless(inside, "in the inner process")
class History(unittest.TestCase):
    def tearDown(self):
        torch.cuda.memory._record_memory_history(None)

    def test_snapshot(self):
        x = empty(3 * MIB)
        self.assertEqual(blocks()[x.data_ptr()], 3 * MIB)
        for segment in torch.cuda.memory_snapshot():
            self.assertEqual(
                segment["total_size"],
                sum(b["size"] for b in segment["blocks"]),
            )
            at = segment["address"]
            for block in segment["blocks"]:
                self.assertEqual(block["address"], at)
                at += block["size"]
        total = sum(
            s["total_size"]
            for s in torch.cuda.memory_snapshot()
            if s["device"] == 0
        )
        self.assertEqual(total, torch.cuda.memory_reserved())

    def test_trace(self):
        torch.cuda.memory._record_memory_history(
            "all", stacks="python", max_entries=1000
        )
        x = empty(5 * MIB)
        address = x.data_ptr()
        del x
        kept = empty(100)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "dump.pickle")
            torch.cuda.memory._dump_snapshot(path)
            with open(path, "rb") as file:
                dump = pickle.load(file)
        entries = [
            t
            for t in dump["device_traces"][0]
            if t["addr"] == address and not t["action"].startswith("segment")
        ]
        self.assertEqual(
            [t["action"] for t in entries[:3]],
            ["alloc", "free_requested", "free_completed"],
        )
        self.assertEqual(entries[0]["size"], 5 * MIB)
        self.assertIn("test_trace", str(entries[0]["frames"]))
        stacks = [
            b["frames"]
            for s in dump["segments"]
            for b in s["blocks"]
            if b["address"] == kept.data_ptr()
        ]
        self.assertIn("test_trace", str(stacks))
        from torch.cuda import _memory_viz

        self.assertIn("5.0MiB", _memory_viz.trace(dump))
        self.assertIn("html", _memory_viz.trace_plot(dump))

    def test_ends_with_what_the_program_did(self):
        torch.cuda.memory._record_memory_history("all")
        x = empty(1001)
        last = torch.cuda.memory._snapshot()["device_traces"][0][-1]
        self.assertEqual((last["action"], last["size"]), ("alloc", 1001))
        again = torch.cuda.memory._snapshot()["device_traces"][0][-1]
        self.assertEqual(again["action"], "snapshot")
        del x

    def test_who_emptied_the_cache(self):
        for context in ("alloc", "all", "state"):
            torch.cuda.empty_cache()
            torch.cuda.memory._record_memory_history(context=context)
            empty(64 * MIB)
            torch.cuda.empty_cache()
            trace = torch.cuda.memory._snapshot()["device_traces"][0]
            torch.cuda.memory._record_memory_history(None)
            gone = [t for t in trace if t["action"] == "segment_unmap"]
            come = [t for t in trace if t["action"] == "segment_map"]
            self.assertGreaterEqual(sum(t["size"] for t in gone), 64 * MIB)
            self.assertGreaterEqual(sum(t["size"] for t in come), 64 * MIB)
            self.assertEqual("empty_cache" in str(gone), context == "all")
            self.assertEqual("test_who" in str(come), context != "state")

    def test_segments_of_a_pool(self):
        torch.cuda.memory._record_memory_history(context="all")
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            address = empty(5 * MIB).data_ptr()
        del pool
        torch.cuda.empty_cache()
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        found = [
            (t["action"], t["size"])
            for t in trace
            if t["addr"] == address
            and t["action"] in ("segment_alloc", "segment_free")
        ]
        want = [("segment_alloc", 20 * MIB), ("segment_free", 20 * MIB)]
        self.assertEqual(found, want)

    def test_the_trace_leads_to_the_segments(self):
        """From those at its beginning, byte by byte of 4 KiB."""

        def pages():
            return {
                page
                for s in torch.cuda.memory_snapshot()
                if s["device"] == 0 and s["is_expandable"]
                for page in range(
                    s["address"] >> 12, (s["address"] + s["total_size"]) >> 12
                )
            }

        torch.cuda.memory._record_memory_history("all")
        has = pages()
        kept = []
        for i in range(40):
            kept.append(empty((i % 7 + 1) * MIB))
            if i % 3 == 0:
                kept.pop(0)
            if i % 10 == 9:
                torch.cuda.empty_cache()
        steps = 0
        for t in torch.cuda.memory._snapshot()["device_traces"][0]:
            changed = set(
                range(t["addr"] >> 12, (t["addr"] + t["size"]) >> 12)
            )
            if t["action"] == "segment_map":
                self.assertFalse(has & changed)
                has |= changed
            elif t["action"] == "segment_unmap":
                self.assertLessEqual(changed, has)
                has -= changed
            elif t["action"] == "alloc":
                self.assertLessEqual(changed, has)
            steps += t["action"].startswith("segment")
        self.assertGreater(steps, 5)
        self.assertEqual(has, pages())

    def test_is_bounded_and_ends(self):
        torch.cuda.memory._record_memory_history("all", max_entries=10)
        for _ in range(50):
            empty(100)
        taken = torch.cuda.memory._snapshot()["device_traces"][0]
        self.assertEqual(len(taken), 10)
        torch.cuda.memory._record_memory_history(None)
        empty(100)
        self.assertEqual(torch.cuda.memory._snapshot()["device_traces"][0], [])


@unittest.skipUnless(inside, "in the inner process")
class Pools(unittest.TestCase):
    def tearDown(self):
        double.double_busy(0)
        torch.cuda.empty_cache()
        self.assertEqual(double.double_events(), 0)
        gpumem.torch.pool(0).check()

    def test_mempool(self):
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            x = empty(5 * MIB)
            elsewhere = []
            thread = threading.Thread(
                target=lambda: elsewhere.append(empty(3 * MIB))
            )
            thread.start()
            thread.join()
        y = empty(7 * MIB)
        self.assertEqual(blocks(pool=pool.id), {x.data_ptr(): 5 * MIB})
        self.assertIn(y.data_ptr(), blocks(pool=(0, 0)))
        self.assertIn(elsewhere[0].data_ptr(), blocks(pool=(0, 0)))
        address = x.data_ptr()
        del x
        self.assertNotEqual(empty(5 * MIB).data_ptr(), address)
        with torch.cuda.use_mem_pool(pool):
            again = empty(5 * MIB)
        self.assertEqual(again.data_ptr(), address)
        self.assertEqual(len(pool.snapshot()), 1)
        reserved = torch.cuda.memory_reserved()
        del again, pool
        torch.cuda.empty_cache()
        self.assertLessEqual(
            torch.cuda.memory_reserved(), reserved - 20 * MIB
        )

    def test_its_tensors_outlive_it(self):
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            x = empty(30 * MIB)
        del pool
        reserved = torch.cuda.memory_reserved()
        self.assertEqual(blocks()[x.data_ptr()], 30 * MIB)
        del x
        torch.cuda.empty_cache()
        self.assertLessEqual(
            torch.cuda.memory_reserved(), reserved - 30 * MIB
        )

    def test_record_stream_in_it(self):
        pool = torch.cuda.MemPool()
        other = torch.cuda.ExternalStream(gpumem.torch.device(0).stream_create())
        with torch.cuda.use_mem_pool(pool):
            x = empty(MIB)
            address = x.data_ptr()
            x.record_stream(other)
            del x
            double.double_busy(1)
            first = empty(MIB)
            self.assertNotEqual(first.data_ptr(), address)
            double.double_busy(0)
            self.assertEqual(empty(MIB).data_ptr(), address)

    def test_spare_memory(self):
        pool = torch.cuda.MemPool(use_on_oom=True)
        with torch.cuda.use_mem_pool(pool):
            empty(64 * MIB)
        total = gpumem.torch.device(0).info["total_bytes"]
        used = torch.cuda.memory_reserved()
        torch.cuda.set_per_process_memory_fraction((used + MIB) / total)
        try:
            x = empty(60 * MIB)
            self.assertIn(x.data_ptr(), blocks(pool=pool.id))
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)

    def test_what_each_pool_has(self):
        name = "reserved_bytes_by_private_pools"
        if name not in torch.cuda.memory_stats_as_nested_dict():
            self.skipTest("PyTorch has it since 2.13")
        pool = torch.cuda.MemPool()
        key = tuple(pool.id)
        with torch.cuda.use_mem_pool(pool):
            x = empty(5 * MIB)
        found = torch.cuda.memory_stats_as_nested_dict()[name]
        self.assertEqual(found[key]["all"]["current"], 20 * MIB)
        del x, pool
        torch.cuda.empty_cache()
        found = torch.cuda.memory_stats_as_nested_dict()[name]
        self.assertEqual(found[key]["all"]["current"], 0)
        self.assertEqual(found[key]["all"]["freed"], 20 * MIB)
        torch.cuda.reset_accumulated_memory_stats()
        self.assertNotIn(key, torch.cuda.memory_stats_as_nested_dict()[name])

    def test_annotations(self):
        if not hasattr(torch.cuda.memory, "_annotate_tensor"):
            self.skipTest("PyTorch has them since 2.14")
        self.assertTrue(torch._C._cuda_memoryMetadataSupported())
        torch.cuda.memory._record_memory_history("all")
        self.addCleanup(torch.cuda.memory._record_memory_history, None)
        torch.cuda.memory._set_memory_metadata("before")
        x = empty(MIB)
        torch.cuda.memory._annotate_tensor(x, "weights")
        torch.cuda.memory._set_memory_metadata("")
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        said = [
            (t["action"], t["user_metadata"])
            for t in trace
            if t["addr"] == x.data_ptr()
            and t["action"] in ("alloc", "annotate")
        ]
        self.assertEqual(said, [("alloc", "before"), ("annotate", "weights")])

    def test_segments_have_numbers(self):
        """NCCL registers them in that order."""
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            tensors = [empty(x) for x in (5 * MIB, 1000, 30 * MIB)]
        first, second = (ctypes.c_ulonglong(x) for x in pool.id)
        found = [
            asks().asks_number(first, second, ctypes.c_size_t(x.data_ptr()))
            for x in tensors
        ]
        if found == [-2, -2, -2]:
            self.skipTest("PyTorch has them since 2.11")
        self.assertEqual(found, [0, 1, 2])

    def test_trackers(self):
        """Are told of what the trace leaves out."""
        asks().asks_track()
        record = torch.cuda.memory._record_memory_history
        try:
            record("all", skip_actions=["segment_alloc"])
        except TypeError:
            record("all")  # before 2.11
        self.addCleanup(record, None)
        pool = torch.cuda.MemPool()
        before = asks().asks_told_of_segments()
        with torch.cuda.use_mem_pool(pool):
            x = empty(5 * MIB)
        self.assertEqual(asks().asks_told_of_segments(), before + 1)
        self.assertIn(asks().asks_context(ctypes.c_void_p(x.data_ptr())), (1, -2))
        self.assertIn(asks().asks_context(ctypes.c_void_p(1)), (0, -2))

    def test_the_device_of_an_annotation(self):
        torch.cuda.memory._record_memory_history("all")
        self.addCleanup(torch.cuda.memory._record_memory_history, None)
        for device in 1, 0:
            with torch.cuda.device(device):
                self.assertEqual(asks().asks_annotation(), device)

    def theirs(self, room=1 << 40):
        """A program's allocator, what it gave, and what came back."""
        given, back, at = [], [], [0x7E0000000000]

        @ctypes.CFUNCTYPE(
            ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p
        )
        def alloc(size, device, stream):
            if sum(x[1] for x in given) + size > room:
                return None
            given.append((at[0], size, device))
            at[0] += size
            return given[-1][0]

        @ctypes.CFUNCTYPE(
            None,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_void_p,
        )
        def free(ptr, size, device, stream):
            back.append((ptr, size, device))

        both = [ctypes.cast(x, ctypes.c_void_p).value for x in (alloc, free)]
        made = torch._C._cuda_customAllocator(*both)
        kept.extend((alloc, free, made))
        return made, given, back

    def test_another_allocator_in_it(self):
        own, given, back = self.theirs()
        reserved = torch.cuda.memory_reserved()
        mine = gpumem.torch.pool(0).stats()["reserved"]["current"]
        pool = torch.cuda.MemPool(own)
        with torch.cuda.use_mem_pool(pool):
            x, y = empty(5 * MIB), empty(3 * MIB)
        self.assertEqual([x[1:] for x in given], [(20 * MIB, 0)])
        base = given[0][0]
        self.assertEqual(x.data_ptr(), base)
        self.assertEqual(torch.cuda.memory_reserved(), reserved + 20 * MIB)
        now = gpumem.torch.pool(0).stats()["reserved"]["current"]
        self.assertEqual(now, mine)
        (found,) = pool.snapshot()
        self.assertEqual(
            (found["address"], found["total_size"]), (base, 20 * MIB)
        )
        self.assertEqual(found["allocated_size"], 8 * MIB)
        del x
        with torch.cuda.use_mem_pool(pool):
            self.assertEqual(empty(5 * MIB).data_ptr(), base)
        self.assertEqual(len(given), 1)
        del y, pool
        torch.cuda.empty_cache()
        self.assertEqual(back, given)
        self.assertEqual(torch.cuda.memory_reserved(), reserved)

    def test_another_allocator_on_another_device(self):
        own, given, back = self.theirs()
        with torch.cuda.device(1):
            pool = torch.cuda.MemPool(own)
        with torch.cuda.use_mem_pool(pool, device=1):
            empty(MIB, 1)
        self.assertEqual([x[1:] for x in given], [(2 * MIB, 1)])
        del pool
        torch.cuda.empty_cache()
        self.assertEqual(back, given)

    def test_another_allocator_that_has_none(self):
        own, given, back = self.theirs(20 * MIB)
        pool = torch.cuda.MemPool(own)
        with torch.cuda.use_mem_pool(pool):
            x = empty(5 * MIB)
            with self.assertRaisesRegex(
                torch.OutOfMemoryError, "allocator of the memory pool"
            ):
                empty(30 * MIB)
        empty(30 * MIB)
        with self.assertRaisesRegex(RuntimeError, "send tensor.cpu"):
            x.untyped_storage()._share_cuda_()
        del x, pool
        torch.cuda.empty_cache()
        self.assertEqual(back, given)

    def test_another_allocator_that_leaves_errors(self):
        """Each segment goes back all the same."""
        both = asks().asks_alloc, asks().asks_free
        made = torch._C._cuda_customAllocator(
            *(ctypes.cast(x, ctypes.c_void_p).value for x in both)
        )
        kept.append(made)
        pool = torch.cuda.MemPool(made)
        with torch.cuda.use_mem_pool(pool):
            for size in (1000, 5 * MIB, 30 * MIB):
                empty(size)
        del pool
        torch.cuda.empty_cache()
        self.assertEqual(asks().asks_freed(), 3)
        self.assertEqual(asks().asks_found_errors(), 0)

    def test_another_allocator_under_the_limit(self):
        own, given, back = self.theirs()
        pool = torch.cuda.MemPool(own)
        total = gpumem.torch.device(0).info["total_bytes"]
        torch.cuda.empty_cache()
        used = torch.cuda.memory_reserved()
        room = 100 * MIB
        torch.cuda.set_per_process_memory_fraction((used + room) / total)
        try:
            cached = empty(90 * MIB)
            del cached
            with torch.cuda.use_mem_pool(pool):
                x = empty(50 * MIB)  # gpumem's free memory goes back for it
                with self.assertRaisesRegex(
                    torch.OutOfMemoryError, "exceeds the fraction"
                ):
                    empty(60 * MIB)
            self.assertEqual(len(given), 1)
            with self.assertRaises(torch.OutOfMemoryError):
                empty(60 * MIB)
            self.assertLessEqual(torch.cuda.memory_reserved(), used + room)
            del x, pool
            torch.cuda.empty_cache()
            self.assertEqual(back, given)
            empty(90 * MIB)
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)

    def test_capture_that_ends_late(self):
        """Since 2.13 what routes and what captures begin and end apart."""
        self.capture(routes_last=False)

    def test_capture_of_a_second_stream(self):
        """As the body of a conditional node has, within one routing."""
        self.capture(streams=2)

    def capture(self, streams=1, routes_last=True):
        device = gpumem.torch.device(0)
        host = ctypes.CDLL(
            str(Path(gpumem.__file__).with_name("lib") / "libgpumem.so.0")
        )
        host.gpumem_host_capture_violations.restype = ctypes.c_uint64
        violations = host.gpumem_host_capture_violations()
        handles = [device.stream_create() for _ in range(streams)]
        pool = torch.cuda.graph_pool_handle()

        def captured(handle, on):
            double.double_capture(ctypes.c_void_p(handle), on)
            host.gpumem_host_capture(0, ctypes.c_void_p(handle), bool(on))

        taken = []
        with torch.cuda.stream(torch.cuda.ExternalStream(handles[0])):
            torch._C._cuda_beginAllocateToPool(0, pool)
            for handle in handles:
                captured(handle, 1)
                with torch.cuda.stream(torch.cuda.ExternalStream(handle)):
                    taken += [empty(4 * MIB), empty(4 * MIB)]
            if not routes_last:
                torch._C._cuda_endAllocateToPool(0, pool)
            address = taken[0].data_ptr()
            del taken[0]
            torch.cuda.empty_cache()
            for handle in handles:
                captured(handle, 0)
            if routes_last:
                torch._C._cuda_endAllocateToPool(0, pool)
            self.assertNotEqual(empty(4 * MIB).data_ptr(), address)
        self.assertEqual(host.gpumem_host_capture_violations(), violations)
        self.assertEqual(
            set(blocks(pool=tuple(pool))), {x.data_ptr() for x in taken}
        )
        torch._C._cuda_releasePool(0, pool)
        del taken
        torch.cuda.empty_cache()
        self.assertEqual(blocks(pool=tuple(pool)), {})
        self.assertEqual(gpumem.torch.pool(0).stats()["graph_bytes"], 0)

    def test_capture(self):
        device = gpumem.torch.device(0)
        host = ctypes.CDLL(
            str(Path(gpumem.__file__).with_name("lib") / "libgpumem.so.0")
        )
        host.gpumem_host_capture_violations.restype = ctypes.c_uint64
        violations = host.gpumem_host_capture_violations()
        handle = device.stream_create()
        stream = torch.cuda.ExternalStream(handle)
        pool = torch.cuda.graph_pool_handle()
        empty(64 * MIB)
        with torch.cuda.stream(stream):
            begin = torch._C._cuda_beginAllocateToPool
            begin(0, pool)
            double.double_capture(ctypes.c_void_p(handle), 1)
            host.gpumem_host_capture(0, ctypes.c_void_p(handle), True)
            x = empty(4 * MIB)
            y = empty(4 * MIB)
            address = x.data_ptr()
            del x
            torch.cuda.empty_cache()
            host.gpumem_host_capture(0, ctypes.c_void_p(handle), False)
            double.double_capture(ctypes.c_void_p(handle), 0)
            torch._C._cuda_endAllocateToPool(0, pool)
            for _ in range(4):
                self.assertNotEqual(empty(4 * MIB).data_ptr(), address)
        self.assertEqual(host.gpumem_host_capture_violations(), violations)
        torch.cuda.empty_cache()
        self.assertIn(y.data_ptr(), blocks(pool=tuple(pool)))
        torch._C._cuda_releasePool(0, pool)
        # A launch may still write to what is free in it.
        del y
        waited = double.double_synchronized()
        torch.cuda.empty_cache()
        self.assertGreater(double.double_synchronized(), waited)
        self.assertEqual(blocks(pool=tuple(pool)), {})
        self.assertEqual(gpumem.torch.pool(0).stats()["graph_bytes"], 0)

    def test_checkpoint(self):
        """Back to a state of before: its blocks, at their addresses."""
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            x, gone = empty(2 * MIB), empty(3 * MIB)
            address = gone.data_ptr()
            del gone
            state = torch._C._cuda_getCheckpointState(0, pool.id)
            late = [empty(n * MIB) for n in (3, 1, 30)]
        want = {x.data_ptr(): 2 * MIB}
        self.assertEqual(late[0].data_ptr(), address)
        self.assertTrue(
            torch._C._cuda_checkPoolLiveAllocations(
                0, pool.id, {x.data_ptr(), *[t.data_ptr() for t in late]}
            )
        )
        held = [t.untyped_storage() for t in late]
        # As when a graph that made it was launched again.
        where = x.data_ptr()
        del x
        kept = torch._C._construct_storage_from_data_pointer(
            where, torch.device("cuda:0"), 2 * MIB
        )
        torch._C._cuda_setCheckpointPoolState(
            0, state, [s._cdata for s in held], [kept._cdata]
        )
        self.assertEqual(blocks(pool=pool.id), want)
        self.assertTrue(torch._C._has_Standard_Deleter(kept._cdata))
        del late, held
        self.assertEqual(blocks(pool=pool.id), want)
        with torch.cuda.use_mem_pool(pool):
            again = empty(3 * MIB)
        self.assertEqual(again.data_ptr(), address)
        del kept, again
        self.assertEqual(blocks(pool=pool.id), {})


if __name__ == "__main__":
    unittest.main()
