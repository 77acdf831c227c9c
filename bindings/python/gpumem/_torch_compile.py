# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Makes a shared library of a folder of C++ sources, several files at a time.

Most of the time goes to PyTorch's headers, which are the same for each file: they
are compiled once, and read by the others. Knows neither PyTorch nor where what it
makes is kept. Whoever calls has the folder for itself.
"""

import concurrent.futures
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import List, Optional, Set

HEADER = "allocator.hpp"  # which includes all of the others
MOST = 4  # files at a time: each takes most of 1 GB of memory


class Failed(Exception):
    """With all that the compiler said."""


class _Compiler:
    """Of which several run at a time. `lock` is over what is running, and whether
    more may be."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: Set["subprocess.Popen[str]"] = set()
        self.stopped = False

    def begin(self, line: List[str]) -> Optional["subprocess.Popen[str]"]:
        with self.lock:
            if self.stopped:
                return None
            process = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            self.running.add(process)
            return process

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.running:
                process.kill()

    def run(self, line: List[str]) -> None:
        process = self.begin(line)
        if process is None:
            return
        try:
            said = process.communicate()[0]
        except BaseException:
            process.kill()
            process.wait()
            raise
        with self.lock:
            self.running.discard(process)
            self.stopped = self.stopped or process.returncode != 0
        if process.returncode:
            raise Failed(said)

    def run_all(self, lines: List[List[str]]) -> None:
        """Failed is of the first that did; no other begins then."""
        count = min(MOST, len(os.sched_getaffinity(0)))
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            begun = [pool.submit(self.run, line) for line in lines]
            try:
                for each in concurrent.futures.as_completed(begun):
                    each.result()
            except BaseException:
                self.stop()
                raise


def build(
    words: List[str], libraries: List[str], sources: Path, work: Path
) -> Path:
    """The library, in the empty folder `work`, which the caller removes.

    words: the compiler with its options; libraries: what it links.
    """
    # What a header includes with quotes is looked for beside it.
    for path in sorted(sources.glob("*.[ch]pp")):
        shutil.copy(path, work)
    shutil.copytree(sources / "gpumem", work / "gpumem")
    words = [*words, f"-I{work}"]
    header = str(work / HEADER)
    compiler = _Compiler()
    made = ["-x", "c++-header", "-c", header, "-o", f"{header}.gch"]
    compiler.run([*words, *made])
    files = sorted(work.glob("*.cpp"))
    compiler.run_all(
        [
            [*words, "-include", header, "-c", str(x), "-o", f"{x}.o"]
            for x in files
        ]
    )
    library = work / "library.so"
    objects = [f"{x}.o" for x in files]
    line = [*words, "-shared", "-o", str(library), *objects, *libraries]
    compiler.run(line)
    return library
