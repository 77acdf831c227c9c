# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The plug, gpumem.torch.enable(subclass=False), in a real PyTorch without a GPU: what
there is for versions before 2.8, of which 2.3 is the first.

As test_torch_subclass.py, in which it says what that needs. All that the plug does is
tried over a stand-in for PyTorch: test_torch.py.
"""

import os
import unittest
from pathlib import Path

import gpumem
from test_torch_subclass import MIB, empty, inside, run_inside

own = inside and os.environ.get("GPUMEM_TEST_PLUG")
if inside:
    import gpumem.torch
    import torch


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(self, Path(__file__).stem, 5, GPUMEM_TEST_PLUG="1")


def setUpModule():
    if own:
        gpumem.torch.enable(backend="host", subclass=False)


def live(device=0):
    blocks = gpumem.torch.pool(device).snapshot()
    return [x["requested_bytes"] for x in blocks if x["state"] == "live"]


@unittest.skipUnless(own, "in the inner process")
class Plug(unittest.TestCase):
    def tearDown(self):
        torch.cuda.empty_cache()
        self.assertEqual((live(0), live(1)), ([], []))

    def test_it_is_the_plug(self):
        self.assertEqual(gpumem.torch.how(), "plug")

    def test_a_tensor_is_a_block(self):
        one, other = empty(MIB), empty(3 * MIB, 1)
        self.assertEqual((live(0), live(1)), ([MIB], [3 * MIB]))
        self.assertEqual(torch.cuda.memory_allocated(0), MIB)
        self.assertGreaterEqual(torch.cuda.memory_reserved(1), 3 * MIB)
        one.record_stream(torch.cuda.current_stream())
        self.assertEqual(len(torch.cuda.memory_snapshot()), 2)
        self.assertIn("3072 KiB", torch.cuda.memory_summary(1))
        del one, other

    def test_what_is_unused_goes_back(self):
        tensor = empty(8 * MIB)
        torch.cuda.reset_peak_memory_stats()
        del tensor
        torch.cuda.empty_cache()
        self.assertEqual(torch.cuda.memory_reserved(), 0)
        self.assertEqual(torch.cuda.max_memory_allocated(), 8 * MIB)

    def test_out_of_memory(self):
        with self.assertRaisesRegex(RuntimeError, "^CUDA out of memory") as caught:
            empty(1 << 50)
        expected = RuntimeError
        if torch.__version__ >= "2.7" and torch.compiled_with_cxx11_abi():
            expected = torch.cuda.OutOfMemoryError
        self.assertIsInstance(caught.exception, expected)

    def test_asleep(self):
        content = torch.arange(4 * MIB).to(torch.uint8)
        with gpumem.tag("kept", sleep="keep"):
            tensor = empty(4 * MIB)
        tensor.copy_(content)
        gpumem.torch.sleep()
        self.assertEqual(torch.cuda.memory_reserved(), 0)
        gpumem.torch.wake()
        self.assertTrue(torch.equal(tensor.cpu(), content))
        del tensor

    def test_released(self):
        tensor = empty(2 * MIB)
        gpumem.release(tensor)
        self.assertEqual((live(), torch.cuda.memory_reserved()), ([], 0))

    def test_no_history(self):
        with self.assertRaises(NotImplementedError):
            torch.cuda.memory._record_memory_history()


if __name__ == "__main__":
    unittest.main()
