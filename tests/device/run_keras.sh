#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# TensorFlow, Keras and JAX by their own allocators and under gpumem-run, on a real
# GPU: what they take, what comes back, and how long an epoch is.
#
#	sh tests/device/run_keras.sh BUILD OUT
#
# BUILD is a folder in which `make` has been run. PYTHON_TENSORFLOW, PYTHON_JAX and
# PYTHON_TORCH are the commands that run Python where each is, Keras with each of
# them; without one what needs it is left out. STEPS="tensorflow jax" in the
# environment takes these steps only, TURNS=1 one turn of each, and LIMIT=500 lets a
# step begin programs for so many seconds; what is left out is said.
#
# OUT/keras.txt is what to keep; OUT/keras.json has a line for each program in each
# process. The exit status is 0 if nothing failed. The device has to be otherwise
# idle. Takes eight minutes.

build=$(cd "${1:?BUILD OUT}" && pwd) || exit 2
mkdir -p "${2:?BUILD OUT}" && out=$(cd "$2" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
failed=
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
: >"$out/keras.txt"
: >"$out/keras.json"

# step NAME PYTHON SECONDS OPTION...: a set of framework_memory.py.
step()
{
	name=$1 python=$2 seconds=$3
	shift 3
	case " ${STEPS:-$name} " in
	*" $name "*) ;;
	*) return 0 ;;
	esac
	if [ -z "$python" ]; then
		echo "$name: left out: nobody said which Python has it" |
			tee -a "$out/keras.txt"
		return 0
	fi
	echo "==> $name ($(date -u +%H:%M:%S))" >>"$out/keras.txt"
	python3 "$here/framework_memory.py" "$build" --set "$name" \
		--python "$python" --seconds "${LIMIT:-$seconds}" --turns "${TURNS:-3}" \
		--out "$out/keras.json" "$@" >"$out/$name.part" 2>&1
	status=$?
	cat "$out/$name.part" >>"$out/keras.txt"
	echo "$name: $status, $(tail -n 1 "$out/$name.part" | cut -c 1-150)"
	[ $status -eq 0 ] || failed="$failed $name"
	rm -f "$out/$name.part"
}

{
	date -u +%Y-%m-%d
	uname -sr
	nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
} >>"$out/keras.txt" 2>&1

step tensorflow "${PYTHON_TENSORFLOW-}" 240
step ten "${PYTHON_TENSORFLOW-}" 30 --turns 1
step jit "${PYTHON_TENSORFLOW-}" 40 --turns 2
step jax "${PYTHON_JAX-}" 100
step keras-jax "${PYTHON_JAX-}" 30 --turns 1
step keras-torch "${PYTHON_TORCH-}" 30 --turns 1
echo "failed:${failed:- none}" | tee -a "$out/keras.txt"
[ -z "$failed" ]
