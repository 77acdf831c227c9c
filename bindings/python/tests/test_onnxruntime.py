# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What ONNX Runtime is given: functions by their addresses, called as it does."""

import ctypes
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import gpumem
import gpumem.onnxruntime

MIB = 1 << 20


def functions(addresses):
    """(alloc, free, empty_cache) as ONNX Runtime's C++ calls them."""
    alloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    empty_cache = ctypes.CFUNCTYPE(None)
    return (
        alloc(int(addresses["alloc"])),
        free(int(addresses["free"])),
        empty_cache(int(addresses["empty_cache"])),
    )


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = gpumem.Pool("host:0", limit_bytes=64 * MIB)
        cls.stream = cls.pool.device.stream_create()

    def test_are_over_the_pool(self):
        alloc, free, empty_cache = functions(self.pool.functions(self.stream))
        address = alloc(3 * MIB)
        live = [x for x in self.pool.snapshot() if x["state"] == "live"]
        self.assertEqual([x["address"] for x in live], [address])
        self.assertEqual(live[0]["stream"], self.stream)
        free(address)
        self.assertEqual(self.pool.stats()["blocks"]["current"], 0)
        self.assertGreater(self.pool.stats()["reserved"]["current"], 0)
        empty_cache()
        self.assertEqual(self.pool.stats()["reserved"]["current"], 0)

    def test_nothing(self):
        alloc, free, _ = functions(self.pool.functions(self.stream))
        self.assertIsNone(alloc(0))
        free(None)

    def test_what_fails_is_null(self):
        alloc, free, _ = functions(self.pool.functions(self.stream))
        self.assertIsNone(alloc(65 * MIB))
        free(1 << 40)
        address = alloc(MIB)
        self.assertTrue(address)
        free(address)

    def test_are_the_pair_s_own(self):
        again = self.pool.functions(self.stream)
        self.assertEqual(again, self.pool.functions(self.stream))
        self.assertEqual(again["stream"], self.stream)
        other = self.pool.functions()
        self.assertEqual(other["stream"], 0)
        self.assertNotEqual(again["alloc"], other["alloc"])
        address = functions(other)[0](MIB)
        live = [x for x in self.pool.snapshot() if x["state"] == "live"]
        self.assertEqual(live[0]["stream"], 0)
        functions(other)[1](address)

    def test_keep_the_pool(self):
        pool = gpumem.Pool("host:0")
        alloc, free, _ = functions(pool.functions())
        with self.assertRaises(ValueError):
            pool.close()
        del pool
        address = alloc(100)
        self.assertTrue(address)
        free(address)

    def test_from_threads(self):
        alloc, free, _ = functions(self.pool.functions(self.stream))
        seen, wrong = set(), []

        def work():
            for i in range(500):
                address = alloc(1000 + i)
                if not address or address in seen:
                    wrong.append(address)
                    continue
                seen.add(address)
                seen.discard(address)
                free(address)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(self.pool.stats()["blocks"]["current"], 0)
        self.pool.check()

    def test_all_of_them(self):
        """In a process of its own, since they are never given back."""
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import test_onnxruntime as t; t.all_of_them()",
            ],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
        )
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, "64 and no more\n")


def all_of_them():
    """Each works on its own stream, and there is an end of them."""
    device = gpumem.Device("host:0")
    pool = gpumem.Pool(device)
    given = {}
    try:
        for _ in range(65):
            stream = device.stream_create()
            given[stream] = pool.functions(stream)
    except RuntimeError as error:
        assert "for 64 pools and streams" in str(error), error
    for name in ("alloc", "free", "empty_cache"):
        assert len({x[name] for x in given.values()}) == len(given)
    for stream, addresses in given.items():
        address = functions(addresses)[0](100)
        live = [x for x in pool.snapshot() if x["state"] == "live"]
        assert [x["stream"] for x in live] == [stream]
        functions(addresses)[1](address)
    assert pool.functions(stream) == given[stream]
    print(len(given), "and no more")


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = gpumem.onnxruntime.provider_options
        cls.device = gpumem.Device("host:0")
        cls.stream = cls.device.stream_create()
        cls.shared = options(backend="host")
        cls.own = options(0, cls.stream, backend="host")

    def test_are_text(self):
        self.assertEqual(
            sorted(self.shared),
            [
                "device_id",
                "gpu_external_alloc",
                "gpu_external_empty_cache",
                "gpu_external_free",
                "user_compute_stream",
            ],
        )
        for options in (self.shared, self.own):
            for value in options.values():
                self.assertRegex(value, "^[0-9]+$")
        self.assertEqual(self.own["user_compute_stream"], str(self.stream))

    def test_sessions_share_a_stream(self):
        again = gpumem.onnxruntime.provider_options(backend="host")
        self.assertEqual(again, self.shared)
        self.assertIsNot(again, self.shared)
        self.assertNotEqual(
            self.own["user_compute_stream"], self.shared["user_compute_stream"]
        )

    def test_memory_is_of_the_device_s_pool(self):
        alloc, free, _ = functions(
            {x[len("gpu_external_") :]: y for x, y in self.own.items()}
        )
        address = alloc(12345)
        blocks = self.device.pool.snapshot()
        mine = [x for x in blocks if x["address"] == address]
        self.assertEqual(mine[0]["requested_bytes"], 12345)
        self.assertEqual(mine[0]["stream"], self.stream)
        free(address)


if __name__ == "__main__":
    unittest.main()
