"""A pretended engine that drives an observer as the real one does: frames, inlining, nodes, guards, breaks with a
restart, recompilation, resume functions. It walks real bytecode over trackers without any torch.

`example()` is a whole small recording (also what the front end's fixture is made of), `long_run()` one of as many
steps as asked for.
"""

from __future__ import annotations

import builtins
import contextlib
import itertools
import linecache
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from tests.recording.synthetic_ops import OPS, Raised, TensorBranch
from tests.recording.synthetic_values import (
    BaseUserFunctionVariable,
    BuiltinVariable,
    CellVariable,
    ConstantVariable,
    Fake,
    Graph,
    Guard,
    ListVariable,
    Source,
    SymInt,
    TensorVariable,
    UserFunctionVariable,
    VariableTracker,
)
from tracer_core.bytecode import Instruction, Program, decode
from tracer_core.errors import Unsupported
from tracer_core.observer import Observer
from tracer_core.recording import schema
from tracer_core.recording.recorder import Recorder

PROGRAM = '''\
def layer(x, weight, scale):
    """One layer: a product, and a scale."""
    y = x @ weight
    kept = [y]
    kept.append(scale)
    return kept[0] * scale


def number(text):
    try:
        return int(text)
    except ValueError:
        return 2


def model(x, weights):
    total = x
    for weight in weights:
        total = layer(total, weight, number("two"))
    if total.sum() > 0:
        total = total + 1
    return total


def __resume_at_74_model(total, flag):
    if flag:
        total = total + 1
    return total


def counted(x):
    count = 0

    def more(by):
        nonlocal count
        count += by
        return x + count

    more(1)
    return more(2)


def forever(x, weights):
    total = x
    for weight in weights:
        total = layer(total, weight, 2)
    return total


def logger(text):
    return text
'''
FILENAME = "model.py"

_frame_uids = itertools.count(1)


@cache
def program_of(code: CodeType) -> Program:
    return decode(code)


@cache
def functions() -> dict[str, Any]:
    """The example program's functions."""
    linecache.cache[FILENAME] = (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), FILENAME)
    names: dict[str, Any] = {}
    exec(compile(PROGRAM, FILENAME, "exec"), names)  # noqa: S102  the text is above
    return names


class Frame:
    def __init__(self, code: CodeType, arguments: dict[str, Any], parent: Frame | None) -> None:
        self.uid = next(_frame_uids)
        self.code = code
        self.program = program_of(code)
        self.stack: list[Any] = []
        self.locals = arguments
        self.cells: dict[str, CellVariable] = {}
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1


class Walk:
    """One attempt at a root frame."""

    def __init__(self, tell: Observer, code: CodeType, dynamic: bool) -> None:
        self.tell = tell
        self.code = code
        self.dynamic = dynamic
        self.graph = Graph()
        self.guards: list[Guard] = []
        self.globals: dict[str, VariableTracker] = {}
        self.positions: dict[int, dict[Instruction, int]] = {}

    # --- what the instructions use ---
    def tensor(self, op: str, target: Any, args: tuple[Any, ...], name: str, fake: Fake) -> TensorVariable:
        node = self.graph.add(op, target, args, name)
        self.tell.on_node(node, fake)
        return TensorVariable(node, fake)

    def global_(self, name: str) -> VariableTracker:
        if name not in self.globals:
            source = Source(f"G['{name}']")
            function = functions().get(name)
            if function is None:
                self.globals[name] = BuiltinVariable(getattr(builtins, name), source)
            else:
                self.guard(source, "function-code", f"{source.name} is the function {name}")
                self.globals[name] = UserFunctionVariable(function, source)
        return self.globals[name]

    def closure(self, code: CodeType, cells: list[Any]) -> BaseUserFunctionVariable:
        made = UserFunctionVariable(SimpleNamespace(__code__=code, __name__=code.co_name))
        made.cells = dict(zip(code.co_freevars, cells, strict=True))  # type: ignore[attr-defined]
        return made

    def inline(self, caller: Frame, callee: BaseUserFunctionVariable, args: list[Any]) -> VariableTracker:
        code = callee.function.__code__
        frame = Frame(code, dict(zip(code.co_varnames, args, strict=False)), caller)
        frame.cells = dict(getattr(callee, "cells", {}))
        return self.run(frame)

    def guard(self, source: Source, kind: str, text: str) -> None:
        guard = Guard(source, kind, text)
        self.guards.append(guard)
        self.tell.on_guard(guard)

    # --- walking ---
    def argument(self, value: Any, source: Source) -> VariableTracker:
        if isinstance(value, list):
            self.guard(source, "length", f"{source.name} has {len(value)} items")
            return ListVariable([self.argument(v, source.part(f"[{i}]")) for i, v in enumerate(value)], source)
        if not isinstance(value, Fake):
            self.guard(source, "equals", f"{source.name} == {value!r}")
            return ConstantVariable(value, source)
        shape = list(value.shape)
        if self.dynamic and source.owner is None:
            self.tell.on_symbol("s0", value.shape[0], f"{source.name}.size(0)")
            shape[0] = SymInt("s0", value.shape[0])
            expected = ["*", *shape[1:]]
        else:
            expected = shape
        text = ", ".join(map(str, expected))
        self.guard(source, "tensor", f"{source.name} is a Tensor f32[{text}]")
        fake = Fake(*shape)
        name = "".join(c if c.isalnum() else "_" for c in source.exact)
        made = self.tensor("placeholder", name, (), name, fake)
        made.source = source
        return made

    def run(self, frame: Frame) -> VariableTracker:
        tell, instructions = self.tell, frame.program.instructions
        positions = self.positions.get(id(frame.program))
        if positions is None:
            positions = {one: i for i, one in enumerate(instructions)}
            self.positions[id(frame.program)] = positions
        tell.on_frame_enter(frame)
        index = 0
        while True:
            at = instructions[index]
            tell.on_step_start(frame, at)
            if at.op == "RETURN_VALUE":
                result = frame.stack.pop()
                tell.on_step_end(frame, at)
                tell.on_frame_exit(frame, result)
                return result
            try:
                target = OPS[at.op](self, frame, at)
            except TensorBranch:
                tell.on_break(Unsupported("tensor-branch", what="total.sum() > 0"), frame, at)
                raise
            except Raised as raised:
                tell.on_raise(frame, at, raised.exception)
                if at.handler is None:
                    tell.on_frame_exit(frame, None)
                    raise
                del frame.stack[at.handler.depth :]
                frame.stack += [*([ConstantVariable(index)] if at.handler.push_lasti else []), raised.exception]
                index = positions[at.handler.target]
                continue
            tell.on_step_end(frame, at)
            index = index + 1 if target is None else positions[target]


class Engine:
    """Compiles codes on call, keeps versions, reports everything to `tell`."""

    def __init__(self, tell: Observer) -> None:
        self.tell = tell
        self.versions: dict[CodeType, list[list[Guard]]] = {}
        self.calls: dict[CodeType, int] = {}

    def call(
        self, name: str, arguments: dict[str, Any], failing: tuple[int | None, ...], *, dynamic: bool = False
    ) -> None:
        """Call a function of the program. `failing` has, for each version tried, the number of the guard that does
        not hold, or None for the version that is reused; when none is, a new version is compiled."""
        code = functions()[name].__code__
        self.tell.on_call(code)
        for version, number in enumerate(failing, 1):
            failed = None if number is None else self.versions[code][version - 1][number]
            self.tell.on_cache_check(
                code, version, failed, "" if failed is None else f"{failed.source.name} is f32[6, 8]"
            )
            if failed is None:
                return
        self.compile(code, arguments, dynamic)

    def compile(self, code: CodeType, arguments: dict[str, Any], dynamic: bool) -> None:
        known = self.versions.setdefault(code, [])
        version = len(known) + 1
        self.tell.on_compile_start(code, version)
        number = 1
        while True:
            walk = Walk(self.tell, code, dynamic)
            frame = Frame(code, {}, None)
            self.tell.on_attempt_start(frame, number)
            for name, value in arguments.items():
                frame.locals[name] = walk.argument(value, Source(f"L['{name}']"))
            try:
                walk.run(frame)
                broke = False
            except TensorBranch:
                broke = True
            if broke and number == 1:
                self.tell.on_attempt_end("restarted", "The graph has to end at line 20.")
                number = 2
                continue
            break
        self.finish(walk, code, version, broke)
        known.append(walk.guards)

    def finish(self, walk: Walk, code: CodeType, version: int, broke: bool) -> None:
        walk.graph.add("output", "output", (tuple(walk.graph.nodes[-1:]),), "output")
        body = "\n".join(f"    {node.name} = {node.target}" for node in walk.graph.nodes)
        module = SimpleNamespace(graph=walk.graph, code=f"def forward(self):\n{body}\n")
        name = f"__graph_{code.co_name}_{version}"
        self.tell.on_graph(module, name)
        resumes = [functions()["__resume_at_74_model"].__code__] if broke else []
        new_code = compile(f"{name} and None", "<generated>", "eval").replace(co_name=f"{code.co_name} (compiled)")
        self.tell.on_generated(code, new_code, f"def {code.co_name}():\n    return {name}()\n", resumes)
        self.tell.on_attempt_end("compiled", "")
        self.tell.on_compile_end("compiled", 0.01)


@contextlib.contextmanager
def resume_origins() -> Iterator[None]:
    """The engine's way to say what a resume function goes on with, inside the block."""
    model, resume = functions()["model"].__code__, functions()["__resume_at_74_model"].__code__
    jump = next(one for one in program_of(model).instructions if one.op == "POP_JUMP_IF_FALSE")
    assert jump.origin is not None
    module = ModuleType("tracer_core.codegen.resume")
    module.origin_of = lambda code: (model, jump.origin.offset) if code is resume else None  # type: ignore[attr-defined,union-attr]
    module.name_of = lambda code: code.co_name  # type: ignore[attr-defined]
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before


def example_events(tell: Observer) -> None:
    """Three calls of `model` (compiled with a break, recompiled with a symbol, reused), a closure, a skip."""
    with resume_origins():
        engine = Engine(tell)
        weights = [Fake(8, 8), Fake(8, 8)]
        for rows, failing, dynamic in ((4, (), False), (6, (0,), True), (9, (0, None), True)):
            engine.call("model", {"x": Fake(rows, 8), "weights": weights}, failing, dynamic=dynamic)
            engine.call("__resume_at_74_model", {"total": Fake(rows, 8), "flag": True}, failing, dynamic=dynamic)
        engine.call("counted", {"x": Fake(3)}, ())
        logger = functions()["logger"].__code__
        tell.on_call(logger)
        tell.on_skip(logger, "no-tensors", "The function takes and makes no tensors.")


def example() -> schema.Recording:
    """The recording of `example_events`."""
    recorder = Recorder(label="the example")
    example_events(recorder)
    return recorder.finish()


def long_events(tell: Observer, steps: int) -> None:
    """About `steps` steps: one loop that inlines `layer` again and again."""
    weights = [Fake(8, 8)] * max(1, steps // 29)
    engine = Engine(tell)
    engine.call("forever", {"x": Fake(4, 8), "weights": weights[:1]}, ())
    code = functions()["forever"].__code__
    tell.on_call(code)
    tell.on_compile_start(code, 2)
    walk = Walk(tell, code, dynamic=False)
    frame = Frame(code, {}, None)
    tell.on_attempt_start(frame, 1)
    frame.locals["x"] = walk.argument(Fake(4, 8), Source("L['x']"))
    weight = walk.argument(Fake(8, 8), Source("L['weights'][0]"))
    frame.locals["weights"] = Repeated(weight, len(weights))
    walk.run(frame)
    engine.finish(walk, code, 2, broke=False)


class Repeated(ListVariable):
    """A long list of one value, which is only looked at from the front."""

    def __init__(self, item: VariableTracker, count: int) -> None:
        super().__init__([item] * count)

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("[0]", self.items[0])]
