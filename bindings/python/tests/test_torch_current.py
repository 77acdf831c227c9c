# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Which device an allocation is for where PyTorch says none: the current one.

Threads ask CUDA's driver once that is sure to say what PyTorch would
(subclass/current.hpp). In a real PyTorch without a GPU, as test_torch_subclass.py; one
test, since what it looks at is the first use of each device in a process.
"""

import ctypes
import os
import threading
import unittest
from pathlib import Path

from test_torch_subclass import MIB, inside, run_inside

if inside:
    import gpumem.torch
    import torch


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(self, Path(__file__).stem, 0)


@unittest.skipUnless(inside, "in the inner process")
class Current(unittest.TestCase):
    def on(self, number, **more):
        """Allocates, in this thread, and looks which device has the block."""
        before = [self.live(each) for each in (0, 1)]
        asked = self.double.double_device_asked()
        ptr = torch._C._cuda_cudaCachingAllocator_raw_alloc(MIB, 0)
        asked = self.double.double_device_asked() - asked
        after = [self.live(each) for each in (0, 1)]
        torch._C._cuda_cudaCachingAllocator_raw_delete(ptr)
        grown = [b - a for a, b in zip(before, after)]
        self.assertEqual(grown, [MIB * (number == each) for each in (0, 1)], more)
        self.assertEqual(asked, more.get("asked", asked))

    def live(self, number):
        if not self.opened[number]:
            return 0
        return gpumem.torch.pool(number).stats()["requested"]["current"]

    def test_driver_and_runtime(self):
        gpumem.torch.enable(backend="host")
        self.double = ctypes.CDLL(os.environ["GPUMEM_TEST_CUDART"])
        self.opened = [True, False]
        torch.cuda.init()
        self.double.double_without_context(1)
        for _ in range(3):
            self.on(0, asked=1)
        # PyTorch puts device 1 off; the driver would say 0.
        torch._C._cuda_maybeExchangeDevice(1)
        ptr = torch._C._cuda_cudaCachingAllocator_raw_alloc(MIB, 0)
        self.opened[1] = True
        self.assertEqual(self.live(1), MIB)
        torch._C._cuda_cudaCachingAllocator_raw_delete(ptr)
        self.double.double_without_context(-1)
        for _ in range(3):
            self.on(1)
        # It does no more: the driver is asked from the second time on.
        torch.cuda.set_device(0)
        self.on(0, asked=1)
        self.on(0, asked=0)
        torch.cuda.set_device(1)
        self.on(1, asked=0)
        with torch.cuda.device(0):
            self.on(0, asked=0)
        self.on(1, asked=0)

        def other():
            self.on(0, asked=1)  # has no context before it
            self.on(0, asked=1)
            self.on(0, asked=0)
            torch.cuda.set_device(1)
            self.on(1, asked=0)
            said.append("all")

        said = []
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        self.assertEqual(said, ["all"])
        self.on(1, asked=0)


if __name__ == "__main__":
    unittest.main()
