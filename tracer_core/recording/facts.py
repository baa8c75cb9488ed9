"""Extract from the engine's live objects the facts to record, by their documented attributes (`observer.py`).

No user code runs here: types are named, never instances asked for their `repr`. Torch is never imported; where the
program has imported it, its objects are recognised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from tracer_core.recording.kinds import is_a, plain_attribute, torch_type, type_name
from tracer_core.recording.schema import FakeMeta

TEXT_LIMIT = 200
ARGS_LIMIT = 400
PARTS_LIMIT = 200


def clean(given: Any, limit: int = TEXT_LIMIT) -> str:
    """Return the given text as one line that is safe to store and show: control characters escaped, at most `limit`
    characters. An object that is not a string is named by its type."""
    text: str = given if type(given) is str else str.__str__(given) if is_a(given, str) else f"<{type_name(given)}>"
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clean_lines(text: str) -> str:
    """Return `text` of several lines, with characters that UTF-8 cannot store replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def plain_name(value: object) -> str:
    """Return `torch.float32` as `float32`."""
    return str(value).removeprefix("torch.")


def _number_text(number: Any, hints: dict[str, str]) -> str:
    """Return the text of a size: a number, or a symbol, whose example value is added to `hints`."""
    if type(number) is int:
        return str(number)
    text = clean(str(number))
    hint = getattr(getattr(number, "node", None), "_hint", None)
    if hint is not None:
        hints[text] = clean(str(hint))
    return text


def fake_meta(fake: Any) -> FakeMeta | None:
    """Return the metadata of a tensor or symbolic number; None for anything else."""
    return FakeMetas().of(fake)


_OF_TORCH_ALONE = ("_subclasses.fake_tensor.FakeTensor", "Tensor", "nn.Parameter")
"""The classes of tensors whose attributes no code of the program computes."""


class FakeMetas:
    """The metadata of tensors and symbolic numbers: equal ones are one object, which is never changed."""

    def __init__(self) -> None:
        # By the sizes and strides where all are numbers, else by their texts.
        self._known: dict[tuple[object, ...], FakeMeta] = {}
        self._latest: tuple[Any, FakeMeta | None] = None, None

    def of(self, fake: Any) -> FakeMeta | None:
        """Return what `read` returns, and keep it for `of_new`."""
        meta = self.read(fake)
        self._latest = fake, meta
        return meta

    def of_new(self, fake: Any) -> FakeMeta | None:
        """Return what `of` returned last, if that was for the same object: for a tensor whose node was just added."""
        latest, meta = self._latest
        return meta if latest is fake and fake is not None else self.of(fake)

    def release(self) -> None:
        """Release the engine's objects."""
        self._latest = None, None

    def read(self, fake: Any) -> FakeMeta | None:
        """Return the metadata of a tensor or symbolic number, as of now; None for anything else."""
        kind = type(fake)
        for name in _OF_TORCH_ALONE:
            if kind is torch_type(name):
                return self._of_tensor(fake)
        if is_a(fake, torch_type("Tensor")):
            with torch_type("_C.DisableTorchFunctionSubclass")():  # type: ignore[misc]  # a subclass runs no code here
                return self._of_tensor(fake)
        if not is_a(fake, *_symbolic()):
            return None
        hints: dict[str, str] = {}
        shape = [_number_text(fake, hints)]
        name = type_name(fake)
        return self._only(FakeMeta(name, name.removeprefix("Sym").lower(), shape, [], "", False, hints))

    def _of_tensor(self, fake: Any) -> FakeMeta:
        shape = tuple(fake.shape)
        try:
            stride = tuple(fake.stride())
        except (RuntimeError, NotImplementedError):  # sparse and nested layouts have none
            stride = ()
        what = (_tensor_type(fake), fake.dtype, fake.device, bool(fake.requires_grad))
        for number in shape + stride:
            if type(number) is not int:
                return self._only(_tensor_meta(*what, shape, stride))
        key = (what, shape, stride)
        meta = self._known.get(key)
        if meta is None:
            meta = self._known[key] = self._only(_tensor_meta(*what, shape, stride))
        return meta

    def _only(self, meta: FakeMeta) -> FakeMeta:
        """Return the object that stands for all metadata with these texts."""
        hints = tuple(meta.hints.items())
        key = (meta.type, meta.dtype, *meta.shape, meta.device, *meta.stride, meta.requires_grad, *hints)
        return self._known.setdefault(key, meta)


def _tensor_meta(
    kind: str, dtype: Any, device: Any, requires_grad: bool, shape: Sequence[Any], stride: Sequence[Any]
) -> FakeMeta:
    hints: dict[str, str] = {}
    return FakeMeta(
        type=kind,
        dtype=plain_name(dtype),
        shape=[_number_text(size, hints) for size in shape],
        stride=[_number_text(step, hints) for step in stride],
        device=str(device),
        requires_grad=requires_grad,
        hints=hints,
    )


def _symbolic() -> tuple[type | None, ...]:
    return torch_type("SymInt"), torch_type("SymFloat"), torch_type("SymBool")


def is_fake_tensor(value: Any) -> bool:
    """Return whether it is a fake tensor of no subclass."""
    return type(value) is torch_type("_subclasses.fake_tensor.FakeTensor")


def _tensor_type(fake: Any) -> str:
    if is_fake_tensor(fake):
        return "Parameter" if fake.__dict__.get("_is_param") is True else "Tensor"
    name = type_name(fake)
    if name == "Tensor":
        return name
    if is_a(fake, torch_type("nn.Parameter")) or plain_attribute(fake, "_is_param") is True:
        return "Parameter"
    return "Tensor" if name == "FakeTensor" else name


def fakes_in(value: Any) -> Iterator[Any]:
    """Return the tensors and symbolic numbers in a node's example value, in order."""
    if is_a(value, dict):
        items: Any = dict.values(value)
    elif is_a(value, list):
        items = list.__iter__(value)
    elif is_a(value, tuple):
        items = tuple.__iter__(value)
    else:
        if is_a(value, torch_type("Tensor"), *_symbolic()):
            yield value
        return
    for item in items:
        yield from fakes_in(item)


def target_text(target: Any) -> str:
    """Return a node's target as people write it: `operator.add`, `torch.nn.functional.linear`, `view`."""
    if is_a(target, str):
        return clean(target)
    if is_a(target, torch_type("_ops.OpOverload")):
        return clean(str(target))
    if type(target) is MethodType:
        target = target.__func__
    # The qualified names of builtins are longer than what people write.
    name = plain_attribute(target, "__qualname__" if is_a(target, FunctionType, type) else "__name__")
    if not is_a(name, str):
        return clean(f"<{type_name(target)}>")
    module = plain_attribute(target, "__module__")
    if not is_a(module, str):
        module = plain_attribute(plain_attribute(target, "__objclass__"), "__module__")
    if not is_a(module, str) or module == "builtins":
        return clean(name)
    return clean(f"{_MODULES.get(module, module)}.{name}")


_MODULES = {
    "_operator": "operator",
    "torch._C._nn": "torch.nn.functional",
    "torch._C": "torch",
    "tracer_core.graph.numpy_calls": "numpy",
}


class TargetTexts:
    """The texts of targets, each of which many nodes have."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}  # with the target, so that no other gets its address

    def of(self, target: Any) -> str:
        known = self._known.get(id(target))
        if known is None:
            known = self._known[id(target)] = target, target_text(target)
        return known[1]

    def release(self) -> None:
        """Release the engine's objects."""
        self._known.clear()


def args_text(node: Any) -> str:
    """Return all arguments of a node in one line, nodes by name."""
    names = {id(one): clean(one.name) for one in node.all_input_nodes}
    return call_text(node.args, node.kwargs, lambda value: names.get(id(value)))


def call_text(args: Iterable[Any], kwargs: Mapping[str, Any], known: Callable[[Any], str | None]) -> str:
    """Return the arguments of a call in one line: by the text that `known` returns for them, plain constants as
    Python writes them, anything else by its type."""
    texts = [_text(value, known) for value in args]
    if kwargs:
        texts += [f"{name}={_text(value, known)}" for name, value in kwargs.items()]
    return clean(", ".join(texts), ARGS_LIMIT)


def _text(value: Any, known: Callable[[Any], str | None]) -> str:
    cls = type(value)
    kind = id(cls)  # a class itself might have a `__hash__` of the program
    if kind in _WRITTEN_BY_REPR:
        return repr(value)
    if cls is not list and cls is not tuple:
        text = known(value)
        if text is not None:
            return text
        if kind in _torch_constants():
            return clean(str(value))
        if cls is slice:
            return f"slice({_text(value.start, known)}, {_text(value.stop, known)}, {_text(value.step, known)})"
    if is_a(value, list):
        return f"[{', '.join([_text(part, known) for part in list.__iter__(value)])}]"
    if is_a(value, tuple):
        inside = ", ".join([_text(part, known) for part in tuple.__iter__(value)])
        return f"({inside},)" if tuple.__len__(value) == 1 else f"({inside})"
    if is_a(value, dict):
        return "{" + ", ".join(f"{_text(k, known)}: {_text(v, known)}" for k, v in dict.items(value)) + "}"
    return target_text(value) if callable(value) else clean(f"<{type_name(value)}>")


@functools.cache
def _torch_constants() -> frozenset[int]:
    """Return the addresses of the classes of torch's constants. (A node has been created, so torch is imported.)"""
    return frozenset(id(torch_type(name)) for name in _TORCH_CONSTANTS)


_TORCH_CONSTANTS = ("dtype", "device", "layout", "memory_format", "qscheme", "SymInt", "SymFloat", "SymBool")
_WRITTEN_BY_REPR = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None), type(...))))
