"""Classes and types that the library makes when it is called inside; state dicts, which have attributes."""

import copy
import dataclasses
import typing
from collections import OrderedDict

import torch

from tests.conformance.program import program, t


class Base:
    def doubled(self):
        return self.a * 2


@program("I10 I12")
def dataclass_made_by_a_call(x):
    made = dataclasses.make_dataclass("Made", [("a", int), ("d", int, 3)], bases=(Base,))
    one = made(2)
    return x + one.a, one.doubled(), dataclasses.astuple(one), repr(one), one == made(2), made.__name__


@program("I10 I12")
def types_made_by_typing(x):
    number = typing.NewType("number", int)
    variable = typing.TypeVar("variable")
    return x + number(3), number.__name__, number.__module__, variable.__name__, number.__supertype__


@program("I10 I12")
def named_tuple_made_by_typing(x):
    made = typing.NamedTuple("made", [("a", int), ("b", float)])
    one = made(2, b=3.0)
    return x + one.a, one._asdict(), made._fields, made.__module__, one[1]


def model(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).eval()


def used_twice():
    m = model()
    return [(m, t(2, 2)), (m, t(2, 2))]


@program("B11 I11", used_twice)
def state_dict_inside(m, x):
    state = m.state_dict()
    return m(x) + state["0.bias"], list(state), list(state._metadata), state._metadata["1"]


@program("B11 I11", lambda: [(model(0), model(1), t(2, 2))], differs="fewer_breaks", why="torch gives up")
def state_dict_loaded_inside(a, b, x):
    y = a(x)
    said = a.load_state_dict(b.state_dict())
    return y, a(x), b(x), said.missing_keys


@program(
    "B11 I11", lambda: [(model(0), model(1).state_dict(), t(2, 2))], differs="fewer_breaks", why="torch gives up"
)
def state_dict_from_outside_loaded(m, state, x):
    m.load_state_dict(state)
    return m(x), list(state._metadata)


def attributes(made):
    return [vars(each) for each in made[1:4]]


@program("I11 I12", then=attributes, differs="fewer_breaks", why="torch gives up the frame")
def attributes_of_ordered_dicts(x):
    made = OrderedDict(a=1)
    made.note = [1]
    made.gone = 2
    del made.gone
    try:
        del made.gone
    except AttributeError as error:
        said = error.args
    flat, deep = copy.copy(made), copy.deepcopy(made)
    plain = made.copy(), OrderedDict(made), made | {}
    return x + 1, made, flat, deep, flat.note is made.note, deep.note, [hasattr(p, "note") for p in plain], said
