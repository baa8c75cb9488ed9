"""Copy values as data, so that they can be built again later, as often as wanted.

No code of the program runs: containers, tensors and plain objects are read and built part by part, and what is
neither is shared. An object that occurs in several calls is one object again when they are repeated, with the state
that it had at each.
"""

from __future__ import annotations

import io
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

import torch

from tracer_core.fixes.forms import FORMS, HEAP_TYPE, LATE, SHARED, form_of, must_not_be_shared

_LISTS = (list, tuple, set, frozenset, deque)
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_TENSORS = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
_MOST_PARTS = 100_000


class TooLarge(Exception):
    """A value has more parts than are copied."""


@dataclass(eq=False, slots=True)
class Copied:
    """A copied value. `form` is one of `same`, `items`, `pairs`, `object`, `method`, `tensor`, `generator`, or one of
    `FORMS`; `number` tells objects apart across calls (-1: only inside one). `parts` has the copies of its parts,
    `about` the rest."""

    form: str
    cls: type
    number: int = -1
    parts: list[Any] = field(default_factory=list)
    about: Any = None


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """A tensor's memory (`data` is None if it was too large to be kept) and its place in it. `memory` tells pieces of
    memory apart."""

    data: Any
    memory: int
    bytes: int
    dtype: torch.dtype
    device: torch.device
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    requires_grad: bool
    leaf: bool
    marks: tuple[tuple[str, Any], ...]


class Copier:
    """Copies values. `limit` is the number of bytes of tensors that are kept in all; of those beyond, only the
    metadata is."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._kept: dict[int, tuple[weakref.ref[torch.Tensor], int, Any]] = {}
        self._plain: set[type] = set()  # classes whose objects have no form of their own, whatever they hold
        self.classes: set[type] = set()  # those of copied values, and those that are values
        self.made_again = 0  # tensors of which only the metadata was kept
        self.shared: set[str] = set()  # classes of objects that could not be copied
        self.must_not_be_shared: set[str] = set()  # those of them whose use changes them

    def copy(self, *values: Any) -> list[Copied]:
        """Copy values, which may share parts. Raises TooLarge."""
        with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
            return _Pass(self).copies(values)

    def form_of(self, value: Any) -> str | None:
        cls = type(value)
        if cls in self._plain or (is_constant(value) and cls is not types.FunctionType):
            return None
        form = form_of(value)
        if form is None and is_object(value) and not isinstance(value, io.IOBase):
            self._plain.add(cls)
        return form

    def number(self, value: Any) -> int:
        known = self._numbers.get(id(value))
        if known is None or known[0]() is not value:
            try:
                known = weakref.ref(value), len(self._numbers) + 1_000_000 * (known is not None)
            except TypeError:
                return -1
            self._numbers[id(value)] = known
        return known[1]

    def memory(self, tensor: torch.Tensor) -> Any:
        """Return a copy of a tensor's memory; the one from before, if nothing was written meanwhile."""
        version = -1 if tensor.is_inference() else tensor._version
        known = self._kept.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == version != -1:
            return known[2]
        storage = tensor.untyped_storage()
        if storage.nbytes() > self._left:
            self.made_again += 1
            return None
        self._left -= storage.nbytes()
        data = storage.clone()  # type: ignore[no-untyped-call]
        self._kept[id(tensor)] = weakref.ref(tensor), version, data
        return data


class _Pass:
    """Copies values that belong together: what occurs twice is copied once."""

    def __init__(self, copier: Copier) -> None:
        self._copier = copier
        self._done: dict[int, Copied] = {}
        self._alive: list[Any] = []
        self._memory: dict[int, Any] = {}

    def copies(self, values: Any) -> list[Copied]:
        return [self.copied(value) for value in values]

    def copied(self, value: Any) -> Copied:
        found = self._done.get(id(value))
        if found is None:
            if len(self._done) > _MOST_PARTS:
                raise TooLarge
            found = self._done[id(value)] = Copied("same", type(value), about=value)
            self._alive.append(value)
            self._fill(found, value)
        return found

    def _fill(self, found: Copied, value: Any) -> None:
        cls = type(value)
        if cls in _ATOMS:
            if cls is type:
                self._copier.classes.add(value)
            return
        self._copier.classes.add(value if isinstance(value, type) else cls)
        if cls in _LISTS:
            items = list(value)
            found.form, found.about = "items", value.maxlen if cls is deque else None
            found.parts = self.copies(items)
        elif cls in _DICTS:
            found.form, found.about = "pairs", value.default_factory if cls is defaultdict else None
            found.parts = [(self.copied(key), self.copied(part)) for key, part in value.items()]
        elif cls in _TENSORS and _is_plain(value):
            found.form, found.number = "tensor", self._copier.number(value)
            found.about = self._facts(value)
            if value.is_leaf and value.grad is not None and type(value.grad) is torch.Tensor:
                found.parts = [self.copied(value.grad)]
        elif cls is types.MethodType:
            found.form, found.about = "method", value.__func__
            found.parts = [self.copied(value.__self__)]
        elif cls is torch.Generator:
            found.form, found.number, found.about = "generator", self._copier.number(value), value.get_state()
        elif isinstance(value, SHARED):
            pass
        elif (form := self._copier.form_of(value)) is not None:
            self._take(found, value, form)
        elif is_object(value):
            found.form, found.number, found.about = "object", self._copier.number(value), None
            held = object.__getattribute__(value, "__dict__")
            found.parts = [(name, self.copied(part)) for name, part in list(held.items())]
        elif not is_constant(value):
            self._share(value)

    def _take(self, found: Copied, value: Any, form: str) -> None:
        try:
            parts, about = FORMS[form].take(value)
        except TypeError:
            self._share(value)
            return
        found.form, found.number, found.about = form, self._copier.number(value), about
        found.parts = self.copies(parts)

    def _share(self, value: Any) -> None:
        cls = type(value)
        shared = self._copier.must_not_be_shared if must_not_be_shared(value) else self._copier.shared
        shared.add(f"{cls.__module__}.{cls.__qualname__}")

    def _facts(self, tensor: torch.Tensor) -> TensorFacts:
        storage = tensor.untyped_storage()
        memory = storage._cdata
        if memory not in self._memory:
            self._memory[memory] = self._copier.memory(tensor)
            self._alive.append(storage)
        return TensorFacts(
            data=self._memory[memory],
            memory=memory,
            bytes=storage.nbytes(),
            dtype=tensor.dtype,
            device=tensor.device,
            size=tuple(tensor.size()),
            stride=tensor.stride(),
            offset=int(tensor.storage_offset()),
            requires_grad=tensor.requires_grad,
            leaf=tensor.is_leaf,
            marks=tuple((name, mark) for name, mark in vars(tensor).items() if name.startswith("_dynamo_")),
        )


def _is_plain(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is memory with sizes and strides, and nothing else."""
    return (
        tensor.layout == torch.strided
        and not tensor.is_nested
        and not tensor.is_quantized
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def is_object(value: Any) -> bool:
    """Return whether all state of an object is in its `__dict__`."""
    cls = type(value)
    if not cls.__flags__ & HEAP_TYPE or issubclass(cls, type | BaseException | types.ModuleType):
        return False
    plain = cls.__basicsize__ == _Empty.__basicsize__ and cls.__itemsize__ == 0 and cls.__dictoffset__ != 0
    return plain and not any(name in vars(base) for base in cls.__mro__[:-1] for name in ("__del__",))


class _Empty:
    pass


_CONSTANTS = (
    *(type(None), bool, int, float, complex, str, bytes, type, range, slice, type(...)),
    *(types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.CodeType),
    *(torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format),
)


_ATOMS = frozenset(_CONSTANTS) - {types.FunctionType}
"""The most frequent classes of what has no parts and no state."""


def is_constant(value: Any) -> bool:
    return isinstance(value, _CONSTANTS)


class World:
    """Builds copied values again. Objects with the same number are one object, in whatever call they occur."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._built: dict[int, Any] = {}
        self._memory: dict[int, Any] = {}
        self._unfilled: list[tuple[Any, Copied]] = []

    def build(self, copies: list[Copied]) -> list[Any]:
        """Build the values of one call."""
        self._built, self._memory = {}, {}
        values = [self._value(copied) for copied in copies]
        while self._unfilled:
            value, copied = self._unfilled.pop()
            FORMS[copied.form].fill(value, [self._value(part) for part in copied.parts])
        return values

    def _value(self, copied: Copied) -> Any:
        if id(copied) not in self._built:
            value = self._formed(copied) if copied.form in FORMS else getattr(self, f"_{copied.form}")(copied)
            self._built[id(copied)] = value
        return self._built[id(copied)]

    def _same(self, copied: Copied) -> Any:
        return copied.about

    def _items(self, copied: Copied) -> Any:
        if copied.cls in (tuple, frozenset):
            return copied.cls(map(self._value, copied.parts))
        empty: Any = deque(maxlen=copied.about) if copied.cls is deque else copied.cls()
        self._built[id(copied)] = empty
        add = empty.add if copied.cls is set else empty.append
        for part in copied.parts:
            add(self._value(part))
        return empty

    def _pairs(self, copied: Copied) -> Any:
        empty = defaultdict(copied.about) if copied.cls is defaultdict else copied.cls()
        self._built[id(copied)] = empty
        for key, value in copied.parts:
            empty[self._value(key)] = self._value(value)
        return empty

    def _object(self, copied: Copied) -> Any:
        found = self._objects.get(copied.number)
        if found is None or copied.number < 0:
            found = self._objects[copied.number] = object.__new__(copied.cls)
        self._built[id(copied)] = found
        held = object.__getattribute__(found, "__dict__")
        values = {name: self._value(part) for name, part in copied.parts}
        held.clear()
        held.update(values)
        return found

    def _formed(self, copied: Copied) -> Any:
        """Build what has a form of its own. Functions and cells are filled when all values exist."""
        known = self._objects.get(copied.number) if copied.number >= 0 and copied.form == "function" else None
        if known is not None:
            # It has the same cells as in the calls before, with the state of this call.
            cells = [part for part in copied.parts if part.form == "cell"]
            self._built |= {id(part): cell for part, cell in zip(cells, known.__closure__ or (), strict=True)}
            self._unfilled += [(self._built[id(part)], part) for part in cells]
            created = known
        else:
            early = copied.parts
            if copied.form in LATE:
                early = [part for part in early if part.form == "cell" and copied.form == "function"]
            created = FORMS[copied.form].create(copied.about, [self._value(part) for part in early])
            if copied.number >= 0:
                self._objects[copied.number] = created
        self._unfilled.append((created, copied))
        return created

    def _method(self, copied: Copied) -> Any:
        return types.MethodType(copied.about, self._value(copied.parts[0]))

    def _generator(self, copied: Copied) -> Any:
        found: torch.Generator = self._objects.setdefault(copied.number, torch.Generator())
        found.set_state(copied.about)
        return found

    def _tensor(self, copied: Copied) -> torch.Tensor:
        facts: TensorFacts = copied.about
        fresh = self.fresh(facts)
        known = self._objects.get(copied.number) if copied.number >= 0 and facts.leaf else None
        grad = self._value(copied.parts[0]) if copied.parts else None
        if known is not None and known.dtype == facts.dtype and known.is_leaf:
            found = known
            with torch.no_grad():
                found.data = fresh
        elif copied.cls is torch.nn.Parameter:
            found = torch.nn.Parameter(fresh, requires_grad=False)
        elif copied.cls is torch.nn.Buffer:
            found = torch.nn.Buffer(fresh)
        else:
            found = fresh
        found.requires_grad_(facts.requires_grad)
        if not facts.leaf:
            found = found.view_as(found)
        found.grad = grad if facts.leaf else None
        for name, mark in facts.marks:
            setattr(found, name, mark)
        self._objects[copied.number] = found
        return found  # type: ignore[no-any-return]

    def fresh(self, facts: TensorFacts) -> torch.Tensor:
        storage = self._memory.get(facts.memory)
        if storage is None:
            storage = facts.data.clone() if facts.data is not None else _made_up(facts)
            self._memory[facts.memory] = storage
        fresh = torch.empty(0, dtype=facts.dtype, device=facts.device)
        fresh.set_(storage, facts.offset, facts.size, facts.stride)
        return fresh


def _made_up(facts: TensorFacts) -> Any:
    """Return memory with values like those of small random numbers; zeros, for integers."""
    count = facts.bytes // facts.dtype.itemsize
    made = torch.zeros(count, dtype=facts.dtype, device=facts.device)
    if facts.dtype.is_floating_point:
        generator = torch.Generator(facts.device).manual_seed(count)
        made.normal_(generator=generator)
    return made.untyped_storage()
