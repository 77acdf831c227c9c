#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# tests/device/vllm_sleep.py without vLLM or a device: engines that do what BAD says,
# and what it says of them.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

have_python || skip_all "there is no python3"

device=$top_srcdir/tests/device
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$scratch" SCRATCH="$scratch"
model=$scratch/model
mkdir -p "$scratch/vllm" "$scratch/bin" "$model"
PATH=$scratch/bin:$PATH
export PATH
cat >"$scratch/bin/nvidia-smi" <<'END'
#!/bin/sh
cat "$SCRATCH/used"
END
chmod +x "$scratch/bin/nvidia-smi"
(cd "$device" && python3 -c 'import json, vllm_model as m
print(json.dumps({**m.CONFIG, "num_hidden_layers": 1}))') >"$model/config.json"

# 500 MiB are others'; of the engine's 1000 stay.
cat >"$scratch/vllm/__init__.py" <<'END'
import atexit, os, time, types

STAY, WEIGHTS, CACHE = 1000, 617, 1024  # MiB
bad = os.environ.get("BAD", "")


def SamplingParams(**greedy):
    assert greedy["temperature"] == 0
    return greedy


class LLM:
    def __init__(self, model, sleep_mode_backend, worker_cls=None, **more):
        assert (sleep_mode_backend == "gpumem") == (worker_cls is not None)
        assert os.environ["HF_HUB_OFFLINE"] and not more["enable_prefix_caching"]
        self.ours = worker_cls is not None
        cache = types.SimpleNamespace(num_gpu_blocks=32768, block_size=16)
        self.llm_engine = types.SimpleNamespace(
            vllm_config=types.SimpleNamespace(cache_config=cache)
        )
        self.there = {"weights": True, "kv_cache": True}
        self.right = True
        self.put = None
        self.use()
        atexit.register(self.say, 500)

    def say(self, mib):
        with open(os.environ["SCRATCH"] + "/used", "w") as file:
            file.write(str(mib))

    def use(self):
        mine = STAY + WEIGHTS * self.there["weights"] + CACHE * self.there["kv_cache"]
        if self.ours and not self.there["kv_cache"]:
            mine += {"keeps": 300, "little": 200, "more": 200}.get(bad, 0)
        if not self.ours and not self.there["kv_cache"]:
            mine -= 100 * (bad == "more")
        if not self.there["weights"] and bad == "both":
            mine += 300
        self.say(500 + mine)

    def sleep(self, level):
        if level == 0:
            return
        if bad == "dies" and self.ours:
            raise SystemExit("no such luck")
        if bad == "hangs":
            time.sleep(600)
        self.there = dict.fromkeys(self.there, False)
        self.right = level == 1
        self.use()

    def wake_up(self, tags=None):
        if tags == ["scheduling"]:
            return
        self.there.update(dict.fromkeys(tags or self.there, True))
        self.use()
        if bad == "other" and self.ours and tags == ["kv_cache"]:
            self.right = False

    def collective_rpc(self, what):
        assert what == "reload_weights" and self.there["weights"]
        self.right = True

    def enqueue(self, prompts, params, use_tqdm):
        assert all(self.there.values())
        self.put = prompts

    def wait_for_completion(self, use_tqdm):
        made = []
        for each in self.put:
            ids = [sum(each["prompt_token_ids"]) * self.right]
            made.append(types.SimpleNamespace(
                outputs=[types.SimpleNamespace(token_ids=ids)]
            ))
        return made
END

# run STATUS NAME: what it says is in out
run()
{
	echo 500 >"$scratch/used"
	exits "$1" "$2" python3 "$device/vllm_sleep.py" --model "$model" \
		--out "$scratch/logs" --seconds "${seconds:-60}"
}

run 0 "engines that are right"
is "$(grep -c '"same": true' "$scratch/out")" 12 "a line of each cycle and start"
is "$(grep -c '"asleep_mib": 1000' "$scratch/out")" 10 "without others' memory"
is "$(grep -c '"as_first": true' "$scratch/out")" 2 "and whether the tokens are alike"
is "$(grep -c wrong "$scratch/out")" 0 "nothing is wrong"

export BAD=other
run 1 "one with other tokens after a wake"
is "$(grep -o 'gpumem: by tags: other tokens' "$scratch/out" | wc -l)" 1 \
	"it is named"
BAD=both
run 1 "both keep what they should give"
is "$(grep -c 'MiB in use asleep, where' "$scratch/out")" 10 "in each cycle"
BAD=keeps
run 1 "gpumem keeps what it should give"
check "the figures are told" grep -q 'gpumem: .* 1300 MiB in use asleep' "$scratch/out"
BAD=more
run 1 "and less, but more than cumem"
check "both are told" grep -q 'gpumem: 1200 MiB in use asleep, and by cumem 900' \
	"$scratch/out"
BAD=little
run 0 "or so little that it may be another's"
BAD=dies
run 1 "one that dies"
check "is told" grep -q 'gpumem: it ended after: start' "$scratch/out"
check "and what it said last" grep -q "no such luck" "$scratch/err"
BAD=hangs
seconds=5
run 1 "one that hangs"
check "is ended" grep -q 'cumem: its status is none after 5 seconds' "$scratch/out"
done_testing
