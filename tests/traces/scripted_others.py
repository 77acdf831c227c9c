# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Programs of scripted.py without transformers: images, meshes, random sizes."""

import itertools

from scripted_trace import KIB, MIB, together


def sizes_at_random(p, streams):
    live = []
    while True:
        aim = p.log(30, 500)
        for _ in range(p.between(200, 2000)):
            if len(live) > 30 and p.random() * (len(live) + aim) > aim:
                p.free(live.pop(p.between(0, len(live) - 1)))
            else:
                live.append(p.new(p.log(512, 64 * MIB), p.between(0, streams - 1)))
            yield


def tiles_of_images(p, stream, channels):
    while True:
        width, height = (p.between(600, 4000) for _ in "xy")
        edge, image = 32 * p.between(8, 28), p.new(width * height * 12, stream)
        for x, y in itertools.product(range(0, width, edge), range(0, height, edge)):
            area = (min(edge, width - x) + 32) * (min(edge, height - y) + 32)
            tile, skips = p.new(area * 12, stream), []
            for level in range(3):
                features = channels * area * 4 >> level
                skips.append(p.new(features, stream))
                tile = p.then(p.then(tile, features, stream), features >> 2, stream)
                yield
            for skip in reversed(skips):
                tile = p.then(tile, p.sizes[skip] * 2, stream)
                p.free(skip)
                yield
            p.free(tile)
        p.free(image)


def tiles(p):
    channels = p.between(8, 16)
    yield from together(p, [tiles_of_images(p, s, channels) for s in range(12)])


def meshes(p):
    low, high = 32 * KIB, 4 * MIB
    blocks, most = [p.new(p.log(low, high)) for _ in range(300)], p.between(1000, 3000)
    while True:
        finer = p.random() * most > len(blocks)
        for _ in range(p.between(5, 60)):
            if finer or len(blocks) < 100:
                old = blocks.pop(p.between(0, len(blocks) - 1))
                sizes = [p.sizes[old] * p.between(2, 6) // 4 for _ in range(4)]
                blocks += [p.new(min(max(size, low), high)) for size in sizes]
                p.free(old)
            else:
                at = p.between(0, len(blocks) - 4)
                four, blocks[at : at + 4] = blocks[at : at + 4], []
                size = sum(p.sizes[block] for block in four) // 4
                blocks.append(p.new(size))
                p.free(*four)
            yield
        for _ in range(p.between(10, 100)):
            flux = p.new(2 * p.sizes[p.choice(blocks)])
            p.free(flux, p.new(p.sizes[flux] // 4))


def video(p):
    window = p.between(4, 16)
    while True:
        height = p.choice((360, 480, 720, 1080, 1440, 2160)) - 8 * p.between(0, 9)
        pixels, frames = height * (height * p.between(4, 7) // 3), []
        for _ in range(p.between(20, 200)):
            coded = p.new(p.between(pixels // 40, pixels // 8))
            decoded = p.then(coded, pixels * 3 // 2)
            p.use(decoded, 1)
            frames.append(p.then(decoded, pixels * 6, 1))
            flow = p.new(pixels // 4 * len(frames), 1)
            picture = p.then(flow, pixels * 3, 1)
            p.use(picture, 2)
            p.free(p.new(p.between(pixels // 40, pixels // 8), 2), picture)
            if len(frames) > window:
                p.free(frames.pop(0))
            yield
        p.free(*frames)


def detection(p):
    width, results = p.between(32, 64), []
    for level in range(5):
        for _ in range(6):
            p.new(9 * (width << level) ** 2 * 4)
    while True:
        batch = p.between(1, 4)
        pixels = batch * p.between(480, 800) * p.between(480, 1333)
        x, pyramid = p.new(pixels * 12), []
        for level in range(1, 6):
            size = (width * pixels >> level) * 2
            for _ in range(3):
                x = p.then(x, size)
            pyramid.append(p.new((256 * pixels >> 2 * level + 2) * 2))
            yield
        p.free(x)
        for features in pyramid:
            anchors = p.new(p.sizes[features] // 64)
            scores = p.then(p.then(features, p.sizes[features]), p.sizes[anchors] // 4)
            p.free(p.then(scores, 8000), anchors)
        for _ in range(batch):
            boxes = p.between(5, 2000)
            found, mask = p.new(boxes * 16), p.new(boxes * (boxes // 64 + 1) * 8)
            kept = p.new(boxes * 8)
            p.free(mask, found, kept)
            for _ in range(p.between(1, 20)):
                results.append(p.new(p.between(1, 100) * 24))
        while len(results) > 400:
            p.free(results.pop(0))


def graphs(p):
    widths = [16 * p.between(1, 16) for _ in range(p.between(3, 5))]
    for size in widths:
        p.new(size * size * 4)
    held = []
    while True:
        nodes, saved = p.log(16, 150000), []
        edges = nodes * p.between(2, 24)
        held.append(p.new(max(edges * 16, KIB)))
        for width in widths:
            messages = p.new(min(max(edges * width * 4, KIB), 200 * MIB))
            saved.append(p.new(max(nodes * width * 4, KIB)))
            weight = p.new(max(edges * 4, KIB))
            saved.append(p.then(messages, max(nodes * width * 4, KIB)))
            p.free(weight)
            yield
        grad = p.new(nodes * 4)
        for block in reversed(saved):
            grad = p.then(grad, p.sizes[block])
            p.free(block)
        p.free(grad)
        if len(held) > 8:
            p.free(held.pop(p.between(0, 8)))


def staying(p):
    """Results that stay, made between large blocks that do not."""
    low, wide = p.log(16 * MIB, 300 * MIB), p.choice((1.05, 1.3, 2))
    large = [p.log(low, low * wide) for _ in range(p.between(2, 12))]
    small = [p.log(32 * KIB, low // 20) for _ in range(p.between(1, 8))]
    at_once, results, most = p.between(1, 6), p.between(1, 4), p.between(8, 64)
    first, held = p.random() < 0.5, []
    while True:
        for size in large:
            blocks = [p.new(size) for _ in range(at_once)]
            held += [p.new(p.choice(small)) for _ in range(results)]
            p.free(*blocks)
            while len(held) > most:
                p.free(held.pop(0 if first else p.between(0, most)))
            yield


def residual(p, x, size):
    """Convolutions and attention on x, which stays."""
    y = p.then(p.then(p.new(p.sizes[x]), size), size)
    yield
    mixed = p.then(p.new(3 * size), size)
    y = p.then(y, size)
    p.free(mixed)
    return y


def unet(p, batch, pixels, channels):
    skips = [p.new(batch * channels * pixels * 2)]
    for level in (0, 0, 1, 1, 2, 2, 3, 3):
        size = batch * (channels << min(level, 2)) * (pixels >> 2 * level) * 2
        skips.append((yield from residual(p, skips[-1], size)))
    x = yield from residual(p, skips[-1], size)
    for skip in reversed(skips):
        both, size = p.new(p.sizes[x] + p.sizes[skip]), p.sizes[skip]
        p.free(x, skip)
        x = yield from residual(p, both, size)
        p.free(both)
    p.free(x)


def diffusion(p):
    channels = 64 * p.between(4, 6)
    for level in (0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 0, 0):
        for times in (9, 9, 3, 1, 4, 4):
            p.new(times * (channels << level) ** 2 * 2)
    while True:
        batch, pixels = p.between(1, 4), 64 * p.between(6, 14) * p.between(6, 14)
        latent = p.new(batch * 4 * pixels * 4)
        for _ in range(p.between(8, 25)):
            yield from unet(p, 2 * batch, pixels, channels)
            latent = p.then(latent, p.sizes[latent])
        image = p.new(batch * 512 * pixels * 2)
        for times in (1, 4, 8, 16, 16, 16):
            image = p.then(image, batch * 512 * pixels * times)
        p.free(p.then(image, batch * 64 * pixels * 3), latent)
