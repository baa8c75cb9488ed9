"""Random programs: Python functions, and instruction sequences beside a small machine that runs them in Python."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Callable
from itertools import islice
from types import CodeType, FunctionType
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bytecode.programs import nested_codes, round_trip
from tracer_core.bytecode import (
    Instruction,
    Program,
    assemble,
    copy_program,
    decode,
    make,
    stack_depths,
)

some = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# --- Python functions

NAMES = ("a", "b", "c", "total")
names = st.sampled_from(NAMES)
atoms = st.one_of(
    names,
    st.integers(-3, 300).map(repr),
    st.sampled_from(["0.0", "-0.0", "True", "None", "'s'", "(1, 2)", "[]", "len", "missing"]),
)


def _expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operator = st.sampled_from("- % // & ^ < == is in and or".split() + ["not in", "is not", "!="])
    return st.one_of(
        st.builds("({} {} {})".format, inner, operator, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("len([b for b in ({}, {}) if {}])".format, inner, inner, inner),
        st.builds("(lambda c={}: (c, {}))()[1]".format, inner, inner),
        st.builds("note({}, key={})".format, inner, inner),
        st.builds("note(*({},), **{{'key': {}}})".format, inner, inner),
        st.builds("f'{{{}!r:.5}}'".format, names),
        st.builds("(not {})".format, inner),
        st.builds("len({{'k': {}, **{{'x': {}}}}})".format, inner, inner),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
    )


# Values must not grow, or a generated loop fills the memory: nothing here adds, multiplies or nests them.
expressions = st.recursive(atoms, _expressions, max_leaves=6)
simple = st.one_of(
    st.builds("{} = {}".format, names, expressions),
    st.builds("{} -= {}".format, names, expressions),
    st.builds("note({})".format, expressions),
    st.builds("del {}".format, names),
    st.builds("{}, *{} = {}".format, names, names, expressions),
    st.builds("return {}".format, expressions),
    st.builds("raise ValueError({})".format, expressions),
    st.sampled_from(["pass", "break", "continue", "raise", "assert a"]),
)


def _indented(*bodies: list[str]) -> list[str]:
    return [textwrap.indent("\n".join(body), "    ") for body in bodies]


def _compound(block: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    def write(pattern: str, *parts: Any) -> list[str]:
        filled = [part if isinstance(part, str) else _indented(part)[0] for part in parts]
        return [pattern.format(*filled)]

    return st.one_of(
        st.builds(lambda e, x, y: write("if {}:\n{}\nelse:\n{}", e, x, y), expressions, block, block),
        st.builds(lambda n, x, y: write("for {} in few():\n{}\nelse:\n{}", n, x, y), names, block, block),
        st.builds(lambda e, x: write("while ticking() and {}:\n{}", e, x), expressions, block),
        st.builds(lambda x, y: write("try:\n{}\nexcept (ValueError, TypeError) as c:\n{}", x, y), block, block),
        st.builds(lambda x, y: write("try:\n{}\nfinally:\n{}", x, y), block, block),
        st.builds(
            lambda x, y: write("try:\n{}\nexcept* NameError as b:\n    note(b)\nelse:\n{}", x, y), block, block
        ),
        st.builds(lambda e, x: write("with Manager({}) as a:\n{}", e, x), expressions, block),
        st.builds(
            lambda e, x, y: write("match {}:\n  case [a, *b]:\n{}\n  case 1 | None:\n{}", e, x, y),
            expressions,
            block,
            block,
        ),
        st.builds(lambda n, x: write("def {}(a=1):\n    nonlocal total\n{}", n, x), names, block),
    )


blocks = st.recursive(
    st.lists(simple, min_size=1, max_size=3),
    lambda inner: st.lists(_compound(inner), min_size=1, max_size=3).map(lambda parts: sum(parts, [])),
    max_leaves=6,
)


@st.composite
def functions(draw: st.DrawFn) -> CodeType:
    """The code of `def f(a, b)`; parts that Python's grammar refuses (a lone break, ...) become `pass`."""
    body = sum(draw(st.lists(blocks, min_size=1, max_size=3)), [])
    text = "\n".join(body)
    for refused in ("break", "continue"):
        loopless = text.replace(refused, "pass")
        text = text if _compiles(text) else loopless
    text = text if _compiles(text) else "return a"
    return _compiled(text)


def _compiled(body: str) -> CodeType:
    source = (
        f"def outer():\n  total = 0\n  def f(a, b):\n    nonlocal total\n{textwrap.indent(body, '    ')}\n  return f"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        top = compile(source, "<generated>", "exec")
    return next(code for code in nested_codes(top) if code.co_name == "outer")


def _compiles(body: str) -> bool:
    try:
        _compiled(body)
    except SyntaxError:
        return False
    return True


def outcome(outer: CodeType, *args: Any) -> Any:
    """Everything that can be seen of a run: what it noted, what it gave or raised, and where."""
    log: list[Any] = []

    def note(*values: Any, **named: Any) -> Any:
        log.append(_shown((values, named)))
        if len(log) > 200:
            raise KeyboardInterrupt
        return values[0] if values else None

    class Manager:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __enter__(self) -> Any:
            note("enter")
            return self.value

        def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
            note("exit", error)
            return kind is ValueError

        def __repr__(self) -> str:
            return "manager"

    ticks = iter(range(20))
    globals_ = {
        "note": note,
        "Manager": Manager,
        "ticking": lambda: next(ticks, None) is not None,
        "few": lambda: islice(ticks, 3),
    }
    try:
        result = FunctionType(outer, globals_)()(*args)
    except BaseException as error:  # noqa: BLE001 - whatever the program raises is its outcome
        lines = []
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "<generated>":
                lines.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        return log, type(error), _shown(error), lines
    return log, _shown(result)


def _shown(value: Any) -> str:
    return re.sub(r" at 0x\w+", "", repr(value))


def changed(outer: CodeType, change: Callable[[Program], Program]) -> CodeType:
    program = decode(outer)
    for instruction in program.instructions:
        if instruction.op == "LOAD_CONST" and isinstance(instruction.arg, CodeType):
            instruction.arg = changed(instruction.arg, change)
    return assemble(change(program))


ARGUMENTS = [(1, 2), (None, [1, 2]), ("s", (3,))]


@some
@given(functions())
def test_python_functions_survive(outer: CodeType) -> None:
    again = round_trip(outer)
    copied = changed(outer, copy_program)
    for args in ARGUMENTS:
        expected = outcome(outer, *args)
        assert outcome(again, *args) == expected
        assert outcome(copied, *args) == expected


@some
@given(functions(), st.data())
def test_nops_anywhere_change_nothing(outer: CodeType, data: st.DataObject) -> None:
    def with_nops(program: Program) -> Program:
        spots = data.draw(st.lists(st.integers(0, len(program.instructions) - 1), max_size=4, unique=True))
        for spot in sorted(spots, reverse=True):
            behind = program.instructions[spot]
            nops = [make("NOP") for _ in range(data.draw(st.sampled_from([1, 250, 300])))]
            for nop in nops:
                nop.handler = behind.handler
                nop.span = behind.span
            program.instructions[spot:spot] = nops
        return program

    padded = changed(outer, with_nops)
    for args in ARGUMENTS:
        assert outcome(padded, *args) == outcome(outer, *args)


@some
@given(functions(), st.randoms(use_true_random=False))
def test_instructions_may_stand_in_any_order(outer: CodeType, random: Any) -> None:
    """Blocks shuffled, joined by jumps: forward jumps become backward ones and the other way round."""

    def shuffled(program: Program) -> Program:
        if any(each.op in ("FOR_ITER", "SEND") for each in program.instructions):
            return program  # these only jump forward
        after = dict(zip(program.instructions, program.instructions[1:], strict=False))
        joined = [(each, after.get(each)) for each in program.instructions]
        start = next(index for index, each in enumerate(program.instructions) if each.op == "RESUME") + 1
        head, body = program.instructions[:start], joined[start:]
        first = body[0][0]
        random.shuffle(body)
        program.instructions = [*head, make("JUMP", target=first)]
        for instruction, follower in body:
            program.instructions.append(instruction)
            if follower is not None and instruction.op not in ("JUMP", "RETURN_VALUE", "RAISE_VARARGS", "RERAISE"):
                jump = make("JUMP", target=follower)
                program.instructions.append(jump)
        return program

    scattered = changed(outer, shuffled)
    for args in ARGUMENTS:
        assert outcome(scattered, *args) == outcome(outer, *args)


@some
@given(functions())
def test_decoding_what_was_assembled_gives_the_same_program(outer: CodeType) -> None:
    for code in nested_codes(outer):
        first = decode(code)
        second = decode(assemble(first))
        assert shape(second) == shape(first)


def shape(program: Program) -> list[Any]:
    index = {instruction: number for number, instruction in enumerate(program.instructions)}
    depths = stack_depths(program)
    return [
        (
            each.op,
            each.arg,
            None if each.target is None else index[each.target],
            None
            if each.handler is None
            else (index[each.handler.target], each.handler.depth, each.handler.push_lasti),
            each.span,
            each.origin,
            depths.get(each),
        )
        for each in program.instructions
    ]


# --- Instruction sequences

WRAP = 1 << 40
STEPS = ("push", "load", "store", "add", "multiply", "swap", "copy", "pop", "skip")


@st.composite
def sequences(draw: st.DrawFn) -> Program:
    """Straight code with up to 400 locals and as many constants, conditional jumps forward over any distance, and
    jumps that keep their value."""
    locals_ = [f"v{number}" for number in range(draw(st.sampled_from([3, 300, 400])))]
    body: list[Instruction] = []
    depth = 0
    for number, name in enumerate(locals_):
        body += [make("LOAD_CONST", number * 1001), make("STORE_FAST", name)]
    pending: list[tuple[Instruction, int]] = []  # jumps waiting for a place with their stack depth
    for step in draw(st.lists(st.sampled_from(STEPS), max_size=150)):
        for jump, wanted in list(pending):
            if wanted == depth and draw(st.booleans()):
                jump.target = make("NOP")
                body.append(jump.target)
                pending.remove((jump, wanted))
        if step in ("push", "load") or depth < 2:
            load = make("LOAD_FAST", draw(st.sampled_from(locals_))) if step == "load" else None
            body.append(load or make("LOAD_CONST", draw(st.integers(0, 5000))))
            depth += 1
        elif step == "store":
            body.append(make("STORE_FAST", draw(st.sampled_from(locals_))))
            depth -= 1
        elif step in ("add", "multiply"):
            body += [
                make("BINARY_OP", "+" if step == "add" else "*"),
                make("LOAD_CONST", WRAP),
                make("BINARY_OP", "%"),
            ]
            depth -= 1
        elif step == "swap":
            body.append(make("SWAP", draw(st.integers(2, min(depth, 300)))))
        elif step == "copy":
            body.append(make("COPY", draw(st.integers(1, min(depth, 300)))))
            depth += 1
        elif step == "pop":
            body.append(make("POP_TOP"))
            depth -= 1
        else:
            body += [make("LOAD_CONST", 1), make("BINARY_OP", "&")]
            op = draw(st.sampled_from(["POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "JUMP_IF_TRUE_OR_POP"]))
            jump = Instruction(op)
            body.append(jump)
            depth -= 1
            pending.append((jump, depth + op.endswith("OR_POP")))
    if depth == 0:
        body.append(make("LOAD_CONST", "empty"))
        depth = 1
    done = make("BUILD_TUPLE", depth)
    body += [done, make("RETURN_VALUE")]
    for jump, wanted in pending:  # what found no place gets its own exit
        jump.target = make("BUILD_TUPLE", wanted)
        body += [jump.target, make("RETURN_VALUE")]
    return Program((lambda: None).__code__, [make("RESUME", 0), *body])


def machine(program: Program) -> Any:
    """Runs a generated sequence, one instruction at a time."""
    stack: list[Any] = []
    local: dict[str, Any] = {}
    at = 0
    while True:
        each = program.instructions[at]
        at += 1
        match each.op:
            case "NOP" | "RESUME":
                pass
            case "LOAD_CONST":
                stack.append(each.arg)
            case "LOAD_FAST":
                stack.append(local[each.arg])
            case "STORE_FAST":
                local[each.arg] = stack.pop()
            case "BINARY_OP":
                right, left = stack.pop(), stack.pop()
                operate = {"+": int.__add__, "*": int.__mul__, "%": int.__mod__, "&": int.__and__}[each.arg]
                stack.append(operate(left, right))
            case "SWAP":
                stack[-1], stack[-each.arg] = stack[-each.arg], stack[-1]
            case "COPY":
                stack.append(stack[-each.arg])
            case "POP_TOP":
                stack.pop()
            case "BUILD_TUPLE":
                stack = [*stack[: len(stack) - each.arg], tuple(stack[len(stack) - each.arg :])]
            case "RETURN_VALUE":
                return stack.pop()
            case "POP_JUMP_IF_TRUE" | "POP_JUMP_IF_FALSE" | "JUMP_IF_TRUE_OR_POP":
                value = stack.pop()
                if bool(value) == ("TRUE" in each.op):
                    assert each.target is not None
                    at = program.instructions.index(each.target)
                    if each.op.endswith("OR_POP"):
                        stack.append(value)


@some
@given(sequences())
def test_sequences_do_what_the_machine_does(program: Program) -> None:
    code = assemble(program)
    expected = machine(program)
    assert FunctionType(code, {})() == expected
    assert FunctionType(assemble(decode(code)), {})() == expected
    assert machine(decode(code)) == expected
