"""`class` statements in loops, in inlined functions, with code in their bodies, and around breaks."""

import torch

from tests.conformance.program import program, t


class Outside:
    made = 0

    def __init_subclass__(cls, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.tag = tag


@program("I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def class_in_a_loop(x):
    made = []
    for i in range(3):

        class Step:
            index = i

            def run(self, v):
                return v + self.index

        made.append(Step)
    for cls in made:
        x = cls().run(x)
    return x, made[0] is made[1], len(made)


def make_class(name, base, n):
    return type(name, (base,), {"n": n, "run": lambda self, v: v * self.n})


@program("I10")
def class_by_calling_type(x):
    A = make_class("A", Outside, 3)
    B = type("B", (), {})
    return A().run(x), A.__name__, isinstance(A(), Outside), B.__name__


@program("I10 I11", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def slots_operators_and_containers_of_a_local_class(x):
    class V:
        __slots__ = ("n",)

        def __init__(self, n):
            self.n = n

        def __add__(self, other):
            return V(self.n + other.n)

        def __eq__(self, other):
            return self.n == other.n

        def __hash__(self):
            return hash(self.n)

        def __repr__(self):
            return f"V({self.n})"

    d = {V(1): "one"}
    try:
        V(1).other = 2
    except AttributeError as error:
        text = str(error)
    return x + (V(1) + V(2)).n, d[V(1)], repr([V(1)]), text


@program("I10 I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def body_that_raises(x):
    y = x + 1
    try:

        class Bad:
            before = 1
            broken = 1 // 0
    except ZeroDivisionError as error:
        return y * 2, str(error), "Bad" in locals()


@program("I10 O7")
def body_with_side_effects(x):
    log = []

    class Noisy:
        log.append(__name__.rpartition(".")[2])
        log.append(__qualname__)
        n = len(log)

    return x * Noisy.n, log


def inner_maker(k):
    class Made:
        value = k

        def get(self):
            return self.value + k

    return Made


@program("I10 I9", lambda: [(t(2), 2), (t(2), 3)])
def class_made_in_an_inlined_function(x, k):
    cls = inner_maker(k)
    return x * cls().get(), inner_maker(1) is inner_maker(1)


class Descriptor:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.name) * 2

    def __set__(self, obj, value):
        setattr(obj, self.name, value)


@program("I10")
def set_name_is_called(x):
    class Owner:
        n = Descriptor()

    o = Owner()
    o.n = 4
    return x * o.n, o._n, Owner.__dict__["n"].name


@program("I10 I14", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def break_in_a_method_of_a_local_class(x):
    class Breaker:
        def run(self, v):
            torch._dynamo.graph_break()
            return v + 2

    y = x * 2
    return Breaker().run(y) * 3
