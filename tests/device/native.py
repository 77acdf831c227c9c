#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Replays a trace through PyTorch's native allocator on an NVIDIA GPU.

Prints as JSON how many bytes it has reserved after each --sample events, which
the trace itself does not say: it has only the peak. docs/plots/native.json was
made by this; `make plots` draws it beside the pool's. Needs PyTorch with CUDA.
"""

import argparse
import datetime
import gzip
import json
import os

import torch


def replay(path, every):
    """[[events so far, reserved bytes], ...] of one trace."""
    blocks, streams, samples, done = {}, {"0": 0}, [], 0
    with gzip.open(path, "rt", encoding="ascii") as lines:
        for line in lines:
            fields = line.split()
            if fields[0] == "a":
                name, size, stream = fields[1:]
                if stream not in streams:
                    streams[stream] = torch.cuda.Stream()
                blocks[name] = torch.cuda.caching_allocator_alloc(
                    int(size), 0, streams[stream]
                )
            elif fields[0] == "f":
                torch.cuda.caching_allocator_delete(blocks.pop(fields[1]))
            else:
                continue
            done += 1
            if done % every == 0:
                samples.append([done, torch.cuda.memory_reserved(0)])
    samples.append([done, torch.cuda.memory_reserved(0)])
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, required=True, help="events")
    parser.add_argument("trace", help="a gzip'ed trace")
    args = parser.parse_args()
    torch.cuda.init()
    result = {
        "trace": os.path.basename(args.trace),
        "allocator": f"PyTorch {torch.__version__} native allocator",
        "device": torch.cuda.get_device_name(0),
        "date": datetime.date.today().isoformat(),
        "sample": args.sample,
        "samples": replay(args.trace, args.sample),
        "peak_reserved_bytes": torch.cuda.max_memory_reserved(0),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
