# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Tensors that go to another process on the same GPU: a part of torch_peers.py.

The other process does what it is asked for by a pipe, and lives as long as the
part. Both have called gpumem.torch.enable(share=...).
"""

import gc
import os

MIB, GIB = 1 << 20, 1 << 30


def open_files():
    return len(os.listdir("/proc/self/fd"))


# ---- the other process -------------------------------------------------------


def receive(pipe, way):
    import torch

    import gpumem.torch

    gpumem.torch.enable(subclass=True, share=way)
    torch.cuda.set_device(0)
    kept = {}
    asked = pipe.recv()
    while asked:
        try:
            told = ASKED[asked[0]](torch, kept, *asked[1:])
        except RuntimeError as error:
            told = str(error)
        pipe.send(told)
        del asked, told
        asked = pipe.recv()


def keep(torch, kept, name, x):
    """The sum of what it was sent, for which the sender has not waited."""
    kept[name] = x
    return add_up(torch, kept, name)


def add_up(torch, kept, name):
    return float(kept[name].double().sum())


def add(torch, kept, name, value):
    kept[name] += value
    torch.cuda.synchronize()


def drop(torch, kept, name):
    del kept[name]
    gc.collect()
    return open_files()


ASKED = {"keep": keep, "add": add, "drop": drop, "sum": add_up}


# ---- this one ----------------------------------------------------------------


def ask(pipe, *what):
    pipe.send(what)
    if not pipe.poll(60):
        raise RuntimeError(f"no answer to {what[0]}")
    return pipe.recv()


def collect(torch):
    gc.collect()
    torch.cuda.ipc_collect()


def sizes(torch, pipe, ok):
    wrong = []
    for i, count in enumerate((1, 1000, 3 * MIB + 1, 64 * MIB, GIB // 4)):
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.full((count,), i + 1.0, dtype=dtype, device="cuda")
            told = ask(pipe, "keep", "x", x)
            if told != count * (i + 1.0):
                wrong.append((count, dtype, told))
            ask(pipe, "drop", "x")
            collect(torch)
    ok(not wrong, "tensors of all sizes arrive", *wrong)


def one_memory(torch, pipe, ok):
    x = torch.zeros(5 * MIB, device="cuda")
    told = ask(pipe, "keep", "x", x), ask(pipe, "keep", "y", x[MIB:])
    ask(pipe, "add", "x", 2)
    ask(pipe, "add", "y", 3)
    right = bool((x[:MIB] == 2).all()) and bool((x[MIB:] == 5).all())
    ok(told == (0, 0) and right, "what the other writes is here", *told)
    ask(pipe, "drop", "x")
    ask(pipe, "drop", "y")


def order(torch, pipe, ok):
    wrong = 0
    for i in range(20):
        x = torch.zeros(MIB, device="cuda")
        torch.cuda._sleep(50_000_000)
        x.fill_(i)
        wrong += ask(pipe, "keep", "x", x) != i * MIB
        ask(pipe, "drop", "x")
        collect(torch)
    ok(wrong == 0, "the other waits for what was launched here", wrong)


def lifetime(torch, pipe, ok):
    collect(torch)
    before = torch.cuda.memory_allocated()
    x = torch.full((16 * MIB,), 7.0, device="cuda")
    ask(pipe, "keep", "x", x)
    del x
    collect(torch)
    torch.cuda.empty_cache()
    held = torch.cuda.memory_allocated() - before
    for i in range(20):
        torch.full((16 * MIB,), float(i), device="cuda")
    there = ask(pipe, "sum", "x")
    kept = held == 64 * MIB and there == 7.0 * 16 * MIB
    ok(kept, "what the other has is kept", held, there)
    ask(pipe, "drop", "x")
    collect(torch)
    left = torch.cuda.memory_allocated() - before
    ok(left == 0, "and freed when it lets go", left)


def many(torch, pipe, ok):
    """Files and memory are the same after a while as before it."""
    x = [torch.full((2 * MIB,), float(i), device="cuda") for i in range(50)]
    told, files, mine = [], [], []
    for _ in range(3):
        told += [ask(pipe, "keep", i, each) for i, each in enumerate(x)]
        files += [[ask(pipe, "drop", i) for i in range(len(x))][-1]]
        collect(torch)
        mine += [open_files()]
    want = [2.0 * MIB * i for i in range(len(x))] * 3
    ok(told == want, "many, again and again")
    # PyTorch has a file of counters for each 10000.
    level = files[-1] <= files[0] + 4 and mine[-1] <= mine[0] + 4
    ok(level, "without files left open", files, mine)


def run(torch, way, ok):
    context = torch.multiprocessing.get_context("spawn")
    pipe, end = context.Pipe()
    process = context.Process(target=receive, args=(end, way), daemon=True)
    process.start()
    end.close()
    for part in (sizes, one_memory, order, lifetime, many):
        part(torch, pipe, ok)
        collect(torch)
    pipe.send(None)
    process.join(60)
    ok(process.exitcode == 0, "the other ends", process.exitcode)
