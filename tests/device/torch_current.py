#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Blocks are on the device that PyTorch calls current, in threads that change it.

Four threads make one device or the other current in each of PyTorch's ways, allocate
through its allocator without saying where, and ask the driver which device has the
memory. Needs two GPUs and gpumem's Python package. The exit status is 0 if none was on
another device than torch.cuda.current_device() says.
"""

import argparse
import ctypes
import random
import sys
import threading

ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=20000)
    return parser.parse_args()


class Thread(threading.Thread):
    def __init__(self, torch, driver, rounds, seed):
        super().__init__()
        self.torch, self.driver, self.rounds = torch, driver, rounds
        self.draw = random.Random(seed)
        self.on = [0, 0]
        self.wrong = 0

    def look(self):
        own = self.torch._C
        ptr = own._cuda_cudaCachingAllocator_raw_alloc(4096, 0)
        found = ctypes.c_int(-1)
        self.driver.cuPointerGetAttribute(
            ctypes.byref(found), ORDINAL, ctypes.c_uint64(ptr)
        )
        own._cuda_cudaCachingAllocator_raw_delete(ptr)
        self.wrong += found.value != self.torch.cuda.current_device()
        self.on[found.value] += 1

    def run(self):
        cuda = self.torch.cuda
        for _ in range(self.rounds):
            way, number = self.draw.randrange(4), self.draw.randrange(2)
            if way == 0:
                cuda.set_device(number)
            elif way == 1:
                self.torch._C._cuda_maybeExchangeDevice(number)
            elif way == 2:
                with cuda.device(number):
                    self.look()
            self.look()


def main():
    args = arguments()
    import gpumem.torch
    import torch

    gpumem.torch.enable()
    driver = ctypes.CDLL("libcuda.so.1")
    threads = [Thread(torch, driver, args.rounds, x) for x in range(args.threads)]
    torch.cuda.init()
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for each in threads:
        print(f"on device 0 and 1: {each.on}, on another: {each.wrong}")
    return any(each.wrong or not min(each.on) for each in threads)


if __name__ == "__main__":
    sys.exit(main())
