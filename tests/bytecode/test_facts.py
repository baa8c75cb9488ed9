"""Stack effects, flow and liveness, against `dis`, by hand, and against a slow search."""

from __future__ import annotations

import dis
from collections.abc import Callable
from itertools import chain

import pytest

from tests.bytecode.programs import module_codes, snippet_codes
from tracer_core.bytecode import (
    OPS,
    CallShape,
    Handler,
    Instruction,
    Operand,
    Program,
    decode,
    decoded,
    is_terminal,
    listing,
    live_before,
    make,
    max_stack,
    pops,
    reachable,
    stack_after,
    stack_depths,
    stack_effect,
    successors,
)
from tracer_core.bytecode.version import cpython


def delegates(items):
    got = yield 1
    first = yield from items
    return first, (yield from (yield got))


NOWHERE = make("NOP")
# dis counts the value that wakes a generator in its entry depth, and leaves the rest to the assembler.
EFFECT_DIFFERS = {"RETURN_GENERATOR"}
EFFECT_NOT_FOR_DIS = {"CALL", "LOAD_GLOBAL", "LOAD_GLOBAL_NULL"}


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 7, 12, 0x0203])
def test_effects_are_those_of_dis(number: int) -> None:
    for name, op in cpython.CANONICAL.items():
        if op in EFFECT_DIFFERS | EFFECT_NOT_FOR_DIS:
            continue
        has_operand = dis.opmap[name] >= dis.HAVE_ARGUMENT
        target = NOWHERE if OPS[op].jumps else None
        arg = number if OPS[op].operand is Operand.COUNT else None
        instruction = Instruction(op, arg, target)
        ways = [False] if target is None else [True] if op.startswith("JUMP") and "IF" not in op else [False, True]
        for jump in ways:
            expected = dis.stack_effect(dis.opmap[name], number if has_operand else None, jump=jump)
            assert stack_effect(instruction, jump) == expected, (name, number, jump)


def test_a_generator_waits_in_the_yield_from_around_it() -> None:
    program = decoded(delegates.__code__)
    first, second = (each for each in program.instructions if each.op == "SEND")
    resumed = [at for at, each in enumerate(program.instructions) if each.op == "RESUME"]
    assert [program.send_at(at) for at in resumed] == [None, None, first, None, second]
    assert program.send_at(program.index[first]) is None


def test_effect_of_calls_and_globals() -> None:
    assert stack_effect(make("CALL", CallShape(3, ("a",))), False) == -4
    assert stack_effect(make("LOAD_GLOBAL", "f"), False) == 1
    assert stack_effect(make("LOAD_GLOBAL_NULL", "f"), False) == 2
    with pytest.raises(ValueError, match="never jumps"):
        stack_effect(make("POP_TOP"), True)


@pytest.mark.parametrize(
    ("op", "arg", "looks_at"),
    [
        ("CALL", CallShape(3, ("a",)), 5),
        ("CALL_FUNCTION_EX", 0, 3),
        ("CALL_FUNCTION_EX", 1, 4),
        ("SWAP", 3, 3),
        ("COPY", 4, 4),
        ("LIST_APPEND", 2, 3),
        ("MAP_ADD", 2, 4),
        ("DICT_MERGE", 1, 4),
        ("BUILD_MAP", 3, 6),
        ("BUILD_CONST_KEY_MAP", 3, 4),
        ("MAKE_FUNCTION", 0b1001, 3),
        ("FORMAT_VALUE", 0, 1),
        ("FORMAT_VALUE", 4, 2),
        ("WITH_EXCEPT_START", None, 4),
        ("MATCH_KEYS", None, 2),
        ("CHECK_EXC_MATCH", None, 2),
        ("IMPORT_FROM", "x", 1),
        ("RERAISE", 1, 2),
        ("STORE_SUBSCR", None, 3),
        ("LOAD_FAST", "x", 0),
    ],
)
def test_pops_counts_what_is_looked_at(op: str, arg: object, looks_at: int) -> None:
    assert pops(make(op, arg)) == looks_at


@pytest.mark.parametrize(("op", "looks_at"), [("FOR_ITER", 1), ("SEND", 2), ("JUMP_IF_TRUE_OR_POP", 1), ("JUMP", 0)])
def test_pops_of_jumps(op: str, looks_at: int) -> None:
    assert pops(make(op, target=NOWHERE)) == looks_at


def after(op: str, stack: str, arg: object = None, *, jumps: bool = False) -> str:
    """Return the stack after an instruction, both with a letter for each item, new ones in capitals."""
    target = Instruction("NOP") if OPS[op].jumps else None
    return "".join(stack_after(make(op, arg, target), stack, jumps, "NM".__getitem__))


@pytest.mark.parametrize(
    ("op", "arg", "before", "expected"),
    [
        ("COPY", 1, "abc", "abcc"),
        ("COPY", 3, "abc", "abca"),
        ("SWAP", 1, "abc", "abc"),
        ("SWAP", 2, "abc", "acb"),
        ("SWAP", 3, "abc", "cba"),
        ("POP_TOP", None, "ab", "a"),
        ("LOAD_METHOD", "m", "ab", "aNM"),
        ("CALL", CallShape(1), "abcd", "aN"),
        ("LIST_APPEND", 2, "abcd", "abc"),
        ("MAP_ADD", 2, "abcde", "abc"),
        ("DICT_MERGE", 1, "abcd", "abc"),
        ("FOR_ITER", None, "ab", "abN"),
        ("JUMP_IF_TRUE_OR_POP", None, "ab", "a"),
        ("GET_LEN", None, "ab", "abN"),
        ("MATCH_KEYS", None, "ab", "abN"),
        ("IMPORT_FROM", "n", "ab", "abN"),
        ("PUSH_EXC_INFO", None, "ab", "aNb"),
        ("CHECK_EXC_MATCH", None, "abc", "abN"),
        ("WITH_EXCEPT_START", None, "abcd", "abcdN"),
        ("BEFORE_WITH", None, "ab", "aNM"),
        ("SEND", None, "abc", "abN"),
    ],
)
def test_items_that_stay_are_known(op: str, arg: object, before: str, expected: str) -> None:
    assert after(op, before, arg) == expected


def test_items_that_stay_after_a_jump_are_known() -> None:
    assert after("FOR_ITER", "ab", jumps=True) == "a"
    assert after("JUMP_IF_TRUE_OR_POP", "ab", jumps=True) == "ab"
    assert after("SEND", "abc", jumps=True) == "aN"


def test_the_items_after_an_instruction_are_as_many_as_its_effect() -> None:
    for instruction in chain.from_iterable(decode(code).instructions for code in snippet_codes()):
        stack = list(range(pops(instruction) + 1))
        for jumps in (False, True)[: 1 + OPS[instruction.op].jumps]:
            left = stack_after(instruction, stack, jumps, lambda place: -1)
            assert len(left) == len(stack) + stack_effect(instruction, jumps)
            assert left[0] == 0


def test_terminal_operations() -> None:
    terminal = {op for op in OPS if is_terminal(op)}
    assert terminal == {"RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP", "JUMP_NO_INTERRUPT"}


def test_successors() -> None:
    end = make("RETURN_VALUE")
    assert successors(make("NOP"), end) == (end,)
    assert successors(make("NOP"), None) == ()
    assert successors(make("JUMP", target=end), NOWHERE) == (end,)
    assert successors(make("POP_JUMP_IF_NONE", target=end), NOWHERE) == (NOWHERE, end)
    assert successors(end, NOWHERE) == ()


def _template() -> None: ...


def program(*instructions: Instruction) -> Program:
    return Program(_template.__code__, list(instructions))


def test_handlers_are_reached_from_what_they_guard() -> None:
    caught, end, dead = make("POP_TOP"), make("RETURN_VALUE"), make("NOP")
    guarded = make("LOAD_GLOBAL", "x")
    guarded.handler = Handler(caught, depth=1, push_lasti=True)
    result = make("LOAD_CONST", 1)
    done = make("RETURN_VALUE")
    whole = program(result, guarded, done, dead, caught, make("POP_TOP"), end)
    assert reachable(whole) == set(whole.instructions) - {dead}
    depths = stack_depths(whole)
    assert depths[caught] == 3, "kept items, offset, exception"
    assert (depths[guarded], depths[done], depths[end]) == (1, 2, 1)
    assert max_stack(whole) == 3


def test_stacks_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Instruction 0 \(POP_TOP\).*takes 1 items but only 0"):
        stack_depths(program(make("POP_TOP"), make("RETURN_VALUE")))
    end = make("RETURN_VALUE")
    uneven = program(
        make("LOAD_CONST", 1), make("LOAD_CONST", 2), make("POP_JUMP_IF_TRUE", target=end), make("LOAD_CONST", 3), end
    )
    with pytest.raises(ValueError, match="is reached with"):
        stack_depths(uneven)
    guarded = make("LOAD_CONST", 1)
    guarded.handler = Handler(end, depth=2, push_lasti=False)
    with pytest.raises(ValueError, match="keeps 2 items, but only 0"):
        stack_depths(program(guarded, end))


def _branching(flag: bool, a: int) -> int:
    if flag:
        b = a
    else:
        b = 2
    a = 5
    return a + b


def _guarded(a: object) -> object:
    b: object = None
    try:
        b = open(str(a))
        a = 1
    except OSError:
        return a, b
    return b


def _deleting(a: object) -> None:
    del a


def _with_cell(a: int, b: int) -> Callable[[], int]:
    return lambda: a


def live_at(function: Callable[..., object], op: str, arg: object, nth: int = 0) -> frozenset[str]:
    whole = decode(function.__code__)
    places = [each for each in whole.instructions if each.op == op and each.arg == arg]
    return live_before(whole)[places[nth]]


def test_liveness_by_hand() -> None:
    assert live_at(_branching, "RESUME", 0) == {"flag", "a"}
    assert live_at(_branching, "LOAD_CONST", 2) == set()
    assert live_at(_branching, "LOAD_CONST", 5) == {"b"}
    assert live_at(_branching, "LOAD_FAST", "b") == {"b"}
    assert live_at(_guarded, "LOAD_GLOBAL_NULL", "open") == {"a", "b"}, "the handler reads both"
    assert live_at(_guarded, "LOAD_CONST", 1) == {"a", "b"}
    assert live_at(_deleting, "RESUME", 0) == {"a"}
    assert live_at(_with_cell, "MAKE_CELL", "a") == {"a"}
    assert live_at(_with_cell, "RESUME", 0) == set()


def slowly_live(whole: Program, start: Instruction, name: str) -> bool:
    """Walks every path from `start` until something reads or stores `name`."""
    index = {instruction: number for number, instruction in enumerate(whole.instructions)}
    seen: set[Instruction] = set()
    todo = [start]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        if at.op in ("LOAD_FAST", "DELETE_FAST", "MAKE_CELL") and at.arg == name:
            return True
        if at.handler is not None:
            todo.append(at.handler.target)
        if at.op == "STORE_FAST" and at.arg == name:
            continue
        if at.op not in ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP", "JUMP_NO_INTERRUPT"):
            todo.append(whole.instructions[index[at] + 1])
        if at.target is not None:
            todo.append(at.target)
    return False


def test_liveness_against_walking_every_path() -> None:
    codes = [code for code in chain(snippet_codes(), module_codes("contextlib.py")) if code.co_nlocals]
    for code in codes:
        whole = decode(code)
        live = live_before(whole)
        for instruction in whole.instructions[::3]:
            expected = {name for name in whole.varnames if slowly_live(whole, instruction, name)}
            assert live[instruction] == expected, (code, instruction.op)


def test_listing_shows_lines_labels_operands_and_handlers() -> None:
    lines = listing(decode(_guarded.__code__)).splitlines()
    assert lines[0] == "_guarded:"
    first = _guarded.__code__.co_firstlineno
    assert lines[1].split() == [str(first), "RESUME", "0"]
    opened = next(line for line in lines if "open" in line)
    assert opened.split() == [str(first + 3), "LOAD_GLOBAL_NULL", "open", ";", "on", "error", "L1", "depth", "0"]
    caught = next(line for line in lines if " L1: " in line)
    assert caught.split()[:2] == ["L1:", "PUSH_EXC_INFO"]


def test_listing_of_keywords() -> None:
    assert "2 keywords x" in listing(decode(compile("f(1, x=2)", "<test>", "exec")))
