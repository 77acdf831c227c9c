# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""torch_memory_saver's names over gpumem.

What is allocated, paused and resumed: in a real PyTorch without a GPU, as
test_torch_subclass.py, in which it says what that needs. Whether the names are those
of the package: of its wheel in a folder of GPUMEM_PEER_WHEELS, by
`pip download --no-deps torch_memory_saver==0.0.10`; the package never runs.
"""

import ast
import contextlib
import inspect
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import gpumem
from test_torch_sleep import CONF, made, ramp, sleeping
from test_torch_subclass import MIB, empty, inside, run_inside

PACKAGE = Path(gpumem.__file__).parent
STAND_IN = PACKAGE / "stand_in"
own = inside and os.environ.get("GPUMEM_TEST_SAVER")
if own:
    import gpumem.torch
    import torch


def wheel(name):
    """In a folder of GPUMEM_PEER_WHEELS; None: there is none."""
    for folder in filter(None, os.environ.get("GPUMEM_PEER_WHEELS", "").split(":")):
        for path in Path(folder).glob(f"{name}-*.whl"):
            return path
    return None


def parsed(path, inner):
    with zipfile.ZipFile(path) as archive:
        return ast.parse(archive.read(inner))


def methods(tree, name):
    """{name: [(argument, default as text)]} of a class's public ones."""
    (node,) = [
        x for x in tree.body if isinstance(x, ast.ClassDef) and x.name == name
    ]
    return {
        x.name: arguments(x)
        for x in node.body
        if isinstance(x, ast.FunctionDef) and not x.name.startswith("_")
    }


def arguments(function):
    every = [x.arg for x in function.args.args]
    given = [ast.unparse(x) for x in function.args.defaults]
    return list(
        zip(every, [None] * (len(every) - len(given)) + given)
    )


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        run_inside(
            self,
            Path(__file__).stem,
            11,
            GPUMEM_TEST_SAVER="1",
            GPUMEM_CONF=CONF,
        )

    def run_python(self, code, **more):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(STAND_IN), **more},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_the_folder(self):
        done = subprocess.run(
            [sys.executable, "-m", "gpumem.torch_memory_saver"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        self.assertEqual(done.stdout, f"{STAND_IN}\n")
        self.assertEqual(
            [x.name for x in STAND_IN.glob("*.py*")], ["torch_memory_saver.py"]
        )

    def test_stands_in_front_of_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "torch_memory_saver").mkdir()
            Path(folder, "torch_memory_saver/__init__.py").write_text("1 / 0\n")
            said = self.run_python(
                "import torch_memory_saver, sys\n"
                "from torch_memory_saver import torch_memory_saver as one\n"
                "import gpumem.torch_memory_saver as ours\n"
                "assert torch_memory_saver is ours, torch_memory_saver\n"
                "assert one is ours.torch_memory_saver and one.enabled\n"
                "try:\n"
                "    import torch_memory_saver.utils\n"
                "except ModuleNotFoundError:\n"
                "    print('no parts')\n"
                "print('torch' in sys.modules)\n",
                PYTHONPATH=f"{STAND_IN}:{folder}",
            )
        self.assertEqual(said.split("\n"), ["no parts", "False"])

    def test_children(self):
        """They find it without their parent's path, and say what they lack."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "torch.py").write_text(
                "class _C: pass\n__version__ = 'of the test'\n"
            )
            said = self.run_python(
                "import os, subprocess, sys, torch_memory_saver\n"
                "before = dict(os.environ)\n"
                "with torch_memory_saver.configure_subprocess():\n"
                "    inner = dict(os.environ)\n"
                "    subprocess.run([sys.executable, '-c',\n"
                "        'import torch_memory_saver; print(torch_memory_saver)'],\n"
                "        check=True, stderr=subprocess.STDOUT)\n"
                "assert dict(os.environ) == before\n"
                "print(inner['PYTHONPATH'])\n",
                PYTHONPATH=f"{folder}:{STAND_IN}",
            )
        warned, module, path = said.split("\n", 1)[0], *said.split("\n")[-2:]
        self.assertIn("RuntimeWarning: PyTorch of the test was built", warned)
        self.assertIn("gpumem/torch_memory_saver.py", module)
        self.assertEqual(path, f"{STAND_IN}:{folder}:{STAND_IN}")


@unittest.skipIf(inside, "this is the inner process")
class Names(unittest.TestCase):
    def setUp(self):
        self.path = wheel("torch_memory_saver")
        if not self.path:
            self.skipTest("no wheel of torch_memory_saver in GPUMEM_PEER_WHEELS")

    def test_of_the_module(self):
        import gpumem.torch_memory_saver as ours

        tree = parsed(self.path, "torch_memory_saver/__init__.py")
        names = {
            x.asname or x.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for x in node.names
        } | {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
        }
        self.assertIn("torch_memory_saver", names)
        self.assertEqual([x for x in names if not hasattr(ours, x)], [])

    def test_of_the_class(self):
        import gpumem.torch_memory_saver as ours

        tree = parsed(self.path, "torch_memory_saver/entrypoint.py")
        theirs = methods(tree, "TorchMemorySaver")
        self.assertIn("pause", theirs)
        for name, wanted in theirs.items():
            with self.subTest(name=name):
                found = inspect.getattr_static(
                    ours.torch_memory_saver, name
                )
                if not callable(found):
                    continue  # a property, or what stands for one
                taken = inspect.signature(found).parameters
                for argument, default in wanted:
                    self.assertIn(argument, taken)
                    if default and default[0] != "_":
                        self.assertEqual(
                            repr(taken[argument].default),
                            repr(ast.literal_eval(default)),
                        )


def setUpModule():
    if own:
        gpumem.torch.enable(backend="host")


@unittest.skipUnless(own, "in the inner process")
class Saver(unittest.TestCase):
    def setUp(self):
        import gpumem.torch_memory_saver as module

        self.module = module
        self.saver = module.TorchMemorySaver()

    def tearDown(self):
        gpumem.torch.wake()
        gpumem.torch.pool().check()

    def test_a_backup_is_what_keeps_the_content(self):
        with self.saver.region("weights", enable_cpu_backup=True):
            weights = made(1)
        with self.saver.region(tag="kv_cache"):
            cache = made(2, 8 * MIB)
        rest = made(3)
        where = weights.data_ptr(), cache.data_ptr()
        before = gpumem.torch.pool().stats()["reserved"]["current"]
        self.saver.pause("kv_cache")
        self.assertEqual(sleeping(), 8 * MIB)
        self.assertTrue(torch.equal(weights.cpu(), ramp(1)))
        self.saver.pause("weights")
        self.assertEqual(sleeping(), 12 * MIB)
        self.assertLessEqual(
            gpumem.torch.pool().stats()["reserved"]["current"],
            before - 12 * MIB,
        )
        self.assertTrue(torch.equal(rest.cpu(), ramp(3)))
        self.saver.resume("weights")
        self.assertEqual(sleeping(), 8 * MIB)
        self.assertTrue(torch.equal(weights.cpu(), ramp(1)))
        self.saver.resume("kv_cache")
        self.assertEqual(sleeping(), 0)
        self.assertEqual((weights.data_ptr(), cache.data_ptr()), where)

    def test_without_a_tag_all_regions(self):
        with self.saver.region(enable_cpu_backup=True):
            one = made(1)
        with self.saver.region("other/with a/slash"):
            two = made(2)
        with self.saver.region("other"):
            three = made(3)
        rest = made(4)
        self.saver.pause("other")
        self.assertEqual(sleeping(), 4 * MIB)
        self.saver.pause()
        self.saver.pause()  # once more
        self.assertEqual(sleeping(), 12 * MIB)
        self.assertTrue(torch.equal(rest.cpu(), ramp(4)))
        self.saver.resume("default")
        self.assertTrue(torch.equal(one.cpu(), ramp(1)))
        self.saver.resume()
        self.saver.resume()
        self.assertEqual(sleeping(), 0)
        del two, three

    def test_one_tag_with_and_without_a_backup(self):
        with self.saver.region("both", enable_cpu_backup=True):
            kept = made(1)
        with self.saver.region("both"):
            dropped = made(2)
        self.saver.pause("both")
        self.assertEqual(sleeping(), 8 * MIB)
        self.saver.resume("both")
        self.assertTrue(torch.equal(kept.cpu(), ramp(1)))
        del dropped

    def test_regions_inside_each_other(self):
        with gpumem.tag("mine"):
            with self.saver.region("outer", enable_cpu_backup=True):
                outer = made(1)
                with self.saver.region("inner"):
                    inner = made(2)
                    with self.saver.disable():
                        apart = made(3)
                    again = made(4)
                more = made(5)
            rest = made(6)
        with self.saver.disable():
            free = made(7)
        self.saver.pause("inner")
        self.assertEqual(sleeping(), 8 * MIB)
        self.saver.pause("outer")
        self.assertEqual(sleeping(), 16 * MIB)
        for first, tensor in (3, apart), (6, rest), (7, free):
            self.assertTrue(torch.equal(tensor.cpu(), ramp(first)))
        self.assertEqual(
            {
                x["path"]: x["bytes"]["current"]
                for x in gpumem.torch.pool().tags()
            }["mine"],
            8 * MIB,
        )
        self.saver.resume()
        for first, tensor in (1, outer), (5, more):
            self.assertTrue(torch.equal(tensor.cpu(), ramp(first)))
        del inner, again

    def test_a_region_that_is_left_by_an_exception(self):
        with self.assertRaises(ZeroDivisionError):
            with self.saver.region("failed"):
                1 // 0
        with self.saver.disable():
            rest = made(1)
        self.saver.pause()
        self.assertEqual(sleeping(), 0)
        del rest

    def test_is_the_threads(self):
        tensors = []
        with self.saver.region("mine"):
            thread = threading.Thread(
                target=lambda: tensors.append(empty(4 * MIB))
            )
            thread.start()
            thread.join()
        self.saver.pause()
        self.assertEqual(sleeping(), 0)

    def test_each_device(self):
        with self.saver.region("wide", enable_cpu_backup=True):
            here, there = made(1), made(2, device=1)
        self.saver.pause("wide")
        self.assertEqual((sleeping(0), sleeping(1)), (4 * MIB, 4 * MIB))
        self.saver.resume("wide")
        self.assertTrue(torch.equal(there.cpu(), ramp(2)))
        del here

    def test_a_graph(self):
        """torch.cuda.graph() itself needs a device; a stand-in gets its words."""
        seen = []

        @contextlib.contextmanager
        def graph(*args, **named):
            seen.append((args, named))
            yield

        with mock.patch.object(torch.cuda, "graph", graph):
            with self.saver.cuda_graph(
                "graph", pool=(1, 2), tag="cuda_graph", enable_cpu_backup=True
            ):
                inside = made(1)
        named = {"pool": (1, 2), "stream": None, "capture_error_mode": "global"}
        self.assertEqual(seen, [(("graph",), named)])
        self.saver.pause("cuda_graph")
        self.assertEqual(sleeping(), 4 * MIB)
        self.saver.resume("cuda_graph")
        self.assertTrue(torch.equal(inside.cpu(), ramp(1)))

    def test_where_a_backup_is(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "folder"):
                with self.saver.region(enable_disk_backup=True):
                    pass
            self.saver.set_disk_backup_dir(folder + "/new")
            how = {
                "pinned": {"enable_cpu_backup": True},
                "mmap": {
                    "enable_cpu_backup": True,
                    "cpu_backup_backend": "mmap",
                },
                "disk": {"enable_disk_backup": True},
            }
            tensors = {}
            for first, (tag, given) in enumerate(how.items()):
                with self.saver.region(tag, **given):
                    tensors[tag] = made(first)
            for tag in how:
                self.saver.pause(tag)
                self.assertEqual(sleeping(), 4 * MIB, tag)
                self.saver.resume(tag)
            self.saver.pause()
            self.assertEqual(sleeping(), 12 * MIB)
            self.assertEqual(os.listdir(folder + "/new"), [])
            self.saver.resume()
            for first, tensor in enumerate(tensors.values()):
                self.assertTrue(torch.equal(tensor.cpu(), ramp(first)))

    def test_a_backup_that_is_retained(self):
        self.assertIs(self.saver.retain_cpu_backup, False)
        with self.saver.region("r", enable_cpu_backup=True):
            kept = made(1)
        self.saver.retain_cpu_backup = True
        self.saver.pause("r")
        self.saver.resume("r")
        self.assertGreaterEqual(
            gpumem.torch.wake().host_bytes, 4 * MIB
        )
        self.saver.retain_cpu_backup = False
        self.saver.pause("r")
        self.saver.resume("r")
        self.assertTrue(torch.equal(kept.cpu(), ramp(1)))

    def test_a_resume_without_room(self):
        with self.saver.region("large", enable_cpu_backup=True):
            kept = made(1, 8 * MIB)
        self.saver.pause("large")
        other = made(2, 8 * MIB)
        pool = gpumem.torch.pool()
        torch.cuda.empty_cache()
        pool.limit_bytes = pool.stats()["reserved"]["current"]
        self.addCleanup(pool.set_limit)
        with self.assertRaisesRegex(gpumem.OutOfMemoryError, "out of memory"):
            self.saver.resume("large")
        self.assertEqual(sleeping(), 8 * MIB)
        del other
        self.saver.resume("large")
        self.assertTrue(torch.equal(kept.cpu(), ramp(1, 8 * MIB)))

    def test_what_is_refused(self):
        for wrong in (
            {"cpu_backup_backend": "mmap"},
            {"enable_cpu_backup": True, "cpu_backup_backend": "tape"},
            {"enable_cpu_backup": True, "enable_disk_backup": True},
        ):
            with self.assertRaises(ValueError):
                with self.saver.region(**wrong):
                    self.fail("it was entered")
        self.saver.hook_mode = "torch"
        self.assertEqual(self.saver.hook_mode, "torch")
        with self.assertRaises(ValueError):
            self.saver.hook_mode = "other"
        self.saver.memory_margin_bytes = 0
        with self.assertRaises(NotImplementedError):
            self.saver.memory_margin_bytes = 1 << 30
        with self.assertRaises(NotImplementedError):
            self.saver.get_cpu_backup(empty(4))


if __name__ == "__main__":
    unittest.main()
