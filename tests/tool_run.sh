#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run: programs that know nothing of it behave as they do without, and what
# they allocate from the double of NVIDIA's driver is counted exactly, however they
# reach it and however they end.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_cuda
preload=$tools/.libs/libgpumem-preload.so

common_manners run
plain_scratch

# driver OPTION...: compiles the program that uses NVIDIA's driver
driver()
{
	$CC -w "$source/driver.c" "$source/driver_memory.c" \
		"$source/driver_ways.c" "$@"
}

check "the program compiles" driver -o "$scratch/driver" -ldl
check "and linked with the driver" driver -DLINKED -o "$scratch/linked" \
	"$double/libcuda.so.1"
check "and another library to preload" $CC -w -shared -fPIC \
	-o "$plain/next.so" "$source/next.c" -ldl

# ---- the library ------------------------------------------------------------

is "$(nm -D --defined-only "$preload" | awk '$3 !~ /^hip/ { print $3 }' |
	sed 's/@.*//' | sort)" "$({
	echo dlsym
	echo gpumem_run_tell
	echo gpumem_run_trim
	sed -n '/^#define CUDA_.*HOOKS(X)/,/^$/s/^	X(\([A-Za-z0-9_]*\),.*/\1/p' \
		"$top_srcdir/tools/preload/cuda_hooks.h"
} | sort)" "beside AMD's the library has dlsym(), its own functions and the driver's, no other"
is "$(objdump -p "$preload" | awk '$1 == "NEEDED" { print $2 }' |
	grep -vE '^(libc|libdl|libpthread|ld-linux[a-z0-9-]*)\.so\.[0-9]+$')" "" \
	"it needs libc only"

# ---- programs that use no GPU -------------------------------------------------

# alike NAME COMMAND...: the same output, errors and exit status with and without
alike()
{
	tap_alike=$1
	shift
	"$@" >"$scratch/out1" 2>"$scratch/err1" </dev/null
	echo "status $?" >>"$scratch/out1"
	"$run" --report="$scratch/report" -- "$@" >"$scratch/out2" \
		2>"$scratch/err2" </dev/null
	echo "status $?" >>"$scratch/out2"
	is "$(cat "$scratch/out2" "$scratch/err2")" \
		"$(cat "$scratch/out1" "$scratch/err1")" "alike: $tap_alike"
}

for shell in sh dash bash ksh zsh mksh busybox; do
	command -v $shell >/dev/null 2>&1 || continue
	set -- $shell
	[ $shell != busybox ] || set -- busybox sh
	alike "$shell" "$@" -c 'echo out; echo err >&2; (exit 3); echo $?; exit 5'
	alike "$shell with children" "$@" -c 'echo a b | wc -w; sh -c "exit 9"'
done
alike "a program that is not there" env "$scratch/nothing"
alike "a compiler" $CC -dM -E -x c /dev/null
alike "one that fails" $CC -x c /nonexistent
alike "make" make -f /dev/null nothing
alike "awk" awk 'BEGIN { print 1 / 3; exit 4 }'
alike "sort" sort "$source/driver.c"
alike "a pipe that closes" sh -c 'yes | head -n 3'
for tool in perl python3 ruby node lua tclsh php guile gdb git; do
	command -v $tool >/dev/null 2>&1 || continue
	case $tool in
	perl) alike perl perl -e 'print 6 * 7, "\n"; exit 3' ;;
	python3) alike python3 python3 -c 'import ctypes, sys
print(ctypes.CDLL(None).abs(-3)); sys.exit(4)' ;;
	*) alike $tool $tool --version ;;
	esac
done
alike "the descriptors" sh -c 'cd /proc/self/fd && echo *'
alike "the threads" grep ^Threads: /proc/self/status
alike "the signals" grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status
alike "the libraries of a GPU" grep -c libcuda /proc/self/maps
alike "the limits" sh -c 'ulimit -a'
is "$("$run" --report="$scratch/report" sh -c 'echo $LD_PRELOAD' |
	grep -c 'libgpumem-preload\.so$')" 1 "the library was there"
is "$(sed -n 2p "$scratch/report")" "no process that was followed allocated GPU memory" \
	"and counted nothing"

# ---- ends ---------------------------------------------------------------------

for number in 6 9 11 15; do
	exits $((128 + number)) "a program that ends by signal $number" \
		"$run" --report="$scratch/report" sh -c "kill -$number \$\$"
	is "$(head -n 1 "$scratch/report")" "ended by signal $number" \
		"the report says so"
done
exits 127 "a program that is not there" "$run" "$scratch/nothing"
check "is told" grep -q '^gpumem-run: .*nothing: No such file' "$scratch/err"
: >"$scratch/plain"
exits 126 "a file that is no program" "$run" "$scratch/plain"
exits 2 "no program" "$run" --json
exits 2 "a report where the recording goes" "$run" --report="$scratch/both" \
	--record="$scratch/both" touch "$scratch/ran"
check "and nothing has run" [ ! -e "$scratch/ran" ]
for option in report record; do
	exits 1 "a $option that cannot be written" "$run" \
		--$option=/nonexistent/r touch "$scratch/ran"
	is "$(cat "$scratch/err")" \
		"gpumem-run: /nonexistent/r: No such file or directory" "says so"
	check "before the program runs" test ! -e "$scratch/ran"
done
exits 4 "options of the program" "$run" --report="$scratch/report" sh -c \
	'[ "$1" = --report ] && exit 4' - --report
# A signal that gpumem-run gets is the program's.
mkfifo "$scratch/ready"
"$run" --report="$scratch/report" sh -c 'trap "exit 6" TERM
	echo >"$1"; while :; do sleep 0.1; done' - "$scratch/ready" &
pid=$!
read -r _ <"$scratch/ready"
kill -TERM $pid
wait $pid
is $? 6 "a program that catches SIGTERM"
# So is each other that can be sent, also one that stops who does not catch it, or
# is meant for a fault. What a shell starts beside itself gets no SIGINT or SIGQUIT.
lost=
for number in $(seq 1 34) 64; do
	case $number in 2 | 3 | 9 | 17 | 19 | 32 | 33) continue ;; esac
	"$run" --report="$scratch/report" sh -c 'trap "exit 6" "$2"
		echo >"$1"; while :; do sleep 0.1; done' - "$scratch/ready" \
		$number &
	pid=$!
	read -r _ <"$scratch/ready"
	kill -$number $pid
	wait $pid
	[ $? = 6 ] || lost="$lost $number"
done
is "$lost" "" "each other signal reaches the program, too"
exits 0 "no folder is left" sh -c "! ls -d /dev/shm/gpumem-run-* \
	2>/dev/null | xargs -r ls -d 2>/dev/null | grep -q \"gpumem-run-$pid\""

# ---- what is in its folder ------------------------------------------------------

# bounded: what would hang is killed, and exits 137
for what in 'mkfifo "$f"' 'ln -s /dev/zero "$f"' 'ln -s /dev/tty "$f"' \
	'mkdir -p "$f/a/b"' 'truncate -s 1T "$f"' ': >"$f"' \
	'head -c 200000 /dev/urandom >"$f"' 'ln -s "$f" "$f"'; do
	exits 0 "a program that leaves: $what" timeout -k 20 20 "$run" \
		--report="$scratch/report" sh -c \
		"f=\$GPUMEM_RUN_LEDGERS/a.ledger; echo \$GPUMEM_RUN_LEDGERS; $what"
	check "is no process" grep -q '^no process that was followed' \
		"$scratch/report"
	check "and its folder goes" [ ! -e "$(cat "$scratch/out")" ]
done
# Who waits for a reader of the report can be ended.
mkfifo "$scratch/full"
exec 9<>"$scratch/full"
head -c 65536 /dev/zero >&9
timeout -k 20 20 "$run" sh -c 'echo "$GPUMEM_RUN_LEDGERS" >"$1"' - \
	"$scratch/folder" 2>&9 &
pid=$!
while kill -0 $pid 2>/dev/null &&
	! { [ -s "$scratch/folder" ] && [ ! -e "$(cat "$scratch/folder")" ]; }; do
	sleep 0.1
done
kill -TERM $pid
wait $pid
is $? 143 "SIGTERM ends a report that waits"
exec 9>&-

# ---- what cannot be followed ------------------------------------------------------

echo 'int main(void) { return 7; }' >"$scratch/seven.c"

# unfollowed WHY PROGRAM: it runs, and the report says why nothing is known of it
unfollowed()
{
	exits 7 "a program, $1" "$run" --json --report="$scratch/out" "$2"
	is "$(cat "$scratch/err")" "" "has no more errors"
	json_is "[x['what'] for x in d['not_followed'] if '$1' in x['why']]" \
		"['$2']" "and the report says so"
}

if musl-gcc -o "$scratch/musl" "$scratch/seven.c" 2>/dev/null; then
	unfollowed "another C library" "$scratch/musl"
	exits 7 "a shell that starts it" "$run" --report="$scratch/report" \
		sh -c '"$1"; exit $?' - "$scratch/musl"
	is "$(cat "$scratch/err")" "" "has no more errors"
	# A first line takes no path with a blank.
	cp "$scratch/musl" "$plain/musl"
	printf '#!%s\n' "$plain/musl" >"$plain/script"
	chmod +x "$plain/script"
	unfollowed "another C library" "$plain/script"
else
	skip "there is no musl-gcc" "a program of another C library"
fi
if $CC -static -o "$scratch/static" "$scratch/seven.c" 2>/dev/null; then
	unfollowed "statically" "$scratch/static"
	PATH=$scratch:$PATH exits 7 "by its name" "$run" \
		--report="$scratch/report" static
	check "as text" grep -q '^not followed: static: it is linked statically$' \
		"$scratch/report"
else
	skip "there is no libc.a" "a program that is linked statically"
fi
if $CC -m32 -o "$scratch/small" "$scratch/seven.c" 2>/dev/null; then
	exits 7 "a program of 32 bits" "$run" --report="$scratch/report" \
		"$scratch/small"
	check "is told" grep -q 'it is a program of 32 bits$' "$scratch/report"
else
	skip "there is no compiler for it" "a program of 32 bits"
fi
exits 0 "a program that is followed" "$run" --json --report="$scratch/out" true
json_is "[x for x in d['not_followed'] if x['what'] == 'true']" "[]" "is"
exits 0 "--backend=cuda" "$run" --backend=cuda --report="$scratch/report" true
check "says what that leaves out" grep -q \
	"^not followed: calls of OpenCL: " "$scratch/report"

# ---- where it is --------------------------------------------------------------------

# What a linker expands or splits is no reason to count nothing.
for name in '$LIB' '$ORIGIN' 'a b' 'a:b' '${PLATFORM}' ; do
	mkdir -p "$scratch/$name"
	cp "$tools/.libs/gpumem-run" "$scratch/$name/" 2>/dev/null ||
		cp "$run" "$scratch/$name/"
	cp "$preload" "$scratch/$name/"
	cp "$tools"/.libs/libgpumem-opencl-layer.so "$scratch/$name/" 2>/dev/null
	check "gpumem-run in a folder $name" env \
		LD_LIBRARY_PATH="$top_builddir/.libs:$LD_LIBRARY_PATH" \
		"$scratch/$name/gpumem-run" --json --report="$scratch/out" \
		"$scratch/driver" handle all
	json_is "len(d['processes'])" 1 "counts"
done

# ---- --adopt ---------------------------------------------------------------------

check "--adopt sets what is not set" env TF_FORCE_GPU_ALLOW_GROWTH=false \
	XLA_PYTHON_CLIENT_PREALLOCATE= "$run" --adopt --backend=cuda --json \
	--report="$scratch/out" sh -c '[ "$XLA_PYTHON_CLIENT_ALLOCATOR" = cuda_async ] &&
		[ "$PYTORCH_NO_CUDA_MEMORY_CACHING" = 1 ] &&
		[ "$PYTORCH_NO_HIP_MEMORY_CACHING" = 1 ] &&
		[ "$TF_FORCE_GPU_ALLOW_GROWTH" = false ] &&
		[ "$TF_GPU_ALLOCATOR" = cuda_malloc_async ] &&
		[ "${XLA_PYTHON_CLIENT_PREALLOCATE-unset}" = "" ]'
json_is "sorted(d['set'])" \
	"['PYTORCH_NO_CUDA_MEMORY_CACHING', 'PYTORCH_NO_HIP_MEMORY_CACHING', 'TF_GPU_ALLOCATOR', 'XLA_PYTHON_CLIENT_ALLOCATOR']" \
	"and the report says what"
exits 0 "without it" "$run" --json --report="$scratch/out" sh -c \
	'[ -z "${XLA_PYTHON_CLIENT_ALLOCATOR+set}" ]'
json_is "d['set']" "{}" "nothing is set"

# served_in COMMAND...: which frameworks it has make stream-ordered allocations
served_in()
{
	"$@" --adopt --report="$scratch/out" sh -c 'echo \
		"$XLA_PYTHON_CLIENT_ALLOCATOR $TF_GPU_ALLOCATOR $TF_FORCE_GPU_ALLOW_GROWTH"'
}

# seen NODE...: where /dev has no other of a GPU's
seen()
{
	rm -rf "$scratch/dev"
	mkdir "$scratch/dev"
	for node in null "$@"; do
		: >"$scratch/dev/$node"
	done
	served_in unshare -rm sh -c 'mount --bind "$0" /dev && exec "$@"' \
		"$scratch/dev" "$run"
}

is "$(served_in "$run" --backend=hip)" "  true" \
	"none of AMD's, which would end for it"
if unshare -rm true 2>/dev/null; then
	both="cuda_async cuda_malloc_async true"
	is "$(seen kfd)" "  true" "nor where there are AMD's devices"
	is "$(seen kfd nvidia0)" "$both" "but where there are NVIDIA's, too"
	is "$(seen)" "$both" "or none"
else
	skip "no mounts of one's own" "by the devices that are seen"
fi

# ---- --backend -------------------------------------------------------------------

check "--backend=cuda loads its library and no layer" "$run" --backend=cuda \
	--report="$scratch/report" sh -c \
	'case $LD_PRELOAD/$OPENCL_LAYERS in *gpumem-opencl-layer*) exit 1 ;;
		*libgpumem-preload.so*) ;; *) exit 1 ;; esac'
check "and counts" "$run" --backend=cuda --report="$scratch/report" \
	"$scratch/driver" handle all
check "its calls" grep -q '^    driver allocations ' "$scratch/report"
if [ -f "$tools/.libs/libgpumem-opencl-layer.so" ]; then
	check "--backend=opencl loads the layer only" "$run" --backend=opencl \
		--report="$scratch/report" sh -c \
		'case $LD_PRELOAD/$OPENCL_LAYERS in *libgpumem-preload*) exit 1 ;;
			*gpumem-opencl-layer*) ;; *) exit 1 ;; esac'
	check "then a program" "$run" --backend=opencl \
		--report="$scratch/report" "$scratch/driver" handle all
	check "has its driver to itself" grep -q \
		'^no process that was followed allocated GPU memory$' "$scratch/report"
fi
exits 2 "--backend=host" "$run" --backend=host true
check "says what there is" grep -q 'expected cuda' "$scratch/err"
check "as a list" test "$(grep -c ' or .* or ' "$scratch/err")" -eq 0
for name in host cud CUDA HIP ''; do
	exits 2 "--backend=$name" "$run" --backend="$name" true
	check "is told" grep -q "^gpumem-run: --backend=$name: " "$scratch/err"
done

# ---- what is counted ------------------------------------------------------------

have_python || skip "there is no python3" "the figures"

# kind NAME: peak, current, allocations, frees and failures of device 0
kind()
{
	json "[[k['peak_bytes'], k['current_bytes'], k['allocations'],
		k['frees'], k['failures']] for p in d['processes']
		for x in p['devices'] if x['device'] == 0
		for k in [x['kinds']['$1']]]"
}

# counted NAME: what `driver WAY all` does, after `run --json --report=$scratch/out`
counted()
{
	have_python || return 0
	is "$(kind allocations)" "[[4194304, 0, 3, 3, 1]]" "$1: allocations"
	is "$(kind async)" "[[12288, 0, 2, 2, 0]]" "$1: stream-ordered"
	is "$(kind virtual)" "[[2097152, 0, 1, 1, 0]]" "$1: virtual memory"
	is "$(kind arrays)" "[[6000, 0, 3, 3, 0]]" "$1: arrays"
	is "$(kind managed)" "[[5000, 0, 1, 1, 0]]" "$1: managed"
	is "$(kind pinned)" "[[3000, 0, 2, 2, 0]]" "$1: pinned"
	is "$(kind registered)" "[[8192, 0, 1, 1, 0]]" "$1: registered"
	is "$(json "[p[n] for p in d['processes'] for n in
		('unknown_frees', 'unhooked', 'untracked')]")" "[0, 0, 0]" \
		"$1: nothing is missing"
	is "$(json "[(p['exited'], x['peak_bytes'], x['current_bytes'])
		for p in d['processes'] for x in p['devices']]")" \
		"[(True, 4194304, 0)]" "$1: the device"
}

for way in link handle default get get1; do
	program=$scratch/driver
	[ $way != link ] || program=$scratch/linked
	alike "by $way" "$program" $way all
	"$run" --json --report="$scratch/out" "$program" $way all >/dev/null
	counted $way
done
"$run" --json --report="$scratch/out" "$scratch/driver" get all 2 >/dev/null
counted "the default stream of each thread"
LD_PRELOAD=$plain/next.so "$run" --json --report="$scratch/out" \
	"$scratch/linked" link all >"$scratch/text"
is "$(tail -n 1 "$scratch/text")" "done, and seen" \
	"another preloaded library works"
counted "beside another preloaded library"

# One that has a dlsym() of its own, and answers with a function of its own; and
# another copy of the library.
cat >"$scratch/asks.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int alloc_function(unsigned long long *, size_t);
static alloc_function *alloc;

static int own_alloc(unsigned long long *block, size_t bytes)
{
	fprintf(stderr, "%zu bytes\n", bytes);
	return alloc(block, bytes);
}

void *dlsym(void *handle, const char *name)
{
	void *(*next)(void *, const char *) = NULL;
	const char *versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};

	for (int i = 0; !next; i++)
		next = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	if (strcmp(name, "cuMemAlloc_v2") != 0)
		return next(handle, name);
	alloc = next(handle, name);
	return own_alloc;
}
END
check "one that answers dlsym() compiles" $CC -w -shared -fPIC \
	-o "$plain/asks.so" "$scratch/asks.c" -ldl
cp "$preload" "$plain/"
for library in libgpumem-preload.so asks.so; do
	LD_PRELOAD=$plain/$library
	export LD_PRELOAD
	alike "beside $library" "$scratch/driver" handle all
	"$run" --json --report="$scratch/out" "$scratch/driver" handle all \
		>/dev/null 2>"$scratch/err"
	unset LD_PRELOAD
	counted "beside $library"
done
check "which was asked" grep -q "^[0-9]* bytes$" "$scratch/err1"
LD_PRELOAD=$plain/libgpumem-preload.so alike "linked, beside another copy" \
	"$scratch/linked" link all
unset LD_PRELOAD

# ---- arrays -------------------------------------------------------------------

# arrays_are CASE FIGURES WHAT
arrays_are()
{
	"$run" --json --report="$scratch/out" "$scratch/array" "$1" >/dev/null
	json_is "[(x['peak_bytes'], x['current_bytes'], k['allocations'],
		k['frees'], k['failures'], p['unknown_frees'], p['untracked'])
		for p in d['processes'] for x in p['devices']
		for k in [x['kinds']['arrays']]]" "$2" "$3"
}

check "a program of arrays compiles" $CC -w -o "$scratch/array" \
	"$source/array.c" "$source/pool.c" -ldl -lpthread
alike "arrays" "$scratch/array" sizes
is "$(head -n 1 "$scratch/out2")" "done" "all are made"
arrays_are sizes "[(831058, 0, 7, 7, 0, 0, 0)]" "their sizes"
alike "ends of arrays" "$scratch/array" ends
arrays_are ends "[(3000, 2048, 7, 5, 2, 0, 0)]" "what is left of them"
alike "an array of an unknown format" "$scratch/array" unknown
"$run" --json --report="$scratch/out" "$scratch/array" unknown >/dev/null
json_is "[(p['devices'], p['unknown_frees'], p['untracked'])
	for p in d['processes']]" "[([], 1, 1)]" "is not counted, and it is told"
for option in --backend=cuda --no-pool; do
	exits 0 "$option: a device that is full" env FAKECUDA_MEMORY=67108864 \
		"$run" $option --report="$scratch/report" "$scratch/array" full
done

# ended NAME STATUS WHAT: 6 MiB are live at the end, whatever that is
ended()
{
	"$run" --json --report="$scratch/out" "$scratch/driver" handle "$3" \
		>/dev/null 2>&1
	is $? "$2" "$1"
	have_python && is "$(kind allocations)" "[[6291456, 6291456, 1, 0, 0]]" \
		"$1: what was live is counted"
}

ended "an end that leaves memory" 0 leave
json_is "[p['exited'] for p in d['processes']]" "[True]" "which was exit()"
ended "_exit()" 5 quit
ended "a crash" 139 crash
json_is "(d['signal'], d['status'])" "(11, None)" "the report has its signal"
json_is "[p['exited'] for p in d['processes']]" "[False]" "and no exit()"
ended "SIGKILL" 137 kill
"$run" --json --report="$scratch/out" "$scratch/driver" handle contexts >/dev/null
json_is "$(printf '%s' "[(k['peak_bytes'], k['current_bytes'], k['frees'])
	for p in d['processes'] for x in p['devices']
	for k in [x['kinds']['allocations']]]")" "[(2097152, 0, 2)]" \
	"memory ends with its context"
alike "a child before the driver" "$scratch/driver" handle fork_first
"$run" --json --report="$scratch/out" "$scratch/driver" handle fork_first >/dev/null
json_is "sorted(x['peak_bytes'] for p in d['processes'] for x in p['devices'])" \
	"[1048576, 2097152]" "each process has its own figures"
alike "a child after it" "$scratch/driver" handle fork_last
"$run" --json --report="$scratch/out" "$scratch/driver" handle fork_last >/dev/null
json_is "[(x['peak_bytes'], x['current_bytes'])
	for p in d['processes'] for x in p['devices']]" \
	"[(4194304, 0)]" "a child changes nothing of its parent's"
"$run" --json --report="$scratch/out" "$scratch/driver" handle fork_kill >/dev/null
json_is "[p['exited'] for p in d['processes']]" "[False]" \
	"nor does its exit()"
exits 0 "two processes of a shell" "$run" --json --report="$scratch/out" \
	sh -c '"$1" handle all >/dev/null; "$1" handle leave >/dev/null' - \
	"$scratch/driver"
json_is "len(d['processes'])" 2 "are told apart"
exits 0 "as text" "$run" "$scratch/driver" handle all
check "on standard error" grep -qE \
	'^    driver allocations +4 MiB +0 B +3 +3 +1$' "$scratch/err"
is "$(cat "$scratch/out")" "cuMemFree_v2: 1
cuMemAlloc_v2: 2
done" "and standard output is the program's"

# ---- threads that are cancelled, and files that may not be written ----------------

check "a program that cancels a thread compiles" $CC -w -o "$scratch/cancel" \
	"$source/cancel.c" "$source/pool.c" -ldl -lpthread
alike "a thread is cancelled in the first allocation" "$scratch/cancel" first
FAKECUDA_LATENCY=cuMemFree:200us
export FAKECUDA_LATENCY
check "a thread is cancelled while it gives back" "$run" --adopt --limit=64MiB --json \
	--report="$scratch/out" "$scratch/cancel" give_back
unset FAKECUDA_LATENCY
json_is "[x['pool']['returned'] > 0 for p in d['processes']
	for x in p['devices']]" "[True]" "and it did give back"
alike "no file may have more than a block" "$scratch/cancel" limited
is "$(cat "$scratch/out2")" "done
status 0" "and the program is not ended for that"
is "$(sed -n 2p "$scratch/report")" "no process that was followed allocated GPU memory" \
	"then nothing is counted"

# ---- AddressSanitizer, whose runtime wants to be first --------------------------

cat >"$scratch/wrong.c" <<'END'
#include <stdlib.h>
int main(int count, char **values)
{
	volatile char *block = malloc(8);

	block[8 * (count - 1)] = 1;
	free((void *)block);
	return 7;
}
END
if $CC -w -fsanitize=address -o "$scratch/right" "$scratch/wrong.c" 2>/dev/null &&
	"$scratch/right"; [ $? = 7 ]; then
	alike "a program of AddressSanitizer's" "$scratch/right"
	exits 1 "and one that is wrong" "$run" --report="$scratch/report" \
		"$scratch/right" wrong
	check "is told" grep -q "ERROR: AddressSanitizer: heap-buffer-overflow" \
		"$scratch/err"
	is "$(ASAN_OPTIONS=exitcode=9 "$run" --report="$scratch/report" \
		"$scratch/right" wrong 2>/dev/null; echo $?)" 9 \
		"and its own options hold"
else
	skip "there is no AddressSanitizer" "a program of it"
fi
LD_LIBRARY_PATH=/nowhere
alike "no driver" "$scratch/driver" handle all

done_testing
