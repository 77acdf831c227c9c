#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Models that Keras trains, one way after the other, for framework_memory.py.

    python3 tests/device/keras_programs.py dense|conv|transformer --ways WAYS

A way is "eager", "function" (a tf.function) or "session" (tf.compat.v1.Session,
without Keras: keras_session.py), "jit", a function that XLA compiles, as Keras has it
where nobody asks for deterministic operations, and none of the others beside it, or
with another backend of Keras's (KERAS_BACKEND) "fit". After each the model is deleted and the session cleared, as users do.
Prints losses and sums, which are the same with each allocator, and speaks with who
measures as measured.py says. --tiny is for machines without a GPU; --repeat=N trains
N models one after the other and gives nothing back between them but as a user would.
"""

import argparse
import gc
import os
import statistics
import sys
import time

import measured

BACKEND = os.environ.setdefault("KERAS_BACKEND", "tensorflow")
EPOCHS = 5  # the first is not counted
WAYS = {"tensorflow": "function,eager,session"}
FULL = {
    "dense": {"width": 8192, "layers": 6, "batch": 512, "steps": 10},
    "conv": {"side": 96, "channels": 64, "layers": 5, "batch": 192, "steps": 6},
    "transformer": {
        "width": 1024,
        "layers": 6,
        "heads": 16,
        "words": 4096,
        "length": 256,
        "batch": 32,
        "steps": 8,
    },
}
TINY = {
    "dense": {"width": 32, "layers": 2, "batch": 4, "steps": 2},
    "conv": {"side": 16, "channels": 4, "layers": 2, "batch": 2, "steps": 2},
    "transformer": {
        "width": 16,
        "layers": 1,
        "heads": 2,
        "words": 32,
        "length": 8,
        "batch": 2,
        "steps": 2,
    },
}


# ---- models ----------------------------------------------------------------------


def dense(keras, size):
    layer = keras.layers.Dense
    return keras.Sequential(
        [layer(size["width"], activation="relu") for _ in range(size["layers"])]
        + [layer(16)]
    )


def conv(keras, size):
    layers, channels = [], size["channels"]
    for _ in range(size["layers"]):
        layers += [
            keras.layers.Conv2D(channels, 3, padding="same", use_bias=False),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
        ]
    last = [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(16)]
    return keras.Sequential(layers + last)


def transformer(keras, size):
    width, heads = size["width"], size["heads"]
    words = keras.Input((size["length"],), dtype="int32")
    # No embedding: what its gradient adds up in, no allocator decides.
    x = keras.ops.one_hot(words, size["words"])
    x = keras.layers.Dense(width, use_bias=False)(x)
    for _ in range(size["layers"]):
        y = keras.layers.LayerNormalization()(x)
        y = keras.layers.MultiHeadAttention(heads, width // heads)(
            y, y, use_causal_mask=True
        )
        x = keras.layers.Add()([x, y])
        y = keras.layers.LayerNormalization()(x)
        y = keras.layers.Dense(4 * width, activation="gelu")(y)
        x = keras.layers.Add()([x, keras.layers.Dense(width)(y)])
    x = keras.layers.GlobalAveragePooling1D()(x)
    return keras.Model(words, keras.layers.Dense(16)(x))


MODELS = {"dense": dense, "conv": conv, "transformer": transformer}


def data(numpy, program, size):
    """An epoch of it."""
    random = numpy.random.default_rng(1)
    count = size["batch"] * size["steps"]
    y = random.random((count, 16), dtype=numpy.float32)
    if program == "dense":
        return random.random((count, size["width"]), dtype=numpy.float32), y
    if program == "conv":
        shape = (count, size["side"], size["side"], 3)
        return random.random(shape, dtype=numpy.float32), y
    shape = (count, size["length"])
    return random.integers(0, size["words"], shape, dtype=numpy.int32), y


# ---- training --------------------------------------------------------------------


def clock(keras):
    class Clock(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.seconds, self.losses = [], []

        def on_epoch_begin(self, epoch, logs=None):
            self.begun = time.perf_counter()

        def on_epoch_end(self, epoch, logs=None):
            self.losses.append(float(logs["loss"]))
            self.seconds.append(time.perf_counter() - self.begun)

    return Clock()


def by_keras(keras, args, way, size, both):
    """The model, its losses and seconds of each epoch, and sums of what it became."""
    import numpy

    keras.utils.set_random_seed(1)
    model = MODELS[args.program](keras, size)
    model.compile(
        keras.optimizers.Adam(1e-4),
        keras.losses.MeanSquaredError(),
        run_eagerly=way == "eager",
        jit_compile=way == "jit" or BACKEND == "jax",
    )
    told = clock(keras)
    model.fit(
        *both,
        batch_size=size["batch"],
        epochs=args.epochs,
        shuffle=False,
        verbose=0,
        callbacks=[told],
    )
    output = model.predict_on_batch(both[0][: size["batch"]])
    first = keras.ops.convert_to_numpy(model.trainable_variables[0])
    sums = [float(numpy.sum(each, dtype=float)) for each in (output, first)]
    return [model], told.losses, told.seconds, sums


def trained(keras, args, way, size, both):
    if way != "session":
        return by_keras(keras, args, way, size, both)
    import keras_session

    return keras_session.train(args.program, size, both, args.epochs)


# ---- the device ------------------------------------------------------------------


def context(args):
    """The backend's first use of the device."""
    if BACKEND == "tensorflow":
        import tensorflow

        if not args.tiny and not tensorflow.config.list_physical_devices("GPU"):
            raise SystemExit("this TensorFlow has no GPU")
        tensorflow.random.set_seed(1)
        if "jit" not in args.ways:
            tensorflow.config.experimental.enable_op_determinism()
        tensorflow.zeros(1)
    elif BACKEND == "jax":
        import jax

        if not args.tiny and jax.default_backend() != "gpu":
            raise SystemExit("this JAX has no GPU")
        jax.numpy.zeros(1).block_until_ready()
    else:
        import torch

        torch.zeros(1, device="cpu" if args.tiny else "cuda")


def live_bytes(reset=False):
    """The most that was live since the last reset, by the backend's own count; None:
    it has none."""
    try:
        if BACKEND == "tensorflow":
            from tensorflow import config

            info = config.experimental.get_memory_info("GPU:0")
            if reset:
                config.experimental.reset_memory_stats("GPU:0")
            return info["peak"]
        if BACKEND == "jax":
            import jax

            return jax.devices()[0].memory_stats()["peak_bytes_in_use"]
        import torch

        return torch.cuda.max_memory_allocated() or None
    except Exception:  # no GPU, or an allocator without statistics
        return None


def cleared(keras):
    """What a user calls."""
    keras.utils.clear_session()
    gc.collect()
    if BACKEND == "jax":
        import jax

        jax.clear_caches()
    if BACKEND == "torch":
        import torch

        torch.cuda.empty_cache()


# ---- the process -----------------------------------------------------------------


def one_way(keras, args, way, both, last):
    size = (TINY if args.tiny else FULL)[args.program]
    live_bytes(reset=True)
    own, losses, seconds, sums = trained(keras, args, way, size, both)
    print(args.program, way, "losses", *map(repr, losses), flush=True)
    print(args.program, way, "sums", *map(repr, sums), flush=True)
    counted = seconds[1:] or seconds
    measured.phase(
        "trained",
        way=way,
        epoch_s=statistics.median(counted),
        live_bytes=live_bytes(),
    )
    for each in own:
        if hasattr(each, "close"):
            each.close()
    own.clear()
    each = None
    gc.collect()
    measured.phase("deleted")
    cleared(keras)
    measured.phase("cleared")
    if last:
        measured.given_back()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", choices=MODELS)
    parser.add_argument("--ways", default=WAYS.get(BACKEND, "fit"))
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    import keras
    import numpy

    backend = sys.modules[BACKEND]
    measured.imported(keras, backend)
    context(args)
    measured.phase("context")
    size = (TINY if args.tiny else FULL)[args.program]
    both = data(numpy, args.program, size)
    ways = args.ways.split(",")
    for _ in range(args.repeat):
        one_way(keras, args, ways[0], both, last=False)
    for way in [] if args.repeat else ways:
        one_way(keras, args, way, both, last=True)
    measured.leave()


if __name__ == "__main__":
    main()
