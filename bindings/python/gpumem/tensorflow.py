# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What TensorFlow does not free of a trained model, freed with it.

A function that TensorFlow has traced is found by its gradients for ever: each custom
gradient in it is in a table of the whole process, and holds the function's graph,
which holds its variables. Keras's optimizers have one in each function that trains,
so after

    model.fit(x, y)
    del model
    keras.utils.clear_session()

weights and the optimizer's state stay, and the next model's come on top. With

    gpumem.tensorflow.enable()

before the first model is trained, they go. gpumem-run --adopt calls it. TensorFlow
2.22.0rc0 lets them go by itself, and is as before with it.

What TensorFlow frees goes back to the device if its allocator gives it back, as the
one does that gpumem-run --adopt has it take.
"""

import weakref
from typing import Any, Callable

# What TensorFlow calls a gradient of a traced function.
CUSTOM = "CustomGradient-"


def _keep(graph: Any, function: Callable[..., Any]) -> None:
    """The function lives as long as the graph, which it may hold in turn."""
    kept = getattr(graph, "_gpumem_gradients", None)
    if kept is None:
        kept = graph._gpumem_gradients = []
    kept.append(function)


def _forget(registry: Any, name: str) -> None:
    registry._registry.pop(name, None)


def _stand_in(function: Callable[..., Any]) -> Callable[..., Any]:
    """What the table has instead: it holds nothing."""
    held = weakref.ref(function)

    def gradient(op: Any, *results: Any) -> Any:
        of_graph = held()
        if of_graph is None:
            raise LookupError("the graph of this gradient is gone")
        return of_graph(op, *results)

    return gradient


def enable() -> None:
    """A traced function's gradients go when it goes, of those that are traced from now
    on. May be called again. RuntimeError: this TensorFlow keeps them otherwise.
    """
    from tensorflow.python.framework import ops

    decorator = getattr(ops, "RegisterGradient", None)
    registry = getattr(ops, "gradient_registry", None)
    if decorator is None or not isinstance(getattr(registry, "_registry", None), dict):
        raise RuntimeError(
            "this TensorFlow keeps gradients in another way than 2.21, so that what "
            "was trained stays as it does without gpumem"
        )
    if getattr(decorator.__call__, "_gpumem", False):
        return
    real = decorator.__call__

    def register(self: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        name = self._op_type
        if not name.startswith(CUSTOM):
            return real(self, function)
        # Others are registered while TensorFlow's modules import each other.
        from tensorflow.python.framework.func_graph import FuncGraph

        graph = ops.get_default_graph()
        if not isinstance(graph, FuncGraph):
            return real(self, function)
        real(self, _stand_in(function))
        _keep(graph, function)
        weakref.finalize(function, _forget, registry, name).atexit = False
        return function

    register._gpumem = True  # type: ignore[attr-defined]
    decorator.__call__ = register
