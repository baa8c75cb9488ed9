"""What the assembler makes of programs that were changed or written by hand: they run, and do what they say."""

from __future__ import annotations

import dis
import math
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

import pytest

from tracer_core.bytecode import (
    CallShape,
    Handler,
    Instruction,
    Program,
    Span,
    assemble,
    decode,
    make,
    max_stack,
)


def _nothing() -> None: ...


def _one(a: Any) -> Any: ...


def _two(a: Any, b: Any) -> Any: ...


def written(like: Callable[..., Any], *instructions: Instruction, **variables: list[str]) -> Program:
    names = list(like.__code__.co_varnames)
    return Program(like.__code__, [make("RESUME", 0), *instructions], **{"varnames": names, **variables})


def run(program: Program, *args: Any, **globals_: Any) -> Any:
    return FunctionType(assemble(program), {"__builtins__": __builtins__, **globals_})(*args)


def returning(value: Any) -> list[Instruction]:
    return [make("LOAD_CONST", value), make("RETURN_VALUE")]


def test_constants_stay_the_objects_they_are() -> None:
    nan = math.nan
    values: list[Any] = [
        0,
        False,
        0.0,
        -0.0,
        0j,
        -0j,
        1,
        True,
        1.0,
        nan,
        None,
        ...,
        b"",
        (),
        (0,),
        (False,),
        (0.0,),
        (-0.0,),
    ]
    values += [[], {}, {1}, object(), [0], (0, [1]), frozenset({1}), int, _nothing.__code__, "two words", 1 << 70]
    equal_but_other = [tuple([1000, 2]), tuple([1000, 2])]
    values += equal_but_other
    loads = [make("LOAD_CONST", value) for value in values]
    result = run(written(_nothing, *loads, make("BUILD_TUPLE", len(values)), make("RETURN_VALUE")))
    assert all(got is value for got, value in zip(result, values, strict=True))


def test_more_constants_than_a_byte_counts() -> None:
    values = [object() for _ in range(70_000)]
    parts: list[Instruction] = []
    for value in values:
        parts += [make("LOAD_CONST", value), make("LIST_APPEND", 1)]
    assert run(written(_nothing, make("BUILD_LIST", 0), *parts, make("RETURN_VALUE"))) == values


def test_a_string_constant_does_not_become_a_docstring() -> None:
    bare = _nothing.__code__.replace(co_consts=())
    made = FunctionType(assemble(Program(bare, [make("RESUME", 0), *returning("not documentation")])), {})
    assert made() == "not documentation"
    assert made.__doc__ is None


def test_a_docstring_stays() -> None:
    def documented() -> int:
        """What it is for."""
        return 1

    assert FunctionType(assemble(decode(documented.__code__)), {}).__doc__ == "What it is for."


def test_locals_unknown_to_varnames_are_appended() -> None:
    names = [f"v{number}" for number in range(300)]
    body: list[Instruction] = []
    for number, name in enumerate(names):
        body += [make("LOAD_CONST", number), make("STORE_FAST", name)]
    body += [make("LOAD_FAST", name) for name in [*names, "a"]]
    program = written(_one, *body, make("BUILD_LIST", 301), make("RETURN_VALUE"))
    assert run(program, "argument") == [*range(300), "argument"]
    code = assemble(program)
    assert code.co_varnames == ("a", *names)
    assert code.co_nlocals == 301
    assert program.varnames == ["a"]


def test_more_names_than_a_byte_counts() -> None:
    globals_: dict[str, Any] = {f"g{number}": number for number in range(300)}
    loads = [make("LOAD_GLOBAL", name) for name in globals_]
    program = written(_nothing, *loads, make("BUILD_TUPLE", 300), make("RETURN_VALUE"))
    assert run(program, **globals_) == tuple(range(300))
    call = [make("LOAD_GLOBAL_NULL", "g299"), make("LOAD_CONST", 7), make("CALL", CallShape(1)), make("RETURN_VALUE")]
    globals_["g299"] = abs
    parts = [part for name in globals_ for part in (make("LOAD_GLOBAL", name), make("POP_TOP"))]
    assert run(written(_nothing, *parts, *call), **globals_) == 7


def test_call_with_keywords() -> None:
    def target(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    loads = [make("LOAD_CONST", number) for number in range(4)]
    call = make("CALL", CallShape(4, ("x", "y")))
    program = written(_nothing, make("LOAD_GLOBAL_NULL", "target"), *loads, call, make("RETURN_VALUE"))
    assert run(program, target=target) == ((0, 1), {"x": 2, "y": 3})


def test_an_argument_can_become_a_cell() -> None:
    inner = decode((lambda b: lambda: b)(1).__code__)
    body = [
        make("LOAD_CLOSURE", "b"),
        make("BUILD_TUPLE", 1),
        make("LOAD_CONST", assemble(inner)),
        make("MAKE_FUNCTION", 8),
        make("LOAD_CONST", "changed"),
        make("STORE_DEREF", "b"),
        make("RETURN_VALUE"),
    ]
    program = written(_two, *body, cellvars=["b"])
    program.instructions.insert(0, make("MAKE_CELL", "b"))
    closure = run(program, 1, 2)
    assert closure() == "changed"
    code = assemble(program)
    assert code.co_cellvars == ("b",)
    assert code.co_varnames == ("a", "b")


def test_cells_beside_arguments_and_free_variables() -> None:
    outside = CellType("free")
    body = [
        make("MAKE_CELL", "own"),
        make("COPY_FREE_VARS", 99),
        make("RESUME", 0),
        make("LOAD_CONST", "mine"),
        make("STORE_DEREF", "own"),
        make("LOAD_DEREF", "own"),
        make("LOAD_DEREF", "outside"),
        make("LOAD_FAST", "a"),
        make("LOAD_FAST", "late"),
        make("BUILD_TUPLE", 4),
        make("RETURN_VALUE"),
    ]
    body[3:3] = [make("LOAD_CONST", "later"), make("STORE_FAST", "late")]
    code = assemble(Program(_one.__code__, body, ["a"], ["own"], ["outside"]))
    assert FunctionType(code, {}, closure=(outside,))("arg") == ("mine", "free", "arg", "later")


JUMPED, FELL = "jumped", "fell through"


def jumping(op: str, distance: int, backward: bool, keeps: bool) -> Program:
    """Jumps on its argument over `distance` NOPs; gives where it landed, and the value if the jump keeps it."""
    padding = [make("NOP") for _ in range(distance)]
    landing = [make("LOAD_CONST", JUMPED), *([make("BUILD_TUPLE", 2)] if keeps else []), make("RETURN_VALUE")]
    jump = [make("LOAD_FAST", "a"), make(op, target=landing[0])]
    if backward:
        start = make("NOP")
        return written(_one, make("JUMP", target=start), *landing, *padding, start, *jump, *returning(FELL))
    return written(_one, *jump, *padding, *returning(FELL), *landing)


DISTANCES = [0, 1, *range(248, 258), 300]
CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "POP_JUMP_IF_TRUE": bool,
    "POP_JUMP_IF_FALSE": lambda value: not value,
    "POP_JUMP_IF_NONE": lambda value: value is None,
    "POP_JUMP_IF_NOT_NONE": lambda value: value is not None,
    "JUMP_IF_TRUE_OR_POP": bool,
    "JUMP_IF_FALSE_OR_POP": lambda value: not value,
}


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("op", CONDITIONS)
def test_conditional_jumps_of_any_length_both_ways(op: str, backward: bool) -> None:
    for distance in DISTANCES:
        check_jump(op, distance, backward)


@pytest.mark.parametrize("backward", [False, True])
def test_jumps_that_need_two_prefixes(backward: bool) -> None:
    check_jump("JUMP_IF_TRUE_OR_POP", 66_000, backward)


def check_jump(op: str, distance: int, backward: bool) -> None:
    keeps = op.endswith("OR_POP")
    program = jumping(op, distance, backward, keeps)
    code = assemble(program)
    function = FunctionType(code, {})
    for value in (0, 1, "", "x", None):
        landed = (value, JUMPED) if keeps else JUMPED
        assert function(value) == (landed if CONDITIONS[op](value) else FELL)
    assert code.co_stacksize >= max_stack(program)
    opnames = {each.opname for each in dis.get_instructions(code)}
    assert ("POP_JUMP_BACKWARD" + op.split("JUMP")[1].removesuffix("_OR_POP") in opnames) == backward


def test_a_loop_written_by_hand() -> None:
    loop = make("FOR_ITER", target=make("LOAD_FAST", "total"))
    assert loop.target is not None
    program = written(
        _one,
        make("LOAD_CONST", 0),
        make("STORE_FAST", "total"),
        make("LOAD_FAST", "a"),
        make("GET_ITER"),
        loop,
        make("LOAD_FAST", "total"),
        make("BINARY_OP", "+="),
        make("STORE_FAST", "total"),
        make("JUMP", target=loop),
        loop.target,
        make("RETURN_VALUE"),
    )
    assert run(program, range(1000)) == 499_500
    assert assemble(program).co_stacksize == 3, "iterator, next number, total"


@pytest.mark.parametrize(
    ("op", "values", "exit"),
    [("FOR_ITER", [iter(())], returning(0)), ("SEND", [iter(()), None], [make("RETURN_VALUE")])],
)
def test_forward_only_jumps_say_so(op: str, values: list[Any], exit: list[Instruction]) -> None:
    start = make("NOP")
    loads = [make("LOAD_CONST", value) for value in values]
    back = [make("JUMP", target=start), *exit, start, *loads, make(op, target=exit[0]), make("RETURN_VALUE")]
    with pytest.raises(ValueError, match=f"{op} can only jump forward"):
        assemble(written(_nothing, *back))


def test_a_handler_written_by_hand_gets_depth_and_offset() -> None:
    caught = make("PUSH_EXC_INFO")
    guarded = [make("LOAD_CONST", 1), make("LOAD_CONST", 0), make("BINARY_OP", "/")]
    for instruction in guarded:
        instruction.handler = Handler(caught, depth=1, push_lasti=True)
    program = written(
        _nothing,
        make("LOAD_CONST", "kept"),
        *guarded,
        make("RETURN_VALUE"),
        caught,  # kept, offset, previous, exception
        make("STORE_FAST", "error"),
        make("POP_EXCEPT"),
        make("LOAD_FAST", "error"),
        make("BUILD_TUPLE", 3),
        make("RETURN_VALUE"),
    )
    kept, offset, error = run(program)
    assert kept == "kept"
    assert isinstance(error, ZeroDivisionError)
    assert [each.opname for each in dis.get_instructions(assemble(program)) if each.offset == 2 * offset] == [
        "BINARY_OP"
    ]


def test_places_of_generated_instructions() -> None:
    placed = make("LOAD_GLOBAL", "missing_name")
    placed.span = Span(7, 9, 3, 5)
    code = assemble(written(_nothing, placed, make("RETURN_VALUE")))
    told = {each.opname: each.positions for each in dis.get_instructions(code)}
    assert told["LOAD_GLOBAL"] == (7, 9, 3, 5)
    assert told["RETURN_VALUE"] == (None, None, None, None)


def raw(op: str, arg: Any = None, target: Instruction | None = None) -> Instruction:
    return Instruction(op, arg, target)


def _handled(instruction: Instruction) -> Instruction:
    instruction.handler = Handler(make("NOP"), 0, False)
    return instruction


_TWICE = make("NOP")

UNFIT: list[tuple[str, Program]] = [
    ("has no instructions", Program(_nothing.__code__, [])),
    ("runs past its last instruction", written(_nothing, make("LOAD_CONST", 1))),
    ("no canonical operation 'LOAD_SLOW'", written(_nothing, raw("LOAD_SLOW"), *returning(1))),
    ("LOAD_FAST needs a local's name", written(_nothing, raw("LOAD_FAST", 3), *returning(1))),
    ("JUMP jumps: give it a target", written(_nothing, raw("JUMP"), *returning(1))),
    ("jumps to an instruction that is not", written(_nothing, make("JUMP", target=make("NOP")), *returning(1))),
    ("has a handler that is not", written(_nothing, _handled(make("NOP")), *returning(1))),
    ("lists one instruction object twice", written(_nothing, _TWICE, _TWICE, *returning(1))),
    ("takes 2 arguments but `varnames` has 1", written(_two, *returning(1), varnames=["a"])),
    ("names a variable twice", written(_two, *returning(1), varnames=["a", "a"])),
    ("neither in `cellvars` nor `freevars`", written(_nothing, make("LOAD_DEREF", "x"), make("RETURN_VALUE"))),
    ("never makes its cell 'x'", written(_nothing, *returning(1), cellvars=["x"])),
    ("begin it with COPY_FREE_VARS", written(_nothing, *returning(1), freevars=["x"])),
    ("drop its COPY_FREE_VARS", written(_nothing, make("COPY_FREE_VARS", 1), *returning(1))),
    (
        "uses 'x', which is a cell",
        written(_nothing, make("MAKE_CELL", "x"), make("LOAD_FAST", "x"), make("RETURN_VALUE"), cellvars=["x"]),
    ),
    ("takes 1 items but only 0", written(_nothing, make("POP_TOP"), *returning(1))),
]


@pytest.mark.parametrize(("words", "program"), UNFIT, ids=[words for words, _ in UNFIT])
def test_what_would_crash_python_is_refused(words: str, program: Program) -> None:
    with pytest.raises(ValueError, match=words):
        assemble(program)


def test_the_template_is_left_alone() -> None:
    before = {name: getattr(_one.__code__, name) for name in dir(_one.__code__) if name.startswith("co_con")}
    program = decode(_one.__code__)
    program.instructions[1:1] = [make("LOAD_CONST", object()), make("POP_TOP")]
    changed = assemble(program)
    assert isinstance(changed, CodeType)
    assert {name: getattr(_one.__code__, name) for name in before} == before
