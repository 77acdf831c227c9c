# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The programs of keras_programs.py in TensorFlow's first way: a graph, and a Session.

No Keras, whose third version has no graphs: the same layers, by TensorFlow's own
functions. For one thread.
"""

import time

import tensorflow as tf

v1 = tf.compat.v1


def weight(*shape):
    """The next variable of the graph; its start is a seed's."""
    number = len(v1.global_variables())
    begin = v1.random_normal_initializer(stddev=0.02, seed=number)
    return v1.get_variable(f"w{number}", shape, initializer=begin, use_resource=True)


def norm(x):
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


def dense(x, size):
    for _ in range(size["layers"]):
        x = tf.nn.relu(tf.matmul(x, weight(size["width"], size["width"])))
    return tf.matmul(x, weight(size["width"], 16))


def conv(x, size):
    before, channels = 3, size["channels"]
    for _ in range(size["layers"]):
        x = tf.nn.conv2d(x, weight(3, 3, before, channels), 1, "SAME")
        x = tf.nn.relu(norm(x))
        before = channels
    return tf.matmul(tf.reduce_mean(x, (1, 2)), weight(channels, 16))


def attention(x, size):
    width, heads = size["width"], size["heads"]
    shape = -1, size["length"], heads, width // heads
    q, k, v = (tf.reshape(x @ weight(width, width), shape) for _ in range(3))
    scores = tf.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    mask = tf.linalg.band_part(tf.ones((size["length"], size["length"])), -1, 0)
    scores = tf.nn.softmax(scores + (mask - 1) * 1e9)
    y = tf.einsum("bhqk,bkhd->bqhd", scores, v)
    return tf.reshape(y, (-1, size["length"], width)) @ weight(width, width)


def transformer(x, size):
    width = size["width"]
    x = tf.one_hot(x, size["words"]) @ weight(size["words"], width)
    for _ in range(size["layers"]):
        x = x + attention(norm(x), size)
        y = tf.nn.gelu(norm(x) @ weight(width, 4 * width))
        x = x + y @ weight(4 * width, width)
    return tf.matmul(tf.reduce_mean(x, 1), weight(width, 16))


NETWORKS = {"dense": dense, "conv": conv, "transformer": transformer}


class Training:
    """A graph and its session, until close()."""

    def __init__(self, program, size, both):
        self.graph = tf.Graph()
        with self.graph.as_default():
            v1.set_random_seed(1)
            shape = (size["batch"],) + both[0].shape[1:]
            self.x = v1.placeholder(both[0].dtype, shape)
            self.y = v1.placeholder(both[1].dtype, (size["batch"], 16))
            self.output = NETWORKS[program](self.x, size)
            self.loss = tf.reduce_mean((self.output - self.y) ** 2)
            adam = v1.train.AdamOptimizer(1e-4)
            self.step = adam.minimize(self.loss)
            self.total = tf.reduce_sum(v1.trainable_variables()[0])
            self.session = v1.Session(graph=self.graph)
            self.session.run(v1.global_variables_initializer())

    def epoch(self, both, batch):
        """Its last loss."""
        for begin in range(0, len(both[0]), batch):
            part = slice(begin, begin + batch)
            feed = {self.x: both[0][part], self.y: both[1][part]}
            loss, _ = self.session.run((self.loss, self.step), feed)
        return float(loss)

    def sums(self, both, batch):
        feed = {self.x: both[0][:batch]}
        output, total = self.session.run((self.output, self.total), feed)
        return [float(output.sum(dtype=float)), float(total)]

    def close(self):
        self.session.close()
        v1.reset_default_graph()


def train(program, size, both, epochs):
    """As keras_programs.by_keras() has it."""
    training = Training(program, size, both)
    losses, seconds = [], []
    for _ in range(epochs):
        begun = time.perf_counter()
        losses.append(training.epoch(both, size["batch"]))
        seconds.append(time.perf_counter() - begun)
    return [training], losses, seconds, training.sums(both, size["batch"])
