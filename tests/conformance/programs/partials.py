"""`functools.partial`: made, called, asked about, handed on, and leaving the trace."""

import functools

import torch

from tests.conformance.program import program, t


class Scaler:
    factor = 3

    def __init__(self, n):
        self.n = n
        self.seen = []

    def scale(self, v, by=None):
        """Scales."""
        self.seen.append(by)
        return v * (self.n if by is None else by)

    @classmethod
    def scale_all(cls, v):
        return v * cls.factor

    @staticmethod
    def shift(v, by=1):
        return v + by

    def __call__(self, v):
        return self.scale(v) + 1


def doubled(v):
    return v * 2


def combine(a, b=1, *rest, c=2, **more):
    return a * b + c + sum(rest) + sum(more.values())


module_partial = functools.partial(combine, c=5)


@program("F8")
def partial_made_and_called(x):
    f = functools.partial(combine, x)
    return f(), f(2), f(2, 3, c=4), f(b=3, d=6)


@program("F8")
def partial_keywords_overridden(x):
    f = functools.partial(combine, b=3, c=4)
    return f(x), f(x, c=1), f(x, b=2, e=1), f.keywords


@program(
    "F8",
    differs="torch_differs",
    why="torch does not merge a partial of a partial",
)
def partial_of_a_partial(x):
    f = functools.partial(functools.partial(combine, x, 2), c=7)
    return f(), f.func is combine, len(f.args), f.keywords


@program("F8", then=lambda r: (r[0](t(2)), r[0].args, r[0].keywords, type(r[0]).__name__))
def partial_leaves_the_trace(x):
    y = x + 1
    return functools.partial(combine, b=y), y


@program("F8", then=lambda r: (r[1](2), r[1].func.__name__))
def partial_of_a_closure_leaves(x):
    y = x * 2

    def inner(k, n):
        return y * k + n

    return y, functools.partial(inner, n=1)


@program("F8", lambda: [(t(2), functools.partial(combine, b=2)), (t(2), functools.partial(combine, c=9))])
def partial_as_an_argument(x, f):
    return f(x), f.keywords, f.args, f.func is combine


@program("F8")
def partial_in_the_module(x):
    return module_partial(x), module_partial(x, c=1)


@program("F8")
def partial_attributes_asked_for(x):
    f = functools.partial(combine, x)
    return (
        x + 1,
        hasattr(f, "func"),
        hasattr(f, "nothing"),
        hasattr(f, "keywords"),
        callable(f),
        isinstance(f, functools.partial),
    )


@program("F8")
def partial_of_a_torch_function(x):
    f = functools.partial(torch.add, alpha=2)
    g = functools.partial(torch.Tensor.sum, dim=0)
    return f(x, x), g(x), list(map(functools.partial(torch.mul, x), [1, 2]))


@program("F8")
def partial_as_a_decorator(x):
    def tag(f, name):
        @functools.wraps(f)
        def inner(*args):
            return f(*args), name

        return inner

    @functools.partial(tag, name="tagged")
    def double(v):
        return v * 2

    return double(x), double.__name__


@program("F8", lambda: [(t(2), Scaler(2))])
def partial_of_methods_and_classes(x, scaler):
    f = functools.partial(scaler.scale, by=3)
    make = functools.partial(Scaler, 4)
    return f(x), make().scale(x), scaler.seen


class WithPartialMethod:
    def combine(self, v, k, c=0):
        return v * k + c

    double = functools.partialmethod(combine, k=2)


@program(
    "F8 F2",
    lambda: [(t(2), WithPartialMethod())],
    differs="fewer_breaks",
    why="torch does not know partialmethod",
)
def partial_method(x, holder):
    return holder.double(x), holder.double(x, c=1)


@program("F8")
def partial_in_sorted_reduce_and_dict(x):
    add = functools.partial(lambda k, a, b: a + b + k, 1)
    table = {"f": functools.partial(max, 3)}
    return x + functools.reduce(add, [1, 2, 3]), table["f"](2, 5), sorted([2, 3, 1], key=functools.partial(pow, 2))


@program(
    "F8 I5",
    differs="fewer_breaks",
    why="torch leaves a call that fails to Python",
)
def partial_called_wrongly(x):
    f = functools.partial(doubled, x, 1)
    try:
        f()
    except TypeError as error:
        return x + 1, str(error)
