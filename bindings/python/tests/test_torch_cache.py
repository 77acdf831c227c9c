# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The folder of compiled libraries: nobody else may have a say in what is there.

No PyTorch is needed: what would be compiled is a file with one word.
"""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

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


if __name__ == "__main__":
    unittest.main()
