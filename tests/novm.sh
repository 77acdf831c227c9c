#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# novm.sh tests/DEVICE/TEST.DEVICE: runs the program tests/unit/lib/TEST with the
# option in that file, which makes a lesser device: one without virtual memory,
# so that the same policy works on whole segments, or one with objects.

GPUMEM_CONF=$(cat "$1")
export GPUMEM_CONF
test=${1##*/}
exec tests/unit/lib/"${test%.*}"
