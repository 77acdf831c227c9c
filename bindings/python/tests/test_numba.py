# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem.numba on a `host` device: over Numba where it can be imported, which
needs no GPU for what is tried here, else over a stand-in for it."""

import collections
import contextlib
import ctypes
import gc
import logging
import sys
import types
import unittest
import weakref

import gpumem

MIB = 1 << 20
PENDING = 10  # NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT


class Pending:
    """numba.cuda.cudadrv.driver._PendingDeallocs"""

    def __init__(self):
        self._cons = collections.deque()
        self._disabled = self._size = self.memory_capacity = 0

    def add_item(self, dtor, handle, size):
        self._cons.append((dtor, handle))
        self._size += size
        if len(self._cons) > PENDING or (
            self._size > self.memory_capacity * 0.2
        ):
            self.clear()

    def clear(self):
        while self._cons and not self._disabled:
            dtor, handle = self._cons.popleft()
            dtor(handle)
            self._size = 0

    @contextlib.contextmanager
    def disable(self):
        self._disabled += 1
        yield
        self._disabled -= 1

    def __len__(self):
        return len(self._cons)


class HostOnlyCUDAMemoryManager:
    """numba.cuda.HostOnlyCUDAMemoryManager"""

    def __init__(self, *args, **kwargs):
        self.context = kwargs.pop("context")
        self.allocations = {}
        self.deallocations = Pending()

    def reset(self):
        self.allocations.clear()
        self.deallocations.clear()

    @contextlib.contextmanager
    def defer_cleanup(self):
        with self.deallocations.disable():
            yield


class MemoryPointer:
    """numba.cuda.MemoryPointer"""

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        self.device_pointer_value = pointer.value
        self.device_ctypes_pointer = pointer
        self.size = size
        self._finalizer = weakref.finalize(self, finalizer)

    def free(self):
        self._finalizer()


class CudaAPIError(RuntimeError):
    """numba.cuda.cudadrv.driver.CudaAPIError"""

    def __init__(self, code, msg):
        super().__init__(code, msg)
        self.code = code


def double():
    cuda = types.ModuleType("numba.cuda")
    cuda.HostOnlyCUDAMemoryManager = HostOnlyCUDAMemoryManager
    cuda.MemoryPointer = MemoryPointer
    cuda.MemoryInfo = collections.namedtuple("MemoryInfo", "free,total")
    driver = types.ModuleType("numba.cuda.cudadrv.driver")
    driver.CudaAPIError = CudaAPIError
    driver.driver = types.SimpleNamespace(devices={})
    driver.device_ctypes_pointer = lambda x: x.device_ctypes_pointer
    driver.device_extents = None  # of the memory that the driver knows

    def device_memory_size(memory):
        first, end = driver.device_extents(memory)
        return end - first

    driver.device_memory_size = device_memory_size
    driver._memory_manager = None

    def set_memory_manager(manager):
        if manager(context=None).interface_version != 1:
            raise RuntimeError("version 1 required")
        driver._memory_manager = manager

    cuda.set_memory_manager = set_memory_manager
    names = ("numba", "numba.cuda", "numba.cuda.cudadrv")
    for name in names:
        sys.modules[name] = types.ModuleType(name)
    sys.modules["numba.cuda"] = cuda
    sys.modules["numba.cuda.cudadrv.driver"] = driver
    return cuda


try:
    from numba import cuda
except ImportError:
    cuda = double()
import gpumem.numba as adapter

adapter._backend = "host"
if not hasattr(adapter.driver, "_logger"):  # until its driver is used
    adapter.driver._logger = logging.getLogger("numba.cuda")


class Array:
    """numba.cuda.cudadrv.devicearray.DeviceNDArray, or a part of one"""

    __cuda_memory__ = True

    def __init__(self, address):
        self.device_ctypes_pointer = ctypes.c_void_p(address)


class CUdevice:
    """cuda.bindings.driver.CUdevice: no number, but int() of it is one"""

    def __init__(self, number):
        self._number = number

    def __int__(self):
        return self._number


class Context:
    """numba.cuda.cudadrv.driver.Context, of a device"""

    def __init__(self, number, device=None):
        self.device = device or types.SimpleNamespace(id=number)
        self.calls = []
        self.memory_manager = adapter.Manager(context=self)

    def push(self):
        self.calls.append("push")
        self.memory_manager.initialize()

    def synchronize(self):
        self.calls.append("synchronize")

    def pop(self):
        self.calls.append("pop")


class Arrays(unittest.TestCase):
    def setUp(self):
        self.pool = adapter._pools[0] = gpumem.Pool("host:0")
        self.context = Context(0)
        self.manager = self.context.memory_manager
        self.manager.initialize()

    def tearDown(self):
        self.manager.reset()
        self.pool.check()

    def live(self):
        gc.collect()
        return [x for x in self.pool.snapshot() if x["state"] == "live"]

    def waits(self):
        return self.context.calls.count("synchronize")

    def test_memory_comes_from_the_pool(self):
        pointer = self.manager.memalloc(5000)
        self.assertIsInstance(pointer, cuda.MemoryPointer)
        self.assertEqual(
            [x["address"] for x in self.live()], [pointer.device_pointer_value]
        )
        self.assertEqual(self.live()[0]["requested_bytes"], 5000)
        self.assertEqual(pointer.size, 5000)

    def test_is_used_again_after_a_wait(self):
        pointer = self.manager.memalloc(MIB)
        address = pointer.device_pointer_value
        del pointer
        # Kernels may still use it.
        self.assertEqual([x["address"] for x in self.live()], [address])
        self.assertEqual(self.waits(), 0)
        self.manager.deallocations.clear()
        self.assertEqual(self.live(), [])
        self.assertEqual(self.context.calls, ["push", "synchronize", "pop"])

    def test_one_wait_for_many(self):
        pointers = [self.manager.memalloc(1000) for _ in range(PENDING + 1)]
        while len(pointers) > 1:
            pointers.pop()
        self.assertEqual(self.waits(), 0)
        self.assertEqual(len(self.live()), PENDING + 1)
        del pointers
        self.assertEqual(self.live(), [])
        self.assertEqual(self.waits(), 1)

    def test_what_ends_during_the_wait(self):
        """It needs a wait of its own."""
        late = [self.manager.memalloc(2000)]
        pointer = self.manager.memalloc(1000)

        def synchronize():
            self.context.calls.append("synchronize")
            late.clear()

        self.context.synchronize = synchronize
        del pointer
        self.manager.deallocations.clear()
        self.assertEqual(self.waits(), 2)
        self.assertEqual(self.live(), [])

    def test_much_does_not_wait_for_others(self):
        total = self.pool.device.info["total_bytes"]
        pointer = self.manager.memalloc(total // 4)
        del pointer
        self.assertEqual(self.live(), [])
        self.assertEqual(self.waits(), 1)

    def test_cleanup_can_be_deferred(self):
        with self.manager.defer_cleanup():
            for _ in range(3 * PENDING):
                self.manager.memalloc(1000)
            self.assertEqual(self.waits(), 0)
            self.assertEqual(len(self.live()), 3 * PENDING)
        self.manager.deallocations.clear()
        self.assertEqual(self.live(), [])

    def test_out_of_memory(self):
        with self.assertRaises(adapter.driver.CudaAPIError) as caught:
            self.manager.memalloc(1 << 50)
        self.assertEqual(caught.exception.code, 2)
        self.assertIn(" out of memory", str(caught.exception))

    def test_what_is_pending_makes_room(self):
        reserved = self.pool.stats()["reserved"]["current"]
        self.pool.set_limit(reserved + 8 * MIB)
        try:
            with self.manager.defer_cleanup():
                self.manager.memalloc(6 * MIB)
            self.assertEqual(len(self.live()), 1)
            pointer = self.manager.memalloc(6 * MIB)
            self.assertEqual(self.waits(), 1)
            del pointer
        finally:
            self.pool.set_limit()

    def test_reset(self):
        old = self.manager.memalloc(MIB)
        self.manager.reset()
        self.assertEqual(self.waits(), 1)
        self.assertEqual(self.live(), [])
        self.assertEqual(self.pool.stats()["reserved"]["current"], 0)
        # What is dead does not end what has its address now.
        adapter._pools[0] = self.pool
        new = self.manager.memalloc(MIB)
        self.assertEqual(old.device_pointer_value, new.device_pointer_value)
        old.free()
        self.manager.deallocations.clear()
        self.assertEqual(len(self.live()), 1)

    def test_reset_ends_what_is_pending(self):
        self.manager.memalloc(MIB)
        self.assertEqual(len(self.live()), 1)
        self.manager.reset()
        self.assertEqual(self.live(), [])
        self.assertEqual(self.waits(), 1)

    def test_reset_closes_the_device(self):
        """Numba ends the context next, which nobody may use then."""
        pointer = self.manager.memalloc(MIB)
        pool, self.pool = weakref.ref(self.pool), None
        self.manager.reset()
        gc.collect()
        self.assertIsNone(pool())
        del pointer
        again = self.manager.memalloc(MIB)
        self.pool = adapter.pool(0)
        self.assertIn(
            again.device_pointer_value, [x["address"] for x in self.live()]
        )

    def test_the_driver_s_device(self):
        """Instead of Numba's: a context that the program has made."""
        for device in (CUdevice(0), types.SimpleNamespace(id=CUdevice(0))):
            context = Context(0, device)
            context.push()
            self.assertIs(context.memory_manager.pool, self.pool)
            pointer = context.memory_manager.memalloc(5000)
            self.assertEqual(
                [x["address"] for x in self.live()],
                [pointer.device_pointer_value],
            )
            context.memory_manager.reset()
            self.assertEqual(self.live(), [])
            self.assertNotIn(0, adapter._pools)
            adapter._pools[0] = self.pool

    def test_size_of_an_array(self):
        """Not of what the block is in, which holds others as well."""
        asked = []

        def theirs(memory):
            asked.append(memory.device_ctypes_pointer.value)
            return 4096, 4096 + 64 * MIB

        size = adapter.driver.device_memory_size
        extents, adapter._extents = adapter._extents, theirs
        try:
            pointers = [self.manager.memalloc(x) for x in (40, 5000, 40)]
            for pointer, bytes_ in zip(pointers, (40, 5000, 40)):
                first = pointer.device_pointer_value
                for address in (first, first + 16, first + bytes_ - 1):
                    self.assertEqual(size(Array(address)), bytes_)
                    self.assertEqual(
                        adapter.driver.device_extents(Array(address)),
                        (first, first + bytes_),
                    )
            self.assertEqual(asked, [])
            # What is Numba's own, has no address, or ends where a block ends.
            for address in (8192, None, first + 40):
                self.assertEqual(size(Array(address)), 64 * MIB)
            self.assertEqual(asked, [8192, None, first + 40])
            del pointer, pointers
            self.manager.deallocations.clear()
            self.assertEqual(size(Array(first)), 64 * MIB)
        finally:
            adapter._extents = extents

    def test_memory_info(self):
        info = self.manager.get_memory_info()
        self.assertEqual(info.total, self.pool.device.info["total_bytes"])
        self.assertLessEqual(info.free, info.total)

    def test_no_ipc(self):
        with self.assertRaises(NotImplementedError):
            self.manager.get_ipc_handle(self.manager.memalloc(100))


class Enable(unittest.TestCase):
    def test_each_device_has_its_own(self):
        adapter._pools.pop(0, None)
        self.assertEqual(adapter.pool(0).device.name, "host:0")
        self.assertIs(adapter.pool(0), adapter.pool(0))

    def test_is_numba_s_manager(self):
        adapter.enable()
        self.assertIs(adapter.driver._memory_manager, adapter.Manager)
        self.assertIs(adapter._numba_memory_manager, adapter.Manager)
        adapter.enable()

    def test_is_too_late(self):
        used = types.SimpleNamespace(memory_manager=object())
        device = types.SimpleNamespace(primary_context=used)
        devices = adapter.driver.driver.devices
        devices[7] = device
        try:
            with self.assertRaises(RuntimeError) as caught:
                adapter.enable()
            self.assertIn("has used a GPU already", str(caught.exception))
            used.memory_manager = Context(0).memory_manager
            adapter.enable()
        finally:
            del devices[7]


if __name__ == "__main__":
    unittest.main()
