#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What is built without any vendor's header is the same on a real GPU: the library
# of the source, and the wheel, with the commands that it brings, PyTorch in it too.
#
#	sh tests/device/own.sh OUT
#
# CUDA's headers are hidden in a mount namespace, so it takes root. OUT/own.txt is
# what to keep. The exit status is 0 if nothing failed.

mkdir -p "${1:?OUT}" && out=$(cd "$1" && pwd) || exit 2
source=$(cd "$(dirname "$0")/../.." && pwd)
jobs=$(nproc)
[ "${2-}" = hidden ] || {
	: >"$out/own.txt"
	exec unshare --mount --propagation private sh "$0" "$out" hidden
}
failed=0

say()
{
	echo "$*" | tee -a "$out/own.txt"
}

# step NAME COMMAND...: its output is in OUT/NAME.txt
step()
{
	name=$1
	shift
	if "$@" >"$out/$name.txt" 2>&1; then
		say "ok $name: $(tail -n 1 "$out/$name.txt")"
	else
		failed=1
		say "not ok $name: $(grep -E '^not ok|[Ee]rror' "$out/$name.txt" | head -n 5)"
		tail -n 20 "$out/$name.txt"
	fi
}

# conform CONFORM: TAP; the last line counts
conform()
{
	"$1" cuda
}

# build NAME [OPTION...]
build()
(
	mkdir -p "$out/$1" && cd "$out/$1" && shift &&
		"$source/configure" -q "$@" >configure.txt && cat configure.txt &&
		make -s -j"$jobs" && grep '^  cuda ' configure.txt
)

step visible build visible
step visible-conform conform "$out/visible/tools/gpumem-conform"
for place in /usr/local/cuda*; do
	[ ! -d "$place" ] || [ -L "$place" ] || mount -t tmpfs none "$place"
done
step hidden build hidden --with-cuda=own --with-hip=own --with-opencl=own
step hidden-conform conform "$out/hidden/tools/gpumem-conform"

environment()
{
	# With the packages of this python3, which may be of an environment itself.
	python3 -m venv "$out/venv" &&
		python3 -c 'import site; print(*site.getsitepackages(), sep="\n")' \
			>"$(echo "$out"/venv/lib/python*/site-packages)/here.pth" &&
		"$out/venv/bin/python" -m pip install --no-index --no-deps "$out"/*.whl
}

step wheel python3 "$source/bindings/python/gpumem_build.py" wheel --complete "$out"
step environment environment
unset GPUMEM_PLUGIN_PATH
step wheel-conform conform "$out/venv/bin/gpumem-conform"
step wheel-module "$out/venv/bin/python" -m gpumem -L
step wheel-torch "$out/venv/bin/python" -c '
import gpumem, gpumem.torch
gpumem.torch.enable()
import torch
x = torch.ones(1 << 28, device="cuda")
assert float(x.sum()) == 1 << 28
torch.cuda.synchronize()
before = torch.cuda.mem_get_info()[0]
del x
torch.cuda.empty_cache()
print("PyTorch", torch.__version__, "by", gpumem.torch.how(), "in", gpumem.__file__,
      "gave back", torch.cuda.mem_get_info()[0] - before)'
step wheel-run "$out/venv/bin/gpumem-run" "$out/venv/bin/python" -c '
import torch
torch.ones(1 << 28, device="cuda").sum().item()'
rm -rf "$out/visible" "$out/hidden" "$out/venv" "$out"/*.whl
exit $failed
