# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What a notebook, an editor and a person see of the package: signatures, sentences
of what is wrong, and how objects show themselves."""

import ast
import inspect
import sys
import unittest
from pathlib import Path

import gpumem
from gpumem import _core, _words

MIB = 1 << 20
STUB = ast.parse(Path(gpumem.__file__).with_name("_core.pyi").read_text())
TYPES = (gpumem.Buffer, gpumem.Device, gpumem.Pool)
# Python 3.9 forgets those of types that are made from a specification.
OF_TYPES = sys.version_info >= (3, 10)


def described(arguments, skip):
    """[(name, kind, default)] of a function in the stub."""
    positional = arguments.posonlyargs + arguments.args
    missing = len(positional) - len(arguments.defaults)
    defaults = [None] * missing + [ast.dump(x) for x in arguments.defaults]
    kinds = ["POSITIONAL_ONLY"] * len(arguments.posonlyargs)
    kinds += ["POSITIONAL_OR_KEYWORD"] * len(arguments.args)
    found = [(x.arg, *y) for x, *y in zip(positional, kinds, defaults)]
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append((each.arg, "KEYWORD_ONLY", default and ast.dump(default)))
    return found[skip:]


def parameters(thing, skip):
    """The same of what is running."""
    found = []
    for each in list(inspect.signature(thing).parameters.values())[skip:]:
        default = None
        if each.default is not each.empty:
            default = ast.dump(ast.parse(repr(each.default), mode="eval").body)
        found.append((each.name, each.kind.name, default))
    return found


class Signatures(unittest.TestCase):
    def test_functions(self):
        seen = 0
        for node in STUB.body:
            if isinstance(node, ast.FunctionDef):
                running = parameters(getattr(_core, node.name), 0)
                self.assertEqual(running, described(node.args, 0), node.name)
                seen += 1
        self.assertGreater(seen, 10)

    def test_methods(self):
        classes = {x.name: x for x in STUB.body if isinstance(x, ast.ClassDef)}
        for kind in TYPES:
            for node in classes[kind.__name__].body:
                if not isinstance(node, ast.FunctionDef):
                    continue
                if node.name == "__new__" and not OF_TYPES:
                    continue
                if node.decorator_list and node.name != "adopt":
                    continue  # a property
                if node.name in ("__len__", "__eq__", "__hash__"):
                    continue  # Python's own, by another name
                where = f"{kind.__name__}.{node.name}"
                thing = kind if node.name == "__new__" else getattr(kind, node.name)
                # Of a type and a class method, the first one is bound.
                skip = 0 if node.name in ("__new__", "adopt") else 1
                running = parameters(thing, skip)
                self.assertEqual(running, described(node.args, 1), where)

    def test_all_that_is_public_has_one(self):
        for name in gpumem.__all__:
            thing = getattr(gpumem, name)
            own = thing is not gpumem.Buffer and not name.endswith("Error")
            if own and (OF_TYPES or thing not in TYPES):
                self.assertTrue(inspect.signature(thing), name)
            self.assertTrue(inspect.getdoc(thing), name)
            self.assertNotIn("--\n", inspect.getdoc(thing))
        for kind in TYPES:
            for name, thing in vars(kind).items():
                if callable(thing) and not name.startswith("__"):
                    self.assertTrue(inspect.signature(getattr(kind, name)), name)

    def test_every_argument_by_its_name(self):
        pool = gpumem.Pool(
            device="host:0", name="x", limit_bytes=0, shareable="none"
        )
        gpumem.option_set(key="decay_ms", value=gpumem.option_get(key="decay_ms"))
        gpumem.option_set(key="decay_ms", value=None)
        gpumem.devices(backend="host")
        gpumem.oom_set(callback=None)
        gpumem.free(address=pool.malloc(nbytes=1, stream=None), stream=None)
        device = gpumem.Device(name="host:0")
        device.trim(keep_bytes=0)
        stream = device.stream_create()
        device.stream_sync(stream=stream)
        buffer = pool.alloc(nbytes=10, stream=stream)
        buffer.use_on(stream=stream)
        buffer.resize(nbytes=9, stream=None)
        buffer.free(stream=stream)
        pool.drop_stream(stream=stream)
        device.stream_destroy(stream=stream)
        pool.reset_stats(totals=True)
        pool.trim(keep_bytes=0)
        pool.capacity(stream=None)
        pool.set_tag_limit(path="a", limit_bytes=0)
        pool.track(frames=1)
        pool.pressure_add(callback=print)
        pool.pressure_remove(callback=print)
        pool.add_peer(device=device)

    def test_the_stream_of_a_free(self):
        """None is the one that it was allocated on, and not the default one."""
        pool = gpumem.Pool("host:0")
        stream = pool.device.stream_create()
        buffer = pool.alloc(5 * MIB, stream)
        address = buffer.ptr
        buffer.free(stream=None)
        (block,) = [x for x in pool.snapshot() if x["address"] == address]
        self.assertEqual((block["state"], block["stream"]), ("free", stream))
        pool.drop_stream(stream)
        pool.device.stream_destroy(stream)


class Sentences(unittest.TestCase):
    def test_name_the_argument(self):
        pool = gpumem.Pool("host:0")
        buffer = pool.alloc(10)
        for call, kind, said in [
            (lambda: gpumem.Device(3), TypeError, "name must be str or None, not int"),
            (
                lambda: gpumem.Pool(3),
                TypeError,
                "device must be a gpumem.Device, its name or None, not int",
            ),
            (
                lambda: gpumem.Pool(limit_bytes="1"),
                TypeError,
                "limit_bytes must be an int, not str",
            ),
            (
                lambda: gpumem.option_set("limit", 5),
                TypeError,
                "value must be str or None, not int",
            ),
            (
                lambda: gpumem.oom_set(5),
                TypeError,
                "callback must be callable or None, not int",
            ),
            (
                lambda: pool.pressure_add([]),
                TypeError,
                "callback must be callable, not list",
            ),
            (
                lambda: pool.add_peer("host:0"),
                TypeError,
                "device must be a gpumem.Device, not str",
            ),
            (lambda: pool.alloc("1"), TypeError, "nbytes must be an int, not str"),
            (lambda: pool.malloc(1.5), TypeError, "nbytes must be an int, not float"),
            (lambda: buffer.read(offset="x"), TypeError, "offset must be an int"),
            (lambda: pool.alloc(1, "s"), TypeError, "stream must be an int, None, "),
            (lambda: pool.alloc(), TypeError, "'nbytes'"),
            (lambda: pool.alloc(1, 0, 3), TypeError, "positional"),
            (lambda: pool.trim(keep=3), TypeError, "'keep'"),
            (lambda: pool.trim(-1), OverflowError, "keep_bytes must be from 0 to"),
            (
                lambda: pool.track(1 << 32),
                OverflowError,
                "frames must be from 0 to 4294967295, not 4294967296",
            ),
            (
                lambda: buffer.fill(256),
                OverflowError,
                "value must be from 0 to 255, not 256",
            ),
            (lambda: gpumem.tag(3).__enter__(), TypeError, "path must be str, not int"),
        ]:
            with self.assertRaises(kind) as caught:
                call()
            self.assertIn(said, str(caught.exception))

    def test_what_an_argument_raises_comes_through(self):
        class Odd:
            def __index__(self):
                raise KeyError("argument 1")

        with self.assertRaises(KeyError):
            gpumem.Pool("host:0").alloc(Odd())


class Objects(unittest.TestCase):
    def setUp(self):
        self.pool = gpumem.Pool("host:0", name="<b>", limit_bytes=1 << 30)

    def test_devices_are_equal_and_are_keys(self):
        first, second = gpumem.Device("host:0"), gpumem.Device("host:0")
        self.assertEqual(first, second)
        self.assertFalse(first != second)
        self.assertEqual(len({first: 1, second: 2}), 1)
        self.assertNotEqual(first, "host:0")
        context = Path  # any object's address does for `host`
        adopted = gpumem.Device.adopt("host", id(context), 0, owner=context)
        self.assertNotEqual(first, adopted)
        with self.assertRaises(TypeError):
            first < second

    def test_limits_are_attributes(self):
        self.pool.soft_limit_bytes = 3 * MIB
        self.pool.limit_bytes = 8 * MIB
        self.assertEqual(self.pool.limit_bytes, 8 * MIB)
        self.assertEqual(self.pool.soft_limit_bytes, 3 * MIB)
        self.assertEqual(self.pool.stats()["limit_bytes"], 8 * MIB)
        with self.assertRaises(gpumem.OutOfMemoryError):
            self.pool.alloc(9 * MIB)
        self.pool.limit_bytes = 0
        with self.assertRaisesRegex(OverflowError, "limit_bytes must be from 0"):
            self.pool.limit_bytes = -1
        with self.assertRaises(AttributeError):
            del self.pool.soft_limit_bytes
        self.assertEqual(self.pool.soft_limit_bytes, 3 * MIB)

    def test_a_pool_ends_with_its_block(self):
        with self.pool as pool:
            self.assertIs(pool, self.pool)
            pool.alloc(MIB).free()
        with self.assertRaisesRegex(ValueError, "was closed"):
            pool.alloc(1)
        with self.assertRaises(ValueError):
            with pool:
                pass
        with self.assertRaisesRegex(gpumem.Error, "1 live block"):
            with gpumem.Pool("host:0") as pool:
                kept = pool.alloc(1)
        with self.assertRaises(KeyError):
            with gpumem.Pool("host:0") as pool:
                kept = pool.alloc(1)
                raise KeyError
        del kept

    def test_repr(self):
        buffer = self.pool.alloc(MIB)
        self.assertRegex(
            repr(self.pool),
            "^<gpumem.Pool '<b>' on host:0: in use 1 MiB, reserved .* MiB, "
            "limit 1 GiB>$",
        )
        self.assertIn("Buffer of 1048576 bytes at 0x", repr(buffer))
        self.assertIn("Buffer of 1 byte at 0x", repr(self.pool.alloc(1)))
        del buffer
        self.pool.close()
        self.assertEqual(repr(self.pool), "<gpumem.Pool, closed>")

    def test_for_notebooks(self):
        buffer = self.pool.alloc(MIB)
        page = self.pool._repr_html_()
        self.assertIn("<caption>pool &lt;b&gt; on host:0</caption>", page)
        self.assertIn("<tr><td>live</td><td>1 block</td></tr>", page)
        for report in self.pool.report(), self.pool.device.report():
            self.assertIn("&lt;b&gt;", report._repr_html_())
        with gpumem.tag("<i>"):
            other = self.pool.alloc(3)
        page = self.pool.leaks()._repr_html_()
        self.assertIn("<td>&lt;i&gt;</td>", page)
        self.assertNotIn("<b>", page)
        self.assertNotIn("<i>", page)
        del buffer, other

    def test_reports(self):
        buffer = self.pool.alloc(MIB)
        whole, short = self.pool.report(all=True), self.pool.report()
        self.assertIn("\nooms: 0\n", whole)
        for name in ("ooms", "stale_bytes", "capture_id"):
            self.assertNotIn(name, short)
        self.assertIn("requested: current 1.00 MiB", short)
        self.assertIn("  page_create: count 1, failed 0, ns ", short)
        self.assertLess(set(short.splitlines()), set(whole.splitlines()))
        self.assertIn('pool "<b>"\n', self.pool.device.report())
        del buffer

    def test_words(self):
        for nbytes, said in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1 KiB (1024 bytes)"),
            (1536, "1.5 KiB (1536 bytes)"),
            ((1 << 20) - 1, "1 MiB (1048575 bytes)"),
            (8 << 30, "8 GiB (8589934592 bytes)"),
            (1 << 64, "16 EiB (18446744073709551616 bytes)"),
        ]:
            self.assertEqual(_words.size(nbytes), said)
        self.assertEqual(_words.count(1, "block"), "1 block")
        self.assertEqual(_words.count(0, "block"), "0 blocks")


if __name__ == "__main__":
    unittest.main()
