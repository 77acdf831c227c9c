#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyTorch asleep: graphs that replay after a wake, and a training that goes on.

A model in the way of Llama's, with random weights. Its forward pass is captured as a
CUDA graph; the pool sleeps and wakes ten times, and each time the graph is replayed on
another input: the result has to be what the model gave for it before any sleep, bit by
bit, and no tensor has another address. Then it is trained by Adam, twice from the same
weights and inputs: the losses of the run that sleeps and wakes between its steps have
to be those of the run that does not. In each sleep the pool has nothing of the device,
and the driver has to have as much more memory free as the pool says that it gave; what
is used of the device then (`used_bytes`) is the context's and that of its libraries.
Needs a GPU with 4 GiB, for --model=1.2b with 40 GiB and as much of the host's, and
gpumem's Python package. Prints lines of JSON; the exit status is 0 if all of it is as
it was. Times decide nothing.
"""

import argparse
import json
import os
import sys
import time

CYCLES = 10
LENGTH, ROWS = 256, 8
# Words, width, heads and layers.
MODELS = {"small": (8192, 512, 8, 4), "1.2b": (32768, 2048, 32, 17)}
# What the driver may take meanwhile for itself, also to pin as much of the host.
SLACK_BYTES = 64 << 20

# cuBLAS adds in one order only with a workspace of its own for each stream.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backend", default="cuda", help="gpumem's")
    parser.add_argument("--cycles", type=int, default=CYCLES)
    parser.add_argument("--model", choices=MODELS, default="small")
    parser.add_argument("--steps", type=int, default=3, help="between two sleeps")
    return parser.parse_args()


# ---- the model -----------------------------------------------------------------


def model(torch, args):
    words, width, heads, layers = MODELS[args.model]
    nn, functional = torch.nn, torch.nn.functional

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
            return x * scale * self.weight

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = Norm(), Norm()
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.up = nn.Linear(width, 8 * width, bias=False)
            self.down = nn.Linear(4 * width, width, bias=False)

        def attend(self, x):
            parts = self.qkv(x).view(*x.shape[:2], 3, heads, width // heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            scores = q @ k.transpose(-1, -2) * (width // heads) ** -0.5
            later = torch.ones(
                x.shape[1], x.shape[1], dtype=torch.bool, device=x.device
            ).triu(1)
            weights = scores.masked_fill(later, float("-inf")).softmax(-1)
            return self.out((weights @ v).transpose(1, 2).reshape(x.shape))

        def forward(self, x):
            x = x + self.attend(self.before(x))
            gate, value = self.up(self.between(x)).chunk(2, -1)
            return x + self.down(functional.silu(gate) * value)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(words, width)
            nn.init.normal_(self.words.weight, std=0.02)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm = Norm()

        def forward(self, ids):
            x = self.words(ids)
            for layer in self.layers:
                x = layer(x)
            return functional.linear(self.norm(x), self.words.weight)

    torch.manual_seed(1)
    with torch.device("cuda"):
        return Model()


def inputs(torch, args, count):
    """The same ones each time, of few words, which can be learned."""
    draw = torch.Generator().manual_seed(2)
    shape = ROWS, LENGTH + 1
    return [
        torch.randint(MODELS[args.model][0] // 64, shape, generator=draw).cuda()
        for _ in range(count)
    ]


# ---- asleep --------------------------------------------------------------------


class Sleeper:
    """Puts the pool of PyTorch's to sleep, and wakes it; counts what is wrong."""

    def __init__(self, torch, backend):
        import gpumem
        import gpumem.torch

        gpumem.torch.enable(backend=backend)
        self.torch, self.gpumem = torch, gpumem
        self.pool = gpumem.torch.pool(0)
        self.wrong = 0

    def cycle(self, what):
        torch = self.torch
        torch.cuda.synchronize()
        before, total = torch.cuda.mem_get_info()
        begun = time.perf_counter()
        slept = self.gpumem.sleep(self.pool, content="retained")
        down = time.perf_counter() - begun
        free = torch.cuda.mem_get_info()[0]
        given, left = free - before, self.pool.stats()["reserved"]["current"]
        begun = time.perf_counter()
        self.gpumem.wake(self.pool)
        up = time.perf_counter() - begun
        self.check(
            what,
            slept.kept_bytes > 0
            and left == 0
            and given + SLACK_BYTES + slept.kept_bytes // 64
            >= slept.device_bytes,
            kept_bytes=slept.kept_bytes,
            pool_gave_bytes=slept.device_bytes,
            device_got_bytes=given,
            pool_has_bytes=left,
            used_bytes=total - free,
            ms=[round(1e3 * down, 1), round(1e3 * up, 1)],
        )

    def check(self, what, right, **more):
        self.wrong += not right
        print(json.dumps({"what": what, "right": bool(right), **more}))
        sys.stdout.flush()


def graphs(torch, sleeper, args):
    net = model(torch, args).eval()
    given = [each[:, :LENGTH] for each in inputs(torch, args, args.cycles)]
    held = given[0].clone()
    beside = torch.cuda.Stream()
    with torch.no_grad():
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(3):
                net(held)
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = net(held)
        wanted = []
        for each in given:
            held.copy_(each)
            graph.replay()
            wanted.append(result.cpu())
    tensors = [held, result, *given, *net.parameters()]
    addresses = [each.data_ptr() for each in tensors]
    for number, each in enumerate(given):
        sleeper.cycle("sleep with a graph")
        held.copy_(each)
        graph.replay()
        sleeper.check(
            "graph after a wake",
            torch.equal(result.cpu(), wanted[number])
            and addresses == [each.data_ptr() for each in tensors],
            cycle=number,
        )


def trained(torch, args, between):
    """The losses; `between` is called after every so many steps."""
    net = model(torch, args)
    adam = torch.optim.Adam(net.parameters(), lr=3e-4)
    losses = []
    for number, ids in enumerate(
        inputs(torch, args, args.cycles * args.steps), 1
    ):
        logits = net(ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), ids[:, 1:].flatten()
        )
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
        if number % args.steps == 0:
            between()
    return losses


def training(torch, sleeper, args):
    awake = trained(torch, args, lambda: None)
    torch.cuda.empty_cache()
    asleep = trained(torch, args, lambda: sleeper.cycle("sleep in a training"))
    sleeper.check("losses", awake == asleep, awake=awake, asleep=asleep)
    sleeper.check("it learns", awake[-1] < awake[0])


def main():
    args = arguments()
    import torch

    torch.use_deterministic_algorithms(True)
    sleeper = Sleeper(torch, args.backend)
    graphs(torch, sleeper, args)
    training(torch, sleeper, args)
    return 1 if sleeper.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
