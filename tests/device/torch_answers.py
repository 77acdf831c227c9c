#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What each function of PyTorch that speaks of memory answers, natively and by gpumem.

The functions and classes of torch.cuda.memory and torch.accelerator.memory, by
dir(), so that a new one is seen: it fails here until it has a question in
torch_questions.py. A process with PyTorch's native allocator and one after
gpumem.torch.enable() ask all of them the same, one after the other. Of a dictionary
each key is an answer, of a text its words.

    python3 tests/device/torch_answers.py >table

Prints a row for each answer that differs: name, native's, gpumem's, and why that
has to be, from the list below. The exit status is 0 if all are equal or have a
reason. Only memory is allocated, 200 MiB of it: no kernel runs.
"""

import argparse
import gc
import importlib
import json
import os
import re
import subprocess
import sys
import warnings

import torch_questions_private  # noqa: F401
from torch_questions import ASKED, tensor

MODULES = {"cuda": "torch.cuda.memory", "accelerator": "torch.accelerator.memory"}

# Of names and keys, and why gpumem's answer is another. The first that fits.
SEGMENTS = "gpumem's own memory is pages, which are no segments"
RESERVED = "pages of 2 MiB as they are needed, not segments of 2 and 20 MiB"
WHY = (
    (r"get_allocator_backend", "it says whose it is"),
    (r"caching_allocator_(enable|disabled)", "refused: gpumem always caches"),
    (r"memory_stats.*: (segment|num_device_)", SEGMENTS),
    (r"memory_stats.*: reserved_bytes\.", RESERVED),
    (r"memory_stats.*: inactive_split", "what gpumem cannot give back: no part here"),
    (r"private_pools", "native keeps the zeros of pools that are gone"),
    (r"set_per_process_memory_fraction", "native's is rounded to bytes"),
    (r"memory_(reserved|cached)$", RESERVED),
    (r"empty_cache$", RESERVED),
    (r"_snapshot: allocator_settings", "it says whose it is"),
    (r"_snapshot: segments", SEGMENTS),
)


# ---- one process -------------------------------------------------------------------


def names_of(module):
    """What is defined there and can be called."""
    found = []
    for name in dir(module):
        value = getattr(module, name)
        if callable(value) and getattr(value, "__module__", "") == module.__name__:
            found.append(name)
    return found


def answers_of(title, module):
    """In a known state; a public name without a question has None."""
    found = {}
    for name in names_of(module):
        if name not in ASKED:
            if not name.startswith("_"):
                found[f"{title}.{name}"] = None
            continue
        gc.collect()
        torch_cuda = importlib.import_module("torch.cuda")
        torch_cuda.empty_cache()
        torch_cuda.reset_peak_memory_stats()
        torch_cuda.reset_accumulated_memory_stats()
        try:
            answer = ASKED[name](module)
        except Exception as error:
            answer = f"{type(error).__name__}: {str(error)[:200]}"
        if not isinstance(answer, dict):
            answer = {"": answer}
        for key, value in answer.items():
            found[f"{title}.{name}" + (f": {key}" if key else "")] = value
    return found


def child(allocator, backend):
    warnings.simplefilter("ignore")
    import torch

    if allocator == "gpumem":
        import gpumem.torch

        gpumem.torch.enable(backend=backend, subclass=True)
    tensor(1)
    found = {"version": torch.__version__}
    for title, name in MODULES.items():
        try:
            found.update(answers_of(title, importlib.import_module(name)))
        except ModuleNotFoundError:
            pass
    print(json.dumps(found, default=str), flush=True)
    os._exit(0)


# ---- both --------------------------------------------------------------------------


def ask(allocator, folder):
    """What was kept of it, or what it answers now."""
    kept = os.path.join(folder, f"{allocator}.json") if folder else ""
    if kept and os.path.exists(kept):
        with open(kept) as file:
            return json.load(file)
    found = answers_by(allocator)
    if kept:
        os.makedirs(folder, exist_ok=True)
        with open(kept, "w") as file:
            json.dump(found, file)
    return found


def answers_by(allocator):
    command = [sys.executable, os.path.abspath(__file__), "--child", allocator]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{allocator}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def why(name):
    return next((text for pattern, text in WHY if re.search(pattern, name)), "")


def compare(native, ours):
    """How many are equal; rows of the others."""
    rows, equal = [], 0
    for name in sorted({*native, *ours}):
        a, b = native.get(name, "no such answer"), ours.get(name, "no such answer")
        if a is None and b is None:
            rows.append((name, "", "", ""))
        elif a == b:
            equal += 1
        else:
            rows.append((name, json.dumps(a), json.dumps(b), why(name)))
    return equal, rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--child", choices=("native", "gpumem"), help=argparse.SUPPRESS)
    parser.add_argument("--backend", help=argparse.SUPPRESS)
    parser.add_argument(
        "--answers",
        metavar="FOLDER",
        help="where both are kept; what is there is not asked for again",
    )
    args = parser.parse_args()
    if args.child:
        child(args.child, args.backend)
    answers = [ask(x, args.answers) for x in ("native", "gpumem")]
    print("# PyTorch", *{x.pop("version") for x in answers})
    equal, rows = compare(*answers)
    print("# answer", "native", "gpumem", "why", sep="\t")
    for name, native, ours, text in rows:
        if not native:
            text = "NO QUESTION: add one"
        print(name, native[:200], ours[:200], text or "NO REASON", sep="\t")
    bad = [row[0] for row in rows if not row[3]]
    print(f"# {equal} equal, {len(rows) - len(bad)} with a reason, {len(bad)} without")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
