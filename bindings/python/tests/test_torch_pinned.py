# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyTorch's pinned memory from gpumem's pool.

As test_torch_subclass.py, in which it says what that needs.
"""

import ctypes
import gc
import os
import threading
import unittest
from pathlib import Path

from test_torch_subclass import MIB, asks, empty, inside, run_inside

LIMIT = 64 * MIB
own = inside and os.environ.get("GPUMEM_TEST_PINNED")
if own:
    import gpumem.torch
    import torch
    import torch.utils.data

    double = ctypes.CDLL(inside)


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(self, Path(__file__).stem, 8, GPUMEM_TEST_PINNED="1")


def setUpModule():
    if own:
        gpumem.torch.enable(
            backend="host", pinned=True, pinned_limit_bytes=LIMIT
        )


def pinned(size):
    return torch.empty(size, dtype=torch.uint8, pin_memory=True)


def stats():
    """Of which 2.10 changed the names: live blocks and bytes, and the driver's."""
    torch.cuda.init()
    found = torch.cuda.host_memory_stats()
    names = (
        ("active_requests", "active_bytes", "allocations", "allocated_bytes")
        if "active_requests.current" in found
        else ("allocation", "allocated_bytes", "segment", "reserved_bytes")
    )
    return [found[f"{x}.current"] for x in names]


def live():
    """Of the pool, by their addresses."""
    return {
        b["address"]: b["requested_bytes"]
        for b in gpumem.torch.pinned_pool().snapshot()
        if b["state"] == "live"
    }


def a_stream(number):
    handle = gpumem.torch.device(number).stream_create()
    return torch.cuda.ExternalStream(handle, device=number)


class Captured:
    """A stream that a graph of this number is captured on."""

    def __init__(self, number):
        self.number = number
        self.stream = a_stream(0)

    def __enter__(self):
        self.has_pools = asks().asks_host_begin(self.number)
        double.double_capture(ctypes.c_void_p(self.stream.cuda_stream), 1)
        return self

    def __exit__(self, *ignored):
        double.double_capture(ctypes.c_void_p(self.stream.cuda_stream), 0)
        asks().asks_host_end(self.number)

    def copy(self, to, of):
        double.double_pinned(1)
        with torch.cuda.stream(self.stream):
            to.copy_(of, non_blocking=True)
        double.double_pinned(0)


@unittest.skipUnless(own, "in the inner process")
class Pinned(unittest.TestCase):
    def setUp(self):
        pinned(1)  # there is a pool

    def tearDown(self):
        double.double_busy(0)
        gc.collect()
        pinned(1)
        torch._C._host_emptyCache()
        pool = gpumem.torch.pinned_pool()
        pool.check()
        self.assertEqual(pool.stats()["blocks"]["current"], self.left)
        self.assertEqual(double.double_events(), 0)

    left = 0

    def test_from_the_pool(self):
        pool = gpumem.torch.pinned_pool()
        self.assertEqual(pool.device.name, "host:0")
        self.assertEqual(pool.limit_bytes, LIMIT)
        before = live()
        x = pinned(1000)
        y = torch.arange(1000, dtype=torch.uint8).pin_memory()
        self.assertEqual(
            live(), {**before, x.data_ptr(): 1000, y.data_ptr(): 1000}
        )
        self.assertEqual(int(y[255]), 255)
        self.assertEqual(pinned(0).data_ptr(), 0)

    def test_sizes_are_not_rounded_up_to_powers_of_two(self):
        before = stats()
        x = [pinned(5 * MIB + 1) for _ in range(4)]
        count, bytes_live, _, reserved = stats()
        self.assertEqual(count - before[0], 4)
        self.assertLess(bytes_live - before[1], 21 * MIB)
        self.assertLess(reserved, 28 * MIB)
        pool = gpumem.torch.pinned_pool().stats()
        self.assertEqual(pool["reserved"]["current"], reserved)
        self.assertEqual(pool["blocks"]["current"], count)
        del x
        self.assertEqual(stats()[:2], before[:2])

    def test_used_again_when_the_streams_are_done(self):
        one, two = a_stream(0), a_stream(1)
        x, on_one, on_two = pinned(MIB), empty(MIB), empty(MIB, 1)
        for stream, there in (one, on_one), (two, on_two):
            with torch.cuda.stream(stream):
                there.copy_(x[:], non_blocking=True)
        address, count = x.data_ptr(), stats()[0]
        double.double_busy(1)
        del x
        self.assertEqual(double.double_events(), 2)
        self.assertEqual(stats()[0], count)
        y = [pinned(MIB) for _ in range(8)]
        self.assertNotIn(address, [t.data_ptr() for t in y])
        double.double_busy(0)
        self.assertEqual(pinned(MIB).data_ptr(), address)
        self.assertEqual(double.double_events(), 0)

    def test_nobody_used_it(self):
        x = pinned(MIB)
        address = x.data_ptr()
        double.double_busy(1)
        del x
        self.assertEqual(pinned(MIB).data_ptr(), address)

    def test_waits_before_it_is_out_of_memory(self):
        there = empty(40 * MIB)
        x = pinned(40 * MIB)
        there.copy_(x, non_blocking=True)
        del x
        waited = double.double_synchronized()
        double.double_busy_until_synchronized()
        pinned(40 * MIB)
        self.assertEqual(double.double_synchronized() - waited, 2)

    def test_out_of_memory(self):
        x = pinned(40 * MIB)
        with self.assertRaisesRegex(RuntimeError, "out of memory"):
            pinned(40 * MIB)
        del x
        pinned(40 * MIB)

    def test_empty_cache(self):
        x = pinned(20 * MIB)
        del x
        pool = gpumem.torch.pinned_pool()
        self.assertGreaterEqual(pool.stats()["reserved"]["current"], 20 * MIB)
        torch._C._host_emptyCache()
        self.assertEqual(pool.stats()["reserved"]["current"], 0)
        pinned(20 * MIB)
        if hasattr(torch.accelerator, "empty_host_cache"):
            torch.accelerator.empty_host_cache()
        else:
            pool.trim()
        self.assertEqual(stats()[3], 0)

    def test_resets(self):
        pinned(20 * MIB)
        torch.cuda.reset_accumulated_host_memory_stats()
        torch.cuda.reset_peak_host_memory_stats()
        found = torch.cuda.host_memory_stats()
        self.assertEqual(found["num_host_alloc"], 0)
        name = "active_bytes" if "active_bytes.peak" in found else "allocated_bytes"
        self.assertEqual(found[f"{name}.peak"], found[f"{name}.current"])
        x = pinned(MIB)
        self.assertEqual(
            torch.cuda.host_memory_stats()[f"{name}.allocated"], MIB
        )
        del x

    def test_data_loader(self):
        data = torch.arange(64, dtype=torch.float32).reshape(16, 4)
        loader = torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(data), batch_size=4, pin_memory=True
        )
        seen = []
        for (batch,) in loader:
            self.assertIn(batch.data_ptr(), live())
            there = batch.to("cuda", non_blocking=True)
            seen.append(batch.clone())
            del there, batch
        self.assertTrue(torch.equal(torch.cat(seen), data))

    def test_threads(self):
        """What one has, another does not write to."""
        wrong = []

        def work(number):
            there = empty(64 << 10)
            mine = []
            for i in range(300):
                x = pinned(1 + (i * 7919 + number) % (64 << 10))
                x.fill_(number)
                there[: len(x)].copy_(x, non_blocking=i % 3 > 0)
                mine.append(x)
                if i % 5 == number % 5:
                    wrong.extend(y for y in mine if bool((y != number).any()))
                    del mine[::2]
            wrong.extend(y for y in mine if bool((y != number).any()))

        threads = [
            threading.Thread(target=work, args=(n,)) for n in range(1, 5)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])

    def test_what_a_graph_uses_stays_until_it_is_gone(self):
        there, x = empty(MIB), pinned(MIB)
        address = x.data_ptr()
        with Captured(1) as graph:
            graph.copy(there, x)
            del x
            self.assertNotEqual(pinned(MIB).data_ptr(), address)
        self.assertNotEqual(pinned(MIB).data_ptr(), address)
        torch._C._host_emptyCache()
        self.assertNotEqual(pinned(MIB).data_ptr(), address)
        if not graph.has_pools:
            type(self).left += 1
            self.skipTest("PyTorch says since 2.11 when a graph is gone")
        asks().asks_host_release(1)
        waited = double.double_synchronized()
        self.assertEqual(pinned(MIB).data_ptr(), address)
        self.assertGreater(double.double_synchronized(), waited)

    def test_freed_after_its_graph(self):
        there, x = empty(MIB), pinned(MIB)
        address = x.data_ptr()
        with Captured(2) as graph:
            graph.copy(there, x)
        if not graph.has_pools:
            type(self).left += 1
            self.skipTest("PyTorch says since 2.11 when a graph is gone")
        asks().asks_host_release(2)
        pinned(MIB)
        waited = double.double_synchronized()
        del x
        self.assertEqual(pinned(MIB).data_ptr(), address)
        self.assertGreater(double.double_synchronized(), waited)

    def test_history(self):
        names = torch.cuda.memory._record_memory_history.__doc__ or ""
        if "record_pinned_host_memory" not in names:
            self.skipTest("PyTorch has it since 2.14")
        torch.cuda.memory._record_memory_history(
            record_pinned_host_memory=True
        )
        try:
            x, y = pinned(2 * MIB), pinned(3 * MIB)
            address, kept = x.data_ptr(), y.data_ptr()
            del x
            found = torch.cuda.memory._snapshot()
        finally:
            torch.cuda.memory._record_memory_history(None)
        of_x = [
            (each["action"], each["size"])
            for each in found["host_traces"]
            if each["addr"] == address
        ]
        self.assertEqual(
            of_x,
            [
                ("alloc", 2 * MIB),
                ("free_requested", 2 * MIB),
                ("free_completed", 2 * MIB),
            ],
        )
        frames = [x["frames"] for x in found["host_traces"] if x["addr"] == kept]
        self.assertIn("test_history", str(frames))
        segments = {x["address"]: x for x in found["host_segments"]}
        self.assertEqual(segments[kept]["total_size"], 3 * MIB)
        self.assertNotIn(address, segments)

    def test_a_forked_child(self):
        x = pinned(MIB)
        child = os.fork()
        if child == 0:
            try:
                pinned(MIB)
            except RuntimeError:
                del x
                os._exit(7)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        self.assertIn(x.data_ptr(), live())


@unittest.skipUnless(own, "in the inner process")
class Asked(unittest.TestCase):
    def test_needs_the_subclass(self):
        with self.assertRaisesRegex(RuntimeError, "needs the subclass"):
            gpumem.torch.enable(subclass=False, pinned=True)

    def test_a_limit_is_for_a_pool(self):
        with self.assertRaises(ValueError):
            gpumem.torch.enable(pinned_limit_bytes=1)
        with self.assertRaises(ValueError):
            gpumem.torch.enable(pinned=True, pinned_limit_bytes=-1)


if __name__ == "__main__":
    unittest.main()
