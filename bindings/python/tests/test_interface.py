# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What other libraries see of a buffer: DLPack and the array interfaces."""

import ctypes
import gc
import unittest

import gpumem

try:
    import numpy
except ImportError:
    numpy = None


class Tensor(ctypes.Structure):
    """DLManagedTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


def pointer_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, b"dltensor")


def take(capsule):
    """As a consumer does: the tensor is ours from now on."""
    tensor = Tensor.from_address(pointer_of(capsule))
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    rename(capsule, USED)
    return tensor


USED = b"used_dltensor"


class Dlpack(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0")

    def live(self):
        return self.pool.stats()["blocks"]["current"]

    def test_describes_the_block(self):
        buffer = self.pool.alloc(300)
        self.assertEqual(buffer.__dlpack_device__(), (1, 0))
        tensor = take(buffer.__dlpack__())
        self.assertEqual(tensor.data, buffer.ptr)
        self.assertEqual((tensor.device_type, tensor.device_id), (1, 0))
        self.assertEqual((tensor.code, tensor.bits, tensor.lanes), (1, 8, 1))
        self.assertEqual((tensor.ndim, tensor.shape[0]), (1, 300))
        self.assertEqual(tensor.byte_offset, 0)
        tensor.deleter(ctypes.addressof(tensor))

    def test_a_taken_tensor_keeps_the_block(self):
        buffer = self.pool.alloc(300)
        tensor = take(buffer.__dlpack__())
        with self.assertRaises(BufferError):
            buffer.free()
        with self.assertRaises(BufferError):
            buffer.detach()
        del buffer
        gc.collect()
        self.assertEqual(self.live(), 1)
        tensor.deleter(ctypes.addressof(tensor))
        self.assertEqual(self.live(), 0)

    def test_a_capsule_that_nobody_took(self):
        buffer = self.pool.alloc(300)
        buffer.__dlpack__()
        buffer.free()
        self.assertEqual(self.live(), 0)

    def test_what_a_consumer_may_ask(self):
        buffer = self.pool.alloc(300)
        buffer.__dlpack__(
            stream=-1, max_version=(1, 0), dl_device=(1, 0), copy=False
        )
        with self.assertRaises(BufferError):
            buffer.__dlpack__(copy=True)
        with self.assertRaises(BufferError):
            buffer.__dlpack__(dl_device=(2, 0))
        buffer.free()

    def test_waits_for_what_was_queued(self):
        device = self.pool.device
        stream = device.stream_create()
        buffer = self.pool.alloc(8 << 20, stream)
        buffer.fill(9)
        tensor = take(buffer.__dlpack__())
        read = ctypes.c_ubyte.from_address(tensor.data + (8 << 20) - 1)
        self.assertEqual(read.value, 9)
        tensor.deleter(ctypes.addressof(tensor))
        del buffer
        device.stream_destroy(stream)

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_numpy(self):
        buffer = self.pool.alloc(400)
        array = numpy.from_dlpack(buffer).view(numpy.float32)
        numpy.asarray(buffer).view(numpy.float32)[:] = range(100)
        del buffer
        gc.collect()
        self.assertEqual(float(array.sum()), 4950.0)
        self.assertEqual(self.live(), 1)
        del array
        gc.collect()
        self.assertEqual(self.live(), 0)


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
