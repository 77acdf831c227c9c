#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Each of the eight combinations of --without-cuda, --without-hip and
# --without-opencl builds. With none, with each one alone, which then can use nothing
# of another, and with all by our own declarations instead of the vendors' headers,
# those tests pass that a backend decides: they run where it is built, and say
# elsewhere that it is not. With all by the vendors' headers, `make check` runs them.
# All in one folder, without optimisation: then only what belongs to a backend is
# built again, and what an earlier combination left there would be found. Takes
# minutes: .ci/run runs it, not `make check`.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
folder=build/combinations
jobs=$(nproc 2>/dev/null || echo 2)
export GPUMEM_TEST_SCALE=small CONFIG_SHELL=/bin/sh
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

[ -x configure ] || skip_all "there is no configure; ./quickstart makes it"
rm -rf "$folder"
mkdir -p "$folder" || exit 1

# configure [OPTION...]
configure()
(
	cd "$folder" || exit 1
	../../configure -q -C --enable-werror CFLAGS=-O0 "$@"
)

# built BACKEND: configure says that it will be
built()
{
	grep -qF "S[\"${1}_TRUE\"]=\"\"" "$folder/config.status"
}

# skips TEST: it says that it was configured without what it needs
skips()
{
	grep -qE '^1\.\.0 # SKIP configured without' "$folder/$1.log"
}

# decides TEST BACKEND...: the test runs if all of them are built, and only then
decides()
{
	test=$1
	shift
	for backend; do
		if ! built "$backend"; then
			check "$test skips" skips "$test"
			return
		fi
	done
	if skips "$test"; then
		fail "$test runs" "it skips"
	else
		pass "$test runs"
	fi
}

# Those to the headers are built only with them. The longest first.
tests_of()
{
	echo tests/hip.sh tests/tool_run_hip.sh tests/cuda.sh \
		tests/tool_probe.sh tests/unit/hip/levels \
		tests/opencl_examples.sh tests/install.sh \
		tests/unit/cuda/load tests/unit/hip/versions \
		tests/unit/opencl/queues tests/unit/device/loader \
		tests/unit/lib/dlopen
	built CUDA || return
	echo tests/unit/fake/cuda tests/unit/fake/share
	! built HIP || echo tests/unit/fake/hip tests/unit/fake/hip_work
}

plugins_of()
{
	for backend in CUDA HIP OPENCL; do
		! built "$backend" || echo "$backend.so" | tr '[:upper:]' '[:lower:]'
	done
}

# combination [OPTION...]
combination()
{
	check "configure $*" configure "$@" || return
	for option; do
		backend=$(echo "${option#--with*-}" | tr '[:lower:]-' '[:upper:]_')
		case $option in
		--with-*=own)
			backend=${backend%=OWN}
			check "$backend has our own headers" grep -q \
				"^${backend}_CPPFLAGS = .*/backends/vendor/" \
				"$folder/Makefile"
			continue
			;;
		esac
		check "$backend is left out" sh -c "! grep -qF \
			'S[\"${backend}_TRUE\"]=\"\"' '$folder/config.status'"
	done
	check "make" make -C "$folder" -j"$jobs"
	is "$(ls "$folder/backends/.libs" | grep '\.so$')" "$(plugins_of)" \
		"the plugins are those that were configured"
	case $# in
	0 | 1) return ;;
	esac
	check "make check" make -C "$folder" -j"$jobs" check \
		check_PROGRAMS="$(tests_of | grep -o 'tests/unit/[^ ]*' |
			tr '\n' ' ')" TESTS="$(tests_of | tr '\n' ' ')"
	decides tests/unit/cuda/load CUDA
	decides tests/cuda CUDA
	decides tests/unit/hip/versions CUDA HIP
	decides tests/hip HIP
	decides tests/opencl_examples OPENCL
	decides tests/tool_run_hip HIP
}

# Each differs from the one before in one backend, but for the last.
combination
for backend in CUDA HIP OPENCL; do
	built "$backend" || skip "this machine has no headers of it" \
		"with $backend"
done
combination --without-hip
combination --without-hip --without-opencl
combination --without-opencl
combination --without-cuda --without-opencl
combination --without-cuda --without-hip --without-opencl
combination --without-cuda --without-hip
combination --without-cuda

# An object that is there is not made again with other headers.
(cd "$folder" && find backends tests/fake tests/unit/fake tools \
	\( -name '*.o' -o -name '*.lo' \) -exec rm {} +)
# shellcheck disable=SC2046
combination $(for vendor in backends/vendor/*; do
	echo "--with-${vendor##*/}=own"
done)

[ "$tap_failed" -gt 0 ] || rm -rf "$folder"
done_testing
