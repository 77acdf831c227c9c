#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The scripts that try gpumem-run on a machine with a GPU, over doubles of drivers,
# as far as they need neither a compiler of kernels nor a framework: they work, and
# find what they are for. No proof of a driver.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool run
need_tool trace
[ -f "$top_builddir/tests/fake/cuda/.libs/libcuda.so.1" ] ||
	skip_all "configured without cuda"
need_no_sanitizer
have_python || skip_all "there is no python3"
scripts=$top_srcdir/tests/device
LD_LIBRARY_PATH=$top_builddir/tests/fake/cuda/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
RUN=$(cd "$tools" && pwd)/gpumem-run
CUDA_HOME=/nonexistent
PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH RUN CC CUDA_HOME PYTHONDONTWRITEBYTECODE

# liar COMMAND: a build whose gpumem-run is that
liar()
{
	mkdir -p "$scratch/liar/tools"
	printf '#!/bin/sh\n%s\n' "$1" >"$scratch/liar/tools/gpumem-run"
	chmod +x "$scratch/liar/tools/gpumem-run"
	ln -sf "$(cd "$tools" && pwd)/gpumem-trace" "$scratch/liar/tools/"
}

# ---- run_programs.sh ---------------------------------------------------------------

PROGRAMS="driver-handle driver-get"
[ ! -e "$top_builddir/tests/fake/hip/6/.libs/libamdhip64.so.6" ] ||
	PROGRAMS="$PROGRAMS hip-6"
export PROGRAMS
exits 0 "programs as they are and under gpumem-run" \
	sh "$scripts/run_programs.sh" "$top_builddir" "$scratch/programs"
is "$(awk '$2 ~ /^[0-9]+$/ { print $1, $2 }' "$scratch/out" | grep ^driver)" \
	"driver-handle 0
driver-handle.run 0
driver-handle.no-pool 0
driver-get 0
driver-get.run 0
driver-get.no-pool 0" "each ran, and no other"
is "$(grep -c "^driver.* peak 4194304 .*'async': (12288, 2, 0)" "$scratch/out")" 4 \
	"and was counted"
case $PROGRAMS in
*hip*) is "$(grep -c "^hip-6.* hip peak 4194304 end 1048576" "$scratch/out")" 3 \
	"and so was that of AMD's runtime, with a limit too" ;;
*) skip "configured without hip" "a program of AMD's runtime" ;;
esac
liar 'echo lie; exec "$RUN" "$@"'
exits 1 "a gpumem-run that prints is found" \
	sh "$scripts/run_programs.sh" "$scratch/liar" "$scratch/programs"
is "$(grep -c '^driver.*DIFFERS$' "$scratch/out")" 4 "in each run"

# ---- run_exact.py -------------------------------------------------------------------

set -- driver_plain driver_async driver_virtual
exits 0 "what is counted is what the driver says" \
	python3 "$scripts/run_exact.py" "$top_builddir" "$@"
is "$(grep -c '^ok .* taken: +0, within' "$scratch/out")" 6 "to the byte"
liar 'exec "$RUN" --backend=hip "$@"'
exits 1 "a gpumem-run that counts nothing is found" \
	python3 "$scripts/run_exact.py" "$scratch/liar" "$@"
is "$(grep -c '^not ok .* 0 counted' "$scratch/out")" 6 "at each point"

done_testing
