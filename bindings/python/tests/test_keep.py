# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Blocks that are shared with other processes, and kept for later ones, on `host`."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import gpumem
from gpumem import keep

MIB = 1 << 20
DATA = bytes(range(256)) * 4096 * 3

# What has weights, has them kept, and is killed.
KILLED = """
import os, signal, sys, gpumem
from gpumem import keep
pool = gpumem.Pool("host:0", shareable="fd")
block = pool.alloc(3 * 1048576)
block.write(bytes(range(256)) * 4096 * 3)
keep.put("weights", block, lease=500, note=b"of a test", socket=sys.argv[1])
os.kill(os.getpid(), signal.SIGKILL)
"""

# What imports by hand what was exported here.
READER = """
import os, sys, gpumem
fds = [int(x) for x in sys.argv[2].split(",")]
with gpumem.Shared(bytes.fromhex(sys.argv[1]), fds, "host:0") as there:
    assert there.read(4, 1) == b"\\1\\2\\3\\4", there.read(4, 1)
    assert len(there) >= 4096 and there.__array_interface__["shape"] == (len(there),)
    there.write(b"seen", 8)
    for wrong in (lambda: there.read(len(there), 1), lambda: there.write(b"x", -1)):
        try:
            wrong()
        except ValueError:
            continue
        raise AssertionError("beyond the end")
try:
    there.ptr
except ValueError:
    sys.exit(0)
"""


class Sharing(unittest.TestCase):
    def test_another_process_reads_and_writes(self):
        pool = gpumem.Pool("host:0", shareable="fd")
        block = pool.alloc(4096)
        block.write(bytes(range(256)) * 16)
        description, fds = block.share()
        try:
            subprocess.run(
                [sys.executable, "-c", READER, description.hex(), ",".join(map(str, fds))],
                pass_fds=fds,
                check=True,
            )
        finally:
            for fd in fds:
                os.close(fd)
        self.assertEqual(block.read(6, 7), b"\7seen\14")

    def test_what_cannot_be_shared(self):
        with self.assertRaisesRegex(gpumem.Error, "without `shareable`"):
            gpumem.Pool("host:0").alloc(10).share()
        with self.assertRaisesRegex(ValueError, "shareable is"):
            gpumem.Pool("host:0", shareable="no")
        block = gpumem.Pool("host:0", shareable="any").alloc(10)
        description, fds = block.share()
        for wrong in (b"", description[:-1], bytes(len(description))):
            with self.assertRaises((ValueError, gpumem.Error)):
                gpumem.Shared(wrong, fds, "host:0")
        for fd in fds:
            os.close(fd)
        block.free()
        with self.assertRaisesRegex(ValueError, "was freed"):
            block.share()


TOOL = os.path.join(os.path.dirname(sys.executable), "gpumem-keep")


@unittest.skipUnless(os.path.exists(TOOL), "gpumem-keep is not there")
class Keeping(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp")  # a socket's path is short
        self.addCleanup(folder.cleanup)
        self.socket = os.path.join(folder.name, "s")
        self.daemon = subprocess.Popen([TOOL, "--socket=" + self.socket, "serve"])
        self.addCleanup(self.end)
        for _ in range(300):
            if os.path.exists(self.socket):
                break
            time.sleep(0.1)

    def end(self):
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(), 0)

    def held(self):
        """How many memory files the daemon holds; meanwhile it may close others,
        as that of a caller that has left."""
        folder = f"/proc/{self.daemon.pid}/fd"
        count = 0
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                count += os.readlink(os.path.join(folder, name)).startswith("/memfd")
        return count

    def test_a_process_that_was_killed_leaves_its_weights(self):
        run = subprocess.run([sys.executable, "-c", KILLED, self.socket])
        self.assertEqual(run.returncode, -signal.SIGKILL)
        (entry,) = keep.entries(socket=self.socket)
        self.assertEqual((entry["name"], entry["alive"]), ("weights", False))
        self.assertGreater(self.held(), 0)
        with keep.get("weights", "host:0", socket=self.socket) as there:
            self.assertEqual((there.name, there.note), ("weights", b"of a test"))
            self.assertEqual(there.nbytes, 3 * MIB)
            self.assertEqual(there.read(), DATA)
            there.write(b"changed")
        keep.renew("weights", 5000, socket=self.socket)
        (entry,) = keep.entries(socket=self.socket)
        self.assertGreater(entry["lease_seconds"], 4000)
        again = keep.get("weights", "host:0", socket=self.socket)
        self.assertEqual(again.read(7), b"changed")
        keep.drop("weights", socket=self.socket)
        self.assertEqual(self.held(), 0)
        self.assertEqual(again.read(7), b"changed")
        again.close()

    def test_many_descriptors(self):
        pool = gpumem.Pool("host:0", shareable="fd", page_bytes=2 * MIB)
        block = pool.alloc(300 * 2 * MIB)
        keep.put("many", block, socket=self.socket)
        self.assertGreaterEqual(self.held(), 300)
        child = (
            "import sys; from gpumem import keep; "
            "b = keep.get('many', 'host:0', socket=sys.argv[1]); print(b.nbytes)"
        )
        out = subprocess.check_output([sys.executable, "-c", child, self.socket])
        self.assertEqual(int(out), 300 * 2 * MIB)

    def test_what_is_refused(self):
        pool = gpumem.Pool("host:0", shareable="fd")
        block = pool.alloc(1000)
        keep.put("name", block, socket=self.socket)
        (entry,) = keep.entries(socket=self.socket)
        self.assertEqual((entry["pid"], entry["alive"]), (os.getpid(), True))
        with self.assertRaisesRegex(keep.Error, "name: there is an entry of that name"):
            keep.put("name", block, socket=self.socket)
        keep.put("name", block, replace=True, socket=self.socket)
        for wrong in ("none", "nobody"):
            for call in (keep.get, keep.renew, keep.drop):
                with self.assertRaises(LookupError):
                    call(wrong, socket=self.socket)
        with self.assertRaises(keep.Error):
            keep.put("a b", block, socket=self.socket)
        with self.assertRaises(ValueError):
            keep.put("x" * 64, block, socket=self.socket)
        for call in (keep.get, keep.renew, keep.drop):
            with self.assertRaises(ValueError):
                call("name\0more", socket=self.socket)
        with self.assertRaisesRegex(ValueError, "a note has at most"):
            keep.put("long", block, note=bytes(4096), socket=self.socket)
        with self.assertRaisesRegex(keep.Error, "a lease has"):
            keep.put("lease", block, lease=0, socket=self.socket)
        with self.assertRaises(OSError):
            keep.get("name", socket=self.socket + "none")
        # What this process has exported it cannot import.
        with self.assertRaises(gpumem.Error):
            keep.get("name", "host:0", socket=self.socket)
        named = gpumem.Pool("host:0", shareable="ipc").alloc(10)
        with self.assertRaisesRegex(keep.Error, "ends with its process"):
            keep.put("named", named, socket=self.socket)

    def test_what_others_put(self):
        with open(__file__) as file:
            subprocess.check_call(
                [TOOL, "--socket=" + self.socket, "put", "file", str(file.fileno())],
                pass_fds=[file.fileno()],
            )
        with self.assertRaisesRegex(keep.Error, "is no block"):
            keep.get("file", "host:0", socket=self.socket)


if __name__ == "__main__":
    unittest.main()
