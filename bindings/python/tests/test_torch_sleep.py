# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Tensors of PyTorch asleep and awake, in a real PyTorch without a GPU.

As test_torch_subclass.py, in which it says what that needs. By the plug, over a
stand-in for PyTorch: test_torch.py.
"""

import ctypes
import os
import unittest
from pathlib import Path

import gpumem
from test_torch_subclass import MIB, empty, inside, run_inside

# Memory goes by whole handles: none is to have what sleeps and what does not.
CONF = "host.devices:2,handle_max:2MiB"

own = inside and os.environ.get("GPUMEM_TEST_SLEEP")
if inside:
    import gpumem.torch
    import torch

    double = ctypes.CDLL(inside)


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(
            self,
            Path(__file__).stem,
            7,
            GPUMEM_TEST_SLEEP="1",
            GPUMEM_CONF=CONF,
        )


def setUpModule():
    if own:
        gpumem.torch.enable(backend="host")


def ramp(first, nbytes=4 * MIB):
    return (torch.arange(nbytes) * 7 + first).to(torch.uint8)


def made(first, nbytes=4 * MIB, device=0):
    """A tensor with that content. There are no kernels, so it is copied."""
    tensor = empty(nbytes, device)
    tensor.copy_(ramp(first, nbytes))
    return tensor


def sleeping(device=0):
    return gpumem.torch.pool(device).stats()["sleeping"]["current"]


def reserved(device=0):
    return gpumem.torch.pool(device).stats()["reserved"]["current"]


@unittest.skipUnless(own, "in the inner process")
class Tensors(unittest.TestCase):
    def tearDown(self):
        gpumem.torch.wake()
        torch.cuda.empty_cache()
        for device in gpumem.torch.used_devices():
            device.pool.check()

    def test_come_back_where_they_were(self):
        kept = {n: made(n, n * MIB + n) for n in range(1, 6)}
        small = made(9, 200)
        addresses = {n: x.data_ptr() for n, x in kept.items()}
        allocated = torch.cuda.memory_allocated()
        slept = gpumem.torch.sleep()
        self.assertEqual(reserved(), 0)
        self.assertEqual(torch.cuda.memory_reserved(), 0)
        self.assertEqual(torch.cuda.memory_allocated(), allocated)
        self.assertGreaterEqual(slept.kept_bytes, 15 * MIB)
        woken = gpumem.torch.wake()
        self.assertEqual(woken.kept_bytes, slept.kept_bytes)
        self.assertEqual(reserved(), woken.device_bytes)
        for n, x in kept.items():
            self.assertEqual(x.data_ptr(), addresses[n])
            self.assertTrue(torch.equal(x.cpu(), ramp(n, n * MIB + n)))
        self.assertTrue(torch.equal(small.cpu(), ramp(9, 200)))

    def test_by_tag(self):
        with gpumem.tag("torch/weights", sleep="keep"):
            weights = made(1)
        with gpumem.tag("torch/cache", sleep="drop"):
            cache = made(2, 8 * MIB)
        rest = made(3)
        slept = gpumem.torch.sleep("torch", content="retained")
        self.assertEqual(
            (slept.kept_bytes, slept.dropped_bytes), (4 * MIB, 8 * MIB)
        )
        self.assertTrue(torch.equal(rest.cpu(), ramp(3)))
        gpumem.torch.wake("torch/weights")
        self.assertEqual(sleeping(), 8 * MIB)
        self.assertTrue(torch.equal(weights.cpu(), ramp(1)))
        gpumem.torch.wake(tag="torch")
        self.assertEqual(sleeping(), 0)
        del cache

    def test_each_device(self):
        here, there = made(1), empty(6 * MIB, 1)
        gpumem.sleep()  # without pools: the same
        self.assertEqual((reserved(0), reserved(1)), (0, 0))
        self.assertEqual(sleeping(1), 6 * MIB)
        gpumem.wake()
        self.assertEqual((sleeping(0), sleeping(1)), (0, 0))
        self.assertTrue(torch.equal(here.cpu(), ramp(1)))
        del there

    def test_the_devices_are_waited_for(self):
        kept = made(1)
        before = double.double_synchronized()
        gpumem.torch.sleep()
        self.assertGreater(double.double_synchronized(), before)
        gpumem.torch.wake()
        del kept

    def test_what_pytorch_does_meanwhile(self):
        kept, gone = made(1), made(2)
        gpumem.torch.sleep()
        held = sleeping()
        del gone
        self.assertEqual(sleeping(), held - 4 * MIB)
        new = made(3)
        self.assertTrue(torch.equal(new.cpu(), ramp(3)))
        torch.cuda.empty_cache()
        torch.cuda.memory_stats()
        torch.cuda.memory_snapshot()
        torch.cuda.reset_peak_memory_stats()
        gpumem.torch.wake()
        self.assertTrue(torch.equal(kept.cpu(), ramp(1)))
        self.assertTrue(torch.equal(new.cpu(), ramp(3)))

    def test_a_private_pool(self):
        """Its segments are blocks to gpumem, with the tag of whoever had them
        made."""
        pool = torch.cuda.MemPool()
        with gpumem.tag("torch/private", sleep="keep"):
            with torch.cuda.use_mem_pool(pool):
                kept = made(5, 3 * MIB)
        rest = made(6)
        slept = gpumem.torch.sleep("torch/private")
        self.assertGreaterEqual(slept.kept_bytes, 3 * MIB)
        self.assertTrue(torch.equal(rest.cpu(), ramp(6)))
        gpumem.torch.wake("torch/private")
        self.assertTrue(torch.equal(kept.cpu(), ramp(5, 3 * MIB)))
        del kept

    def test_a_capture(self):
        kept = made(1)
        stream = torch.cuda.current_stream().cuda_stream
        double.double_capture(ctypes.c_void_p(stream), 1)
        try:
            with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
                with self.assertRaisesRegex(gpumem.Error, "captured") as caught:
                    gpumem.torch.sleep()
            self.assertEqual(caught.exception.status, "GPUMEM_BUSY")
        finally:
            double.double_capture(ctypes.c_void_p(stream), 0)
        self.assertEqual(sleeping(), 0)
        self.assertTrue(torch.equal(kept.cpu(), ramp(1)))

    def test_a_wake_without_room(self):
        kept = made(1, 8 * MIB)
        gpumem.torch.sleep()
        other = made(2, 8 * MIB)
        pool = gpumem.torch.pool()
        pool.limit_bytes = 12 * MIB
        self.addCleanup(pool.set_limit)
        with self.assertRaises(gpumem.OutOfMemoryError) as caught:
            gpumem.torch.wake()
        self.assertIn(" out of memory", str(caught.exception))
        self.assertEqual(sleeping(), 8 * MIB)
        del other
        gpumem.torch.wake()
        self.assertTrue(torch.equal(kept.cpu(), ramp(1, 8 * MIB)))


if __name__ == "__main__":
    unittest.main()
