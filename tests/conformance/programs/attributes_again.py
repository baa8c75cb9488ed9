"""Attributes that are deleted and set again, of objects, functions and modules; hooks that see each write once."""

import torch
from torch import nn

from tests.conformance.program import program, t


class Plain:
    def __init__(self):
        self.a = 1
        self.b = 2
        self.c = 3


@program(
    "O7 I10",
    lambda: [(t(2), Plain())],
    then=lambda r: (r, list(vars(r[-1]))),
    differs="torch_differs",
    why="torch.compile gives another order of the attributes",
)
def set_again_comes_last(x, p):
    p.n = x + 1
    del p.a
    p.b = 5
    p.a = 9
    return x * p.a, list(vars(p)), p


@program(
    "O7 I10",
    lambda: [(t(2), Plain())],
    then=lambda r: (r, list(vars(r[-1]))),
    differs="torch_differs",
    why="torch.compile gives another order of the attributes",
)
def set_again_with_breaks_between(x, p):
    p.a = 4
    del p.a
    torch._dynamo.graph_break()
    p.n = x * 2
    p.a = 9
    del p.b
    first = list(vars(p))
    torch._dynamo.graph_break()
    p.b = x + 1
    del p.a
    p.a = 7
    return p.b * p.a, first, list(vars(p)), p


@program(
    "O7 I10",
    lambda: [(t(2), Plain())],
    then=lambda r: (r, list(vars(r[-1]))),
    differs="torch_differs",
    why="torch.compile gives another order of the attributes",
)
def made_and_deleted_and_made(x, p):
    p.n = 1
    p.m = 2
    del p.n, vars(p)["c"]
    p.n = 3
    vars(p)["c"] = x - 1
    p.gone = 1
    del p.gone
    return p.c * p.n, list(vars(p)), p


class Slotted:
    __slots__ = ("a", "b", "c")

    def __init__(self):
        self.a = 1
        self.b = 2


def slots_of(s):
    return [getattr(s, name, "none") for name in Slotted.__slots__]


@program("O7 I10", lambda: [(t(2), Slotted())], then=lambda r: (r[0], slots_of(r[1])))
def slots_deleted_and_set(x, s):
    del s.a, s.b
    s.c = x
    del s.c
    s.a = x + 1
    torch._dynamo.graph_break()
    del s.a
    s.c = 3
    return x * s.c, s


class Hiding:
    def __init__(self):
        vars(self)["it"] = 1

    @property
    def it(self):
        return "asked"


@program("O7 I10", lambda: [(t(2), Hiding())], then=lambda r: (r, dict(vars(r[-1]))))
def deleted_behind_a_property(x, p):
    del vars(p)["it"]
    return x * 2, p.it, dict(vars(p)), p


def helper(x):
    return x + 1


helper.a, helper.b = 1, 2


@program(
    "I10",
    lambda: [t(2), t(2)],
    then=lambda r: (r, list(vars(helper))),
    differs="torch_differs",
    why="torch.compile gives another order of the attributes",
)
def attributes_of_functions_again(x):
    del helper.a
    helper.c = 3
    helper.a = x + 1
    seen = list(vars(helper))
    del helper.c
    return helper(helper.a), seen, list(vars(helper))


class Wrong(Exception):
    a = "of the class"


def wrong():
    error = Wrong(1)
    error.a, error.b = 1, 2
    return error


@program(
    "O7 I10",
    lambda: [(t(2), wrong())],
    then=lambda r: (r, list(vars(r[-1]))),
    differs="torch_differs",
    why="torch.compile gives another order of the attributes",
)
def attributes_of_exceptions_again(x, error):
    del error.a
    between = error.a
    error.c = x
    error.a = 9
    error.gone = 1
    del error.gone
    torch._dynamo.graph_break()
    del error.b
    error.b = x + 1
    return error.c * error.a, between, list(vars(error)), error


class Members(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = 3
        self.c = nn.ReLU()
        self.p = nn.Parameter(torch.ones(2))
        self.q = nn.Parameter(torch.zeros(2))
        self.register_buffer("b", torch.ones(2))


class Hooked(Members):
    def __setattr__(self, name, value):
        super().__setattr__(name, value * 2 if name == "k" else value)

    def __delattr__(self, name):
        super().__delattr__(name)


def members(m):
    own = [name for name in vars(m) if not name.startswith("_")]
    return own, list(m.state_dict()), list(m._parameters), list(m._buffers), list(m._modules)


def of_both():
    return [(Members(), t(2)), (Hooked(), t(2))]


@program("B11 I10", of_both, then=lambda r: (r[0], members(r[1]), r[1].p))
def parameter_becomes_an_attribute(m, x):
    m.a = 2
    del m.p
    m.p = x
    return m.p * m.q, m


@program("B11 I10", of_both, then=lambda r: (r[0], members(r[1]), r[1].c))
def submodule_becomes_an_attribute(m, x):
    m.a = x
    del m.c
    m.c = 5
    return x * m.c, m


@program("B11 I10", of_both, then=lambda r: (r[0], members(r[1]), r[1].b))
def buffer_becomes_an_attribute(m, x):
    m.a = 2
    del m.b
    m.b = x
    return m.b * 2, m


@program("B11 I10", of_both, then=lambda r: (r[0], members(r[1]), r[1].p))
def attribute_becomes_a_member_again(m, x):
    m.a = 2
    p = m.p
    del m.p
    m.p = p * x
    torch._dynamo.graph_break()
    y = m.p + 1
    m.n = 1
    del m.p
    m.p = p
    del m.a
    m.a = m.c
    return m.a(y), m


@program("B11 I10", of_both, then=lambda r: (r[0], members(r[1]), r[1].p))
def weights_reckoned_from_others(m, x):
    m.n = 1
    p = m.p
    del m.p
    m.register_parameter("p_0", p)
    m.p = m.p_0 * 2
    return m.p + x, m


@program("B11 I10", of_both, then=lambda r: (r, vars(r[-1])["k"]))
def hook_of_a_module_runs_once(m, x):
    m.k = x.shape[0]
    y = x * m.k
    torch._dynamo.graph_break()
    m.k = x + 1
    return y, m.k, m


class Logged(Members):
    log = []

    def __setattr__(self, name, value):
        self.log.append(name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self.log.append("del " + name)
        super().__delattr__(name)


@program(
    "B11 I10",
    lambda: [(Logged(), t(2))],
    then=lambda r: (r[0], r[1], members(r[2]), list(Logged.log)),
    differs="torch_differs",
    why="torch.compile gives another order of the attributes",
)
def hooks_of_a_module_see_each_write_once(m, x):
    m.log.clear()
    m.n = 1
    del m.p
    m.p = x
    m.q = nn.Parameter(x * 2)
    del m.a
    m.b = x + 1
    m.a = 4
    return m.q * m.b, list(m.log), m
