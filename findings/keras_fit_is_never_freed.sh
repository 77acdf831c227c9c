#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# TensorFlow with Keras: the weights of a model that was trained, and its optimizer's
# state, stay allocated after the model is gone and keras.utils.clear_session() was
# called, until the process ends; each further model comes on top. On a GPU no
# allocator can give that memory back, since TensorFlow has not freed it.
# Nothing of gpumem is used here; no test and no build runs this.
#
# Where a traced function has a custom gradient, TensorFlow puts it into a table of
# the process, under a new name, and never takes it out. The gradient holds the
# function's graph, and that the handles of all variables which the function uses.
# Keras's optimizers add the gradients of replicas up by
# tf.distribute.ReplicaContext.all_reduce(), with one device, too, and that has a custom
# gradient. So each function that trains stays. Inference and run_eagerly=True have
# none and leave nothing.
#
# Behaviour seen, 2026-11-29, tensorflow-cpu 2.21.0, keras 3.15.0, CPython 3.11; graphs
# and handles of variables that are there after a garbage collection, and the MiB by
# which the process is larger than before the model, in steps of 75, of about 150 MiB
# of variables and optimizer's state:
#
#     predict()                           0 graphs,  0 handles,   0 MiB
#     fit(), run_eagerly=True             0          0            0
#     fit()                              34         28          150
#     fit(), then with another model     68         56          300
#     fit(), the table emptied by hand    0          0            0
#
# tensorflow 2.22.0rc0 with keras 3.15.1 lets all of it go: no graph and no handle is
# there after any of these, and what the process keeps does not grow (2026-11-30, the
# same program; 2.21.0 with keras 3.15.1 is as above). This script stays with 2.21.0.
#
# (34 because a variable that is made while a function is traced has graphs for its
# initial value, too.) On an NVIDIA H200 with tensorflow 2.21.0, a model with 4.6 GiB of
# variables: with TF_GPU_ALLOCATOR=cuda_malloc_async 4.7 GiB stayed on the device; with
# TF_FORCE_GPU_ALLOW_GROWTH=true it had 64 GiB after ten such models.
#
# Exit 0: as written above; 1: it differs, and this file, gpumem/tensorflow.py and
# docs/clearing-memory.md should be looked at again; 2: it could not be had. Needs no
# GPU, but pip and CPython 3.10 to 3.13 on x86_64; it downloads 300 MB to a temporary
# folder that it removes.
set -u

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch" || exit 2
python3 -m venv environment || exit 2
environment/bin/pip install -q tensorflow-cpu==2.21.0 keras==3.15.0 || exit 2

cat >program.py <<'END'
import ctypes
import gc
import sys

import keras
import numpy
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.framework.func_graph import FuncGraph

WIDTH = 2048
x = numpy.random.rand(32, WIDTH).astype("float32")
y = numpy.random.rand(32, 16).astype("float32")


def resident():
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) >> 8


def use(how):
    layers = [keras.layers.Dense(WIDTH, activation="relu") for _ in range(3)]
    model = keras.Sequential([keras.Input((WIDTH,)), *layers, keras.layers.Dense(16)])
    model.compile(keras.optimizers.Adam(), "mse", run_eagerly=how == "eager")
    if how == "predict":
        model.predict(x, verbose=0)
    else:
        model.fit(x, y, batch_size=32, verbose=0)


def left():
    keras.utils.clear_session()
    gc.collect()
    graphs = handles = 0
    for each in gc.get_objects():
        graphs += isinstance(each, FuncGraph)
        if isinstance(each, ops.EagerTensor):
            handles += each.dtype == dtypes.resource
    return graphs, handles


use("eager")  # what is loaded at the first use is no model's
left()
before = resident()
for how in sys.argv[1:]:
    if how == "forget":
        table = ops.gradient_registry._registry
        for name in [each for each in table if each.startswith("CustomGradient-")]:
            del table[name]
    else:
        use(how)
print(*left(), (resident() - before) // 75 * 75)
END

differ=0
# expect "GRAPHS HANDLES MIB" HOW...
expect()
{
	want=$1
	shift
	got=$(CUDA_VISIBLE_DEVICES=-1 TF_CPP_MIN_LOG_LEVEL=3 \
		environment/bin/python program.py "$@" 2>errors) || {
		cat errors
		exit 2
	}
	echo "$*: $got (graphs, handles, MiB)"
	[ "$got" = "$want" ] || differ=1
}
expect "0 0 0" predict
expect "0 0 0" eager
expect "34 28 150" fit
expect "68 56 300" fit fit
expect "0 0 0" fit forget
exit $differ
