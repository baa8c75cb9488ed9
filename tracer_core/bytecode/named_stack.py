"""Name stack items by the expressions in the source text that produced them."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass

from tracer_core.bytecode.flow import following, successors
from tracer_core.bytecode.instruction import Instruction, Program, Span
from tracer_core.bytecode.stack import pops, stack_after
from tracer_core.names.code import Label
from tracer_core.names.files import place, shown_file

LONGEST = 60


@dataclass(frozen=True, slots=True)
class _Item:
    """A stack item: the `place`-th, from the bottom, of those that the instruction `by` left. `of` is the lowest item
    that it took, None for the exception that a handler begins with."""

    by: Instruction
    place: int = 0
    of: _Item | None = None
    raised: bool = False


def stack_labels(program: Program, filename: str, at: Instruction) -> list[Label]:
    """Return the names of the items on the stack when `at` is about to run, lowest first."""
    return [_label(item, filename) for item in _stack_before(program, at)]


def iterable_label(program: Program, filename: str) -> Label:
    """Return the name of the iterator that a comprehension or generator expression is called with."""
    loads = (each for each in program.instructions if each.op == "LOAD_FAST" and each.arg == ".0")
    span = next((load.span for load in loads), None)
    text = _iterable(_text(filename, span, longest=None))
    given = f"`{_shortened(text)}`" if text else "what is iterated over"
    return Label(given, _place(filename, span), iterator=True)


# --- which instruction left an item ---------------------------------------------------------------------------


def _stack_before(program: Program, at: Instruction) -> list[_Item]:
    """Return the stack before `at`, along the first path that leads there."""
    after = following(program)
    stacks: dict[Instruction, list[_Item]] = {program.instructions[0]: []}
    todo = program.instructions[:1]
    while todo and at not in stacks:
        instruction = todo.pop()
        stack, handler = stacks[instruction], instruction.handler
        reached = [
            (successor, _after(instruction, stack, successor is instruction.target))
            for successor in successors(instruction, after[instruction])
        ]
        if handler is not None:
            pushed = [_Item(instruction, raised=True)] * (1 + handler.push_lasti)
            reached.append((handler.target, stack[: handler.depth] + pushed))
        for successor, items in reached:
            if successor not in stacks:
                stacks[successor] = items
                todo.append(successor)
    return stacks.get(at, [])


def _after(instruction: Instruction, stack: list[_Item], jumps: bool) -> list[_Item]:
    taken = pops(instruction)
    of = stack[-taken] if taken else None
    raised = instruction.op == "PUSH_EXC_INFO"
    return stack_after(instruction, stack, jumps, lambda place: _Item(instruction, place, of, raised))


# --- what it is called ----------------------------------------------------------------------------------------


def _label(item: _Item, filename: str) -> Label:
    by, at = item.by, _place(filename, item.by.span)
    if item.raised:
        before = by.op == "PUSH_EXC_INFO"
        return Label(f"the exception {'handled before' if before else 'being handled'}", at)
    if by.op == "GET_ITER" and item.of is not None:
        of = _label(item.of, filename)
        return Label(of.given, of.at, iterator=True)
    if by.op == "BEFORE_WITH" and item.of is not None:
        of = _label(item.of, filename)
        return Label(f"what entering {of.given} gave" if item.place else f"the exit of {of.given}", of.at)
    if by.op == "FOR_ITER" and item.of is not None:
        of = _label(item.of, filename)
        return Label(f"an item of {of.given}", of.at)
    text = _text(filename, by.span)
    if by.op == "LOAD_METHOD" and item.of is not None:
        return Label(f"`{text}`" if text else "a method", at, receiver=_label(item.of, filename))
    if by.op in ("UNPACK_SEQUENCE", "UNPACK_EX"):
        return Label(f"an item for `{text}`" if text else "an item", at)
    return Label(f"`{text}`", at, result=by.op in _CALLS) if text else Label(_WORDS.get(by.op, "a value"), at)


_CALLS = ("CALL", "CALL_FUNCTION_EX")
_WORDS = {"CALL": "the result of a call", "BINARY_OP": "the result of an operator", "LOAD_CONST": "a constant"}


def _place(filename: str, span: Span | None) -> str:
    return "" if span is None or span.line is None else place(shown_file(filename), span.line)


def _text(filename: str, span: Span | None, longest: int | None = LONGEST) -> str:
    """Return the source text of a span in one line; empty where it cannot be had."""
    if span is None:
        return ""
    line, end_line, column, end_column = span
    if line is None or end_line is None or column is None or end_column is None:
        return ""
    lines = [text.encode() for text in linecache.getlines(filename)[line - 1 : end_line]]
    if len(lines) != end_line - line + 1:
        return ""
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    text = " ".join(b"".join(lines).decode("utf-8", "replace").split())
    return text if longest is None else _shortened(text, longest)


def _shortened(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _iterable(comprehension: str) -> str:
    """Return the text of the iterable that a comprehension or generator expression starts with; empty where it cannot
    be had."""
    text = f"({comprehension})"
    try:
        parsed = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if not isinstance(parsed, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return ""
    return ast.get_source_segment(text, parsed.generators[0].iter) or ""
