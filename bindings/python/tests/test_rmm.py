# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem.rmm over RMM where it can be imported, else over a stand-in for it."""

import sys
import types
import unittest

import gpumem

MIB = 1 << 20


class Resource:
    """rmm.mr.CallbackMemoryResource"""

    def __init__(self, allocate_func, deallocate_func):
        self.calls = allocate_func, deallocate_func

    def allocate(self, nbytes, stream):
        return self.calls[0](nbytes, stream)

    def deallocate(self, ptr, nbytes, stream):
        self.calls[1](ptr, nbytes, stream)


class Stream:
    """rmm.pylibrmm.stream.Stream"""

    def __init__(self, obj):
        self.pair = obj.__cuda_stream__()

    def __cuda_stream__(self):
        return self.pair


def double():
    rmm = types.ModuleType("rmm")
    rmm.mr = types.SimpleNamespace(CallbackMemoryResource=Resource)
    rmm.pylibrmm = types.SimpleNamespace(
        stream=types.SimpleNamespace(Stream=Stream)
    )
    sys.modules["rmm"] = rmm
    return rmm


try:
    import rmm
except Exception:  # whatever it raises without a driver
    rmm = double()
import gpumem.rmm


class Handle:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


class Resources(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0", limit_bytes=64 * MIB)
        self.resource = gpumem.rmm.resource(self.pool)
        self.handle = self.pool.device.stream_create()
        self.stream = rmm.pylibrmm.stream.Stream(Handle(self.handle))

    def test_memory_comes_from_the_pool(self):
        address = self.resource.allocate(5000, self.stream)
        live = [x for x in self.pool.snapshot() if x["state"] == "live"]
        self.assertEqual([x["address"] for x in live], [address])
        self.assertEqual(live[0]["stream"], self.handle)
        self.assertEqual(address % 256, 0)  # RMM's promise
        self.resource.deallocate(address, 5000, self.stream)
        self.assertEqual(self.pool.stats()["blocks"]["current"], 0)

    def test_out_of_memory_is_a_memory_error(self):
        with self.assertRaises(MemoryError):
            self.resource.allocate(65 * MIB, self.stream)
        address = self.resource.allocate(MIB, self.stream)
        self.resource.deallocate(address, MIB, self.stream)


class Forms(unittest.TestCase):
    """How RMM calls: a size and a stream, or a stream, a size and an alignment."""

    def setUp(self):
        self.before = gpumem.rmm.theirs
        gpumem.rmm.theirs = types.SimpleNamespace(
            __version__="0.1",
            mr=types.SimpleNamespace(CallbackMemoryResource=Resource),
        )
        self.pool = gpumem.Pool("host:0")
        self.stream = Handle(self.pool.device.stream_create())
        self.allocate, self.deallocate = gpumem.rmm.resource(self.pool).calls

    def tearDown(self):
        gpumem.rmm.theirs = self.before
        self.assertEqual(self.pool.stats()["blocks"]["current"], 0)

    def live(self):
        return [
            (x["address"], x["requested_bytes"], x["stream"])
            for x in self.pool.snapshot()
            if x["state"] == "live"
        ]

    def test_the_stream_last(self):
        address = self.allocate(5000, self.stream)
        self.assertEqual(self.live(), [(address, 5000, self.stream.handle)])
        self.deallocate(address, 5000, self.stream)

    def test_the_stream_first(self):
        for alignment in 256, 16, 1 << 16:
            address = self.allocate(self.stream, 5000, alignment)
            self.assertEqual(
                self.live(), [(address, 5000, self.stream.handle)]
            )
            self.assertEqual(address % alignment, 0)
            self.deallocate(self.stream, address, 5000, alignment)

    def test_another(self):
        for call, arguments in (
            (self.allocate, (5000,)),
            (self.allocate, (1, 2, 3, 4)),
            (self.deallocate, (4096, 5000)),
        ):
            with self.assertRaisesRegex(TypeError, "RMM 0.1 calls"):
                call(*arguments)


class Enable(unittest.TestCase):
    def setUp(self):
        self.set = []
        self.before = gpumem.rmm.theirs
        gpumem.rmm.theirs = types.SimpleNamespace(
            mr=types.SimpleNamespace(
                CallbackMemoryResource=rmm.mr.CallbackMemoryResource,
                set_per_device_resource=lambda *x: self.set.append(x),
            )
        )
        gpumem.rmm._backend = "host"

    def tearDown(self):
        gpumem.rmm.theirs = self.before
        gpumem.rmm._backend = "cuda"

    def test_once_for_a_device(self):
        pool = gpumem.rmm.enable()
        self.assertEqual(pool.device.name, "host:0")
        gpumem.rmm.enable(0)
        self.assertEqual(len(self.set), 1)
        self.assertEqual(self.set[0][0], 0)
        self.assertIsInstance(self.set[0][1], rmm.mr.CallbackMemoryResource)


if __name__ == "__main__":
    unittest.main()
