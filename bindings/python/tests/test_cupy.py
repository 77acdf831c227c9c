# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem.cupy on a `host` device: over CuPy where it can be imported, which needs
no GPU for what is tried here, else over a stand-in for it."""

import contextlib
import gc
import sys
import threading
import types
import unittest

import gpumem

MIB = 1 << 20


class OutOfMemoryError(MemoryError):
    """cupy.cuda.memory.OutOfMemoryError"""

    def __init__(self, size, total, limit=0):
        super().__init__(f"Out of memory allocating {size:,} bytes")


class UnownedMemory:
    """cupy.cuda.UnownedMemory"""

    def __init__(self, ptr, size, owner, device_id=-1):
        self.ptr, self.size, self.device_id = ptr, size, device_id
        self._owner = owner


class MemoryPointer:
    """cupy.cuda.MemoryPointer"""

    def __init__(self, mem, offset):
        self.mem, self.ptr = mem, mem.ptr + offset
        self.device_id = mem.device_id


class Stream:
    """cupy.cuda.Stream"""

    ended = []
    _foreign_stream_ref = None

    @classmethod
    def from_external(cls, stream):
        self = cls()
        self.ptr = stream.__cuda_stream__()[1]
        self._foreign_stream_ref = stream
        return self

    def __del__(self):
        if self._foreign_stream_ref is None:
            self.ended.append(self.ptr)


class Foreign:
    """Another library's stream: it may have ended."""

    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


def double():
    cupy = types.ModuleType("cupy")
    cupy._default_memory_pool = None
    cupy.get_default_memory_pool = lambda: cupy._default_memory_pool
    cupy.cuda = types.SimpleNamespace(
        runtime=types.SimpleNamespace(is_hip=False),
        memory=types.SimpleNamespace(
            OutOfMemoryError=OutOfMemoryError,
            _malloc=lambda size: None,
            malloc_managed=lambda size: None,
        ),
        UnownedMemory=UnownedMemory,
        MemoryPointer=MemoryPointer,
        Stream=Stream,
        alloc=None,
    )
    cupy.cuda.set_allocator = lambda x: setattr(cupy.cuda, "alloc", x)
    sys.modules["cupy"] = cupy
    return cupy


try:
    import cupy

    real = True
except ImportError:
    cupy, real = double(), False
import gpumem.cupy as adapter


class Theirs:
    """CuPy's own pool, as far as enable() needs it."""

    limit = 0
    freed = 0

    def free_all_blocks(self):
        self.freed += 1

    def get_limit(self):
        return self.limit


theirs = cupy._default_memory_pool = Theirs()
adapter._backend = "host"
here = threading.local()  # as the current device and stream are
adapter._where = lambda: (
    getattr(here, "device", 0),
    getattr(here, "stream", 0),
)
gpumem.option_set("host.devices", "2")
adapter.enable()
adapter._pools.update(
    {(i, "device"): gpumem.Pool(f"host:{i}") for i in range(2)}
)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.pool = adapter.pool()
        here.device = here.stream = 0

    def tearDown(self):
        here.device = here.stream = 0
        gc.collect()
        self.assertEqual(self.pool.stats()["blocks"]["current"], 0)
        self.pool.check()

    def live(self, pool=None):
        blocks = (pool or self.pool).snapshot()
        return [x for x in blocks if x["state"] == "live"]

    def test_memory_comes_from_the_pool(self):
        pointer = cupy.cuda.alloc(5000)
        self.assertEqual([x["address"] for x in self.live()], [pointer.ptr])
        self.assertEqual(self.live()[0]["requested_bytes"], 5000)
        self.assertEqual(pointer.mem.size, 5000)
        self.assertEqual(pointer.device_id, 0)
        del pointer
        self.assertEqual(self.live(), [])

    def test_the_last_array_ends_it(self):
        pointer = cupy.cuda.alloc(MIB)
        mem = pointer.mem
        del pointer
        self.assertEqual(len(self.live()), 1)
        del mem
        self.assertEqual(self.live(), [])

    def test_nothing(self):
        self.assertEqual(cupy.cuda.alloc(0).ptr, 0)

    def test_the_current_stream_has_it(self):
        device = self.pool.device
        here.stream = device.stream_create()
        pointer = cupy.cuda.alloc(MIB)
        self.assertEqual(self.live()[0]["stream"], here.stream)
        stream, here.stream = here.stream, 0
        del pointer
        device.stream_destroy(stream)

    def test_the_current_device_has_it(self):
        here.device = 1
        pointer = cupy.cuda.alloc(MIB)
        self.assertEqual(pointer.device_id, 1)
        self.assertEqual(len(self.live(adapter.pool(1))), 1)
        self.assertIs(adapter.pool(), adapter.pool(1))
        self.assertEqual(adapter.pool(1).device.name, "host:1")
        self.assertEqual(self.live(), [])

    def test_out_of_memory(self):
        with self.assertRaises(cupy.cuda.memory.OutOfMemoryError) as caught:
            cupy.cuda.alloc(1 << 50)
        self.assertIsInstance(
            caught.exception.__cause__, gpumem.OutOfMemoryError
        )
        caught.exception.__traceback__ = None

    def test_garbage_is_collected_first(self):
        limit = self.pool.stats()["reserved"]["current"] + 8 * MIB
        self.pool.set_limit(limit)
        try:
            ring = [cupy.cuda.alloc(6 * MIB)]
            ring.append(ring)
            del ring
            self.assertTrue(cupy.cuda.alloc(limit - 3 * MIB).ptr)
        finally:
            self.pool.set_limit()

    def test_from_threads(self):
        wrong = []

        def work(number):
            here.device = number % 2
            for i in range(200):
                held = [cupy.cuda.alloc(1000 * j + 1) for j in range(4)]
                if len({x.ptr for x in held}) != 4:
                    wrong.append(i)
                if {x.device_id for x in held} != {number % 2}:
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(self.live(adapter.pool(1)), [])

    @contextlib.contextmanager
    def dropped(self, told):
        """Instead of by the pools."""
        pools, adapter._pools = adapter._pools, {(0, "device"): self}
        self.drop_stream = told
        try:
            yield
        finally:
            adapter._pools = pools

    @unittest.skipIf(real, "CuPy would give the handle to the driver")
    def test_a_stream_that_ends(self):
        """The pools are told while the handle still means this stream."""
        told = []
        with self.dropped(lambda x: told.append((x, list(Stream.ended)))):
            for handle in (2, 4096):
                stream = Stream()
                stream.ptr = handle
                del stream
        self.assertEqual(told, [(4096, [2])])
        self.assertEqual(Stream.ended, [2, 4096])

    @unittest.skipUnless(
        hasattr(cupy.cuda.Stream, "from_external"), "CuPy before 14"
    )
    def test_a_stream_of_others(self):
        """Its handle may mean nothing any more, and the driver would crash."""
        told = []
        with self.dropped(told.append):
            stream = cupy.cuda.Stream.from_external(Foreign(4096))
            self.assertEqual(stream.ptr, 4096)
            del stream
            gc.collect()
        self.assertEqual(told, [])


class Pools(unittest.TestCase):
    def setUp(self):
        here.device = here.stream = 0
        self.ours = cupy.get_default_memory_pool()
        self.ours.free_all_blocks()

    def test_is_the_default_one(self):
        self.assertIsInstance(self.ours, adapter.MemoryPool)
        self.assertTrue(adapter.enabled())
        self.assertEqual(theirs.freed, 1)
        adapter.enable()
        self.assertIs(cupy.get_default_memory_pool(), self.ours)
        self.assertEqual(theirs.freed, 1)

    def test_has_what_cupy_s_has(self):
        names = (
            "free_all_blocks free_all_free free_bytes get_limit malloc "
            "n_free_blocks set_limit total_bytes used_bytes"
        ).split()
        for kind in (
            adapter.MemoryPool,
            getattr(cupy.cuda, "MemoryPool", None),
        ):
            if kind is not None:
                public = [x for x in dir(kind) if x[0] != "_"]
                self.assertEqual(sorted(public), names)

    def test_numbers(self):
        self.assertEqual(self.ours.total_bytes(), 0)
        self.assertEqual(self.ours.n_free_blocks(), 0)
        pointer = self.ours.malloc(8 * MIB)
        self.assertGreaterEqual(self.ours.used_bytes(), 8 * MIB)
        self.assertGreaterEqual(self.ours.total_bytes(), self.ours.used_bytes())
        del pointer
        self.assertEqual(self.ours.used_bytes(), 0)
        self.assertEqual(self.ours.free_bytes(), self.ours.total_bytes())
        self.assertGreaterEqual(self.ours.free_bytes(), 8 * MIB)
        self.assertGreaterEqual(self.ours.n_free_blocks(), 1)
        with self.assertWarns(DeprecationWarning) as caught:
            self.ours.free_all_free()
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(self.ours.total_bytes(), 0)

    def test_limits(self):
        self.assertEqual(self.ours.get_limit(), 0)
        self.ours.set_limit(16 * MIB)
        self.assertEqual(self.ours.get_limit(), 16 * MIB)
        with self.assertRaises(cupy.cuda.memory.OutOfMemoryError):
            self.ours.malloc(17 * MIB)
        total = adapter.pool().device.info["total_bytes"]
        self.ours.set_limit(fraction=0.5)
        self.assertEqual(self.ours.get_limit(), total // 2)
        for wrong in ({"size": 1, "fraction": 0.5}, {"fraction": 1.5}):
            with self.assertRaises(ValueError):
                self.ours.set_limit(**wrong)
        self.ours.set_limit()
        self.assertEqual(self.ours.get_limit(), 0)

    def test_a_limit_below_what_is_in_use(self):
        """Nothing is given until it fits."""
        oom = cupy.cuda.memory.OutOfMemoryError
        self.addCleanup(self.ours.set_limit)
        self.ours.free_all_blocks()
        array = cupy.cuda.alloc(40 * MIB)
        self.ours.set_limit(20 * MIB)
        self.assertEqual(self.ours.get_limit(), 20 * MIB)
        for size in (1, 8 * MIB):
            with self.assertRaises(oom):
                cupy.cuda.alloc(size)
        del array
        array = cupy.cuda.alloc(8 * MIB)
        with self.assertRaises(oom):
            cupy.cuda.alloc(16 * MIB)
        self.assertEqual(adapter.pool().stats()["limit_bytes"], 20 * MIB)
        self.ours.set_limit(1024)
        self.assertEqual(self.ours.get_limit(), 1024)
        del array
        with self.assertRaises(oom):
            cupy.cuda.alloc(1)
        self.ours.set_limit(0)
        self.assertEqual(self.ours.get_limit(), 0)
        self.assertTrue(cupy.cuda.alloc(64 * MIB).ptr)

    def test_a_limit_of_cupy_s_holds(self):
        """That CUPY_GPU_MEMORY_LIMIT set, for a device not yet used."""
        before = adapter._pools.pop((1, "device"), None)
        theirs.limit, here.device = 32 * MIB, 1
        try:
            self.assertEqual(self.ours.get_limit(), 32 * MIB)
        finally:
            theirs.limit = 0
            self.ours.set_limit()
            here.device = 0
            if before:
                adapter._pools[1, "device"] = before

    def test_by_itself(self):
        """As cupy.cuda.MemoryPool(), with CuPy's allocator for None too."""
        for more in ((), (None,), (cupy.cuda.memory._malloc,)):
            one = adapter.MemoryPool(*more)
            pointer = one.malloc(8 * MIB)
            self.assertEqual(self.ours.used_bytes(), one.used_bytes())
            self.assertGreaterEqual(self.ours.used_bytes(), 8 * MIB)
            del pointer

    def test_managed_memory(self):
        """cupy.cuda.MemoryPool(cupy.cuda.malloc_managed)"""
        theirs = cupy.cuda.memory.malloc_managed
        managed = adapter.MemoryPool(allocator=theirs)
        pointer = managed.malloc(8 * MIB)
        own = adapter.pool(0, "managed")
        self.assertEqual(own.device.name, "host:0")
        self.assertEqual(
            [x["address"] for x in own.snapshot() if x["state"] == "live"],
            [pointer.ptr],
        )
        self.assertIn("kind: managed\n", own.report())
        self.assertEqual(pointer.mem.size, 8 * MIB)
        self.assertGreaterEqual(managed.used_bytes(), 8 * MIB)
        self.assertGreaterEqual(managed.total_bytes(), managed.used_bytes())
        self.assertEqual(self.ours.used_bytes(), 0)
        managed.set_limit(16 * MIB)
        self.assertEqual(managed.get_limit(), 16 * MIB)
        self.assertEqual(self.ours.get_limit(), 0)
        with self.assertRaises(cupy.cuda.memory.OutOfMemoryError):
            managed.malloc(17 * MIB)
        managed.set_limit()
        del pointer
        self.assertEqual(managed.used_bytes(), 0)
        self.assertGreaterEqual(managed.free_bytes(), 8 * MIB)
        self.assertGreaterEqual(managed.n_free_blocks(), 1)
        self.ours.free_all_blocks()
        self.assertGreaterEqual(managed.total_bytes(), 8 * MIB)
        managed.free_all_blocks()
        self.assertEqual(managed.total_bytes(), 0)

    def test_other_allocators(self):
        for wrong in (lambda size: None, self.ours.malloc, 7):
            with self.assertRaises(ValueError) as caught:
                adapter.MemoryPool(wrong)
            self.assertIn("malloc_managed", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
