#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What a pair of allocate and free costs through PyTorch's own door.

C++ code calls CUDACachingAllocator::get()->allocate(), as PyTorch's operators do,
in one thread and in several; with --other-stream each block is also used on another
stream. A line of JSON for each size: the median nanoseconds of a pair. --allocator
says whose they are; --parts adds lines for the calls of which a pair is made. Where
there is no GPU, preload bindings/python/tests/cudart_double.cpp and take
--backend=host. Two installations are compared by running each in turn.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--allocator", choices=("gpumem", "native"), default="gpumem")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 65536, 4 << 20])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 16])
    parser.add_argument("--pairs", type=int, default=200000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--other-stream", action="store_true")
    parser.add_argument(
        "--busy", action="store_true", help="processor's time: others use it too"
    )
    return parser.parse_args()


def compiled(torch, subclass):
    """torch_pair.cpp, as the subclass is."""
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "pair.so"))
        line = [*subclass.command(torch), f"-I{subclass.SOURCES}"]
        line += ["-shared", str(HERE / "torch_pair.cpp")]
        line += ["-o", library, *subclass.libraries(torch)]
        subprocess.run(line, check=True)
        # Without the GIL.
        found = ctypes.CDLL(library)
    found.torch_pair.restype = ctypes.c_double
    found.torch_pair.argtypes = [
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
    ]
    found.torch_part.restype = ctypes.c_char_p
    return found


def line_of(library, given, size, part):
    """Nanoseconds by threads."""
    return {
        f"{threads} threads": round(
            statistics.median(
                library.torch_pair(
                    size,
                    threads,
                    given.pairs,
                    given.other_stream,
                    not given.busy,
                    part,
                )
                for _ in range(given.rounds)
            ),
            1,
        )
        for threads in given.threads
    }


def parts(library, given):
    part = 0
    while name := library.torch_part(part, (given.backend + ":0").encode()):
        line = {"call": name.decode(), **line_of(library, given, 65536, part)}
        print(json.dumps(line), flush=True)
        part += 1


def main():
    given = arguments()
    import gpumem._torch_subclass as subclass
    import gpumem.torch
    import torch

    if given.allocator == "gpumem":
        gpumem.torch.enable(backend=given.backend)
    torch.empty(1, device="cuda")
    library = compiled(torch, subclass)
    for size in given.sizes:
        line = {"allocator": given.allocator, "bytes": size}
        line.update(line_of(library, given, size, -1))
        print(json.dumps(line), flush=True)
    if given.parts:
        parts(library, given)
    # Streams of threads that are gone are the driver's to end.
    os._exit(0)


if __name__ == "__main__":
    main()
