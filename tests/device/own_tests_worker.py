#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The process of own_tests.py that runs tests, by pytest; started by it only.

    python3 own_tests_worker.py SUITE ALLOCATOR FOLDER <names >answers

Names are a list in JSON, or null: then the tests are found, not run. An answer is
a line of JSON:

    ["broken", file, text]      it cannot be loaded
    ["found", names, slow]      and of each whether CuPy calls it slow
    ["begins", name]
    ["ended", name, outcome, text, blocks that gpumem gave meanwhile]
"""

import importlib.util
import json
import os
import sys

NATIVE = "native"
CUPY = (
    "cuda_tests/test_memory.py cuda_tests/test_memory_hook.py "
    "cuda_tests/memory_hooks_tests cuda_tests/test_pinned_memory.py "
    "cuda_tests/test_stream.py cuda_tests/test_graph.py "
    "core_tests/test_dlpack.py core_tests/test_multithreading.py "
    "core_tests/test_ndarray.py creation_tests/test_basic.py"
).split()
NUMBA = (
    "cudadrv.test_array_attr cudadrv.test_context_stack "
    "cudadrv.test_cuda_array_slicing cudadrv.test_cuda_auto_context "
    "cudadrv.test_cuda_devicerecord cudadrv.test_cuda_driver "
    "cudadrv.test_cuda_memory cudadrv.test_cuda_ndarray "
    "cudadrv.test_deallocations cudadrv.test_emm_plugins cudadrv.test_events "
    "cudadrv.test_host_alloc cudadrv.test_managed_alloc cudadrv.test_pinned "
    "cudadrv.test_reset_device cudadrv.test_select_device cudadrv.test_streams "
    "cudapy.test_array cudapy.test_cuda_array_interface cudapy.test_ipc "
    "cudapy.test_multithreads cudapy.test_transpose nrt.test_nrt"
).split()


def use(suite, allocator):
    """Before the tests are imported; the pools that they use then."""
    if allocator == NATIVE:
        return {}
    if suite == "numba":
        import gpumem.numba

        return gpumem.numba._pools
    import cupy
    import gpumem.cupy

    gpumem.cupy.enable()
    if allocator == "pools":
        cupy.cuda.memory.MemoryPool = gpumem.cupy.MemoryPool
        cupy.cuda.MemoryPool = gpumem.cupy.MemoryPool
    return gpumem.cupy._pools


def plugin(answers, wanted, pools):
    import pytest

    class Plugin:
        """Tells what begins and how it ended, a line of JSON each."""

        def answer(self, *value):
            answers.write(json.dumps(value) + "\n")
            answers.flush()

        @pytest.fixture
        def initialize_from_pytest_config(self, request):
            # Numba's tests ask for it; it is in no package.
            request.cls._dump_failed_filechecks = False

        def pytest_collectreport(self, report):
            if report.failed:
                self.answer("broken", report.nodeid, str(report.longrepr))

        def pytest_collection_finish(self, session):
            slow = [x.get_closest_marker("slow") is not None for x in session.items]
            ids = [x.nodeid for x in session.items]
            self.answer("found", ids, slow)

        def pytest_collection_modifyitems(self, items):
            if wanted is not None:
                items[:] = [x for x in items if x.nodeid in wanted]

        def pytest_runtest_logstart(self, nodeid):
            self.blocks, self.worst, self.text = given(pools), "passed", ""
            self.answer("begins", nodeid)

        def pytest_runtest_logreport(self, report):
            if report.failed or (report.skipped and self.worst == "passed"):
                self.worst = report.outcome
                what = report.longrepr
                self.text = what[2] if isinstance(what, tuple) else str(what)

        def pytest_runtest_logfinish(self, nodeid):
            more = max(0, given(pools) - self.blocks)
            self.answer("ended", nodeid, self.worst, self.text, more)

    return Plugin()


def given(pools):
    """How many blocks the pools have given."""
    stats = [pool.stats() for pool in list(pools.values())]
    return sum(x["hits"] + x["misses"] for x in stats)


def worker(suite, allocator, folder):
    """What tests, and pytest, print goes to the standard error."""
    wanted = json.loads(sys.stdin.read())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    pools = use(suite, allocator)
    import pytest

    if suite == "cupy":
        os.chdir(folder)
        what = [f"tests/cupy_tests/{x}" for x in CUPY]
        what = [x for x in what if os.path.exists(x)]  # in this version
        what = sorted({x.split("::")[0] for x in wanted}) if wanted else what
    else:
        # As Numba's own pytest.ini, which is in no package.
        what = ["-c", os.devnull, "--rootdir", "/", "--pyargs"]
        what += ["-o", "consider_namespace_packages=true"]
        there = [f"numba.cuda.tests.{x}" for x in NUMBA]
        what += [x for x in there if importlib.util.find_spec(x)]
    more = ["-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    more += ["--continue-on-collection-errors"]
    more += ["--collect-only"] if wanted is None else []
    names = None if wanted is None else set(wanted)
    pytest.main(more + what, plugins=[plugin(answers, names, pools)])


if __name__ == "__main__":
    worker(*sys.argv[1:])
