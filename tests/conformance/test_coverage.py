"""Every opcode in each of its uses, every method of the containers, every library function: some program has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.coverage import opcodes, uses, wanted
from tests.conformance.program import PROGRAMS

FILES = sorted(PROGRAMS.glob("[!_]*.py"))


@pytest.fixture(scope="module")
def notes() -> uses.Notes:
    return uses.found(FILES)


@pytest.mark.row("I1")
def test_every_opcode_in_each_of_its_uses() -> None:
    missing = opcodes.wanted() - opcodes.found(FILES)
    assert not missing, f"no program has these opcodes: {', '.join(sorted(missing))}"


@pytest.mark.row("I11")
def test_every_method_of_the_builtin_containers(notes: uses.Notes) -> None:
    missing = list(wanted.missing_methods(notes))
    assert not missing, f"no program uses these methods: {', '.join(missing)}"


@pytest.mark.row("I12")
def test_every_function_of_the_builtin_modules(notes: uses.Notes) -> None:
    missing = list(wanted.missing_functions(notes))
    assert not missing, f"no program calls these functions: {', '.join(missing)}"


def test_exemptions_name_functions() -> None:
    assert wanted.WITHOUT_PROGRAM.keys() <= {name for name, _ in wanted.functions()}


def test_what_a_prompt_puts_into_the_builtins_is_not_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = dict(wanted.functions())
    assert functions.keys() >= {"builtins.len", "builtins.open", "builtins.list"}
    monkeypatch.setattr("builtins.display", lambda: None, raising=False)  # IPython does, for the rest of the process
    assert dict(wanted.functions()) == functions


PROGRAM = """
import math
from collections import deque
from tests.conformance.program import program

never = [].pop

@program("I1")
def one(x):
    a = deque([x])
    a += [2]
    assert isinstance(a, list) is False
    for v in a:
        v.add(1) if v is x else None
    if 3 in {4}:
        math.sin(1)
    return map(str.upper, "ab"), -2.5, {"k": 1}["k"], f"{a!r}", 2 + 1.5
"""


def test_what_is_noted_is_what_the_program_does(tmp_path: Path) -> None:
    file = tmp_path / "some_program.py"
    file.write_text(PROGRAM)
    notes = uses.found([file])
    seen = {(deque_type.__name__, name) for deque_type, name in notes.methods}
    assert {
        ("deque", "__iadd__"), ("deque", "__iter__"), ("set", "__contains__"), ("str", "upper"), ("float", "__neg__"),
        ("dict", "__getitem__"), ("deque", "__repr__"), ("int", "__add__"), ("float", "__radd__"), ("Tensor", "add"),
    } <= seen  # fmt: skip
    assert ("list", "pop") not in seen, "what runs while the file is loaded is no part of a program"
    missing = set(wanted.missing_functions(notes))
    assert "math.sin" in missing, "a branch that is not taken is not used"
    assert "builtins.list" in missing, "to ask for a type is not to use it"
    assert not {"builtins.map", "builtins.isinstance", "collections.deque"} & missing


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a):\n *b, c, d = a", {"UNPACK_EX none before", "UNPACK_EX more after"}),
        ("def f(a, b=1, *, c: int = 2): pass\ndef g():\n def h(b=1): pass", {"MAKE_FUNCTION defaults"}),
        ("def f(a):\n class C:\n  x = 1\n  del x", {"DELETE_NAME"}),
        ("def f(a):\n a >>= 2", {"BINARY_OP >>="}),
    ],
)
def test_opcodes_of_functions_are_found(tmp_path: Path, source: str, expected: set[str]) -> None:
    file = tmp_path / "some_program.py"
    file.write_text(source)
    assert expected <= opcodes.found([file])


def test_opcodes_of_modules_are_not_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "some_program.py"
    file.write_text("a = 1\ndel a\nclass C:\n b = 1\n del b")
    assert opcodes.found([file]) == set()
