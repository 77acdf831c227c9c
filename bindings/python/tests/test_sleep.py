# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Sleep and wake on `host`: contents, addresses, counts, tags, refusals. How they
work inside is tested in C (tests/unit/lib/sleep*.c)."""

import ctypes
import itertools
import os
import signal
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import gpumem

MIB = 1 << 20
SIZES = 3000, MIB, 2 * MIB, 5 * MIB + 77, 16 * MIB

names = (f"case{i}" for i in itertools.count())  # a tag keeps its word


def pattern(number, nbytes):
    seed = f"{number} {nbytes} ".encode()
    return (seed * (nbytes // len(seed) + 1))[:nbytes]


def sleeping(pool):
    return pool.stats()["sleeping"]["current"]


def reserved(pool):
    return pool.stats()["reserved"]["current"]


class Case(unittest.TestCase):
    def setUp(self):
        # Memory goes by whole handles: none is to have what sleeps and what not.
        gpumem.option_set("handle_max", "2MiB")
        self.addCleanup(gpumem.option_set, "handle_max", None)
        self.pool = gpumem.Pool("host:0")
        self.tag = next(names)

    def blocks(self, pool=None):
        made = [(pool or self.pool).alloc(nbytes) for nbytes in SIZES]
        for number, block in enumerate(made):
            block.write(pattern(number, block.nbytes))
        return made

    def same(self, blocks):
        for number, block in enumerate(blocks):
            self.assertEqual(block.read(), pattern(number, block.nbytes))
        self.pool.check()


class Sleep(Case):
    def test_all_of_it_comes_back_where_it_was(self):
        blocks = self.blocks()
        before = [(x.ptr, x.nbytes) for x in blocks]
        live = self.pool.stats()["allocated"]["current"]
        slept = self.pool.sleep()
        self.assertIsInstance(slept, gpumem.Slept)
        # 3000 bytes are rounded up in their slab.
        self.assertGreaterEqual(slept.kept_bytes, sum(SIZES))
        self.assertEqual(slept.dropped_bytes, 0)
        self.assertGreaterEqual(slept.host_bytes, slept.kept_bytes)
        self.assertEqual(reserved(self.pool), 0)
        self.assertEqual(sleeping(self.pool), live)
        self.assertEqual(self.pool.ranges(), [])
        woken = self.pool.wake()
        self.assertEqual(woken.kept_bytes, slept.kept_bytes)
        self.assertEqual(woken.device_bytes, reserved(self.pool))
        self.assertEqual(woken.host_bytes, 0)
        self.assertEqual(sleeping(self.pool), 0)
        self.assertEqual([(x.ptr, x.nbytes) for x in blocks], before)
        self.same(blocks)

    def test_wherever_the_content_goes(self):
        with tempfile.TemporaryDirectory() as folder:
            for how in (
                {"content": "pinned"},
                {"content": "retained"},
                {"content": "pageable"},
                {"folder": folder},
                {"folder": os.fsencode(folder)},
                {"folder": Path(folder)},
                {"timeout_ns": 10**10},
            ):
                with self.subTest(how=how):
                    self.pool = gpumem.Pool("host:0")
                    blocks = self.blocks()
                    slept = self.pool.sleep(**how)
                    self.assertGreaterEqual(slept.kept_bytes, sum(SIZES))
                    self.assertEqual(os.listdir(folder), [])
                    woken = self.pool.wake()
                    # What is retained is there for the next sleep.
                    self.assertEqual(
                        woken.host_bytes > 0, how == {"content": "retained"}
                    )
                    self.same(blocks)

    def test_again_does_nothing(self):
        self.assertEqual(self.pool.sleep().device_bytes, 0)
        blocks = self.blocks()
        self.pool.sleep()
        again = self.pool.sleep()
        self.assertEqual((again.kept_bytes, again.device_bytes), (0, 0))
        self.pool.wake()
        again = self.pool.wake()
        self.assertEqual((again.kept_bytes, again.device_bytes), (0, 0))
        self.same(blocks)

    def test_frees_and_allocations_while_it_sleeps(self):
        blocks = self.blocks()
        gone = blocks.pop()
        slept = self.pool.sleep()
        held = sleeping(self.pool)
        gone.free()
        self.assertEqual(sleeping(self.pool), held - SIZES[-1])
        other = self.pool.alloc(MIB)
        other.write(b"awake" * 1000)
        self.assertEqual(other.read(5), b"awake")
        woken = self.pool.wake()
        # What is on a page with something live comes back, too.
        self.assertLessEqual(
            woken.kept_bytes, slept.kept_bytes - SIZES[-1] + 4 * MIB
        )
        self.assertEqual(other.read(5), b"awake")
        self.same(blocks)
        self.pool.sleep()
        del blocks, other
        self.assertEqual(sleeping(self.pool), 0)
        self.pool.check()

    def test_waits_for_streams_without_the_gil(self):
        device = ctypes.CDLL("libgpumem.so.0")
        system = ctypes.CDLL(None)
        stream = self.pool.device.stream_create()
        block = self.pool.alloc(4 * MIB, stream)
        block.write(pattern(0, 4 * MIB))
        semaphore = ctypes.create_string_buffer(64)
        self.assertEqual(system.sem_init(semaphore, 0, 0), 0)
        kernel = ctypes.c_void_p(stream), system.sem_wait, semaphore
        self.assertEqual(device.gpumem_host_launch(0, *kernel), 0)
        with self.assertRaisesRegex(gpumem.Error, "stream") as caught:
            self.pool.sleep(timeout_ns=10**6)
        self.assertEqual(caught.exception.status, "GPUMEM_BUSY")
        self.assertEqual(sleeping(self.pool), 0)

        # It would wait for ever if this thread could not run.
        signal.alarm(60)
        self.addCleanup(signal.alarm, 0)
        sleeper = threading.Thread(target=self.asleep_at_last)
        sleeper.start()
        text = ""
        while "another thread" not in text:
            with self.assertRaises(gpumem.Error) as caught:
                self.pool.sleep(timeout_ns=1)
            text = str(caught.exception)
        self.assertEqual(system.sem_post(semaphore), 0)
        sleeper.join()
        self.assertEqual(sleeping(self.pool), 4 * MIB)
        self.pool.wake()
        self.same([block])
        block.free()
        self.pool.device.stream_destroy(stream)

    def asleep_at_last(self):
        while not sleeping(self.pool):
            try:
                self.pool.sleep()
            except gpumem.Error:
                pass  # the other thread was there first


class Tags(Case):
    def test_each_word(self):
        made = {}
        for word in "keep", "drop", "zero", "stay", "inherit":
            with gpumem.tag(f"{self.tag}/{word}", sleep=word):
                made[word] = self.pool.alloc(4 * MIB)
            made[word].write(pattern(word, 4 * MIB))
        slept = self.pool.sleep(self.tag)
        self.assertEqual(slept.kept_bytes, 8 * MIB)
        self.assertEqual(slept.dropped_bytes, 8 * MIB)
        self.assertEqual(sleeping(self.pool), 16 * MIB)
        self.assertEqual(made["stay"].read(), pattern("stay", 4 * MIB))
        self.pool.wake(self.tag)
        for word in "keep", "inherit", "stay":
            self.assertEqual(made[word].read(), pattern(word, 4 * MIB))
        self.assertEqual(made["zero"].read(), bytes(4 * MIB))

    def test_one_tag_and_those_inside(self):
        with gpumem.tag(self.tag + "/weights/layer0"):
            weights = self.pool.alloc(4 * MIB)
        with gpumem.tag(self.tag + "/cache", sleep="drop"):
            cache = self.pool.alloc(8 * MIB)
        rest = self.pool.alloc(2 * MIB)
        weights.write(pattern(1, 4 * MIB))
        rest.write(pattern(2, 2 * MIB))
        self.assertEqual(
            self.pool.sleep(self.tag + "/weights").kept_bytes, 4 * MIB
        )
        self.assertEqual(sleeping(self.pool), 4 * MIB)
        slept = self.pool.sleep(tag=self.tag)
        self.assertEqual(
            (slept.kept_bytes, slept.dropped_bytes), (0, 8 * MIB)
        )
        self.assertEqual(rest.read(), pattern(2, 2 * MIB))
        self.pool.wake(tag=self.tag + "/weights")
        self.assertEqual(sleeping(self.pool), 8 * MIB)
        self.assertEqual(weights.read(), pattern(1, 4 * MIB))
        self.pool.wake(self.tag)
        self.assertEqual(sleeping(self.pool), 0)
        del cache

    def test_a_word_lies_inside_the_tag_around_and_stays(self):
        with gpumem.tag(self.tag, sleep="drop"):
            with gpumem.tag("kept", sleep="keep"):
                kept = self.pool.alloc(2 * MIB)
            with gpumem.tag("inside"):
                dropped = self.pool.alloc(2 * MIB)
        with gpumem.tag(self.tag):  # says nothing of it
            more = self.pool.alloc(2 * MIB)
        slept = self.pool.sleep(self.tag)
        self.assertEqual(
            (slept.kept_bytes, slept.dropped_bytes), (2 * MIB, 4 * MIB)
        )
        self.pool.wake()
        with gpumem.tag(self.tag, sleep="inherit"):
            pass
        self.assertEqual(self.pool.sleep(self.tag).kept_bytes, 6 * MIB)
        self.pool.wake()
        del kept, dropped, more


class Refusals(Case):
    def test_words(self):
        for call, text in (
            (lambda: self.pool.sleep(content="disk"), 'content is "pinned", '),
            (lambda: gpumem.tag(self.tag, sleep="no").__enter__(), "sleep is "),
        ):
            with self.assertRaisesRegex(ValueError, text):
                call()
        # The tag that was refused has not stayed the thread's.
        block = self.pool.alloc(MIB)
        self.assertEqual(
            [x["path"] for x in self.pool.tags() if x["bytes"]["current"]],
            [""],
        )
        for wrong in ({"tag": 7}, {"content": None}, {"folder": 7}):
            with self.assertRaises(TypeError):
                self.pool.sleep(**wrong)
        with self.assertRaises(OverflowError):
            self.pool.sleep(timeout_ns=-1)
        with self.assertRaises(TypeError):
            self.pool.sleep(self.tag, "pinned")
        del block

    def test_say_what_the_library_says(self):
        block = self.pool.alloc(4 * MIB)
        self.pool.pin(block.ptr, block.nbytes, "somebody")
        with self.assertRaisesRegex(gpumem.Error, "somebody") as caught:
            self.pool.sleep()
        self.assertEqual(caught.exception.status, "GPUMEM_BUSY")
        self.pool.unpin(block.ptr, block.nbytes, "somebody")
        with self.assertRaisesRegex(gpumem.Error, "/absent/folder") as caught:
            self.pool.sleep(folder="/absent/folder")
        self.assertEqual(caught.exception.status, "GPUMEM_INVALID")
        with self.assertRaises(gpumem.Error):
            self.pool.sleep("a//b")
        with self.assertRaisesRegex(ValueError, "null|NUL"):
            self.pool.sleep(folder="a\0b")
        self.assertEqual(sleeping(self.pool), 0)

    def test_a_limit_of_host_memory(self):
        blocks = self.blocks()
        for sleep in self.pool.sleep, lambda **a: gpumem.sleep(self.pool, **a):
            with self.assertRaises(gpumem.OutOfMemoryError) as caught:
                sleep(host_limit_bytes=MIB)
            self.assertEqual(caught.exception.status, "GPUMEM_LIMIT")
            self.assertEqual(sleeping(self.pool), 0)
        self.pool.sleep(host_limit_bytes=1024 * MIB)
        self.assertGreater(self.pool.stats()["sleep_host_bytes"], 0)
        self.pool.wake()
        self.same(blocks)

    def test_one_that_sleeps_is_not_resized(self):
        block = self.pool.alloc(4 * MIB)
        self.pool.sleep()
        with self.assertRaises(gpumem.Error):
            block.resize(8 * MIB)
        self.pool.wake()
        block.resize(8 * MIB)

    def test_a_wake_without_memory_loses_nothing(self):
        blocks = self.blocks()
        self.pool.sleep()
        other = self.pool.alloc(16 * MIB)
        self.pool.limit_bytes = 20 * MIB
        held = sleeping(self.pool)
        with self.assertRaises(gpumem.OutOfMemoryError) as caught:
            self.pool.wake()
        self.assertEqual(caught.exception.status, "GPUMEM_LIMIT")
        self.assertEqual(sleeping(self.pool), held)
        other.free()
        self.pool.limit_bytes = 0
        self.pool.wake()
        self.same(blocks)

    def test_a_closed_pool(self):
        self.pool.close()
        for call in self.pool.sleep, self.pool.wake:
            with self.assertRaisesRegex(ValueError, "closed"):
                call()


class Several(Case):
    def test_pools_that_are_named(self):
        other = gpumem.Pool("host:0")
        blocks, theirs = self.blocks(), self.blocks(other)
        slept = gpumem.sleep(self.pool, other)
        self.assertEqual((reserved(self.pool), reserved(other)), (0, 0))
        self.assertGreaterEqual(slept.kept_bytes, 2 * sum(SIZES))
        woken = gpumem.wake(self.pool, other)
        self.assertEqual(woken.kept_bytes, slept.kept_bytes)
        self.same(blocks)
        self.same(theirs)

    def test_with_arguments(self):
        with gpumem.tag(self.tag):
            block = self.pool.alloc(4 * MIB)
        rest = self.pool.alloc(4 * MIB)
        slept = gpumem.sleep(self.pool, tag=self.tag, content="retained")
        self.assertEqual(slept.kept_bytes, 4 * MIB)
        self.assertEqual(gpumem.wake(self.pool, tag="other").kept_bytes, 0)
        woken = gpumem.wake(self.pool, tag=self.tag)
        self.assertEqual(woken.kept_bytes, 4 * MIB)
        self.assertGreater(woken.host_bytes, 0)
        del block, rest

    def test_one_that_fails_leaves_those_before_it_asleep(self):
        other = gpumem.Pool("host:0")
        blocks, theirs = self.blocks(), self.blocks(other)
        other.pin(theirs[0].ptr, 1, "somebody")
        with self.assertRaisesRegex(gpumem.Error, "somebody"):
            gpumem.sleep(self.pool, other)
        self.assertEqual(reserved(self.pool), 0)
        self.assertEqual(sleeping(other), 0)
        gpumem.wake(self.pool, other)
        self.same(blocks)

    def test_without_any(self):
        for call in gpumem.sleep, gpumem.wake:
            with mock.patch.dict(sys.modules):
                sys.modules.pop("gpumem.torch", None)  # another test's
                with self.assertRaisesRegex(ValueError, "gpumem.torch.enable"):
                    call()


class Words(unittest.TestCase):
    def test_a_result_for_people(self):
        slept = gpumem.Slept(1 << 20, 0, 3 << 20, 0, 1, 2, 3)
        self.assertEqual(
            str(slept),
            "3 MiB of the device, 1 MiB copied, 0 bytes of the host from now on",
        )


if __name__ == "__main__":
    unittest.main()
