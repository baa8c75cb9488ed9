"""What the recording keeps of the engine's live objects, read by their documented attributes (`observer.py`).

No user code runs here: types are named, never instances asked for their `repr`. Torch is never imported; where the
program has imported it, its objects are recognised.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from tracer_core.recording.schema import FakeMeta

TEXT_LIMIT = 200
ARGS_LIMIT = 400
PARTS_LIMIT = 200


def clean(text: object, limit: int = TEXT_LIMIT) -> str:
    """`text` in one line that is safe to store and show: control characters escaped, at most `limit` characters."""
    if type(text) is not str:
        text = str.__str__(text) if isinstance(text, str) else f"<{type(text).__name__}>"
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clean_lines(text: str) -> str:
    """`text` of several lines, with what cannot be stored as UTF-8 replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def attempt_text(read: Callable[[], Any], otherwise: str) -> str:
    """The text that `read` gives, or `otherwise` where the engine's description fails on an odd user object."""
    try:
        return clean(read())
    except Exception:  # noqa: BLE001  whatever a description raises must not stop the user's program
        return otherwise


def torch_type(name: str) -> type | None:
    """A class of torch by its dotted name, if torch has been imported."""
    at: Any = sys.modules.get("torch")
    for part in name.split("."):
        at = getattr(at, part, None)
    return at if isinstance(at, type) else None


def plain_name(value: object) -> str:
    """`torch.float32` as `float32`."""
    return str(value).removeprefix("torch.")


def _number_text(number: Any, hints: dict[str, str]) -> str:
    """A size: plain, or the text of its symbol, with the symbol's example value added to `hints`."""
    if type(number) is int:
        return str(number)
    text = clean(str(number))
    hint = getattr(getattr(number, "node", None), "_hint", None)
    if hint is not None:
        hints[text] = clean(str(hint))
    return text


def fake_meta(fake: Any) -> FakeMeta | None:
    """What is known of a fake tensor or symbolic number; None for anything else."""
    hints: dict[str, str] = {}
    if not hasattr(fake, "dtype"):
        if not hasattr(fake, "node"):
            return None
        _number_text(fake, hints)
        return FakeMeta(
            type=type(fake).__name__,
            dtype=type(fake).__name__.removeprefix("Sym").lower(),
            shape=[clean(str(fake))],
            stride=[],
            device="",
            requires_grad=False,
            hints=hints,
        )
    shape = [_number_text(size, hints) for size in fake.shape]
    try:
        stride = [_number_text(step, hints) for step in fake.stride()]
    except (RuntimeError, NotImplementedError):  # sparse and nested layouts have none
        stride = []
    return FakeMeta(
        type=_tensor_type(fake),
        dtype=plain_name(fake.dtype),
        shape=shape,
        stride=stride,
        device=str(fake.device),
        requires_grad=bool(fake.requires_grad),
        hints=hints,
    )


def _tensor_type(fake: Any) -> str:
    if type(fake).__name__ == "Tensor":
        return "Tensor"
    parameter = torch_type("nn.Parameter")
    if parameter is not None and isinstance(fake, parameter):
        return "Parameter"
    name = type(fake).__name__
    return "Tensor" if name == "FakeTensor" else name


def fakes_in(value: Any) -> Iterator[Any]:
    """The fake tensors and symbolic numbers in a node's example value, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from fakes_in(item)
    elif hasattr(value, "dtype") or type(value).__name__.startswith("Sym"):
        yield value


def target_text(target: Any) -> str:
    """A node's target as people write it: `operator.add`, `torch.nn.functional.linear`, `aten.add.Tensor`, `view`."""
    if isinstance(target, str):
        return clean(target)
    overload = torch_type("_ops.OpOverload")
    if overload is not None and isinstance(target, overload):
        return clean(str(target))
    plain = hasattr(target, "__code__") or isinstance(
        target, type
    )  # builtins' qualified names say more than people do
    name = getattr(target, "__qualname__" if plain else "__name__", None)
    if not isinstance(name, str):
        return clean(f"<{type(target).__name__}>")
    owner = getattr(target, "__objclass__", None)
    module = getattr(target, "__module__", None) or getattr(owner, "__module__", None)
    if not isinstance(module, str) or module == "builtins":
        return clean(name)
    return clean(f"{_MODULES.get(module, module)}.{name}")


_MODULES = {
    "_operator": "operator",
    "torch._C._nn": "torch.nn.functional",
    "torch._C": "torch",
    "tracer_core.graph.numpy_calls": "numpy",
}


def args_text(node: Any) -> str:
    """All arguments of a node in one line."""
    texts = [value_text(arg) for arg in node.args]
    texts += [f"{name}={value_text(arg)}" for name, arg in node.kwargs.items()]
    return clean(", ".join(texts), ARGS_LIMIT)


def value_text(value: Any) -> str:
    """One argument of a node: nodes by name, plain constants as Python writes them, anything else by its type."""
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value)
    for kind, write in ((tuple, _tuple_text), (list, _list_text), (dict, _dict_text)):
        if isinstance(value, kind):
            return write(value)
    if isinstance(getattr(value, "name", None), str) and hasattr(value, "all_input_nodes"):
        return clean(value.name)
    if type(value).__module__.split(".")[0] == "torch":
        return clean(str(value)) if type(value).__name__ in _TORCH_CONSTANTS else f"<{type(value).__name__}>"
    if callable(value):
        return target_text(value)
    return clean(f"<{type(value).__name__}>")


def _tuple_text(value: Any) -> str:
    inside = ", ".join(map(value_text, value))
    return f"({inside},)" if len(value) == 1 else f"({inside})"


def _list_text(value: Any) -> str:
    return f"[{', '.join(map(value_text, value))}]"


def _dict_text(value: Any) -> str:
    return "{" + ", ".join(f"{value_text(k)}: {value_text(v)}" for k, v in value.items()) + "}"


def _slice_text(value: slice) -> str:
    return f"slice({value_text(value.start)}, {value_text(value.stop)}, {value_text(value.step)})"


_TORCH_CONSTANTS = {"dtype", "device", "layout", "memory_format", "qscheme", "SymInt", "SymFloat", "SymBool"}
_WRITERS: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((int, float, complex, bool, str, bytes, type(None), type(...)), repr),
    slice: _slice_text,
    tuple: _tuple_text,
    list: _list_text,
    dict: _dict_text,
}


class SourceNames:
    """The names of sources, each made once: a name is made of those of all the sources it hangs from."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, list[str]]] = {}

    def name(self, source: Any) -> str:
        return self.path(source)[-1]

    def path(self, source: Any) -> list[str]:
        """The names from the root to the source itself. Not to be changed."""
        known = self._known.get(id(source))
        if known is not None:
            return known[1]
        base = source.base
        path = [*(self.path(base) if base is not None else ()), attempt_text(lambda: source.name, "?")]
        self._known[id(source)] = (source, path)
        return path

    def release(self) -> None:
        """Let go of the engine's objects."""
        self._known.clear()
