# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What other libraries see of a buffer by the array interfaces."""

import unittest

import gpumem


class Interfaces(unittest.TestCase):
    def test_of_host_memory(self):
        buffer = gpumem.Pool("host:0").alloc(300)
        self.assertEqual(
            buffer.__array_interface__,
            {
                "shape": (300,),
                "typestr": "|u1",
                "data": (buffer.ptr, False),
                "version": 3,
            },
        )
        self.assertFalse(hasattr(buffer, "__cuda_array_interface__"))

    def test_pinned_memory_is_the_hosts(self):
        buffer = gpumem.Pool("host:0", kind="pinned").alloc(300)
        self.assertEqual(buffer.__dlpack_device__(), (1, 0))
        self.assertEqual(buffer.__array_interface__["shape"], (300,))


if __name__ == "__main__":
    unittest.main()
