#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Training by JAX with its own allocator and under gpumem-run: time and memory.

A network of dense layers and a small transformer train with each of

    default     JAX's own cache, without its reservation of most of the device
    cuda_async  JAX on the driver's stream-ordered pools
    platform    JAX without a cache, the mode that gives memory back
    adopt       gpumem-run --adopt, JAX in that mode

in processes that follow one another, each allocator's in turn, --turns times. A
process says the median of its steps, and the device's used memory is read by this
one: with a context and a small array; trained; after the arrays were deleted and
compiled functions dropped, and after gpumem.run.trim(). Needs the package gpumem
and a device that nobody else uses.

    python3 tests/device/jax_steps.py BUILD

BUILD is a folder in which `make` has been run. Prints a line of JSON for each
process and for each model the medians of all turns, the quartiles of the ratio of
adopt's turns to default's beside them, and what adopt reserved by what was asked
for. The exit status is 0 if the losses were the same, and under gpumem-run no
more than --most times what was asked for was reserved and nothing that it keeps is
left after the trim. Times decide nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from clearing import Meter

STEPS, WARM = 80, 10
OWN = {
    "default": {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    "cuda_async": {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"},
    "platform": {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"},
}
ADOPT = "adopt"
QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "XLA_FLAGS": "--xla_gpu_deterministic_ops=true",
}


# ---- the models ----------------------------------------------------------------


def dense(jax):
    """Parameters, a batch, and the loss."""
    jnp = jax.numpy
    keys = jax.random.split(jax.random.PRNGKey(1), 9)
    weights = [jax.random.normal(k, (2048, 2048)) * 0.05 for k in keys[:8]]

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x * x).mean()

    return weights, jax.random.normal(keys[8], (4096, 2048)), loss


def transformer(jax, layers=6, width=512, heads=8, words=8192, batch=16, length=256):
    jnp = jax.numpy
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 4 * layers + 2))

    def matrix(*shape):
        return jax.random.normal(next(keys), shape) * 0.02

    weights = {
        "words": matrix(words, width),
        "layers": [
            {
                "qkv": matrix(width, 3 * width),
                "out": matrix(width, width),
                "up": matrix(width, 4 * width),
                "down": matrix(4 * width, width),
            }
            for _ in range(layers)
        ],
    }
    text = jax.random.randint(next(keys), (batch, length + 1), 0, words)

    def norm(x):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)

    def attention(layer, x):
        shape = batch, length, heads, width // heads
        q, k, v = (y.reshape(shape) for y in jnp.split(norm(x) @ layer["qkv"], 3, -1))
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    def loss(weights, text):
        x = weights["words"][text[:, :-1]]
        for layer in weights["layers"]:
            y = attention(layer, x).reshape(batch, length, width)
            x = x + y @ layer["out"]
            x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        logits = jax.nn.log_softmax(norm(x) @ weights["words"].T)
        return -jnp.take_along_axis(logits, text[:, 1:, None], -1).mean()

    return weights, text, loss


MODELS = {"dense": dense, "transformer": transformer}


# ---- one process ---------------------------------------------------------------


def phase(name):
    """Waits until the device's memory was read."""
    print(json.dumps({"phase": name}), flush=True)
    if not sys.stdin.readline():
        os._exit(1)  # nobody reads any more


def train(jax, model):
    """Loss, and the median of the steps in milliseconds."""
    weights, batch, loss = MODELS[model](jax)

    @jax.jit
    def step(weights, batch):
        value, slopes = jax.value_and_grad(loss)(weights, batch)
        moved = jax.tree_util.tree_map(lambda w, s: w - 0.1 * s, weights, slopes)
        return value, moved

    times = []
    for _ in range(WARM + STEPS):
        begin = time.perf_counter()
        value, weights = step(weights, batch)
        value.block_until_ready()
        times.append((time.perf_counter() - begin) * 1e3)
    return float(value), statistics.median(times[WARM:]), (weights, batch, value)


def child(model):
    import jax

    import gpumem
    import gpumem.run

    if jax.default_backend() != "gpu":
        raise SystemExit("this JAX has no GPU")
    jax.numpy.zeros(1).block_until_ready()
    phase("context")
    value, milliseconds, own = train(jax, model)
    phase("trained")
    gpumem.release(own)
    jax.clear_caches()
    phase("deleted")
    gpumem.run.trim()
    phase("trimmed")
    print(json.dumps({"loss": value, "ms": round(milliseconds, 4)}), flush=True)
    os._exit(0)


# ---- all of them ---------------------------------------------------------------


def under(args, report):
    tool = os.path.join(args.build, "tools", "gpumem-run")
    return [tool, "--adopt", "--json", f"--report={report}"]


def counted(report):
    """What gpumem-run saw of the device."""
    with open(report) as file:
        (process,) = json.load(file)["processes"]
    device = process["devices"][0]
    return {
        "requested": device["peak_bytes"],
        "reserved": device["reserved_peak_bytes"],
        "ratio": round(device["reserved_peak_bytes"] / device["peak_bytes"], 4),
        "hits": device["pool"]["hits"],
        "misses": device["pool"]["misses"],
        "kept": device["pool"]["current_bytes"],
        "left": device["current_bytes"],
    }


def run(args, meter, model, allocator):
    """What a process said and what was read meanwhile."""
    command = [sys.executable, os.path.abspath(__file__), "--child", model, "."]
    environment = {**QUIET, **os.environ, **OWN.get(allocator, {})}
    result = {"model": model, "allocator": allocator}
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        if allocator == ADOPT:
            command = under(args, report) + command
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for line in process.stdout:
            said = json.loads(line)
            if "phase" not in said:
                result.update(said)
                continue
            result[said["phase"] + "_mib"] = meter.mib()
            process.stdin.write("\n")
            process.stdin.flush()
        process.stdin.close()
        result["status"] = process.wait()
        if allocator == ADOPT and not result["status"]:
            result.update(counted(report))
    meter.settled()
    print(json.dumps(result), flush=True)
    return result


def is_good(args, of):
    """Of a model: {allocator: [result of each turn]}."""
    results = [each for turns in of.values() for each in turns]
    if any(each["status"] for each in results):
        return False
    return len({each["loss"] for each in results}) == 1 and all(
        each["ratio"] <= args.most and not each["kept"] for each in of[ADOPT]
    )


def summary(model, of):
    """Medians, and the quartiles of ratios of turns that followed one another."""
    ratios = [a["ms"] / b["ms"] for a, b in zip(of[ADOPT], of["default"])]
    return {
        "model": model,
        "ms": {
            allocator: round(statistics.median(each["ms"] for each in turns), 3)
            for allocator, turns in of.items()
        },
        "time of adopt, by default": [
            round(part, 4) for part in statistics.quantiles(ratios)
        ],
        "reserved by requested": max(each["ratio"] for each in of[ADOPT]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--child", choices=MODELS)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.05)
    args = parser.parse_args()
    if args.child:
        child(args.child)
    meter = Meter()
    good = True
    for model in MODELS:
        of = {allocator: [] for allocator in (*OWN, ADOPT)}
        for turn in range(args.turns):
            order = list(of)
            # Each is first, and follows each other one, about equally often.
            order = order[turn % len(order) :] + order[: turn % len(order)]
            for allocator in order:
                of[allocator].append(run(args, meter, model, allocator))
        ran = is_good(args, of)
        if not any(each["status"] for turns in of.values() for each in turns):
            print(json.dumps(summary(model, of)), flush=True)
        good = good and ran
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
