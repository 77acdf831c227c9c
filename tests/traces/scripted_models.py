# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Programs of scripted.py that run transformers: inference, training, serving."""

import itertools
from collections import namedtuple

from scripted_trace import KIB, together

Model = namedtuple("Model", "layers hidden vocab")

# A transformer layer: what it allocates in turn, of how many times its input's size
# (0: attention's scores), and what is not needed after that.
STEPS = (
    ("norm", 1, ""),
    ("qkv", 3, "norm"),
    ("scores", 0, ""),
    ("probs", 0, "scores"),
    ("context", 1, "qkv probs"),
    ("out", 1, "context"),
    ("sum", 1, "out x"),
    ("norm", 1, ""),
    ("up", 4, "norm"),
    ("gelu", 4, "up"),
    ("down", 1, "gelu"),
    ("y", 1, "down sum"),
)


def model(p, layers, hidden):
    hidden = 128 * p.between(hidden[0] // 128, hidden[1] // 128)
    return Model(p.between(*layers), hidden, 1000 * p.between(16, 48))


def elements(hidden):
    """The weights of a layer."""
    square = hidden * hidden
    return (hidden, 3 * square, 3 * hidden, square, hidden, 4 * square, 4 * square)


def weights(p, m, stream=0, width=2):
    sizes = [m.vocab * m.hidden, *elements(m.hidden) * m.layers]
    return [p.new(size * width, stream) for size in sizes]


def layer(p, m, x, batch, length, stream=0, drop=None, past=0):
    """Each block that it no longer needs, x too, is dropped. Returns the output."""
    unit = batch * length * m.hidden * 2
    scores = batch * (m.hidden // 64) * length * (length + past) * 2
    live = {"x": x}
    for name, units, dead in STEPS:
        live[name] = p.new(units * unit or scores, stream)
        yield
        for old in dead.split():
            (drop or p.free)(live.pop(old))
    return live["y"]


def forward(p, m, batch, length, stream=0, past=0):
    x = p.new(batch * length * m.hidden * 2, stream)
    for _ in range(m.layers):
        x = yield from layer(p, m, x, batch, length, stream, past=past)
    p.free(p.then(x, batch * m.vocab * 2, stream))


def requests(p, m, stream, count, batch=8, length=384):
    """Inference. Every result is held until the next one is there."""
    result = p.new(KIB, stream)
    for _ in range(count) if count else itertools.count():
        size = p.between(1, batch)
        yield from forward(p, m, size, p.between(8, length), stream)
        result = p.then(result, size * m.hidden * 4, stream)
    p.free(result)


def inference(p, streams):
    m = model(p, (12, 20), (1024, 1536))
    weights(p, m)
    yield from together(p, [requests(p, m, s, 0) for s in range(streams)])


def gather(p, m, held):
    """A layer's weights from all devices, on the stream for that; two are held."""
    held.append(p.new(2 * sum(elements(m.hidden)), 1))
    p.use(held[-1], 0)
    if len(held) > 2:
        p.free(held.pop(0))


def copy_out(p, blocks):
    for block in blocks:
        p.use(block, 1)
    sizes = [p.sizes[block] for block in blocks]
    p.free(*blocks)
    return sizes


def copy_back(p, sizes):
    blocks = [p.new(size, 1) for size in sizes]
    for block in blocks:
        p.use(block, 0)
    return blocks


def backward(p, m, saved, grad, gradients, way):
    for block in reversed(saved):
        new = p.new(p.sizes[block])
        yield
        p.free(grad, block)
        grad = new
    for size in elements(m.hidden):
        gradient = p.new(size * 4)
        if way == "sharded":
            p.use(gradient, 1)
            gradient = p.then(gradient, size // 2, 1)
        gradients.append(gradient)
    return grad


def step(p, m, batch, length, state, way="plain"):
    """Of training, the optimizer's state made in the first."""
    x = p.new(batch * length * m.hidden * 2)
    layers, gradients, held = [], [], []
    for _ in range(m.layers):
        if way == "sharded":
            gather(p, m, held)
        saved, first = [], x
        drop = saved.append
        if way == "recompute":
            saved, drop = [x], lambda block: block == first or p.free(block)
        x = yield from layer(p, m, x, batch, length, drop=drop)
        layers.append(copy_out(p, saved) if way == "offload" else saved)
    logits = batch * length * m.vocab * 2
    grad = p.then(p.then(p.then(x, logits), logits), batch * length * m.hidden * 2)
    for saved in reversed(layers):
        if way == "sharded":
            gather(p, m, held)
        if way == "recompute":
            first, saved = saved[0], []
            x = yield from layer(p, m, first, batch, length, drop=saved.append)
            p.free(x)
        elif way == "offload":
            saved = copy_back(p, saved)
        grad = yield from backward(p, m, saved, grad, gradients, way)
    p.free(grad, *held)
    sizes = [p.sizes[gradient] for gradient in gradients]
    if not state:
        state += [p.new(size) for size in sizes + sizes]
    for size in sizes:
        p.free(p.then(p.new(size), size))
    p.free(*gradients)


def training(p, way="plain"):
    m = model(p, (5, 8), (512, 768))
    weights(p, m, width=2 if way == "sharded" else 4)
    state, batch = [], p.between(4, 8)
    while True:
        yield from step(p, m, batch, p.between(32, 384), state, way)


def tenant(p, stream):
    m = model(p, (4 + 2 * stream, 8 + 2 * stream), (384, 768 + 128 * stream))
    while True:
        for _ in range(p.between(0, 300)):
            yield
        mine = weights(p, m, stream)
        yield from requests(p, m, stream, p.between(2, 12))
        p.free(*mine)


def tenants(p):
    yield from together(p, [tenant(p, stream) for stream in range(6)])


def experts(p):
    m, count = model(p, (8, 12), (768, 1280)), 4 * p.between(2, 4)
    weights(p, m)
    for _ in range(m.layers * count):
        p.new(4 * m.hidden * m.hidden)
    while True:
        batch, length = p.between(1, 8), p.between(32, 1024)
        x = p.new(batch * length * m.hidden * 2)
        for _ in range(m.layers):
            x = yield from layer(p, m, x, batch, length)
            shares, outputs = [p.random() ** 3 for _ in range(count)], []
            for expert, share in enumerate(shares):
                stream, tokens = expert % 4, 2 * batch * length * share / sum(shares)
                size = int(tokens + 1) * m.hidden * 2
                part = p.new(size)
                p.use(part, stream)
                up = p.new(4 * size, stream)
                p.free(part)
                outputs.append(p.then(up, size, stream))
                p.use(outputs[-1], 0)
                yield
            x = p.then(x, p.sizes[x])
            p.free(*outputs)
        p.free(x)


def grow(p, cache, extra, stream=0):
    for at, old in enumerate(cache):
        cache[at] = p.new(p.sizes[old] + extra, stream)
        yield
        p.free(old)


def sequence(p, layers, token, tokens):
    while True:
        start = token * p.between(16, 1024)
        cache = [p.new(start) for _ in range(2 * layers)]
        for _ in range(p.between(5, 60)):
            yield from grow(p, cache, token * tokens)
        p.free(*cache)


def caches(p):
    layers, token, tokens = p.between(4, 8), KIB * p.between(1, 4), p.between(8, 32)
    yield from together(p, [sequence(p, layers, token, tokens) for _ in range(32)])


def pages(p):
    m, running = model(p, (8, 16), (768, 1280)), []
    weights(p, m)
    most, classes = p.between(24, 64), [64 * KIB * p.between(16, 48) for _ in range(4)]
    while True:
        if len(running) < most and p.random() < 0.5:
            size, length = p.choice(classes), p.between(16, 768)
            running.append((size, [p.new(size) for _ in range(1 + length // 64)]))
            yield from forward(p, m, 1, length)
        else:
            yield from forward(p, m, len(running) + 1, 1, past=p.between(64, 1024))
        for size, blocks in running:
            if p.random() < 0.25:
                blocks.append(p.new(size))
        for ended in [one for one in running if p.random() < 0.03]:
            running.remove(ended)
            p.free(*ended[1])


def swap(p):
    models = model(p, (12, 16), (1024, 1536)), model(p, (6, 12), (1024, 1792))
    on = weights(p, models[0])
    for m in itertools.cycle(models):
        yield from requests(p, m, 0, p.between(2, 10))
        other, before = models[m == models[0]], p.random() < 0.5
        coming = weights(p, other) if before else []
        p.free(*on)
        on = coming or weights(p, other)


def reinforcement(p):
    m, state = model(p, (5, 8), (512, 768)), []
    weights(p, m, width=4)
    while True:
        batch, length = p.between(4, 8), p.between(16, 192)
        cache = [p.new(batch * length * m.hidden * 2) for _ in range(2 * m.layers)]
        for _ in range(p.between(10, 60)):
            yield from grow(p, cache, batch * m.hidden * 2)
            yield from forward(p, m, batch, 1, past=length)
            length += 1
        p.free(*cache)
        for _ in range(p.between(1, 4)):
            yield from step(p, m, batch, length, state)


def speculative(p):
    models = model(p, (10, 16), (1024, 1536)), model(p, (2, 4), (384, 640))
    for stream, m in enumerate(models):
        weights(p, m, stream)
    while True:
        batch, length, guesses = p.between(1, 16), p.between(16, 1024), p.between(2, 6)
        caches = [
            [p.new(batch * length * m.hidden * 2, s) for _ in range(2 * m.layers)]
            for s, m in enumerate(models)
        ]
        for _ in range(p.between(5, 40)):
            units = [batch * m.hidden * 2 for m in models]
            for _ in range(guesses):
                yield from forward(p, models[1], batch, 1, 1, length)
            tokens = p.new(batch * guesses * 8, 1)
            p.use(tokens, 0)
            yield from forward(p, models[0], batch, guesses, 0, length)
            p.free(tokens)
            taken = p.between(1, guesses)
            for stream in range(2):
                yield from grow(p, caches[stream], units[stream] * taken, stream)
            length += taken
        p.free(*caches[0], *caches[1])
