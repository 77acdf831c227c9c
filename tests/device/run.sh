#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Everything there is to try on a machine with a real GPU, in one command:
#
#	sh tests/device/run.sh BUILD OUT [cuda:0]
#	sh tests/device/run.sh BUILD OUT opencl:H100
#
# An OpenCL device is named by a part of what gpumem-probe shows as its product,
# for its number depends on what else is installed; NVIDIA's implementation is
# made known to the loader where only its library is there. SCALE=1/16 in the
# environment makes the traces smaller there.
#
# BUILD is a folder in which `make` has been run, OUT a new one for the results:
# OUT/transcript.txt is what to keep, and to send. What is missing on the machine
# (a compiler, the CUDA Toolkit, PyTorch, compute-sanitizer) is left out, and
# said to be. The exit status is 0 if nothing failed. Takes a few minutes, with
# PyTorch and transformers 45 minutes more (step "models"), up to 112 GiB of
# device memory and no other process on the device. STEPS="busy peers" in the
# environment takes these steps only.

build=$(cd "${1:?BUILD OUT [DEVICE]}" && pwd) || exit 2
mkdir -p "${2:?BUILD OUT [DEVICE]}" && out=$(cd "$2" && pwd) || exit 2
device=${3:-cuda:0}
backend=${device%%:*}
source=$(cd "$(dirname "$0")/../.." && pwd)
transcript=$out/transcript.txt
cuda=${CUDA_HOME:-/usr/local/cuda}
rocm=${ROCM_PATH:-/opt/rocm}
failed=0
export GPUMEM_PLUGIN_PATH="$build/backends/.libs"
export GPUMEM_BACKEND="$backend" LC_ALL=C
lists=
: >"$transcript"

# ---- an OpenCL device, by a part of its name --------------------------------

nvidia_icd()
{
	[ -z "${OCL_ICD_VENDORS-}" ] || return 0
	[ ! -f /etc/OpenCL/vendors/nvidia.icd ] || return 0
	ldconfig -p | grep -q 'libnvidia-opencl\.so\.1' || return 0
	mkdir -p "$out/icd" || return 1
	echo libnvidia-opencl.so.1 >"$out/icd/nvidia.icd"
	export OCL_ICD_VENDORS="$out/icd"
}

# of_devices EXPRESSION TEXT: of x, the first OpenCL device that has the text in
# its name or product
of_devices()
{
	"$build/tools/gpumem-probe" --backend=opencl --json |
		python3 -c "import json, sys
print([$1 for b in json.load(sys.stdin)['backends'] for x in b['devices']
       if sys.argv[1] in (x['name'] + ' ' + x['product'])][0])" "$2"
}

if [ "$backend" = opencl ]; then
	nvidia_icd
	case $device in
	opencl:[0-9]*) ;;
	*) device=$(of_devices "x['name']" "${device#*:}" 2>/dev/null) || {
		echo "no OpenCL device is like $3" >&2
		exit 2
	} ;;
	esac
fi

say()
{
	printf '%s\n' "$*" | tee -a "$transcript"
}

# step NAME TITLE COMMAND...: its output goes to the transcript.
step()
{
	case " ${STEPS:-$1} " in
	*" $1 "*) shift ;;
	*) return 0 ;;
	esac
	say ""
	say "==> $1"
	shift
	"$@" >"$out/step.txt" 2>&1
	status=$?
	cat "$out/step.txt" >>"$transcript"
	if [ $status -ne 0 ]; then
		failed=$((failed + 1))
		say "FAILED with status $status: $*"
	fi
	return $status
}

left_out()
{
	say ""
	say "==> $1"
	say "left out: $2"
}

# ---- the machine ------------------------------------------------------------

system()
{
	date -u +%Y-%m-%d
	uname -sr
	sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort | uniq -c
	nvidia-smi --query-gpu=name,driver_version,memory.total \
		--format=csv,noheader 2>/dev/null || :
	rocm-smi --showproductname --showdriverversion --showmeminfo vram \
		2>/dev/null || :
	[ ! -r "$rocm/.info/version" ] || sed 's/^/ROCm /' "$rocm/.info/version"
	"$build/tools/gpumem-probe" --version
}

# ---- conformance and the traces ---------------------------------------------

plugin=$build/backends/.libs/$backend.so
[ -f "$plugin" ] || plugin=$backend # built in, or installed

# What failed and what was skipped; all else is a number.
conform()
{
	"$build/tools/gpumem-conform" --device="${device#*:}" "$plugin" \
		>"$out/conform.txt" 2>&1
	status=$?
	grep -E '^(not ok|ok .*# SKIP|# [0-9]+ passed)' "$out/conform.txt"
	return $status
}

traces()
{
	printf '%-18s %8s  %s\n' trace ratio \
		'ns an event and driver calls per 1000 events, by pass'
	for trace in "$source"/tests/traces/*.trace.gz; do
		name=$(basename "$trace" .trace.gz)
		"$build/tools/gpumem-replay" --device="$device" --passes=5 \
			--scale="${SCALE:-1/1}" --json "$trace" \
			>"$out/$name.json" || return 1
		python3 - "$out/$name.json" "$name" <<'END' || return 1
import json, sys
d = json.load(open(sys.argv[1]))
print('%-18s %8.4f ' % (sys.argv[2], d['reserved_ratio']),
      '  '.join('%6.0f %6.2f' % (p['ns_per_op'],
                                 1000 * p['driver_calls'] / d['events'])
                for p in d['pass']))
END
	done
}

# The calls that were made, with the time that they took and that the model
# says.
model()
{
	for name in gpt2_varlen llm_serving; do
		echo "$name"
		"$build/tools/gpumem-replay" --device="$device" --passes=2 \
			--model=h200 "$source/tests/traces/$name.trace.gz" \
			--json >"$out/$name-model.json" || return 1
		python3 - "$out/$name-model.json" <<'END' || return 1
import json, sys
d = json.load(open(sys.argv[1]))
for call, real in d['calls'].items():
    if real['count']:
        ns = d['model']['calls'][call]['ns']
        print('  %-14s %8d calls  %10.3f ms  model %s' % (
            call, real['count'], real['ns'] / 1e6,
            '-' if ns is None else '%10.3f ms' % (ns / 1e6)))
END
	done
}

# ---- with the toolkit -------------------------------------------------------

# with_cuda NAME: builds and runs a program of this folder.
with_cuda()
{
	${CC:-cc} -std=gnu11 -I"$source/include" -isystem "$cuda/include" \
		"$source/tests/device/$1.c" -o "$out/$1" \
		-L"$build/.libs" -lgpumem -Wl,-rpath,"$build/.libs" \
		-L"$cuda/lib64/stubs" -lcuda && "$out/$1"
}

# Stream-ordered allocations, by the driver and by gpumem-run's pool.
served()
{
	${CC:-cc} -std=gnu11 -isystem "$cuda/include" -o "$out/served" \
		"$source/tests/device/served.c" -L"$cuda/lib64/stubs" -lcuda ||
		return 1
	echo "by the driver"
	"$out/served" || return 1
	echo "under gpumem-run --adopt"
	"$build/tools/gpumem-run" --adopt --report=- "$out/served"
}

# What the driver says, and where that is not what tests/fake/cuda/answers.txt
# says: a difference is news, and no failure.
answers()
{
	${CC:-cc} -std=gnu11 -isystem "$cuda/include" -o "$out/answers" \
		"$source"/tests/device/answers/*.c -L"$cuda/lib64/stubs" \
		-lcuda || return 1
	"$out/answers" >"$out/answers.txt"
	status=$?
	sed -e '/^#/d' -e 's/ \[.*\]$//' "$source/tests/fake/cuda/answers.txt" |
		diff - "$out/answers.txt"
	return $status
}

# The same with the HIP runtime, which the linker finds where ROCm is, or where a
# distribution puts it.
with_hip()
{
	${CC:-cc} -std=gnu11 -D__HIP_PLATFORM_AMD__ -I"$source/include" \
		-isystem "$rocm/include" "$source/tests/device/$1.c" \
		-o "$out/$1" -L"$build/.libs" -lgpumem \
		-Wl,-rpath,"$build/.libs" -L"$rocm/lib" -lamdhip64 \
		-Wl,-rpath,"$rocm/lib" && "$out/$1"
}

give_way()
{
	${CC:-cc} -std=gnu11 -I"$source/include" \
		"$source/tests/device/give_way.c" -o "$out/give_way" \
		-L"$build/.libs" -lgpumem -Wl,-rpath,"$build/.libs" \
		-pthread && "$out/give_way" 10240 "$device"
}

# Each method in a process of its own: the children must not have used the
# library.
share()
{
	${CC:-cc} -std=gnu11 -I"$source/include" \
		"$source/tests/device/share.c" -o "$out/share" \
		-L"$build/.libs" -lgpumem -Wl,-rpath,"$build/.libs" &&
		"$out/share" fd && "$out/share" ipc
}

report_table()
{
	${CC:-cc} -std=gnu11 -I"$source/include" \
		"$source/tests/device/report_table.c" -o "$out/report_table" \
		-L"$build/.libs" -lgpumem -Wl,-rpath,"$build/.libs" &&
		"$out/report_table" "$device"
}

# CCCL 3.0 and 3.1 want the macro, later ones do not know it.
resources()
{
	"$cuda/bin/nvcc" -std=c++17 -O1 \
		-DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE \
		-I"$source/include" "$source/tests/device/resources.cu" \
		-o "$out/resources" -L"$build/.libs" -lgpumem \
		-Xlinker -rpath="$build/.libs" && "$out/resources" "$device"
}

torch_flags()
{
	python3 - <<'END'
import torch, os
home = os.path.dirname(torch.__file__)
print('-DWITH_TORCH -I%s/include -L%s/lib -Wl,-rpath,%s/lib '
      '-lc10_cuda -lc10' % (home, home, home))
END
}

peers()
{
	flags=$(torch_flags 2>/dev/null) ||
		echo "without PyTorch: python3 has no module torch"
	# shellcheck disable=SC2086
	${CXX:-c++} -std=c++20 -O2 -I"$source/include" \
		-isystem "$cuda/include" "$source/tests/device/peers.cpp" \
		-o "$out/peers" $flags -L"$build/.libs" -lgpumem \
		-Wl,-rpath,"$build/.libs" -L"$cuda/lib64/stubs" -lcuda \
		-L"$cuda/lib64" -lcudart -Wl,-rpath,"$cuda/lib64" &&
		"$out/peers"
}

# with_torch SCRIPT: PyTorch with the pool for an allocator, and with its own
with_torch()
{
	${CC:-cc} -std=gnu11 -shared -fPIC -I"$source/include" \
		"$source/tests/device/torch_plug.c" -o "$out/torch_plug.so" \
		-L"$build/.libs" -lgpumem -Wl,-rpath,"$build/.libs" \
		-pthread &&
		python3 "$source/tests/device/$1" \
			--plug="$out/torch_plug.so" --device="$device" \
			${lists:+--lists="$lists"}
}

# With the Python package, built here for the Python that has PyTorch.
with_package()
{
	[ -d "$out/package" ] ||
		(cd "$source/bindings/python" &&
			python3 gpumem_build.py wheel "$out/wheel") \
			>"$out/wheel.txt" 2>&1 || {
		tail -n 20 "$out/wheel.txt"
		return 1
	}
	mkdir -p "$out/package" && chmod 700 "$out/package" &&
		python3 -m zipfile -e "$out"/wheel/*.whl "$out/package" &&
		env -u GPUMEM_PLUGIN_PATH PYTHONPATH="$out/package" \
			GPUMEM_TORCH_CACHE="$out/package" \
			python3 "$source/tests/device/$1"
}

# The control is CUDA's.
models()
{
	lists=$out/torch_lists.so
	${CC:-cc} -std=gnu11 -O2 -shared -fPIC -I"$cuda/include" \
		"$source/tests/device/torch_lists.c" -o "$lists" \
		-L"$cuda/lib64/stubs" -lcuda 2>/dev/null || lists=
	with_torch torch_models.py
}

sanitizer()
{
	for tool in "gpumem-probe --test --device=$device" \
		"gpumem-conform $plugin"; do
		compute-sanitizer --error-exitcode=9 --report-api-errors=no \
			--leak-check=full "$build"/libtool --mode=execute \
			"$build/tools/"$tool >"$out/sanitizer.txt" 2>&1 ||
			{ tail -n 40 "$out/sanitizer.txt"; return 1; }
		grep 'ERROR SUMMARY' "$out/sanitizer.txt"
		grep 'LEAK SUMMARY' "$out/sanitizer.txt" || :
	done
}

# ---- OpenCL -----------------------------------------------------------------

# The kernel of the example on the first device of the same platform, on blocks
# of each kind.
kernel()
{
	platform=$(of_devices "x['product'].split(', ')[-1]" "$device") ||
		return 1
	${CC:-cc} -std=gnu11 -I"$source/include" \
		"$source/docs/examples/opencl_scale.c" -o "$out/scale" \
		-L"$build/.libs" -lgpumem -Wl,-rpath,"$build/.libs" \
		-lOpenCL || return 1
	for memory in buffer svm; do
		GPUMEM_CONF=opencl.memory:$memory "$out/scale" "$platform" ||
			return 1
	done
}

# ---- all of it --------------------------------------------------------------

step system "the machine" system
step probe "gpumem-probe --test" "$build/tools/gpumem-probe" --test \
	--device="$device"
step conform "gpumem-conform" conform
step traces "gpumem-replay --passes=5" traces
[ "$backend" != cuda ] || step model "gpumem-replay --model=h200" model
step bench "gpumem-bench" "$build/tools/gpumem-bench" --device="$device" \
	--seconds=0.5 pair threads random trim growth churn
if [ "$backend" = opencl ]; then
	step kernel "a kernel on blocks of a pool" kernel
	left_out "two processes, one block" "OpenCL shares no memory"
else
	step share "two processes, one block" share
fi
[ "$backend" != cuda ] ||
	step give_way "a pool that grows beside one that is trimmed" give_way
[ "$backend" != cuda ] ||
	step report_table "where the memory of the device is" report_table
if [ "$backend" = cuda ] && [ -f "$cuda/include/cuda.h" ]; then
	step answers "what the driver answers" answers
	step served "stream-ordered allocations" served
	step busy "nothing waits for a kernel" with_cuda busy
	step give_back "what the driver takes to free memory" with_cuda give_back
	step sleep "sleep and wake" with_cuda sleep
	step lock "a call beside those of another thread" with_cuda lock
	step graph "memory of a captured graph" with_cuda graph
	step in_capture "what may be called beside a capture" \
		with_cuda in_capture
	step green "streams of green contexts" with_cuda green
	step adopt "contexts that the program made" with_cuda adopt
	step bad "bad input, and a device that is lost" with_cuda bad
	step peers "peers" peers
	if [ -x "$cuda/bin/nvcc" ]; then
		step resources "CCCL, Thrust and CUB on a pool" resources
	else
		left_out "CCCL, Thrust and CUB on a pool" \
			"there is no nvcc in $cuda/bin"
	fi
elif [ "$backend" = hip ]; then
	step held "nothing waits for work on a stream" with_hip held
else
	left_out "programs that use CUDA themselves" \
		"not the cuda backend, or no CUDA Toolkit in $cuda"
fi
if [ "$backend" = opencl ]; then
	left_out "PyTorch on a pool" "it has no OpenCL"
elif ! python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' \
	>/dev/null 2>&1; then
	left_out "PyTorch on a pool" \
		"python3 has no module torch that finds a GPU"
else
	step torch "PyTorch on a pool, and on its own" with_torch torch_busy.py
	step torch_faults "what went wrong in programs of PyTorch's" \
		with_package torch_faults.py
	step torch_sleep "PyTorch asleep" with_package torch_sleep.py
	if python3 -c 'import torch, sys; sys.exit(torch.cuda.device_count() < 2)'; then
		step torch_current "PyTorch's current device" \
			with_package torch_current.py
	else
		left_out "PyTorch's current device" "there is one device only"
	fi
	if python3 -c 'import transformers' >/dev/null 2>&1; then
		step models "BERT and GPT-2 by PyTorch" models
	else
		left_out "BERT and GPT-2 by PyTorch" \
			"python3 has no module transformers"
	fi
fi
if [ "$backend" = cuda ] && command -v compute-sanitizer >/dev/null; then
	step sanitizer "compute-sanitizer" sanitizer
else
	left_out "compute-sanitizer" "it is not there"
fi
rm -f "$out/step.txt" "$out/answers" "$out/busy" "$out/graph" "$out/green" "$out/adopt" \
	"$out/bad" "$out/give_way" "$out/held" "$out/in_capture" "$out/peers" \
	"$out/report_table" "$out/scale" "$out/served" "$out/share" "$out/torch_plug.so"
rm -rf "$out/wheel" "$out/package"
say ""
say "$failed steps failed"
[ "$failed" -eq 0 ]
