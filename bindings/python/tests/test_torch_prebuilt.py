# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Which of the subclasses that a wheel carries is taken: one whose record is true.

And over a PyTorch for CUDA, where GPUMEM_TEST_PREBUILT says whether the package
has one for it: that it is used, with no compiler, or nothing of it is.
"""

import json
import os
import tempfile
import types
import unittest
from pathlib import Path

import gpumem._torch_prebuilt as prebuilt
from test_torch_subclass import inside, run_inside

wanted = os.environ.get("GPUMEM_TEST_PREBUILT")


class Found(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = Path(keep.name, "prebuilt")
        self.include = Path(keep.name, "torch/include")
        self.folder.mkdir()
        (self.include / "c10").mkdir(parents=True)
        self.names = ["a.h", "c10/b.h"]
        for name in self.names:
            (self.include / name).write_text(f"of {name}\n")
        self.torch = types.SimpleNamespace(
            __file__=str(self.include.parent / "__init__.py"),
            __version__="2.15.0+cu132",
            version=types.SimpleNamespace(cuda="13.2", git_version="abc"),
            compiled_with_cxx11_abi=lambda: True,
        )
        self.record = {
            **prebuilt.facts("2.15.0", "abc", 1, "13.0"),
            "headers": self.names,
            "digest": prebuilt.digest(self.include, self.names),
        }
        self.write("one", self.record)

    def write(self, name, record):
        text = record if isinstance(record, str) else json.dumps(record)
        (self.folder / f"{name}.json").write_text(text)

    def found(self):
        return prebuilt.find(self.folder, self.torch)

    def test_for_this_pytorch(self):
        self.assertEqual(self.found(), self.folder / "one.so")

    def test_among_others(self):
        self.write("a", {**self.record, "torch": "2.14.0"})
        self.write("b", "no record")
        self.write("c", [])
        self.assertEqual(self.found(), self.folder / "one.so")

    def test_for_another(self):
        for key, value in {
            "torch": "2.15.1",
            "git": "abd",
            "cxx11_abi": 0,
            "cuda": 12,
            "machine": "another",
            "digest": "0" * 64,
            "headers": [],
        }.items():
            self.write("one", {**self.record, key: value})
            self.assertIsNone(self.found(), key)
            rest = {k: v for k, v in self.record.items() if k != key}
            self.write("one", rest)
            self.assertIsNone(self.found(), key)

    def test_another_pytorch(self):
        for key, value in (
            ("__version__", "2.15.1+cu132"),
            ("version", types.SimpleNamespace(cuda="12.8", git_version="abc")),
            ("version", types.SimpleNamespace(cuda="13.0", git_version="b")),
            ("version", types.SimpleNamespace(cuda=None, git_version="abc")),
            ("version", types.SimpleNamespace(cuda="13.0")),
            ("compiled_with_cxx11_abi", lambda: False),
        ):
            before = getattr(self.torch, key)
            setattr(self.torch, key, value)
            self.assertIsNone(self.found(), key)
            setattr(self.torch, key, before)

    def test_other_headers(self):
        path = self.include / "c10/b.h"
        path.write_text("another\n")
        self.assertIsNone(self.found())
        path.unlink()
        self.assertIsNone(self.found())

    def test_a_wheel_without_any(self):
        for path in self.folder.iterdir():
            path.unlink()
        self.assertIsNone(self.found())
        self.folder.rmdir()
        self.assertIsNone(self.found())


@unittest.skipUnless(wanted, "there is no wheel with one")
@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        with tempfile.TemporaryDirectory() as folder:
            run_inside(
                self,
                Path(__file__).stem,
                0,
                GPUMEM_TEST_PREBUILT=wanted,
                GPUMEM_TORCH_CACHE=folder,
                PATH=folder,
            )


@unittest.skipUnless(inside and wanted, "in the inner process")
class Used(unittest.TestCase):
    def test_used(self):
        import gpumem.torch

        if wanted == "no":
            with self.assertRaisesRegex(RuntimeError, "no C\\+\\+ compiler"):
                gpumem.torch.enable(backend="host", subclass=True)
            self.assertNotIn("/prebuilt/", Path("/proc/self/maps").read_text())
            return
        import torch

        gpumem.torch.enable(backend="host", subclass=True)
        self.assertEqual(gpumem.torch.how(), "subclass")
        self.assertIn("/prebuilt/", Path("/proc/self/maps").read_text())
        x = torch.empty(1000, device="cuda")
        self.assertEqual(
            gpumem.torch.pool(0).stats()["blocks"]["current"], 1
        )
        del x


if __name__ == "__main__":
    unittest.main()
