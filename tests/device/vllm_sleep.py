#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""vLLM's sleep mode by its own backend (cumem), and by gpumem's: the same tokens?

Each backend in turn, in processes of its own: an engine with CUDA graphs and without
a prefix cache takes 16 prompts, and generates greedily. Then it sleeps and wakes, and
generates again: three times as a whole at level 1, once by tags (first the weights,
then the cache), and once at level 2, whose weights are loaded from the file again.
The model is made by vllm_model.py, so nothing is downloaded.

    python3 tests/device/vllm_sleep.py [--out FOLDER]

Lines of JSON: seconds of each sleep and wake, and MiB of the device that are in use,
as nvidia-smi says, without those that were before the engine began. The exit status
is 0 if

- an engine gives the same tokens after each wake as before its first sleep, and twice
  the same before it;
- what is in use falls in each sleep by weights and cache, but for 256 MiB;
- and with gpumem no more is in use asleep than with cumem, but for 256 MiB: that is
  the context, graphs and activations, which stay with both.

All prompts are put in while the engine takes none, so that each generation has the
same batches. --mode is vLLM's compilation mode: 0 starts in the shortest time, with
graphs of decoding alone; 3 is what vLLM does by default, and compiles for a minute.
The engine is a process of its own unless VLLM_ENABLE_V1_MULTIPROCESSING=0. FOLDER
gets NAME.log of each engine. Needs an otherwise idle GPU, vLLM 0.33 and gpumem's
package. Times decide nothing.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import vllm_model

CUMEM, GPUMEM = "cumem", "gpumem"
WORKER = "gpumem.vllm_worker.Worker"
PROMPTS, LENGTHS, TOKENS = 16, (8, 200), 64
SLACK_MIB = 256
MIB = 1 << 20
LEVEL_1, BY_TAGS, LEVEL_2 = "level 1", "by tags", "level 2"
# Nothing is asked of a network; and no kernel is compiled by FlashInfer.
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_USE_FLASHINFER_SAMPLER": "0",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
    "NCCL_SOCKET_IFNAME": "lo",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--backends", nargs="+", choices=(CUMEM, GPUMEM), default=[CUMEM, GPUMEM]
    )
    parser.add_argument("--rounds", type=int, default=1, help="turns of each")
    parser.add_argument("--cycles", type=int, default=3, help="of level 1")
    parser.add_argument("--mode", type=int, default=0, help="of compilation")
    parser.add_argument("--utilization", type=float, default=0.3)
    parser.add_argument("--model", type=Path, help="one that was made before")
    parser.add_argument("--out", type=Path, default=Path("."), help="for logs")
    parser.add_argument(
        "--seconds", type=int, default=240, help="that an engine may take"
    )
    parser.add_argument("--child", choices=(CUMEM, GPUMEM), help="one of them")
    return parser.parse_args()


def used_mib():
    """Of the first device that may be used."""
    device = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    text = subprocess.run(
        ["nvidia-smi", "-i", device, "--query-gpu=memory.used"]
        + ["--format=csv,noheader,nounits"],
        check=True,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    ).stdout
    return int(text.split("\n")[0])


# ---- one engine, in a process of its own ---------------------------------------


def prompts():
    draw = random.Random(1)
    return [
        {"prompt_token_ids": [draw.randrange(10, 9000) for _ in range(length)]}
        for length in (draw.randrange(*LENGTHS) for _ in range(PROMPTS))
    ]


class Engine:
    def __init__(self, args):
        self.name, self.folder = args.child, str(args.model)
        begun = time.perf_counter()
        import vllm

        more = {"worker_cls": WORKER} if self.name == GPUMEM else {}
        compilation = {"mode": args.mode}
        if args.mode == 0:
            compilation["cudagraph_mode"] = "FULL_DECODE_ONLY"
        self.llm = vllm.LLM(
            model=self.folder,
            skip_tokenizer_init=True,
            dtype="bfloat16",
            seed=0,
            max_model_len=2048,
            max_num_seqs=PROMPTS,
            gpu_memory_utilization=args.utilization,
            enable_prefix_caching=False,
            enable_sleep_mode=True,
            sleep_mode_backend=self.name,
            compilation_config=compilation,
            **more,
        )
        self.greedy = vllm.SamplingParams(
            temperature=0, max_tokens=TOKENS, ignore_eos=True, detokenize=False
        )
        self.prompts = prompts()
        seconds = time.perf_counter() - begun
        self.wanted = self.tokens()
        config = json.loads((args.model / "config.json").read_text())
        cache = self.llm.llm_engine.vllm_config.cache_config
        tokens = cache.num_gpu_blocks * cache.block_size
        self.say(
            "start",
            seconds=seconds,
            used_mib=used_mib(),
            weights_mib=vllm_model.weight_bytes(config) / MIB,
            cache_mib=vllm_model.kv_bytes(config, tokens) / MIB,
            same=self.tokens() == self.wanted,
            tokens=self.wanted,
        )

    def say(self, what, **more):
        for key, value in more.items():
            if isinstance(value, float):
                more[key] = round(value, 3)
        print(json.dumps({"backend": self.name, "what": what, **more}))
        sys.stdout.flush()

    def tokens(self):
        """In the order of the prompts; the engine begins when it has all of them."""
        self.llm.sleep(level=0)
        self.llm.enqueue(self.prompts, self.greedy, use_tqdm=False)
        self.llm.wake_up(tags=["scheduling"])
        found = self.llm.wait_for_completion(use_tqdm=False)
        return [list(each.outputs[0].token_ids) for each in found]

    def timed(self, what, *args, **more):
        begun = time.perf_counter()
        what(*args, **more)
        return time.perf_counter() - begun

    def cycle(self, what, level, steps):
        """steps: what wakes it, one after the other."""
        asleep = self.timed(self.llm.sleep, level=level)
        used = [used_mib()]
        seconds = []
        for step in steps:
            seconds.append(round(self.timed(step), 3))
            used.append(used_mib())
        self.say(
            what,
            sleep_seconds=asleep,
            wake_seconds=seconds,
            asleep_mib=used[0],
            then_mib=used[1:],
            same=self.tokens() == self.wanted,
        )

    def weights(self):
        self.llm.wake_up(tags=["weights"])

    def reload(self):
        self.llm.collective_rpc("reload_weights")

    def cache(self):
        self.llm.wake_up(tags=["kv_cache"])


def engine(args):
    made = Engine(args)
    for _ in range(args.cycles):
        made.cycle(LEVEL_1, 1, [made.llm.wake_up])
    made.cycle(BY_TAGS, 1, [made.weights, made.cache])
    made.cycle(LEVEL_2, 2, [made.weights, made.reload, made.cache])


# ---- all of them ---------------------------------------------------------------


def run(args, name, log):
    """How its process ended, 0 or what is wrong, and its lines."""
    command = [sys.executable, __file__, "--child", name]
    for key in "cycles", "mode", "utilization", "model":
        command += [f"--{key}", str(getattr(args, key))]
    with open(log, "ab") as errors, tempfile.TemporaryFile("w+") as lines:
        child = subprocess.Popen(
            command,
            stdout=lines,
            stderr=errors,
            env={**os.environ, **QUIET},
            start_new_session=True,
        )
        try:
            status = child.wait(args.seconds)
        except subprocess.TimeoutExpired:
            status = f"none after {args.seconds} seconds"
        finally:  # also of what it left
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        lines.seek(0)
        told = [x for x in lines if x.startswith('{"backend"')]
    return status, [json.loads(x) for x in told]


def settled_mib():
    """Once nobody's memory goes back any more."""
    before = used_mib()
    for _ in range(20):
        time.sleep(0.2)
        before, last = used_mib(), before
        if before == last:
            break
    return before


def judge_engine(lines, cycles):
    """What is wrong in the lines of one engine, whose MiB are its own."""
    whats = [x["what"] for x in lines]
    if whats != ["start", *[LEVEL_1] * cycles, BY_TAGS, LEVEL_2]:
        return [f"it ended after: {', '.join(whats) or 'nothing'}"]
    start = lines[0]
    wrong = [f"{x['what']}: other tokens" for x in lines if not x["same"]]
    most = start["used_mib"] - start["weights_mib"] - start["cache_mib"]
    for each in lines[1:]:
        if each["asleep_mib"] > most + SLACK_MIB:
            wrong.append(
                f"{each['what']}: {each['asleep_mib']} MiB in use asleep, where "
                f"all but weights and cache are {most:.0f}"
            )
    return wrong


def asleep_mib(lines):
    return max(x["asleep_mib"] for x in lines if "asleep_mib" in x)


def judge(turns, cycles):
    """turns: (backend, status, lines) of each."""
    wrong = []
    for name, status, lines in turns:
        found = judge_engine(lines, cycles)
        found += [f"its status is {status}"] if status else []
        wrong += [f"{name}: {each}" for each in found]
    if wrong:
        return wrong
    most = [asleep_mib(lines) for name, _, lines in turns if name == CUMEM]
    for name, _, lines in turns:
        if name == GPUMEM and most and asleep_mib(lines) > max(most) + SLACK_MIB:
            wrong.append(
                f"gpumem: {asleep_mib(lines)} MiB in use asleep, and by cumem "
                f"{max(most)}"
            )
    return wrong


def own_memory(lines, idle):
    """The same without what was in use before."""
    for each in lines:
        for key in "used_mib", "asleep_mib":
            if key in each:
                each[key] -= idle
        if "then_mib" in each:
            each["then_mib"] = [x - idle for x in each["then_mib"]]


def show(lines, tokens):
    """All but the tokens themselves; `tokens` are those of the first engine."""
    for each in lines:
        if "tokens" in each:
            each["as_first"] = each.pop("tokens") == tokens
        print(json.dumps(each))
    sys.stdout.flush()


def take_turns(args):
    turns, tokens = [], None
    for number in range(args.rounds):
        for name in args.backends:
            idle = settled_mib()
            log = args.out / f"{name}.log"
            status, lines = run(args, name, log)
            own_memory(lines, idle)
            if lines and tokens is None:
                tokens = lines[0]["tokens"]
            show(lines, tokens)
            if status:
                sys.stderr.write(log.read_text(errors="replace")[-4000:])
            turns.append((name, status, lines))
    return turns


def main():
    args = arguments()
    if args.child:
        return engine(args)
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if args.model is None:
            args.model = Path(folder)
            command = [sys.executable, vllm_model.__file__, folder]
            subprocess.run(command, check=True)
        wrong = judge(take_turns(args), args.cycles)
    for each in wrong:
        print(json.dumps({"wrong": each}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
