# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem.tensorflow, with as much of TensorFlow as it touches: the decorator that
registers gradients, the table, and graphs. What the real one does is tried by
findings/keras_fit_is_never_freed.sh."""

import gc
import sys
import types
import unittest
import unittest.mock
import weakref

import gpumem.tensorflow

NAMES = ["tensorflow", "tensorflow.python", "tensorflow.python.framework"]


class FuncGraph:
    """It has no __dict__, as TensorFlow's has none."""

    __slots__ = "_gpumem_gradients", "__weakref__"


def stand_in():
    """The modules; `ops.graph` is the default graph."""
    ops = types.ModuleType("ops")
    table = types.SimpleNamespace(_registry={})

    class RegisterGradient:
        def __init__(self, name):
            self._op_type = name

        def __call__(self, function):
            table._registry[self._op_type] = function
            return function

    ops.gradient_registry, ops.RegisterGradient = table, RegisterGradient
    ops.graph = None
    ops.get_default_graph = lambda: ops.graph
    func_graph = types.ModuleType("func_graph")
    func_graph.FuncGraph = FuncGraph
    return ops, func_graph


class Test(unittest.TestCase):
    def setUp(self):
        self.ops, func_graph = stand_in()
        self.table = self.ops.gradient_registry._registry
        modules = {name: types.ModuleType(name) for name in NAMES}
        framework = modules[NAMES[-1]]
        framework.ops, framework.func_graph = self.ops, func_graph
        for name, module in modules.items():
            module.__path__ = []
        modules[NAMES[-1] + ".ops"] = self.ops
        modules[NAMES[-1] + ".func_graph"] = func_graph
        patch = unittest.mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)

    def traced(self, name):
        """A graph with a gradient that holds it, as those of TensorFlow do."""
        graph = self.ops.graph = FuncGraph()

        @self.ops.RegisterGradient(name)
        def gradient(op, result):
            return op, result, graph

        self.ops.graph = None
        return graph

    def test_a_gradient_lives_as_long_as_its_graph(self):
        gpumem.tensorflow.enable()
        graph = self.traced("CustomGradient-1")
        gc.collect()
        self.assertEqual(self.table["CustomGradient-1"](1, 2), (1, 2, graph))
        held = weakref.ref(graph)
        gradient = self.table["CustomGradient-1"]
        del graph
        gc.collect()
        self.assertIsNone(held())
        self.assertEqual(self.table, {})
        with self.assertRaisesRegex(LookupError, "is gone"):
            gradient(1, 2)

    def test_a_graph_may_have_several(self):
        gpumem.tensorflow.enable()
        graph = self.ops.graph = FuncGraph()
        for i in range(3):
            self.ops.RegisterGradient(f"CustomGradient-{i}")(lambda op, i=i: i)
        gc.collect()
        self.assertEqual([x(0) for x in self.table.values()], [0, 1, 2])
        self.ops.graph = None
        del graph
        gc.collect()
        self.assertEqual(self.table, {})

    def test_what_is_no_traced_gradient_stays(self):
        gpumem.tensorflow.enable()
        self.traced("Square")
        self.ops.RegisterGradient("CustomGradient-2")(lambda op: op)
        self.ops.graph = object()
        self.ops.RegisterGradient("CustomGradient-3")(lambda op: op)
        gc.collect()
        self.assertEqual(
            set(self.table), {"Square", "CustomGradient-2", "CustomGradient-3"}
        )

    def test_before_tensorflow_is_whole(self):
        gpumem.tensorflow.enable()
        with unittest.mock.patch.dict(sys.modules, {NAMES[-1] + ".func_graph": None}):
            self.ops.RegisterGradient("Square")(lambda op: op)
        self.assertEqual(set(self.table), {"Square"})

    def test_twice_is_once(self):
        gpumem.tensorflow.enable()
        register = self.ops.RegisterGradient.__call__
        gpumem.tensorflow.enable()
        self.assertIs(self.ops.RegisterGradient.__call__, register)

    def test_without_it_a_graph_stays(self):
        held = weakref.ref(self.traced("CustomGradient-1"))
        gc.collect()
        self.assertIsNotNone(held())

    def test_another_tensorflow(self):
        for name in "RegisterGradient", "gradient_registry":
            del self.ops.__dict__[name]
            with self.assertRaisesRegex(RuntimeError, "another way than 2.21"):
                gpumem.tensorflow.enable()


if __name__ == "__main__":
    unittest.main()
