"""What is given up leaves no trace: random mutations are rolled back, and the state is, field by field, as it was."""

from __future__ import annotations

import collections
import contextlib
import copy  # noqa: F401 - in the programs
import dataclasses
import random  # noqa: F401 - the same
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.conformance.program import list_programs
from tests.conformance.ways import OurWay, run
from tests.side_by_side import agree
from tests.variables.excursions import ENDS, Excursions
from tests.variables.whole_state import State
from tracer_core.variables.containers.sequences import ListVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.journal import Journal
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing

pytestmark = pytest.mark.row("O7", "O2")


class Watched:
    """What was not as before after a roll back, and how many there were."""

    wrong: list[str]
    count: int

    def reset(self) -> None:
        self.wrong, self.count = [], 0


watched = Watched()


def given_up(body: Callable[[], Any]) -> None:
    """In a trace, `body` is traced and given up."""


def kept(body: Callable[[], Any]) -> None:
    """In a trace, `body` is traced between a mark and its end."""
    body()


@handles(given_up)
def trace_and_give_up(tx: Any, body: VariableTracker) -> VariableTracker:
    before, where = State(tx), (tx.frame, tx.instruction)
    mark = tx.trace.mark()
    with contextlib.suppress(*ENDS), tx.output.subtracer():
        tx.call(body, [])
    tx.trace.roll_back(mark)
    assert (tx.frame, tx.instruction) == where
    watched.wrong += before.differences(State(tx))
    watched.count += 1
    return NONE


@handles(kept)
def trace_and_keep(tx: Tracing, body: VariableTracker) -> VariableTracker:
    mark = tx.trace.mark()
    try:
        tx.call(body, [])
    finally:
        tx.trace.keep(mark)
    return NONE


class Holder:
    count = 0

    def __init__(self) -> None:
        self.a = 1
        self.items = [1]


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self) -> None:
        self.a = 1


class Counted(list):
    pass


class Keyed:
    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return self.number % 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and self.number == other.number


def numbers() -> Any:
    total = 0
    for i in range(5):
        try:
            total += (yield total + i) or 1
        except KeyError:
            total += 10


THINGS = {
    "c": "[3, 1, 2]",
    "d": "{'a': 1, 2: [5]}",
    "od": "collections.OrderedDict(a=1, b=2)",
    "dd": "collections.defaultdict(list)",
    "q": "collections.deque([1, 2, 3], maxlen=4)",
    "s": "{1, 2, 3}",
    "so": "{torch.float32, 1.5}",
    "o": "Holder()",
    "sl": "Slotted()",
    "m": "Counted([1, 2])",
    "k": "{Keyed(0): 1, Keyed(2): 2}",
    "e": "ValueError('it', 1)",
    "r": "random.Random(3)",
    "z": "x * 2",
}
"""Names of things, and what creates each, inside of the trace or outside."""

INSIDE = {
    "it": "iter(c)",
    "num": "enumerate(['u', 'v', 'w'])",
    "zipped": "zip(range(9), reversed([7, 8, 9]))",
    "di": "iter(dict(a=1, b=2, c=3).items())",
    "dq": "iter(collections.deque([4, 5, 6]))",
    "g": "numbers()",
    "lam": "lambda: n",
}

LINES = re.split(r"[|\n](?!=)", """
c.append({v})|c.insert(1, {v})|c.pop()|c.sort()|c.reverse()|c.clear()|c[0] = {v}|del c[0]|c += [{v}]|c *= 2
c[1:] = (9, 8)|c.extend(d)|c.sort(key=lambda each: (c.append(1), -each)[1])|c.remove(1)
it2 = iter(c); next(it2); out.append(list(it2))|d['b'] = {v}|d.pop('a')|d.popitem()|d.clear()|d.update(z={v})
d.setdefault('q', []).append({v})|d[2].append({v})|d |= od|od.move_to_end('a')|od['n'] = {v}|od.label = {v}
del od.label|od.popitem(last=False)|dd['x'].append({v})|dd.default_factory|q.append({v})|q.appendleft({v})
q.rotate(1)|q.pop()|q[0] = {v}|q.extend([7, 8, 9])|q.clear()|q += (1, 2)|q *= 2|s.add({v})|s.discard(1)|s.pop()
s |= {{8, 9}}|s.clear()|s.update([4])|out.append(sorted(s, key=str))|out.append(list(s))|so.add({v})|so.discard(1.5)
so.clear()|o.a = {v}|del o.a|o.new = {v}|o.items.append({v})|o.__dict__['w'] = {v}|o.__dict__ = dict(v=1)
vars(o).clear()|sl.b = {v}|del sl.a|m.append({v})|m.tag = {v}|m.__init__([5])|m.clear()|o.__class__
k[Keyed({n})] = {v}|k.pop(Keyed(2))|out.append(Keyed(4) in k)|k.clear()|out.append(k[Keyed(0)])
out.append(len(set(k)))|e.args = ({v},)|e.note = {v}|e.add_note('hm')|raise e|raise KeyError from e
e.__context__ = KeyError()|raise ValueError|out.append(r.random())
out.append(r.choice([1, 2, 3]))|r.seed(5)|r.shuffle(c)|out.append(next(it, None))|out.append(list(it))
out.append(next(num, None))|out.append(next(zipped, 0))|list(zipped)|out.append(next(di, None))
out.append(next(dq, None))|list(dq)|out.append(next(g, None))|g.send({n})|g.throw(KeyError)|g.close()
g.throw(ValueError)|out.append(list(g))|n += {n}|n = lam() + 1|del n|COUNT += {n}|Holder.count += {n}
Holder.late = {v}|del Holder.late|Holder.twice = lambda self: self.a|out.append(o.twice())|lam.tag = {v}
lam.__name__ = 'f'|z.add_(1)|z = z + {n}|out.append(z.sum())|given[0] = {v}|x = x * 2|out.append(copy.deepcopy(d))
lam.__defaults__ = (1,)|out.append(isinstance(o, Holder))|out.append(getattr(o, 'nothing', None))
out.append(Holder.count)|out.append(COUNT)|class Late(Holder): seen = {v}\n{pad}o.late = Late()
with torch.no_grad(): out.append(z * 2)|torch.set_grad_enabled(False)|t = torch.relu(z); out.append(t)
out.append(f'{{d}} {{c}}')|print({v})
""".strip())  # fmt: skip

values = st.sampled_from("0 1 5 'w' None [1] (1,2) x z c d o".split())
line = st.tuples(st.sampled_from(LINES), values, st.sampled_from("1 2 3 4".split()))


@st.composite
def trees(draw: Any, depth: int = 2) -> list[Any]:
    """Lines, and among them bodies that are given up or kept: a pair of which and the lines inside."""
    found: list[Any] = []
    for _ in range(draw(st.integers(1, 5))):
        if depth and draw(st.booleans()):
            found.append((draw(st.sampled_from(["given_up", "given_up", "kept"])), draw(trees(depth - 1))))
        else:
            found.append(draw(line))
    return found


SHARED = "n, x, z, c, d, q, s, od, m"


def written(tree: list[Any], pad: str) -> list[str]:
    """Each line stands in a `try` of its own: what it raises is part of what is seen."""
    text: list[str] = []
    for each in tree:
        if len(each) == 2:
            text += [f"{pad}def body():", f"{pad}    nonlocal {SHARED}", f"{pad}    global COUNT"]
            text += [*written(each[1], pad + "    "), f"{pad}{each[0]}(body)"]
            continue
        template, value, number = each
        inner = pad + "    "
        filled = template.replace("\\n", "\n").format(v=value, n=number, pad=inner)
        text += [f"{pad}try:", inner + filled.replace("; ", f"\n{inner}")]
        text += [f"{pad}except Exception as error:"]
        text += [f"{inner}out.append((type(error).__name__, str(error), repr(error.__context__)))"]
    return text


def function_of(tree: list[Any], outside: set[str]) -> Callable[..., Any]:
    text = ["def function(x, given):", "    global COUNT", "    COUNT = Holder.count = n = 0", "    out = []"]
    for name, made in THINGS.items():
        text.append(f"    {name} = given[1]['{name}']" if name in outside else f"    {name} = {made}")
    text += [f"    {name} = {made}" for name, made in INSIDE.items()]
    text += written(tree, "    ")
    seen = [name for name in (*THINGS, *INSIDE) if name not in ("lam", "r", "s", "so")]
    text += ["    for each in (r.random() if 'r' not in given[1] else 0, len(so), sorted(s, key=str)):"]
    text += ["        out.append(each)", "    late, twice = vars(Holder).get('late'), 'twice' in vars(Holder)"]
    text += ["    torch.set_grad_enabled(True)"]
    text += ["    try:", "        out.append(n)", "    except NameError:", "        pass"]
    text += ["    out.append((sorted(map(str, vars(lam))), lam.__defaults__, [*vars(o)]))"]
    text += [f"    return x + 1, out, COUNT, Holder.count, late, twice, {', '.join(seen)}"]
    namespace = dict(globals())
    exec("\n".join(text), namespace)
    return namespace["function"]


def arguments_of(outside: set[str]) -> tuple[Any, ...]:
    for name in {"late", "twice"} & set(vars(Holder)):
        delattr(Holder, name)
    x = torch.arange(4.0)
    return x, [0, {name: eval(THINGS[name], dict(globals(), x=x)) for name in outside}]


@pytest.mark.parametrize("outside", [set(), set(THINGS)], ids=["created in the trace", "external"])
def test_random_mutations_are_rolled_back(outside: set[str]) -> None:
    totals = collections.Counter[str]()

    # (Those outside are built into many more versions, which takes longer.)
    @settings(max_examples=6 if outside else 12, deadline=None)
    @given(trees())
    def check(tree: list[Any]) -> None:
        tracer_core.reset()
        watched.reset()
        function = function_of(tree, outside)
        agree(function, lambda: arguments_of(outside))
        assert watched.wrong == []
        totals["rolled back"] += watched.count

    check()
    tracer_core.reset()
    assert totals["rolled back"] > 5


PROGRAMS = list_programs()[::60]
"""Some of each kind."""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_excursions_leave_no_trace(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results, graphs and breaks of a trace that goes on and back at random are those of one that does not."""
    monkeypatch.setattr(OurWay, "unclear", lambda self: [])  # Texts are the conformance tests' business.
    plain = run(program.path, program.name, "ours")
    with Excursions(seed=7, each=8).taken() as excursions:
        got = run(program.path, program.name, "ours")
    assert excursions.wrong == []
    assert (got.calls, got.notes) == (plain.calls, plain.notes)


def traced(function: Callable[..., Any]) -> list[list[str]]:
    """The breaks of the first call of `function`, which gives what plain Python does, and what was not put back."""
    watched.reset()
    watch = agree(function, lambda: (torch.ones(2), [1, 2]))
    assert watched.count > 0
    return [watch.breaks, watched.wrong]


def test_a_mark_inside_a_mark_is_kept_or_given_up_with_it() -> None:
    def program(x, c):
        made = [0]

        def innermost():
            c.append(4)
            made.append(5)

        def inner():
            c.append(3)
            kept(innermost)
            given_up(innermost)
            made.clear()

        def outer():
            made.append(1)
            given_up(inner)
            kept(inner)

        given_up(outer)
        assert (c, made) == ([1, 2], [0])
        kept(inner)
        return x + len(c), c, made

    assert traced(program) == [[], []]


def test_a_generator_that_moved_on_waits_again_where_it_was() -> None:
    def program(x, c):
        waits = (each * 2 for each in tuple(c))
        first = next(waits)
        given_up(lambda: (next(waits), list(waits)))
        given_up(lambda: waits.throw(KeyError))
        return x + first, list(waits)

    assert traced(program) == [[], []]


def test_a_set_whose_order_cannot_be_put_back_is_not_changed() -> None:
    """A copy of a set may have its items in another order."""

    def program(x, c):
        made = {8, 0, 16}

        def body():
            fresh = {1, 2}
            fresh.add(3)
            c.append(len(fresh))
            made.add(24)

        given_up(body)
        c.append(list(made))
        kept(body)
        return x + 1, sorted(made)

    breaks, wrong = traced(program)
    assert (set(breaks), wrong) == ({"set-kept"}, [])


def test_a_block_entered_before_a_mark_is_not_left_after_it() -> None:
    """There is no way back into some of them."""

    def program(x, c):
        def within():
            with torch.no_grad():
                yield x.requires_grad
            yield torch.is_grad_enabled()

        waits = within()
        next(waits)
        given_up(lambda: (c.append(1), next(waits)))
        return x * 2, torch.is_grad_enabled(), next(waits), torch.is_grad_enabled()

    assert traced(program) == [[], []]


def test_a_class_created_in_the_trace_is_decorated_where_that_can_be_undone() -> None:
    def program(x, c):
        class Pair:
            a: int
            b: int = 3

        given_up(lambda: dataclasses.dataclass(Pair))

        def body():
            @dataclasses.dataclass
            class Other:
                a: int

            c.append(Other(1).a)

        given_up(body)
        made = dataclasses.dataclass(Pair)(4)
        return x + made.a * made.b, c

    breaks, wrong = traced(program)
    assert (breaks, wrong) == (["set-class-attribute"], []), "the decorator changes the class itself"


def test_a_kept_mark_inside_can_still_be_given_up_with_the_one_around_it() -> None:
    journal = Journal(lambda tracker: None)
    items = ListVariable([NONE])
    outer = journal.mark()
    inner = journal.mark()
    journal.save(items)
    items.items.append(NONE)
    journal.keep(inner)
    journal.save(items)
    items.items.append(NONE)
    journal.roll_back(outer)
    assert items.items == [NONE]
    assert not journal.is_kept(items.uid)


def test_trackers_have_slots_alone() -> None:
    """So the journal finds all that they hold."""
    waiting, loose = [VariableTracker], []
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith("tracer_core.") and cls.__dictoffset__:
            loose.append(cls.__name__)
    assert loose == []
