"""Random sequences of what can be done to lists, dicts, sets, deques and text, errors among it, traced and plain."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.side_by_side import agree

Line = st.SearchStrategy[str]

numbers = st.sampled_from("0 1 2 3 -1 -2 5".split())
bounds = st.sampled_from(["", "", "0", "1", "2", "-1", "-2", "9"])
values = st.sampled_from("0 1 2 True 1.0 -0.0 None 'a' 'b' '' (1,2) (1,True) [1] x y n (x,1) c c[:1]".split())
keys = st.sampled_from("0 1 2 True 1.0 0.0 None 'a' 'b' (1,2) (1.0,2) (1,True) [1] x n frozenset({1}) (x,)".split())
slices = st.tuples(bounds, bounds, st.sampled_from(["", "", "1", "2", "-1", "-2", "0"])).map(
    lambda t: "{}:{}:{}".format(*t)
)


def lines(*templates: str, **parts: Line) -> Line:
    """One of the templates with its gaps `{name}` filled."""
    names = sorted(parts)
    filled = st.tuples(st.sampled_from(templates), *(parts[name] for name in names))
    return filled.map(lambda drawn: drawn[0].format(**dict(zip(names, drawn[1:], strict=True))))


SEQUENCE = (
    "out.append(c[{i}])|c[{i}] = {v}|del c[{i}]|out.append({v} in c)|out.append(c.index({v}))"
    "|out.append(c.count({v}))|c.append({v})|c.insert({i}, {v})|out.append(c.pop())|c.remove({v})|c.reverse()"
    "|c.extend({w})|c += {w}|c *= {i}"
    "|out.append(c + {w})|out.append(c * {i})|out.append(c == {w})|out.append(len(c))|out.append(list(reversed(c)))"
    "|d = c.copy(); d.append(c); out.append(d)|for each in c:\n            out.append(each)|out.append([*c, {v}])"
    "|for each in list(c):\n            c.append(each)|out.append(max(c))|out.append(sorted(c))|c.clear()"
    "|out.append(bool(c))|out.append(list(enumerate(c)))|out.append(list(zip(c, {w})))|out.append(any(c))"
    "|a, *b = c; out.append((b, a))"
)
list_lines = st.one_of(
    lines(
        *SEQUENCE.split("|"), "out.append(c.pop({i}))", "c.sort()", "c.sort(key=str, reverse=True)",
        "out.append(c < {w})",
        i=numbers, v=values, w=st.sampled_from("[] [1] (1,2) 'ab' range(2) {1:2} c 1 None {3}".split()),
    ),
    lines(
        "out.append(c[{s}])", "c[{s}] = {w}", "del c[{s}]", s=slices,
        w=st.sampled_from("[] [1,2] 'ab' c 1".split()),
    ),
)  # fmt: skip
deque_lines = lines(
    *SEQUENCE.split("|"), "c.appendleft({v})", "out.append(c.popleft())", "c.rotate({i})", "c.extendleft({w})",
    "out.append(c.maxlen)", "out.append(c[{i}:])", "out.append(c.index({v}, {i}))",
    i=numbers, v=values, w=st.sampled_from("[] [1] (1,2) 'ab' range(4) c 1".split()),
)  # fmt: skip
dict_lines = lines(
    "out.append(c[{k}])", "c[{k}] = {v}", "del c[{k}]", "out.append({k} in c)", "out.append(c.get({k}))",
    "out.append(c.get({k}, {v}))", "out.append(c.setdefault({k}, {v}))", "out.append(c.pop({k}))",
    "out.append(c.pop({k}, {v}))", "out.append(c.popitem())", "c.update({w})", "c |= {w}", "out.append(c | {w})",
    "out.append(c == {w})", "out.append(list(c))", "out.append(list(c.values()))", "out.append(list(c.items()))",
    "out.append(list(reversed(c)))", "c.clear()", "out.append(len(c))", "d = c.copy(); d[{k}] = c; out.append(d)",
    "out.append(dict.fromkeys(c, {v}))", "out.append({{**c, 'z': {v}}})", "out.append(c.keys() & {{1, 'a'}})",
    "for each in c:\n            c[each] = {v}", "for each in c:\n            c[str(each)] = 1",
    "for each in list(c):\n            del c[each]", "v = c.items(); c[{k}] = {v}; out.append(list(v))",
    "out.append([(a, b) for a, b in c.items()])", "out.append(sorted(c, key=str))",
    k=keys, v=values, w=st.sampled_from("{} {1:2} {'a':x} {True:0,'q':1} c [(1,2)] [1] dict(a=1) 1 None".split()),
)  # fmt: skip
set_lines = lines(
    "c.add({k})", "c.remove({k})", "c.discard({k})", "out.append({k} in c)", "out.append(c | {w})", "c |= {w}",
    "out.append(c & {w})", "c &= {w}", "out.append(c - {w})", "c -= {w}", "out.append(c ^ {w})", "c ^= {w}",
    "out.append(c <= {w})", "out.append(c == {w})", "c.update({w})", "out.append(c.union({w}, [7]))", "c.clear()",
    "c.intersection_update({w})", "c.difference_update({w})", "c.symmetric_difference_update({w})",
    "out.append(c.isdisjoint({w}))", "out.append(c.issubset({w}))", "out.append(c.issuperset({w}))",
    "out.append(len(c))", "out.append(sorted(c, key=str))", "out.append(c.copy())", "out.append(frozenset(c))",
    "out.append(c.pop() in (0, 1, 2))", "out.append({{c: 1}})", "for each in c:\n            c.add(50)",
    "out.append(sum(1 for each in c))", "out.append(c > {w})",
    k=st.sampled_from("0 1 2 True 1.0 None 'a' (1,2) [1] n frozenset({1})".split()),
    w=st.sampled_from("set() {1} {1,2} {True,'a'} {2.0} frozenset({2,3}) [1,2] 'ab' c {1:0}.keys() 1 None".split()),
)  # fmt: skip
text_lines = lines(
    "out.append(c[{i}])", "out.append(c[{i}:])", "out.append(c[::{i}])", "out.append({t} in c)", "c += {t}",
    "out.append(c.find({t}))", "out.append(c.index({t}, {i}))", "out.append(c.count({t}))",
    "out.append(c.split({t}))", "out.append(c.split(None, {i}))", "out.append(c.partition({t}))",
    "out.append(c.replace({t}, 'q', {i}))",
    "out.append(c.strip({t}))", "out.append(c.startswith({t}))", "out.append(c.join(['u', {t}]))", "c = c.upper()",
    "out.append(c.center(9, '*'))", "out.append(c.zfill({i}))", "out.append(c * {i})", "out.append(c < {t})",
    "out.append(c.encode())", "out.append(f'{{c!r:>12}}|{{n:03d}}|{{n + 0.5:.2f}}')",
    "out.append('%s %r' % (c, {t}))",
    "out.append('{{}} {{0}}'.format(c))", "out.append('{{0[1]}} {{k}}'.format(c, k={t}))", "out.append('%d' % c)",
    "out.append(c.isalpha())", "out.append(c.title())", "out.append([each for each in c])", "out.append(int(c))",
    "out.append(ord(c))", "out.append(c.translate({{97: 'z'}}))", "out.append(c.removeprefix({t}))", "c[0] = 'z'",
    "out.append('{{:>{{}}}}'.format(c, n))", "out.append(c.rsplit({t}, 1))", "out.append(c.splitlines())", "c.foo",
    i=numbers, t=st.sampled_from("'' 'a' 'b' 'ab' '1' None 1 ('a','b') c '12'".split()),
)  # fmt: skip


def function_of(body: list[str], start: str) -> Callable[..., Any]:
    """Each line stands in a `try` of its own: what it raises is part of what is seen."""
    text = ["def function(x, y, n, c):", "    out = []"] + ([f"    c = {start}"] if start else [])
    for line in body:
        text += ["    try:", f"        {line}", "    except Exception as error:"]
        text += ["        out.append((type(error).__name__, str(error)))"]
    text += ["    return x + len(out), out, c"]
    namespace: dict[str, Any] = {"collections": collections}
    exec("\n".join(text), namespace)
    return namespace["function"]


STARTS: dict[str, tuple[Line, list[Callable[[], Any]], list[str]]] = {
    "list": (list_lines, [list, lambda: [1, 2, 0], lambda: ["b", "a", None]], ["[]", "[3, x, 1]"]),
    "deque": (
        deque_lines,
        [collections.deque, lambda: collections.deque([1, 2, 0], maxlen=3)],
        ["collections.deque()", "collections.deque([x, 1], 2)"],
    ),
    "dict": (dict_lines, [dict, lambda: {1: "one", "a": [1], None: 2}], ["{}", "{0: x, 'a': 1}"]),
    "defaultdict": (
        dict_lines,
        [lambda: collections.defaultdict(list, {1: 2})],
        ["collections.defaultdict(int)", "collections.defaultdict(None, a=x)"],
    ),
    "OrderedDict": (
        st.one_of(dict_lines, lines("c.move_to_end({k})", "c.move_to_end({k}, last=False)", k=keys)),
        [lambda: collections.OrderedDict({1: 2, "a": 0})],
        ["collections.OrderedDict()", "collections.OrderedDict(a=x, b=1)"],
    ),
    "Counter": (dict_lines, [lambda: collections.Counter("abca")], ["collections.Counter([1, 1, 2])"]),
    "set": (set_lines, [set, lambda: {1, 2, "a"}], ["set()", "{1, 2.0, None}"]),
    "str": (text_lines, [lambda: "", lambda: "abcab", lambda: " 12 a"], ["''", "'baab'", "'12'"]),
}
EXAMPLES = 8


@pytest.mark.row("I11", "O7")
@pytest.mark.parametrize("made", ["outside", "in the trace"])
@pytest.mark.parametrize("kind", STARTS)
def test_random_operations(kind: str, made: str) -> None:
    strategy, outside, inside = STARTS[kind]
    starts: Any = st.sampled_from(outside if made == "outside" else inside)

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.lists(strategy, min_size=1, max_size=8), starts)
    def check(body: list[str], start: Any) -> None:
        tracer_core.reset()
        function = function_of(body, start if isinstance(start, str) else "")
        given_ = start if callable(start) else tuple
        agree(function, *[lambda n=n: (torch.ones(2), torch.zeros(1), n, given_()) for n in (2, 3)])

    check()
