#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A small GPT that JAX trains with Adam, for framework_memory.py.

    python3 tests/device/jax_programs.py gpt --ways donated,step

A way is "donated", a jitted step that is given the old weights (donate_argnums),
"step", one that makes new ones, or "devices", the latter with its batch on all devices
of the machine. After each the arrays are deleted and compiled functions dropped.
Prints losses and sums, which are the same with each allocator, and speaks with who
measures as measured.py says. --tiny is for machines without a GPU.
"""

import argparse
import gc
import statistics
import time

import jax
import measured

jnp = jax.numpy
EPOCHS, STEPS = 5, 8  # the first epoch is not counted
FULL = {
    "width": 1024,
    "layers": 12,
    "heads": 16,
    "words": 16384,
    "length": 512,
    "batch": 16,
}
TINY = {"width": 16, "layers": 1, "heads": 2, "words": 32, "length": 8, "batch": 2}


# ---- the model -------------------------------------------------------------------


def weights(size):
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 4 * size["layers"] + 1))
    width = size["width"]

    def matrix(*shape):
        return jax.random.normal(next(keys), shape) * 0.02

    return {
        "words": matrix(size["words"], width),
        "layers": [
            {
                "qkv": matrix(width, 3 * width),
                "out": matrix(width, width),
                "up": matrix(width, 4 * width),
                "down": matrix(4 * width, width),
            }
            for _ in range(size["layers"])
        ],
    }


def norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def layer(of, x, heads):
    batch, length, width = x.shape
    shape = batch, length, heads, width // heads
    q, k, v = (y.reshape(shape) for y in jnp.split(norm(x) @ of["qkv"], 3, -1))
    y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    x = x + y.reshape(x.shape) @ of["out"]
    return x + jax.nn.gelu(norm(x) @ of["up"]) @ of["down"]


def loss(params, text, heads):
    # One-hot: what the gradient of a look-up adds up in is not the allocator's.
    x = jax.nn.one_hot(text[:, :-1], params["words"].shape[0]) @ params["words"]
    for of in params["layers"]:
        x = layer(of, x, heads)
    logits = jax.nn.log_softmax(norm(x) @ params["words"].T)
    wanted = jax.nn.one_hot(text[:, 1:], params["words"].shape[0])
    return -(logits * wanted).sum(-1).mean()


def start(size):
    params = weights(size)
    zeros = jax.tree.map(jnp.zeros_like, params)
    again = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "first": zeros, "second": again, "time": jnp.zeros(())}


def adam(heads, state, text):
    value, slopes = jax.value_and_grad(loss)(state["params"], text, heads)
    at = state["time"] + 1
    first = jax.tree.map(lambda m, s: 0.9 * m + 0.1 * s, state["first"], slopes)
    second = jax.tree.map(
        lambda v, s: 0.999 * v + 0.001 * s * s, state["second"], slopes
    )
    rate = 1e-4 * jnp.sqrt(1 - 0.999**at) / (1 - 0.9**at)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8),
        state["params"],
        first,
        second,
    )
    new = {"params": params, "first": first, "second": second, "time": at}
    return new, value


# ---- training --------------------------------------------------------------------


def placed(way, state, text):
    """Both where they are to be: on one device, or each batch on all."""
    if way != "devices":
        return state, text
    mesh = jax.make_mesh((jax.device_count(),), ("batch",))
    part = jax.sharding.PartitionSpec
    whole = jax.sharding.NamedSharding(mesh, part())
    split = jax.sharding.NamedSharding(mesh, part("batch"))
    return jax.device_put(state, whole), jax.device_put(text, split)


def trained(way, size, epochs):
    """The state, the losses, the seconds of each epoch, sums, and the text."""
    text = jax.random.randint(
        jax.random.PRNGKey(2), (size["batch"], size["length"] + 1), 0, size["words"]
    )
    state, text = placed(way, start(size), text)

    def step(state, text):
        return adam(size["heads"], state, text)

    step = jax.jit(step, donate_argnums=() if way == "step" else 0)
    losses, seconds = [], []
    for _ in range(epochs):
        begun = time.perf_counter()
        for _ in range(STEPS):
            state, value = step(state, text)
        losses.append(float(value))
        seconds.append(time.perf_counter() - begun)
    total = jnp.sum(jnp.abs(state["params"]["layers"][0]["up"]))
    return [state, text], losses, seconds, [float(total)]


def live_bytes():
    stats = jax.devices()[0].memory_stats() or {}
    return stats.get("peak_bytes_in_use")


def profile_bytes():
    """The memory profile's size, which is more than nothing while arrays live."""
    return len(jax.profiler.device_memory_profile())


def one_way(args, way):
    size = TINY if args.tiny else FULL
    own, losses, seconds, sums = trained(way, size, args.epochs)
    print("gpt", way, "losses", *map(repr, losses), flush=True)
    print("gpt", way, "sums", *map(repr, sums), flush=True)
    measured.phase(
        "trained",
        way=way,
        epoch_s=statistics.median(seconds[1:] or seconds),
        live_bytes=live_bytes(),
        profile_bytes=profile_bytes(),
    )
    own.clear()
    gc.collect()
    measured.phase("deleted")
    jax.clear_caches()
    gc.collect()
    measured.phase("cleared")
    measured.given_back()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", choices=["gpt"])
    parser.add_argument("--ways", default="donated,step")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    measured.imported(jax)
    if not args.tiny and jax.default_backend() != "gpu":
        raise SystemExit("this JAX has no GPU")
    jnp.zeros(1).block_until_ready()
    measured.phase("context")
    ways = args.ways.split(",")
    if jax.device_count() > 1 and "devices" not in ways:
        ways.append("devices")
    for way in ways:
        one_way(args, way)
    measured.leave()


if __name__ == "__main__":
    main()
