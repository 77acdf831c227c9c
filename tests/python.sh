#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The Python package: pip installs it from this tree with the library that was
# built here, and from a source distribution that is far from the tree, each
# into a virtual environment of its own and without a network; its tests pass
# there on `host`.

. "${top_srcdir:-.}/tests/tap.sh"

[ "${SANITIZER:-none}" = none ] ||
	skip_all "a sanitizer has to be the first library"
[ -f "$top_builddir/.libs/libgpumem.so.0" ] || skip_all "no shared library here"

# The first python3 may not be the one whose headers are there.
python=
for candidate in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$candidate" -c '
import ensurepip, os, sys, sysconfig, venv
sys.exit(sys.version_info < (3, 9) or not os.path.isfile(
    sysconfig.get_path("include") + "/Python.h"))' \
		>/dev/null 2>&1 </dev/null || python=$candidate
done
[ -n "$python" ] ||
	skip_all "no python3 of 3.9 or later with venv and its headers"

bindings=$top_srcdir/bindings/python
# The source folder may be read-only, and its Python files are not ours to cache.
export PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_NO_INDEX=1 \
	PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP VIRTUAL_ENV

# installed WHAT VENV SOURCE: in a new environment
installed()
{
	check "a virtual environment for $1" "$python" -m venv "$scratch/$2"
	check "pip installs $1" "$scratch/$2/bin/python" -m pip install "$3"
}

# works WHAT VENV: the package, and it is the installed one
works()
{
	cp -R "$bindings/tests" "$scratch/$2/tests"
	exits 0 "the tests of the package pass with $1" in_tests "$2" \
		-m unittest -v
	diag "$(tail -n 3 "$scratch/err")"
	check "all of them" test "$(grep -c ' ok$' "$scratch/err")" -gt 30
	is "$(in_tests "$2" -c '
import gpumem
print(gpumem.__file__.rpartition("/gpumem/")[0])' |
		sed 's,.*/\(lib/\),\1,; s,python[0-9.]*,python,')" \
		lib/python/site-packages "and it is what was installed"
	is "$(in_tests "$2" -c 'import gpumem; print(gpumem.__version__)')" \
		"$(sed -n 's/^#define GPUMEM_VERSION_STRING "\(.*\)"/\1/p' \
			"$top_srcdir/include/gpumem/gpumem.h")" \
		"its version is the library's"
}

in_tests()
(
	cd "$scratch/$1/tests" || exit 1
	shift
	exec ../bin/python "$@"
)

# loaded VENV: the library that is loaded, below the environment
loaded()
{
	in_tests "$1" -c '
import gpumem
print({x.split()[-1] for x in open("/proc/self/maps") if "libgpumem" in x})' |
		grep -oE "/site-packages/[^']*"
}

# ---- what cannot work is told at once -----------------------------------------

# refused CODE [VARIABLE=VALUE]: what building a wheel says after that code
refused()
{
	code=$1
	shift
	env PYTHONPATH="$bindings" "$@" "$python" -c "
import pathlib, sys, sysconfig, gpumem_build
gpumem_build.make_library = lambda output, work: print('begun')
$code
gpumem_build.build_wheel(sys.argv[1])" "$scratch" 2>&1 | cut -d : -f 1,2
}

is "$(refused '' CC=/absent/cc)" "gpumem: there is no C compiler /absent/cc" \
	"no C compiler"
is "$(refused 'sysconfig.get_path = lambda name: "/absent"')" \
	"gpumem: /absent/Python.h is missing" "no headers of Python"
is "$(refused 'sysconfig.get_config_var = {"Py_GIL_DISABLED": 1}.get' |
	cut -c 1-36)" "gpumem: this Python is free-threaded" "no stable interface"
is "$(refused '' GPUMEM_BUILD=absent)" \
	"gpumem: $(cd "$top_srcdir" && pwd -P)/absent, which GPUMEM_BUILD names, has no library" \
	"a folder of the tree in which nothing was built"

# ---- from the tree -----------------------------------------------------------

export GPUMEM_BUILD="$top_builddir"
# Another build within the folder, as tests/packages.sh makes, is no part of it.
mkdir -p "$scratch/other/tools"
cp "$top_builddir"/tools/*.o "$scratch/other/tools" 2>/dev/null
installed "the tree" tree "$bindings"
works "the tree" tree
is "$(loaded tree)" /site-packages/gpumem/lib/libgpumem.so.0 \
	"it loads the library that it carries"
# That name belongs to others, whose files pip would put over these.
is "$("$scratch/tree/bin/python" -m pip list --format=freeze |
	sed -n 's/^\(gpumem.*\)==.*/\1/p')" gpumem-pool \
	"its distribution has a name of its own"
check "its types are for users too" test -f "$(
	echo "$scratch"/tree/lib/python*/site-packages/gpumem/py.typed)"
is "$(find "$scratch/tree" -path '*/gpumem/abi-*' -name '*.so' |
	sed 's,.*/,,' | sort)" \
	"$(find "$top_builddir/backends/.libs" -name '*.so' | sed 's,.*/,,' |
		sort)" "and carries the plugins of this build"
is "$(env -u GPUMEM_PLUGIN_PATH GPUMEM_BACKEND=absent \
	"$scratch/tree/bin/python" -c '
import gpumem
try:
    gpumem.Device()
except gpumem.Error as error:
    print(error)' | grep -cE '/site-packages/gpumem/lib/gpumem/abi-[0-9]+\)')" \
	1 "which it looks for beside the library"

# ---- the tools, as commands -----------------------------------------------------

# package VENV
package()
{
	echo "$scratch/$1"/lib/python*/site-packages/gpumem
}

# tools_of FOLDER: the names of those in it
tools_of()
{
	find "$1" -maxdepth 1 -type f -name 'gpumem-*' 2>/dev/null |
		sed 's,.*/,,' | sort
}

# as_command VENV TOOL ARGUMENT...: with nothing of this test's environment
as_command()
{
	command=$scratch/$1/bin/$2
	shift 2
	env -i PATH="$PATH" "$command" "$@"
}

# newest PATTERN FILE...: the largest number behind it
newest()
{
	pattern=$1
	shift
	objdump -p "$@" 2>/dev/null | sed -n "s/.* $pattern\\([0-9]*\\).*/\\1/p" |
		sort -n | tail -n 1
}

is "$(tools_of "$(package tree)/bin")" "$(tools_of "$top_builddir/tools")" \
	"it carries the tools of this build"
if [ -x "$top_builddir/tools/gpumem-probe" ]; then
	for tool in $(tools_of "$top_builddir/tools"); do
		is "$(as_command tree "$tool" --version | head -n 1)" \
			"$tool $(sed -n 's/^#define GPUMEM_VERSION_STRING "\(.*\)"/\1/p' \
				"$top_srcdir/include/gpumem/gpumem.h")" \
			"$tool is a command"
	done
	is "$(env -i LD_TRACE_LOADED_OBJECTS=1 \
		"$(package tree)/bin/gpumem-probe" | sed -n \
		's,.*libgpumem.so.0 => .*\(/site-packages/.*\)/bin/\.\./\([^ ]*\) .*,\1/\2,p')" \
		/site-packages/gpumem/lib/libgpumem.so.0 \
		"and loads the library of the package"
else
	skip "configured without tools" "the tools, as commands"
fi
if [ -x "$top_builddir/tools/gpumem-run" ]; then
	# shellcheck disable=SC2016
	shown='echo "${LC_CTYPE-none}"; grep SigIgn /proc/self/status'
	is "$(as_command tree gpumem-run -- sh -c "$shown" 2>/dev/null)" \
		"$(env -i PATH="$PATH" sh -c "$shown")" \
		"a program under gpumem-run gets nothing of Python's"
else
	skip "configured without tools" "gpumem-run, as a command"
fi
is "$(as_command tree python -m gpumem --version)" \
	"$(as_command tree gpumem-probe --version)" \
	"python -m gpumem is gpumem-probe"

if command -v objdump >/dev/null 2>&1 && [ -n "$(
	newest GLIBC_2\\. "$(package tree)/lib/libgpumem.so.0")" ]; then
	oldest=$(find "$(package tree)" \( -name '*.so*' -o -path '*/bin/*' \) \
		-type f -exec objdump -p {} + |
		sed -n 's/.* GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
	tag=$(sed -n 's/^Tag: .*manylinux_2_\([0-9]*\)_.*/\1/p' \
		"$(package tree)_pool"-*.dist-info/WHEEL)
	diag "glibc 2.$oldest, manylinux_2_$tag"
	check "its tag asks for a glibc that has all of its symbols" \
		test "${tag:-99}" -ge "$oldest"
else
	skip "no objdump, or no glibc" "its tag"
fi

if "$python" -c 'import mypy.api' >/dev/null 2>&1; then
	check "mypy --strict" "$python" -m mypy --strict \
		--cache-dir="$scratch/mypy" "$bindings/gpumem"
else
	skip "mypy is not installed" "mypy --strict"
fi

# ---- under gpumem-run, over the double of NVIDIA's driver ----------------------

over_run()
(
	cd "$scratch/tree/tests" || exit 1
	GPUMEM_TEST_RUN=1 FAKECUDA_MEMORY=8GiB \
		LD_LIBRARY_PATH="$double${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
		exec "$top_builddir/tools/gpumem-run" --adopt \
		--report="$scratch/report" \
		../bin/python -m unittest -v test_run
)

double=$top_builddir/tests/fake/cuda/.libs
if [ ! -f "$double/libcuda.so.1" ]; then
	skip "configured without cuda" "gpumem.run"
elif [ ! -x "$top_builddir/tools/gpumem-run" ]; then
	skip "configured without tools" "gpumem.run"
else
	exits 0 "gpumem.run" over_run
	is "$(grep -c ' ok$' "$scratch/err")" 3 "all of its tests"
fi

# ---- DLPack, over the double of NVIDIA's driver ---------------------------------

over_double()
(
	cd "$scratch/tree/tests" || exit 1
	GPUMEM_TEST_DOUBLE=1 \
		LD_LIBRARY_PATH="$double${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
		exec env -u GPUMEM_PLUGIN_PATH ../bin/python -m unittest -v test_dlpack
)

if [ ! -f "$double/libcuda.so.1" ]; then
	skip "configured without cuda" "DLPack of a device"
else
	exits 0 "DLPack of a device" over_double
	is "$(grep -c '^test.*_dlpack.Devices.* ok$' "$scratch/err")" 4 \
		"all of its tests"
fi

# ---- PyOpenCL, which is a package of the system -----------------------------

with_opencl=
for candidate in python3 /usr/bin/python3; do
	[ -n "$with_opencl" ] || ! "$candidate" -c '
import sys, numpy, pyopencl
sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1 </dev/null ||
		with_opencl=$candidate
done
icd=${OPENCL_TEST_VENDORS:-/etc/OpenCL/vendors}/pocl.icd

over_pocl()
(
	cd "$scratch/tree/tests" || exit 1
	exec env -u GPUMEM_PLUGIN_PATH OCL_ICD_VENDORS="$icd" \
		POCL_MEMORY_LIMIT=1 POCL_DEVICES=pthread PYTHONPATH="$(
			echo "$scratch"/tree/lib/python*/site-packages)" \
		"$with_opencl" -m unittest -v test_pyopencl
)

if [ -z "$with_opencl" ]; then
	skip "no python3 has pyopencl" "PyOpenCL's arrays on a pool"
elif [ ! -f "$icd" ]; then
	skip "pocl is not installed" "PyOpenCL's arrays on a pool"
elif [ ! -f "$top_builddir/backends/.libs/opencl.so" ]; then
	skip "configured without opencl" "PyOpenCL's arrays on a pool"
else
	exits 0 "PyOpenCL's arrays on a pool" over_pocl
	is "$(grep -c ' ok$' "$scratch/err")" 8 "all of their tests"
fi

# ---- frameworks, over those that are here -----------------------------------
# Without them the package's tests have used stand-ins.

with_package()
{
	for candidate in python3 /usr/bin/python3; do
		"$candidate" -c "import sys, $1
sys.exit(sys.version_info < (3, 9))" >/dev/null 2>&1 </dev/null ||
			continue
		echo "$candidate"
		return
	done
}

over_real()
(
	cd "$scratch/tree/tests" || exit 1
	exec env PYTHONPATH="$(
		echo "$scratch"/tree/lib/python*/site-packages)" \
		"$1" -m unittest -v "$2"
)

for package in cupy numba.cuda rmm; do
	real=$(with_package "$package")
	what="gpumem.${package%.cuda} over the package itself"
	if [ -n "$real" ]; then
		exits 0 "$what" over_real "$real" "test_${package%.cuda}"
	else
		skip "no python3 has $package" "$what"
	fi
done

real=$(with_package torch)
for module in test_torch_subclass test_torch_current test_torch_pinned test_torch_shared \
	test_torch_forked test_torch_failing test_torch_sleep test_torch_plug \
	test_torch_memory_saver test_vllm; do
	what="$module in a PyTorch for CUDA"
	if [ -n "$real" ]; then
		exits 0 "$what" over_real "$real" "$module"
		diag "$(tail -n 1 "$scratch/err")"
	else
		skip "no python3 has torch" "$what"
	fi
done

# ---- a wheel that carries the subclass for this PyTorch -------------------------

# Also without a PyTorch, whose headers it takes to make one.
is "$(sed -n 's/^[a-z].*[ *]\(_*Py[A-Za-z_]*\)(.*);$/\1/p' \
	"$bindings/src/subclass/foreign.cpp" | sort)" \
	"$(cd "$bindings" && "$python" -c 'import gpumem_prebuild
print(*sorted(gpumem_prebuild.STABLE), sep="\n")')" \
	"what it needs of Python is what all versions have"

# carries YES_OR_NO: what the wheel's package does in that PyTorch
carries()
(
	cd "$bindings/tests" || exit 1
	exec env GPUMEM_TEST_PREBUILT="$1" PYTHONPATH="$scratch/carrying" \
		"$real" -m unittest -v test_torch_prebuilt
)

home=
[ -z "$real" ] || home=$("$real" -c 'import torch
print(torch.__path__[0])')
if [ ! -f "$home/include/c10/cuda/CUDACachingAllocator.h" ] ||
	[ ! -f "$home/lib/libtorch_cuda.so" ]; then
	skip "no python3 has a torch for CUDA" "the subclass in the wheel"
elif ! command -v objdump >/dev/null 2>&1; then
	skip "no objdump" "the subclass in the wheel"
else
	check "a wheel with the subclass" "$python" \
		"$bindings/gpumem_build.py" wheel --torch="$home" \
		"$scratch/carrying-wheel"
	"$python" -m zipfile -e "$scratch"/carrying-wheel/*.whl \
		"$scratch/carrying"
	exits 0 "it is taken, without a compiler" carries yes
	is "$(grep -c '^test_in_pytorch.* ok$' "$scratch/err")" 1 "by PyTorch"
	sed -i 's/"git": "./&0/' "$scratch"/carrying/gpumem/prebuilt/*.json
	exits 0 "that of another commit is not" carries no
	is "$(grep -c '^test_in_pytorch.* ok$' "$scratch/err")" 1 "by PyTorch"
fi

# ---- from a source distribution ----------------------------------------------

if [ "${GPUMEM_TEST_SCALE-}" = small ]; then
	skip "compiled in a run at full length" "a source distribution"
	done_testing
fi
unset GPUMEM_BUILD
check "a source distribution" "$python" "$bindings/gpumem_build.py" sdist \
	"$scratch/dist"
sdist=$(find "$scratch/dist" -name '*.tar.gz')
# Its own tree is all that it has; nothing is optimised, to save time.
CFLAGS=-O0
export CFLAGS
installed "a source distribution" sdist "$sdist"
works "a source distribution" sdist
is "$(loaded sdist)" /site-packages/gpumem/lib/libgpumem.so.0 \
	"it loads the library that was compiled from it"
is "$(gzip -dc "$sdist" | tar -tf - | grep -E '\.(so|o|a|pyc)$')" "" \
	"which has sources only"

# ---- what is not there says why -------------------------------------------------

is "$(tools_of "$(package sdist)/bin" | grep -v gpumem-run)" "$(
	tools_of "$top_builddir/tools" | grep -v gpumem-run)" \
	"its tools are those of this tree"
mkdir "$scratch/without"
echo '#error absent' >"$scratch/without/jansson.h"
is "$(CFLAGS="-I$scratch/without" PYTHONPATH="$bindings" "$python" -c '
import pathlib, sys, gpumem_tools
print(gpumem_tools.missing(pathlib.Path(sys.argv[1])))' "$scratch/without")" \
	"no jansson.h (libjansson-dev in Debian)" \
	"a library that the tools need is missed by its header"
mkdir -p "$scratch/bad/tools" "$scratch/bad/made/lib/gpumem"
echo nothing >"$scratch/bad/tools/gpumem_probe-probe.o"
check "tools that cannot be linked are left out" env GPUMEM_BUILD="$scratch/bad" \
	PYTHONPATH="$bindings" "$python" -c '
import pathlib, sys
from gpumem_tools import NAMES, left_out, make_tools
made = pathlib.Path(sys.argv[1], "made")
make_tools(made / "bin", made / "lib", {}, made)
assert set(left_out) == {f"gpumem-{name}" for name in NAMES}, left_out
assert not any("\n" in why for why in left_out.values()), left_out' "$scratch/bad"
exits 1 "a wheel that has to be complete" env PYTHONPATH="$bindings" "$python" -c '
import sys, gpumem_build
gpumem_build.build_wheel = lambda folder: gpumem_build.leave_out("hip", "no x.h")
gpumem_build.main(["wheel", "--complete", sys.argv[1]])' "$scratch/complete"
is "$(cat "$scratch/err")" "gpumem: not complete without hip" \
	"says what it lacks"
rm -f "$(package sdist)/bin/gpumem-probe"
cat >"$(package sdist)/_built.py" <<EOF
TAG, NEEDS = "", {"bin/gpumem-report": ["libz.so.1"]}
LEFT_OUT = {"gpumem-probe": "no jansson.h", "cuda": "no cuda.h"}
EOF
exits 1 "a tool that was left out" "$scratch/sdist/bin/gpumem-probe"
is "$(cat "$scratch/err")" \
	"gpumem-probe: left out when the package was built: no jansson.h" \
	"says why"
exits 1 "python -m gpumem with arguments" \
	"$scratch/sdist/bin/python" -m gpumem --json
exits 0 "python -m gpumem without the tools" \
	"$scratch/sdist/bin/python" -m gpumem
is "$(grep -cE '^host: |^  host:0: |^cuda is not in this package: no cuda\.h$|of the system$' \
	"$scratch/out")" 4 "lists backends, devices, and what is missing"

done_testing
