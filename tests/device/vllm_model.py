#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A Llama with random weights, in the files that vLLM loads: vllm_model.py FOLDER.

As large as Llama 3.2 1B, 1.24 billion weights of bfloat16, from a seed. Without a
tokenizer: prompts are ids. Needs torch and safetensors, and takes a GPU if there is
one. vllm_sleep.py runs it in a process of its own, whose context is gone when it
looks at the device.
"""

import json
import sys
from pathlib import Path

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "dtype": "bfloat16",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
ELEMENT = 2  # bytes


def shapes(config):
    """Of each weight, by its name in the file."""
    width, inner = config["hidden_size"], config["intermediate_size"]
    head = config["head_dim"]
    queries = config["num_attention_heads"] * head
    keys = config["num_key_value_heads"] * head
    result = {
        "model.embed_tokens.weight": (config["vocab_size"], width),
        "model.norm.weight": (width,),
    }
    for number in range(config["num_hidden_layers"]):
        layer = {
            "input_layernorm": (width,),
            "post_attention_layernorm": (width,),
            "self_attn.q_proj": (queries, width),
            "self_attn.k_proj": (keys, width),
            "self_attn.v_proj": (keys, width),
            "self_attn.o_proj": (width, queries),
            "mlp.gate_proj": (inner, width),
            "mlp.up_proj": (inner, width),
            "mlp.down_proj": (width, inner),
        }
        for name, shape in layer.items():
            result[f"model.layers.{number}.{name}.weight"] = shape
    return result


def weight_bytes(config):
    total = 0
    for rows, *columns in shapes(config).values():
        total += rows * (columns[0] if columns else 1)
    return ELEMENT * total


def kv_bytes(config, tokens):
    """Of the keys and values of so many tokens."""
    each = 2 * config["num_key_value_heads"] * config["head_dim"] * ELEMENT
    return each * config["num_hidden_layers"] * tokens


def make(folder):
    import torch
    from safetensors.torch import save_file

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    weights = {}
    for name, shape in shapes(CONFIG).items():
        if len(shape) == 1:
            made = torch.ones(shape, dtype=torch.bfloat16)
        else:
            made = torch.empty(shape, dtype=torch.bfloat16, device=device)
            made.normal_(std=0.02)
        weights[name] = made.cpu()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
