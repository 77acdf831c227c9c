# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Pools whose callbacks lead back to them: the collector ends them, whatever the
way back, while threads allocate and callbacks run too."""

import gc
import threading
import types
import unittest
import weakref

import gpumem

MIB = 1 << 20


def by_closure(pool):
    pool.pressure_add(lambda pressure: pool is None)


def by_buffer(pool):
    held = [pool.alloc(1000)]
    pool.pressure_add(lambda pressure: bool(held.clear()))


def by_method(pool):
    class Owner:
        def give(self, pressure):
            return False

    owner = Owner()
    owner.pool = pool
    pool.pressure_add(owner.give)


def by_several(pool):
    for _ in range(3):
        by_closure(pool)
        by_buffer(pool)


def by_another(pool):
    other = gpumem.Pool(pool.device)
    kept = other.alloc(1000)
    pool.pressure_add(lambda pressure: kept is None)
    other.pressure_add(lambda pressure: pool is None)


def by_its_device(pool):
    things = types.SimpleNamespace(devices=[pool.device], pool=pool)
    pool.pressure_add(lambda pressure: things is None)


WAYS = by_closure, by_buffer, by_method, by_several, by_another, by_its_device


class Cycles(unittest.TestCase):
    def setUp(self):
        self.device = gpumem.Device("host:0")
        gc.collect()
        self.before = self.reserved()

    def reserved(self):
        return self.device.memory()["reserved_bytes"]

    def test_hundred_pools_of_each_kind(self):
        for way in WAYS:
            gone = []
            for _ in range(100):
                pool = gpumem.Pool(self.device)
                pool.alloc(1000)
                way(pool)
                gone.append(weakref.ref(pool))
            del pool
            gc.collect()
            with self.subTest(way.__name__):
                self.assertEqual([x() for x in gone], [None] * 100)
                self.assertEqual(self.reserved(), self.before)
        self.assertEqual(gc.garbage, [])

    def test_only_when_nothing_else_refers_to_it(self):
        pool, seen = gpumem.Pool(self.device, limit_bytes=4 * MIB), []
        pool.pressure_add(lambda pressure: bool(seen.append(pool.name)))
        gc.collect()
        held = pool.alloc(2 * MIB)
        with self.assertRaises(gpumem.OutOfMemoryError):
            pool.alloc(4 * MIB, None, wait=True)
        self.assertEqual(len(seen), 1)
        del held
        buffer, gone = pool.alloc(MIB), weakref.ref(pool)
        del pool, seen
        gc.collect()
        self.assertIsNotNone(gone())  # by its buffer
        del buffer
        gc.collect()
        self.assertIsNone(gone())

    def test_of_a_default_pool(self):
        """The pool stays with its device; its callbacks are gone."""
        seen, own = [], self.device.pool
        own.pressure_add(lambda p, own=own: bool(seen.append(own.name)))
        gone = weakref.ref(own)
        del own
        gc.collect()
        self.assertIsNone(gone())
        pool = self.device.pool
        pool.set_limit(limit_bytes=4 * MIB)
        self.addCleanup(pool.set_limit)
        held = pool.alloc(2 * MIB)
        with self.assertRaises(gpumem.OutOfMemoryError):
            pool.alloc(4 * MIB)
        self.assertEqual(seen, [])
        del held

    def test_the_function_of_an_out_of_memory(self):
        """It is the process's, until another one is set."""
        pool, seen = gpumem.Pool(self.device, limit_bytes=4 * MIB), []
        gone = weakref.ref(pool)
        gpumem.oom_set(lambda oom, pool=pool: seen.append(pool.name))
        self.addCleanup(gpumem.oom_set, None)
        with self.assertRaises(gpumem.OutOfMemoryError):
            pool.alloc(6 * MIB)
        self.assertEqual(len(seen), 1)
        del pool
        gc.collect()
        self.assertIsNotNone(gone())
        gpumem.oom_set(None)
        gc.collect()
        self.assertIsNone(gone())

    def test_an_end_that_is_looked_at(self):
        """Finalizers see whole pools, and may keep them."""
        kept = []

        class Owner:
            def __del__(self):
                self.pool.alloc(1000).fill(1)
                kept.append(self.pool)

        owner = Owner()
        owner.pool = gpumem.Pool(self.device, limit_bytes=4 * MIB)
        seen = []
        owner.pool.pressure_add(lambda p, own=owner: bool(seen.append(own)))
        del owner
        gc.collect()
        (pool,) = kept
        pool.check()
        held = pool.alloc(2 * MIB)
        with self.assertRaises(gpumem.OutOfMemoryError):
            pool.alloc(4 * MIB)
        self.assertEqual(len(seen), 1)  # its callback was kept too
        del held
        gone = weakref.ref(pool)
        del pool
        seen.clear()
        kept.clear()
        gc.collect()
        self.assertIsNone(gone())


class Changes(unittest.TestCase):
    """Callbacks come and go inside what is called for them."""

    def test_a_comparison_removes_them(self):
        pool = gpumem.Pool("host:0")

        class Odd:
            removes = False

            def __call__(self, pressure):
                return False

            def __eq__(self, other):
                removes, Odd.removes = Odd.removes, False
                if removes:
                    pool.pressure_remove(plain)
                return self is other

        def plain(pressure):
            return False

        for wanted in plain, Odd():
            for first in plain, Odd():
                for callback in first, plain, Odd():
                    pool.pressure_add(callback)
                Odd.removes = True
                try:
                    pool.pressure_remove(wanted)
                except ValueError:
                    pass
                Odd.removes = False
        pool.pressure_add(lambda pressure: False)
        pool.close()

    def test_an_end_adds_them(self):
        pool = gpumem.Pool("host:0")

        class Last:
            def __call__(self, pressure):
                return False

            def __del__(self):
                pool.pressure_add(lambda pressure: False)

        last = Last()
        pool.pressure_add(last)
        pool.pressure_remove(last)
        del last
        pool.close()

    def test_threads(self):
        """Pools end while others allocate and their callbacks run."""
        device, stop = gpumem.Device("host:0"), threading.Event()
        calls, wrong = [], []

        # Not without end: who ends a pool waits for what was queued before.
        def work():
            while not stop.is_set() and len(calls) < 200:
                pool = gpumem.Pool(device, limit_bytes=4 * MIB)
                held = [pool.alloc(3 * MIB)]

                def give(pressure, pool=pool, held=held):
                    calls.append(pool.name)
                    gc.collect()
                    held.clear()
                    return True

                pool.pressure_add(give)
                try:
                    pool.alloc(3 * MIB).fill(1)
                    pool.check()
                except BaseException as error:
                    wrong.append(error)
                    raise

        gc.collect()
        before = device.memory()["reserved_bytes"]
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        while len(calls) < 30 and not wrong:
            gc.collect()
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        gc.collect()
        self.assertEqual(device.memory()["reserved_bytes"], before)


if __name__ == "__main__":
    unittest.main()
