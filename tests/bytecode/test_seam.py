"""Only `tracer_core/bytecode` knows which Python runs, how it spells instructions, and where things lie in a call."""

from __future__ import annotations

import ast
import dis
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracer_core.bytecode
from tracer_core.bytecode import OPS, CodeBuilder, Program, assemble, call_items, called, decode, make, prologue
from tracer_core.bytecode.version import Version

BYTECODE = Path(tracer_core.bytecode.__file__).parent
ENGINE = BYTECODE.parent
OUTSIDE = sorted(path for path in ENGINE.rglob("*.py") if BYTECODE not in path.parents)
VERSIONS = sorted(path.stem for path in BYTECODE.glob("cpython3*.py"))

LATER = """
    BINARY_SLICE CALL_INTRINSIC_1 CALL_INTRINSIC_2 CALL_KW CLEANUP_THROW CONVERT_VALUE END_FOR END_SEND ENTER_EXECUTOR
    FORMAT_SIMPLE FORMAT_WITH_SPEC LOAD_FAST_AND_CLEAR LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_FROM_DICT_OR_DEREF
    LOAD_FROM_DICT_OR_GLOBALS LOAD_LOCALS LOAD_SUPER_ATTR LOAD_SUPER_METHOD POP_JUMP_IF_NOT_NONE_BACKWARD RETURN_CONST
    SET_FUNCTION_ATTRIBUTE STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST STORE_SLICE TO_BOOL
"""
"""Instructions of 3.12 and 3.13 that 3.11 does not have."""
NOT_CANONICAL = ({name for name in dis.opmap if not name.startswith("<")} | set(LATER.split())) - OPS.keys()
ASKS_WHICH_PYTHON = {"sys.version_info", "sys.version", "sys.hexversion", "sys.implementation"}


def faults(source: str) -> Iterator[str]:
    """What in `source` belongs into `bytecode`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (f"names {name}" for name in re.findall(r"\w+", node.value) if name in NOT_CANONICAL)
        elif isinstance(node, ast.Import):
            yield from (f"imports {each.name}" for each in node.names if each.name in ("dis", "opcode"))
        elif isinstance(node, ast.ImportFrom):
            imported = {f"{node.module}.{each.name}" for each in node.names}
            if node.module in ("dis", "opcode") or imported & ASKS_WHICH_PYTHON:
                yield f"imports from {node.module}"
            if (node.module or "").startswith("tracer_core.bytecode."):
                yield f"imports {node.module} past the folder's own names"
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ASKS_WHICH_PYTHON:
            yield f"asks for {ast.unparse(node)}"
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            writes = ast.unparse(node.func).rpartition(".")[2] in ("make", "emit", "Instruction")
            if writes and node.args[0].value in IN_CALLS:
                yield f"writes {node.args[0].value}"


IN_CALLS = ("PUSH_NULL", "LOAD_GLOBAL_NULL", "LOAD_METHOD", "CALL", "CALL_FUNCTION_EX", "COPY_FREE_VARS", "RESUME")
"""What must be put where the running Python has it: the builder, and the beginnings of codes, do."""


@pytest.mark.parametrize("path", OUTSIDE, ids=[path.relative_to(ENGINE).as_posix() for path in OUTSIDE])
def test_what_belongs_to_one_python_stays_in_the_folder(path: Path) -> None:
    assert list(faults(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import dis",
        "def f():\n    import opcode",
        "from dis import opmap",
        "from sys import version_info",
        "import sys\nnew = sys.version_info >= (3, 12)",
        "import sys\nsys.hexversion",
        "from tracer_core.bytecode.cpython311 import OPCODES",
        "op == 'KW_NAMES'",
        "{'a': 'PRECALL'}",
        "ops = 'LOAD_FAST RETURN_CONST'.split()",
        "make('PUSH_NULL')",
        "emitter.emit('CALL', shape)",
    ],
)
def test_the_scan_sees_each_way_to_know(source: str) -> None:
    assert len(list(faults(source))) == 1


def test_the_scan_lets_canonical_names_pass() -> None:
    assert (
        list(faults("@op('PUSH_NULL')\ndef f(): ...\nmake('LOAD_CONST', 1)\n'the cache'\nplatform.python_version()"))
        == []
    )


@pytest.mark.parametrize("name", VERSIONS)
def test_each_version_has_all_of_the_interface(name: str) -> None:
    module = importlib.import_module(f"tracer_core.bytecode.{name}")
    wanted = {member for member in vars(Version) if not member.startswith("_")}
    assert wanted <= set(module.__all__)
    assert all(hasattr(module, member) for member in wanted)
    assert set(module.CANONICAL.values()) | {op for ops in module.FLAGGED.values() for op in ops} <= OPS.keys()


# --- calls ----------------------------------------------------------------------------------------------------


def _run(code: CodeBuilder, *args: object) -> object:
    def template(a: object, b: object) -> None: ...

    program = Program(template.__code__, [*prologue(), *code.instructions, make("RETURN_VALUE")], ["a", "b"])
    return type(template)(assemble(program), {})(*args)


def test_calls_are_built_as_python_evaluates_them() -> None:
    def told(*args: object, **kwargs: object) -> object:
        return args, kwargs

    code = CodeBuilder()
    code.call(
        lambda: code.const(told), [lambda: code.load_local("a"), lambda: code.const(2), lambda: code.load_local("b")],
        ["x"],
    )  # fmt: skip
    assert _run(code, 1, 3) == ((1, 2), {"x": 3})


def test_methods_attributes_items_and_tuples() -> None:
    code = CodeBuilder()
    code.tuple_of(
        [
            lambda: code.call_method(lambda: code.load_local("a"), "count", lambda: code.const("l")),
            lambda: code.attribute(lambda: code.load_local("b"), "imag"),
            lambda: code.item(lambda: code.load_local("a"), 0),
            lambda: code.list_of([lambda: code.load_local("b")]),
        ]
    )
    assert _run(code, "hello", 2j) == (2, 2.0, "h", [2j])


def test_what_is_run_leaves_nothing() -> None:
    code, seen = CodeBuilder(), []
    code.run_const(seen.append, lambda: code.load_local("a"))
    code.run_method(lambda: code.load_local("b"), "append", lambda: code.const(7))
    code.set_item(lambda: code.load_local("b"), lambda: code.const(0), lambda: code.load_local("a"))
    code.load_local("b")
    assert _run(code, "x", [1]) == ["x", 7]
    assert seen == ["x"]


def test_a_call_with_the_top_of_the_stack_leaves_it() -> None:
    code = CodeBuilder()
    code.load_local("a")
    code.call_with_top(len)
    code.emit("BUILD_TUPLE", 2)
    assert _run(code, "abc", None) == ("abc", 3)


def test_slots_of_a_call_and_what_they_stand_for() -> None:
    function, bound, null = "function", "self", "null"
    assert called(*call_items(function, null), null) == (function, [])
    assert called(function, bound, null) == (function, [bound])


def test_slots_are_those_that_the_compiler_fills() -> None:
    """The order that the builder writes is the one that CPython's own compiler does."""

    def caller(f: object) -> object:
        return f()  # type: ignore[operator]

    code = CodeBuilder()
    code.call(lambda: code.load_local("f"))
    ours = [(each.op, each.arg) for each in code.instructions]
    theirs = [(each.op, each.arg) for each in decode(caller.__code__).instructions]
    assert ours == theirs[1:-1]


@pytest.mark.parametrize("generator", [False, True])
def test_a_code_begins_as_the_compiler_has_it(generator: bool) -> None:
    outer = 1

    def plain(a: object, b: object) -> object:
        return outer, lambda: (a, b)

    def yielding(a: object, b: object) -> object:
        yield outer, lambda: (a, b)

    code = (yielding if generator else plain).__code__
    ours = [(each.op, each.arg) for each in prologue(code.co_cellvars, code.co_freevars, generator=generator)]
    theirs = [(each.op, each.arg) for each in decode(code).instructions]
    assert sorted(ours[:3], key=str) == sorted(theirs[:3], key=str)
    assert ours[3:] == theirs[3 : len(ours)]
