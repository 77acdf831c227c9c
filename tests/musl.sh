#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# musl's headers know all that the library and the host backend use, and without
# a warning. That they link and work is not tried here. Debian's musl-gcc does not
# know the kernel's headers: they are shown to it.

. "${top_srcdir:-.}/tests/tap.sh"

command -v musl-gcc >/dev/null 2>&1 || skip_all "musl-gcc is not installed"
[ -f /usr/include/linux/membarrier.h ] ||
	skip_all "the kernel's headers are not in /usr/include"
mkdir "$scratch/kernel"
ln -s /usr/include/linux /usr/include/asm-generic "$scratch/kernel"
ln -s "$(dirname "$(find /usr/include -path '*/asm/unistd.h' | head -n 1)")" \
	"$scratch/kernel/asm"

cd "$top_srcdir" || exit 1
# shellcheck disable=SC2086
for folder in core core/*/ backends/host; do
	is "$(musl-gcc -isystem "$scratch/kernel" -fsyntax-only -std=gnu11 \
		-Wall -Wextra -Wpedantic -D_GNU_SOURCE -Iinclude -Icore -I. \
		-Ibackends -DGPUMEM_PLUGIN_SUBDIR='"x"' \
		-DGPUMEM_PLUGIN_DIR='"x"' "$folder"/*.c 2>&1)" "" \
		"${folder%/} is read with musl's headers"
done

done_testing
