# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The driver's default pool of a device, by ctypes: what it has, and its trim.

For programs whose framework allocates in stream order (cuMemAllocAsync() and the
like). A pool that a framework made for itself cannot be had from outside. For one
thread.
"""

import ctypes

# CU_MEMPOOL_ATTR_*
WANTED = {"reserved": 5, "reserved_high": 6, "used": 7, "used_high": 8}


class DriverPool:
    def __init__(self, ordinal=0):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, self.pool = ctypes.c_int(), ctypes.c_void_p()
        context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), ordinal)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self._call("cuDeviceGetDefaultMemPool", ctypes.byref(self.pool), device)

    def _call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status:
            raise RuntimeError(f"{name}() returned {status}")

    def bytes(self):
        """{"reserved": bytes, ...}, now and at most."""
        value = ctypes.c_uint64()
        found = {}
        for name, number in WANTED.items():
            self._call("cuMemPoolGetAttribute", self.pool, number, ctypes.byref(value))
            found[name] = value.value
        return found

    def trim(self):
        """Gives back what the host has seen freed, which is less than what is free:
        synchronize() before gives back that, too."""
        self._call("cuMemPoolTrimTo", self.pool, ctypes.c_size_t(0))

    def synchronize(self):
        self._call("cuCtxSynchronize")
