#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# torch_newest.sh FOLDER: asks the package index whether there is a PyTorch that
# is newer than those of virtuals.txt. If so its headers are fetched into FOLDER,
# and what is new in them is printed: virtual functions, settings, keys of
# PYTORCH_ALLOC_CONF; then torch_headers.sh compiles the subclass with them. Ends
# with 0 if there is none, or nothing in it is new. Not a part of `make check`: it
# needs the network.

set -e
if [ $# -ne 1 ]; then
	echo "usage: $0 FOLDER" >&2
	exit 2
fi
tests=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
package=$tests/../bindings/python

known=$(sed -n '1s/.* to \([0-9]*\.[0-9]*\), .*/\1/p' \
	"$package/src/subclass/virtuals.txt")
newest=$("$python" -m pip index versions torch 2>/dev/null |
	sed -n '1s/^torch (\(.*\))$/\1/p')
if [ -z "$newest" ]; then
	echo "the package index names no version of torch" >&2
	exit 1
fi
minor=$(echo "$newest" | cut -d. -f1-2)
if [ "$(printf '%s\n' "$known" "$minor" | sort -V | tail -n 1)" = "$known" ]
then
	echo "torch $newest is the newest, and known"
	exit 0
fi
GPUMEM_TORCH_HEADERS=$(PYTHON="$python" sh "$tests/torch_fetch.sh" "$1" \
	"$newest" | sed -n 's/^GPUMEM_TORCH_HEADERS=//p')
export GPUMEM_TORCH_HEADERS
[ -n "$GPUMEM_TORCH_HEADERS" ]
echo "torch $newest is newer than $known. New in it:"
new=$("$python" "$package/gpumem/_torch_headers.py" "$GPUMEM_TORCH_HEADERS")
echo "${new:-nothing}"
compiles=0
top_srcdir=$tests/.. top_builddir=${top_builddir:-.} CXX=${CXX:-c++} \
	sh "$tests/torch_headers.sh" || compiles=$?
[ -z "$new" ] && [ "$compiles" = 0 ]
