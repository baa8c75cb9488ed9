"""A number that varies from call to call is a symbol; whatever Python does with it has plain Python's result."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.side_by_side import agree

NAMES = {"torch": torch, "math": math, "operator": operator}

ARITHMETIC = """n + 1; 1 - n; n * n; n / 3; n // 2; n % 3; -n; +n; ~n; abs(-n); n ** 2; 2 ** n; n ** -1; n ** 0.5;
0 ** n; (-1) ** n; (-2) ** (n + 1); -7 // n; -7 % n; n // -2; n % -2; (-n) % 3; (n - 5) % 3; divmod(-7, n);
divmod(n, -2); n << 1; n >> 1; n & 1; n | 1; n ^ 1; n * 1.5; n - 0.5; n + True; True * n; n + 2j; pow(n, 2, 5);
round(n / 2); round(n * 1.26, 1); round(n, 1); n @ 1; n + 'a'; n // 0; n % 0; n / 0; 1 / (n - 4); 1 // (n - 5);
math.sqrt(n - 3); n + [1]; n + None"""

QUESTIONS = """n % 2 == 0; n == 2.0; n in (2, 4); n in {2: 1}; 5 < n < 9; n != 4; n and 3; n or 3; not n;
n == None; n == 'a'; n is None; n is not None; n == True; n < 5; isinstance(n, int); isinstance(n, bool); type(n);
bool(n); hash(n); n if n > 4 else -n; n < 'a'; n < None; n.real; n.imag; n.numerator; n.denominator; n.conjugate();
n.bit_length(); n.foo; n(); n[0]; len(n); iter(n); max(n, 5, 2); min(n, 3); max([n, 4]); sorted([n, 3, 1]);
(n, 1) < (4, 2); any([n > 3]); sum(range(n)); sum([n, 1, n]); sum([n], 2.5)"""

AS_OTHER_THINGS = """str(n); repr(n); f'{n:>4}'; '%d' % n; '{} {:03d}'.format(n, n); hex(n); chr(n + 60);
int(str(n)); float(n); complex(n); int(n / 2); 'a' * n; n * 'ab'; b'x' * n; [0] * n; (1,) * n; bytes(n);
n.to_bytes(2, 'big'); range(n); list(range(n)); range(n)[n]; [1, 2, 3, 4, 5, 6][n]; [1, 2, 3, 4, 5, 6][:n];
[1, 2, 3][n]; [1, 2, 3, 4, 5, 6][slice(0, n, 2)]; slice(1, n, 2); {n: 1}; {n}; operator.index(n);
int.__add__(n, 1); n.__add__(1); math.gcd(n, 2); math.log2(n); math.ceil(n / 2); math.floor(n * 0.5);
math.isqrt(n); math.prod([n, 2, n]); math.prod([n], start=2); dict(a=n)['a']; (lambda k=n: k)();
[i for i in range(n)][-1]"""

WITH_TENSORS = """x.new_zeros(n).shape; x.reshape(n, -1).shape; x[:, :n].shape; x[n - 1]; x[-n]; torch.arange(n);
torch.full((n,), n); (-2.0) ** x; (-2) ** x.long(); x ** n; x * n + n; x[n]; x.sum() ** n;
x.view(n, x.shape[1]).stride(); torch.ones(n, n).numel(); math.prod(x.shape); sum(x.shape); x.shape[0] ** 2;
x.numel() // n; x.stride(0) * n; x.shape == (n, 6); x.size(n - n)"""


def split(text: str) -> list[str]:
    return [each.strip() for each in text.split(";")]


def expression(text: str) -> Callable[[torch.Tensor, Any], Any]:
    """A function of a tensor and a number that gives the expression's value, or what it raises."""
    lines = [
        "def function(x, n):",
        "    y = x + 1",
        "    try:",
        f"        return y, {text}",
        "    except Exception as e:",
    ]
    lines.append("        return type(e).__name__, str(e), x - 1")
    namespace = dict(NAMES)
    exec("\n".join(lines), namespace)
    return namespace["function"]


def table(rows: int) -> torch.Tensor:
    return torch.arange(1.0, rows * 6 + 1).reshape(rows, 6)


@pytest.mark.row("I2", "B4")
@pytest.mark.parametrize("text", split(ARITHMETIC) + split(QUESTIONS) + split(AS_OTHER_THINGS) + split(WITH_TENSORS))
def test_an_expression_of_a_number_that_varies(text: str) -> None:
    agree(expression(text), *[lambda n=n: (table(n), n) for n in (2, 4, 5)])


@pytest.mark.row("I2", "B8")
@pytest.mark.parametrize("text", split(ARITHMETIC)[::4] + split(QUESTIONS)[::5] + split(WITH_TENSORS)[::2])
def test_an_expression_of_a_size_that_varies(text: str) -> None:
    function = expression(text)
    agree(lambda x: function(x, x.shape[0]), *[lambda n=n: (table(n),) for n in (4, 5, 6)])


@pytest.mark.row("I2")
@pytest.mark.parametrize(
    "text", ["n is None", "n is not None", "n == None", "n.real", "~n", "math.prod([n, 2])", "hash(n)"]
)
def test_what_can_be_told_of_a_symbol_breaks_nothing(text: str) -> None:
    watch = agree(expression(text), *[lambda n=n: (table(2), n) for n in (3, 4, 5)])
    assert not watch.breaks


OPERATORS = ["+", "-", "*", "//", "%", "/", "&", "|", "^", "<", "<=", "==", "!=", ">", ">="]
leaves = st.sampled_from(["n", "m", "n", "m", "2", "3", "-1", "7"])
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(
            st.sampled_from(["-{}", "abs({})", "~int({})", "min({}, 3)", "max(2, {})", "divmod({}, 3)[1]"]), inner
        ).map(lambda pair: pair[0].format(f"({pair[1]})")),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
    ),
    max_leaves=6,
)


@pytest.mark.row("I2", "B4")
@settings(max_examples=40, deadline=None)
@given(expressions, st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=4))
def test_random_arithmetic(text: str, numbers: list[tuple[int, int]]) -> None:
    tracer_core.reset()
    namespace: dict[str, Any] = {}
    lines = ["def function(x, n, m):", "    try:", f"        return x * 2, {text}"]
    lines += ["    except ZeroDivisionError as e:", "        return str(e), x"]
    exec("\n".join(lines), namespace)
    agree(namespace["function"], *[lambda pair=pair: (torch.ones(2), *pair) for pair in numbers])
