#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""torch_memory_saver 0.0.10 and gpumem's names for it: pause and resume of tensors.

Each in turn, in a process of its own: 8 GiB in a region with enable_cpu_backup are
paused and resumed three times as it is by default, and then three times with
retain_cpu_backup, beside a copy of 1 GiB to pinned memory and back in the same
process. torch_memory_saver is used in its mode "torch", which needs no preload.

Lines of JSON: seconds, GB/s, what part of the pinned copy that is, and MiB that the
device has more while it is paused. The exit status is 0 if all bytes are the same
after each resume, at the same addresses, and each pause gave 8 GiB, but for 64 MiB.
Needs a GPU with 20 GiB, PyTorch and both packages. Times decide nothing.
"""

import argparse
import json
import subprocess
import sys
import time

GIB = 1 << 30
SLACK_BYTES = 64 << 20
THEIRS, OURS = "torch_memory_saver", "gpumem"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--packages", nargs="+", choices=(THEIRS, OURS), default=[THEIRS, OURS]
    )
    parser.add_argument("--rounds", type=int, default=1, help="turns of each")
    parser.add_argument("--cycles", type=int, default=3)
    parser.add_argument("--gib", type=int, default=8)
    parser.add_argument(
        "--seconds", type=int, default=120, help="that one may take"
    )
    parser.add_argument("--child", choices=(THEIRS, OURS), help="one of them")
    return parser.parse_args()


# ---- one package, in a process of its own --------------------------------------


def saver_of(name):
    if name == OURS:
        from gpumem.torch_memory_saver import torch_memory_saver as saver
    else:
        from torch_memory_saver import torch_memory_saver as saver
    saver.hook_mode = "torch"
    return saver


class Paused:
    def __init__(self, args):
        self.name = args.child
        self.saver = saver_of(self.name)
        import torch

        self.torch, self.wrong = torch, 0
        with self.saver.region(enable_cpu_backup=True):
            self.blocks = [
                torch.empty(GIB // 8, dtype=torch.int64, device="cuda")
                for _ in range(args.gib)
            ]
        torch.manual_seed(1)
        for each in self.blocks:
            each.random_()
        self.wanted = [each.clone() for each in self.blocks]
        self.places = [each.data_ptr() for each in self.blocks]
        self.bytes = args.gib * GIB

    def say(self, what, **more):
        for key, value in more.items():
            if isinstance(value, float):
                more[key] = round(value, 3)
        print(json.dumps({"package": self.name, "what": what, **more}))
        sys.stdout.flush()

    def timed(self, what, *args):
        self.torch.cuda.synchronize()
        begun = time.perf_counter()
        what(*args)
        self.torch.cuda.synchronize()
        return time.perf_counter() - begun

    def copies(self):
        """GB/s of a pinned copy to the host, and back; the second time."""
        torch, device = self.torch, self.wanted[0]
        host = torch.empty(device.shape, dtype=device.dtype, pin_memory=True)
        for _ in range(2):
            rates = [
                GIB / 1e9 / self.timed(to.copy_, of)
                for to, of in ((host, device), (device, host))
            ]
        self.say("pinned copy", to_host_gb_s=rates[0], to_device_gb_s=rates[1])
        return rates

    def same(self):
        return self.places == [each.data_ptr() for each in self.blocks] and all(
            map(self.torch.equal, self.blocks, self.wanted)
        )

    def cycle(self, what, rates):
        free = self.torch.cuda.mem_get_info()[0]
        down = self.timed(self.saver.pause)
        given = self.torch.cuda.mem_get_info()[0] - free
        up = self.timed(self.saver.resume)
        same = self.same()
        self.wrong += not same or given < self.bytes - SLACK_BYTES
        self.say(
            what,
            same=same,
            given_mib=given >> 20,
            pause_seconds=down,
            resume_seconds=up,
            pause_gb_s=self.bytes / 1e9 / down,
            resume_gb_s=self.bytes / 1e9 / up,
            pause_of_copy=self.bytes / 1e9 / down / rates[0],
            resume_of_copy=self.bytes / 1e9 / up / rates[1],
        )


def child(args):
    paused = Paused(args)
    rates = paused.copies()
    for what in "default", "retained":
        paused.saver.retain_cpu_backup = what == "retained"
        for _ in range(args.cycles):
            paused.cycle(what, rates)
    return 1 if paused.wrong else 0


# ---- all of them ---------------------------------------------------------------


def run(args, name):
    command = [sys.executable, __file__, "--child", name]
    command += ["--gib", str(args.gib), "--cycles", str(args.cycles)]
    try:
        status = subprocess.run(command, timeout=args.seconds).returncode
    except subprocess.TimeoutExpired:
        status = f"none after {args.seconds} seconds"
    if status:
        print(json.dumps({"wrong": f"{name}: its status is {status}"}))
    return status


def main():
    args = arguments()
    if args.child:
        return child(args)
    wrong = [
        name
        for _ in range(args.rounds)
        for name in args.packages
        if run(args, name)
    ]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
