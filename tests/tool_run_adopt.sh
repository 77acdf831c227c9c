#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What a program of PyTorch's in Python gets under gpumem-run --adopt: gpumem's pool,
# when it first uses the GPU; and one of TensorFlow's, what frees a model that it
# trained. PyTorch, TensorFlow and the package gpumem are small ones of this test,
# which do what the real ones do when a GPU is initialized.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool run
have_python || skip_all "there is no python3"
[ -f "$top_builddir/tests/fake/cuda/.libs/libcuda.so.1" ] ||
	skip_all "configured without cuda"
need_no_sanitizer
run=$(realpath "$tools/gpumem-run")
LD_LIBRARY_PATH=$(realpath "$top_builddir/tests/fake/cuda/.libs")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE

# Of torch.cuda what matters here: a lock that the thread itself may not take
# again, another module that has the function by a name of its own, and the library
# by which the report knows that it was there.
site=$scratch/site
mkdir -p "$site/torch/cuda"
cat >"$site/torch/__init__.py" <<'END'
import ctypes
import os

ctypes.CDLL(os.path.dirname(__file__) + "/libc10_cuda.so")
import torch.cuda
END
echo >"$scratch/empty.c"
$CC -w -shared -fPIC -o "$site/torch/libc10_cuda.so" "$scratch/empty.c"
cat >"$site/torch/cuda/__init__.py" <<'END'
import ctypes
import os
import threading

_lock = threading.Lock()
_state = []
trace = []


def _lazy_init():
    if _state:
        return
    with _lock:
        if _state:
            return
        driver = ctypes.CDLL("libcuda.so.1")
        context, block = ctypes.c_void_p(), ctypes.c_uint64()
        driver.cuInit(0)
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        driver.cuCtxSetCurrent(context)
        driver.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20))
        trace.append("init")
        _state.append(os.getpid())


from .memory import fraction
END
cat >"$site/torch/cuda/memory.py" <<'END'
from . import _lazy_init


def fraction():
    _lazy_init()
END
# The package, which does to PyTorch what WITH says.
package=$scratch/package
mkdir -p "$package/gpumem"
: >"$package/gpumem/__init__.py"
cat >"$package/gpumem/torch.py" <<'END'
import os
import time
import warnings

import torch


def how():
    return "subclass"


def enable():
    torch.cuda.trace.append("enable")
    what = os.environ.get("WITH", "")
    if what == "refused":
        raise RuntimeError("the GPU is another's")
    if what == "warned":
        warnings.warn("half of it", RuntimeWarning)
    if what == "fraction":
        torch.cuda.fraction()
    if what == "slow":
        time.sleep(0.2)
    torch.cuda.trace.append("enabled")
END

mkdir -p "$site/tensorflow/python/framework"
cp "$site/torch/libc10_cuda.so" \
	"$site/tensorflow/libtensorflow_framework.so.2"
cat >"$site/tensorflow/__init__.py" <<'END'
import ctypes
import os

ctypes.CDLL(os.path.dirname(__file__) + "/libtensorflow_framework.so.2")
import tensorflow.python.framework.ops


def use():
    driver = ctypes.CDLL("libcuda.so.1")
    context, block = ctypes.c_void_p(), ctypes.c_uint64()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    driver.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20))
END
: >"$site/tensorflow/python/__init__.py"
: >"$site/tensorflow/python/framework/__init__.py"
echo 'let_go = []' >"$site/tensorflow/python/framework/ops.py"
cat >"$package/gpumem/tensorflow.py" <<'END'
import os


def enable():
    from tensorflow.python.framework import ops

    if os.environ.get("WITH", "") == "refused":
        raise RuntimeError("it is another one")
    ops.let_go.append(True)
END

# adopted COMMAND...: the report is in $scratch/out, what the program said in
# $scratch/said
adopted()
{
	PYTHONPATH=$package:$site "$run" --adopt --json --report="$scratch/out" \
		"$@" >"$scratch/said" 2>&1
}

# told VALUE NAME: what the one process has said
told()
{
	json_is "[p['told'] for p in d['processes']]" "$1" "$2"
}

pool="PyTorch has gpumem's pool, by its subclass"
use='import torch; torch.cuda._lazy_init(); torch.cuda._lazy_init()
print(torch.cuda.trace, torch.cuda._lazy_init.__name__, torch.cuda.memory._lazy_init.__name__)'

check "a program that uses the GPU" adopted python3 -c "$use"
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init'] _lazy_init _lazy_init" \
	"gets the pool first, once, and its functions back"
told "[\"$pool\"]" "which the report says"
PYTHONPATH=$package:$site "$run" --adopt --report="$scratch/text" python3 -c "$use" \
	>"$scratch/said"
check "as text, too" grep -qx "  $pool" "$scratch/text"
adopted python3 -c 'import torch; torch.cuda.fraction(); print(torch.cuda.trace)'
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init']" \
	"whatever function of PyTorch's begins"
WITH=fraction adopted python3 -c "$use"
is "$(cat "$scratch/said")" "['enable', 'init', 'enabled'] _lazy_init _lazy_init" \
	"and if that is the pool's own"
told "[\"$pool\"]" "and goes on"
adopted python3 -c 'import torch; print(torch.cuda.trace)'
is "$(cat "$scratch/said")" "[]" "a program that uses none gets nothing"
adopted python3 -c 'import os, torch
if not os.fork():
    torch.cuda._lazy_init()
    print(torch.cuda.trace, flush=True)
    os._exit(0)
os.wait()
print(torch.cuda.trace)'
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init']
[]" "so that a child which it forks can"
WITH=slow adopted python3 -c 'import threading, torch
all = [threading.Thread(target=torch.cuda._lazy_init) for i in range(4)]
[x.start() for x in all]
[x.join() for x in all]
print(torch.cuda.trace)'
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init']" \
	"threads that begin at once wait for it"
adopted python3 -c 'import subprocess, sys
subprocess.run([sys.executable, "-c", sys.argv[1]])' "$use"
told "[\"$pool\"]" "a program that it starts gets it, too"

without="PyTorch allocates from the driver, without a cache"
tensor='import sys, tensorflow
tensorflow.use()
print(tensorflow.python.framework.ops.let_go, "torch" in sys.modules)'
adopted python3 -c "$tensor"
is "$(cat "$scratch/said")" "[True] False" "TensorFlow lets go of what it trains"
told "[None]" "of which nothing is said"
WITH=refused adopted python3 -c "$tensor"
is "$(cat "$scratch/said")" "[] False" "one that does it otherwise goes on"
told "['TensorFlow keeps what it trained until it ends: it is another one']" \
	"and the report says why"
adopted python3 -c "$use; $tensor"
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init'] _lazy_init _lazy_init
[True] True" "a program may have both"
WITH=refused adopted python3 -c "$use; $tensor"
told "[\"$without: the GPU is another's; TensorFlow keeps what it trained until it ends: it is another one\"]" \
	"and the report has what became of either"

# ---- where it cannot be ---------------------------------------------------------

WITH=refused adopted python3 -c "$use
import os
print(os.environ['PYTORCH_NO_CUDA_MEMORY_CACHING'])"
is "$(cat "$scratch/said")" "['enable', 'init'] _lazy_init _lazy_init
1" "a program whose GPU gpumem cannot use goes on without"
told "[\"$without: the GPU is another's\"]" "and the report says why"
WITH=warned adopted python3 -W error -c "$use"
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init'] _lazy_init _lazy_init" \
	"what the package warns of is nothing of the program's"
told "[\"$pool; half of it\"]" "but of the report"
PYTHONPATH=$site "$run" --adopt --json --report="$scratch/out" python3 -c "$use" \
	>"$scratch/said" 2>&1
is "$(cat "$scratch/said")" "['init'] _lazy_init _lazy_init" "without the package"
json_is "[(p['told'].startswith('$without: '), p['told'].partition(' has ')[2])
	for p in d['processes']]" \
	"[(True, 'no package gpumem: see docs/python.md')]" "it is missed"
unread="no Python here has read gpumem-run's sitecustomize.py, as with -I, -E, -S or another PYTHONPATH"
there="import sys; sys.path.append('$site')"
for option in -I -E -S; do
	adopted python3 $option -c "$there; $use"
	is "$(cat "$scratch/said")" "['init'] _lazy_init _lazy_init" \
		"a Python that is told to ignore the environment, by $option, runs"
	told "[\"$without: $unread\"]" "and the report says what it misses"
done
adopted python3 -I -c "$there; $tensor"
told "[\"TensorFlow keeps what it trained until it ends: $unread\"]" \
	"TensorFlow misses that, too"
adopted python3 -I -c "$there; $use; $tensor"
told "[\"$without; TensorFlow keeps what it trained until it ends: $unread\"]" \
	"as do both"
adopted python3 -c 'import os, subprocess, sys
os.environ["PYTHONPATH"] = sys.argv[2]
subprocess.run([sys.executable, "-c", sys.argv[1]])' "$use" "$site"
told "[\"$without: $unread\"]" "a program that another PYTHONPATH is set for, too"
other="import ctypes
driver = ctypes.CDLL('libcuda.so.1')
context, block = ctypes.c_void_p(), ctypes.c_uint64()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
driver.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20))"
for framework in torch tensorflow; do
	adopted python3 -c "import $framework
$other"
	told "[None]" "$framework has it before it uses the GPU"
	adopted python3 -c "import os, sys, $framework
if os.fork():
    sys.exit(os.wait()[1])
$other"
	told "[None]" "and so has a child"
done
PYTHONPATH=$package:$site "$run" --json --report="$scratch/out" python3 -c "$use
import os
print(os.environ['PYTHONPATH'])" >"$scratch/said" 2>&1
is "$(cat "$scratch/said")" "['init'] _lazy_init _lazy_init
$package:$site" "without --adopt nothing is done"

# ---- Python's own customs ----------------------------------------------------------

mkdir "$scratch/custom"
echo 'print("customized")' >"$scratch/custom/sitecustomize.py"
PYTHONPATH=$scratch/custom:$package:$site "$run" --adopt --json \
	--report="$scratch/out" python3 -c "$use" >"$scratch/said" 2>&1
is "$(cat "$scratch/said")" "customized
['enable', 'enabled', 'init'] _lazy_init _lazy_init" \
	"a sitecustomize of the user's runs"
# A Python 2, which has no finders of that kind, and none of this.
old=
for name in python2.7 python2; do
	[ -n "$old" ] || ! "$name" -c "" 2>/dev/null || old=$name
done
if [ -n "$old" ]; then
	PYTHONPATH=$scratch/custom "$run" --adopt --report="$scratch/text" \
		"$old" -c 'import sys
print([x for x in sys.path if "adopt" in x])' >"$scratch/said" 2>&1
	is "$(cat "$scratch/said")" "customized
[]" "a Python 2 has no more than its own, either"
else
	skip "there is no Python 2" "its own customs"
fi
adopted python3 -c 'import sys
print([x for x in sys.path if "adopt" in x], sys.meta_path[0].__name__)
import torch, tensorflow
print(["Finder" in str(x) and "sitecustomize" in str(x) for x in sys.meta_path].count(True),
    type(torch.cuda.__loader__).__name__, type(torch.cuda.__spec__.loader).__name__)'
is "$(cat "$scratch/said")" "[] Finder
0 SourceFileLoader SourceFileLoader" "nothing stays in the import system"
adopted python3 -c "import sys
sys.modules['torch.cuda.memory'] = None
try:
    import torch
except ImportError:
    for name in [x for x in sys.modules if x.startswith('torch')]:
        del sys.modules[name]
$use"
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init'] _lazy_init _lazy_init" \
	"an import that fails may be tried again"
# As in a wheel: the tool's own package, for a Python that has none.
mkdir -p "$scratch/whole/gpumem/lib/gpumem"
cp "$package/gpumem/"*.py "$scratch/whole/gpumem"
cp -r "$top_srcdir/tools/adopt" "$scratch/whole/gpumem/lib/gpumem"
PYTHONPATH=$scratch/whole/gpumem/lib/gpumem/adopt:$site \
	python3 -c "$use
import sys
print([x for x in sys.path if 'whole' in x])" >"$scratch/said" 2>&1
is "$(cat "$scratch/said")" "['enable', 'enabled', 'init'] _lazy_init _lazy_init
[]" "the package that the tool came with does"
exits 2 "--adopt=all" "$run" --adopt=all true

done_testing
