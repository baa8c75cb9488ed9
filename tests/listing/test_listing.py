"""Listings of generated code, against what a person would write for it."""

from __future__ import annotations

import ast
import glob
import os
import re
import textwrap
import threading
from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest
import torch

import tracer_core
from tracer_core.bytecode import OPS, Instruction, Operand, Program, decode, make
from tracer_core.frame_input import Written
from tracer_core.listing import python_listing
from tracer_core.observer import Observer, observing

COUNT = 0


class Listings(Observer):
    """Collects listings; graphs are numbered from 0 in each test."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._graphs: list[str] = []

    def on_graph(self, graph: Any, name: str) -> None:
        self._graphs.append(name)

    def on_generated(self, code: CodeType, new_code: CodeType, listing: str, resumes: list[CodeType]) -> None:
        for number, name in enumerate(self._graphs):
            listing = re.sub(rf"\b{name}\b", f"graph_{number}", listing)
        self.texts.append(listing)


def listings(fn: Any, *args: Any) -> list[str]:
    seen = Listings()
    with observing(seen):
        tracer_core.compile(fn, backend="eager")(*args)
    return seen.texts


def same(seen: str, expected: str, **lines: int) -> None:
    """`{name}` in the expected text is the number of the line `lines` gives."""
    assert seen == textwrap.dedent(expected).lstrip("\n").format(**lines)


def line_of(fn: Any, offset: int) -> int:
    return int(fn.__code__.co_firstlineno) + offset


def x() -> torch.Tensor:
    return torch.ones(2)


@pytest.mark.row("O13")
def test_without_a_break() -> None:
    def twice(x, y=2):
        z = x + 1
        return z, {"double": [z * y]}

    (text,) = listings(twice, x())
    same(
        text,
        """
        def twice(x, y):
            outputs = graph_0(x)
            value_1 = {{}}
            value_1['double'] = [outputs[1]]
            return (outputs[0], value_1)
        """,
    )


@pytest.mark.row("O13")
def test_break_in_the_middle() -> None:
    def middle(x):
        y = x + 1
        print(x.shape)
        return y * 2

    first, second = listings(middle, x())
    same(
        first,
        """
        def middle(x):
            outputs = graph_0(x)
            value_1 = Size((2,))
            y = outputs[0]
            # the graph ends before this, line {line} `print(x.shape)`
            print(value_1)
            return resume_in_middle_at_{line}(y)
        """,
        line=line_of(middle, 2),
    )
    same(
        second,
        """
        def resume_in_middle_at_{line}(y):
            outputs = graph_1(y)
            return outputs[0]
        """,
        line=line_of(middle, 2),
    )


@pytest.mark.row("O13", "I4")
def test_a_tensors_branch_has_two_resume_functions() -> None:
    def branch(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    same(
        listings(branch, x())[0],
        """
        def branch(x):
            outputs = graph_0(x)
            # the graph ends before this, line {test} `if x.sum() > 0:`
            if outputs[0]:
                return resume_in_branch_at_{test}_true(x)
            else:
                return resume_in_branch_at_{test}_false(x)
        """,
        test=line_of(branch, 1),
    )


@pytest.mark.row("O13", "O7")
def test_side_effects() -> None:
    class Box:
        held: Any = None

    def effects(x, items, table, box):
        global COUNT
        COUNT = 5
        items.append(x + 1)
        table["a"] = [x * 2, 3]
        box.held = -1
        return None

    (text,) = listings(effects, x(), [], {}, Box())
    same(
        text,
        """
        def effects(x, items, table, box):
            global COUNT
            outputs = graph_0(x)
            items[:] = [outputs[0]]
            dict.update(table, {{'a': [outputs[1], 3]}})
            object.__setattr__(box, 'held', -1)
            COUNT = 5
            return None
        """,
    )


@pytest.mark.row("O13", "I7")
def test_cells() -> None:
    total = 1

    def cells(x):
        nonlocal total
        total = total + 1
        return x + total

    (text,) = listings(cells, x())
    same(
        text,
        """
        def cells(x):
            nonlocal total
            outputs = graph_0(x)
            total = 2
            return outputs[0]
        """,
    )


@pytest.mark.row("O13", "I6")
def test_break_in_a_with_block() -> None:
    def block(x, lock):
        with lock:
            y = x + 1
            print("inside")
        return y

    text = listings(block, x(), threading.Lock())[1]
    same(
        text,
        """
        def resume_in_block_at_{within}(stack_0, x):
            # stack_0 is the exit of `lock`, test_listing.py:{within}
            outputs = graph_0(x)
            y = outputs[0]
            # the graph ends before this, line {prints} `print("inside")`
            # (if it raises, the original code continues at line {within} `with lock:`)
            print('inside')
            return resume_in_block_at_{prints}(stack_0, y)
        """,
        within=line_of(block, 1),
        prints=line_of(block, 3),
    )


@pytest.mark.row("O13", "I6")
def test_entering_a_with_block() -> None:
    def enters(x, lock):
        x = x + 1
        with lock:
            return x

    same(
        listings(enters, x(), threading.Lock())[0],
        """
        def enters(x, lock):
            outputs = graph_0(x)
            x = outputs[0]
            # the graph ends before this, line {line} `with lock:`
            leave = lock.__exit__
            lock.__enter__()
            return resume_in_enters_at_{line}(leave, x)
        """,
        line=line_of(enters, 2),
    )


@pytest.mark.row("O13", "I3")
def test_break_in_a_loop() -> None:
    def loop(x):
        for i in range(2):
            x = x + i
            print("step", i)
        return x

    first, steps, *_ = listings(loop, x())
    same(
        first,
        """
        def loop(x):
            outputs = graph_0(x)
            value_1 = iter(range(0, 2, 1))
            value_1.__setstate__(1)
            x = outputs[0]
            # the graph ends before this, line {line} `print("step", i)`
            print('step', 0)
            return go_on(resume_in_loop_at_{line}, value_1, x)
        """,
        line=line_of(loop, 3),
    )
    assert steps.startswith(f"def resume_in_loop_at_{line_of(loop, 3)}(stack_0, x):\n")


@pytest.mark.row("O13", "I5")
def test_break_in_an_except_block() -> None:
    def caught(x):
        try:
            raise ValueError("a")
        except ValueError:
            y = x + 1
            print("caught")
            return y

    text = listings(caught, x())[0]
    assert "value_1 = ValueError.__new__(ValueError, 'a')\n" in text
    assert "    # from here on as in an `except` block that handles value_1\n" in text
    assert text.index("# from here on") < text.index("print('caught')") < text.index("# leaves the `except` block")


@pytest.mark.row("O13")
def test_a_break_that_ends_the_frame() -> None:
    def raises(x):
        y = x + 1
        raise ValueError(y)

    seen = Listings()
    with observing(seen):
        with pytest.raises(ValueError, match="tensor"):
            tracer_core.compile(raises, backend="eager")(x())
    same(
        seen.texts[0],
        """
        def raises(x):
            outputs = graph_0(x)
            # the graph ends before this, line {line} `raise ValueError(y)`
            raise ValueError.__new__(ValueError, outputs[0])
        """,
        line=line_of(raises, 2),
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _codes(constant)


class Printing:
    def __radd__(self, other: Any) -> Any:
        print("adds")
        return other


@pytest.mark.row("O13")
def test_what_an_operator_changes_in_place_has_a_name() -> None:
    def adds(x, printing):
        total = 5
        y = x + 1
        total += printing
        return y, total

    same(
        listings(adds, x(), Printing())[0],
        """
        def adds(x, printing):
            outputs = graph_0(x)
            y = outputs[0]
            # the graph ends before this, line {line} `total += printing`
            value_1 = 5
            value_1 += printing
            return resume_in_adds_at_{line}(value_1, y)
        """,
        line=line_of(adds, 3),
    )


@pytest.mark.row("O13")
def test_every_instruction_of_the_standard_library_gives_python_text() -> None:
    """A graph may end before any of the user's instructions, which is written as the one that ends it."""
    seen: set[tuple[str, Any]] = set()
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py"))):
        with open(path, "rb") as file:
            top = compile(file.read(), path, "exec", dont_inherit=True)
        for code in _codes(top):
            program = decode(code)
            for instruction in program.instructions:
                info = OPS[instruction.op]
                kind = (instruction.op, instruction.arg if info.operand in _COUNTED else info.operand)
                if kind not in seen:
                    seen.add(kind)
                    text = python_listing(_broken_before(program, instruction), code)
                    ast.parse(re.sub(r"<[\w. ]+>", "an_object", text))
                    assert len(re.findall(r"(?m)^ +return\b", text)) == _ways(instruction), text
    assert {op for op, _ in seen} > {"BINARY_OP", "CALL", "FOR_ITER", "SEND", "UNPACK_EX", "WITH_EXCEPT_START"}
    assert len(seen) > 200


def _ways(instruction: Instruction) -> int:
    """Return in how many ways the function returns after the instruction, or by it."""
    info = OPS[instruction.op]
    return (not info.terminal) + info.jumps + (instruction.op == "RETURN_VALUE")


_COUNTED = {Operand.COUNT, Operand.CALL, Operand.BINARY, Operand.COMPARISON, Operand.IDENTITY, Operand.MEMBERSHIP}


def _broken_before(program: Program, instruction: Instruction) -> Written:
    """Return code that loads what the instruction takes, runs it, and returns what it leaves, in either case."""
    info = OPS[instruction.op]
    first = [make("LOAD_FAST", f"___stack{depth}") for depth in range(info.takes(instruction.arg))]
    after: dict[bool, list[Instruction]] = {}
    for jumps, leaves in ((False, info.leaves), (True, info.leaves_on_jump)):
        if leaves is not None and not (info.terminal and not jumps):
            after[jumps] = [make("BUILD_TUPLE", leaves(instruction.arg)), make("RETURN_VALUE")]
    return Written(program, first, instruction, after)
