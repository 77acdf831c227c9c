# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Devices, pools and buffers on `host`, and what ends them."""

import ast
import gc
import os
import sys
import threading
import unittest
import weakref
from pathlib import Path

import gpumem

MIB = 1 << 20


class Ranges(unittest.TestCase):
    def test_what_is_pinned_stays(self):
        pool = gpumem.Pool("host:0")
        block = pool.alloc(8 * MIB)
        address, nbytes = block.ptr, block.nbytes
        within = lambda: any(
            x <= address and address + nbytes <= x + y for x, y in pool.ranges()
        )
        self.assertTrue(within())
        pool.pin(address, nbytes, name="test")
        block.free()
        self.assertEqual(pool.trim(), 0)
        self.assertTrue(within())
        with self.assertRaisesRegex(gpumem.Error, 'pinned by "test"'):
            pool.close()
        with self.assertRaises(gpumem.Error):
            pool.unpin(address, nbytes)
        pool.unpin(address, nbytes, "test")
        self.assertGreater(pool.trim(), 0)
        self.assertFalse(within())
        with self.assertRaises(gpumem.Error):
            pool.pin(address, nbytes)
        pool.close()


class Devices(unittest.TestCase):
    def test_is_what_it_says(self):
        device = gpumem.Device("host:0")
        self.assertEqual((device.name, device.backend), ("host:0", "host"))
        self.assertIn("SIMULATED", device.info["caps"])
        self.assertEqual(repr(device), "<gpumem.Device host:0>")
        self.assertEqual(
            gpumem.devices("host")[0]["name"], "host:0"
        )
        host = [x for x in gpumem.backends() if x["name"] == "host"]
        self.assertEqual(host[0]["status"], "GPUMEM_OK")

    def test_memory_adds_up(self):
        device = gpumem.Device("host:0")
        pool = gpumem.Pool(device)
        buffer = pool.alloc(3 * MIB)
        memory = device.memory()
        self.assertGreaterEqual(memory["reserved_bytes"], buffer.nbytes)
        self.assertEqual(
            memory["total_bytes"],
            memory["free_bytes"]
            + memory["reserved_bytes"]
            + memory["outside_bytes"],
        )

    def test_a_device_that_is_not_there(self):
        with self.assertRaises(gpumem.Error) as caught:
            gpumem.Device("nonsense:0")
        self.assertEqual(caught.exception.status, "GPUMEM_NOT_FOUND")
        with self.assertRaises(TypeError):
            gpumem.Device(3)

    def test_closed_when_nothing_refers_to_it(self):
        device = gpumem.Device("host:0")
        buffer = device.pool.alloc(MIB)
        del device  # the buffer keeps it
        buffer.fill(7)
        self.assertEqual(buffer.read(1), b"\7")
        buffer.free()

    def test_options(self):
        before = gpumem.option_get("decay_ms")
        gpumem.option_set("decay_ms", "7")
        self.assertEqual(gpumem.option_get("decay_ms"), "7")
        gpumem.option_set("decay_ms", None)
        self.assertEqual(gpumem.option_get("decay_ms"), before)
        with self.assertRaises(gpumem.Error):
            gpumem.option_set("no_such_option", "1")


class Pools(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0", name="tried")

    def test_statistics_follow_blocks(self):
        first = self.pool.alloc(1000)
        second = self.pool.alloc(MIB)
        stats = self.pool.stats()
        self.assertEqual(stats["requested"]["current"], 1000 + MIB)
        self.assertEqual(stats["blocks"]["current"], 2)
        first.free()
        del second
        stats = self.pool.stats()
        self.assertEqual(stats["requested"]["current"], 0)
        self.assertEqual(stats["blocks"]["peak"], 2)
        self.pool.reset_stats(True)
        self.assertEqual(self.pool.stats()["blocks"]["peak"], 0)
        self.pool.check()

    def test_trim_gives_back_what_it_says(self):
        self.pool.alloc(8 * MIB).free()
        reserved = self.pool.stats()["reserved"]["current"]
        self.assertGreaterEqual(reserved, 8 * MIB)
        self.assertEqual(self.pool.trim(), reserved)
        self.assertEqual(self.pool.stats()["reserved"]["current"], 0)
        self.pool.alloc(8 * MIB).free()
        self.pool.trim(1 << 40)
        self.assertGreater(self.pool.stats()["reserved"]["current"], 0)

    def test_limit(self):
        self.pool.set_limit(limit_bytes=4 * MIB)
        with self.assertRaises(gpumem.OutOfMemoryError) as caught:
            self.pool.alloc(5 * MIB)
        self.assertIn(" out of memory", str(caught.exception))
        self.assertEqual(caught.exception.status, "GPUMEM_LIMIT")
        self.assertIsInstance(caught.exception, MemoryError)
        self.assertEqual(self.pool.stats()["limit_bytes"], 4 * MIB)
        self.pool.set_limit()
        self.pool.alloc(5 * MIB)

    def test_soft_limit_is_the_second(self):
        self.pool.set_limit(8 * MIB, 4 * MIB)
        stats = self.pool.stats()
        self.assertEqual(stats["limit_bytes"], 8 * MIB)
        self.assertEqual(stats["soft_limit_bytes"], 4 * MIB)

    def test_a_soft_limit_above_the_hard_one_is_kept(self):
        met = []
        self.pool.pressure_add(lambda p: bool(met.append(p["limit"])))
        self.pool.set_limit(4 * MIB, 8 * MIB)
        self.assertEqual(self.pool.stats()["soft_limit_bytes"], 8 * MIB)
        held = [self.pool.alloc(2 * MIB) for _ in range(2)]
        with self.assertRaises(gpumem.OutOfMemoryError):
            self.pool.alloc(2 * MIB)
        self.assertEqual(set(met), {"hard"})
        met.clear()
        self.pool.limit_bytes = 64 * MIB
        held += [self.pool.alloc(2 * MIB) for _ in range(8)]
        self.assertIn("soft", met)

    def test_a_peer_outlives_the_pool(self):
        pool = gpumem.Pool("host:0")
        block = pool.alloc(MIB)
        pool.add_peer(gpumem.Device("host:1"))
        pool.add_peer(gpumem.Device("host:1"))
        pool.check()
        with self.assertRaises(TypeError):
            pool.add_peer("host:1")
        del block
        pool.close()
        with self.assertRaises(ValueError):
            pool.add_peer(gpumem.Device("host:1"))

    def test_config(self):
        pool = gpumem.Pool(
            self.pool.device,
            name="small",
            limit_bytes=6 * MIB,
            soft_limit_bytes=4 * MIB,
            page_bytes=2 * MIB,
            kind="pinned",
        )
        stats = pool.stats()
        self.assertEqual(pool.name, "small")
        self.assertEqual(stats["limit_bytes"], 6 * MIB)
        self.assertEqual(stats["soft_limit_bytes"], 4 * MIB)
        with self.assertRaises(ValueError):
            gpumem.Pool("host:0", kind="imaginary")

    def test_capacity(self):
        self.pool.set_limit(limit_bytes=16 * MIB)
        now = self.pool.capacity()["now_bytes"]
        self.assertGreater(now, 0)
        self.assertEqual(self.pool.alloc(now).nbytes, now)

    def test_options_of_an_allocation(self):
        buffer = self.pool.alloc(4096)
        buffer.fill(0xFF)
        buffer.free()
        buffer = self.pool.alloc(4096, zero=True)
        self.assertEqual(buffer.read(), bytes(4096))
        aligned = self.pool.alloc(100, None, alignment=65536)
        self.assertEqual(aligned.ptr % 65536, 0)
        with self.assertRaises(gpumem.OutOfMemoryError):
            self.pool.alloc(64 * MIB, grow=False, wait=False)
        for wrong in [(), (-1,), ("x",), (1, 2, 3), (1 << 70,), (1, 1.5)]:
            with self.assertRaises((TypeError, OverflowError)):
                self.pool.alloc(*wrong)

    def test_numbers_that_are_none(self):
        """Below 0, or too large: not another number."""
        pool, buffer = self.pool, self.pool.alloc(10)
        calls = [
            lambda n: pool.trim(n),
            lambda n: pool.device.trim(n),
            lambda n: pool.set_limit(n),
            lambda n: pool.set_limit(0, n),
            lambda n: pool.set_limit(soft_limit_bytes=n),
            lambda n: pool.set_tag_limit("a", n),
            lambda n: pool.leaks(since=n),
            lambda n: pool.leaks(0, n),
            lambda n: pool.track(n),
            lambda n: pool.alloc(n),
            lambda n: pool.malloc(n),
            lambda n: buffer.resize(n),
            lambda n: gpumem.record_begin("/nonexistent/record", n),
            lambda n: gpumem._core.tag_set(n),
        ]
        for name in ("limit_bytes", "soft_limit_bytes", "page_bytes"):
            calls.append(lambda n, name=name: gpumem.Pool("host:0", **{name: n}))
        for call in calls:
            for wrong in (-1, -5, -(1 << 63), 1 << 64, 1 << 70):
                with self.assertRaises(OverflowError):
                    call(wrong)
            for wrong in (1.0, "1", None):
                with self.assertRaises(TypeError):
                    call(wrong)
        self.assertEqual(pool.stats()["limit_bytes"], 0)
        self.assertEqual(buffer.nbytes, 10)

    def test_snapshot(self):
        buffer = self.pool.alloc(3 * MIB)
        blocks = {x["address"]: x for x in self.pool.snapshot()}
        mine = blocks[buffer.ptr]
        self.assertEqual(mine["state"], "live")
        self.assertEqual(mine["requested_bytes"], 3 * MIB)
        buffer.free()
        blocks = {x["address"]: x for x in self.pool.snapshot()}
        self.assertNotIn(
            "live", [x["state"] for x in blocks.values()]
        )

    def test_many_blocks_in_a_snapshot(self):
        buffers = [self.pool.alloc(64 << 10) for _ in range(2000)]
        live = [x for x in self.pool.snapshot() if x["state"] == "live"]
        self.assertEqual(
            [x["address"] for x in live], sorted(x.ptr for x in buffers)
        )

    def test_calls_and_report(self):
        self.pool.alloc(MIB)
        calls = self.pool.calls()
        self.assertEqual(calls["page_create"]["count"], 1)
        self.assertEqual(calls["page_create"]["failed"], 0)
        self.assertIn("pool: tried", self.pool.report())

    def test_close(self):
        buffer = self.pool.alloc(10)
        with self.assertRaises(gpumem.Error) as caught:
            self.pool.close()
        self.assertEqual(caught.exception.status, "GPUMEM_BUSY")
        buffer.free()
        self.pool.close()
        self.pool.close()
        for call in ("stats", "trim", "snapshot", "calls", "report", "check"):
            with self.assertRaises(ValueError):
                getattr(self.pool, call)()
        with self.assertRaises(ValueError):
            self.pool.alloc(1)

    def test_ends_with_its_last_buffer(self):
        device = self.pool.device
        pool = gpumem.Pool(device)
        gone = weakref.ref(pool)
        buffer = pool.alloc(4 * MIB)
        before = device.memory()["reserved_bytes"]
        del pool
        gc.collect()
        self.assertIsNotNone(gone())
        buffer.free()
        del buffer
        self.assertIsNone(gone())
        self.assertLess(device.memory()["reserved_bytes"], before)

    def test_every_statistic_has_its_type(self):
        stub = Path(gpumem.__file__).with_name("_core.pyi")
        names = {
            node.name: [x.target.id for x in node.body if hasattr(x, "target")]
            for node in ast.parse(stub.read_text()).body
            if isinstance(node, ast.ClassDef)
        }
        self.assertEqual(names["Stats"], list(self.pool.stats()))
        self.assertEqual(names["DeviceInfo"], list(self.pool.device.info))
        self.assertEqual(names["BackendInfo"], list(gpumem.backends()[0]))

    def test_everything_has_a_type_and_a_sentence(self):
        from gpumem import _core

        stub = Path(gpumem.__file__).with_name("_core.pyi").read_text()
        typed = {
            node.name: {x.name for x in node.body if hasattr(x, "name")}
            for node in ast.parse(stub).body
            if isinstance(node, ast.ClassDef)
        }
        for kind in (gpumem.Device, gpumem.Pool, gpumem.Buffer):
            for name, value in vars(kind).items():
                if name.startswith("_") and "__cuda" not in name:
                    continue
                self.assertIn(name, typed[kind.__name__])
                self.assertTrue(value.__doc__, name)
        for name in gpumem.__all__:
            self.assertTrue(getattr(gpumem, name).__doc__, name)
            self.assertTrue(hasattr(_core, name) or name in dir(gpumem))


class Pressure(unittest.TestCase):
    def test_frees_what_is_needed(self):
        pool = gpumem.Pool("host:0", limit_bytes=8 * MIB)
        held = [pool.alloc(6 * MIB)]
        seen = []

        def give(pressure):
            seen.append(pressure)
            held.clear()
            return True

        pool.pressure_add(give)
        pool.alloc(6 * MIB)
        self.assertEqual(len(seen), 1)
        self.assertEqual(seen[0]["limit"], "hard")
        self.assertEqual(seen[0]["limit_bytes"], 8 * MIB)
        self.assertGreaterEqual(seen[0]["needed_bytes"], 6 * MIB)
        pool.pressure_remove(give)
        held.append(pool.alloc(6 * MIB))
        with self.assertRaises(gpumem.OutOfMemoryError):
            pool.alloc(6 * MIB)
        self.assertEqual(len(seen), 1)
        with self.assertRaises(ValueError):
            pool.pressure_remove(give)

    def test_one_that_fails_is_a_no(self):
        pool = gpumem.Pool("host:0", limit_bytes=4 * MIB)
        told = []
        hook, sys.unraisablehook = sys.unraisablehook, told.append
        self.addCleanup(setattr, sys, "unraisablehook", hook)
        pool.pressure_add(lambda pressure: 1 // 0)
        held = pool.alloc(2 * MIB)
        with self.assertRaises(gpumem.OutOfMemoryError):
            pool.alloc(4 * MIB)
        del held
        self.assertIs(told[0].exc_type, ZeroDivisionError)
        with self.assertRaises(TypeError):
            pool.pressure_add(3)

    def test_goes_with_its_pool(self):
        device = gpumem.Device("host:0")

        def callback(pressure):
            return False

        before = sys.getrefcount(callback)
        for pool in (device.pool, gpumem.Pool(device)):
            pool.pressure_add(callback)
            pool.pressure_add(callback)
        self.assertGreater(sys.getrefcount(callback), before)
        del pool
        gc.collect()
        self.assertEqual(sys.getrefcount(callback), before)

    def test_needs_no_lock_of_the_allocating_thread(self):
        """The callback waits for a thread that allocates."""
        pool = gpumem.Pool("host:0", limit_bytes=8 * MIB)
        held = [pool.alloc(6 * MIB)]
        other = gpumem.Pool("host:0")

        def give(pressure):
            thread = threading.Thread(target=other.alloc, args=(MIB,))
            thread.start()
            thread.join()
            held.clear()
            return True

        pool.pressure_add(give)
        pool.alloc(6 * MIB)


class Buffers(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0")

    def live(self):
        return self.pool.stats()["blocks"]["current"]

    def test_with_ends_it(self):
        with self.pool.alloc(100) as buffer:
            self.assertEqual((buffer.nbytes, len(buffer)), (100, 100))
            self.assertFalse(buffer.freed)
        self.assertTrue(buffer.freed)
        self.assertEqual(self.live(), 0)
        for use in (
            lambda: buffer.ptr,
            lambda: buffer.read(),
            lambda: buffer.write(b"x"),
            lambda: buffer.fill(1),
            lambda: buffer.use_on(None),
            lambda: buffer.resize(1),
            lambda: buffer.free(),
            lambda: buffer.detach(),
            lambda: buffer.view,
            lambda: buffer.__dlpack__(),
        ):
            with self.assertRaises(ValueError):
                use()
        self.assertEqual(repr(buffer), "<gpumem.Buffer, freed>")

    def test_freed_inside_with(self):
        with self.pool.alloc(100) as buffer:
            buffer.free()
        self.assertEqual(self.live(), 0)

    def test_of_nothing(self):
        buffer = self.pool.alloc(0)
        self.assertEqual((buffer.ptr, buffer.nbytes), (0, 0))
        self.assertEqual(buffer.read(), b"")
        buffer.use_on(0)
        buffer.free()

    def test_bytes_go_in_and_come_out(self):
        buffer = self.pool.alloc(1000)
        data = bytes(range(250)) * 4
        buffer.write(data)
        self.assertEqual(buffer.read(), data)
        buffer.write(bytearray(b"abc"), offset=997)
        self.assertEqual(buffer.read(4, 996), data[996:997] + b"abc")
        for count, offset in [(1, 1000), (1001, 0), (1, -1), (-2, 0)]:
            with self.assertRaises(ValueError):
                buffer.read(count, offset)
        with self.assertRaises(ValueError):
            buffer.write(b"ab", 999)
        with self.assertRaises(TypeError):
            buffer.write(None)

    def test_addresses(self):
        address = self.pool.malloc(100)
        gpumem.free(address)
        with self.assertRaises(gpumem.Error) as caught:
            gpumem.free(address)
        self.assertEqual(caught.exception.status, "GPUMEM_BAD_POINTER")
        address = self.pool.alloc(100).detach()
        self.assertEqual(self.live(), 1)
        gpumem.free(address, 0)
        self.assertEqual(self.live(), 0)
        gpumem.free(None)

    def test_resize(self):
        buffer = self.pool.alloc(4 * MIB)
        buffer.resize(2 * MIB)
        self.assertEqual(buffer.nbytes, 2 * MIB)
        stats = self.pool.stats()
        self.assertEqual(stats["requested"]["current"], 2 * MIB)

    def test_streams(self):
        device = self.pool.device
        one, two = device.stream_create(), device.stream_create()

        class Queue:
            cuda_stream = two

        class Protocol:
            def __cuda_stream__(self):
                return (0, one)

        first = self.pool.alloc(MIB, one)
        self.assertEqual(first.stream, one)
        self.assertEqual(self.pool.alloc(MIB, Protocol()).stream, one)
        self.assertEqual(self.pool.alloc(1, stream=Queue()).stream, two)
        first.use_on(Queue())
        first.fill(3)
        device.stream_sync(one)
        self.assertEqual(first.read(2), b"\3\3")
        first.free(two)
        self.pool.drop_stream(two)
        device.stream_destroy(one)
        device.stream_destroy(two)
        with self.assertRaises(TypeError):
            self.pool.alloc(1, object())

    def test_only_pools_make_them(self):
        with self.assertRaises(TypeError):
            gpumem.Buffer()

    def test_no_objects_here(self):
        with self.assertRaises(gpumem.Error) as caught:
            self.pool.alloc(10).object
        self.assertEqual(caught.exception.status, "GPUMEM_UNSUPPORTED")

    def test_threads(self):
        def work():
            for size in range(1, 2000):
                self.pool.alloc(size * 37).fill(size % 256)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.live(), 0)
        self.pool.check()

    def test_no_reference_is_lost(self):
        def use():
            buffer = self.pool.alloc(10, None, zero=True)
            buffer.free()
            with self.assertRaises(ValueError):
                buffer.read()
            self.pool.stats(), self.pool.snapshot(), self.pool.report()
            self.pool.device.info, self.pool.calls(), self.pool.capacity()
            gpumem.devices(), gpumem.backends()

        def counts():
            for _ in range(200):
                use()
            gc.collect()
            # From 3.12 on None has no count, but for modules made for versions before.
            none = sys.getrefcount(None) if sys.version_info < (3, 12) else 0
            return sys.getrefcount(self.pool), sys.getallocatedblocks(), none

        def grown():
            before, after = counts(), counts()
            return [abs(x - y) for x, y in zip(before, after)]

        counts()  # which fills what Python keeps
        # What other tests have left behind may take or leave some, but not each time.
        pool, blocks, none = map(min, zip(*(grown() for _ in range(3))))
        self.assertEqual(pool, 0)
        self.assertLess(blocks, 100)
        self.assertLess(none, 100)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork()")
    def test_a_forked_child_is_told(self):
        buffer = self.pool.alloc(10)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.pool.alloc(1)
            except gpumem.Error as error:
                status = 0 if error.status == "GPUMEM_FORKED" else 2
            del buffer
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
