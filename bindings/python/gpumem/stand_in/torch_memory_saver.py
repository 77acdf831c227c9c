# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""In front of torch_memory_saver, where this folder is in PYTHONPATH: a program that
imports that one gets gpumem.torch_memory_saver instead."""

import sys

from gpumem import torch_memory_saver

sys.modules[__name__] = torch_memory_saver
