#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""CuPy's and Numba's own tests of memory, natively and on gpumem.

FOLDER is the source of the CuPy that is installed, or of it pyproject.toml and
tests/; without it CuPy's tests are left out. Numba's come with it. Needs pytest,
for Numba's tests filecheck too, and the package gpumem.

    python3 tests/device/own_tests.py [FOLDER] >table

Each suite runs with these allocators:

    native   the package's own
    gpumem   gpumem.cupy.enable(); NUMBA_CUDA_MEMORY_MANAGER=gpumem.numba
    pools    CuPy only: its class MemoryPool is gpumem.cupy.MemoryPool besides, so
             that the tests of CuPy's pool are of what stands in its place

Prints a row for each test: its result by each allocator, and how many blocks
gpumem gave it (what Numba's reset() ended is not counted). Below are the rows that
differ from native's, each with its reason, and the counts. What a test skips is
"not applicable".

Suites and allocators run at the same time, a process each; tests that CuPy calls
slow take most of the device, and come last, one process at a time. A test that
fails runs again by itself in a new process, and that result counts. A test ends
after --limit seconds. After --seconds no test is started; what is left is "not
run". The exit status is 1 if there is such a test or a difference without a reason.
"""

import argparse
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

NATIVE = "native"
SUITES = {"cupy": (NATIVE, "gpumem", "pools"), "numba": (NATIVE, "gpumem")}
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own_tests_worker.py")
# Why a test may differ: pattern of its name, pattern of what it says, the reason. A
# crash, or a test that does not end, has none.
REASONS = {
    ("cupy", "pools"): (
        (r"Hook", r"assert|IndexError", "hooks are called by CuPy's own pools only"),
        (
            r"TestMemoryPool.*::test_(zero_size_alloc|double_free"
            r"|free_all_(blocks|free))$",
            r"assert|attribute 'free'",
            "blocks are UnownedMemory, which ends with the array and has no free()",
        ),
        (
            r"TestMemoryPool.*(_bytes|without_malloc)$|TestAllocator.*"
            r"::test_(set_allocator|allocator_thread_local|thread_local_valid)$",
            r"assert",
            "a device has one pool: each MemoryPool counts what all have",
        ),
        (
            r"TestDLTensorMemory.*::test_deleter",
            r"assert \d+ == \d+",
            "what is left of an array's page is free, too: n_free_blocks() counts it",
        ),
        (
            r"test_reuse_between_thread",
            r"assert",
            "whose memory is used again is gpumem's to choose",
        ),
    ),
    ("numba", "gpumem"): (
        (r"", r"no IPC handle", "CUDA has no such handle of virtual memory"),
        (r"", r"memory management|external memmgr", "by the test's own word"),
    ),
}
START_S = 120
WORDS = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "not applicable",
    "crashed": "crashed",
    "late": "too long",
    "left": "not run",
}


# ---- the process that hands them out -----------------------------------------------


class Process:
    """A worker. Used by one thread."""

    def __init__(self, suite, allocator, folder, names):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        if suite == "numba" and allocator != NATIVE:
            environment["NUMBA_CUDA_MEMORY_MANAGER"] = "gpumem.numba"
        self.log, given = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        given.write(json.dumps(names).encode())
        given.seek(0)
        self.process = subprocess.Popen(
            [sys.executable, WORKER, suite, allocator, folder],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
            start_new_session=True,
        )
        self.rest = b""

    def read(self, seconds):
        """What it answers; "crashed" or "late" otherwise."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = max(0, end - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                return "late"
            got = os.read(self.process.stdout.fileno(), 1 << 16)
            if not got:
                return "crashed"
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def end(self, grace=0):
        """Ends it and what it started; how it ended, and its last line."""
        try:
            self.process.wait(grace)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").split("\n")
        self.log.close()
        self.process.stdout.close()
        said = [line for line in lines if line.strip()] or ["no word"]
        return f"exit status {code}: {said[-1]}"


class Run:
    """The tests of one suite by one allocator. Used by one thread at a time."""

    def __init__(self, suite, allocator, arguments):
        self.key = suite, allocator, arguments.folder
        self.limit, self.results = arguments.limit, {}

    def some(self, names, end):
        """Runs them in one process, until it ends; those that have a result."""
        process, at, done = Process(*self.key, names), None, []
        limit = START_S
        while True:
            got = process.read(min(limit, max(0, end - time.monotonic())))
            if isinstance(got, str):
                break
            limit = self.limit
            if got[0] == "begins":
                at = got[1]
                done.append(at)
            elif got[0] == "ended":
                self.results[at], at = got[2:], None
        why = process.end(START_S / 10 if got == "crashed" else 0)
        if time.monotonic() >= end:
            got, why = "left", "out of time"
        if at is not None:
            self.results[at] = got, why, 0
        if not done:  # nor would another process come so far
            done = names
            self.results.update({x: (got, why, 0) for x in names})
        return done

    def all(self, names, end):
        """What failed beside others runs again by itself."""
        left, again = list(names), []
        while left and time.monotonic() < end:
            done = self.some(left, end)
            bad = [x for x in done if self.results[x][0] not in ("passed", "skipped")]
            again += bad if len(done) > 1 and len(bad) < len(left) else []
            left = [x for x in left if x not in set(done)]
        for name in again:
            before = self.results[name]
            if time.monotonic() < end:
                self.some([name], end)
                if self.results[name][0] == "left":
                    self.results[name] = before
        for name in left:
            self.results[name] = ("left", "out of time", 0)


def found(suite, arguments):
    """The names of the suite's tests, which of them are slow, what is broken."""
    process, broken = Process(suite, NATIVE, arguments.folder, None), []
    while True:
        got = process.read(START_S)
        if isinstance(got, str):
            sys.exit(f"{suite}'s tests cannot be found: {process.end()}")
        if got[0] == "found":
            process.end()
            slow = {x for x, is_slow in zip(got[1], got[2]) if is_slow}
            pattern = re.compile(arguments.select)
            return [x for x in got[1] if pattern.search(x)], slow, broken
        if got[0] == "broken":
            broken.append((got[1], said(got[2])))


# ---- the table ---------------------------------------------------------------------


def said(text):
    """What was raised last, or why it was skipped."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    raised = [x for x in lines if re.match(r"E\s+\w", x)]
    return re.sub(r"^E\s+", "", (raised or lines or [""])[-1])[:160]


def reason(suite, allocator, name, outcome, text):
    if outcome not in ("failed", "skipped"):
        return "?"
    for names, texts, why in REASONS.get((suite, allocator), ()):
        if re.search(names, name) and re.search(texts, text):
            return why
    return "?"


def table(suite, names, broken, runs):
    """Prints it; how many differences have no reason, and what else is amiss."""
    print(f"# {suite}'s test", *SUITES[suite], "blocks", sep="\t")
    short = {x: x.rpartition("/")[2] for x in names}
    differ, unknown = [], 0
    for name in names:
        got = [runs[suite, x].results[name] for x in SUITES[suite]]
        blocks = max(x[2] for x in got)
        print(short[name], *(WORDS[x[0]] for x in got), blocks, sep="\t")
        for allocator, result in zip(SUITES[suite], got):
            if result[0] != got[0][0]:
                differ.append((name, allocator, result))
    for name, why in broken:
        print(f"{name}: not loaded: {why}")
    print("\n# differs from native", "", "result", "reason", "says", sep="\t")
    for name, allocator, result in differ:
        text = said(result[1])
        why = reason(suite, allocator, name, result[0], text)
        unknown += why == "?"
        print(short[name], allocator, WORDS[result[0]], why, text, sep="\t")
    print(f"\n# counts of {suite}", *WORDS.values(), "blocks", sep="\t")
    for allocator in SUITES[suite]:
        got = [runs[suite, allocator].results[x] for x in names]
        counts = [sum(x[0] == word for x in got) for word in WORDS]
        print(allocator, *counts, sum(x[2] for x in got), sep="\t")
    print(f"# {len(differ)} differ, {unknown} without a reason\n", flush=True)
    return unknown + len(broken) + (not names)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", help="CuPy's source")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a test")
    parser.add_argument("--seconds", type=float, default=480, help="for all")
    parser.add_argument("--select", default="", help="pattern of file::test")
    parser.add_argument("--suites", default=",".join(SUITES))
    arguments = parser.parse_args()
    start = time.monotonic()
    arguments.folder = os.path.abspath(arguments.folder or "")
    suites = arguments.suites.split(",")
    if not os.path.isdir(os.path.join(arguments.folder, "tests", "cupy_tests")):
        suites = [x for x in suites if x != "cupy"]
    tests = {x: found(x, arguments) for x in suites}
    runs = {(x, y): Run(x, y, arguments) for x in suites for y in SUITES[x]}
    # Of the time, slow tests have a quarter.
    threads = []
    for (suite, _), run in runs.items():
        names, slow, _ = tests[suite]
        quick = [x for x in names if x not in slow]
        of = quick, start + arguments.seconds * 0.75
        threads.append(threading.Thread(target=run.all, args=of))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (suite, _), run in runs.items():
        names, slow, _ = tests[suite]
        run.all([x for x in names if x in slow], start + arguments.seconds)
    unknown = sum(table(x, tests[x][0], tests[x][2], runs) for x in suites)
    left = [x for run in runs.values() for x in run.results.values() if x[0] == "left"]
    return int(bool(unknown or left))


if __name__ == "__main__":
    sys.exit(main())
