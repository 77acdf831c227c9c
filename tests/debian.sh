#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What debian/ repeats of the rest of the tree is the same there: the version,
# the number of the plugin interface, the functions. That packages come out of
# it and can be used is tested in fresh_package.sh.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
[ -d debian ] || skip_all "debian/ is not in the tarball"

is "$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' debian/changelog)" \
	"$(sed -n 's/^#define GPUMEM_VERSION_STRING "\(.*\)"/\1/p' \
		include/gpumem/gpumem.h)" "the version of the changelog"

abi=$(sed -n 's/^#define GPUMEM_BACKEND_ABI \([0-9]*\)u$/\1/p' \
	include/gpumem/backend.h)
is "$(sed -n 's/^Package: libgpumem-plugin\([0-9]*\)-.*/\1/p' debian/control |
	sort -u)" "$abi" "packages of plugins have the number of the interface"
is "$(cat debian/libgpumem-plugin*.install | sed 's/.*\/abi-//' | sort)" \
	"$(for plugin in cuda hip opencl; do
		echo "$abi/$plugin.so"
	done)" "and so have their folders"
is "$(sed -n 's/^backends_\([a-z_]*\)_la_SOURCES.*/\1/p' backends/local.mk |
	tr _ - | sort)" \
	"$(sed -n 's/^Package: libgpumem-plugin[0-9]*-\(.*\)/\1/p' \
		debian/control | sort)" "every plugin has a package"

is "$(sed -n 's/^ \(gpumem_[a-z_]*\)@.*/\1/p' debian/libgpumem0.symbols | sort)" \
	"$(public_functions)" "the symbols are the functions of the headers"

# libtool's files are installed by make and belong into no package.
for library in $(sed -n 's/^preloadexec_LTLIBRARIES += tools\/\(.*\)\.la$/\1/p' \
	tools/*/local.mk); do
	check "a package installs $library.so" grep -q "gpumem/$library\.so" \
		debian/gpumem-tools.install
	check "and none its .la" grep -q "/$library\.la$" debian/not-installed
done

# A build needs nothing of NVIDIA's, which Debian has in non-free.
check "the plugin for CUDA is built with our own declarations" \
	grep -q 'dh_auto_configure .*--with-cuda=own' debian/rules
is "$(grep -n 'Build-Profiles\|nvidia' debian/control)" "" "and in every build"

is "$(sed -n 's/^	\(tests\/[a-z_./]*\).*/\1/p' debian/rules |
	while read -r test; do
		[ -f "$test" ] || [ -f "$test.c" ] || echo "$test"
	done)" "" "the tests that debian/rules runs are there"

done_testing
