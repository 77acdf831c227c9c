#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Writes allocation traces of kinds of programs, in the format of README.md.

    scripted.py --list
    scripted.py KIND [--seed N] [--events N] > FILE
    scripted.py --all DIR [--seed N] [--events N]
    scripted.py --vary TRACE[.gz] --percent P --seed N > FILE
    scripted.py --step TRACE[.gz] --length N [--events N] > FILE

The traces are synthetic, with the sizes and lifetimes that such programs have. The
same seed always gives the same trace; another seed gives another program of the kind,
with another model and other requests. --all writes DIR/KIND.trace for every kind.
--vary changes each size in a trace by up to P percent; equal sizes stay equal.
--step repeats the step of N events at the peak of a trace: a program whose shapes are
always the same.
"""

import argparse
import gzip
import hashlib
import os
import sys

import scripted_models as models
import scripted_others as others
from scripted_step import repeated
from scripted_trace import Full, Trace

KINDS = {
    "inference_1": (models.inference, "inference, random shapes", 1),
    "inference_4": (models.inference, "inference, random shapes, 4 streams", 4),
    "inference_8": (models.inference, "inference, random shapes, 8 streams", 8),
    "inference_16": (models.inference, "inference, random shapes, 16 streams", 16),
    "inference_24": (models.inference, "inference, random shapes, 24 streams", 24),
    "training": (models.training, "training, random lengths"),
    "recompute": (models.training, "training, activations computed again", "recompute"),
    "random_1": (others.sizes_at_random, "random sizes and lifetimes", 1),
    "random_4": (others.sizes_at_random, "random sizes and lifetimes, 4 streams", 4),
    "random_16": (others.sizes_at_random, "random sizes and lifetimes, 16 streams", 16),
    "random_32": (others.sizes_at_random, "random sizes and lifetimes, 32 streams", 32),
    "tiles": (others.tiles, "tiles of images, of varying size, 12 streams"),
    "tenants": (models.tenants, "six models that come and go, a stream each"),
    "experts": (models.experts, "inference, a mixture of experts on 4 streams"),
    "caches": (
        models.caches,
        "key/value caches of 32 sequences, grown by concatenation",
    ),
    "pages": (models.pages, "serving, key/value caches in blocks of 1 to 3 MiB"),
    "meshes": (others.meshes, "an adaptive mesh"),
    "sharded": (
        models.training,
        "training, weights gathered on a second stream",
        "sharded",
    ),
    "video": (
        others.video,
        "video of varying resolution, a window of frames, 3 streams",
    ),
    "detection": (others.detection, "detection in images of varying size"),
    "staying": (others.staying, "small results that stay between large blocks"),
    "graphs": (
        others.graphs,
        "training of a graph neural network, batches of any size",
    ),
    "offload": (
        models.training,
        "training, activations copied out and back",
        "offload",
    ),
    "swap": (models.swap, "two models moved on and off in turn"),
    "reinforcement": (models.reinforcement, "reinforcement: generate, then train"),
    "speculative": (
        models.speculative,
        "speculative decoding, a stream for each model",
    ),
    "diffusion": (
        others.diffusion,
        "diffusion of images of several sizes, batch 1 to 4",
    ),
}


def scripted(kind, seed, events):
    program, what, *more = KINDS[kind]
    p = Trace(kind, seed, events)
    try:
        for _ in program(p, *more):
            pass
    except Full:
        pass
    head = f"# gpumem-trace {p.version}\n# {what} (scripted.py {kind} --seed {seed})\n"
    return head + "\n".join(p.lines) + "\n"


def varied(size, percent, seed):
    digest = hashlib.sha256(f"{seed} {size}".encode()).digest()
    part = int.from_bytes(digest[:6], "big") / (1 << 47) - 1
    unit = 512 if size > 512 else 1
    return size + int(size * part * percent / 100 / unit) * unit


def vary(trace, percent, seed):
    with (gzip.open if trace.endswith(".gz") else open)(trace, "rt") as lines:
        sys.stdout.write(next(lines))
        print(f"# sizes changed by up to {percent:g} percent, seed {seed}, of:")
        for line in lines:
            if line.startswith("a "):
                _, block, size, stream = line.split()
                line = f"a {block} {varied(int(size), percent, seed)} {stream}\n"
            sys.stdout.write(line)


def percentage(text):
    value = float(text)
    if not 0 <= value < 100:
        raise argparse.ArgumentTypeError("not from 0 to less than 100")
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("kind", nargs="?", metavar="KIND", choices=KINDS)
    what.add_argument("--list", action="store_true", help="the kinds")
    what.add_argument("--all", metavar="DIR", help="write all kinds there")
    what.add_argument("--vary", metavar="TRACE", help="change the sizes of this")
    what.add_argument("--step", metavar="TRACE", help="repeat a step of this")
    parser.add_argument("--length", type=int, default=1000, metavar="N")
    parser.add_argument("--percent", type=percentage, default=5, metavar="P")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--events", type=int, default=50000, metavar="N")
    args = parser.parse_args()
    if args.list:
        for kind, (_, text, *_) in KINDS.items():
            print(f"{kind:14} {text}")
    elif args.all:
        for kind in KINDS:
            with open(os.path.join(args.all, f"{kind}.trace"), "w") as file:
                file.write(scripted(kind, args.seed, args.events))
    elif args.vary:
        vary(args.vary, args.percent, args.seed)
    elif args.step:
        sys.stdout.write(repeated(args.step, args.length, args.events))
    else:
        sys.stdout.write(scripted(args.kind, args.seed, args.events))


if __name__ == "__main__":
    main()
