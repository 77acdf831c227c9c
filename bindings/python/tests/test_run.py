# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem.run, and the same by release() and scope(), with and without gpumem-run.

tests/python.sh runs it under gpumem-run over the double of NVIDIA's driver; alone,
where neither is, there is nothing to give back.
"""

import ctypes
import os
import unittest

import gpumem
import gpumem.run

MIB = 1 << 20
UNDER = os.environ.get("GPUMEM_TEST_RUN") == "1"


@unittest.skipUnless(UNDER, "not under gpumem-run")
class Under(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        cls.call("cuInit", 0)
        cls.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        cls.call("cuCtxSetCurrent", context)

    @classmethod
    def call(cls, name, *args):
        status = getattr(cls.cuda, name)(*args)
        if status:
            raise RuntimeError(f"{name}() returned {status}")

    def keep(self, nbytes):
        block = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(block), ctypes.c_size_t(nbytes))
        self.call("cuMemFree_v2", block)

    def test_trim(self):
        self.keep(5 << 30)  # more than an int of C can say
        self.assertEqual(gpumem.run.trim(), 5 << 30)
        self.assertEqual(gpumem.run.trim(), 0)

    def test_release(self):
        self.keep(8 * MIB)
        self.assertEqual(gpumem.release().trimmed_bytes, 8 * MIB)

    def test_scope(self):
        with gpumem.scope() as inside:
            self.keep(8 * MIB)
        self.assertEqual(gpumem.run.trim(), 0)
        self.assertIn("nothing was watched", str(inside))
        self.assertTrue(gpumem.run.active())


@unittest.skipIf(UNDER, "under gpumem-run")
class Without(unittest.TestCase):
    def test_trim(self):
        self.assertEqual(gpumem.run.trim(), 0)
        self.assertFalse(gpumem.run.active())


if __name__ == "__main__":
    unittest.main()
