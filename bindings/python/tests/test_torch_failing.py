# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Captures that fail, devices that fail, and limits below what is in use: nothing
is kept, nothing aborts. In a real PyTorch without a GPU, as
test_torch_subclass.py."""

import ctypes
import threading
import unittest
from pathlib import Path

from test_torch_subclass import MIB, empty, inside, run_inside

if inside:
    import gpumem.torch
    import torch

    double = ctypes.CDLL(inside)


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(self, Path(__file__).stem, 4)


def setUpModule():
    if inside:
        gpumem.torch.enable(backend="host")


@unittest.skipUnless(inside, "in the inner process")
class Captures(unittest.TestCase):
    def setUp(self):
        empty(1)
        torch.cuda.empty_cache()
        self.reserved = torch.cuda.memory_reserved()
        self.handle = gpumem.torch.device(0).stream_create()
        self.stream = torch.cuda.ExternalStream(self.handle)
        self.pool = torch.cuda.graph_pool_handle()

    def capture(self, on):
        double.double_capture(ctypes.c_void_p(self.handle), on)

    def fail(self):
        """PyTorch begins, the driver ends, PyTorch raises before its own end."""
        with torch.cuda.stream(self.stream):
            self.capture(1)
            torch._C._cuda_beginAllocateToPool(0, self.pool)
            x = empty(64 * MIB)
            self.capture(0)
        self.assertTrue(x.data_ptr())

    def is_back(self):
        torch.cuda.empty_cache()
        self.assertEqual(torch.cuda.memory_reserved(), self.reserved)
        self.assertEqual(gpumem.torch.pool(0).stats()["graph_bytes"], 0)
        gpumem.torch.pool(0).check()

    def test_nothing_stays(self):
        self.fail()
        self.is_back()

    def test_ended_late(self):
        """As by later versions, when the graph is reset."""
        self.fail()
        self.is_back()
        torch._C._cuda_endAllocateToPool(0, self.pool)
        torch._C._cuda_releasePool(0, self.pool)
        self.is_back()
        with self.assertRaisesRegex(RuntimeError, "nothing was begun"):
            torch._C._cuda_endAllocateToPool(0, self.pool)

    def test_used_again(self):
        """The same pool, by a capture that does not fail, and as memory."""
        self.fail()
        self.is_back()
        with torch.cuda.stream(self.stream):
            self.capture(1)
            torch._C._cuda_beginAllocateToPool(0, self.pool)
            x = empty(4 * MIB)
            self.capture(0)
            torch._C._cuda_endAllocateToPool(0, self.pool)
        address = x.data_ptr()
        del x
        torch.cuda.empty_cache()
        kept = {s["segment_pool_id"] for s in torch.cuda.memory_snapshot()}
        self.assertIn(tuple(self.pool), kept)
        self.assertNotEqual(empty(4 * MIB).data_ptr(), address)
        torch._C._cuda_releasePool(0, self.pool)
        self.is_back()

    def test_another_thread_decides_nothing(self):
        """It may look between the driver's end and PyTorch's."""
        with torch.cuda.stream(self.stream):
            self.capture(1)
            torch._C._cuda_beginAllocateToPool(0, self.pool)
            x = empty(64 * MIB)
            del x
            self.capture(0)
            for work in (torch.cuda.empty_cache, lambda: empty(MIB)):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
            torch._C._cuda_endAllocateToPool(0, self.pool)
        self.assertGreaterEqual(
            torch.cuda.memory_reserved(), self.reserved + 64 * MIB
        )
        torch._C._cuda_releasePool(0, self.pool)
        self.is_back()


@unittest.skipUnless(inside, "in the inner process")
class Devices(unittest.TestCase):
    def test_a_device_that_fails(self):
        """No destructor throws; what waits is given back later."""
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            empty(64 * MIB)
        before = torch.cuda.memory_reserved()
        double.double_fails(1)
        del pool
        double.double_fails(0)
        self.assertEqual(torch.cuda.memory_reserved(), before)
        torch.cuda.empty_cache()
        self.assertLessEqual(torch.cuda.memory_reserved(), before - 64 * MIB)

    def test_a_fraction_below_what_is_in_use(self):
        """Nothing is given until it fits."""
        total = gpumem.torch.device(0).info["total_bytes"]
        set_fraction = torch.cuda.set_per_process_memory_fraction
        self.addCleanup(set_fraction, 1.0)
        torch.cuda.empty_cache()
        x, y = empty(40 * MIB), empty(4 * MIB)
        set_fraction(20 * MIB / total)
        for size in (1, 8 * MIB):
            with self.assertRaisesRegex(torch.OutOfMemoryError, "in use"):
                empty(size)
        del x
        x = empty(8 * MIB)
        with self.assertRaises(torch.OutOfMemoryError):
            empty(16 * MIB)
        del x, y
        set_fraction(0.0)
        with self.assertRaises(torch.OutOfMemoryError):
            empty(1)
        set_fraction(1.0)
        empty(64 * MIB)


if __name__ == "__main__":
    unittest.main()
