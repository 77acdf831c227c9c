# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""vLLM's sleep mode over gpumem: pools, the backend, and how vLLM finds it.

In a real PyTorch without a GPU, as test_torch_subclass.py, in which it says what that
needs. vLLM itself never runs: of its wheel, in a folder of GPUMEM_PEER_WHEELS by
`pip download --no-deps vllm==0.33.0`, the modules of sleep mode are imported, over
stand-ins for all that they import; of its worker only the text is read.
"""

import ast
import importlib
import importlib.metadata
import logging
import os
import sys
import types
import unittest
from pathlib import Path

import gpumem
import gpumem.vllm
from test_torch_memory_saver import parsed, wheel
from test_torch_sleep import CONF, made, ramp, sleeping
from test_torch_subclass import MIB, inside, run_inside

own = inside and os.environ.get("GPUMEM_TEST_VLLM")
if own:
    import gpumem.torch
    import torch


@unittest.skipIf(inside, "this is the inner process")
class Outer(unittest.TestCase):
    def test_in_pytorch(self):
        least = 11 if wheel("vllm") else 4
        run_inside(
            self,
            Path(__file__).stem,
            least,
            GPUMEM_TEST_VLLM="1",
            GPUMEM_CONF=CONF,
        )

    def test_is_found_by_its_entry_point(self):
        found = importlib.metadata.distribution("gpumem-pool").entry_points
        (point,) = [x for x in found if x.group == "vllm.general_plugins"]
        self.assertEqual(point.name, "gpumem")
        self.assertIs(point.load(), gpumem.vllm.register)

    def test_without_vllm(self):
        """Or with one that has no backends: no vLLM is to fail by this."""
        self.assertNotIn("vllm", sys.modules)
        gpumem.vllm.register()
        sys.modules["vllm"] = types.ModuleType("vllm")
        try:
            gpumem.vllm.register()
        finally:
            del sys.modules["vllm"]


@unittest.skipIf(inside, "this is the inner process")
class Text(unittest.TestCase):
    """What the worker of the wheel says."""

    def setUp(self):
        path = wheel("vllm")
        if not path:
            self.skipTest("no wheel of vllm in GPUMEM_PEER_WHEELS")
        tree = parsed(path, "vllm/v1/worker/gpu_worker.py")
        (worker,) = [
            x
            for x in tree.body
            if isinstance(x, ast.ClassDef) and x.name == "Worker"
        ]
        self.text = {
            x.name: ast.unparse(x)
            for x in worker.body
            if isinstance(x, ast.FunctionDef)
        }

    def test_uses_its_gpu_in_a_function_that_is_ours(self):
        self.assertRegex(
            self.text["init_device"], r"torch\.accelerator\.set_device_index"
        )
        self.assertNotRegex(self.text["__init__"], r"\.(cuda\(|to\(|empty\()")

    def test_asks_the_backend_for_sleep_and_the_allocator_for_memory(self):
        self.assertIn("self.sleep_mode_backend.suspend(", self.text["sleep"])
        self.assertIn("self.sleep_mode_backend.resume(", self.text["wake_up"])
        self.assertIn("self.sleep_mode_backend.discard(", self.text["discard"])
        memory = self.text["_maybe_get_memory_pool_context"]
        self.assertIn("allocator = get_mem_allocator_instance()", memory)
        self.assertIn("allocator.use_memory_pool(tag=tag)", memory)
        self.assertNotIn("sleep_mode_backend", memory)


# ---- in PyTorch ---------------------------------------------------------------


def setUpModule():
    if own:
        gpumem.torch.enable(backend="host")


class Pools(unittest.TestCase):
    def tearDown(self):
        if own:
            gpumem.torch.wake()
            gpumem.torch.pool().check()


@unittest.skipUnless(own, "in the inner process")
class Memory(Pools):
    def setUp(self):
        self.allocator = gpumem.vllm.Allocator()

    def filled(self):
        tensors = {}
        for first, tag in enumerate(("weights", "kv_cache", "runtime", None)):
            with self.allocator.use_memory_pool(tag):
                tensors[tag] = made(first)
        tensors["none"] = made(4)
        return tensors

    def same(self, tensors, *tags):
        for first, (tag, tensor) in enumerate(tensors.items()):
            if tag in tags:
                self.assertTrue(torch.equal(tensor.cpu(), ramp(first)), tag)

    def test_what_is_offloaded_keeps_its_content(self):
        tensors = self.filled()
        self.assertEqual(self.allocator.get_current_usage(), 16 * MIB)
        self.allocator.sleep(offload_tags=("weights", "runtime"))
        self.assertEqual(sleeping(), 16 * MIB)
        self.same(tensors, "none")
        self.allocator.wake_up()
        self.assertEqual(sleeping(), 0)
        self.same(tensors, "weights", "runtime", "none")
        stats = gpumem.torch.pool().stats()["sleeping"]
        for given, kept in (None, 4), ("weights", 4), ((), 0):
            self.allocator.sleep(given)
            self.assertEqual(sleeping(), 16 * MIB)
            woken = gpumem.torch.wake()
            self.assertEqual(woken.kept_bytes, kept * MIB)
        self.assertGreater(stats["peak"], 0)

    def test_a_wake_of_some_wakes_what_cannot_be_deferred(self):
        tensors = self.filled()
        self.allocator.fall_asleep(["kv_cache"])
        self.allocator.wake_up(["weights"])
        self.assertEqual(sleeping(), 4 * MIB)
        self.same(tensors, "weights", "runtime", None, "none")
        self.allocator.wake_up(["kv_cache"])
        self.assertEqual(sleeping(), 0)

    def test_discards_some(self):
        tensors = self.filled()
        self.allocator.discard("kv_cache")
        self.assertEqual(sleeping(), 4 * MIB)
        self.same(tensors, "weights", "runtime", None, "none")
        self.allocator.discard(("kv_cache", "runtime"))
        self.assertEqual(sleeping(), 8 * MIB)
        self.allocator.wake_up()
        self.same(tensors, "weights", None, "none")
        self.allocator.fall_asleep([])  # no word of before stays
        self.assertEqual(gpumem.torch.wake().kept_bytes, 16 * MIB)

    def test_a_pool_is_left_by_an_exception(self):
        with self.assertRaises(ZeroDivisionError):
            with self.allocator.use_memory_pool("weights"):
                1 // 0
        before = self.allocator.get_current_usage()
        rest = made(1)
        self.assertEqual(self.allocator.get_current_usage(), before)
        self.allocator.release_pools()
        del rest


def stand_ins(path):
    """The modules of sleep mode are those of the wheel, what they import is not."""

    def module(name, **has):
        sys.modules[name] = made = types.ModuleType(name)
        made.__dict__.update(has)
        return made

    never = lambda: False  # noqa: E731
    platform = types.SimpleNamespace(
        is_cuda_alike=lambda: True, is_xpu=never, is_rocm=never
    )
    module("vllm", __path__=[f"{path}/vllm"])
    module("vllm.envs", VLLM_SLEEP_MODE_RELEASE_HOST_MEMORY=False)
    module("vllm.logger", init_logger=logging.getLogger)
    module("vllm.platforms", current_platform=platform)
    module("vllm.utils", __path__=[])
    module("vllm.utils.mem_constants", GiB_bytes=1 << 30)
    module("vllm.utils.system_utils", find_loaded_library=None)
    module("vllm.utils.torch_utils", PIN_MEMORY=False)
    module("vllm.v1", __path__=[])
    module("vllm.v1.worker", __path__=[])
    module("vllm.v1.worker.gpu_worker", Worker=StandInWorker)


class StandInWorker:
    """As much of vLLM's as Text reads there."""

    def __init__(self, backend):
        self.model_config = types.SimpleNamespace(sleep_mode_backend=backend)
        self.begun = False

    def init_device(self):
        self.begun = True

    def memory(self, tag):
        here = importlib.import_module("vllm.device_allocator")
        return here.get_mem_allocator_instance().use_memory_pool(tag=tag)

    def backend(self):
        here = importlib.import_module("vllm.device_allocator.sleep_mode_backend")
        return here.SleepModeBackendFactory.create_backend(self.model_config)


@unittest.skipUnless(own, "in the inner process")
class Wheel(Pools):
    @classmethod
    def setUpClass(cls):
        path = wheel("vllm")
        if not path:
            raise unittest.SkipTest("no wheel of vllm in GPUMEM_PEER_WHEELS")
        stand_ins(path)
        cls.cumem = importlib.import_module("vllm.device_allocator.cumem")
        cls.cumem.cumem_available = True  # its library is in the wheel
        cls.theirs = importlib.import_module(
            "vllm.device_allocator.sleep_mode_backend"
        )
        gpumem.vllm.register()
        gpumem.vllm.register()
        cls.ours = importlib.import_module("gpumem.vllm_worker")
        # There is no CUDA here.
        cls.ours.devices = lambda backend: gpumem.devices("host")

    def setUp(self):
        self.cumem.CuMemAllocator.instance = None
        self.worker = self.ours.Worker("gpumem")

    def test_is_whole(self):
        """Nothing abstract is left, and every function has the same arguments."""
        self.worker.init_device()
        self.assertTrue(self.worker.begun)
        backend = self.worker.backend()
        self.assertIs(type(backend), self.ours.SleepBackend)
        self.assertIsInstance(backend, self.theirs.SleepModeBackend)
        self.assertEqual(backend.state(), "RUNNING")
        code = {
            name: (of.__code__.co_varnames[: of.__code__.co_argcount])
            for name, of in vars(self.theirs.SleepModeBackend).items()
            if isinstance(of, types.FunctionType)
        }
        for name, names in code.items():
            found = getattr(type(backend), name).__code__
            self.assertEqual(found.co_varnames[: found.co_argcount], names)

    def test_what_it_says_of_itself(self):
        backend = self.theirs.SleepModeBackendFactory.get_backend_class("gpumem")
        self.assertTrue(backend.is_supported())
        self.assertTrue(backend.preserves_communicators())
        self.assertTrue(backend.preserves_compiled_artifacts())
        self.assertFalse(backend.preserves_graphs_with_communicators())
        self.assertFalse(backend.supports_durable_storage())

    def tensors(self, *tags):
        tags = tags or ("weights", "kv_cache", "runtime")
        self.worker.init_device()
        made_of = {}
        for first, tag in enumerate(tags):
            with self.worker.memory(tag):
                made_of[tag] = made(first)
        return made_of

    def test_levels(self):
        made_of = self.tensors()
        backend = self.worker.backend()
        for level, kept in (1, 8), (2, 4):
            backend.suspend(level)
            self.assertEqual(backend.state(), "SUSPENDED")
            self.assertEqual(sleeping(), 12 * MIB)
            self.assertEqual(gpumem.torch.wake().kept_bytes, kept * MIB)
        runtime = made_of["runtime"].cpu()
        self.assertTrue(torch.equal(runtime, ramp(2)))

    def test_scratch_memory_is_not_copied(self):
        made_of = self.tensors("weights", "kv_cache", "workspace")
        self.worker.backend().suspend(1)
        self.assertEqual(sleeping(), 12 * MIB)
        self.assertEqual(gpumem.torch.wake().kept_bytes, 4 * MIB)
        self.assertTrue(torch.equal(made_of["weights"].cpu(), ramp(0)))

    def test_pinned_memory_stays_for_the_next_sleep(self):
        made_of = self.tensors()
        backend = self.worker.backend()
        for _ in range(2):
            backend.suspend()
            backend.resume()
            held = gpumem.torch.pool().stats()["sleep_host_bytes"]
            self.assertGreaterEqual(held, 8 * MIB)
        self.assertTrue(torch.equal(made_of["weights"].cpu(), ramp(0)))

    def test_resumes_in_parts(self):
        made_of = self.tensors()
        backend = self.worker.backend()
        backend.suspend()
        backend.resume(["weights"])
        self.assertEqual(sleeping(), 4 * MIB)
        self.assertTrue(torch.equal(made_of["weights"].cpu(), ramp(0)))
        self.assertTrue(torch.equal(made_of["runtime"].cpu(), ramp(2)))
        backend.resume(tags=None)
        self.assertEqual(backend.state(), "RUNNING")
        self.assertEqual(sleeping(), 0)

    def test_discards(self):
        made_of = self.tensors()
        backend = self.worker.backend()
        backend.discard(("kv_cache",))
        self.assertEqual(backend.state(), "SUSPENDED")
        self.assertEqual(sleeping(), 4 * MIB)
        backend.resume(["kv_cache"])
        self.assertEqual(sleeping(), 0)
        self.assertTrue(torch.equal(made_of["weights"].cpu(), ramp(0)))

    def test_a_resume_without_room(self):
        made_of = self.tensors()
        backend = self.worker.backend()
        backend.suspend(1)
        pool = gpumem.torch.pool()
        other = made(5, 8 * MIB)
        torch.cuda.empty_cache()
        pool.limit_bytes = pool.stats()["reserved"]["current"]
        self.addCleanup(pool.set_limit)
        with self.assertRaisesRegex(gpumem.OutOfMemoryError, "out of memory"):
            backend.resume()
        self.assertEqual(backend.state(), "SUSPENDED")
        del other
        pool.limit_bytes = 0
        backend.resume()
        self.assertEqual(backend.state(), "RUNNING")
        self.assertTrue(torch.equal(made_of["weights"].cpu(), ramp(0)))

    def test_vllms_own_backend_over_it(self):
        """The allocator answers as theirs does, whoever asks."""
        made_of = self.tensors()
        self.worker.model_config.sleep_mode_backend = "cumem"
        backend = self.worker.backend()
        backend.suspend(level=1)
        self.assertEqual(sleeping(), 12 * MIB)
        backend.resume(None)
        self.assertEqual(sleeping(), 0)
        self.assertTrue(torch.equal(made_of["weights"].cpu(), ramp(0)))
        self.assertEqual(
            [
                x
                for x in dir(self.cumem.CuMemAllocator)
                if not x.startswith("_")
                and callable(getattr(self.cumem.CuMemAllocator, x))
                and not hasattr(gpumem.vllm.Allocator, x)
            ],
            self.only_theirs(),
        )

    def only_theirs(self):
        """close() is another word for release_pools(), cudagraph_pool() is asked for
        with the backend "cumem" alone."""
        return ["close", "cudagraph_pool", "get_instance"]

    def test_without_its_worker(self):
        with self.assertRaisesRegex(RuntimeError, "--worker-cls"):
            self.worker.backend()


if __name__ == "__main__":
    unittest.main()
