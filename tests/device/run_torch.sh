#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# All there is to try of one PyTorch with gpumem for its allocator, on a real GPU:
#
#	sh tests/device/run_torch.sh OUT
#
# PYTHON (python3) has the PyTorch and the package gpumem. VLLM names a folder with
# vLLM's wheel unpacked, TEST_CUDA PyTorch's own test/test_cuda.py: without one what
# needs it is left out, and so is what is not installed (torch_memory_saver,
# transformers). STEPS="foreign answers" in the environment takes these steps only.
#
# OUT/torch.txt is what to keep; of a step that did not end there is OUT/STEP.part.
# The exit status is 0 if nothing failed. The device has to be otherwise idle: what
# it has free is looked at. Takes 20 minutes.

mkdir -p "${1:?OUT}" && out=$(cd "$1" && pwd) || exit 2
source=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
here=$source/tests/device
failed=
: >"$out/torch.txt"

# step NAME COMMAND...: its output goes to the transcript.
step()
{
	name=$1
	case " ${STEPS:-$name} " in
	*" $name "*) shift ;;
	*) return 0 ;;
	esac
	{
		echo
		echo "==> $name ($(date -u +%H:%M:%S))"
	} >>"$out/torch.txt"
	"$@" >"$out/$name.part" 2>&1
	status=$?
	cat "$out/$name.part" >>"$out/torch.txt"
	echo "$name: $status, $(tail -n 1 "$out/$name.part" | cut -c 1-150)"
	[ $status -eq 0 ] || failed="$failed $name"
	rm -f "$out/$name.part"
}

machine()
{
	date -u +%Y-%m-%d
	uname -sr
	nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
	"$python" -c 'import gpumem, torch
print("PyTorch", torch.__version__, "CUDA", torch.version.cuda, "cuDNN",
      torch._C._cudnn.getRuntimeVersion(), "gpumem", gpumem.__version__)'
}

foreign()
{
	"$python" "$here/torch_foreign.py" ${VLLM:+--vllm "$VLLM"}
}

# gpumem's own tests of the subclass, which need no GPU.
own()
{
	(cd "$source/bindings/python/tests" && "$python" -m unittest \
		test_torch_subclass test_torch_shared test_torch_failing test_torch_forked)
}

pytorchs()
{
	"$python" "$here/torch_own_tests.py" "$TEST_CUDA" \
		--allocators native,subclass --jobs 14 --limit 40 --seconds 480
}

models()
{
	"$python" "$here/torch_models.py" --model bert --model gpt2 --limit 0 \
		--warm 3 --warm-passes 1 --turns 6 --seconds "${MODEL_SECONDS:-100}"
}

step machine machine
step foreign foreign
step answers "$python" "$here/torch_answers.py" --answers "$out/answers"
step counts "$python" "$here/torch_counts.py"
step subclass "$python" "$here/torch_subclass.py"
step green "$python" "$here/torch_green.py"
step pinned "$python" "$here/torch_pinned.py"
step own own
[ -z "${TEST_CUDA-}" ] || step pytorchs pytorchs
if "$python" -c 'import transformers' 2>/dev/null; then
	step models models
fi
echo "failed:${failed:- none}" | tee -a "$out/torch.txt"
[ -z "$failed" ]
