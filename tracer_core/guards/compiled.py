"""All guards of one compiled frame as one generated Python function, and the message when one fails."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tracer_core.guards.describe import describe
from tracer_core.guards.guard import Guard, Relation
from tracer_core.guards.held import HeldGlobals, hold_weakly
from tracer_core.guards.kinds.relations import ONE_OBJECT
from tracer_core.guards.kinds.tensors import Tensor
from tracer_core.guards.tree import generate
from tracer_core.names.sentences import with_commas
from tracer_core.sources import Scope, Source

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Failure:
    """The first guard that did not hold, the value `expected`, the value `seen` instead, and what would avoid it. A
    source that is `missing` cannot be reached at all."""

    guard: Guard
    expected: str
    seen: str
    advice: str
    missing: bool = False
    remedies: Sequence[str] = ()

    @property
    def was(self) -> str:
        """Return the expected value after its verb; empty where the guard is a condition on several values."""
        verb = self.guard.rule.verbs[0]
        return f"{verb} {self.expected}" if verb else ""

    @property
    def now(self) -> str:
        """Return the present value, as a clause that follows the guard's text."""
        return f"it is {self.seen}" if self.missing else self.guard.rule.now(self.seen)

    @property
    def difference(self) -> str:
        """Return the expected and the present value, as a clause."""
        rule = self.guard.rule
        verb = "is" if self.missing else rule.verbs[1]
        return rule.difference(self.guard.source.name, self.expected, f"{verb} {self.seen}".strip())

    @property
    def sentence(self) -> str:
        """Return a sentence: the expected value, the present value, and how to avoid the failure."""
        clause = self.difference
        if clause.startswith("it "):
            clause = f"It {clause[3:]}"
        return f"{clause}. To avoid this, {self.advice}."


class CompiledGuards:
    """Guards in the order they are checked.

    `holds(f_locals)` is the generated function: whether all hold. `text` is its source, which tracebacks show too.
    """

    def __init__(
        self,
        guards: list[Guard],
        text: str,
        namespace: dict[str, Any],
        globals: HeldGlobals,
        builtins: Mapping[str, Any],
    ) -> None:
        self.guards = guards
        self.text = text
        self._globals = globals
        self._builtins = builtins
        self._filename = f"<tracewalk guards {next(_numbers)}>"
        exec(compile(text, self._filename, "exec"), namespace)
        self.holds: Callable[[Mapping[str, Any]], bool] = namespace["guards_hold"]
        linecache.cache[self._filename] = (len(text), None, text.splitlines(True), self._filename)
        weakref.finalize(self, linecache.cache.pop, self._filename, None)

    def check(self, f_locals: Mapping[str, Any]) -> int:
        """Return -1 if all guards hold, else the index in `guards` of the first that does not."""
        return -1 if self.holds(f_locals) else self._first_failing(f_locals)

    def explain(self, f_locals: Mapping[str, Any]) -> Failure | None:
        """Explain which guard fails first and why; None if all hold."""
        index = self.check(f_locals)
        return None if index < 0 else self._explain(self.guards[index], self._scope(f_locals))

    def explain_all(self, f_locals: Mapping[str, Any]) -> list[Failure]:
        """Explain every guard that fails, in the order they are checked. A guard on a part of a value that failed its
        own guard is left out: what it reads is not what was compiled for."""
        first = self.check(f_locals)
        if first < 0:
            return []
        scope = self._scope(f_locals)
        failing: list[Guard] = []
        wrong: set[Source] = set()
        for guard in self.guards:
            if wrong and any(part in wrong for source in guard.sources for part in source.path()):
                continue
            if not guard.holds(scope):
                failing.append(guard)
                if not isinstance(guard.rule, Relation):
                    wrong.add(guard.source)
        return [self._explain(guard, scope) for guard in failing or [self.guards[first]]]

    def mortals(self) -> Iterable[weakref.ref[Any]]:
        """Return references to the objects without which these guards can never hold again."""
        # By the references themselves: they hash and compare as their objects, which may run code of the program.
        found = [ref for guard in self.guards for ref in guard.rule.mortals(guard.expected)]
        sources = (source for guard in self.guards for source in guard.sources)
        found += (ref for ref in map(hold_weakly, sources) if ref is not None)
        return {id(ref): ref for ref in found}.values()

    def _scope(self, f_locals: Mapping[str, Any]) -> Scope:
        return Scope(f_locals, self._globals.get(), self._builtins)

    def _first_failing(self, f_locals: Mapping[str, Any]) -> int:
        scope = self._scope(f_locals)
        tensors: dict[int, int] = {}
        for index, guard in enumerate(self.guards):
            if not guard.holds(scope):
                return index
        for index, guard in enumerate(self.guards):
            if isinstance(guard.rule, Tensor):
                value = guard.look(scope)
                if id(value) in tensors:
                    return index
                tensors[id(value)] = index
        return next(iter(tensors.values()), 0)

    def _twin(self, guard: Guard, scope: Scope) -> str | None:
        """Return the name of another source at which a tensor is found that fails only by being the same object."""
        if not isinstance(guard.rule, Tensor) or not guard.holds(scope):
            return None
        value = guard.look(scope)
        others = (other for other in self.guards if isinstance(other.rule, Tensor) and other is not guard)
        return next((other.source.name for other in others if other.look(scope) is value), None)

    def _explain(self, guard: Guard, scope: Scope) -> Failure:
        rule, expected = guard.rule, guard.expected
        twin = self._twin(guard, scope)
        if twin is not None:
            seen = f"the same object as {twin}"
            return Failure(guard, f"another object than {twin}", seen, ONE_OBJECT, remedies=(ONE_OBJECT,))
        try:
            value = guard.look(scope)
        except Exception as error:  # noqa: BLE001
            missing = _first_missing(guard.sources, scope)
            advice = f"have {missing.quoted} at each call"
            seen = f"missing ({type(error).__name__}: {error})"
            return Failure(guard, rule.expected_text(expected), seen, advice, True, (advice,))
        was = rule.expected_against(expected, value)
        try:
            seen = rule.seen_text(value, expected)
        except Exception:  # noqa: BLE001
            seen = describe(value)
        source = guard.source
        in_module = rule.remedies_in_module(source, expected, value) if _is_of_module(source, scope) else ()
        remedies = list(in_module or rule.remedies(source, expected, value))
        advice = "" if in_module else rule.advice(source.given.quoted, expected, value)
        advice = advice or ", or ".join(remedies[:2])
        if source.passed_by:
            passes = f"which passes {source.quoted} from one graph to the next"
            advice = f"remove {source.passed_by}, {passes}"
            remedies.insert(0, advice)
        return Failure(guard, was, seen, with_commas(advice), remedies=tuple(map(with_commas, remedies)))


def _is_of_module(source: Source, scope: Scope) -> bool:
    """Return whether the value at `source` is reached through a module."""
    return any(isinstance(step.find(scope), torch.nn.Module) for step in source.path()[:-1])


def _first_missing(sources: Sequence[Source], scope: Scope) -> Source:
    """Return the first part, on the way to the sources, that cannot be reached."""
    for source in sources:
        for part in source.path():
            try:
                part.find(scope)
            except Exception:  # noqa: BLE001
                return part
    return sources[0]


def compile_guards(
    guards: Iterable[Guard], globals: Mapping[str, Any], builtins: Mapping[str, Any]
) -> CompiledGuards:
    """Compile `guards` into one function. Torch's settings and dispatcher modes must be now as the guards expect
    them, and the traced tensors still alive: call it right after tracing.

    Equal guards are checked once. Parts of a source are read only after the source's own guards held.
    """
    different = list(dict.fromkeys(guards))
    for guard in different:
        for source in guard.sources:
            hold_weakly(source)
    generated = generate(different)
    held = HeldGlobals(globals if generated.reads_globals else {})
    namespace = {**generated.namespace, "B": builtins}
    text = generated.text
    if held.forever is not None:
        namespace["G"] = held.forever
    else:
        namespace["globals_now"] = held.get
        text = text.replace("    try:\n", "    try:\n        G = globals_now()\n", 1)
    return CompiledGuards(generated.guards, text, namespace, held, builtins)
