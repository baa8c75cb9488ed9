"""Guards and breaks are blamed on the program's own line, with the library's below it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.recording.programs_in_files import PACKAGES, USERS, module, recorded
from tracer_core.errors import Unsupported
from tracer_core.observer import observing
from tracer_core.recording import Trace, file, schema
from tracer_core.recording.recorder import Recorder
from tracer_core.recording.tables import rows

LIBRARY = """\
def prints(x):
    print("in the library")
    return x


def fits(x):
    if x.size(0) > 5:
        return True
    return False
"""


def sizes(*sizes: int) -> list[tuple[torch.Tensor]]:
    return [(torch.ones(n, 3),) for n in sizes]


def shape_guards(trace: Trace, version: int) -> dict[str, int | None]:
    """The line of each shape guard of the version."""
    attempt = trace.compilations[version - 1].attempts[-1]
    found = [guard for guard in trace.guards if guard.kind == "SHAPE" and guard.attempt == attempt]
    assert all(trace.codes[guard.code].filename == USERS for guard in found if guard.code is not None)
    return {guard.text: guard.line for guard in found}


def test_a_bound_is_blamed_on_the_line_that_set_it() -> None:
    program = """\
def f(x):
    if x.size(0) > 5:
        x = x.view(x.size(0), -1)
    if x.size(0) < 100:
        x = x.view(x.size(0), 3).t()
    return x.reshape(3, x.size(1)) + 1
"""
    trace = recorded(module(program)["f"], *sizes(7, 8))
    assert shape_guards(trace, 2) == {"6 <= x.size(0)": 2, "x.size(0) <= 99": 4}


BOUNDS = st.lists(st.tuples(st.sampled_from(["<", "<=", ">", ">="]), st.integers(2, 40)), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None)
@given(bounds=BOUNDS, size=st.integers(2, 40))
def test_each_bound_is_blamed_on_the_line_that_made_it_tightest(bounds: list[tuple[str, int]], size: int) -> None:
    lines = ["def f(x):", *(f"    x = x + (1 if x.size(0) {op} {n} else 2)" for op, n in bounds), "    return x\n"]
    lower, upper = (2, 0), (2**62, 0)
    for line, (op, n) in enumerate(bounds, 2):
        holds = {"<": size < n, "<=": size <= n, ">": size > n, ">=": size >= n}[op]
        if holds == (op in (">", ">=")):
            lower = max(lower, (n + 1 if op in (">", "<=") else n, line), key=lambda bound: bound[0])
        else:
            upper = min(upper, (n if op in (">", "<=") else n - 1, line), key=lambda bound: bound[0])
    if lower[0] == upper[0]:
        expected = {"==": max(lower, upper)}
    else:
        expected = {name: bound for name, bound in ((">=", lower), ("<=", upper)) if bound[1]}
    tracer_core.reset()
    trace = recorded(module("\n".join(lines))["f"], *sizes(50, size))
    found = {}
    for text, line in shape_guards(trace, 2).items():
        if "always compiled on their own" not in text:
            value, name, _ = sorted(text.split(), key=lambda word: (not word.isdigit(), word[0] == "x"))
            found[">=" if text.startswith(value) else name] = (int(value), line)
    assert found == expected


def test_an_equality_is_blamed_on_the_line_that_asked() -> None:
    program = """\
def f(x, y):
    z = x + 1
    if x.size(0) == y.size(0):
        z = z + 1
    if x.size(0) % 4 == 0:
        z = z * 2
    return z, y + 1
"""
    pairs = [(torch.ones(n), torch.ones(n)) for n in (4, 8)]
    trace = recorded(module(program)["f"], *pairs)
    lines = shape_guards(trace, 2)
    assert {line for text, line in lines.items() if "% 4" in text} == {5}
    assert {line for text, line in lines.items() if "==" in text and "%" not in text} == {3}


def test_what_a_library_asks_is_blamed_on_the_line_that_called_it() -> None:
    library = module(LIBRARY, PACKAGES)
    program = """\
def f(x):
    y = x + 1
    return y if fits(x) else -y
"""
    trace = recorded(module(program, fits=library["fits"])["f"], *sizes(7, 8, 3))
    (bound,) = (guard for guard in trace.guards if guard.text == "6 <= x.size(0)")
    assert (place(trace, bound), bound.line) == (USERS, 3)
    assert bound.library is not None and trace.codes[bound.library.code].filename == PACKAGES
    assert bound.library.line == 7
    failed = trace.calls[2].checks[0]
    assert failed.text == bound.text
    assert failed.place == schema.Place(bound.code or 0, 3) and failed.library == bound.library
    assert (
        "  model.py:3, in f: `6 <= x.size(0)` did not hold in 1 call of f (3).\n"
        "      return y if fits(x) else -y\n"
        "    It was compiled for `6 <= x.size(0)`; then x.size(0) == 3.\n"
    ) in str(trace)
    assert "    In a library: layers.py:7, in fits.\n" in str(trace)


def place(trace: Trace, record: schema.Guard | schema.Break) -> str:
    assert record.code is not None
    return trace.codes[record.code].filename


MANY = """\
def f(x, numbers, flag, module, key):
    total = x * numbers[0]
    for number in numbers:
        total = total + number
    def inner():
        return total * scale + x
    scale = numbers[-1]
    if flag:
        total = module(total)
    numbers.append(3)
    key["seen"] = total
    x.mul_(2)
    out = inner()
    print("once")
    return out[: x.shape[0]] + out.size(0)
"""


def many(n: int) -> tuple[Any, ...]:
    return torch.ones(n, 3), [1, 2], True, torch.nn.Linear(3, 3), {"seen": torch.ones(2)}


def test_every_guard_has_a_step_and_the_line_of_that_step() -> None:
    """Of those that nobody in the program asked for (torch's settings), the function's first."""
    trace = recorded(module(MANY)["f"], many(4), many(5), many(6))
    assert len({guard.kind for guard in trace.guards}) > 6
    for guard in trace.guards:
        assert guard.step is not None and guard.line is not None and guard.code is not None, guard
        attempt = trace.attempts[guard.attempt]
        root = trace.codes[trace.compilations[attempt.compilation].code]
        assert attempt.first_step <= guard.step <= attempt.last_step, guard
        assert place(trace, guard) == USERS
        step = trace.steps[guard.step]
        if guard.step == attempt.first_step:
            assert guard.code == root.id
            assert guard.line == (1 if root.resumes is None else 15), guard
        elif guard.library is None:
            # (Instructions that fill the cells are of no line: then it is the function's.)
            assert (step.code.id, step.line or 1) == (guard.code, guard.line), guard
        else:
            # (One code has several names: a module's call is named by the module's class.)
            library = (trace.codes[guard.library.code].filename, guard.library.line)
            assert (step.code.filename, step.line) == library, guard
            assert (guard.code, guard.line) in {(frame.code.id, frame.line) for frame in step.frames}, guard


def test_what_is_found_at_the_end_is_blamed_on_the_line_that_needs_it() -> None:
    program = """\
def f(a, b):
    y = a[0] + b[0]
    a.append(y)
    b.append(y)
    return y
"""
    trace = recorded(module(program)["f"], ([torch.ones(2)], [torch.ones(2)]))
    (distinct,) = (guard for guard in trace.guards if guard.text == "a is not b")
    assert distinct.line == 3


def test_arguments_that_inner_functions_capture_have_a_line() -> None:
    program = """\
import functools


@functools.cache
def decorator():
    pass


def f(
    x, n
):
    def inner():
        return x * n

    n = n + x.size(0)
    print("a")
    return inner()
"""
    trace = recorded(module(program)["f"], (torch.ones(3), 4))
    captured = {guard.text: guard.line for guard in trace.guards if guard.source in ("L['x']", "L['n']")}
    assert set(captured.values()) == {13, 15}, "where they are used first, in each of the two graphs"


def test_steps_of_a_compilation_inside_another_do_not_count() -> None:
    """The back end's own compiled code runs while the graph is compiled."""
    inner = module("def g(x):\n    return (x + 1) * x.size(0)\n")["g"]

    def backend(graph: torch.fx.GraphModule, examples: Any) -> Any:
        tracer_core.compile(inner, backend="eager")(torch.ones(4))
        return graph.forward

    recorder = Recorder()
    f = module("def f(x):\n    y = x + 1\n    return y if x.size(0) > 3 else -y\n", "/home/me/other.py")["f"]
    with observing(recorder):
        compiled = tracer_core.compile(f, backend=backend)
        compiled(torch.ones(5))
        compiled(torch.ones(6))
    trace = Trace(recorder.finish())
    for guard in trace.guards:
        step = trace.steps[guard.step]  # type: ignore[index]
        assert step.attempt.id == guard.attempt


def test_a_break_in_a_library_shows_the_users_line_first() -> None:
    library = module(LIBRARY, PACKAGES)
    program = """\
def f(x):
    y = x + 1
    y = prints(y)
    return y * 2
"""
    f = module(program, prints=library["prints"])["f"]
    trace = recorded(f, *sizes(2))
    found, own = trace.breaks
    for each in (found, own):  # the second where the library's function runs on its own
        assert each.library is not None
        assert (place(trace, each), each.line, each.library.line) == (USERS, 3, 2)
    assert trace.break_places == [found]
    assert (place(trace, found), found.line) == (USERS, 3)
    assert found.library is not None and (trace.codes[found.library.code].filename, found.library.line) == (
        PACKAGES,
        2,
    )
    assert (found.root_code, found.root_line) == (found.code, 3)
    assert re.search(
        r"  model.py:3, in f: .*\n .*\n    In a library: layers.py:2, in prints.\n    (Ends .*\n    )?Try: ",
        str(trace),
    )
    tracer_core.reset()
    with pytest.raises(Unsupported) as raised:
        tracer_core.compile(f, backend="eager", fullgraph=True)(torch.ones(2))
    assert str(raised.value).splitlines()[1:3] == [
        f'  File "{USERS}", line 3, in f',
        f'    which runs, in a library: File "{PACKAGES}", line 2, in prints',
    ]


def test_a_users_function_that_a_library_calls_is_blamed_itself() -> None:
    program = """\
class Prints(torch.nn.Module):
    def forward(self, x):
        print("here")
        return x


def f(x, model):
    return model(x + 1)
"""
    names = module(program)
    trace = recorded(names["f"], (torch.ones(2), torch.nn.Sequential(names["Prints"]())))
    assert {(place(trace, found), found.line, found.library) for found in trace.breaks} == {(USERS, 3, None)}
    assert [(one.line, one.root_line) for one in trace.break_places] == [(3, 3)]


def test_a_print_in_a_loop_is_one_place() -> None:
    program = """\
def f(x):
    for i in range(3):
        x = x + i
        print("round")
    return x
"""
    trace = recorded(module(program)["f"], *sizes(2))
    assert len(trace.breaks) > 1
    (found,) = trace.break_places
    assert (trace.codes[found.code].name, found.line) == ("f", 4)
    assert "breaks at 1 place" in str(trace)
    assert str(trace).count("model.py:4, in f: ") == 1


def test_a_line_whose_message_names_another_dtype_is_one_place() -> None:
    program = """\
def f(x):
    if x.sum():
        x = x + 1
    return x
"""
    trace = recorded(module(program)["f"], (torch.ones(2),), (torch.ones(2, dtype=torch.float64),))
    assert len({found.message for found in trace.breaks}) == 2
    (found,) = trace.break_places
    assert found == trace.breaks[0]


def test_two_prints_in_a_loop_are_two_places() -> None:
    program = """\
def f(x):
    for i in range(3):
        x = x + i
        print("round")
        x = x * 2
        print("again")
    return x
"""
    trace = recorded(module(program)["f"], *sizes(2))
    places = [(trace.function_of(one.code).name, one.line) for one in trace.break_places]
    assert sorted(places) == [("f", 4), ("f", 6)]


def test_each_version_that_failed_is_shown_with_its_line() -> None:
    program = """\
def f(x, n):
    y = x + 1
    if x.size(0) > 5:
        y = y + n
    return y
"""
    trace = recorded(module(program)["f"], (torch.ones(8, 3), 2), (torch.ones(9, 3), 2), (torch.ones(3, 3), 2))
    [recompilations] = [section for section in trace.overview().sections if section.name == "recompilations"]
    assert {row.place for row in recompilations.rows} == {"model.py:2, in f", "model.py:3, in f"}
    checks = [(check.version, check.text.split(",")[0], check.seen) for check in trace.calls[2].checks]
    assert checks == [
        (2, "6 <= x.size(0)", "x.size(0) == 3"),
        (1, "x is a Tensor f32[8", "it is of shape [3, 3]"),
    ]


def test_a_guard_of_a_version_from_before_the_recording_has_its_line_too() -> None:
    f = module("def f(x):\n    y = x + 1\n    return y\n")["f"]
    compiled = tracer_core.compile(f, backend="eager")
    compiled(torch.ones(2))
    recorder = Recorder()
    with observing(recorder):
        compiled(torch.ones(3))
    trace = Trace(recorder.finish())
    (check,) = trace.calls[0].checks
    assert check.failed is None and check.place is not None and check.place.line == 2
    assert "  model.py:2, in f: `x` changed in 1 call of f (1)." in str(trace)


FOUND_LATE = {
    "a print that would show what was changed later": """\
def f(x):
    y = x + 1
    print(y)
    return y.add_(1)
""",
    "a class that leaves": """\
def f(x):
    y = x + 1
    class Made:
        value = 3
    return y, Made
""",
}


@pytest.mark.parametrize("name", FOUND_LATE)
def test_what_is_found_late_is_raised_with_the_line_that_causes_it(name: str) -> None:
    f = module(FOUND_LATE[name])["f"]
    options = {"replay_prints": True}
    with pytest.raises(Unsupported) as raised:
        tracer_core.compile(f, backend="eager", fullgraph=True, options=options)(torch.ones(2))
    assert f'\n  File "{USERS}", line 3, in f\n  Try: ' in str(raised.value)


@pytest.fixture(scope="module")
def everything() -> Trace:
    """A recording with a break and a failed guard in a library, and a notice."""
    tracer_core.reset()
    library = module(LIBRARY, PACKAGES)
    program = """\
def f(x):
    y = prints(x)
    y = y * 2 if fits(x) else y
    return y + torch.ones(8, 3)
"""
    calls = [(torch.ones(8, 3),), (torch.ones(8, 3),)]
    torch._dynamo.mark_dynamic(calls[0][0], 0)
    with pytest.warns(RuntimeWarning, match="specializes it to 8"):
        return recorded(module(program, prints=library["prints"], fits=library["fits"])["f"], *calls)


def test_places_and_notices_are_kept_in_the_file(everything: Trace) -> None:
    assert everything.notices
    assert any(one.library for one in everything.breaks) and any(one.library for one in everything.guards)
    again = file.unpack(file.pack(everything.data), "f.trace")
    assert again == everything.data
    assert str(Trace(again)) == str(everything)


def test_tables_have_both_lines(everything: Trace) -> None:
    (found, *_) = rows(everything, "breaks")
    assert (found["file"], found["line"], found["library"]) == (USERS, 2, "layers.py:2, in prints")
    (notice,) = rows(everything, "notices")
    assert (notice["file"], notice["line"], notice["library"]) == (USERS, 4, None)
    seen = {(row["source"], row["file"], row["line"], row["library"]) for row in rows(everything, "guards")}
    assert ("L['x']", USERS, 3, "layers.py:7, in fits") in seen


def test_steps_are_found_by_what_a_notice_says(everything: Trace) -> None:
    assert {step.line for step in everything.find(text="specializes it to 8")} == {4}


@pytest.mark.parametrize("fullgraph", [False, True])
def test_the_limit_names_the_line_of_the_guard_that_failed(fullgraph: bool) -> None:
    f = module("def f(x, n):\n    y = x + 1\n    if n == 'a':\n        y = y * 2\n    return y\n")["f"]
    compiled = tracer_core.compile(f, backend="eager", fullgraph=fullgraph, options={"cache_size_limit": 1})
    compiled(torch.ones(2), "a")
    said = pytest.raises(Unsupported) if fullgraph else pytest.warns(RuntimeWarning)
    with said as found:
        compiled(torch.ones(2), "b")
    message = str(found.value if isinstance(found, pytest.ExceptionInfo) else found[0].message)
    assert message.splitlines()[1:3] == [
        f'  File "{USERS}", line 3, in f',
        "  Try: See in the failed guards what differs between calls, and pass it as a tensor or keep it the same.",
    ]
