# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Small programs of frameworks, for run_programs.sh: run_programs.py NAME. Each
# prints what it computed, in few digits, and writes the median of its steps in
# milliseconds to the file TIMES.

import os
import sys
import time


def steps(count, step):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    with open(os.environ.get("TIMES", os.devnull), "w") as file:
        print(f"{sorted(times)[len(times) // 2]:.3f}", file=file)


def run_jax():
    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x * x).mean()

    @jax.jit
    def train(weights, x):
        value, slopes = jax.value_and_grad(loss)(weights, x)
        return value, [w - 0.1 * s for w, s in zip(weights, slopes)]

    keys = jax.random.split(jax.random.PRNGKey(1), 9)
    state = [0, [jax.random.normal(k, (2048, 2048)) * 0.05 for k in keys[:8]]]
    x = jax.random.normal(keys[8], (4096, 2048))

    def step():
        state[0], state[1] = train(state[1], x)
        state[0].block_until_ready()

    step()
    steps(60, step)
    print(f"{float(state[0]):.3f}", jax.devices()[0].platform)


def run_torch():
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(
        *[m for _ in range(8) for m in (torch.nn.Linear(2048, 2048), torch.nn.Tanh())]
    ).cuda()
    adam = torch.optim.Adam(model.parameters(), 1e-4)
    x = torch.randn(4096, 2048, device="cuda")

    def step():
        adam.zero_grad()
        (model(x) ** 2).mean().backward()
        adam.step()
        torch.cuda.synchronize()

    step()
    steps(60, step)
    print(f"{(model(x) ** 2).mean().item():.3f}")
    graph = torch.cuda.CUDAGraph()
    y = torch.ones(1000, device="cuda")
    with torch.cuda.graph(graph):
        z = y * 2 + 1
    graph.replay()
    print("graph", z.sum().item())


def run_cupy():
    import cupy

    def step():
        a = cupy.arange(1 << 20, dtype=cupy.float64)
        return float((a * 2).sum())

    step()
    steps(60, step)
    print(step())


def run_numba():
    import numpy
    from numba import cuda

    def step():
        a = cuda.to_device(numpy.arange(1 << 20))
        return int(a.copy_to_host().sum())

    step()
    steps(60, step)
    print(step())


def run_onnxruntime():
    import numpy
    import onnx
    import onnxruntime

    info = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "y"], ["z"])],
        "product",
        [info("x", kind, [512, 512]), info("y", kind, [512, 512])],
        [info("z", kind, [512, 512])],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CUDAExecutionProvider"]
    )
    ones = numpy.ones((512, 512), numpy.float32)

    def step():
        return float(session.run(None, {"x": ones, "y": ones})[0].sum())

    step()
    steps(60, step)
    print(step(), session.get_providers()[0])


def run_transformers():
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(n_layer=6)).cuda().eval()
    start = torch.arange(16, device="cuda")[None]

    def step():
        mask = torch.ones_like(start)
        return model.generate(
            start, attention_mask=mask, max_new_tokens=32, do_sample=False, pad_token_id=0
        )

    step()
    steps(5, step)
    print(step()[0].tolist())


def network(torch):
    torch.manual_seed(1)
    layers = [(torch.nn.Linear(1024, 1024), torch.nn.GELU()) for _ in range(4)]
    return torch.nn.Sequential(*[each for both in layers for each in both]).cuda()


def run_compile():
    """Training by kernels that Triton, gcc and ptxas make, in processes of theirs."""
    import torch
    from torch._dynamo.utils import counters

    model = network(torch)
    compiled = torch.compile(model)
    sgd = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(4096, 1024, device="cuda")

    def step():
        sgd.zero_grad()
        loss = ((compiled(x) - x) ** 2).mean()
        loss.backward()
        sgd.step()
        return loss.item()

    step()
    steps(60, step)
    print(f"{step():.3f}", "graphs", counters["stats"]["unique_graphs"])


def run_compile_graphs():
    """Inference by CUDA graphs, of two sizes, so that there are two."""
    import torch
    from torch._dynamo.utils import counters

    model = network(torch)
    compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)
    inputs = [torch.randn(n, 1024, device="cuda") for n in (256, 4096)]

    def step():
        sums = []
        for x in inputs:
            torch.compiler.cudagraph_mark_step_begin()
            with torch.no_grad():
                sums.append((compiled(x) ** 2).sum().item())
        return sums

    for _ in range(3):  # compiled, recorded, and played
        step()
    steps(60, step)
    print(*(f"{each:.2f}" for each in step()))
    print("graphs", counters["stats"]["unique_graphs"], end=" ")
    print("not captured", counters["inductor"]["cudagraph_skips"])


globals()["run_" + sys.argv[1]]()
