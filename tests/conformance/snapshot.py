"""Python values as text that two runs can compare: contents, types, and which objects are the same object.

Mutable objects and tensors are numbered when first met; met again, only the number stands there. So a list that was
copied instead of kept, or two names that no longer share one tensor, change the text.
"""

from __future__ import annotations

import enum
import hashlib
import logging
import operator
import re
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy
import torch

Lines = Iterator[str]
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
INDENT = "  "


def without_addresses(text: str) -> str:
    return ADDRESS.sub("0x", text)


def type_name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class Snapshot:
    """Numbers objects over a whole run; each `text()` shows every object in full once, then by its number."""

    def __init__(self, module: types.ModuleType | None = None) -> None:
        self.module = module
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []
        self._storages: dict[int, int] = {}
        self._shown: set[int] = set()

    def text(self, *blocks: dict[str, Any]) -> list[str]:
        """One text per block of named values; a later block does not show again what an earlier one showed."""
        self._shown.clear()
        return ["\n".join(line for pair in block.items() for line in self._labelled(*pair)) for block in blocks]

    # --- the walk -----------------------------------------------------------------------------------
    def _labelled(self, label: str, value: Any) -> Lines:
        lines = self._lines(value)
        yield f"{label}: {next(lines)}"
        yield from lines

    def _lines(self, value: Any) -> Lines:
        for kind in type(value).__mro__:
            show = SHOWERS.get(kind)
            if show is not None:
                return show(self, value)
        return show_object(self, value)

    def number(self, value: Any) -> int:
        key = id(value)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._alive.append(value)
        return self._numbers[key]

    def storage(self, address: int, owner: Any) -> int:
        """The number of the memory at `address`, which `owner` keeps from being used again."""
        if address not in self._storages:
            self._storages[address] = len(self._storages) + 1
            self._alive.append(owner)
        return self._storages[address]

    def once(self, value: Any, title: str, body: Callable[[], Iterable[str]]) -> Lines:
        """`title#number`, with the body the first time only."""
        number = self.number(value)
        if number in self._shown:
            yield f"{title}#{number} again"
            return
        self._shown.add(number)
        yield f"{title}#{number}"
        yield from body()

    def parts(self, pairs: Iterable[tuple[str, Any]]) -> Lines:
        for label, value in pairs:
            for line in self._labelled(label, value):
                yield INDENT + line


Shower = Callable[[Snapshot, Any], Lines]
SHOWERS: dict[type, Shower] = {}


def shows(*kinds: type) -> Callable[[Shower], Shower]:
    def register(show: Shower) -> Shower:
        for kind in kinds:
            SHOWERS[kind] = show
        return show

    return register


def attributes(value: Any) -> list[tuple[str, Any]]:
    """What an instance holds, in its `__dict__` and in slots, save torch's own notes on it."""
    found = list(getattr(value, "__dict__", {}).items())
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found.append((name, getattr(value, name)))
    if isinstance(value, BaseException):
        found = [(n, v) for n, v in found if not type(v).__module__.startswith(("torch._", "traceback"))]
    if isinstance(value, torch.nn.Module):
        found = [(n, v) for n, v in found if not (n.startswith("_") and isinstance(v, dict | set) and not v)]
    return [(f".{name}", held) for name, held in found if not str(name).startswith("_dynamo_")]


def show_object(snapshot: Snapshot, value: Any) -> Lines:
    held = attributes(value)
    if held or hasattr(value, "__dict__") or isinstance(value, torch.nn.Module):
        return snapshot.once(value, type_name(type(value)), lambda: snapshot.parts(held))
    if hasattr(value, "__next__") and hasattr(value, "__length_hint__"):
        return iter([f"{type_name(type(value))} with {operator.length_hint(value)} left"])
    if isinstance(value, types.GeneratorType):
        state = "finished" if value.gi_frame is None else "suspended"
        return snapshot.once(value, f"generator {value.__qualname__} {state}", lambda: ())
    if getattr(type(value), "__repr__", None) is object.__repr__ or type(value).__module__ == "builtins":
        return iter([without_addresses(repr(value))])
    return iter([f"{type_name(type(value))} {without_addresses(repr(value))}"])


@shows(int, str, bytes, bool, type(None), type(...), type(NotImplemented))
def show_literal(snapshot: Snapshot, value: Any) -> Lines:
    if isinstance(value, enum.Enum):
        yield f"{type_name(type(value))}.{value.name}"
        return
    exact = type(value) in (int, str, bytes, bool, type(None), type(...), type(NotImplemented))
    plain = value if exact else next(base for base in (int, str, bytes) if isinstance(value, base))(value)
    yield f"{plain!r}" if exact else f"{type_name(type(value))} {plain!r}"
    if not exact:
        yield from snapshot.parts(attributes(value))


@shows(enum.Enum)
def show_enum(snapshot: Snapshot, value: Any) -> Lines:
    yield f"{type_name(type(value))}.{value.name}"


@shows(float)
def show_float(snapshot: Snapshot, value: float) -> Lines:
    yield f"{type_name(type(value))} {float(value)!r}"


@shows(complex)
def show_complex(snapshot: Snapshot, value: complex) -> Lines:
    yield f"{type_name(type(value))} {value.real!r} {value.imag!r}"


@shows(tuple)
def show_tuple(snapshot: Snapshot, value: tuple[Any, ...]) -> Lines:
    names = getattr(type(value), "_fields", None)
    labels = [f".{name}" for name in names] if names else [f"[{i}]" for i in range(len(value))]
    yield f"{type_name(type(value))} of {len(value)}"
    yield from snapshot.parts(zip(labels, value, strict=True))
    if type(value) is not tuple:
        yield from snapshot.parts(attributes(value))


@shows(list, deque)
def show_sequence(snapshot: Snapshot, value: Any) -> Lines:
    limit = f" maxlen={value.maxlen}" if isinstance(value, deque) else ""

    def body() -> Lines:
        yield from snapshot.parts((f"[{i}]", each) for i, each in enumerate(value))
        if type(value) not in (list, deque):
            yield from snapshot.parts(attributes(value))

    return snapshot.once(value, f"{type_name(type(value))} of {len(value)}{limit}", body)


@shows(set, frozenset)
def show_set(snapshot: Snapshot, value: Any) -> Lines:
    def body() -> Lines:
        ordered = sorted(value, key=lambda each: (type_name(type(each)), without_addresses(repr(each))))
        yield from snapshot.parts(("-", each) for each in ordered)

    if isinstance(value, frozenset):
        yield f"{type_name(type(value))} of {len(value)}"
        yield from body()
    else:
        yield from snapshot.once(value, f"{type_name(type(value))} of {len(value)}", body)


@shows(dict)
def show_dict(snapshot: Snapshot, value: dict[Any, Any]) -> Lines:
    def body() -> Lines:
        for key, held in dict.items(value) if not isinstance(value, OrderedDict) else value.items():
            if isinstance(key, str | int | float | None):
                yield from snapshot.parts([(f"[{key!r}]", held)])
            else:
                yield from snapshot.parts([("key", key), ("value", held)])
        if type(value) is not dict:
            yield from snapshot.parts(attributes(value))
        if hasattr(value, "default_factory"):
            yield from snapshot.parts([("default_factory", value.default_factory)])

    return snapshot.once(value, f"{type_name(type(value))} of {len(value)}", body)


@shows(types.MappingProxyType)
def show_proxy(snapshot: Snapshot, value: Any) -> Lines:
    yield "mappingproxy"
    yield from snapshot.parts([("of", dict(value))])


@shows(type({}.keys()), type({}.values()), type({}.items()))
def show_view(snapshot: Snapshot, value: Any) -> Lines:
    yield type_name(type(value))
    yield from snapshot.parts(("-", each) for each in value)


@shows(slice)
def show_slice(snapshot: Snapshot, value: slice) -> Lines:
    yield "slice"
    yield from snapshot.parts([(".start", value.start), (".stop", value.stop), (".step", value.step)])


@shows(types.FunctionType)
def show_function(snapshot: Snapshot, value: types.FunctionType) -> Lines:
    at_top = value.__name__ == value.__qualname__ and not value.__closure__
    if at_top and getattr(snapshot.module, value.__name__, None) is value or value.__module__.startswith("torch."):
        return iter([f"function {value.__module__}.{value.__qualname__}"])

    def body() -> Lines:
        yield from snapshot.parts(
            [
                (".__name__", value.__name__),
                (".__module__", value.__module__),
                (".__doc__", value.__doc__),
                (".__defaults__", value.__defaults__),
                (".__kwdefaults__", value.__kwdefaults__),
                (".__annotations__", value.__annotations__),
            ]
        )
        yield from snapshot.parts(attributes(value))
        yield from snapshot.parts(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))

    return snapshot.once(value, f"function {value.__qualname__}", body)


@shows(types.CellType)
def show_cell(snapshot: Snapshot, value: types.CellType) -> Lines:
    def body() -> Lines:
        try:
            held = value.cell_contents
        except ValueError:
            yield INDENT + "empty"
            return
        yield from snapshot.parts([("holds", held)])

    return snapshot.once(value, "cell", body)


@shows(types.MethodType)
def show_method(snapshot: Snapshot, value: types.MethodType) -> Lines:
    yield "bound method"
    yield from snapshot.parts([("of", value.__self__), ("function", value.__func__)])


@shows(types.BuiltinFunctionType)
def show_builtin(snapshot: Snapshot, value: Any) -> Lines:
    yield f"builtin {value.__qualname__}"
    if value.__self__ is not None and not isinstance(value.__self__, types.ModuleType | type):
        yield from snapshot.parts([("of", value.__self__)])


@shows(logging.Logger)
def show_logger(snapshot: Snapshot, value: logging.Logger) -> Lines:
    yield f"logger {value.name}"


@shows(types.ModuleType)
def show_module(snapshot: Snapshot, value: types.ModuleType) -> Lines:
    yield f"module {value.__name__}"


@shows(type)
def show_class(snapshot: Snapshot, value: type) -> Lines:
    if value.__module__ != getattr(snapshot.module, "__name__", None):
        return iter([f"class {type_name(value)}"])

    def body() -> Lines:
        yield from snapshot.parts([(".__mro__", tuple(type_name(base) for base in value.__mro__))])
        yield from snapshot.parts(class_data(value))

    return snapshot.once(value, f"class {type_name(value)}", body)


def class_data(value: type) -> list[tuple[str, Any]]:
    """A class's own attributes that are data, not behaviour."""
    behaviour = (types.FunctionType, classmethod, staticmethod, property, type, types.MemberDescriptorType)
    return [
        (f".{name}", held)
        for name, held in list(value.__dict__.items())
        if not name.startswith("_") and not isinstance(held, behaviour) and not hasattr(type(held), "__get__")
    ]


@shows(BaseException)
def show_exception(snapshot: Snapshot, value: BaseException) -> Lines:
    def body() -> Lines:
        yield from snapshot.parts([(".args", value.args)])
        yield from snapshot.parts(attributes(value))
        yield from snapshot.parts([(".__cause__", value.__cause__), (".__context__", value.__context__)])
        yield f"{INDENT}.__suppress_context__: {value.__suppress_context__}"

    return snapshot.once(value, f"{type_name(type(value))}: {without_addresses(str(value))}", body)


@shows(numpy.ndarray)
def show_array(snapshot: Snapshot, value: numpy.ndarray[Any, Any]) -> Lines:
    root = value
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    shared = root.base.untyped_storage().data_ptr() if isinstance(root.base, torch.Tensor) else root.ctypes.data
    storage = snapshot.storage(shared, root)
    title = f"{type_name(type(value))} {value.dtype}{list(value.shape)} storage={storage} {bits(value)}"
    return snapshot.once(value, title, lambda: ())


@shows(numpy.generic)
def show_scalar(snapshot: Snapshot, value: Any) -> Lines:
    yield f"{type_name(type(value))} {value!r}"


@shows(torch.Tensor)
def show_tensor(snapshot: Snapshot, value: torch.Tensor) -> Lines:
    title = f"{type_name(type(value))} {str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    with torch.no_grad():
        if type(value).__name__ in ("FakeTensor", "FunctionalTensor"):
            title += " which should not have left the compiler"
        elif value.layout is torch.strided and value.device.type == "cpu":
            memory = value.untyped_storage()
            storage = snapshot.storage(memory.data_ptr(), memory)
            title += f" strides={list(value.stride())} storage={storage}+{value.storage_offset()}"
            title += f" {bits(value.detach().resolve_conj().resolve_neg().contiguous())}"
        else:
            title += f" {value.layout} {value.device}"
    if value.requires_grad:
        title += f" grad_fn={value.grad_fn.name() if value.grad_fn is not None else 'leaf'}"

    def body() -> Lines:
        if value.is_leaf and value.grad is not None:
            yield from snapshot.parts([(".grad", value.grad)])
        yield from snapshot.parts(attributes(value))

    return snapshot.once(value, title, body)


def bits(value: Any) -> str:
    """The first values to read, and a digest of all bits to compare."""
    flat = value.reshape(-1)
    raw = flat.view(torch.uint8).numpy().tobytes() if isinstance(value, torch.Tensor) else flat.tobytes()
    listed = ", ".join(str(each) for each in flat[:8].tolist())
    more = ", ..." if len(flat) > 8 else ""
    return f"[{listed}{more}] {hashlib.sha1(raw).hexdigest()[:8]}"
