# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A forked child of a process whose PyTorch has memory of gpumem's.

What allocates raises there, what frees does nothing, and the child ends as it
wants, also while another thread of its parent is in the allocator. In a real
PyTorch without a GPU, as test_torch_subclass.py.
"""

import faulthandler
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from test_torch_subclass import MIB, empty, inside, run_inside

if inside:
    import gpumem.torch
    import torch


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(self, Path(__file__).stem, 3)


def setUpModule():
    if inside:
        gpumem.torch.enable(backend="host")


def in_child(work):
    """What it returns, or what it raises, as text; and how it ended."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        faulthandler.disable()
        try:
            said = str(work())
        except RuntimeError as error:
            said = f"RuntimeError: {error}"
        except BaseException as error:
            said = repr(error)
        os.write(theirs, said.encode()[:4000])
        os._exit(0)
    os.close(theirs)
    with open(ours) as pipe:
        said = pipe.read()
    return said, os.waitpid(child, 0)[1]


def use_pool(pool):
    with torch.cuda.use_mem_pool(pool):
        return empty(MIB)


@unittest.skipUnless(inside, "in the inner process")
class Forked(unittest.TestCase):
    def setUp(self):
        self.tensor = empty(3 * MIB)
        self.pool = torch.cuda.MemPool()
        self.inside = use_pool(self.pool)

    def doors(self):
        own = torch._C
        history = torch.cuda.memory._record_memory_history
        state = own._cuda_getCheckpointState(0, self.pool.id)
        return {
            "caching_allocator_alloc": lambda: (
                own._cuda_cudaCachingAllocator_raw_alloc(MIB, 0)
            ),
            "fraction": lambda: own._cuda_setMemoryFraction(0.5, 0),
            "memory_stats": lambda: own._cuda_memoryStats(0),
            "peaks": lambda: own._cuda_resetPeakMemoryStats(0),
            "totals": lambda: own._cuda_resetAccumulatedMemoryStats(0),
            "snapshot": lambda: own._cuda_memorySnapshot(None),
            "history": lambda: history(),
            "no history": lambda: history(None),
            "a pool": lambda: torch._C._MemPool(None, True, False, False),
            "allocations to a pool": lambda: (
                own._cuda_beginAllocateCurrentThreadToPool(0, self.pool.id)
            ),
            "live ones": lambda: own._cuda_checkPoolLiveAllocations(
                0, self.pool.id, {self.inside.data_ptr()}
            ),
            "a state": lambda: (
                own._cuda_getCheckpointState(0, self.pool.id)
            ),
            "back to it": lambda: own._cuda_setCheckpointPoolState(
                0, state, [], []
            ),
        }

    def questions(self):
        """What asks CUDA first, which refuses in words of its own."""
        stream = torch.cuda.ExternalStream(
            gpumem.torch.device(0).stream_create()
        )
        return {
            "a copy": self.tensor.clone,
            "record_stream": lambda: self.tensor.record_stream(stream),
            "a share": self.tensor.untyped_storage()._share_cuda_,
            "a tensor": lambda: empty(MIB),
        }

    def test_what_uses_a_device_raises(self):
        for name, door in self.doors().items():
            with self.subTest(name):
                said, status = in_child(door)
                self.assertEqual(status, 0)
                self.assertRegex(said, "^RuntimeError: .*forked")
        for name, question in self.questions().items():
            with self.subTest(name):
                said, status = in_child(question)
                self.assertEqual(status, 0)
                self.assertRegex(said, "^RuntimeError: ")

    def test_what_frees_does_nothing(self):
        def end_all():
            del self.tensor, self.inside, self.pool
            torch._C._cuda_emptyCache()
            return "ended"

        def end_pool():
            end = torch._C._cuda_endAllocateToPool
            end(0, self.pool.id)
            torch._C._cuda_releasePool(0, self.pool.id)
            return "ended"

        before = gpumem.torch.pool(0).stats()
        for end in end_all, end_pool:
            with self.subTest(end.__name__):
                self.assertEqual(in_child(end), ("ended", 0))
        self.assertEqual(gpumem.torch.pool(0).stats(), before)

    def test_while_others_allocate(self):
        """No lock of theirs is waited for."""
        stop = threading.Event()

        def work():
            while not stop.is_set():
                empty(1000)
                torch.cuda.memory_stats()

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(50):
                tensors = [empty(1000) for _ in range(2)]

                def end_some():
                    tensors.clear()
                    return "ended"

                self.assertEqual(in_child(end_some), ("ended", 0))
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_the_end_of_a_child(self):
        """Python ends objects, and C++ its own, as in any program."""
        script = (
            "import os, sys, torch, gpumem.torch\n"
            "gpumem.torch.enable(backend='host', subclass=True)\n"
            "x = torch.empty(1000, device='cuda')\n"
            "pool = torch.cuda.MemPool()\n"
            "with torch.cuda.use_mem_pool(pool):\n"
            "    y = torch.empty(1000, device='cuda')\n"
            "child = os.fork()\n"
            "if child:\n"
            "    print(os.waitpid(child, 0)[1])\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True
        )
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))


if __name__ == "__main__":
    unittest.main()
