# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Tags, leaks, and who is told of an out of memory, on `host`."""

import gc
import sys
import threading
import unittest

import gpumem

MIB = 1 << 20


def held(pool):
    """Live bytes of each tag that has some."""
    return {
        x["path"]: x["bytes"]["current"]
        for x in pool.tags()
        if x["bytes"]["current"]
    }


class Tags(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0")

    def test_blocks_have_the_tag_of_their_allocation(self):
        with gpumem.tag("model"):
            one = self.pool.alloc(100)
            with gpumem.tag("layer/weights"):
                two = self.pool.alloc(200)
            three = self.pool.alloc(400)
        four = self.pool.alloc(800)
        self.assertEqual(
            held(self.pool),
            {"": 800, "model": 500, "model/layer/weights": 200},
        )
        with gpumem.tag("other"):
            one.free()
        self.assertEqual(held(self.pool)["model"], 400)
        del two, three, four
        rows = {x["path"]: x for x in self.pool.tags()}
        self.assertEqual(rows["model"]["bytes"]["total"], 500)
        self.assertEqual(rows["model"]["blocks"]["peak"], 2)
        self.assertEqual(held(self.pool), {})

    def test_ends_however_it_is_left(self):
        with gpumem.tag("around"):
            with self.assertRaises(ZeroDivisionError):
                with gpumem.tag("a/b/c"):
                    1 // 0
            for wrong in ("", "a//b", "x" * 300, "fine/" + "y" * 300):
                with self.assertRaises(gpumem.Error):
                    with gpumem.tag(wrong):
                        self.fail("it was entered")
            buffer = self.pool.alloc(10)
        self.assertEqual(held(self.pool), {"around": 10})
        del buffer

    def test_decorates(self):
        @gpumem.tag("step")
        def step():
            return self.pool.alloc(10)

        kept = [step(), step()]
        self.assertEqual(held(self.pool), {"step": 20})
        del kept

    def test_is_the_threads(self):
        kept = []

        def work():
            kept.append(self.pool.alloc(7))

        with gpumem.tag("mine"):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        self.assertEqual(held(self.pool), {"": 7})

    def test_limit(self):
        self.pool.set_tag_limit("cache", MIB)
        with gpumem.tag("cache"):
            kept = self.pool.alloc(MIB // 2)
            with self.assertRaises(gpumem.OutOfMemoryError) as caught:
                self.pool.alloc(MIB)
        self.assertEqual(caught.exception.status, "GPUMEM_LIMIT")
        row = {x["path"]: x for x in self.pool.tags()}["cache"]
        self.assertEqual(row["limit_bytes"], MIB)
        self.assertEqual(row["held_bytes"], MIB // 2)
        self.pool.set_tag_limit("cache", 0)
        with gpumem.tag("cache"):
            more = self.pool.alloc(MIB)
        del kept, more
        for wrong in [("", 1), ("a/", 1)]:
            with self.assertRaises(gpumem.Error):
                self.pool.set_tag_limit(*wrong)
        for wrong in [(1, 1), ("a",), ("a", "b")]:
            with self.assertRaises(TypeError):
                self.pool.set_tag_limit(*wrong)

    def test_many_tags(self):
        kept = []
        for i in range(200):
            with gpumem.tag(f"many/{i}"):
                kept.append(self.pool.alloc(i + 1))
        self.assertEqual(
            held(self.pool), {f"many/{i}": i + 1 for i in range(200)}
        )


class Leaks(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0", name="leaky")

    def test_between_marks(self):
        before = self.pool.alloc(1000)
        self.pool.track()
        first = gpumem.leak_mark()
        with gpumem.tag("leak"):
            kept = [self.pool.alloc(100) for _ in range(3)]
        gone = self.pool.alloc(5000)
        second = gpumem.leak_mark()
        later = self.pool.alloc(70)
        del gone
        leaks = self.pool.leaks(first, second)
        self.assertEqual((leaks["pool"], leaks["track"]), ("leaky", "on"))
        self.assertEqual((leaks["blocks"], leaks["bytes"]), (3, 300))
        self.assertEqual(
            [(x["tag"], x["blocks"], x["frames"]) for x in leaks["groups"]],
            [("leak", 3, [])],
        )
        self.assertEqual(leaks["live_bytes"], 1370)
        self.assertEqual(leaks["unknown_blocks"], 1)
        self.assertEqual(self.pool.leaks(since=second)["bytes"], 70)
        self.assertEqual(self.pool.leaks()["bytes"], 1370)
        self.pool.untrack()
        with self.assertRaises(gpumem.Error) as caught:
            self.pool.leaks(first)
        self.assertEqual(caught.exception.status, "GPUMEM_INVALID")
        self.assertEqual(self.pool.leaks()["track"], "off")
        del before, kept, later

    def test_frames(self):
        self.pool.track(8)
        kept = self.pool.alloc(10)
        (group,) = self.pool.leaks()["groups"]
        self.assertTrue(1 <= len(group["frames"]) <= 8)
        self.assertIn("_core", group["frames"][0]["module"])
        with self.assertRaises(gpumem.Error):
            self.pool.track(65)
        del kept

    def test_of_a_pool_that_was_closed(self):
        self.pool.close()
        for call in ("leaks", "track", "untrack", "tags"):
            with self.assertRaises(ValueError):
                getattr(self.pool, call)()
        with self.assertRaises(ValueError):
            self.pool.set_tag_limit("a", 1)


class Told(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0", name="full", limit_bytes=8 * MIB)
        self.seen = []
        self.addCleanup(gpumem.oom_set, None)

    def fail_once(self):
        with self.assertRaises(gpumem.OutOfMemoryError) as caught:
            self.pool.alloc(16 * MIB)
        return str(caught.exception)

    def test_is_told_what_would_help(self):
        gpumem.oom_set(self.seen.append)
        with gpumem.tag("batch"):
            kept = self.pool.alloc(6 * MIB)
            text = self.fail_once()
        (oom,) = self.seen
        self.assertEqual((oom["pool"], oom["status"]), ("full", "GPUMEM_LIMIT"))
        self.assertEqual(oom["request"]["bytes"], 16 * MIB)
        self.assertEqual(oom["request"]["tag"], "batch")
        self.assertEqual(oom["advice"], "limit")
        self.assertIn(oom["text"], text)
        self.assertIn(
            ("batch", 6 * MIB), [(x["tag"], x["bytes"]) for x in oom["tags"]]
        )
        told = []
        hook, sys.unraisablehook = sys.unraisablehook, told.append
        self.addCleanup(setattr, sys, "unraisablehook", hook)
        gpumem.oom_set(None)
        self.fail_once()
        self.assertEqual((len(self.seen), told), (1, []))
        del kept

    def test_may_allocate(self):
        def look(oom):
            self.seen.append(self.pool.stats()["ooms"])
            with self.assertRaises(gpumem.OutOfMemoryError):
                self.pool.alloc(32 * MIB)
            self.pool.alloc(10)

        gpumem.oom_set(look)
        self.fail_once()
        self.assertEqual(len(self.seen), 1)

    def test_one_that_fails_changes_nothing(self):
        told = []
        hook, sys.unraisablehook = sys.unraisablehook, told.append
        self.addCleanup(setattr, sys, "unraisablehook", hook)
        gpumem.oom_set(lambda oom: 1 // 0)
        self.assertIn("out of memory", self.fail_once())
        self.assertIs(told[0].exc_type, ZeroDivisionError)
        with self.assertRaises(TypeError):
            gpumem.oom_set(3)
        self.fail_once()
        self.assertEqual(len(told), 2)

    def test_may_remove_itself(self):
        def once(oom):
            self.seen.append(oom)
            gpumem.oom_set(None)

        gpumem.oom_set(once)
        before = sys.getrefcount(once)
        self.fail_once()
        self.fail_once()
        gc.collect()
        self.assertEqual(len(self.seen), 1)
        self.assertEqual(sys.getrefcount(once), before - 1)

    def test_in_other_threads(self):
        gpumem.oom_set(lambda oom: self.seen.append(threading.get_ident()))
        thread = threading.Thread(target=self.fail_once)
        thread.start()
        thread.join()
        self.assertEqual(self.seen, [thread.ident])


if __name__ == "__main__":
    unittest.main()
