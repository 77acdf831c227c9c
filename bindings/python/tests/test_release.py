# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""release() and scope(), with buffers and with stand-ins for PyTorch's tensors and
JAX's arrays."""

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


def stand_in(test, module, **names):
    """In place of that module, until the test ends."""
    saved = sys.modules.get(module)
    sys.modules[module] = types.SimpleNamespace(**names)
    test.addCleanup(
        lambda: sys.modules.__setitem__(module, saved)
        if saved
        else sys.modules.pop(module)
    )


class Array:
    """What is known of jax.Array: a deleted one says only that it is."""

    dtype = "int8"
    fails = False

    def __init__(self, platform, nbytes):
        self.platform = platform
        self.deleted = False
        self.nbytes = nbytes
        self.shape = (nbytes,)

    def is_deleted(self):
        return self.deleted

    def devices(self):
        if self.deleted:
            raise RuntimeError("Array has been deleted")
        return [types.SimpleNamespace(platform=self.platform)]

    def addressable_data(self, index):
        self.devices()
        return types.SimpleNamespace(unsafe_buffer_pointer=lambda: id(self))

    def delete(self):
        if self.fails:
            raise RuntimeError("in use")
        self.deleted = True


class Tracer(Array):
    """What stands for an array while JAX traces."""


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
        """Of a buffer that is the arrays on it, and no variable of the buffer's."""
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
        self.assertEqual((kept.holders, buffer.exports), ((), 1))
        self.assertEqual(
            str(done._replace(trimmed_bytes=0)),
            "freed 0 bytes, gave 0 bytes back to the driver\n"
            "kept: 1 MiB (1048576 bytes), Buffer, held by an array by DLPack, "
            "which no variable is known of",
        )
        others = [buffer.__dlpack__(), buffer.__dlpack__()]
        self.assertIn("held by 3 arrays by DLPack, ", str(gpumem.release(buffer)))
        with self.assertRaisesRegex(BufferError, "^3 arrays by DLPack use "):
            buffer.free()
        del capsule, others
        self.assertEqual(buffer.exports, 0)
        self.assertEqual(gpumem.release(buffer).freed_bytes, MIB)

    def test_names_the_arrays(self):
        """As numpy.from_dlpack() makes them: of C, and not seen by the collector."""

        class ndarray:
            def __init__(self, buffer):
                self.capsule = buffer.__dlpack__()
                self.__array_interface__ = {"data": (buffer.ptr + 8, False)}

        stand_in(self, "numpy", ndarray=ndarray)
        buffer = self.pool.alloc(MIB)
        array, other = ndarray(buffer), [ndarray(buffer)]
        (kept,) = gpumem.release(buffer).kept
        (first, second) = kept.holders
        if "element" in first:
            first, second = second, first
        self.assertIn("array of test_names_the_arrays() in ", first)
        self.assertTrue(first.endswith(", ndarray on it"), first)
        self.assertIn("element 0 of a list (other of test_names_", second)
        self.assertIn("held by 2 arrays by DLPack, ", str(kept))
        del array, other
        self.assertEqual(gpumem.release(buffer).freed_bytes, MIB)

    def test_arrays_of_numpy(self):
        try:
            from numpy import from_dlpack
        except ImportError:
            self.skipTest("there is no NumPy with from_dlpack()")
        buffer = self.pool.alloc(MIB)
        array = from_dlpack(buffer)
        (kept,) = gpumem.release(buffer).kept
        self.assertIn("array of test_arrays_of_numpy() in ", str(kept))
        model = types.SimpleNamespace(arrays={"x": (array[5:],)})
        del array
        (kept,) = gpumem.release(buffer).kept
        self.assertIn("element 0 of a tuple ('x' of a dict ('arrays' of a ", str(kept))
        del model
        self.assertEqual(gpumem.release(buffer).freed_bytes, MIB)

    def test_says_it_in_words(self):
        first, second = self.pool.alloc(1), self.pool.alloc(3 * MIB // 2)
        done = gpumem.release(first, second)._replace(trimmed_bytes=5 << 30)
        self.assertEqual(
            str(done),
            "freed 1.5 MiB (1572865 bytes), gave 5 GiB (5368709120 bytes) back "
            "to the driver",
        )
        self.assertEqual(
            gpumem.Kept("<b>", 1, 8, ("a & b",)).__str__(),
            "1 byte, <b>, held by a & b",
        )
        done = done._replace(kept=(gpumem.Kept("<b>", 1, 8, ("a & b",)),))
        self.assertIn(
            "<tr><td>1 byte</td><td>&lt;b&gt;</td><td>a &amp; b</td></tr>",
            done._repr_html_(),
        )

    def test_tensors(self):
        self.addCleanup(Tensor.storages.clear)
        stand_in(self, "torch", Tensor=Tensor)
        storage = Storage(self.pool.alloc(2 * MIB))
        tensor, view = Tensor(storage), Tensor(storage)
        tensor.grad = Tensor(Storage(self.pool.alloc(MIB)))
        on_host = Tensor(Storage(self.pool.alloc(MIB)))
        on_host.is_cuda = False
        done = gpumem.release([tensor, view, on_host])
        self.assertEqual(done.freed_bytes, 3 * MIB)
        self.assertEqual(view.untyped_storage().nbytes(), 0)
        self.assertEqual(self.live(), MIB)

    def test_arrays(self):
        stand_in(self, "jax", Array=Array, core=types.SimpleNamespace(Tracer=Tracer))
        array = Array("gpu", MIB)
        others = [Array("cpu", MIB), Tracer("gpu", MIB), Array("gpu", 2 * MIB)]
        others[2].delete()
        stubborn = Array("gpu", 3 * MIB)
        stubborn.fails = True
        done = gpumem.release({"layers": [array, array]}, others, stubborn)
        self.assertEqual(done.freed_bytes, MIB)
        self.assertTrue(array.is_deleted())
        self.assertFalse(others[0].is_deleted() or others[1].is_deleted())
        (kept,) = done.kept
        self.assertEqual(kept.what, f"Array of ({3 * MIB},) int8")
        self.assertEqual((kept.nbytes, kept.address), (3 * MIB, id(stubborn)))

    def test_arrays_of_half_a_jax(self):
        stand_in(self, "jax")
        self.assertEqual(gpumem.release(self.pool.alloc(MIB)).freed_bytes, MIB)
        stand_in(self, "jax", Array=Array)
        self.assertEqual(gpumem.release([Array("gpu", MIB)]).freed_bytes, MIB)

    def test_arrays_of_jax(self):
        try:
            import jax
        except ImportError:
            self.skipTest("there is no JAX")
        if jax.default_backend() == "cpu":
            self.skipTest("this JAX has no device but the host")
        array = jax.numpy.zeros(MIB, dtype="uint8").block_until_ready()
        self.assertEqual(gpumem.release([array]).freed_bytes, MIB)
        self.assertTrue(array.is_deleted())


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

    def test_names_who_holds_a_buffer(self):
        global kept_by_the_module
        self.addCleanup(globals().__setitem__, "kept_by_the_module", None)
        pool = gpumem.Pool("host:0")

        class Model:
            pass

        class Slots:
            __slots__ = ("own",)

        model, slots, listed = Model(), Slots(), []

        def fill():
            global kept_by_the_module
            model.weights = pool.alloc(7 * MIB)
            slots.own = pool.alloc(6 * MIB)
            listed.append(pool.alloc(5 * MIB))
            kept_by_the_module = pool.alloc(4 * MIB)
            listed.append({"key": pool.alloc(3 * MIB)})
            return pool.alloc(2 * MIB).__dlpack__()

        with gpumem.scope(pool) as inside:
            address = pool.malloc(8 * MIB)
            local = pool.alloc(MIB)
            capsule = fill()
        self.assertEqual(
            [(x.nbytes // MIB, x.what) for x in inside.left],
            [(8, "block"), *[(n, "Buffer") for n in range(7, 0, -1)]],
        )
        here = "test_names_who_holds_a_buffer() in "
        said = [x._by().partition(here) for x in inside.left]
        self.assertEqual(
            ["".join(x[:2]).replace(here, "here") for x in said],
            [
                "",
                "'weights' of a Model (model of here",
                "'own' of a Slots (slots of here",
                "element 0 of a list (listed of here",
                f"'kept_by_the_module' of module {__name__}",
                "'key' of a dict (element 1 of a list (listed of here",
                "an array by DLPack, which no variable is known of",
                "local of here",
            ],
        )
        self.assertIn("by whom it is held is not known", str(inside.left[0]))
        gpumem.free(address)
        del local, capsule

    def test_names_functions_and_generators(self):
        pool = gpumem.Pool("host:0")

        def closes(buffer):
            return lambda: buffer

        def yields(buffer):
            yield buffer

        with gpumem.scope(pool) as inside:
            function = closes(pool.alloc(3 * MIB))
            generator = yields(pool.alloc(2 * MIB))
            next(generator)
            method = pool.alloc(MIB).fill
        said = [x.holders for x in inside.left]
        name = f"{self._testMethodName}.<locals>."
        self.assertIn(f"buffer of function Scopes.{name}closes.<locals>", said[0][0])
        self.assertIn(f"buffer of generator Scopes.{name}yields()", said[1][0])
        self.assertIn("a builtin_function_or_method (method of test_", said[2][0])
        del function, generator, method

    def test_names_the_traceback(self):
        """An exception that is kept has the variables of all that it went through."""
        pool = gpumem.Pool("host:0")

        def fails():
            own = pool.alloc(MIB)
            own.read(-3)

        with gpumem.scope(pool) as inside:
            try:
                fails()
            except ValueError as error:
                kept = error
        (left,) = inside.left
        (holder,) = left.holders
        self.assertIn("own of fails() in ", holder)
        self.assertIn(" (a ValueError (kept of test_names_the_traceback() in ", holder)
        del kept, inside

    def test_runs_nothing_of_the_program(self):
        """Whatever compares, or looks attributes up, is not asked."""

        class Stern:
            def __init__(self, own):
                self.__dict__["own"] = own

            def __getattribute__(self, name):
                raise AssertionError(name)

            def __eq__(self, other):
                raise AssertionError("compared")

            __hash__ = None

        pool = gpumem.Pool("host:0")
        with gpumem.scope(pool) as inside:
            stern = object.__new__(Stern)
            object.__getattribute__(stern, "__dict__")["own"] = pool.alloc(MIB)
            held = [stern]
        self.assertIn("'own' of a Stern (", str(inside))
        del stern, held

    def test_one_block(self):
        pool = gpumem.Pool("host:0")
        with gpumem.scope(pool) as inside:
            kept = pool.alloc(100)
        self.assertIn("100 bytes in 1 block is left\n", str(inside))
        self.assertIn("100 bytes in 1 block is left", repr(inside))
        self.assertIn("<caption>100 bytes in 1 block is", inside._repr_html_())
        del kept

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
        stand_in(self, "torch", Tensor=Tensor)
        pool = gpumem.Pool("host:0")
        with gpumem.scope(pool) as inside:
            leaked = Tensor(Storage(pool.alloc(MIB)))
        (left,) = inside.left
        self.assertEqual(left.what, f"Tensor of ({MIB // 4},) float32")
        self.assertIn("leaked of test_finds_the_tensor() in ", str(left))
        del leaked

    def test_without_pools(self):
        """Who watches nothing must not say that nothing is left."""
        stand_in(self, "gpumem.torch", enabled=lambda: False)
        with self.assertRaisesRegex(ValueError, "there is no pool to watch: "):
            gpumem.scope()
        stand_in(self, "gpumem.torch", enabled=lambda: True, used_devices=list)
        with gpumem.scope() as inside:
            self.assertIn("has not ended", repr(inside))
        self.assertEqual(inside.left_bytes, 0)
        self.assertIn("nothing was watched", str(inside))
        with gpumem.scope(gpumem.Pool("host:0")) as inside:
            pass
        self.assertEqual(str(inside), "0 bytes in 0 blocks are left")


if __name__ == "__main__":
    unittest.main()
