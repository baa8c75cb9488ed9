"""What a program is, how one is registered, and how one is loaded as if for the first time.

A program file is executed anew for each run, so module globals, classes and inputs always start from the same state.
"""

from __future__ import annotations

import contextlib
import inspect
import marshal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

import torch

PROGRAMS = Path(__file__).parent / "programs"
PACKAGE = "tests.conformance.programs"

#: What a program may say of itself when it is not meant to trace as `torch.compile` traces it.
#: `fewer_breaks`: we capture more, or compile less often.
#: `stricter`: we break or recompile where `torch.compile` takes a risk.
#: `torch_differs`: `torch.compile` itself departs from plain Python here, so only plain Python counts.
DIFFERENCES = ("fewer_breaks", "stricter", "torch_differs")

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(slots=True)
class Call:
    """The arguments of one call of a program."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Program:
    """A registered function and how it is called. `then` looks closer at each result, in plain Python."""

    name: str
    fn: Callable[..., Any]
    rows: tuple[str, ...]
    calls: Callable[[], Sequence[Any]] | None
    then: Callable[[Any], Any] | None
    differs: str | None
    why: str
    compile: dict[str, Any]

    def make_calls(self) -> list[Call]:
        """Fresh arguments for each call: a tuple is the positional arguments, anything else the only argument."""
        if self.calls is None:
            return [Call(default_arguments(self.fn))]
        return [as_call(each) for each in self.calls()]


def as_call(given: Any) -> Call:
    if isinstance(given, Call):
        return given
    return Call(given) if type(given) is tuple else Call((given,))


def call(*args: Any, **kwargs: Any) -> Call:
    """A call with keyword arguments."""
    return Call(args, kwargs)


def t(*shape: int, dtype: torch.dtype = torch.float32, start: int = 0, grad: bool = False) -> torch.Tensor:
    """A tensor of `shape` whose small exact values vary from element to element; `start` chooses others."""
    count = int(torch.Size(shape).numel())
    values = (torch.arange(count) + start).mul(37).remainder(23).sub(11)
    filled = values.div(4).to(dtype) if dtype.is_floating_point or dtype.is_complex else values.to(dtype)
    return filled.reshape(shape).requires_grad_(grad)


def default_arguments(fn: Callable[..., Any]) -> tuple[Any, ...]:
    """A different 2 by 3 tensor for each positional parameter without a default."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(fn).parameters.values()
    required = [each for each in parameters if each.kind in positional and each.default is inspect.Parameter.empty]
    return tuple(t(2, 3, start=5 * index) for index, _ in enumerate(required))


_loading: list[Program] = []


def program(
    rows: str | tuple[str, ...],
    calls: Callable[[], Sequence[Any]] | None = None,
    *,
    then: Callable[[Any], Any] | None = None,
    differs: str | None = None,
    why: str = "",
    compile: dict[str, Any] | None = None,
) -> Callable[[Function], Function]:
    """Register the decorated function as a program.

    Args:
        rows: the rows it shows, as `"I3"`, `"I3 O6"` or a tuple.
        calls: makes one entry per call; see `Program.make_calls`. Without it, one call with a tensor per parameter.
        then: applied to each result in plain Python; what it returns is compared as well.
        differs: one of `DIFFERENCES`, with the reason in `why`.
        compile: more keywords for both compilers, such as `dynamic`.
    """
    if differs is not None and (differs not in DIFFERENCES or not why):
        raise ValueError(f"differs={differs!r} must be one of {DIFFERENCES} and come with a why=")

    def register(fn: Function) -> Function:
        ids = tuple(rows.split()) if isinstance(rows, str) else rows
        _loading.append(Program(fn.__name__, fn, ids, calls, then, differs, why, dict(compile or {})))
        return fn

    return register


@lru_cache(maxsize=4)
def _compiled(path: Path) -> bytes:
    return marshal.dumps(compile(path.read_text(), str(path), "exec"))


def _fresh_code(path: Path) -> CodeType:
    """The file's code with code objects never seen before: compilers hang their caches on those."""
    code: CodeType = marshal.loads(_compiled(path))
    return code


@dataclass(slots=True)
class Loaded:
    """A program file after a fresh execution."""

    module: ModuleType
    programs: dict[str, Program]


@contextlib.contextmanager
def loaded(path: Path, code: CodeType | None = None, names: dict[str, Any] | None = None) -> Iterator[Loaded]:
    """Execute the program file at `path` anew; inside the block it is the importable module of its name.

    Args:
        path: the file.
        code: runs instead of the file's own.
        names: globals that are there before the file runs.
    """
    name = f"{PACKAGE}.{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module
    _loading.clear()
    try:
        module.__dict__.update(names or {})
        exec(code or _fresh_code(path), module.__dict__)
        programs = {each.name: each for each in _loading}
        if len(programs) != len(_loading):
            names = [each.name for each in _loading]
            twice = sorted({each for each in names if names.count(each) > 1})
            raise ValueError(f"{path.name}: programs defined twice: {', '.join(twice)}")
        yield Loaded(module, programs)
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before


@dataclass(frozen=True, slots=True)
class Listed:
    """A program as the table names it, without its function."""

    path: Path
    name: str
    rows: tuple[str, ...]
    differs: str | None
    why: str

    @property
    def id(self) -> str:
        return f"{self.path.stem}.{self.name}"


def list_programs(folder: Path = PROGRAMS, where: Callable[[Program], bool] = lambda program: True) -> list[Listed]:
    """The programs of a folder for which `where` holds, by file and in their order there."""
    found = []
    for path in sorted(folder.glob("[!_]*.py")):
        with loaded(path) as file:
            found += [Listed(path, p.name, p.rows, p.differs, p.why) for p in file.programs.values() if where(p)]
    return found
