# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Tensors of gpumem's subclass in other processes, by torch.multiprocessing.

As test_torch_subclass.py, in which it says what that needs; once for each way to
share. The other process does what it is asked for by a pipe.
"""

import ctypes
import gc
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from test_torch_subclass import MIB, blocks, inside, run_inside

share = os.environ.get("GPUMEM_TEST_SHARE")
if inside and share:
    import gpumem.torch
    import torch
    import torch.multiprocessing


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_each_way(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = os.environ.get("GPUMEM_TORCH_CACHE", folder)
            for way in ("fd", "ipc"):
                more = {"GPUMEM_TEST_SHARE": way, "GPUMEM_TORCH_CACHE": cache}
                run_inside(self, Path(__file__).stem, 7, **more)


def open_files():
    return len(os.listdir("/proc/self/fd"))


def limit(most):
    """Of the numbers of open files; what it was."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return before


def bound(count):
    """So many files can be opened; returns the limit of before."""
    used = set(map(int, os.listdir("/proc/self/fd")))
    most = 0
    while count:
        count -= most not in used
        most += 1
    return limit(most)


def write(x, text, at=0):
    ctypes.memmove(x.data_ptr() + at, text, len(text))


def read(x, count, at=0):
    return ctypes.string_at(x.data_ptr() + at, count)


# Asks a sender for descriptors: USER SOCKET OFFER; prints how many bytes it says.
STRANGER = """
import os, socket, sys
os.setuid(int(sys.argv[1]))
asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asking.settimeout(60)
asking.connect("\\0" + sys.argv[2])
try:
    asking.send(int(sys.argv[3]).to_bytes(8, sys.byteorder))
    print(len(asking.recv(10000)))
except ConnectionError:
    print(0)
"""


# ---- the other process ------------------------------------------------------


def other(connection, way):
    gpumem.torch.enable(backend="host", share=way)
    kept = {}
    asked = connection.recv()
    while asked:
        try:
            told = globals()["do_" + asked[0]](kept, *asked[1:])
        except RuntimeError as error:
            told = str(error)
        connection.send(told)
        del asked, told
        asked = connection.recv()


def do_keep(kept, name, x):
    kept[name] = x
    return x.data_ptr()


def do_read(kept, name, count, at):
    return read(kept[name], count, at)


def do_write(kept, name, text, at):
    write(kept[name], text, at)


def do_where(kept, name):
    return kept[name].device.index


def do_drop(kept, name):
    del kept[name]
    gc.collect()


def do_files(kept):
    return open_files()


def do_mapped(kept, address):
    """Whether there is memory."""
    ranges = [
        [int(part, 16) for part in line.split()[0].split("-")]
        for line in open("/proc/self/maps")
    ]
    return any(begin <= address < end for begin, end in ranges)


def do_waits(kept):
    return ctypes.CDLL(inside).double_synchronized()


def do_limit(kept, most):
    limit(most)


def do_bound(kept, count):
    return bound(count)


def do_open(kept, name, parts):
    kept[name] = torch.UntypedStorage._new_shared_cuda(*parts)
    return kept[name].data_ptr()


# ---- this one ---------------------------------------------------------------


@unittest.skipUnless(inside and share, "in the inner process")
class Shared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        gpumem.torch.enable(backend="host", share=share)
        context = torch.multiprocessing.get_context("spawn")
        cls.pipe, end = context.Pipe()
        cls.process = context.Process(target=other, args=(end, share))
        cls.process.start()
        end.close()
        cls.ask("keep", "first", torch.ones(1))  # it is there

    @classmethod
    def tearDownClass(cls):
        cls.pipe.send(None)
        cls.process.join(60)

    @classmethod
    def ask(cls, *what):
        cls.pipe.send(what)
        if not cls.pipe.poll(60):
            raise AssertionError(f"no answer to {what[0]}")
        return cls.pipe.recv()

    def tearDown(self):
        gc.collect()
        torch.cuda.ipc_collect()
        self.assertEqual(blocks(), {})
        gpumem.torch.pool(0).check()

    def empty(self, size):
        return torch.empty(size, dtype=torch.uint8, device="cuda")

    def test_one_memory(self):
        before = self.empty(300000)
        x = self.empty(5 * MIB)
        write(x, b"begin")
        write(x, b"end", 5 * MIB - 3)
        address = self.ask("keep", "x", x)
        self.assertEqual(self.ask("read", "x", 5, 0), b"begin")
        self.assertEqual(self.ask("read", "x", 3, 5 * MIB - 3), b"end")
        self.ask("write", "x", b"changed", 3 * MIB)
        self.assertEqual(read(x, 7, 3 * MIB), b"changed")
        self.assertTrue(self.ask("mapped", address))
        self.ask("drop", "x")
        self.assertFalse(self.ask("mapped", address))
        self.assertEqual(read(x, 5), b"begin")
        del before, x

    def test_a_part_and_its_whole(self):
        x = self.empty(3 * MIB)
        write(x, b"middle", MIB)
        whole = self.ask("keep", "whole", x)
        part = self.ask("keep", "part", x[MIB : 2 * MIB])
        self.assertEqual(part, whole + MIB)
        self.assertEqual(self.ask("read", "part", 6, 0), b"middle")
        again = self.ask("keep", "again", x)
        self.assertEqual(again, whole)
        for name in ("whole", "part", "again"):
            self.ask("drop", name)
        del x

    def test_of_the_second_device(self):
        x = torch.empty(5 * MIB, dtype=torch.uint8, device="cuda:1")
        write(x, b"second")
        self.ask("keep", "x", x)
        self.assertEqual(self.ask("read", "x", 6, 0), b"second")
        self.assertEqual(self.ask("where", "x"), 1)
        self.ask("drop", "x")
        del x

    def test_small_ones_beside_each_other(self):
        kept = [self.empty(1000) for _ in range(8)]
        for i, x in enumerate(kept):
            write(x, bytes([i]) * 1000)
            self.ask("keep", i, x)
        for i in range(8):
            self.assertEqual(
                self.ask("read", i, 1000, 0), bytes([i]) * 1000
            )
            self.ask("drop", i)
        del kept, x

    def test_the_receiver_keeps_it(self):
        x = self.empty(5 * MIB)
        address = x.data_ptr()
        write(x, b"still there")
        self.ask("keep", "x", x)
        del x
        gc.collect()
        torch.cuda.ipc_collect()
        self.assertIn(address, blocks())
        later = self.empty(5 * MIB)
        self.assertNotEqual(later.data_ptr(), address)
        write(later, b"others'")
        self.assertEqual(self.ask("read", "x", 11, 0), b"still there")
        self.ask("drop", "x")
        torch.cuda.ipc_collect()
        self.assertNotIn(address, blocks())
        del later

    def test_many_pages(self):
        """More than one message of descriptors."""
        size = 520 * MIB
        files = open_files()
        for _ in range(2):
            x = self.empty(size)
            for at in range(0, size, 20 * MIB):
                write(x, at.to_bytes(8, "little"), at)
            theirs = self.ask("files")
            held = open_files()
            self.ask("keep", "x", x)
            for at in range(0, size, 20 * MIB):
                told = self.ask("read", "x", 8, at)
                self.assertEqual(told, at.to_bytes(8, "little"))
            # But for PyTorch's own, of which counters are in a file.
            self.assertLessEqual(open_files(), held + 8)
            self.ask("drop", "x")
            self.assertLessEqual(self.ask("files"), theirs + 8)
            del x
            gc.collect()
            torch.cuda.ipc_collect()
            torch.cuda.empty_cache()
        self.assertLessEqual(open_files(), files + 16)

    @unittest.skipUnless(share == "fd", "names are no descriptors")
    def test_too_few_descriptors(self):
        x = self.empty(520 * MIB)
        parts = x.untyped_storage()._share_cuda_()
        self.ask("keep", "small", self.empty(1))  # its device is open
        self.ask("drop", "small")
        files = self.ask("files")
        before = self.ask("bound", 100)
        self.assertIn("raise `ulimit -n`", self.ask("open", "x", parts))
        self.ask("limit", before)
        self.assertEqual(self.ask("files"), files)
        before = bound(100)
        told = self.ask("open", "x", parts)
        limit(before)
        self.assertIn("(260 descriptors: if these are too many", told)
        self.assertIsInstance(self.ask("open", "x", parts), int)
        self.ask("drop", "x")
        del x

    def test_of_a_private_pool(self):
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            first, x = self.empty(3 * MIB), self.empty(3 * MIB)
        write(first, b"first")
        write(x, b"second")
        self.ask("keep", "x", x)
        self.ask("keep", "f", first)
        self.assertEqual(self.ask("read", "x", 6, 0), b"second")
        self.assertEqual(self.ask("read", "f", 5, 0), b"first")
        self.ask("drop", "x")
        self.ask("drop", "f")
        del first, x, pool
        gc.collect()
        torch.cuda.ipc_collect()
        torch.cuda.empty_cache()

    def test_a_handle(self):
        """Opened twice, then closed, then once more when its block is gone."""
        x = self.empty(5 * MIB)
        first = x.untyped_storage()._share_cuda_()
        second = x.untyped_storage()._share_cuda_()
        address = self.ask("open", "first", first)
        self.assertEqual(self.ask("open", "second", second), address)
        self.ask("drop", "first")
        waits = self.ask("waits")
        self.ask("drop", "second")
        self.assertGreater(self.ask("waits"), waits)
        del x
        gc.collect()
        torch.cuda.ipc_collect()
        if share == "fd":
            self.assertIn("has freed it", self.ask("open", "late", first))

    @unittest.skipUnless(share == "fd", "names have no socket")
    def test_only_the_same_user(self):
        x = self.empty(1000)
        parts = x.untyped_storage()._share_cuda_()
        number = int.from_bytes(parts[1][8:16], sys.byteorder)
        with open("/proc/net/unix") as sockets:
            places = [line.split("@")[1] for line in sockets if "@" in line]
        mine = [
            each.strip()
            for each in places
            if each.startswith("gpumem-")
            and bytes.fromhex(each.strip()[7:]) in parts[1]
        ]
        self.assertEqual(len(mine), 1)

        def told(user):
            words = [sys.executable, "-c", STRANGER, str(user), mine[0]]
            return int(subprocess.check_output([*words, str(number)]))

        self.assertGreater(told(os.getuid()), 512)
        if os.getuid() == 0:
            self.assertEqual(told(65534), 0)
        torch.UntypedStorage._release_ipc_counter(*parts[4:6], device="cuda")
        del x

    def test_handles_that_are_none(self):
        x = self.empty(1000)
        device, handle, *rest = x.untyped_storage()._share_cuda_()
        for bad in (handle[:-1], b"x" + handle[1:], b"e" * 64):
            told = self.ask("open", "bad", (device, bad, *rest))
            self.assertIn("both processes have to call", told)
        for at in (8,) if share == "fd" else (24, len(handle) - 1):
            bad = bytearray(handle)
            bad[at] ^= 1
            told = self.ask("open", "bad", (device, bytes(bad), *rest))
            self.assertIsInstance(told, str)
        with self.assertRaisesRegex(RuntimeError, "this process"):
            torch.UntypedStorage._new_shared_cuda(device, handle, *rest)
        torch.UntypedStorage._release_ipc_counter(*rest[2:4], device="cuda")
        del x


if __name__ == "__main__":
    unittest.main()
