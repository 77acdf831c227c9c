# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What the processes of run_nccl.py do.

    run_nccl_work.py ranks FOLDER     starts two of the next, a device each
    run_nccl_work.py rank FOLDER N    which meet in that folder
    run_nccl_work.py group FOLDER     one process with both devices

Prints the sum of each tensor. The exit status is 0 if all were right.
"""

import os
import subprocess
import sys
import time
from datetime import timedelta

RANKS, ROUNDS = 2, 2
MIB = 1 << 20
SIZES = 4, 4096, MIB + 4, 16 * MIB, 256 * MIB
ALONE = {  # no multicast, in whatever library
    "NCCL_NVLS_ENABLE": "0",
    "NVSHMEM_DISABLE_NVLS": "1",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
}


def numbers(torch, count, device, factor):
    """Small and whole, so that sums are exact whatever their order."""
    x = torch.arange(count, dtype=torch.int32, device=f"cuda:{device}")
    return ((x % 17) * factor).float()


def sum_of(count, factor):
    most, rest = divmod(count, 17)
    return (most * 136 + rest * (rest - 1) // 2) * factor


class Sums:
    """What a process found of each, and whether all of it was right."""

    def __init__(self, who):
        self.who, self.right = who, True

    def tell(self, bytes_, found):
        """{operation: (tensor, count, factor)}"""
        words = []
        for operation, (tensor, count, factor) in found.items():
            value = int(tensor.double().sum().item())
            right = value == sum_of(count, factor)
            self.right = self.right and right
            words.append(f"{operation} {value}{'' if right else ' WRONG'}")
        print(f"{self.who}, {bytes_} bytes:", *words, flush=True)


def send(torch, dist, mine, rank):
    got = torch.empty_like(mine)
    around = [
        dist.P2POp(dist.isend, mine, 1 - rank),
        dist.P2POp(dist.irecv, got, 1 - rank),
    ]
    for work in dist.batch_isend_irecv(around):
        work.wait()
    return got


def collect(torch, dist, rank, bytes_, sums):
    count = bytes_ // 4
    mine = numbers(torch, count, rank, rank + 1)
    sum_, root = mine.clone(), mine.clone()
    every = torch.empty(RANKS * count, device=f"cuda:{rank}")
    dist.all_reduce(sum_)
    dist.broadcast(root, 1)
    dist.all_gather_into_tensor(every, mine)
    found = {
        "all_reduce": (sum_, count, 3),
        "broadcast": (root, count, 2),
        "all_gather": (every, count, 3),
        "received": (send(torch, dist, mine, rank), count, 2 - rank),
    }
    sums.tell(bytes_, found)


def run_rank(folder, rank):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    dist.init_process_group(
        "nccl",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=RANKS,
        timeout=timedelta(seconds=60),
    )
    sums = Sums(f"rank {rank}")
    for bytes_ in SIZES * ROUNDS:
        collect(torch, dist, rank, bytes_, sums)
        torch.cuda.empty_cache()  # so that addresses change hands
    dist.destroy_process_group()
    return 0 if sums.right else 1


def collect_group(torch, nccl, bytes_, sums):
    count, devices = bytes_ // 4, range(RANKS)
    mine = [numbers(torch, count, i, i + 1) for i in devices]
    sum_, root = [x.clone() for x in mine], [x.clone() for x in mine]
    every = [torch.empty(RANKS * count, device=f"cuda:{i}") for i in devices]
    nccl.all_reduce(sum_)
    nccl.broadcast(root)  # of the first, whatever PyTorch is told
    nccl.all_gather(mine, every)
    sent = [mine[1 - i].to(f"cuda:{i}") for i in devices]
    for i in devices:
        found = {
            "all_reduce": (sum_[i], count, 3),
            "broadcast": (root[i], count, 1),
            "all_gather": (every[i], count, 3),
            "copied": (sent[i], count, 2 - i),
        }
        sums.tell(f"device {i}, {bytes_}", found)


def run_group():
    import torch
    from torch.cuda import nccl

    for i in range(RANKS):  # each may reach the other's, expandable segments too
        torch.ones(1, device=f"cuda:{i}").to(f"cuda:{1 - i}")
    sums = Sums("group")
    for bytes_ in SIZES * ROUNDS:
        collect_group(torch, nccl, bytes_, sums)
        for i in range(RANKS):
            torch.cuda.synchronize(i)
        torch.cuda.empty_cache()
    return 0 if sums.right else 1


def run_ranks(folder):
    """Starts both, and prints what they did, one behind the other."""
    command = [sys.executable, os.path.abspath(__file__), "rank", folder]
    out = [open(f"{folder}/rank{rank}", "w+") for rank in range(RANKS)]
    running = [
        subprocess.Popen([*command, str(rank)], stdout=out[rank])
        for rank in range(RANKS)
    ]
    until = None
    while any(each.poll() is None for each in running):
        if until is None and any(each.poll() for each in running):
            until = time.monotonic() + 10  # the other one may wait for it
        if until is not None and time.monotonic() > until:
            break
        time.sleep(0.05)
    for each, file in zip(running, out):
        each.kill()
        each.wait()
        file.seek(0)
        print(file.read(), end="")
    statuses = [each.returncode for each in running]
    print("statuses", *statuses, flush=True)
    return 1 if any(statuses) else 0


def main():
    os.environ.update(ALONE)
    part, folder = sys.argv[1:3]
    if part == "rank":
        return run_rank(folder, int(sys.argv[3]))
    return run_group() if part == "group" else run_ranks(folder)


if __name__ == "__main__":
    sys.exit(main())
