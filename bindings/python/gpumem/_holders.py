# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Who refers to objects: by the variable, the attribute, the element that does.

Asks the garbage collector, which follows no object that cannot be part of a
cycle, and nothing that is C's alone. No attribute is looked up in the way of its
class, so that nothing of the program runs. Everything in here is a reference,
too: `ours` says of which containers nothing is told.
"""

import gc
import sys
from inspect import CO_OPTIMIZED
from itertools import islice
from types import AsyncGeneratorType, CellType, CoroutineType, FrameType
from types import FunctionType, GeneratorType
from types import MemberDescriptorType, MethodType, ModuleType
from typing import Any, Dict, Iterable, Iterator, List, Optional, Set
from typing import Sequence, Tuple

MOST = 8  # that are named of each
LEVELS = 4  # of containers in containers
GENERATORS = (GeneratorType, CoroutineType, AsyncGeneratorType)
WIDEST = 10000  # objects of one level, whose holders are looked for
# A frame to which a variable of its own leads ends with the next collection only,
# and with it all that it has.
HERE = {f"{__package__}.{x}" for x in ("_holders", "_memory", "_release")}


def _is(thing: Any, kinds: Any) -> bool:
    """As isinstance(), which asks the thing itself as well."""
    return issubclass(type(thing), kinds)


def attributes(thing: Any) -> Any:
    """Its dict, or None; asks nothing of its class."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None


def frames() -> List[FrameType]:
    """Of all threads, without those of this module and its users."""
    found: List[FrameType] = []
    # That of this function stays in no variable: it would be kept by itself.
    tops = list(sys._current_frames().values())
    while tops:
        frame: Optional[FrameType] = tops.pop()
        while frame:
            if frame.f_globals.get("__name__") not in HERE:
                found.append(frame)
            frame = frame.f_back
    return found


def variables(frame: FrameType) -> List[Tuple[str, Any]]:
    """Local ones of a function; those of a module are in its dict."""
    if frame.f_locals is frame.f_globals:
        return []
    names = frame.f_locals
    found = list(names.items())
    # Before 3.13 those of a function are a copy that the frame goes on keeping,
    # and with it all that is in it.
    if sys.version_info < (3, 13) and frame.f_code.co_flags & CO_OPTIMIZED:
        names.clear()
    return found


def _where(frame: FrameType) -> str:
    code = frame.f_code
    return f"{code.co_name}() in {code.co_filename}:{frame.f_lineno}"


def _generator(holder: Any) -> str:
    return f"{type(holder).__name__} {holder.__qualname__}()"


def _frame(holder: Any) -> Optional[FrameType]:
    """Of a generator that has not ended."""
    if _is(holder, CoroutineType):
        frame: Optional[FrameType] = holder.cr_frame
    elif _is(holder, AsyncGeneratorType):
        frame = holder.ag_frame
    else:
        frame = holder.gi_frame
    return frame


def _locals() -> Dict[int, List[str]]:
    """id of a value: the local variables that it is of."""
    found: Dict[int, List[str]] = {}
    for frame in frames():
        where = _where(frame)
        for name, value in variables(frame):
            found.setdefault(id(value), []).append(f"{name} of {where}")
    return found


def _of_module(names: Any) -> str:
    """The module whose globals this dict is, or ""."""
    name = names.get("__name__") if _is(names, dict) else None
    module = sys.modules.get(name) if type(name) is str else None
    return str(name) if getattr(module, "__dict__", None) is names else ""


def _slots(thing: Any) -> Dict[str, Any]:
    """The attributes that it has without a dict."""
    found: Dict[str, Any] = {}
    for kind in type(thing).__mro__:
        for name, slot in vars(kind).items():
            if type(slot) is MemberDescriptorType:
                try:
                    found[name] = slot.__get__(thing)
                except (AttributeError, SystemError):
                    continue
    return found


def _keys(names: Any, thing: Any) -> List[Any]:
    return [key for key, value in list(names.items()) if value is thing]


def _places(values: Any, thing: Any) -> List[int]:
    return [i for i, each in enumerate(values) if each is thing]


def _kind(holder: Any) -> str:
    name = type(holder).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


class Holders:
    """Who refers to each of `things`, now. Let it go before they are to end.

    hidden: containers that the collector does not list.
    """

    def __init__(
        self,
        things: Iterable[Any],
        ours: Iterable[Any] = (),
        hidden: Sequence[Any] = (),
    ) -> None:
        self._hidden = hidden
        self._mark = object()
        self._running = {id(frame) for frame in frames()}
        self._locals = _locals()
        self._up: Dict[int, List[Any]] = {}  # id of an object: what refers to it
        self._ours: Set[int] = {id(each) for each in ours}
        self._ours |= {id(ours), id(things), id(hidden)}
        level = list(things)
        for _ in range(LEVELS):
            level = self._look(level)

    def _look(self, level: List[Any]) -> List[Any]:
        """Who refers to these; those of them whose holders are of interest."""
        self._ours.add(id(level))
        wanted = {id(each) for each in level}
        # The call itself makes a tuple of them.
        found = gc.get_referrers(*level, self._mark) if level else []
        for holder in self._hidden:
            if not wanted.isdisjoint(map(id, gc.get_referents(holder))):
                found.append(holder)
        self._ours.add(id(found))
        following: List[Any] = []
        self._ours.add(id(following))
        for holder in found:
            if self._is_ours(holder):
                continue
            inner = {id(x) for x in gc.get_referents(holder)} & wanted
            for each in inner:
                above = self._up.setdefault(each, [])
                self._ours.add(id(above))
                above.append(holder)
            ends = _is(holder, (ModuleType, type)) or _of_module(holder)
            if inner and not ends:
                following.append(holder)
        return following[:WIDEST]

    def _is_ours(self, holder: Any) -> bool:
        """A frame that runs is not ours, but was looked at as such."""
        if _is(holder, FrameType):
            name = holder.f_globals.get("__name__")
            return id(holder) in self._running or name in HERE
        marked = _is(holder, tuple) and holder and holder[-1] is self._mark
        return bool(marked) or id(holder) in self._ours

    def of(self, thing: Any) -> Tuple[str, ...]:
        """Names of what refers to it."""
        return tuple(islice(self._of(thing, set()), MOST))

    def _of(self, thing: Any, inside: Set[int]) -> Iterator[str]:
        said = set()
        for name in self._locals.get(id(thing), ()):
            said.add(name)
            yield name
        for holder in self._up.get(id(thing), ()):
            if id(holder) not in inside:
                where = inside | {id(thing), id(holder)}
                for text in self._in(holder, thing, where):
                    if text not in said:
                        said.add(text)
                        yield text

    def _in(self, holder: Any, thing: Any, inside: Set[int]) -> Iterable[str]:
        if _is(holder, dict):
            return self._in_dict(holder, thing, inside)
        if _is(holder, (list, tuple)):
            function = self._closed(holder, thing)
            if function:
                return [function]
            own = self._named(holder, inside)
            return [f"element {i} of {own}" for i in _places(holder, thing)]
        if _is(holder, CellType):
            return list(self._of(holder, inside)) or ["a cell"]
        if _is(holder, FunctionType):
            return [f"function {holder.__qualname__}()"]
        if _is(holder, MethodType):
            return [f"its method {holder.__func__.__name__}"]
        if _is(holder, GENERATORS):
            return self._in_frame(_frame(holder), thing, _generator(holder))
        if _is(holder, FrameType):
            return self._in_kept_frame(holder, thing, inside)
        return self._in_object(holder, thing, inside)

    def _in_frame(self, frame: Any, thing: Any, own: str) -> List[str]:
        names = dict(variables(frame)) if frame else {}
        return [f"{key} of {own}" for key in _keys(names, thing)] or [own]

    def _in_kept_frame(
        self, frame: FrameType, thing: Any, inside: Set[int]
    ) -> List[str]:
        """Of a generator, before 3.11, or of an exception's traceback."""
        for each in self._up.get(id(frame), ()):
            if _is(each, GENERATORS):
                return self._in_frame(frame, thing, _generator(each))
        above = next(self._of(frame, inside), "")
        own = _where(frame) + (f" ({above})" if above else "")
        return self._in_frame(frame, thing, own)

    def _in_dict(self, names: Any, thing: Any, inside: Set[int]) -> List[str]:
        keys = _keys(names, thing)
        module = _of_module(names)
        owner = None if module else self._owner(names)
        inner = names if owner is None else owner
        own = f"module {module}" if module else self._named(inner, inside)
        return [f"{key!r} of {own}" for key in keys]

    def _in_object(
        self, holder: Any, thing: Any, inside: Set[int]
    ) -> List[str]:
        own = self._named(holder, inside)
        names = attributes(holder)
        keys = _keys(names, thing) if _is(names, dict) else []
        keys += _keys(_slots(holder), thing)
        return [f"{key!r} of {own}" for key in keys] or [own]

    def _owner(self, names: Any) -> Any:
        """Whose attributes these are; None: nobody's."""
        for each in self._up.get(id(names), ()):
            if attributes(each) is names:
                return each
        return None

    def _closed(self, cells: Any, thing: Any) -> str:
        """Of which function this tuple is the closure, or ""."""
        if not _is(thing, CellType):
            return ""
        for each in self._up.get(id(cells), ()):
            if _is(each, FunctionType) and each.__closure__ is cells:
                name = each.__code__.co_freevars[_places(cells, thing)[0]]
                return f"{name} of function {each.__qualname__}()"
        return ""

    def _named(self, holder: Any, inside: Set[int]) -> str:
        """Its type, and the first place where it is itself."""
        above = next(self._of(holder, inside), "")
        return _kind(holder) + (f" ({above})" if above else "")
