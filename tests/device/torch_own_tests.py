#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyTorch's own tests of its allocator, run natively, by the plug, by the subclass.

FILE is test/test_cuda.py of the source of the PyTorch that is installed; it is
not part of gpumem. Needs the packages that it imports (expecttest, psutil), and
for gpumem what tests/device/torch_subclass.py needs.

    python3 tests/device/torch_own_tests.py FILE >table

Prints a row for each test: its result by each allocator, and whether it starts
a Python of its own, which has PyTorch's native allocator whatever this one has.
Below are the rows that differ from native's with their reasons, and the counts.
What a test skips is "not applicable".

Tests run in --jobs processes, one after another in each. A process ends after a
test that failed, crashed or ran longer than --limit; if it had run others before,
the test runs again as the first of a new process, and only that result counts.
The device's memory is shared out by order: tests that look at the whole device,
ask for large parts of it, or that PyTorch runs alone, come last, one at a time.
After --seconds no test is started; what is left is "not run", and the exit status
is 1. Differences do not change the exit status: they are to be read.
"""

import argparse
import importlib.util
import inspect
import json
import os
import queue
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

ALLOCATORS = ("native", "plug", "subclass")
SELECT = (
    r"mem|alloc|stream|event|graph|oom|snapshot|pool|cache|trace|fragment"
    r"|split|segment|block|history|garbage|free|pinned|checkpoint"
)
ALONE = re.compile(
    r"serialTest|largeTensorTest|total_memory|mem_get_info|memory_fraction"
    r"|device_memory_used|\bGB\b|nvml"
)
STARTS = re.compile(r"subprocess|sys\.executable|multiprocessing")
START_S = 120
WORDS = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "not applicable",
    "crashed": "crashed",
    "late": "too long",
    "left": "not run",
}


# ---- the process that runs tests ---------------------------------------------------


def load(file):
    """Before it, the allocator has to be the one that is wanted."""
    sys.argv = [file]
    sys.path.insert(0, os.path.dirname(file))
    spec = importlib.util.spec_from_file_location("test_cuda", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["test_cuda"] = module
    spec.loader.exec_module(module)
    return module


def use(allocator):
    if allocator != "native":
        import gpumem.torch

        gpumem.torch.enable(subclass=allocator == "subclass")


def tests_of(module):
    """Each with its name, whether it runs alone, and whether it starts another."""
    found = []
    for name, case in sorted(vars(module).items()):
        if not (isinstance(case, type) and issubclass(case, unittest.TestCase)):
            continue
        for test in unittest.defaultTestLoader.getTestCaseNames(case):
            try:
                source = inspect.getsource(inspect.unwrap(getattr(case, test)))
            except (OSError, TypeError):
                source = ""
            alone, starts = ALONE.search(source), STARTS.search(source)
            found.append((f"{name}.{test}", bool(alone), bool(starts)))
    return found


def run_one(module, name):
    result = unittest.TestResult()
    try:
        unittest.defaultTestLoader.loadTestsFromName(name, module).run(result)
    except BaseException:
        return "failed", traceback.format_exc()
    for _, text in result.failures + result.errors:
        return "failed", text
    if result.unexpectedSuccesses:
        return "failed", "it was expected to fail"
    for _, text in result.skipped:
        return "skipped", text
    return ("passed", "") if result.testsRun else ("failed", "no such test")


def worker(allocator, file):
    """Names come by what was standard input, results go to what was the output.

    Tests, and what they start, have neither.
    """
    names, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    use(allocator)
    module = load(file)
    answer(tests_of(module))
    for line in names:
        answer(run_one(module, line.strip()))


# ---- the process that hands them out -----------------------------------------------


class Process:
    """A worker, and what it printed. Used by one thread."""

    def __init__(self, allocator, file):
        self.done = 0
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", allocator, file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            start_new_session=True,
        )
        self.rest = b""
        self.tests = self.read(START_S)

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

    def run(self, name, limit):
        """Its result and the reason of it."""
        self.done += 1
        try:
            self.process.stdin.write(name.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return "crashed", self.end()
        got = self.read(limit)
        return (got, self.end()) if isinstance(got, str) else tuple(got)

    def end(self):
        """Ends it and what it started; how it ended, and its last line."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = self.process.wait()
        if self.log.closed:
            return ""
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").split("\n")
        self.log.close()
        self.process.stdout.close()
        said = [line for line in lines if line.strip()] or ["no word"]
        return f"exit status {code}: {said[-1]}"


class Run:
    def __init__(self, arguments):
        self.file, self.limit = arguments.file, arguments.limit
        self.end = time.monotonic() + arguments.seconds
        self.results = {}

    def work(self, allocator, names):
        """One thread for each process; `names` is a queue."""
        process = None
        while True:
            try:
                name = names.get_nowait()
            except queue.Empty:
                break
            if time.monotonic() > self.end:
                self.results[name, allocator] = ("left", "out of time")
                continue
            process, result = self.settled(process, allocator, name)
            self.results[name, allocator] = result
        if process:
            process.end()

    def settled(self, process, allocator, name):
        """A failure counts only in a process that had run nothing before."""
        while True:
            if not process:
                process = Process(allocator, self.file)
                if isinstance(process.tests, str):
                    return None, (process.tests, process.end())
            result = process.run(name, self.limit)
            if result[0] in ("passed", "skipped"):
                return process, result
            first = process.done == 1
            process.end()
            process = None
            if first:
                return None, result

    def phase(self, names, allocators, jobs):
        """Each allocator has its share of the jobs, at the same time."""
        threads = []
        for at, allocator in enumerate(allocators):
            mine = queue.Queue()
            for name in names:
                mine.put(name)
            for _ in range(len(range(at, jobs, len(allocators)))):
                threads.append(
                    threading.Thread(target=self.work, args=(allocator, mine))
                )
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def reason(text):
    """What was raised last; PyTorch prints advice below it."""
    lines = [line for line in text.strip().split("\n") if line.strip()]
    raised = [x for x in lines if re.match(r"[\w.]*(Error|Exception)\b", x)]
    return (raised or lines or [""])[-1][:200]


def table(run, tests, allocators):
    print("# test", *allocators, "starts-python", sep="\t")
    differ = []
    for name, _, starts in tests:
        got = [run.results[name, x][0] for x in allocators]
        words = [WORDS[x] for x in got]
        print(name, *words, "yes" if starts else "no", sep="\t")
        differ += [(name, x) for x, y in zip(allocators, got) if y != got[0]]
    print("\n# differ from", allocators[0])
    for name, allocator in differ:
        base, other = run.results[name, allocators[0]], run.results[name, allocator]
        print(name, allocator, WORDS[other[0]], reason(other[1]), sep="\t")
        if base[0] not in ("passed", "skipped"):
            print("", allocators[0], WORDS[base[0]], reason(base[1]), sep="\t")
    print("\n# counts", *WORDS.values(), sep="\t")
    for x in allocators:
        all_ = [run.results[name, x][0] for name, _, _ in tests]
        print(x, *(all_.count(word) for word in WORDS), sep="\t")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", help="PyTorch's test/test_cuda.py")
    parser.add_argument("--worker", choices=ALLOCATORS, help=argparse.SUPPRESS)
    parser.add_argument("--allocators", default=",".join(ALLOCATORS))
    parser.add_argument("--jobs", type=int, default=9, help="processes at a time")
    parser.add_argument("--limit", type=float, default=40, help="seconds for a test")
    parser.add_argument("--seconds", type=float, default=400, help="for all")
    parser.add_argument("--select", default=SELECT, help="pattern of Class.test")
    arguments = parser.parse_args()
    arguments.file = os.path.abspath(arguments.file)
    if arguments.worker:
        return worker(arguments.worker, arguments.file)
    allocators = arguments.allocators.split(",")
    if not set(allocators) <= set(ALLOCATORS):
        parser.error(f"--allocators are of {', '.join(ALLOCATORS)}")
    if arguments.jobs < len(allocators):
        parser.error("each allocator needs a job")
    run = Run(arguments)
    first = Process(allocators[0], arguments.file)
    why = first.end()
    if isinstance(first.tests, str):
        sys.exit(f"{arguments.file} cannot be loaded: {why}")
    pattern = re.compile(arguments.select, re.IGNORECASE)
    tests = [x for x in first.tests if pattern.search(x[0])]
    if not tests:
        sys.exit("no test has such a name")
    run.phase([x[0] for x in tests if not x[1]], allocators, arguments.jobs)
    for allocator in allocators:
        run.phase([x[0] for x in tests if x[1]], [allocator], 1)
    table(run, tests, allocators)
    return int(any(x[0] == "left" for x in run.results.values()))


if __name__ == "__main__":
    sys.exit(main())
