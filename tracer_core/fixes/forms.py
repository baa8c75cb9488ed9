"""How values are copied that have state of their own besides containers, tensors and plain objects.

Each form says which values it fits, which parts of a value are copied in turn, and how a value is built of copied
parts. `create` may get parts that are not filled yet; `fill` comes when all values exist, so cycles are no problem.
"""

from __future__ import annotations

import contextlib
import contextvars
import enum
import functools
import io
import logging
import random
import struct
import types
import weakref
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any

import numpy as np
import torch

from tracer_core.names.owners import Owner, owner_of


def _nothing(value: Any, parts: list[Any]) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Form:
    """A way to copy values: `take` returns the parts to copy, and the rest."""

    fits: Callable[[Any], bool]
    take: Callable[[Any], tuple[list[Any], Any]]
    create: Callable[[Any, list[Any]], Any]
    fill: Callable[[Any, list[Any]], None] = _nothing


# --- functions ------------------------------------------------------------------------------------------------


def is_function_with_state(value: Any) -> bool:
    """Return whether a function of the program keeps something between its calls."""
    if type(value) is not FunctionType:
        return False
    inner = value
    while type(further := getattr(inner, "__wrapped__", None)) is FunctionType:
        inner = further
    held = value.__closure__ or value.__defaults__ or value.__kwdefaults__ or vars(value)
    return bool(held) and (owner_of(inner.__code__.co_filename) == Owner.USER or _is_bound(value))


def _is_bound(value: FunctionType) -> bool:
    """Return whether a library made a function for one object, as learning rate schedulers do for an optimizer."""
    found = []
    for cell in value.__closure__ or ():
        with contextlib.suppress(ValueError):  # it is empty
            found.append(cell.cell_contents)
    return any(isinstance(one, _BINDING) for one in found)


_BINDING = (weakref.ref, types.MethodType, torch.Tensor, torch.nn.Module, torch.optim.Optimizer)


def _take_function(value: FunctionType) -> tuple[list[Any], Any]:
    return [*(value.__closure__ or ()), value.__defaults__, value.__kwdefaults__, vars(value)], value


def _create_function(value: FunctionType, parts: list[Any]) -> FunctionType:
    cells = tuple(part for part in parts if type(part) is CellType)
    created = FunctionType(value.__code__, value.__globals__, value.__name__, None, cells or None)
    created.__qualname__ = value.__qualname__
    return created


def _fill_function(created: FunctionType, parts: list[Any]) -> None:
    created.__defaults__, created.__kwdefaults__, held = parts[-3:]
    created.__dict__.update(held)


def _take_cell(cell: CellType) -> tuple[list[Any], Any]:
    try:
        return [cell.cell_contents], None
    except ValueError:
        return [], None


def _fill_cell(cell: CellType, parts: list[Any]) -> None:
    for part in parts:
        cell.cell_contents = part


# --- state of generators, arrays, iterators and files ------------------------------------------------------------


def _numpy_generator(state: Any, parts: list[Any]) -> Any:
    bits, values = state
    generator = np.random.Generator(bits())
    generator.bit_generator.state = values
    return generator


def _python_generator(state: Any, parts: list[Any]) -> random.Random:
    generator = random.Random()
    generator.setstate(state)
    return generator


def _old_numpy_generator(state: Any, parts: list[Any]) -> Any:
    generator = np.random.RandomState()
    generator.set_state(state)
    return generator


def _is_iterator(value: Any) -> bool:
    return type(value).__module__ in ("builtins", "itertools") and hasattr(type(value), "__next__")


def _take_iterator(value: Any) -> tuple[list[Any], Any]:
    """Raises TypeError if the iterator does not tell its state, as generators."""
    function, arguments, *state = value.__reduce__()
    return list(arguments), (function, state[0] if state else None)


def _create_iterator(about: Any, parts: list[Any]) -> Any:
    function, state = about
    created = function(*parts)
    if state is not None:
        created.__setstate__(state)
    return created


def _is_output(value: Any) -> bool:
    """Return whether a file is only written to. What repeated calls write is dropped."""
    try:
        return isinstance(value, io.IOBase) and value.writable() and not value.readable()
    except ValueError:  # it is closed
        return True


def _create_output(is_text: bool, parts: list[Any]) -> Any:
    return io.TextIOWrapper(io.BytesIO(), "utf-8") if is_text else io.BufferedWriter(io.BytesIO())


def _create_memory_file(about: Any, parts: list[Any]) -> Any:
    cls, held, at = about
    created = cls(held)
    created.seek(at)
    return created


# --- objects of the program's own classes ---------------------------------------------------------------------------

HEAP_TYPE = 1 << 9
_CONTAINERS = (OrderedDict, defaultdict, dict, list, tuple, set, frozenset, deque)


def _base(cls: type) -> Any:
    """Return the container that a class of a program, or of a library in Python, inherits from."""
    if not cls.__flags__ & HEAP_TYPE:
        return None
    return next((base for base in cls.__mro__[1:] if base in _CONTAINERS), None)


def _attributes(value: Any) -> Any:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def _fill_attributes(created: Any, held: Any) -> None:
    if held is not None:
        object.__getattribute__(created, "__dict__").update(held)


def _take_container(value: Any) -> tuple[list[Any], Any]:
    cls = type(value)
    base = _base(cls)
    items = list(base.items(value) if issubclass(base, dict) else base.__iter__(value))
    about = value.default_factory if base is defaultdict else value.maxlen if base is deque else None
    return [items, _attributes(value)], (cls, base, about)


def _create_frozen(how: Any, parts: list[Any]) -> Any:
    cls, base, _ = how
    if hasattr(cls, "n_sequence_fields"):  # torch.return_types
        return cls(parts[0])
    return base.__new__(cls, parts[0])


def _create_container(how: Any, parts: list[Any]) -> Any:
    cls, base, about = how
    created = base.__new__(cls)
    arguments = (about,) if base is defaultdict else ((), about) if base is deque else ()
    base.__init__(created, *arguments)
    return created


def _fill_container(created: Any, parts: list[Any]) -> None:
    items, held = parts
    base = _base(type(created))
    if issubclass(base, dict):
        for key, item in items:
            base.__setitem__(created, key, item)
    else:
        (base.update if base is set else base.extend)(created, items)
    _fill_attributes(created, held)


_WORD = struct.calcsize("P")


def _slots(cls: type) -> dict[str, Any]:
    return {
        name: slot
        for base in reversed(cls.__mro__)
        for name, slot in vars(base).items()
        if type(slot) is types.MemberDescriptorType
    }


def _is_slotted(value: Any) -> bool:
    cls = type(value)
    slots = [slot for base in cls.__mro__ for slot in vars(base).values() if type(slot) is types.MemberDescriptorType]
    # Classes written in C may have members, too, and more in the object than those.
    words = len(slots) + (cls.__weakrefoffset__ > 0) + (cls.__dictoffset__ > 0)
    python = all(base is object or base.__flags__ & HEAP_TYPE for base in cls.__mro__)
    python = python and cls.__basicsize__ == object.__basicsize__ + words * _WORD
    return python and not isinstance(value, type) and not hasattr(cls, "__del__") and bool(slots)


def _take_slotted(value: Any) -> tuple[list[Any], Any]:
    held = {}
    for name, slot in _slots(type(value)).items():
        with contextlib.suppress(AttributeError):
            held[name] = slot.__get__(value)
    return [held, _attributes(value)], type(value)


def _fill_slotted(created: Any, parts: list[Any]) -> None:
    slots = _slots(type(created))
    for name, part in parts[0].items():
        slots[name].__set__(created, part)
    _fill_attributes(created, parts[1])


FORMS: dict[str, Form] = {
    "function": Form(is_function_with_state, _take_function, _create_function, _fill_function),
    "cell": Form(lambda value: type(value) is CellType, _take_cell, lambda about, parts: CellType(), _fill_cell),
    "partial": Form(
        lambda value: type(value) is functools.partial,
        lambda value: ([value.func, value.args, value.keywords], None),
        lambda about, parts: functools.partial(parts[0], *parts[1], **parts[2]),
    ),
    "array": Form(
        lambda value: type(value) is np.ndarray and not value.dtype.hasobject,
        lambda value: ([], value.copy(order="K")),
        lambda about, parts: about.copy(order="K"),
    ),
    "bytes": Form(
        lambda value: type(value) in (bytearray, array),
        lambda value: ([], value[:]),
        lambda about, parts: about[:],
    ),
    "weak reference": Form(
        lambda value: type(value) is weakref.ref and value() is not None,
        lambda value: ([value()], None),
        lambda about, parts: weakref.ref(parts[0]),
    ),
    "tensor as a whole": Form(
        lambda value: type(value) is torch.Tensor and not torch._C._functorch.is_functorch_wrapped_tensor(value),
        lambda value: ([], value.detach().clone().requires_grad_(value.requires_grad)),
        lambda about, parts: about.detach().clone().requires_grad_(about.requires_grad),
    ),
    "Python's generator": Form(
        lambda value: type(value) is random.Random, lambda value: ([], value.getstate()), _python_generator
    ),
    "NumPy's generator": Form(
        lambda value: type(value) is np.random.Generator,
        lambda value: ([], (type(value.bit_generator), value.bit_generator.state)),
        _numpy_generator,
    ),
    "NumPy's old generator": Form(
        lambda value: type(value) is np.random.RandomState,
        lambda value: ([], value.get_state()),
        _old_numpy_generator,
    ),
    "iterator": Form(_is_iterator, _take_iterator, _create_iterator),
    "file in memory": Form(
        lambda value: type(value) in (io.StringIO, io.BytesIO) and not value.closed,
        lambda value: ([], (type(value), value.getvalue(), value.tell())),
        _create_memory_file,
    ),
    "frozen container": Form(
        lambda value: _base(type(value)) in (tuple, frozenset),
        _take_container,
        _create_frozen,
        lambda created, parts: _fill_attributes(created, parts[1]),
    ),
    "container": Form(
        lambda value: _base(type(value)) is not None, _take_container, _create_container, _fill_container
    ),
    "slotted": Form(_is_slotted, _take_slotted, lambda cls, parts: object.__new__(cls), _fill_slotted),
    "namespace": Form(
        lambda value: type(value) is types.SimpleNamespace,
        lambda value: ([vars(value)], None),
        lambda about, parts: types.SimpleNamespace(),
        lambda created, parts: vars(created).update(parts[0]),
    ),
    "output": Form(_is_output, lambda value: ([], isinstance(value, io.TextIOBase)), _create_output),
}
"""The forms by name; the first that fits is taken."""

LATE = ("function", "cell", "container", "slotted", "namespace")
"""The forms whose parts are needed only when a value is filled. The parts of others exist before them."""

SHARED = (logging.Logger, contextvars.ContextVar, types.GenericAlias, enum.Enum)
"""Classes whose objects repeated calls share with the program: there is one of each, and calls do not change it, or
`isolation.py` restores what they change."""


def form_of(value: Any) -> str | None:
    """Return the name of the form of a value; None if it has none of these."""
    return next((name for name, form in FORMS.items() if form.fits(value)), None)


def must_not_be_shared(value: Any) -> bool:
    """Return whether repeated calls would change a value that could not be copied, by using it as programs do."""
    cls = type(value)
    return isinstance(value, torch.Tensor) or hasattr(cls, "__next__") or cls.__module__ in _OUTSIDE


_OUTSIDE = ("sqlite3", "mmap", "_socket", "socket")
"""The modules of classes whose objects are used to read and write what is outside of the program."""
