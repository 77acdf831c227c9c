# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The folder of compiled libraries: nobody else may have a say in what is there, and
what cannot be compiled is not tried at each start.

No PyTorch is needed: what would be compiled is a file with one word, and the
compiler is a shell that is called for each file.
"""

import concurrent.futures
import os
import re
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

from gpumem import _torch_compile as compiling
from gpumem import _torch_subclass as subclass


def _write(torch, made):
    made.write_text("compiled")


class Cache(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name, "cache")
        for patch in (
            mock.patch.dict(os.environ, GPUMEM_TORCH_CACHE=str(self.folder)),
            mock.patch.object(subclass, "_key", lambda torch: "key"),
            mock.patch.object(subclass, "_compile", _write),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def refused(self, why):
        with self.assertRaisesRegex(subclass.Unavailable, why):
            subclass.library(None)
        self.assertFalse((self.folder / "torch-key.so").exists())

    def test_it_is_made_for_its_owner_alone(self):
        made = subclass.library(None)
        self.assertEqual(made.read_text(), "compiled")
        self.assertEqual(self.folder.stat().st_mode & 0o777, 0o700)

    def test_others_may_write_there(self):
        for mode in (0o770, 0o1777):
            self.folder.mkdir(exist_ok=True)
            self.folder.chmod(mode)
            self.refused("others may write there")

    @unittest.skipIf(os.geteuid(), "only root can make folders of others")
    def test_it_belongs_to_another_user(self):
        self.folder.mkdir(mode=0o755)
        os.chown(self.folder, 12345, 12345)
        self.refused("it belongs to another user")

    def test_the_lock_is_a_link(self):
        victim = self.folder.parent / "victim"
        victim.write_text("victim")
        self.folder.mkdir(mode=0o700)
        (self.folder / "lock").symlink_to(victim)
        self.refused("symbolic link")
        self.assertEqual(victim.read_text(), "victim")


class Compiler(unittest.TestCase):
    """What it says, and whether that is kept."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name, "cache")
        self.headers = self.folder.parent / "include"
        self.works()
        for patch in (
            mock.patch.dict(os.environ, GPUMEM_TORCH_CACHE=str(self.folder)),
            mock.patch.object(subclass, "_key", lambda torch: self.key),
            mock.patch.object(subclass, "command", self.command),
            mock.patch.object(subclass, "libraries", lambda torch: ["-lx"]),
            mock.patch.object(subclass, "_include", lambda torch: self.headers),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        self.key, self.count = "first", 0

    def says(self, script):
        self.script = script

    def works(self, before=""):
        """It makes what is behind -o."""
        self.says(
            f'{before}\nwhile [ "$1" != -o ]; do shift; done; echo compiled >"$2"'
        )

    def command(self, torch):
        self.count += 1
        return ["sh", "-c", self.script, "compiler"]

    def refused(self, why):
        with self.assertRaisesRegex(subclass.Unavailable, why):
            subclass.library(None)

    def files(self):
        return sorted(x.name for x in self.folder.iterdir())

    def test_a_failure_is_remembered(self):
        self.says("echo 'a.h:1:2: error: no member'; exit 1")
        self.refused("^the compiler says: a.h:1:2: error: no member$")
        self.works()
        for _ in range(2):
            self.refused(r"no member \(as before; to try again, remove .*first.failed\)$")
        self.assertEqual(self.count, 1)
        self.assertEqual(self.files(), ["lock", "torch-first.failed"])
        self.key = "second"  # another PyTorch, compiler or gpumem
        self.assertEqual(subclass.library(None).read_text(), "compiled\n")
        self.key = "first"
        (self.folder / "torch-first.failed").unlink()
        self.assertEqual(subclass.library(None).read_text(), "compiled\n")

    def test_what_may_pass_is_not(self):
        for said in (
            "c++: fatal error: Killed signal terminated program cc1plus",
            "a.cpp:1:2: fatal error: x.h: No such file or directory",
            "a.cpp:9:1: fatal error: error writing to /tmp/x.s: No space left",
        ):
            self.says(f"echo '{said}'; exit 1")
            self.refused(re.escape(f"the compiler says: {said}"))
            self.assertEqual(self.files(), ["lock"])
        self.says("kill -9 $$")
        self.refused("no message")
        self.works()
        subclass.library(None)

    def test_nothing_is_left_of_one_that_was_killed(self):
        subclass._private(self.folder)
        (self.folder / "tmpabc.part").mkdir()
        (self.folder / "tmpabc.part/a.o").write_text("half")
        (self.folder / "other").write_text("a user's")
        subclass.library(None)
        self.assertEqual(self.files(), ["lock", "other", "torch-first.so"])

    def test_it_is_announced(self):
        with self.assertLogs("gpumem.torch", "INFO") as logs:
            subclass.library(None)
        self.assertEqual([x.levelname for x in logs.records], ["INFO"])
        self.key = "second"
        self.works('case "$*" in *-shared*) read -r line <$FIFO ;; esac')
        fifo = str(self.folder / "fifo")
        os.mkfifo(fifo)

        def goes_on(*words):
            with open(fifo, "w") as file:
                file.write("go\n")

        with mock.patch.dict(os.environ, FIFO=fifo), mock.patch.object(
            subclass, "LONG", 0.01
        ), mock.patch.object(subclass.logger, "warning", goes_on):
            self.assertTrue(subclass.library(None).is_file())

    def test_how_it_is_called(self):
        """The header first, by itself; then all files; then one library."""
        log = self.folder.parent / "log"
        self.works(f'echo "$@" >>"{log}"')
        subclass.library(None)
        lines = log.read_text().splitlines()
        sources = {x.name for x in subclass.SOURCES.glob("*.cpp")}
        self.assertRegex(lines[0], r"-x c\+\+-header -c .+/allocator.hpp -o .+.gch$")
        for line in lines[1:-1]:
            self.assertRegex(line, r"-include .+/allocator.hpp -c .+.cpp -o ")
            sources.remove(re.search(r"/(\w+\.cpp) -o", line).group(1))
        self.assertEqual(sources, set())
        self.assertRegex(lines[-1], r"-shared .* -lx$")

    def test_nothing_begins_after_a_failure(self):
        log = self.folder.parent / "log"
        self.works(f'echo >>"{log}"; case "$*" in *-include*) exit 1 ;; esac')
        self.refused("no message")
        self.assertLessEqual(len(log.read_text()), 1 + compiling.MOST)

    def test_an_undefined_name_is_named(self):
        self.says("echo 'a.o: undefined reference to b'; echo 'ld: error'; exit 1")
        self.refused("undefined reference to b")

    def test_an_interruption_ends_the_compilers(self):
        fifo = str(self.folder.parent / "fifo")
        os.mkfifo(fifo)
        self.works(f'case "$*" in *-include*) exec cat "{fifo}" ;; esac')

        def interrupt(begun):
            with open(fifo, "w"):  # one of them is there
                raise KeyboardInterrupt

        with mock.patch.object(
            concurrent.futures, "as_completed", interrupt
        ), self.assertRaises(KeyboardInterrupt):
            subclass.library(None)
        self.assertEqual(self.files(), ["lock"])

    def base(self, more=""):
        path = self.headers / "c10/cuda/CUDACachingAllocator.h"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "class CUDAAllocator;\n"
            "struct Other { virtual int f() = 0; };\n"
            "class C10_CUDA_API CUDAAllocator : public DeviceAllocator {\n"
            " public:\n"
            "  virtual void setNoSplit(int device, id pool = {0, 0}) {\n"
            "    check(false); // virtual int g()\n"
            "  }\n"
            f"  {more}\n"
            "  virtual bool isEnabled() const = 0;\n"
            "};\n"
            "struct Later { virtual int h() = 0; };\n"
        )

    def test_what_is_unknown_is_said(self):
        self.base()
        with self.assertLogs("gpumem.torch", "INFO") as logs:
            subclass.library(None)
        self.assertEqual(len(logs.records), 1)
        self.base("virtual map<int, int> f(map<int, g<int, 2>> a, int b = 1) {}")
        self.key = "second"
        with self.assertLogs("gpumem.torch", "WARNING") as logs:
            subclass.library(types.SimpleNamespace(__version__="9.9"))
        (said,) = logs.output
        self.assertIn("PyTorch 9.9", said)
        self.assertTrue(said.endswith(": CUDAAllocator::f 2"), said)

    def test_another_compiler_of_the_same_name(self):
        path = self.folder.parent / "c++"
        path.write_text("one")
        before = subclass._state_of(str(path))
        path.write_text("another")
        self.assertNotEqual(subclass._state_of(str(path)), before)


if __name__ == "__main__":
    unittest.main()
