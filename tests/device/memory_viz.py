#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Opens snapshots that gpumem-trace wrote with PyTorch's own functions.

    memory_viz.py PICKLE SUMMARY [PICKLE SUMMARY]...

SUMMARY is what gpumem-trace --json says of the same recording, of one device.
Each function of torch.cuda._memory_viz that takes a snapshot is called, and its
totals are compared with the summary's. No GPU is needed. Prints "right", or ends
with the difference. Not here: profile_plot(), which takes a profile and no snapshot.
"""

import base64
import contextlib
import copy
import io
import json
import pickle
import re
import sys

from torch.cuda import _memory_viz as viz


def as_it_is(lines):
    """Instead of flamegraph.pl, which PyTorch would download."""
    return lines


def equal(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got!r}, not {expected!r}")


def check_segments(data, summary):
    text = viz.segsum(data)
    reserved = sum(s["total_size"] for s in data["segments"])
    for key, value in ("total_allocated", summary["live_bytes"]), \
            ("total_reserved", reserved):
        said, = re.findall(rf"^{key}: (.*)$", text, re.M)
        equal(key, said, str(viz.Bytes(value)))
    equal("segments", re.findall(r"^segments: (\d+)$", text, re.M),
          [str(len(data["segments"]))])
    blocks = [b for s in data["segments"] for b in s["blocks"]]
    live = [b for b in blocks if b["state"] == "active_allocated"]
    equal("live blocks", len(live), summary["live_blocks"])
    equal("live bytes", sum(b["requested_size"] for b in live),
          summary["live_bytes"])


def check_flames(data):
    """Each line ends in bytes, and all of them are what the segments have."""
    reserved = sum(s["total_size"] for s in data["segments"])
    none = copy.deepcopy(data["segments"])[:0]
    with contextlib.redirect_stdout(io.StringIO()):
        compared = viz.compare(none, data["segments"], as_it_is)
        same = viz.compare(data["segments"], data["segments"], as_it_is)
    equal("compare() with itself", same, "")
    for name, lines in (("memory()", viz.memory(data, as_it_is)),
                        ("segments()", viz.segments(data, as_it_is)),
                        ("compare()", compared)):
        total = sum(int(line.rsplit(" ", 1)[1]) for line in lines.splitlines())
        equal(name, total, reserved)


def check_trace(data, summary):
    text = viz.trace(data)
    entries = data["device_traces"][0] if data["device_traces"] else []
    equal("entries", re.findall(r"^(\d+) entries$", text, re.M),
          [str(len(entries))] if entries else [])
    equal("OutOfMemoryError", text.count("raise OutOfMemoryError"),
          summary["kinds"]["oom"])
    begun = len(re.findall(r"^\S+ = \S+\[\d+:", text, re.M))
    freed = len(re.findall(r"^del ", text, re.M))
    equal("what lives", begun - freed, summary["live_blocks"])
    now = peak = 0
    for entry in entries:
        now += {"alloc": 1, "free_completed": -1}.get(entry["action"], 0) \
            * entry["size"]
        peak = max(peak, now)
    equal("the peak", peak, summary["peak_requested_bytes"])
    equal("the end", now, summary["live_bytes"])


def data_of(page):
    """The snapshot in a page, as the browser gets it."""
    encoded, = re.findall(r'"base64": "([^"]*)"', page)
    return pickle.loads(base64.b64decode(encoded))


def check_plots(data, summary):
    for segments in False, True:
        equal("trace_plot()",
              data_of(viz.trace_plot(data, plot_segments=segments)), data)
    equal("segment_plot()", data_of(viz.segment_plot(data)), data)
    left = data_of(viz.trace_plot(copy.deepcopy(data), filter_freed=True))
    actions = [e["action"] for entries in left["device_traces"] for e in entries]
    equal("what is never freed", sorted(actions),
          ["alloc"] * summary["live_blocks"] + ["oom"] * summary["kinds"]["oom"])


def main():
    for name, about in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        with open(name, "rb") as file:
            data = pickle.load(file)
        with open(about, encoding="utf-8") as file:
            summary = json.load(file)
        check_segments(data, summary)
        check_flames(data)
        check_trace(data, summary)
        check_plots(data, summary)
    print("right")


main()
