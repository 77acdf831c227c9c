#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What each recipe for clearing GPU memory frees, measured: a table in Markdown.

A model of 4 GiB is trained for a step by Adam; then each recipe runs in a process
of its own, with PyTorch's own allocator and with gpumem.torch.enable(). What the
device shows as used by then is asked of the driver, in MiB, and stands beside
what it showed before PyTorch was used. Needs PyTorch with a GPU that no other
process uses, and the package gpumem installed.

    python3 tests/device/clearing.py
"""

import argparse
import gc
import json
import os
import subprocess
import sys

MIB = 1 << 20
LAYERS, WIDTH = 16, 8192


def used(torch):
    """MiB of the device that are in use, by whomever."""
    free, total = torch.cuda.mem_get_info()
    return (total - free) // MIB


def make(torch):
    model = torch.nn.Sequential(
        *(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))
    ).cuda()
    adam = torch.optim.Adam(model.parameters())
    model(torch.randn(64, WIDTH, device="cuda")).sum().backward()
    adam.step()
    return {"model": model, "adam": adam}


def nothing(torch, own):
    return own


def delete(torch, own):
    own.clear()


def collect(torch, own):
    own.clear()
    gc.collect()


def empty(torch, own):
    torch.cuda.empty_cache()
    return own


def everything(torch, own):
    own.clear()
    gc.collect()
    torch.cuda.empty_cache()


def to_host(torch, own):
    own["model"].cpu()
    torch.cuda.empty_cache()
    return own


def no_gradients(torch, own):
    own["adam"].zero_grad(set_to_none=True)
    torch.cuda.empty_cache()
    return own


def forgotten(torch, own):
    """One name more, as a notebook or a log keeps."""
    keep = list(own.values())
    own.clear()
    gc.collect()
    torch.cuda.empty_cache()
    return keep


def release(torch, own):
    import gpumem

    keep = list(own.values())  # it ends their memory all the same
    gpumem.release(own)
    return keep


RECIPES = {
    "nothing": nothing,
    "`del model, optimizer`": delete,
    "`del`, `gc.collect()`": collect,
    "`torch.cuda.empty_cache()` alone": empty,
    "`del`, `gc.collect()`, `empty_cache()`": everything,
    "the same, while one variable still refers to them": forgotten,
    "`model.cpu()`, `empty_cache()`": to_host,
    "`zero_grad(set_to_none=True)`, `empty_cache()`": no_gradients,
    "`gpumem.release(model, optimizer)`, while one variable does": release,
}


def one(index, allocator):
    import torch

    if allocator == "gpumem":
        import gpumem.torch

        gpumem.torch.enable()
    before = used(torch)
    own = make(torch)
    torch.cuda.synchronize()
    model = used(torch)
    keep = list(RECIPES.values())[index](torch, own)
    torch.cuda.synchronize()
    result = {"before": before, "model": model, "after": used(torch)}
    print(json.dumps(result), flush=True)
    os._exit(0 if keep is None or keep else 1)


def spawn(index, allocator):
    command = [sys.executable, os.path.abspath(__file__)]
    command += ["--one", str(index), "--allocator", allocator]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["?"]
        return {"failed": lines[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def cell(result):
    if "failed" in result:
        return "failed: " + result["failed"]
    return f"{result['model']} to {result['after']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--allocator", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one is not None:
        one(args.one, args.allocator)
    import torch

    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}; MiB")
    print("in use on the device with the model, and after the recipe:\n")
    print("| recipe | native | gpumem |\n|---|---|---|")
    bad = False
    for index, name in enumerate(RECIPES):
        native = spawn(index, "native")
        mine = spawn(index, "gpumem")
        bad = bad or "failed" in mine
        print(f"| {name} | {cell(native)} | {cell(mine)} |", flush=True)
    print(f"\nbefore the model: {mine.get('before')} MiB, of the context")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
