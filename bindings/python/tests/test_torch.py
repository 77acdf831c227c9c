# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem.torch over a stand-in for PyTorch, on two `host` devices."""

import atexit
import ctypes
import gc
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import gpumem
import gpumem._torch_conf as conf
import gpumem._torch_subclass as subclass
import gpumem.torch

try:
    import gpumem._torch as plug
except ImportError:
    plug = None
import torch_double

MIB = 1 << 20
ready = plug and torch_double.compiler()
if ready:
    os.environ["PYTORCH_ALLOC_CONF"] = (
        "expandable_segments:True,roundup_power2_divisions:[256:1,>:2]"
    )
    gpumem.option_set("host.devices", "2")
    torch, folder = torch_double.install()
    atexit.register(shutil.rmtree, folder)
    double = torch._C.double
    gpumem.torch.enable(backend="host", subclass=False)
    host = ctypes.CDLL(
        str(Path(gpumem.__file__).with_name("lib") / "libgpumem.so.0")
    )
    host.gpumem_host_capture_violations.restype = ctypes.c_uint64


def stats(device=0):
    return torch._C._cuda_memoryStats(device)


@unittest.skipUnless(ready, "there is no C++ compiler")
class Plug(unittest.TestCase):
    def tearDown(self):
        for address in list(double.current.live):
            double.free(address)
        double.empty_cache()

    def test_memory_comes_from_the_pool(self):
        pool = gpumem.torch.pool(0)
        address = double.alloc(1000)
        live = [x for x in pool.snapshot() if x["state"] == "live"]
        self.assertEqual([x["address"] for x in live], [address])
        self.assertEqual(live[0]["requested_bytes"], 1000)
        double.free(address)
        self.assertEqual(pool.stats()["blocks"]["current"], 0)

    def test_each_device_has_its_own(self):
        double.alloc(3 * MIB, device=1)
        self.assertEqual(stats(0)["allocated_bytes"]["all"]["current"], 0)
        self.assertEqual(
            stats(1)["allocated_bytes"]["all"]["current"], 3 * MIB
        )
        self.assertEqual(gpumem.torch.device(1).name, "host:1")

    def test_kernels_of_one_use_the_memory_of_the_other(self):
        addresses = [double.alloc(3 * MIB, device=i) for i in range(2)]
        for number, address in enumerate(addresses):
            other = ctypes.c_void_p()
            name = f"host:{1 - number}".encode()
            status = host.gpumem_device_open(name, ctypes.byref(other))
            self.assertEqual(status, 0)
            status = host.gpumem_fill(
                other, ctypes.c_void_p(address), 1, ctypes.c_size_t(3 * MIB), None
            )
            self.assertEqual(status, 0)
            self.assertEqual(host.gpumem_stream_sync(other, None), 0)
            self.assertEqual(host.gpumem_device_close(other), 0)

    def test_sleeps_and_wakes(self):
        with gpumem.tag("plug/weights", sleep="keep"):
            here = double.alloc(3 * MIB)
        with gpumem.tag("plug/cache", sleep="drop"):
            there = double.alloc(5 * MIB, device=1)
        ctypes.memset(here, 7, 3 * MIB)
        double.waited.clear()
        slept = gpumem.torch.sleep("plug")
        self.assertEqual(sorted(double.waited), [0, 1])
        self.assertEqual(
            (slept.kept_bytes, slept.dropped_bytes), (3 * MIB, 5 * MIB)
        )
        pools = [device.pool for device in gpumem.torch.used_devices()]
        self.assertEqual(
            [x.stats()["sleeping"]["current"] for x in pools],
            [3 * MIB, 5 * MIB],
        )
        double.free(there)
        self.assertEqual(gpumem.wake().kept_bytes, 3 * MIB)
        self.assertEqual(ctypes.string_at(here, 3 * MIB), b"\7" * 3 * MIB)

    def test_a_device_that_is_not_there(self):
        for number in (2, 64, -1):
            with self.assertRaises(RuntimeError):
                double.alloc(1, device=number)

    def test_nothing_is_an_address_too(self):
        first, second = double.alloc(0), double.alloc(0)
        self.assertTrue(first and second and first != second)

    def test_out_of_memory(self):
        before = stats()["num_ooms"]
        with self.assertRaises(torch_double.Memory) as caught:
            double.alloc(1 << 50)
        self.assertIn(" out of memory.", str(caught.exception))
        self.assertTrue(str(caught.exception).startswith("CUDA out of memory"))
        self.assertEqual(stats()["num_ooms"], before + 1)

    def test_empty_cache(self):
        double.free(double.alloc(8 * MIB))
        self.assertGreater(stats()["reserved_bytes"]["all"]["current"], 0)
        torch.cuda.empty_cache()
        self.assertEqual(stats()["reserved_bytes"]["all"]["current"], 0)

    def test_fraction(self):
        double.alloc(1)
        self.assertEqual(torch._C._cuda_getMemoryFraction(0), 1.0)
        total = gpumem.torch.device(0).info["total_bytes"]
        torch.cuda.set_per_process_memory_fraction(0.5)
        self.assertEqual(torch._C._cuda_getMemoryFraction(0), 0.5)
        limit = gpumem.torch.pool(0).stats()["limit_bytes"]
        self.assertEqual(limit, total // 2)
        torch.cuda.set_per_process_memory_fraction(1.0)
        self.assertEqual(gpumem.torch.pool(0).stats()["limit_bytes"], 0)

    def test_a_fraction_below_what_is_in_use(self):
        """Nothing is given until it fits."""
        total = gpumem.torch.device(0).info["total_bytes"]
        self.addCleanup(torch.cuda.set_per_process_memory_fraction, 1.0)
        large, small = double.alloc(40 * MIB), double.alloc(4 * MIB)
        torch.cuda.set_per_process_memory_fraction(20 * MIB / total)
        self.assertEqual(
            torch._C._cuda_getMemoryFraction(0), 20 * MIB / total
        )
        for size in (1, 8 * MIB):
            with self.assertRaisesRegex(torch_double.Memory, "in use, more"):
                double.alloc(size)
        double.free(large)
        double.alloc(8 * MIB)
        pool = gpumem.torch.pool(0)
        self.assertEqual(pool.stats()["limit_bytes"], 20 * MIB)
        with self.assertRaises(torch_double.Memory):
            double.alloc(16 * MIB)
        double.free(small)
        torch.cuda.set_per_process_memory_fraction(0.0)
        with self.assertRaises(torch_double.Memory):
            double.alloc(1)
        torch.cuda.set_per_process_memory_fraction(1.0)
        double.alloc(64 * MIB)

    def test_a_forked_child(self):
        """What uses a device raises, what frees does nothing."""
        address = double.alloc(MIB)
        double.pool("begin", 7, 7)
        double.pool("end", 7, 7)

        def fails(call, *args):
            try:
                call(*args)
            except RuntimeError as error:
                return "forked" in str(error)
            return False

        child = os.fork()
        if child == 0:
            signal.alarm(60)
            told = [
                fails(double.alloc, 1),
                fails(double.alloc, 1, 0, 1),
                fails(double.record_stream, address, 0),
                fails(double.pool, "begin", 7, 8),
                fails(double.set_fraction, 0.5, 0),
                fails(stats),
                fails(torch._C._cuda_memorySnapshot),
            ]
            double.free(address)
            double.empty_cache()
            double.pool("release", 7, 7)
            os._exit(told.count(False))
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        double.pool("release", 7, 7)

    def test_base_of_a_block(self):
        address = double.alloc(5 * MIB)
        self.assertEqual(double.base(address + 4096)[0], address)
        self.assertGreaterEqual(double.base(address + 4096)[1], 5 * MIB)
        self.assertEqual(double.base(4096)[0], 4096)

    def test_record_stream(self):
        device = gpumem.torch.device(0)
        own, other = device.stream_create(), device.stream_create()
        address = double.alloc(MIB, own)
        host.gpumem_host_hold(0, ctypes.c_void_p(other), True)
        filled = gpumem.torch.pool(0).alloc(MIB, other)
        filled.fill(1, other)
        double.record_stream(address, other)
        double.free(address)
        pending = gpumem.torch.pool(0).stats()["pending_bytes"]
        self.assertEqual(pending, MIB)
        self.assertNotEqual(double.alloc(MIB, own), address)
        double.record_stream(0, other)
        double.record_stream(4096, other)
        host.gpumem_host_hold(0, ctypes.c_void_p(other), False)
        device.stream_sync(other)


@unittest.skipUnless(ready, "there is no C++ compiler")
class Graphs(unittest.TestCase):
    def setUp(self):
        # A pool among the garbage of other tests, also of one that failed, would
        # end during a capture, and unmap then.
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        self.device = gpumem.torch.device(0)
        self.stream = self.device.stream_create()
        self.other = self.device.stream_create()
        double.free(double.alloc(1))
        self.violations = host.gpumem_host_capture_violations()
        double.waited.clear()

    def tearDown(self):
        self.assertEqual(
            host.gpumem_host_capture_violations(), self.violations
        )
        for address in list(double.current.live):
            double.free(address)
        double.empty_cache()
        gpumem.torch.pool(0).check()
        self.device.stream_destroy(self.stream)
        self.device.stream_destroy(self.other)

    def captured(self, stream, number, on):
        double.capture(stream, number if on else 0)
        host.gpumem_host_capture(0, ctypes.c_void_p(stream), on)

    def capture(self, pool, number, work):
        double.stream = self.stream
        double.pool("begin", pool, number)
        double.stream = 0
        self.captured(self.stream, number, True)
        try:
            return work()
        finally:
            self.captured(self.stream, number, False)
            double.pool("end", pool, number)

    def graph_bytes(self):
        return gpumem.torch.pool(0).stats()["graph_bytes"]

    def test_its_memory_is_its_own(self):
        def work():
            address = double.alloc(4 * MIB, self.stream)
            double.free(address)
            return address

        address = self.capture(0, 1, work)
        self.assertGreater(self.graph_bytes(), 0)
        # The graph will write there when it is launched.
        for _ in range(8):
            self.assertNotEqual(double.alloc(4 * MIB, self.stream), address)
            self.assertNotEqual(double.alloc(4 * MIB, self.other), address)
        torch.cuda.empty_cache()
        self.assertGreater(self.graph_bytes(), 0)
        # Another capture for the same memory uses it again.
        self.assertEqual(self.capture(0, 1, work), address)
        double.pool("release", 0, 1)
        self.assertGreater(self.graph_bytes(), 0)
        self.assertEqual(double.waited, [])
        double.pool("release", 0, 1)
        self.assertEqual(double.waited, [0])
        self.assertEqual(self.graph_bytes(), 0)

    def test_a_stream_that_is_not_captured(self):
        def work():
            address = double.alloc(4 * MIB, self.other)
            double.free(address)
            return address

        address = self.capture(0, 2, work)
        self.assertEqual(self.graph_bytes(), 0)
        again = [double.alloc(4 * MIB, self.other) for _ in range(8)]
        # There, or across it.
        self.assertTrue(any(abs(x - address) < 4 * MIB for x in again))
        double.pool("release", 0, 2)

    def test_a_stream_that_joins(self):
        def work():
            self.captured(self.other, 3, True)
            address = double.alloc(4 * MIB, self.other)
            double.free(address)
            self.captured(self.other, 3, False)
            return address

        address = self.capture(0, 3, work)
        self.assertNotEqual(double.alloc(4 * MIB, self.other), address)
        double.pool("release", 0, 3)

    def test_what_outlives_its_graph(self):
        address = self.capture(
            0, 4, lambda: double.alloc(4 * MIB, self.stream)
        )
        double.pool("release", 0, 4)
        double.free(address)
        torch.cuda.empty_cache()
        self.assertEqual(stats()["reserved_bytes"]["all"]["current"], 0)

    def test_a_graph_that_goes_during_a_capture(self):
        self.capture(0, 5, lambda: double.alloc(4 * MIB, self.stream))

        def work():
            double.pool("release", 0, 5)
            torch.cuda.empty_cache()
            self.assertEqual(double.waited, [])

        # A pool that is not PyTorch's, and has something to give back.
        other = gpumem.Pool("host:0")
        other.alloc(MIB).free()
        self.capture(0, 6, work)
        self.assertGreater(other.stats()["reserved"]["current"], 0)
        torch.cuda.empty_cache()
        self.assertEqual(other.stats()["reserved"]["current"], 0)
        self.assertEqual(double.waited, [0])
        double.pool("release", 0, 6)

    def test_of_two_pools(self):
        self.capture(7, 1, lambda: double.alloc(MIB, self.stream))
        self.capture(8, 1, lambda: double.alloc(MIB, self.stream))
        double.pool("release", 7, 1)
        double.pool("release", 7, 1)
        self.assertEqual(double.waited, [0])
        double.pool("release", 8, 1)
        self.assertEqual(double.waited, [0, 0])


@unittest.skipUnless(ready, "there is no C++ compiler")
class Statistics(unittest.TestCase):
    def test_have_the_keys_of_pytorch(self):
        double.alloc(5)
        for device in (0, 1):
            given = stats(device)
            for family in (
                "allocation allocated_bytes active active_bytes segment "
                "inactive_split inactive_split_bytes requested_bytes "
                "reserved_bytes"
            ).split():
                self.assertEqual(
                    list(given[family]), ["all", "large_pool", "small_pool"]
                )
                for metric in given[family].values():
                    self.assertEqual(
                        list(metric), ["current", "peak", "allocated", "freed"]
                    )
            for family in ("oversize_allocations", "oversize_segments"):
                self.assertEqual(given[family]["peak"], 0)
            for name in (
                "num_alloc_retries num_ooms num_sync_all_streams "
                "num_device_alloc num_device_free max_split_size"
            ).split():
                self.assertIsInstance(given[name], int)

    def test_count(self):
        torch._C._cuda_resetAccumulatedMemoryStats(0)
        before = stats()["allocation"]["all"]["current"]
        addresses = [double.alloc(MIB) for _ in range(4)]
        double.free(addresses.pop())
        counts = stats()["allocation"]["all"]
        self.assertEqual(counts["current"], before + 3)
        self.assertEqual(counts["peak"], before + 4)
        self.assertEqual((counts["allocated"], counts["freed"]), (4, 1))
        torch._C._cuda_resetPeakMemoryStats(0)
        self.assertEqual(stats()["allocation"]["all"]["peak"], before + 3)
        self.assertEqual(stats()["allocation"]["all"]["allocated"], 4)
        torch._C._cuda_resetAccumulatedMemoryStats(0)
        counts = stats()["allocation"]["all"]
        self.assertEqual((counts["allocated"], counts["freed"]), (0, 0))
        double.free(addresses.pop())
        self.assertEqual(stats()["allocation"]["all"]["freed"], 1)

    def test_snapshot(self):
        address = double.alloc(3 * MIB)
        taken = torch._C._cuda_memorySnapshot(None)
        self.assertEqual(len(taken["device_traces"]), 2)
        live = [
            block
            for segment in taken["segments"]
            for block in segment["blocks"]
            if block["address"] == address
        ]
        self.assertEqual(live[0]["state"], "active_allocated")
        self.assertEqual(live[0]["requested_size"], 3 * MIB)
        for segment in taken["segments"]:
            self.assertEqual(
                segment["total_size"], sum(x["size"] for x in segment["blocks"])
            )
            at = segment["address"]
            for block in segment["blocks"]:
                self.assertEqual(block["address"], at)
                at += block["size"]
        total = sum(
            x["total_size"] for x in taken["segments"] if x["device"] == 0
        )
        self.assertEqual(total, stats()["reserved_bytes"]["all"]["current"])

    def test_by_the_type_of_device(self):
        """torch.accelerator, since 2.9."""
        first = double.alloc(3 * MIB)
        found = torch._C._accelerator_getDeviceStats(0)
        self.assertEqual(found, torch._C._cuda_memoryStats(0))
        self.assertGreaterEqual(found["allocated_bytes"]["all"]["current"], 3 * MIB)
        self.assertTrue(torch._C._accelerator_isAllocatorInitialized())
        double.free(first)
        torch._C._accelerator_resetPeakStats(0)
        found = torch._C._accelerator_getDeviceStats(0)["allocated_bytes"]["all"]
        self.assertEqual(found["peak"], found["current"])
        torch._C._accelerator_emptyCache()
        found = torch._C._accelerator_getDeviceStats(0)["reserved_bytes"]["all"]
        self.assertEqual(found["current"], 0)
        # One that this PyTorch does not have is not made up.
        self.assertFalse(hasattr(torch._C, "_accelerator_resetAccumulatedStats"))

    def test_history_is_refused(self):
        """Whatever versions from 2.8 to 2.15 say beside it."""
        record = torch._C._cuda_record_memory_history
        legacy = torch._C._cuda_record_memory_history_legacy
        more = "all", "all", 1000, False, False, False, [], False
        named = {"record_pinned_host_memory": True, "skip_actions": ["alloc"]}
        for count in range(len(more) + 1):
            record(None, *more[:count])
            record(None, *more[:count], **named)
            legacy(False, *more[:count])
            for refused, on in (record, "all"), (legacy, True):
                with self.assertRaisesRegex(NotImplementedError, "gpumem"):
                    refused(on, *more[:count], **named)


@unittest.skipUnless(ready, "there is no C++ compiler")
class Enable(unittest.TestCase):
    def child(self, lines, **environment):
        """What it prints in a process of its own."""
        script = "import os, torch_double, gpumem.torch\n"
        script += "torch, folder = torch_double.install()\n"
        script += "import atexit, shutil\n"
        script += "atexit.register(shutil.rmtree, folder)\n"
        merged = {"PYTORCH_CUDA_ALLOC_CONF": None, "PYTORCH_HIP_ALLOC_CONF": None}
        merged = {**os.environ, **merged, **environment}
        done = subprocess.run(
            [sys.executable, "-c", script + lines],
            env={k: v for k, v in merged.items() if v is not None},
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
        )
        return done.stdout + done.stderr

    def test_twice_is_once(self):
        before = double.current
        gpumem.torch.enable(backend="host", subclass=False)
        self.assertTrue(gpumem.torch.enabled())
        self.assertIs(double.current, before)

    def test_is_too_late(self):
        said = self.child(
            "torch._C.double.initialized = True\n"
            "gpumem.torch.enable('host', subclass=False)"
        )
        self.assertIn("Can't swap an already initialized", said)

    def test_without_a_gpu(self):
        said = self.child(
            "del torch._C._cuda_customAllocator\ngpumem.torch.enable()"
        )
        self.assertIn("built without CUDA and ROCm", said)

    def test_without_a_backend(self):
        """It does not say yes, and PyTorch's own allocator stays."""
        said = self.child(
            "gpumem.torch._built.LEFT_OUT['absent'] = 'no absent.h'\n"
            "for subclass in False, True, None:\n"
            "    try:\n        gpumem.torch.enable('absent', subclass)\n"
            "    except RuntimeError as error:\n        print(error)\n"
            "print(gpumem.torch.enabled(), torch._C.double.current)"
        )
        self.assertEqual(said.count("gpumem cannot use its backend absent: "), 3)
        self.assertEqual(said.count("without it (no absent.h): install what"), 3)
        self.assertIn("\nFalse None\n", said)
        said = self.child(
            "gpumem.torch.enable('host', False)",
            GPUMEM_CONF="host.devices:0",
        )
        self.assertIn("RuntimeError: gpumem cannot use its backend host: ", said)

    def test_without_a_subclass(self):
        """There is none for the double of PyTorch: it has no headers."""
        said = self.child("gpumem.torch.enable('host')\nprint(gpumem.torch.how())")
        self.assertIn("RuntimeWarning: gpumem's subclass of the allocator", said)
        self.assertIn("enable(subclass=False) uses it at once", said)
        self.assertEqual(said.split()[0], "plug")
        said = self.child("gpumem.torch.enable('host', True)")
        self.assertIn("RuntimeError: gpumem's subclass", said)
        said = self.child(
            "gpumem.torch.enable('host', False)\nprint(gpumem.torch.how())"
        )
        self.assertEqual(said, "plug\n")

    def test_configuration(self):
        enable = "gpumem.torch.enable('host', False)\n"
        for conf, expected in [
            ("backend:cudaMallocAsync", "there is no other allocator"),
            ("per_process_memory_fraction:1.5", "from 0 to 1"),
            ("per_process_memory_fraction:nan", "from 0 to 1"),
            ("a:[1:2,per_process_memory_fraction:", "from 0 to 1"),
        ]:
            said = self.child(enable, PYTORCH_ALLOC_CONF=conf)
            self.assertIn("RuntimeError: PYTORCH_ALLOC_CONF ", said)
            self.assertIn(expected, said)
        said = self.child(
            enable + "print(gpumem.torch.pool(0).stats()['limit_bytes'])",
            PYTORCH_ALLOC_CONF="",
            PYTORCH_CUDA_ALLOC_CONF="per_process_memory_fraction:0.25,"
            "max_split_size_mb:20,pinned_num_register_threads:8",
            GPUMEM_CONF="host.capacity:64MiB",
        )
        self.assertEqual(said.strip(), str(16 * MIB))

    def test_all_keys_of_pytorch_are_known(self):
        lines = (subclass.SOURCES / "virtuals.txt").read_text().splitlines()
        keys = [x.split()[1] for x in lines if x.startswith("key ")]
        self.assertGreater(len(keys), 15)
        text = ",".join(f"{x}:1" for x in keys)
        self.assertEqual(conf.unknown(text), [])
        self.assertEqual(
            conf.unknown(text, True), [x for x in keys if x[:7] == "pinned_"]
        )
        self.assertEqual(conf.unknown("backend:native,later:1"), ["later"])

    def test_the_older_variable_wins(self):
        """As in PyTorch, also if it is empty."""
        limit = "gpumem.torch.enable('host', False)\n"
        limit += "print(gpumem.torch.pool(0).stats()['limit_bytes'])"
        for cuda, hip, plain, expected in (
            ("per_process_memory_fraction:0.25", "a:1", "backend:other", 16),
            ("", "backend:other", "per_process_memory_fraction:0.5", 0),
            (None, "per_process_memory_fraction:0.5", "backend:other", 32),
            (None, None, "per_process_memory_fraction:0.5", 32),
        ):
            said = self.child(
                limit,
                GPUMEM_CONF="host.capacity:64MiB",
                PYTORCH_CUDA_ALLOC_CONF=cuda,
                PYTORCH_HIP_ALLOC_CONF=hip,
                PYTORCH_ALLOC_CONF=plain,
            )
            self.assertEqual(said.strip(), str(expected * MIB))

    def test_who_pauses_what_the_runtime_gave(self):
        said = self.child(
            "import os, warnings\n"
            "os.environ['LD_PRELOAD'] = '/x/torch_memory_saver_preload.so'\n"
            "with warnings.catch_warnings(record=True) as all:\n"
            "    warnings.simplefilter('always')\n"
            "    gpumem.torch.enable('host', False)\n"
            "print([str(x.message) for x in all])\n"
        )
        self.assertIn("torch_memory_saver is preloaded", said)
        self.assertIn("hook_mode", said)

    def test_the_native_backend(self):
        """PyTorch would compare it with gpumem's name, and fail."""
        said = self.child(
            "gpumem.torch.enable('host', False)\n"
            "print(os.environ['PYTORCH_CUDA_ALLOC_CONF'])\n"
            "print(os.environ['PYTORCH_ALLOC_CONF'])",
            PYTORCH_CUDA_ALLOC_CONF="a_b:[1:2,3:4], backend : native,pinned_x:1",
            PYTORCH_ALLOC_CONF="backend:native",
        )
        self.assertIn("a_b:[1:2,3:4],pinned_x:1\nbackend:native\n", said)

    def test_keys_of_other_versions(self):
        """None stops a program; who cannot be known is named, once."""
        told = "import warnings; warnings.simplefilter('always')\n"
        told += "gpumem.torch.enable('host', False)\n"
        told += "gpumem.torch.enable('host', False)\n"
        for conf in (
            "expandable_segments_reserve:0.5",
            "expandable_segments_reserve_by_class:True",
            "graph_capture_record_stream_reuse:True, max_split_size_mb : none",
            "expandable_segments,roundup_power2_divisions:[256:1,,]:,:,",
            "pinned_of_a_later_version:[1],release_lock_on_anything:True",
        ):
            self.assertEqual(self.child(told, PYTORCH_ALLOC_CONF=conf), "")
        said = self.child(
            told + "print(gpumem.torch.pool(0).stats()['limit_bytes'])",
            PYTORCH_ALLOC_CONF="max_split_size_gb:3,backend:native,]odd[,"
            "per_process_memory_fraction:0.25,new:[1,2",
            GPUMEM_CONF="host.capacity:64MiB",
        )
        self.assertEqual(said.count("Warning"), 1)
        self.assertIn(": max_split_size_gb, ]odd[, new, 2\n", said)
        self.assertIn(f"{16 * MIB}\n", said)

    def test_without_its_errors(self):
        said = self.child(
            "import pathlib\n"
            "torch.__file__ = '/nowhere/__init__.py'\n"
            "gpumem.torch.enable('host', False)\n"
            "try:\n    torch._C.double.alloc(1 << 50)\n"
            "except RuntimeError as error:\n    print('RuntimeError', error)"
        )
        self.assertIn("will be a plain RuntimeError", said)
        self.assertRegex(said, "RuntimeError CUDA out of memory\\. ")

    def test_an_end_with_blocks(self):
        """A process that ends with tensors and a graph does so quietly."""
        said = self.child(
            "gpumem.torch.enable('host', False)\n"
            "double = torch._C.double\n"
            "double.pool('begin', 0, 1)\n"
            "double.alloc(1 << 20)\n"
            "double.pool('end', 0, 1)\n"
            "double.pool('release', 0, 1)\n"
        )
        self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main()
