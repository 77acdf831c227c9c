# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What other libraries see of a buffer by DLPack."""

import ctypes
import gc
import os
import unittest

import gpumem

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except Exception:  # whatever it raises without a driver
    torch = None
# tests/python.sh says that libcuda.so.1 is the double of NVIDIA's driver.
DOUBLE = os.environ.get("GPUMEM_TEST_DOUBLE")
VERSION = 1, 3
IS_COPIED = 2


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Before(ctypes.Structure):
    """DLManagedTensor: a consumer that is older than 1.0 knows no other."""

    _fields_ = [
        ("tensor", Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]
    name = b"dltensor"


class Since(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]
    name = b"dltensor_versioned"


# Capsules do not copy their names.
USED = {x: b"used_" + x.name for x in (Before, Since)}


def take(capsule, kind=Before):
    """As a consumer does: the tensor is ours from now on."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    made = kind.from_address(get(capsule, kind.name))
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    rename(capsule, USED[kind])
    return made


def drop(made):
    made.deleter(ctypes.addressof(made))


def bytes_of(made):
    return ctypes.string_at(made.tensor.data, made.tensor.shape[0])


def calls(name):
    """Of the double."""
    count = ctypes.CDLL("libcuda.so.1").fakecuda_calls
    count.restype = ctypes.c_uint64
    return count(name.encode())


class Dlpack(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0")

    def live(self):
        return self.pool.stats()["blocks"]["current"]

    def test_describes_the_block(self):
        buffer = self.pool.alloc(300)
        self.assertEqual(buffer.__dlpack_device__(), (1, 0))
        for kind, version in (Before, None), (Before, (0, 8)), (Since, (1, 0)):
            made = take(buffer.__dlpack__(max_version=version), kind)
            tensor = made.tensor
            self.assertEqual(tensor.data, buffer.ptr)
            self.assertEqual((tensor.device_type, tensor.device_id), (1, 0))
            self.assertEqual(
                (tensor.code, tensor.bits, tensor.lanes), (1, 8, 1)
            )
            self.assertEqual((tensor.ndim, tensor.shape[0]), (1, 300))
            self.assertEqual(tensor.strides[0], 1)  # not NULL, since 1.2
            self.assertEqual(tensor.byte_offset, 0)
            drop(made)

    def test_says_a_version_that_the_consumer_knows(self):
        buffer = self.pool.alloc(300)
        for asked, told in {
            (1, 0): (1, 0),
            (1, 2): (1, 2),
            (1, 3): VERSION,
            (1, 9): VERSION,
            (2, 0): VERSION,
        }.items():
            made = take(buffer.__dlpack__(max_version=asked), Since)
            self.assertEqual((made.major, made.minor), told)
            # It can be written, and is no copy.
            self.assertEqual(made.flags, 0)
            drop(made)
        self.assertEqual(buffer.exports, 0)

    def test_a_taken_tensor_keeps_the_block(self):
        for kind, version in (Before, None), (Since, VERSION):
            buffer = self.pool.alloc(300)
            made = take(buffer.__dlpack__(max_version=version), kind)
            with self.assertRaises(BufferError):
                buffer.free()
            with self.assertRaises(BufferError):
                buffer.detach()
            del buffer
            gc.collect()
            self.assertEqual(self.live(), 1)
            drop(made)
            self.assertEqual(self.live(), 0)

    def test_a_capsule_that_nobody_took(self):
        buffer = self.pool.alloc(300)
        buffer.__dlpack__()
        buffer.__dlpack__(max_version=VERSION)
        buffer.__dlpack__(max_version=VERSION, copy=True)
        buffer.free()
        self.assertEqual(self.live(), 0)

    def test_what_a_consumer_may_ask(self):
        buffer = self.pool.alloc(300)
        for stream in None, -1, 1, 2:
            buffer.__dlpack__(
                stream=stream, max_version=(1, 0), dl_device=(1, 0), copy=False
            )
        for device in (2, 0), (1, 1), (-1, 0):
            with self.assertRaises(BufferError):
                buffer.__dlpack__(dl_device=device)
        for wrong in (1,), (1, 2, 3), "1.0", 1, ("1", 0), [1, 0]:
            with self.assertRaises(TypeError):
                buffer.__dlpack__(max_version=wrong)
            with self.assertRaises(TypeError):
                buffer.__dlpack__(dl_device=wrong)
        buffer.free()

    def test_a_copy_is_a_block_of_the_pool(self):
        buffer = self.pool.alloc(300)
        buffer.write(b"a" * 300)
        made = take(buffer.__dlpack__(max_version=VERSION, copy=True), Since)
        self.assertEqual(made.flags, IS_COPIED)
        self.assertNotEqual(made.tensor.data, buffer.ptr)
        self.assertEqual((self.live(), buffer.exports), (2, 0))
        buffer.write(b"b" * 300)
        buffer.free()
        self.assertEqual(bytes_of(made), b"a" * 300)
        drop(made)
        self.assertEqual(self.live(), 0)

    def test_a_copy_for_which_there_is_no_memory(self):
        pool = gpumem.Pool("host:0", limit_bytes=4 << 20)
        buffer = pool.alloc(3 << 20)
        with self.assertRaises(gpumem.OutOfMemoryError):
            buffer.__dlpack__(max_version=VERSION, copy=True)
        self.assertEqual((pool.stats()["blocks"]["current"]), 1)

    def test_waits_for_what_was_queued(self):
        device = self.pool.device
        stream = device.stream_create()
        buffer = self.pool.alloc(8 << 20, stream)
        for copy in False, True:
            buffer.fill(9 + copy)
            made = take(buffer.__dlpack__(copy=copy))
            last = made.tensor.data + (8 << 20) - 1
            self.assertEqual(ctypes.c_ubyte.from_address(last).value, 9 + copy)
            drop(made)
        del buffer
        device.stream_destroy(stream)

    def test_nothing(self):
        buffer = self.pool.alloc(0)
        for copy in False, True:
            made = take(
                buffer.__dlpack__(max_version=VERSION, copy=copy), Since
            )
            self.assertEqual((made.tensor.data, made.tensor.shape[0]), (None, 0))
            drop(made)

    def test_freed(self):
        buffer = self.pool.alloc(300)
        buffer.free()
        with self.assertRaises(ValueError):
            buffer.__dlpack__(max_version=VERSION, copy=True)

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

    @unittest.skipUnless(
        numpy and numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0",
        "there is no numpy that knows DLPack 1.0",
    )
    def test_numpy_writes_and_copies(self):
        buffer = self.pool.alloc(300)
        array = numpy.from_dlpack(buffer)
        self.assertTrue(array.flags.writeable)
        array[:] = 7
        copied = numpy.from_dlpack(buffer, copy=True)
        array[:] = 8
        self.assertEqual((copied[299], buffer.read()[299]), (7, 8))
        self.assertEqual(self.live(), 2)
        del array, copied
        self.assertEqual(buffer.exports, 0)

    @unittest.skipUnless(torch, "there is no torch that can be imported")
    def test_torch(self):
        buffer = self.pool.alloc(300)
        tensor = torch.from_dlpack(buffer)
        tensor.fill_(7)
        self.assertEqual(buffer.read(), b"\7" * 300)
        self.assertEqual(tensor.data_ptr(), buffer.ptr)
        del tensor
        self.assertEqual(buffer.exports, 0)


@unittest.skipUnless(DOUBLE, "there is no double of NVIDIA's driver")
class Devices(unittest.TestCase):
    """Of a device whose memory the host cannot read."""

    def setUp(self):
        self.pool = gpumem.Pool("cuda:0")
        self.device = self.pool.device

    def test_each_stream(self):
        own = self.device.stream_create()
        other = self.device.stream_create()
        buffer = self.pool.alloc(300, own)
        # None and 1 are the default stream, 2 that of the thread; -1 is no
        # order.
        for stream, waits in (None, 1), (1, 1), (2, 1), (-1, 0), (other, 1):
            waited = calls("cuStreamWaitEvent")
            made = take(
                buffer.__dlpack__(stream=stream, max_version=VERSION), Since
            )
            self.assertEqual(calls("cuStreamWaitEvent") - waited, waits)
            self.assertEqual(
                (made.tensor.device_type, made.tensor.device_id), (2, 0)
            )
            drop(made)
        del buffer
        for each in own, other:
            self.pool.drop_stream(each)
            self.device.stream_destroy(each)

    def test_a_copy_for_the_host(self):
        buffer = self.pool.alloc(300)
        buffer.write(b"a" * 300)
        made = take(
            buffer.__dlpack__(max_version=VERSION, dl_device=(1, 0)), Since
        )
        self.assertEqual(made.flags, IS_COPIED)
        self.assertEqual(made.tensor.device_type, 1)
        self.assertEqual(made.tensor.data % 256, 0)
        self.assertEqual(bytes_of(made), b"a" * 300)
        drop(made)
        with self.assertRaises(BufferError):
            buffer.__dlpack__(dl_device=(1, 0), copy=False)
        with self.assertRaises(BufferError):
            buffer.__dlpack__(dl_device=(2, 1))

    def test_pinned_memory_is_the_hosts_as_it_is(self):
        pool = gpumem.Pool("cuda:0", kind="pinned")
        buffer = pool.alloc(300)
        self.assertEqual(buffer.__dlpack_device__(), (3, 0))
        made = take(
            buffer.__dlpack__(
                max_version=VERSION, dl_device=(1, 0), copy=False
            ),
            Since,
        )
        self.assertEqual((made.tensor.device_type, made.flags), (1, 0))
        self.assertEqual(made.tensor.data, buffer.ptr)
        drop(made)

    def test_a_host_that_says_no_stream_reads_what_was_queued(self):
        pool = gpumem.Pool("cuda:0", kind="pinned")
        stream = pool.device.stream_create()
        buffer = pool.alloc(300, stream)
        waited = calls("cuStreamSynchronize")
        drop(take(buffer.__dlpack__()))
        self.assertEqual(calls("cuStreamSynchronize") - waited, 1)
        del buffer
        pool.drop_stream(stream)
        pool.device.stream_destroy(stream)


if __name__ == "__main__":
    unittest.main()
