# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""ONNX Runtime's sessions on CUDA in the memory of gpumem's pools.

    import gpumem.onnxruntime

    onnxruntime.InferenceSession(path, providers=[
        ("CUDAExecutionProvider", gpumem.onnxruntime.provider_options())])

ONNX Runtime tells an external allocator no stream. So a session gets one: its
work runs on it, and its memory is used again in the order of this stream.
"""

import threading
from typing import Any, Dict, Optional

from . import Device

__all__ = ["provider_options"]

_lock = threading.Lock()
_own: Dict[str, Dict[str, str]] = {}


def provider_options(
    number: int = 0, stream: Any = None, *, backend: str = "cuda"
) -> Dict[str, str]:
    """The options of CUDAExecutionProvider, to which others can be added.

    stream: on which the session works, which has to outlive it; None: one that
    all sessions of the device share. Sessions that are to run at the same time
    need streams of their own: up to 63 in a process.
    """
    name = f"{backend}:{number}"
    with _lock:
        if stream is not None:
            return _made(Device(name), number, stream)
        if name not in _own:
            device = Device(name)
            _own[name] = _made(device, number, device.stream_create())
        return dict(_own[name])


def _made(device: Device, number: int, stream: Any) -> Dict[str, str]:
    functions = device.pool.functions(stream)
    return {
        "device_id": str(number),
        "user_compute_stream": str(functions["stream"]),
        "gpu_external_alloc": str(functions["alloc"]),
        "gpu_external_free": str(functions["free"]),
        "gpu_external_empty_cache": str(functions["empty_cache"]),
    }
