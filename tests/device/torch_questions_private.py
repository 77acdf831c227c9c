# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Questions of torch_answers.py about private functions that programs use."""

import os
import pickle
import re
import tempfile

from torch_questions import MIB, live, question, raised, tensor


def recorded(module):
    """What a snapshot says of what happened, by action, size and frames."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "snapshot.pickle")
        module._dump_snapshot(path)
        with open(path, "rb") as file:
            return pickle.load(file)


def entries(snapshot):
    return [
        [x["action"], x["size"], bool(x.get("frames")), x.get("user_metadata", "")]
        for x in snapshot["device_traces"][0]
        if not re.match("segment|snapshot", x["action"])
    ]


def with_history(module, do, **more):
    module._record_memory_history("all", **more)
    try:
        do()
        return recorded(module)
    finally:
        module._record_memory_history(None)


@question
def _record_memory_history(module):
    def do():
        kept = tensor(1000), tensor(3 * MIB)
        tensor(30 * MIB)
        del kept

    return {
        words: entries(with_history(module, do, **more))
        for words, more in (
            ("all", {}),
            ("state", {"context": "state"}),
            ("two entries", {"max_entries": 2}),
            ("python's stacks", {"stacks": "python"}),
        )
    }


@question
def _snapshot(module):
    kept = tensor(1000), tensor(3 * MIB)
    snapshot = module._snapshot()
    answer = {k: type(v).__name__ for k, v in snapshot.items()}
    answer["allocator_settings"] = sorted(
        [k, str(v)] for k, v in snapshot.get("allocator_settings", {}).items()
    )
    answer["segments"] = len(snapshot["segments"])
    answer["live"] = live(snapshot["segments"])
    del kept
    return answer


@question
def _dump_snapshot(module):
    return sorted(recorded(module))


@question
def _memory_metadata_supported(module):
    return module._memory_metadata_supported()


@question
def _set_memory_metadata(module):
    def do():
        module._set_memory_metadata("a text")
        tensor(1000)
        module._set_memory_metadata("")
        tensor(1000)

    return entries(with_history(module, do))


@question
def _get_memory_metadata(module):
    module._set_memory_metadata("a text")
    answer = module._get_memory_metadata()
    module._set_memory_metadata("")
    return [answer, module._get_memory_metadata()]


@question
def _annotate_tensor(module):
    def do():
        x = tensor(3 * MIB)
        module._annotate_tensor(x[1000:], "a text")

    return entries(with_history(module, do))


@question
def _allocation_traceback(module):
    module._record_memory_history("all")
    x = tensor(1000)
    found = module._allocation_traceback(x.data_ptr())
    module._record_memory_history(None)
    names = [x["name"] for x in found or []]
    return ["tensor" in names, module._allocation_traceback(1 << 20)]


@question
def _set_allocator_settings(module):
    return [
        raised(lambda: module._set_allocator_settings(text))[0]
        for text in ("max_split_size_mb:64", "expandable_segments:False", "nonsense:1")
    ]


@question
def _get_current_allocator(module):
    return type(module._get_current_allocator()).__name__
