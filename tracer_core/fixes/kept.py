"""Keep the calls of a recording, so that they can be repeated: function, arguments, globals, random state.

Only calls of the program itself are kept, not those that happen inside one of them: repeating it repeats those.
"""

from __future__ import annotations

import gc
import inspect
import random
import re
import types
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy
import torch

from tracer_core.bytecode import decoded
from tracer_core.fixes.copies import Copied, Copier, TooLarge, World
from tracer_core.fixes.forms import is_function_with_state
from tracer_core.frame_eval.origins import outer_caller
from tracer_core.frame_input import Config
from tracer_core.host.signals import is_external_error
from tracer_core.recording import DispatchRecorder, Recorder, schema

MOST_CALLS = 32
MOST_BYTES = 64 << 20
_OTHER_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(eq=False)
class KeptCall:
    """One call: `values` are the copies of its locals, free variables and globals, in this order of `names`."""

    code: CodeType
    globals: dict[str, Any]
    locals: list[str]
    read: list[str]  # names of globals
    values: list[Copied]
    random: tuple[Any, ...]

    def argument(self, name: str) -> Copied | None:
        return self.values[self.locals.index(name)] if name in self.locals else None

    def build(self, world: World) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the locals and globals of the call, built again."""
        values = world.build(self.values)
        count = len(self.locals)
        return dict(zip(self.locals, values[:count], strict=True)), dict(zip(self.read, values[count:], strict=True))


@dataclass(eq=False)
class Elsewhere:
    """State that calls can reach in globals and classes: where each value is, and its copy."""

    places: list[tuple[Any, str]] = field(default_factory=list)
    copies: list[Copied] = field(default_factory=list)


@dataclass(eq=False)
class KeptCalls:
    """The calls of a recording, with what is needed to repeat them. `missing` says in sentences why they cannot be
    repeated, `notes` what differs when they are. `codes` are those of the recording, `ran` those of its
    frames."""

    calls: list[KeptCall] = field(default_factory=list)
    codes: list[CodeType] = field(default_factory=list)
    ran: list[CodeType] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    dynamic: bool | None = None
    copier: Copier = field(default_factory=lambda: Copier(MOST_BYTES))
    elsewhere: Elsewhere = field(default_factory=Elsewhere)


def why_not_repeated(kept: KeptCalls | None) -> str | None:
    """Return in sentences why these calls cannot be repeated; None if they can."""
    if kept is None:
        return "Only the trace that recorded the calls has their arguments; a loaded one does not."
    return " ".join(kept.missing) or (None if kept.calls else "No call was recorded.")


def cannot_share(copier: Copier) -> str | None:
    """Return a sentence about an object that could not be copied, and that repeated calls would change."""
    if not copier.must_not_be_shared:
        return None
    name = min(copier.must_not_be_shared)
    return f"The calls use an object of {name}, which cannot be copied, and which they would change."


class KeepingRecorder(Recorder):
    """A recorder that also keeps the calls of the program. `limit` is how many bytes of tensors it copies."""

    def __init__(self, label: str = "", limit: int = MOST_BYTES) -> None:
        super().__init__(label)
        self._copier = Copier(limit)
        self.kept = KeptCalls(copier=self._copier)
        self._running: tuple[int, int, CodeType] | None = None
        self._globals: dict[int, dict[str, Any]] = {}

    def on_frame_start(
        self, code: CodeType, f_locals: Mapping[str, Any], f_globals: dict[str, Any] | None, config: Config | None
    ) -> None:
        if f_globals is not None:
            self._globals[id(code)] = f_globals
        caller = outer_caller()
        if self._is_inside(caller):
            return
        self._running = None if caller is None else (id(caller), caller.f_lasti, caller.f_code)
        try:
            self._keep(code, f_locals)
            if config is not None and len(self.kept.calls) == 1:
                self.kept.dynamic, self.kept.options = config.dynamic, dict(config.options)
                self.kept.options.pop("graph_runs_as_it_is", None)
        except Exception as error:
            if is_external_error(error):
                raise
            if not isinstance(error, TooLarge):
                self._cannot(
                    f"The arguments of {code.co_name} could not be copied ({type(error).__name__}: {error})."
                )
                return
            self._cannot(f"The arguments of {code.co_name} have too many parts to be copied.")

    def _is_inside(self, caller: FrameType | None) -> bool:
        """Return whether the call kept last is still running: its caller is still at the same instruction."""
        if self._running is None or caller is None:
            return False
        number, at, code = self._running
        frame = caller.f_back
        while frame is not None:
            if id(frame) == number and frame.f_code is code:
                return frame.f_lasti == at
            frame = frame.f_back
        return False

    def _keep(self, code: CodeType, f_locals: Mapping[str, Any]) -> None:
        found = self._globals.get(id(code)) or _globals_of(code)
        if len(self.kept.calls) >= MOST_CALLS:
            self._note(f"Only the first {MOST_CALLS} calls are repeated.")
            return
        if found is None or code.co_flags & _OTHER_KINDS:
            self._cannot(f"{code.co_name} is not a function that can be called again.")
            return
        names = [*_parameters(code), *code.co_freevars]
        names = [name for name in names if name in f_locals]
        read = list(_data_globals(code, found))
        values = [*(f_locals[name] for name in names), *(found[name] for name in read)]
        copies = self._copier.copy(*values)
        self.kept.calls.append(KeptCall(code, found, names, read, copies, random_state()))

    def _cannot(self, why: str) -> None:
        if why not in self.kept.missing:
            self.kept.missing.append(why)

    def _note(self, note: str) -> None:
        if note not in self.kept.notes:
            self.kept.notes.append(note)

    def finish(self) -> schema.Recording:
        if self._copier.made_again:
            self._note("Tensors too large to be kept were filled with random numbers.")
        if self._copier.shared:
            self._note(f"These could not be copied, and are shared: {', '.join(sorted(self._copier.shared)[:5])}.")
        if (shared := cannot_share(self._copier)) is not None:
            self._cannot(shared)
        data = super().finish()
        self.kept.codes = list(self._codes.codes)
        numbers = dict.fromkeys([*(call.code for call in data.calls), *(frame.code for frame in data.frames)])
        originals = (data.codes[number].resumes for number in numbers)
        ran = [number if of is None else of for number, of in zip(numbers, originals, strict=True)]
        self.kept.ran = [self.kept.codes[number] for number in dict.fromkeys(ran)]
        return data


class KeepingDispatchRecorder(KeepingRecorder, DispatchRecorder):
    """The same, for recordings with the dispatcher's steps."""


def _parameters(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def _data_globals(code: CodeType, found: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the globals that the code, or a function of the same module that it names, may read, and
    that have state."""
    pending, seen, given = [code], {code}, set()
    while pending:
        current = pending.pop()
        pending += [part for part in current.co_consts if isinstance(part, CodeType)]
        for name in names_of_globals(current):
            value = found.get(name, type)
            if isinstance(value, FunctionType) and value.__globals__ is found and value.__code__ not in seen:
                seen.add(value.__code__)
                pending.append(value.__code__)
            if name not in given and has_state(value) and not name.startswith("__"):
                given.add(name)
                yield name


_OF_GLOBALS = re.compile(r"_(GLOBAL|NAME|GLOBAL_NULL)$")
_names: weakref.WeakKeyDictionary[CodeType, list[str]] = weakref.WeakKeyDictionary()


def names_of_globals(code: CodeType) -> list[str]:
    """Return the names that a code reads or writes as globals, or imports: `co_names` without those of attributes."""
    found = _names.get(code)
    if found is None:
        named = (one.arg for one in decoded(code).instructions if _OF_GLOBALS.search(one.op))
        found = _names[code] = list(dict.fromkeys(named))
    return found


_NO_DATA = (type, FunctionType, types.BuiltinFunctionType, types.ModuleType)


def has_state(value: Any) -> bool:
    """Return whether a program can change a value, or what a name has in its place, between calls."""
    return not isinstance(value, _NO_DATA) or is_function_with_state(value)


def functions_with(code: CodeType) -> list[FunctionType]:
    """Return all functions that run this code."""
    return [one for one in gc.get_referrers(code) if isinstance(one, FunctionType) and one.__code__ is code]


def _globals_of(code: CodeType) -> dict[str, Any] | None:
    found = functions_with(code)
    return found[0].__globals__ if found else None


def random_state() -> tuple[Any, ...]:
    return torch.get_rng_state(), random.getstate(), numpy.random.get_state()


def set_random_state(state: tuple[Any, ...]) -> None:
    torch.set_rng_state(state[0])
    random.setstate(state[1])
    numpy.random.set_state(state[2])
