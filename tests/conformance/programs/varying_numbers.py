"""Numbers that differ from call to call, wherever they hang from the arguments; and symbolic answers."""

import dataclasses
import functools

import torch

from tests.conformance.program import program, t


class Holder:
    def __init__(self, n):
        self.n = n

    def add_to(self, v):
        return v + self.n


class Slotted:
    __slots__ = ("n",)

    def __init__(self, n):
        self.n = n


@dataclasses.dataclass
class Record:
    n: int
    scale: float = 2.5


class Module(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x + self.n


def in_a_cell(n):
    return lambda: n


def in_a_default(n):
    return lambda a=n: a


@program("B4 B8", lambda: [(t(2), Holder(n)) for n in (5, 6, 7, 0, 1)])
def attribute_of_an_argument(x, holder):
    return x + holder.n


@program("B4 B8", lambda: [(t(2), Slotted(n)) for n in (5, 6, 7)])
def slot_of_an_argument(x, holder):
    return x * holder.n


@program("B4 B8", lambda: [(t(2), Record(3, f)) for f in (2.5, 3.5, 4.5)])
def float_of_a_dataclass(x, record):
    return x * record.scale + record.n


@program("B4 B8", lambda: [(t(2), (h := Holder(4))), (t(2), h), (t(2), h), (t(2), h)])
def attribute_counted_up(x, holder):
    holder.n += 1
    return x + holder.n


@program("B4 F2", lambda: [(t(2), Holder(n).add_to) for n in (5, 6, 7)])
def attribute_through_a_bound_method(x, method):
    return method(x)


@program("B4 I7", lambda: [(t(2), in_a_cell(n)) for n in (5, 6, 7)])
def cell_of_an_argument(x, f):
    return x + f()


@program("B4 F1", lambda: [(t(2), in_a_default(n)) for n in (5, 6, 7)])
def default_of_an_argument_stays_a_number(x, f):
    return x + f()


@program("B4 B11", lambda: [(t(2), Module(n)) for n in (5, 6, 7)])
def attribute_of_a_module_stays_a_number(x, module):
    return module(x)


@program("B4 F8", lambda: [(t(2), functools.partial(torch.add, alpha=n)) for n in (5, 6, 7)])
def keyword_of_a_partial(x, f):
    return f(x, x)


@program("B4 F8", lambda: [(t(2), functools.partial(lambda a, b: a * b, n)) for n in (5, 6, 7)])
def argument_of_a_partial(x, f):
    return f(x)


@program("B4 B8", lambda: [(t(2), {"o": Holder(n), "l": [Holder(n + 10)]}) for n in (5, 6, 7)])
def attributes_deep_inside(x, given):
    return x + given["o"].n + given["l"][0].n


@program("I2 B8", lambda: [(t(2), n) for n in (2, 7, 8, 3)])
def in_known_numbers(x, n):
    return x + 1, n in (2, 3)


@program(
    "I2 B8",
    lambda: [(t(2), n) for n in (2, 7, 8, 3)],
    differs="fewer_breaks",
    why="torch compiles anew for what `not` says",
)
def not_in_known_numbers(x, n):
    return x + 1, n not in (2, 3)


@program(
    "I2 B8", lambda: [(t(2), n) for n in (2, 7, 8, 3)], differs="torch_differs", why="torch forgets that n may be 3"
)
def known_number_in_varying_ones(x, n):
    return x + 1, 3 in (n, 4), n in (n, 4)


@program("I2 B8", lambda: [(t(2), n) for n in (2, 7, 8, 5)])
def branch_on_membership(x, n):
    if n in (5, 7):
        return x + 1
    return x - 1


@program(
    "I2 B8",
    lambda: [(t(2), n) for n in (2, 7, 3, 3)],
    differs="fewer_breaks",
    why="torch compiles anew for what `not` says",
)
def negation_of_a_symbolic_comparison(x, n):
    return x + 1, not n == 3, not n != 7


@program("B8 I3", lambda: [t(2, 3), t(4, 3), t(6, 3)])
def one_size_many_times(x):
    b, c = x.shape
    return x.reshape(b * c) * (b * c), b * c, c * b


@program("F10", lambda: [t(2, 3)])
def dunder_methods_by_name(x):
    return x.__add__(2), x.__mul__(x), torch.Tensor.__sub__(x, 1), torch.Tensor.abs(x)


@program("O7 F10", lambda: [(t(3, grad=True), t(3)), (t(3, grad=True), None)])
def grad_set_and_read_back(x, g):
    x.grad = g
    seen = x.grad
    return x * 2, seen is g


@program("O7 F10", lambda: [(t(3, grad=True), t(3))])
def grad_set_to_what_the_graph_makes(x, g):
    x.grad = g * 2
    x.grad.add_(1)
    return x + x.grad


@program("I5 O7 F10", lambda: [(t(3, grad=True), t(4))], differs="torch_differs", why="the error is not caught there")
def grad_of_another_shape(x, g):
    y = x + 1
    try:
        x.grad = g
    except RuntimeError as error:
        return y, type(error).__name__


@program("I12 I7", lambda: [(t(2), 3)], differs="torch_differs", why="the text does not see the variables there")
def evaluated_text(x, n):
    k = n + 1

    def use():
        return k

    return eval("x * k + n"), eval(" [n, k][0] "), use(), eval("len('abc') if n else None")


@program("I12 I5")
def evaluated_text_that_fails(x):
    try:
        eval("x + nowhere")
    except NameError as error:
        return x + 1, str(error)


@program("I12", differs="fewer_breaks", why="torch leaves what evaluates a text with names to Python")
def evaluated_scope_of_its_own(x):
    y = 3
    try:
        return x + y, eval("[y for _ in range(2)]")
    except NameError as error:
        return x - y, str(error)


_PAIRS = [(t(2), a, b) for a, b in ((3, 2), (4, 4), (5, 6), (7, 7))]


@program("I11 B4", lambda: _PAIRS)
def entries_compared_by_numbers_that_vary(x, a, b):
    one, other = {1: a}.items(), {1: b}.items()
    return x + 1, one ^ other, one & other, one - other, one <= other, one == other, one.isdisjoint(other)


@program("I11 B4", lambda: _PAIRS)
def sets_copied_with_numbers_that_vary(x, a, b):
    frozen = frozenset([a])
    return (
        x + 1,
        frozen == {b},
        {a}.copy() == {b},
        {a}.issubset([b]),
        {a, b} - {b},
        {b: 2}.keys() & [a],
        {a: 1}.copy(),
    )


@program("I11 B4", lambda: _PAIRS, differs="fewer_breaks", why="torch leaves it to Python")
def entries_without_a_hash_compared(x, a, b):
    one, other = {1: [a]}.items(), {1: [b]}.items()
    answers = [one == other, one <= other, one < other, one.isdisjoint(other), {1: [a]}.items() ^ {1: [a]}.items()]
    try:
        answers.append(one ^ other)
    except TypeError as error:
        answers.append(str(error))
    return x + 1, answers


@program(
    "B4 B8",
    lambda: [(t(2), f, n) for f, n in ((1.25, 2), (1.75, 3), (2.25, 3), (-0.5, 3))],
    differs="torch_differs",
    why="torch takes the remainder of floats for an integer",
)
def remainders_of_floats(x, f, n):
    found = f % 0.5, 2.5 % f, f % n, n % f, n % 2
    return [x + i for i, each in enumerate(found) if each == 0.25 or each > 0.5], found


@program("B4 B8", lambda: [(t(2), m, n, f) for m, n, f in ((2, 3, 1.5), (4, 5, 2.5), (6, 50, 3.5), (2, 3, 1.5))])
def quotients_compared(x, m, n, f):
    y = x + 1 if 2 * (m / n) + 1.0 / float(n + m) > 0.3 else x - 1
    z = y * 2 if (m / n) / (n / 3.0) > 1e-7 and m / (n / 2) > 1 else y
    return z + f if f / 3 != 0.5 or f * 3 > 1e300 or f * 0.1 < 0.30000000000000004 else z
