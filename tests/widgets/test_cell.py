"""A cell as a function does what the cell does."""

from __future__ import annotations

import contextlib
import io
import linecache
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.snapshot import without_addresses
from tracewalk.cell import CellError, compile_cell


def run_both(text: str, **names: Any) -> tuple[Any, Any]:
    """What the cell leaves behind as a module and as a traced function: names, output, or the exception."""

    def outcome(run: Any, namespace: dict[str, Any]) -> Any:
        printed = io.StringIO()
        error = None
        with contextlib.redirect_stdout(printed):
            try:
                run()
            except Exception as raised:  # noqa: BLE001
                error = (
                    type(raised),
                    str(raised),
                    [f.lineno for f in traceback.extract_tb(raised.__traceback__)][2:],
                )
        kept = {k: v for k, v in namespace.items() if k not in {"__builtins__", "__annotations__", "__doc__"}}
        return (
            {k: v if isinstance(v, int | str | list | tuple) else type(v) for k, v in kept.items()},
            without_addresses(printed.getvalue()),
            error,
        )

    plain: dict[str, Any] = {"__name__": "__main__", **names}
    traced: dict[str, Any] = {"__name__": "__main__", **names}
    code = compile(text, "<cell>", "exec")
    cell = compile_cell(text, "<cell>", traced)
    return outcome(lambda: exec(code, plain), plain), outcome(lambda: cell.function(), traced)


CELLS = {
    "assign": "x = 1\ny = x + 1",
    "unpack": "a, *b = [1, 2, 3]\n(c, d), e = (1, 2), 3",
    "augment": "n += 1\nn *= 2",
    "annotate": "x: int = 3\ny: list\nz: 'anything' = [x]",
    "loops": "for i in range(3):\n    last = i\nwhile i:\n    i -= 1\nelse:\n    done = 1",
    "comprehension": "xs = [i * i for i in range(3)]\ntry:\n    i\nexcept NameError as e:\n    print('no i')",
    "walrus": "ys = [z := k for k in range(3)]\nif (m := 5) > 3: print(m, z)",
    "imports": "import os.path, json as j\nfrom math import sqrt as root, pi",
    "functions": "def f(a, b=2):\n    c = a + b\n    return c\nr = f(1)",
    "classes": "class C:\n    x = 1\n    def m(self): return self.x\nv = C().m()\nq = C.__qualname__",
    "closures": "k = 2\ndef g():\n    global h\n    h = k\n    return [k for _ in range(2)]\nr = g()",
    "lambda": "fs = lambda: q\nq = 3\nr = fs()",
    "delete": "t = 1\ndel t\ntry:\n    t\nexcept NameError as error:\n    print(error)",
    "except-name": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    s = str(e)",
    "with": "import contextlib\nwith contextlib.nullcontext(4) as w:\n    inside = w",
    "match": "match [1, 2, 3]:\n    case [first, *rest]:\n        pass",
    "match-mapping": "match {'a': 1, 'b': 2}:\n    case {'a': one, **others}:\n        n2 = len(others)",
    "global": "global gg\ngg = 1",
    "docstring": "'only text'\nx = 2",
    "strings": "s = '''a\n    b\n'''",
    "raises": "x = 1\n\nx / 0",
    "raises-inside": "def f():\n    return undefined\n\nf()",
    "redefine": "n = n + 1\nprint(n)",
    "decorated": "@staticmethod\ndef f(): pass\n@type\n@repr\nclass K: pass",
    "star-expression": "print(*[1, 2], sep='-')",
    "conditional-definition": "if n:\n    def p(): return 1\nelse:\n    p = None\nr = p()",
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_leaves_the_same_names_output_and_exception(name: str) -> None:
    plain, traced = run_both(CELLS[name], n=10)
    assert traced == plain


_NAMES = st.sampled_from(["a", "b", "c", "n"])
_VALUES = st.one_of(
    st.integers(0, 9).map(str), _NAMES, st.builds("[{0} for {0} in range({1})]".format, _NAMES, st.integers(0, 3))
)
_SIMPLE = st.one_of(
    st.builds("{} = {}".format, _NAMES, _VALUES),
    st.builds("{} += 1".format, _NAMES),
    st.builds("print({})".format, _VALUES),
    st.builds("del {}".format, _NAMES),
    st.builds("def {}({}=1): return {}".format, _NAMES, _NAMES, _NAMES),
    st.builds("({} := {})".format, _NAMES, _VALUES),
)
_BLOCKS = st.one_of(
    _SIMPLE,
    st.builds("for {} in range(2):\n    {}".format, _NAMES, _SIMPLE),
    st.builds("try:\n    {}\nexcept Exception as {}:\n    {}".format, _SIMPLE, _NAMES, _SIMPLE),
    st.builds("if {}:\n    {}".format, _VALUES, _SIMPLE),
)


@given(st.lists(_BLOCKS, min_size=1, max_size=6).map("\n".join))
def test_any_cell_leaves_what_it_would(text: str) -> None:
    plain, traced = run_both(text, n=3)
    assert traced == plain


def test_the_last_expression_is_the_value() -> None:
    assert compile_cell("x = 1\nx + 1", "<cell>", {}).function() == 2
    assert compile_cell("x = 1\nx + 1", "<cell>", {}).shows
    assert not compile_cell("x + 1\nx = 1", "<cell>", {}).shows
    assert compile_cell("'text'", "<cell>", {}).function() == "text"


def test_instructions_keep_the_cells_lines_and_columns() -> None:
    text = "# first\ny = [\n    'é', value]\nz = y; y\n"
    function = compile_cell(text, "<cell>", {"value": 1}).function
    spans = {
        text.splitlines()[p[0] - 1].encode()[p[2] : p[3]].decode()
        for p in function.__code__.co_positions()
        if p[0] and p[0] == p[1]
    }
    assert {"'é'", "value", "z", "y"} <= spans
    assert function.__code__.co_firstlineno == 2
    assert {line for _, _, line in function.__code__.co_lines()} <= {2, 3, 4}


def test_a_traceback_shows_the_cells_source() -> None:
    text = "x = 1\nx / 0\n"
    linecache.cache["<cell 7>"] = (len(text), None, text.splitlines(True), "<cell 7>")
    with pytest.raises(ZeroDivisionError) as caught:
        compile_cell(text, "<cell 7>", {}).function()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "x / 0"


@pytest.mark.parametrize(
    "text", ["return 1", "x = yield 1", "def f(:", "nonlocal x", "break", "x = 1\nglobal x", "def f():\n    await x"]
)
def test_what_no_cell_may_hold_is_a_syntax_error(text: str) -> None:
    with pytest.raises(SyntaxError):
        compile_cell(text, "<cell>", {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("# only a comment", "empty"),
        ("x = 1\nfrom math import *", r"Line 2: `from math import \*`.*cell of its own"),
        ("if True:\n    from math import *", "Line 2"),
        ("await f()", "await"),
        ("async with f() as x: pass", "await"),
    ],
)
def test_what_a_function_cannot_hold_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(CellError, match=said):
        compile_cell(text, "<cell>", {})
