# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""One rank of torch_peers.py's collectives by NCCL, a process with its own GPU.

    python3 torch_ranks.py ALLOCATOR RANK STORE

ALLOCATOR is "native", "subclass", or "shared": the same, with pages that can go to
other processes, which NCCL may then register for them. STORE is a file that the
ranks meet in. Prints a line of JSON: what was wrong, and a digest of every result,
which is to be the same with each. Sums are exact whatever their order, since the
numbers are small and whole, or there are two ranks.
"""

import hashlib
import json
import sys
from datetime import timedelta

RANKS = 2
MIB = 1 << 20


def numbers(torch, count, rank, dtype):
    return (torch.arange(count, device="cuda") % 17 * (rank + 1)).to(dtype)


def sums(torch, dist, rank, wrong):
    """Of tensors that come and go, so that addresses change hands, and pages too."""
    kept = []
    for i in range(60):
        dtype = (torch.float32, torch.bfloat16, torch.int64)[i % 3]
        count = (1, 1000, 3 * MIB + 1, 16 * MIB)[i % 4] + i
        x = numbers(torch, count, rank, dtype)
        want = numbers(torch, count, 0, dtype) * (RANKS * (RANKS + 1) // 2)
        dist.all_reduce(x)
        if not torch.equal(x, want):
            wrong.append(f"all_reduce of {count} {dtype}")
        kept = (kept + [x])[-3:]
        del x, want
        if i % 7 == 6:
            kept.clear()
            torch.cuda.synchronize()
            torch.cuda.empty_cache()


def others(torch, dist, rank, wrong):
    count = 5 * MIB + 3
    mine = numbers(torch, count, rank, torch.float32)
    every = torch.empty(RANKS * count, device="cuda")
    dist.all_gather_into_tensor(every, mine)
    want = [numbers(torch, count, i, torch.float32) for i in range(RANKS)]
    if not torch.equal(every, torch.cat(want)):
        wrong.append("all_gather_into_tensor")
    part = torch.empty(count, device="cuda")
    dist.reduce_scatter_tensor(part, every)
    if not torch.equal(part, want[rank] * RANKS):
        wrong.append("reduce_scatter_tensor")
    got = torch.empty(count, device="cuda")
    around = [
        dist.P2POp(dist.isend, mine, (rank + 1) % RANKS),
        dist.P2POp(dist.irecv, got, (rank - 1) % RANKS),
    ]
    for work in dist.batch_isend_irecv(around):
        work.wait()
    if not torch.equal(got, want[(rank - 1) % RANKS]):
        wrong.append("batch_isend_irecv")


def random_sum(torch, dist, rank, digest):
    torch.manual_seed(rank)
    x = torch.randn(7 * MIB, device="cuda")
    dist.all_reduce(x)
    digest.update(x.cpu().numpy().tobytes())


def train(torch, rank, digest):
    """Steps of a model whose gradients are summed; its weights."""
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    layers = [torch.nn.Linear(1024, 1024) for _ in range(8)]
    model = torch.nn.Sequential(*layers).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, [rank])
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(100 + rank)
    for step in range(20):
        x = torch.randn(16 + 5 * (step % 4), 1024, device="cuda")
        (model(x) - x).square().mean().backward()
        sgd.step()
        sgd.zero_grad(set_to_none=True)
    for weight in model.parameters():
        digest.update(weight.detach().cpu().numpy().tobytes())


def main():
    allocator, rank, store = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    import torch
    import torch.distributed as dist

    if allocator != "native":
        import gpumem.torch

        way = "fd" if allocator == "shared" else None
        gpumem.torch.enable(subclass=True, share=way)
    torch.cuda.set_device(rank)
    before = torch.ones(40 * MIB, device="cuda")  # there when NCCL begins
    dist.init_process_group(
        "nccl",
        init_method=f"file://{store}",
        rank=rank,
        world_size=RANKS,
        timeout=timedelta(seconds=60),
    )
    wrong, digest = [], hashlib.sha256()
    sums(torch, dist, rank, wrong)
    others(torch, dist, rank, wrong)
    random_sum(torch, dist, rank, digest)
    train(torch, rank, digest)
    dist.all_reduce(before)
    if not bool((before == RANKS).all()):
        wrong.append("all_reduce of what was there before")
    torch.cuda.synchronize()
    print(json.dumps({"wrong": wrong, "digest": digest.hexdigest()}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
