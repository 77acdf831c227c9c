# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyOpenCL's arrays on a pool, where there is PyOpenCL and an OpenCL device."""

import gc
import os
import subprocess
import sys
import unittest
import weakref

import gpumem

try:
    import numpy
    import pyopencl
    import pyopencl.array
    import pyopencl.tools
    from gpumem.pyopencl import Allocator

    device = pyopencl.get_platforms()[0].get_devices()[0]
    gpumem.Device("opencl")
    missing = None
except Exception as why:  # whatever PyOpenCL raises without a platform
    missing = f"no PyOpenCL on gpumem: {why}"

MIB = 1 << 20


@unittest.skipIf(missing, missing)
class Arrays(unittest.TestCase):
    def setUp(self):
        self.queue = pyopencl.CommandQueue(pyopencl.Context([device]))
        self.allocator = Allocator(self.queue)

    def live(self):
        gc.collect()
        # Some implementations let a kernel hold what it was given last.
        pyopencl.tools.clear_first_arg_caches()
        return self.allocator.pool.stats()["blocks"]["current"]

    def test_compute(self):
        wanted = numpy.arange(100000, dtype=numpy.int32)
        ours = pyopencl.array.to_device(
            self.queue, wanted, allocator=self.allocator
        )
        for _ in range(10):
            ours = (ours * ours + ours) ^ ours
            wanted = (wanted * wanted + wanted) ^ wanted
        self.assertTrue((ours.get() == wanted).all())
        self.assertGreater(
            self.allocator.pool.stats()["requested"]["peak"], ours.nbytes
        )
        del ours
        self.assertEqual(self.live(), 0)
        self.queue.finish()
        self.allocator.pool.check()

    def test_without_the_plugin(self):
        script = (
            "import pyopencl, gpumem.pyopencl\n"
            "device = pyopencl.get_platforms()[0].get_devices()[0]\n"
            "queue = pyopencl.CommandQueue(pyopencl.Context([device]))\n"
            "gpumem.pyopencl.Allocator(queue)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=dict(os.environ, GPUMEM_PLUGIN_PATH="/nowhere"),
            capture_output=True,
            text=True,
        )
        self.assertRegex(
            done.stderr.splitlines()[-1],
            "^RuntimeError: gpumem's plugin for OpenCL cannot be used: .*"
            "not installed.*/nowhere",
        )

    def test_an_owner_that_leads_to_its_device(self):
        class Owner:
            queue = self.queue

        owner = Owner()
        gone = weakref.ref(owner)
        owner.device = gpumem.Device.adopt(
            "opencl",
            self.queue.context.int_ptr,
            self.queue.device.int_ptr,
            owner,
        )
        owner.pool = gpumem.Pool(owner.device)
        owner.pool.alloc(1000)
        del owner
        gc.collect()
        self.assertIsNone(gone())

    def test_a_buffer_ends_its_block(self):
        buffer = self.allocator(3 * MIB)
        self.assertIsInstance(buffer, pyopencl.Buffer)
        self.assertEqual(buffer.size, 3 * MIB)
        self.assertEqual(self.live(), 1)
        del buffer
        self.assertEqual(self.live(), 0)
        self.assertEqual(self.allocator.pool.stats()["quarantined_bytes"], 0)
        released = self.allocator.pool.trim()
        if not released:  # it has just asked the queue, which was not yet idle
            self.queue.finish()
            released = self.allocator.pool.trim()
        self.assertGreater(released, 0)

    def test_release_ends_the_block(self):
        buffer = self.allocator(3 * MIB)
        buffer.release()
        self.assertEqual(self.live(), 0)
        with self.assertRaises(pyopencl.LogicError):
            buffer.release()

    def test_out_of_order(self):
        # What is queued for one buffer is not written into the next one.
        context = self.queue.context
        loose = pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        queue = pyopencl.CommandQueue(context, properties=loose)
        allocator = Allocator(queue, limit_bytes=8 * MIB)
        program = pyopencl.Program(
            context,
            "kernel void fill(global uchar *p, uchar value)"
            "{ p[get_global_id(0)] = value; }",
        ).build()
        gate = pyopencl.UserEvent(context)

        def filled(value, events):
            buffer = allocator(6 * MIB)  # there is room for one only
            kernel = pyopencl.Kernel(program, "fill")
            kernel.set_args(buffer, numpy.uint8(value))
            pyopencl.enqueue_nd_range_kernel(
                queue, kernel, (6 * MIB,), None, wait_for=events
            )
            return buffer

        filled(1, [gate])  # which nobody keeps
        buffer = filled(2, None)
        queue.flush()
        gate.set_status(pyopencl.command_execution_status.COMPLETE)
        queue.finish()
        found = numpy.empty(6 * MIB, numpy.uint8)
        pyopencl.enqueue_copy(queue, found, buffer)
        self.assertTrue((found == 2).all())

    def test_out_of_memory(self):
        allocator = Allocator(self.queue, limit_bytes=8 * MIB)
        held = allocator(6 * MIB)
        with self.assertRaises(pyopencl.MemoryError) as caught:
            allocator(6 * MIB)
        self.assertIn(" out of memory", str(caught.exception))
        del held
        allocator(6 * MIB)

    def test_the_option_is_as_it_was(self):
        before = gpumem.option_get("opencl.memory")
        Allocator(self.queue)
        self.assertEqual(gpumem.option_get("opencl.memory"), before)


if __name__ == "__main__":
    unittest.main()
