# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""pytest's plugin for pyopencl_own.sh: the results, and arrays in pools.

Writes to the file that OWN_RESULTS names a line for each test, its outcome and
its name. With OWN_ALLOCATOR=gpumem every array that is given neither memory nor an
allocator gets gpumem's, for its queue, or if it has none for a queue that is made
for its context. Then the last lines say how many arrays were given no memory, how many
blocks the pools gave, how many of these outlived their test, and how many pools
were not as they should be.
"""

import gc
import os

import pyopencl as cl
import pyopencl.array
import pyopencl.tools
import pytest

results = open(os.environ["OWN_RESULTS"], "w")
allocators = {}  # of the test that runs, by queue or context
counts = {"arrays": 0, "blocks": 0, "left": 0, "wrong": 0}


def allocator(of):
    from gpumem.pyopencl import Allocator

    if of not in allocators:
        is_queue = isinstance(of, cl.CommandQueue)
        allocators[of] = Allocator(of if is_queue else cl.CommandQueue(of))
    return allocators[of]


def with_ours(theirs):
    """The constructor of arrays, with another default."""

    def init(
        self, cq, shape, dtype, order="C", allocator_=None, data=None, *more, **named
    ):
        allocator_ = named.pop("allocator", allocator_)
        if allocator_ is None and data is None:
            allocator_ = allocator(cq or named.get("_queue") or named.get("_context"))
        theirs(self, cq, shape, dtype, order, allocator_, data, *more, **named)
        counts["arrays"] += data is None and self.nbytes > 0

    return init


if os.environ.get("OWN_ALLOCATOR") == "gpumem":
    pyopencl.array.Array.__init__ = with_ours(pyopencl.array.Array.__init__)


@pytest.fixture(autouse=True)
def pools():
    """Those of a test end with it."""
    yield
    # Some implementations let a kernel hold what it was given last.
    pyopencl.tools.clear_first_arg_caches()
    gc.collect()
    for each in allocators.values():
        stats = each.pool.stats()
        counts["blocks"] += stats["hits"] + stats["misses"]
        counts["left"] += stats["blocks"]["current"]
        try:
            each.pool.check()
        except Exception:
            counts["wrong"] += 1
    allocators.clear()


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        print(report.outcome, report.nodeid.partition("::")[2], file=results)


def pytest_sessionfinish():
    for name, count in counts.items():
        print("#", name, count, file=results)
    results.close()
