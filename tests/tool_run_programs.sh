#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Programs of others that use OpenCL, as they are and under gpumem-run: the same
# output, errors and exit status, over PoCL. Those that are not installed are left
# out; docs/devices/pocl-programs.txt says what each did once. What a program
# measures are numbers, which are not compared then; nor are those of clocks.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool run
[ -f "$tools/.libs/libgpumem-opencl-layer.so" ] ||
	skip_all "configured without opencl"
need_no_sanitizer
. "$top_srcdir/tests/opencl_over.sh"
[ -f "$scratch/icd/pocl.icd" ] || skip_all "PoCL is not installed"
run=$(cd "$tools" && pwd)/gpumem-run
python=/usr/bin/python3
mkdir "$scratch/home"

# once COMMAND...: what it says, in $scratch/said; always in the same files
once()
{
	(cd "$scratch/home" && over pocl HOME="$scratch/home" \
		OPENCV_OPENCL_DEVICE=:CPU: "$@" >../stdout 2>../stderr </dev/null)
	{
		echo "status $?"
		sed 's/^/1 /' "$scratch/stdout"
		sed 's/^/2 /' "$scratch/stderr"
	} >"$scratch/all"
	case $numbers in
	yes) sed '/[Cc]lock\|[Ff]req/s/[0-9][0-9.]*/N/g' "$scratch/all" ;;
	no) sed 's/[0-9][0-9.]*/N/g; s/  */ /g' "$scratch/all" ;;
	esac >"$scratch/said"
}

# alike NAME numbers|no-numbers allocates|asks COMMAND...: the first run fills
# caches of kernels
alike()
{
	name=$1
	numbers=no
	[ "$2" = no-numbers ] || numbers=yes
	does=$3
	shift 3
	once "$@"
	once "$@"
	mv "$scratch/said" "$scratch/without"
	works=$(head -n 1 "$scratch/all")
	once "$run" --report="$scratch/report" "$@"
	if ! cmp -s "$scratch/without" "$scratch/said"; then
		fail "$name" "$(diff "$scratch/without" "$scratch/said")"
	elif [ "$does $works" = "allocates status 0" ] &&
		! grep -q ', by OpenCL$' "$scratch/report"; then
		fail "$name" "gpumem-run did not see its memory"
	else
		pass "$name, $works"
	fi
}

# program NAME...: as alike, if there is a command of that name
program()
{
	if command -v "$4" >/dev/null 2>&1; then
		alike "$@"
	else
		skip "$4 is not installed" "$1"
	fi
}

# module MODULE NAME...: as alike, by Python, if it has the module
module()
{
	wanted=$1
	shift
	if "$python" -c "import $wanted" >/dev/null 2>&1; then
		alike "$@"
	else
		skip "$python has no $wanted" "$1"
	fi
}

# ---- what asks, and what measures -------------------------------------------

program "clinfo" numbers asks clinfo
program "clinfo --raw" numbers asks clinfo --raw
program "clinfo --list" numbers asks clinfo --list
program "clpeak, transfers" no-numbers allocates clpeak --transfer-bandwidth
program "clpeak, launches" no-numbers allocates clpeak --kernel-latency
program "clpeak, global memory" no-numbers allocates clpeak --global-bandwidth
program "hashcat, its devices" numbers asks hashcat -I
program "darktable's test" no-numbers asks darktable-cltest
program "ASL's devices" numbers asks asl-hardware
program "hcxkeys" numbers asks wlangenpmkocl
program "lstopo" numbers asks lstopo-no-graphics --of console

# ---- what computes ------------------------------------------------------------

cat >"$scratch/arrays.py" <<'PY'
import os
import numpy
import pyopencl as cl
import pyopencl.array as arrays

context = cl.Context(cl.get_platforms()[0].get_devices())
queue = cl.CommandQueue(context)
a = arrays.to_device(queue, numpy.arange(1000, dtype=numpy.int32))
print(arrays.sum(a).get(), arrays.dot(a, a).get(), arrays.max(a).get())
print((a * 2 + 1).get()[:5], arrays.cumsum(a).get()[-3:])
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 1 << 20)
print(buffer.size, buffer.reference_count)
print(buffer[4096:8192].size, buffer.reference_count)
form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNORM_INT8)
print(cl.Image(context, cl.mem_flags.READ_ONLY, form, shape=(16, 8)).shape)
for bytes in 0, 1 << 50:
    try:
        cl.Buffer(context, cl.mem_flags.READ_WRITE, bytes)
    except cl.Error as error:
        print(error)
queue.finish()
print("descriptors", len(os.listdir("/proc/self/fd")))
print("threads", len(os.listdir("/proc/self/task")))
PY
module pyopencl "PyOpenCL's arrays, and what a process holds" numbers allocates \
	"$python" "$scratch/arrays.py"
gpyfft=/usr/lib/python3/dist-packages/gpyfft/test/test_gpyfft.py
if [ -f "$gpyfft" ]; then
	module pytest "gpyfft's tests" numbers allocates "$python" -m pytest \
		-qq -p no:cacheprovider "$gpyfft"
else
	skip "gpyfft is not installed" "gpyfft's tests"
fi
module cv2 "OpenCV's UMat" numbers allocates "$python" -c 'import cv2, numpy
u = cv2.UMat(numpy.arange(65536).astype(numpy.uint8).reshape(256, 256))
cv2.ocl.setUseOpenCL(True)
print(cv2.ocl.useOpenCL(), cv2.GaussianBlur(u, (5, 5), 0).get().sum())
print(cv2.resize(u, (100, 60)).get().sum(), cv2.Canny(u, 50, 100).get().sum())'
program "clFFT's client" numbers allocates clFFT-client
for routine in xamax xasum xaxpy xcopy xdot xnrm2 xscal xswap; do
	program "CLBlast's test of $routine" numbers allocates \
		clblast_test_$routine
done
for filter in unsharp_opencl avgblur_opencl boxblur_opencl sobel_opencl \
	prewitt_opencl roberts_opencl erosion_opencl dilation_opencl \
	transpose_opencl convolution_opencl nlmeans_opencl; do
	program "FFmpeg's $filter" numbers allocates ffmpeg -hide_banner \
		-loglevel error -init_hw_device opencl=o -filter_hw_device o \
		-f lavfi -i testsrc=size=128x96:rate=5:duration=1 -vf \
		"format=yuv420p,hwupload,$filter,hwdownload,format=yuv420p" \
		-f framemd5 -
done
cat >"$scratch/vectors.cpp" <<'CPP'
#define VIENNACL_WITH_OPENCL
#include <cstdio>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/scalar.hpp>
#include <viennacl/vector.hpp>

int main()
{
	std::vector<float> a(100, 2.f);
	viennacl::vector<float> x(100);

	viennacl::copy(a, x);
	x += x;
	float s = viennacl::linalg::inner_prod(x, x);
	std::printf("%g\n", s);
}
CPP
if $CXX -w -o "$scratch/vectors" "$scratch/vectors.cpp" -lOpenCL 2>/dev/null; then
	alike "ViennaCL's vectors" numbers allocates "$scratch/vectors"
else
	skip "there is no ViennaCL or no libOpenCL.so" "ViennaCL's vectors"
fi

done_testing
