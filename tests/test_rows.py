"""The clauses of docs/engine-rows.md are shown by programs and tests that exist, and its names are names in code."""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import enum
import importlib
import inspect
import operator
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conformance.program import PROGRAMS
from tests.rows import PAGE, clauses, names
from tracer_core import rules
from tracer_core.reasons import REASONS

ROOT = PAGE.parents[1]
CLAUSES = clauses()


def test_each_line_of_the_tables_is_a_clause() -> None:
    lines = re.findall(r"^\| [A-Z]\d+.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) == len(CLAUSES)
    rows = list(dict.fromkeys(each.row for each in CLAUSES))
    assert [(each.row, each.number) for each in CLAUSES] == [
        (row, number) for row in rows for number in range(1, 1 + sum(each.row == row for each in CLAUSES))
    ]


def test_what_shows_a_clause_exists() -> None:
    for clause in CLAUSES:
        assert clause.is_open or clause.shown_by, f"{clause.row}.{clause.number} is neither shown nor open"
        for name in clause.shown_by:
            assert is_test(name) if "::" in name else is_program(name), f"{name} is no program or test"


def is_program(name: str) -> bool:
    file, _, function = name.partition(".")
    path = PROGRAMS / f"{file}.py"
    return path.exists() and f"\ndef {function}(" in path.read_text(encoding="utf-8")


def is_test(name: str) -> bool:
    file, _, test = name.partition("::")
    function, _, parameter = test.partition("[")
    path = ROOT / "tests" / file
    if not path.exists() or f"\ndef {function}(" not in path.read_text(encoding="utf-8"):
        return False
    return not parameter or parameter.removesuffix("]") in REASONS


# --- names --------------------------------------------------------------------------------------------------

NAME = re.compile(r"@?([A-Za-z]\w*(?:\.\w+)*)(?:\(.*\))?")


def named_on(page: Path) -> Iterator[str]:
    """Classes and functions in backticks: words with capitals or underscores inside. Open clauses may name what is
    not there yet."""
    text = page.read_text(encoding="utf-8")
    if page == PAGE:
        text = "\n".join(each.text for each in CLAUSES if not each.is_open)
    for quoted in names(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        match = NAME.fullmatch(quoted.removesuffix(".py"))
        name = match[1].rpartition(".")[2] if match else ""
        if re.search(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]|[a-z]_[a-z]", name):
            yield name


def defined(folder: Path) -> Iterator[str]:
    """Names that the sources define: modules, classes, functions, arguments, variables, options (which are texts)."""
    for path in folder.rglob("*.py"):
        yield from (path.stem, path.parent.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield node.name
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                yield node.value


def known_names() -> set[str]:
    """What the sources define, and names of Python and of torch: of modules, of tensors, and keywords."""
    importlib.import_module("torch._dynamo")
    known = {name for folder in ("tracer_core", "widgets/tracewalk", "tests") for name in defined(ROOT / folder)}
    known.update(dir(builtins), dir(torch.Tensor), inspect.signature(torch.compile).parameters)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("torch", *sys.stdlib_module_names):
            known.update(vars(module))
    return known


def test_classes_and_functions_named_on_the_pages_exist() -> None:
    known = known_names()
    for page in ("engine-rows.md", "architecture.md"):
        missing = sorted(set(named_on(ROOT / "docs" / page)) - known)
        assert not missing, f"{page} names what does not exist: {', '.join(missing)}"


#: Classes that the page names as torch has them, and that are not there in the engine yet.
ONLY_TORCH_HAS = {
    "CollectiveFunctionRewriteVariable": "torch._dynamo.variables.functions",
}
#: Where classes that programs use are found.
OF_PROGRAMS = (torch, torch.nn, builtins, collections, enum, typing)
CLASS = re.compile(r"(?:[a-z]\w*\.)*[A-Z][a-z]+[A-Za-z]*")


def classes_named() -> set[str]:
    """Names in capitals in backticks, in open clauses too, without constants."""
    found = {quoted.partition("(")[0] for quoted in names(PAGE.read_text(encoding="utf-8"))}
    return {name for name in found if CLASS.fullmatch(name)} - {"None", "True", "False"}


def class_of_a_program(name: str) -> Any:
    for module in OF_PROGRAMS:
        with contextlib.suppress(AttributeError):
            return operator.attrgetter(name.removeprefix("torch."))(module)
    return None


def engine_class(name: str) -> Any:
    """The class of that name in the engine, imported from the module that defines it."""
    for path in (ROOT / "tracer_core").rglob("*.py"):
        if re.search(rf"^class {name}\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            return getattr(importlib.import_module(module), name)
    return None


@pytest.mark.parametrize("name", sorted(classes_named()))
def test_a_class_named_on_the_page_can_be_imported(name: str) -> None:
    ours, module = engine_class(name), ONLY_TORCH_HAS.get(name)
    if module is not None:
        assert ours is None, f"{name} is there: take it off the list"
        assert not module or isinstance(getattr(importlib.import_module(module), name), type)
    elif class_of_a_program(name) is None:
        assert isinstance(ours, type), f"no module of the engine defines {name}"


def test_names_that_only_torch_has_are_named_on_the_page() -> None:
    assert ONLY_TORCH_HAS.keys() <= classes_named()


# --- shown here ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_what_torch_lists_as_its_functions_is_in_the_graph() -> None:
    for function in torch.overrides.get_testing_overrides():
        action = rules.decide(function).action
        assert action == "graph" or (action == "inline" and hasattr(function, "__code__")), function
