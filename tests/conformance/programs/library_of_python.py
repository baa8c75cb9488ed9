"""The standard library as user programs call it: copy, inspect, dataclasses."""

import collections
import copy
import dataclasses
import inspect
import math
import typing

import torch

from tests.conformance.program import program, t


class Config:
    def __init__(self):
        self.sizes = [1, 2]
        self.nested = {"a": self.sizes, "t": (3, [4])}
        self.me = self


class OwnCopy:
    def __init__(self, n):
        self.n = n
        self.log = []

    def __copy__(self):
        made = OwnCopy(self.n)
        made.log = ["copied"]
        return made

    def __deepcopy__(self, memo):
        memo["seen"] = True
        return OwnCopy(self.n + 1)


class Stateful:
    def __init__(self):
        self.a = 1
        self.cache = object()

    def __getstate__(self):
        return {"a": self.a + 1}

    def __setstate__(self, state):
        self.a = state["a"] * 10


class Reduced:
    def __init__(self, a):
        self.a = a

    def __reduce__(self):
        return Reduced, (self.a + 1,)


@dataclasses.dataclass
class Layer:
    width: int
    weight: torch.Tensor
    names: list = dataclasses.field(default_factory=list)
    inner: "Layer | None" = None
    kind: typing.ClassVar[str] = "layer"


@program("I12", lambda: [(t(2), Config())], then=lambda r: r[1].nested["a"] is r[1].sizes)
def copied_config(x, c):
    d = copy.copy(c)
    d.sizes.append(3)
    d.extra = x + 1
    return d.extra * len(c.sizes), d, c, d.sizes is c.sizes


@program("I12", lambda: [(t(2), Config())], then=lambda r: (r[1].me is r[1], r[1].nested["a"] is r[1].sizes))
def deep_copied_config(x, c):
    d = copy.deepcopy(c)
    d.sizes.append(3)
    return x * len(d.sizes), d, c.sizes, d.me is d, d.nested["a"] is d.sizes, d.nested["t"][1] is c.nested["t"][1]


@program("I12", differs="fewer_breaks", why="torch gives up the frame")
def copy_hooks(x):
    o = OwnCopy(3)
    a, memo = copy.copy(o), {}
    b = copy.deepcopy([o, o], memo)
    c, d = copy.copy(Stateful()), copy.deepcopy(Stateful())
    r = copy.copy(Reduced(4))
    return x + a.n + b[0].n, a.log, b[0] is b[1], memo["seen"], c.a, d.a, hasattr(c, "cache"), r.a


@program("I12", lambda: [(t(2), Layer(2, t(2), ["a"], Layer(3, t(2))))])
def copied_dataclass_with_tensors(x, layer):
    a, b = copy.copy(layer), copy.deepcopy(layer)
    b.weight.add_(1)
    b.inner.width = 9
    return x * b.weight, a.weight is layer.weight, b.weight is layer.weight, layer.inner.width, a.names is layer.names


@program("I12 B11", lambda: [(t(2, 3), torch.nn.Linear(3, 3).requires_grad_(False))])
def deep_copied_module(x, m):
    m.weight.fill_(0.5)
    other = copy.deepcopy(m)
    other.weight.fill_(2.0)
    return m(x) - other(x)


@program("I12", differs="torch_differs", why="torch.compile gives another result here")
def deep_copied_containers(x):
    inner = [1, x]
    whole = {
        "l": inner,
        "again": inner,
        "d": collections.deque([1], 3),
        "s": {1},
        "t": (1, inner),
        "f": frozenset([1]),
    }
    made = copy.deepcopy(whole)
    made["l"].append(2)
    whole["loop"] = whole
    return (
        made["l"][1] * 2,
        made["again"],
        inner,
        made["d"].maxlen,
        made["t"][1] is made["l"],
        copy.deepcopy(whole)["s"],
    )


@program("I12", lambda: [(t(2), Config())])
def ids_only_as_keys(x, c):
    seen = {}
    for value in (c, c.sizes, c.nested, c.me, x):
        seen.setdefault(id(value), []).append(type(value).__name__)
    return x + len(seen), list(seen.values()), id(c) == id(c.me), id(c) in seen


def described(a, b: int = 2, *args, c, d="d", **kwargs) -> str:
    """Says what it does."""


@program("I12 B3")
def signature_of_a_function(x):
    s = inspect.signature(described)
    bound = s.bind(1, 2, 3, c=4, e=5)
    bound.apply_defaults()
    return x + len(s.parameters), list(s.parameters), str(s), s.parameters["b"].default, bound.args, bound.kwargs


@program("I12 B3")
def inspect_questions(x):
    found = [inspect.isfunction(described), inspect.isclass(Config), inspect.ismethod(Stateful().__getstate__)]
    found += [inspect.isgeneratorfunction(described), inspect.ismodule(math), inspect.isbuiltin(len)]
    found += [inspect.getdoc(described), [n for n, _ in inspect.getmembers(OwnCopy(1), inspect.ismethod)]]
    found += [
        inspect.unwrap(described) is described,
        inspect.isabstract(Config),
        list(inspect.getfullargspec(described).args),
    ]
    return x + len(found), found


@program("I12 I10", lambda: [(t(2), Layer(2, t(2), ["a"]))])
def dataclass_functions(x, layer):
    names = [f.name for f in dataclasses.fields(layer)]
    other = dataclasses.replace(layer, width=5)
    plain = dataclasses.asdict(Layer(1, None, ["n"], Layer(2, None)))
    flat = dataclasses.astuple(Layer(1, None, ["n"]))
    return (
        x * other.width + other.weight,
        names,
        plain,
        flat,
        dataclasses.is_dataclass(layer),
        other.names is layer.names,
    )


@program("I12 I10")
def dataclass_made_with_options(x):
    @dataclasses.dataclass(slots=True, kw_only=True, order=True, unsafe_hash=True)
    class P:
        a: int = 1
        b: int = dataclasses.field(default=2, repr=False, compare=False)

    p, q = P(a=3), P(a=4, b=9)
    return x + p.a, p < q, repr(p), hash(p) == hash(P(a=3, b=7)), p == P(a=3, b=0), p.__slots__
