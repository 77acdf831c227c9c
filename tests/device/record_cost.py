#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What a recording costs: replays of the public traces with one and without.

    record_cost.py BUILD FOLDER [--device=host:0] [--passes=5] [--times=5] [TRACE]...

BUILD has tools/gpumem-replay, FOLDER takes the recordings, 64 MiB each at most; on
a tmpfs no disk is measured. The two take turns, each --times times, and of each the
least counts. A line for each trace: nanoseconds an event of all passes and of the
fastest, without and with a recording, and by how much the second is longer; then
the same of the whole process. Nothing is decided.
"""

import argparse
import glob
import json
import os
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--device", default="host:0")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("trace", nargs="*")
    return parser.parse_args()


def replay(args, trace, recorded):
    """Seconds of all passes, of the fastest, and of the process; and the events
    of a pass."""
    path = os.path.join(args.folder, "record_cost.rec")
    conf = f"record:{path},record_max:64MiB" if recorded else ""
    begun = time.monotonic()
    done = subprocess.run(
        [
            os.path.join(args.build, "tools", "gpumem-replay"),
            f"--device={args.device}",
            f"--passes={args.passes}",
            "--json",
            trace,
        ],
        env=dict(os.environ, GPUMEM_CONF=conf),
        stdout=subprocess.PIPE,
        check=True,
    )
    seconds = time.monotonic() - begun
    told = json.loads(done.stdout)
    fastest = min(each["seconds"] for each in told["pass"])
    if recorded:
        os.remove(path)
    return [told["seconds"], fastest, seconds], told["events"]


def least(runs):
    return [min(each) for each in zip(*runs)]


def measure(args, trace):
    off, on = [], []
    for _ in range(args.times):
        seconds, events = replay(args, trace, False)
        off.append(seconds)
        on.append(replay(args, trace, True)[0])
    off, on = least(off), least(on)
    all_events = [events * args.passes, events]
    text = [
        f"{a / n * 1e9:7.1f} {b / n * 1e9:7.1f} {b / a * 100 - 100:5.1f} %"
        for a, b, n in zip(off, on, all_events)
    ]
    text.append(f"{on[2] / off[2] * 100 - 100:5.1f} %")
    print(f"{os.path.basename(trace).split('.')[0]:18}", *text, sep="  ", flush=True)


def main():
    args = arguments()
    traces = args.trace or sorted(glob.glob(f"{HERE}/../traces/*.trace.gz"))
    print("trace: all passes off, on, more; the fastest off, on, more; process more")
    for trace in traces:
        measure(args, trace)


if __name__ == "__main__":
    main()
