# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""release() and scope(), with buffers and with a stand-in for PyTorch's tensors."""

import gc
import sys
import types
import unittest

import gpumem

MIB = 1 << 20
kept_by_the_module = None


class Storage:
    def __init__(self, buffer):
        self.buffer = buffer

    def data_ptr(self):
        return self.buffer.ptr if self.buffer else 0

    def nbytes(self):
        return self.buffer.nbytes if self.buffer else 0

    def resize_(self, size):
        self.buffer = None


class Tensor:
    """What is known of torch.Tensor: views share a storage."""

    is_cuda = True
    dtype = "torch.float32"

    def __init__(self, storage):
        self.__class__.storages[id(self)] = storage
        self.shape = (storage.nbytes() // 4,)
        self.grad = None

    storages = {}  # not seen by the collector, as PyTorch's own are not

    def untyped_storage(self):
        return self.storages[id(self)]


class Release(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0")

    def live(self):
        return self.pool.stats()["requested"]["current"]

    def test_frees_what_it_is_given(self):
        first, second = self.pool.alloc(8 * MIB), self.pool.alloc(4 * MIB)
        model = types.SimpleNamespace(parts={"a": [first], "b": (second,)})
        model.itself = model
        done = gpumem.release(model)
        self.assertEqual(done.freed_bytes, 12 * MIB)
        self.assertGreaterEqual(done.trimmed_bytes, 12 * MIB)
        self.assertEqual(done.kept, ())
        self.assertEqual(self.live(), 0)
        self.assertTrue(first.freed and second.freed)
        again = gpumem.release(model, None, 3)
        self.assertEqual(again.freed_bytes, 0)

    def test_stays_within_the_objects(self):
        other = self.pool.alloc(MIB)

        def function():
            return other

        model = types.SimpleNamespace(
            function=function, module=sys.modules[__name__], kind=Release
        )
        self.assertEqual(gpumem.release(model).freed_bytes, 0)
        self.assertFalse(other.freed)

    def test_names_who_keeps_what(self):
        global kept_by_the_module
        buffer = self.pool.alloc(MIB)
        capsule = buffer.__dlpack__()
        kept_by_the_module = buffer
        self.addCleanup(globals().__setitem__, "kept_by_the_module", None)
        done = gpumem.release(buffer)
        self.assertEqual(done.freed_bytes, 0)
        (kept,) = done.kept
        self.assertEqual((kept.what, kept.nbytes), ("Buffer", MIB))
        self.assertEqual(kept.address, buffer.ptr)
        text = str(done)
        self.assertIn("buffer of test_names_who_keeps_what() in ", text)
        self.assertIn(f"'kept_by_the_module' of module {__name__}", text)
        self.assertEqual(len(kept.holders), 2, kept.holders)
        del capsule
        self.assertEqual(gpumem.release(buffer).freed_bytes, MIB)

    def test_tensors(self):
        self.addCleanup(Tensor.storages.clear)
        saved = sys.modules.get("torch")
        sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor)
        self.addCleanup(
            lambda: sys.modules.__setitem__("torch", saved)
            if saved
            else sys.modules.pop("torch")
        )
        storage = Storage(self.pool.alloc(2 * MIB))
        tensor, view = Tensor(storage), Tensor(storage)
        tensor.grad = Tensor(Storage(self.pool.alloc(MIB)))
        on_host = Tensor(Storage(self.pool.alloc(MIB)))
        on_host.is_cuda = False
        done = gpumem.release([tensor, view, on_host])
        self.assertEqual(done.freed_bytes, 3 * MIB)
        self.assertEqual(view.untyped_storage().nbytes(), 0)
        self.assertEqual(self.live(), MIB)


class Scopes(unittest.TestCase):
    def test_lists_what_is_left(self):
        pool = gpumem.Pool("host:0")
        before = pool.alloc(MIB)
        with gpumem.scope(pool) as inside:
            small = pool.alloc(100)
            large = pool.alloc(3 * MIB)
            pool.alloc(8 * MIB)  # gone at once
            cycle = [pool.alloc(2 * MIB)]
            cycle.append(cycle)
            del cycle  # gone when garbage is collected
        self.assertEqual(
            [(x.nbytes, x.address) for x in inside.left],
            [(3 * MIB, large.ptr), (100, small.ptr)],
        )
        self.assertEqual(inside.left_bytes, 3 * MIB + 100)
        self.assertIn("in 2 blocks are left", str(inside))
        self.assertLess(pool.stats()["reserved"]["current"], 8 * MIB)
        self.assertFalse(before.freed)

    def test_an_exception_goes_through(self):
        pool = gpumem.Pool("host:0")
        held = []
        with self.assertRaises(KeyError):
            with gpumem.scope(pool) as inside:
                held.append(pool.alloc(MIB))
                raise KeyError
        self.assertEqual(inside.left_bytes, MIB)

    def test_finds_the_tensor(self):
        self.addCleanup(Tensor.storages.clear)
        saved = sys.modules.get("torch")
        sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor)
        self.addCleanup(
            lambda: sys.modules.__setitem__("torch", saved)
            if saved
            else sys.modules.pop("torch")
        )
        pool = gpumem.Pool("host:0")
        with gpumem.scope(pool) as inside:
            leaked = Tensor(Storage(pool.alloc(MIB)))
        (left,) = inside.left
        self.assertEqual(left.what, f"Tensor of ({MIB // 4},) float32")
        self.assertIn("leaked of test_finds_the_tensor() in ", str(left))
        del leaked

    def test_without_pools(self):
        with gpumem.scope() as inside:
            gc.collect()
        self.assertEqual(inside.left_bytes, 0)


if __name__ == "__main__":
    unittest.main()
