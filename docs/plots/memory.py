#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Draws the memory of one recorded program, native beside gpumem.

Takes what `gpumem-replay --json --sample=N` printed and what tests/device/
native.py recorded of the same trace. Needs matplotlib, see plot.py.
"""

import argparse
import json
import os
import textwrap

import plot
from matplotlib import pyplot, ticker

GIB = 1 << 30
POINTS = 400
FRAMEWORK = {"color": "#3a86c8", "linewidth": 1.8}
POOL = {"color": "#d1495b", "linewidth": 2.4}


def peaks(samples):
    """[(events, bytes)], thousands and GiB: the highest of each stretch, so
    that no peak is lost."""
    width = -(-len(samples) // POINTS)
    parts = [
        samples[i : i + width] for i in range(0, len(samples), width)
    ]
    return [
        (part[-1][0] / 1000, max(value for _, value in part) / GIB)
        for part in parts
    ]


def draw(native, pool, caption):
    figure, panel = pyplot.subplots(figsize=(7.2, 4.0))
    series = {
        key: peaks([(s["events"], s[key]) for s in pool["samples"]])
        for key in ("requested_bytes", "reserved_bytes")
    }
    panel.fill_between(
        *zip(*series["requested_bytes"]),
        label="requested by the program",
        color=plot.GREY,
        alpha=0.35,
        linewidth=0,
    )
    panel.plot(
        *zip(*series["reserved_bytes"]), label="gpumem, reserved", **POOL
    )
    panel.plot(
        *zip(*peaks(native["samples"])),
        label="PyTorch native, reserved",
        **FRAMEWORK,
    )
    panel.set_xlim(left=0)
    panel.set_ylim(bottom=0)
    panel.set_xlabel(
        "allocations and frees, thousands", fontsize=9, color=plot.GREY
    )
    panel.set_ylabel("device memory, GiB", fontsize=9, color=plot.GREY)
    panel.xaxis.set_major_formatter(ticker.FuncFormatter(plot.count_text))
    plot.bare(panel)
    figure.legend(
        loc="upper center",
        ncol=3,
        frameon=False,
        fontsize=9,
        labelcolor=plot.GREY,
    )
    text = "\n".join(textwrap.wrap(caption, 120))
    figure.text(0.01, 0.01, text, fontsize=7.5, color=plot.GREY, va="bottom")
    figure.tight_layout(
        rect=(0, 0.02 + 0.035 * (text.count("\n") + 1), 1, 0.93)
    )
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("native", help="what native.py printed")
    parser.add_argument("json", help="what gpumem-replay --json printed")
    parser.add_argument("--out", default=".", help="folder for the figure")
    parser.add_argument("--command", required=True, help="for the caption")
    parser.add_argument("--machine", required=True, help="for the caption")
    parser.add_argument("--date", required=True, help="for the caption")
    args = parser.parse_args()
    with open(args.native, encoding="utf-8") as file:
        native = json.load(file)
    with open(args.json, encoding="utf-8") as file:
        pool = json.load(file)
    if native["trace"] != os.path.basename(pool["trace"]):
        parser.error(f"{native['trace']} and {pool['trace']} are two programs")
    plot.settle()
    plot.save(
        draw(
            native,
            pool,
            f"gpumem: {args.command} on {pool['device']}; {args.machine}; "
            f"{args.date}. Native: tests/device/native.py, the same trace, "
            f"{native['allocator']} on {native['device']}; {native['date']}.",
        ),
        args.out,
        "memory",
    )


if __name__ == "__main__":
    main()
