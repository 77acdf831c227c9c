#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# novm.sh tests/novm/TEST.novm: runs the program tests/unit/TEST with the
# option in that file: virtual memory is off, so that the same policy works on
# whole segments.

GPUMEM_CONF=$(cat "$1")
export GPUMEM_CONF
test=${1##*/}
exec tests/unit/"${test%.novm}"
