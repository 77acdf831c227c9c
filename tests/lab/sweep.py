#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Compare builds, or one build with and without an option, over many programs.

    sweep.py BASE NEW... [--conf KEY:VALUE,...] [--sets NAME,...] [--seeds A-B]

BASE and each NEW are gpumem-replay programs; --conf is added to GPUMEM_CONF for
NEW. Every program is replayed by all on the simulated GPU, and a line for each
set and each NEW says what that changes:

    ratio    peak reserved memory by peak requested memory: the mean of BASE, the
             mean difference, and the largest one with its program
    calls    driver calls, NEW by BASE, geometric mean
    ns       the driver's time on an H200 by the replay's model, likewise
    equal    runs in which ratio and calls are the same
    fail     runs with an allocation that fails: BASE, NEW

The sets:

    recorded  tests/traces/*.trace.gz, by lag, once and 5 times
    unseen    the programs of scripted.py, of seeds that nobody tuned on, by lag
    tagged    the recorded ones with 2 and 4 tags that have a word of a sleep, by lag
    long      the recorded ones, 30 times, by lag
    limits    the recorded ones under limits from 1.005 to 1.04 times the peak
    bounded   the recorded ones, 20 times under 1.03 times the peak, idle: what a
              rule costs in the long run near a limit
    narrow    the unseen ones under limits from 1.02 to 1.1 times the peak
    steady    a step of recorded ones, 40 times without a change, by lag: programs
              whose shapes are always the same
    segments  recorded and unseen without virtual memory
    noise     the recorded ones with sizes changed by up to 4 %: BASE alone, with
              the standard deviation of its ratio

A difference below that deviation is no reason for a rule. No figure is a time of
this machine's, so load does not change any.
"""

import argparse
import collections
import concurrent.futures
import functools
import glob
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(HERE, "..", "traces")
LAGS = ("0", "1000", "inf")
LIMITS = (1.005, 1.01, 1.02, 1.03, 1.04)
NARROW = (1.02, 1.03, 1.05, 1.1)
SETS = ("recorded", "unseen", "tagged", "long", "limits", "bounded", "narrow", "steady", "segments",
        "noise")
LIMITED = ("limits", "bounded", "narrow")

# Events of a step, where steps can be told: the commonest distance at which the order
# of events was the same, on which streams and of which blocks, whatever their sizes.
STEPS = {"bert_inference": 950, "gpt2_varlen": 5626, "lora_recompute": 6662,
         "offload_streams": 3354, "prefetch_streams": 5970, "resnet_multires": 9292,
         "threads_inference": 1976}

Run = collections.namedtuple("Run", "set name path options conf")
Result = collections.namedtuple("Result", "ratio calls ns failed")


def recorded():
    """The recorded programs: name and path."""
    for path in sorted(glob.glob(os.path.join(TRACES, "*.trace.gz"))):
        yield os.path.basename(path)[:-len(".trace.gz")], path


def scripted(*arguments):
    """Runs scripted.py, and gives what it prints."""
    command = [sys.executable, "-B", os.path.join(TRACES, "scripted.py"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def unseen(folder, seeds):
    """Programs of each seed, written to the folder: name and path."""
    for seed in seeds:
        into = os.path.join(folder, str(seed))
        os.mkdir(into)
        scripted("--all", into, "--seed", str(seed))
        for path in sorted(glob.glob(os.path.join(into, "*.trace"))):
            yield "%s.%d" % (os.path.basename(path)[:-len(".trace")], seed), path


def varied(folder):
    """The recorded programs with other sizes: name and path."""
    for name, path in recorded():
        for seed in range(1, 9):
            other = os.path.join(folder, "%s.%d.trace" % (name, seed))
            with open(other, "wb") as file:
                file.write(scripted("--vary", path, "--percent", "4", "--seed", str(seed)))
            yield name, other


def steady(folder):
    """A step of recorded programs again and again: name and path."""
    for name, length in STEPS.items():
        path = os.path.join(folder, name + ".step.trace")
        with open(path, "wb") as file:
            file.write(scripted("--step", os.path.join(TRACES, name + ".trace.gz"), "--length",
                                str(length), "--events", str(40 * length)))
        yield name, path


def peak_requested(path):
    """The peak of what the program asks for, in bytes."""
    live, now, peak = {}, 0, 0
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        for line in lines:
            field = line.split()
            if field[:1] == ["a"]:
                live[field[1]] = int(field[2])
                now += int(field[2])
                peak = max(peak, now)
            elif field[:1] == ["f"]:
                now -= live.pop(field[1], 0)
    return peak


def runs_of(sets, folder, seeds):
    """All runs of these sets."""
    programs = list(recorded())
    others = []
    if {"unseen", "narrow", "segments"} & set(sets):
        others = list(unseen(folder, seeds))
    for name, path in programs:
        for lag in LAGS:
            for passes in "1", "5":
                yield Run("recorded", name, path, ("--lag", lag, "--passes", passes), "")
            for tags in "2", "4":
                yield Run("tagged", name, path, ("--lag", lag, "--tags", tags), "")
        for lag in LAGS:
            yield Run("long", name, path, ("--lag", lag, "--passes", "30"), "")
        if set(LIMITED[:2]) & set(sets):
            peak = peak_requested(path)
            options = ("--passes", "20", "--limit", str(int(peak * 1.03)))
            yield Run("bounded", name, path, options, "")
            for limit in LIMITS:
                for lag in LAGS:
                    options = ("--lag", lag, "--limit", str(int(peak * limit)))
                    yield Run("limits", name, path, options, "")
    for name, path in others:
        for lag in LAGS:
            yield Run("unseen", name, path, ("--lag", lag), "")
        peak = peak_requested(path) if "narrow" in sets else 0
        for limit in NARROW:
            for lag in LAGS[:2]:
                options = ("--lag", lag, "--limit", str(int(peak * limit)))
                yield Run("narrow", name, path, options, "")
    for name, path in programs + others:
        for lag in LAGS[:2]:
            yield Run("segments", name, path, ("--lag", lag), "vm:off")
    for name, path in steady(folder) if "steady" in sets else ():
        for lag in LAGS:
            yield Run("steady", name, path, ("--lag", lag), "")
    if "noise" in sets:
        for name, path in varied(folder):
            yield Run("noise", name, path, (), "")


def replay(program, run, conf):
    """One run by one build."""
    both = ",".join(part for part in ("decay_ms:0", run.conf, conf) if part)
    command = [program, "-d", "host:0", "--json", "--model=h200", *run.options, run.path]
    done = subprocess.run(command, env=dict(os.environ, GPUMEM_CONF=both), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        if run.set not in LIMITED:
            sys.exit("%s: %s" % (" ".join(command), done.stderr.decode()))
        return Result(None, None, None, True)
    answer = json.loads(done.stdout)
    return Result(answer["reserved_ratio"], answer["driver_calls"], answer["model"]["ns"],
                  answer["ooms"] > 0)


def quotient(pairs):
    """The geometric mean of NEW by BASE."""
    logs = [math.log(new / base) for base, new in pairs if base and new]
    return math.exp(statistics.mean(logs)) if logs else 1.0


def tell(name, new, runs, before, after):
    """A line: a set and a NEW."""
    both = [(run, b, a) for run, b, a in zip(runs, before, after)
            if not b.failed and not a.failed]
    differences = [a.ratio - b.ratio for _, b, a in both]
    worst = max(range(len(both)), key=lambda i: differences[i])
    equal = sum(b.ratio == a.ratio and b.calls == a.calls for _, b, a in both)
    print("%-9s %s  %d runs  ratio %.4f %+.4f, most %+.4f (%s %s)  calls x%.3f  ns x%.3f  "
          "equal %d  fail %d, %d" %
          (name, os.path.basename(new), len(runs), statistics.mean(b.ratio for _, b, _ in both),
           statistics.mean(differences), differences[worst], both[worst][0].name,
           " ".join(both[worst][0].options), quotient([(b.calls, a.calls) for _, b, a in both]),
           quotient([(b.ns, a.ns) for _, b, a in both]), equal,
           sum(b.failed for b in before), sum(a.failed for a in after)), flush=True)


def tell_noise(runs, before):
    """The deviation that other sizes give, for each program."""
    ratios = collections.defaultdict(list)
    for run, result in zip(runs, before):
        ratios[run.name].append(result.ratio)
    for name, of_one in ratios.items():
        print("noise     %-20s ratio %.4f to %.4f, deviation %.4f" %
              (name, min(of_one), max(of_one), statistics.stdev(of_one)))


def seeds_of(text):
    """"A-B" as a range."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    """The sets, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("new", metavar="NEW", nargs="+")
    parser.add_argument("--conf", default="", help="added to GPUMEM_CONF for NEW")
    parser.add_argument("--sets", default=",".join(SETS), help="which (all)")
    parser.add_argument("--seeds", type=seeds_of, default="7001-7001", metavar="A-B",
                        help="of the unseen programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    sets = [name for name in SETS if name in asked.sets.split(",")]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        runs = collections.defaultdict(list)
        for run in runs_of(sets, folder, asked.seeds):
            runs[run.set].append(run)
        for name in sets:
            before = list(pool.map(lambda run: replay(asked.base, run, ""), runs[name]))
            if name == "noise":
                tell_noise(runs[name], before)
                continue
            for new in asked.new:
                after = list(pool.map(functools.partial(replay, new, conf=asked.conf),
                                      runs[name]))
                tell(name, new, runs[name], before, after)


if __name__ == "__main__":
    main()
