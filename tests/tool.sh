# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What the tests of the tools share. Sourced after tap.sh.

tools=$top_builddir/tools

# For tests/lsan.supp. Not for those that compile kernels: it would take minutes.
ASAN_OPTIONS=fast_unwind_on_malloc=0
export ASAN_OPTIONS

# The harness chooses the backend; these tests choose the options.
unset GPUMEM_CONF

# need_tool NAME
need_tool()
{
	[ -x "$tools/gpumem-$1" ] || skip_all "gpumem-$1 was not built"
}

# What is preloaded, or is loaded by a program that is not built here, has no
# sanitizer's runtime before it.
need_no_sanitizer()
{
	[ "${SANITIZER:-none}" = none ] ||
		skip_all "a sanitizer's runtime has to be loaded before all others"
}

# gpumem-run, and programs that find the double of NVIDIA's driver
# shellcheck disable=SC2034
need_run_cuda()
{
	need_tool run
	run=$tools/gpumem-run
	source=$top_srcdir/tests/run
	double=$top_builddir/tests/fake/cuda/.libs
	[ -f "$double/libcuda.so.1" ] || skip_all "configured without cuda"
	need_no_sanitizer
	LD_LIBRARY_PATH=$double${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
}

# gpumem-run with AMD's runtime, whose doubles speak to that of NVIDIA's driver
# shellcheck disable=SC2034
need_run_hip()
{
	preload=$tools/.libs/libgpumem-preload.so
	if [ ! -f "$preload" ] ||
		! nm -D --defined-only "$preload" | grep -q ' hipMalloc$'; then
		skip_all "configured without hip"
	fi
	need_tool run
	need_no_sanitizer
	run=$tools/gpumem-run
	source=$top_srcdir/tests/run
	driver=$top_builddir/tests/fake/cuda/.libs
	doubles=$top_builddir/tests/fake/hip
	plain_scratch
}

# What a device is capable of decides which checks run, not which threads meet;
# and one run takes ThreadSanitizer 15 s of processor time.
# shellcheck disable=SC2034
conform_under_tsan="one run is enough for ThreadSanitizer"

# recorded: the names of the recorded programs; in a short run one of one stream
# and one of several
recorded()
{
	if [ "${GPUMEM_TEST_SCALE-}" = small ]; then
		echo llama_generate offload_streams
	else
		(cd "$top_srcdir/tests/traces" && ls -- *.trace.gz) |
			sed 's/\.trace\.gz$//'
	fi
}

# no_device COMMAND...: whether clinfo, run by that command, says that OpenCL has no
# device there. What an implementation takes for one changes with its version.
no_device()
{
	"$@" clinfo --raw 2>/dev/null | grep -q '#DEVICES  *0$'
}

# fine_svm COMMAND...: whether clinfo says that it has one whose shared virtual
# memory needs no shadow
fine_svm()
{
	"$@" clinfo --raw 2>/dev/null |
		grep -q 'CL_DEVICE_SVM_CAPABILITIES .*FINE_GRAIN_BUFFER'
}

# with CONF COMMAND...: with those options in the environment
with()
{
	(
		GPUMEM_CONF=$1
		export GPUMEM_CONF
		shift
		"$@"
	)
}

# value KEY: of the JSON in $scratch/out
value()
{
	sed -n "s/^ *\"$1\": \\([0-9.]*\\),\\{0,1\\}\$/\\1/p" "$scratch/out"
}

# Where python3 is a script that looks for the one that is meant, that one is called
# from here on: it starts in a fifth of the time, and tests start hundreds.
python_folder=$(python3 -c 'import os, sys
print(os.path.dirname(sys.executable))' 2>/dev/null)
if [ -x "$python_folder/python3" ] &&
	[ "$python_folder/python3" != "$(command -v python3)" ]; then
	PATH=$python_folder:$PATH
fi

have_python()
{
	[ -n "$python_folder" ]
}

# valid_json NAME: what the last `exits` printed is JSON
valid_json()
{
	if ! have_python; then
		skip "there is no python3" "$1"
		return
	fi
	check "$1" python3 -m json.tool "$scratch/out"
}

# json EXPRESSION: of `d`, what the last `exits` printed; "" when it fails
json()
{
	python3 -c "import json
d = json.load(open('$scratch/out'))
print(($1))" 2>/dev/null
}

# json_is EXPRESSION EXPECTED NAME
json_is()
{
	if have_python; then
		is "$(json "$1")" "$2" "$3"
	else
		skip "there is no python3" "$3"
	fi
}

# The page documents no option that there is not; tests/man.sh looks the other
# way round.
page_is_honest()
{
	"$tools/gpumem-$1" --help >"$scratch/help"
	is "$(grep -oE -e 'Fl -[a-z][a-z-]+' \
		"$top_srcdir/docs/man/gpumem-$1.1" | sort -u |
		while read -r _ option; do
			grep -q -e "-$option" "$scratch/help" || echo "$option"
		done)" "" "the manual page names no other option"
}

# What every tool does alike.
common_manners()
{
	exits 0 "--help" "$tools/gpumem-$1" --help
	check "--help says how it exits" grep -q 'Exit status' "$scratch/out"
	exits 0 "--version" "$tools/gpumem-$1" --version
	is "$(cat "$scratch/out")" "gpumem-$1 $(sed -n \
		's/^#define GPUMEM_VERSION_STRING "\(.*\)"/\1/p' \
		"$top_srcdir/include/gpumem/gpumem.h")" \
		"--version is the library's"
	exits 2 "an option that is none" "$tools/gpumem-$1" --nonsense
	page_is_honest "$1"
}

# wants_good_options TOOL ARGUMENT...: what is not understood in the environment
# ends it before anything is done
wants_good_options()
{
	tool=$tools/gpumem-$1
	shift
	for conf in limit:1XB limit=1GB hsot.capacity:1GiB vm; do
		exits 2 "GPUMEM_CONF=$conf" with "$conf" "$tool" "$@"
		is "$(wc -c <"$scratch/out")" 0 "shows nothing"
		is "$(wc -l <"$scratch/err")" 1 "tells it once"
		check "and what it was" grep -q ": GPUMEM_CONF: .*${conf%:*}" \
			"$scratch/err"
	done
	exits 2 "GPUMEM_CONF=hsot.capacity:1" with hsot.capacity:1 "$tool" "$@"
	check "names the option that may have been meant" \
		grep -q 'did you mean "host.capacity"?' "$scratch/err"
	exits 2 "also with log:none" with log:none,limit:1XB "$tool" "$@"
	exits 0 "but --help" with limit:1XB "$tool" --help
}

# refuses TOOL SENTENCE ARGUMENT...: those arguments are wrong, and it says why
refuses()
{
	tool=gpumem-$1
	sentence=$2
	shift 2
	exits 2 "$tool $*" "$tools/$tool" "$@"
	is "$(head -n 1 "$scratch/err")" "$tool: $sentence" "says why"
}
