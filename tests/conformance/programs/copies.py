"""`copy.copy` and `copy.deepcopy` of what is made of parts: subclasses of containers, slots, hooks."""

import collections
import copy

import torch

from tests.conformance.program import program, t

DIFFERS = {"differs": "torch_differs", "why": "torch.compile leaves copying to Python, or refuses it"}
FEWER = {"differs": "fewer_breaks", "why": "torch.compile leaves it to Python, or compiles it more often"}


class Stack(list):
    pass


class Table(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.writes = getattr(self, "writes", 0) + 1


class Pair(collections.namedtuple("Pair", "left right")):
    pass


class Text(str):
    pass


def both(value):
    return copy.copy(value), copy.deepcopy(value)


@program("I12 I10", **FEWER)
def subclasses_of_containers(x):
    stack, table = Stack([[1, x], 2]), Table(a=[x], b=2)
    stack.label, table.label = ["s"], ["t"]
    seen = []
    for shallow, deep in (both(stack), both(table)):
        for made in (shallow, deep):
            seen.append((type(made).__name__, list(made), made.label, getattr(made, "writes", None)))
        key = 0 if isinstance(shallow, list) else "a"
        original = stack if isinstance(shallow, list) else table
        seen.append((shallow[key] is original[key], deep[key] is original[key], shallow.label is original.label))
    return x + 1, seen


@program("I12 I10", **DIFFERS)
def subclasses_of_values(x):
    pair, text = Pair([1], 2), Text("ab")
    pair.note = text.note = [3]
    seen = []
    for made in (*both(pair), *both(text)):
        seen.append((type(made).__name__, made, made.note, made.note is pair.note))
    return x + seen[0][1].right, seen


class Slotted:
    __slots__ = ("__hidden", "a", "b")

    def __init__(self, a):
        self.a = a
        self.__hidden = [a]

    def hidden(self):
        return self.__hidden


class SlottedMore(Slotted):
    __slots__ = "c"


class SlottedAndOpen(Slotted):
    pass


@program("I12 I10", **FEWER)
def slots(x):
    seen = []
    for cls in (Slotted, SlottedMore, SlottedAndOpen):
        made = cls([1])
        if cls is SlottedAndOpen:
            made.open = [2]
        for each in both(made):
            seen.append((each.a, each.hidden(), hasattr(each, "b"), each.a is made.a, getattr(each, "open", None)))
    return x + 1, seen


class Itself:
    def __reduce_ex__(self, protocol):
        return "a global's name"


class Remade:
    def __init__(self, *args):
        self.args = args
        self.state = None

    def __reduce__(self):
        return Remade, (self.args[0], [7]), {"state": [self.args]}


class Filled:
    def __init__(self):
        self.items, self.entries = [], {}

    def append(self, item):
        self.items.append(item)

    def __setitem__(self, key, value):
        self.entries[key] = value

    def __reduce_ex__(self, protocol):
        return Filled, (), None, iter([[1], [2]]), iter([("k", [3])])


@program("I12 I10")
def reduced(x):
    itself, remade, filled = Itself(), Remade([x]), Filled()
    same = [each is itself for each in both(itself)]
    args = [(len(each.args), each.args[0] is remade.args[0], each.state) for each in both(remade)]
    inside = [(each.items, each.entries) for each in both(filled)]
    return x + 1, same, args, inside


class WithState:
    def __init__(self, n):
        self.n = n

    def __getstate__(self):
        return {"n": self.n, "seen": True}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.restored = len(state)


class WithArguments(int):
    def __new__(cls, n, *, unit):
        made = super().__new__(cls, n)
        made.unit = unit
        return made

    def __getnewargs_ex__(self):
        return (int(self),), {"unit": self.unit}


@program("I12 I10", **FEWER)
def hooks_of_the_protocol(x):
    state, number = WithState([1]), WithArguments(3, unit=["m"])
    seen = [(each.n, each.seen, each.restored, each.n is state.n) for each in both(state)]
    seen += [(int(each), each.unit, each.unit is number.unit) for each in both(number)]
    return x + 1, seen


@program("I12 I10", **FEWER)
def cycles_through_subclasses(x):
    stack = Stack([x])
    stack.append(stack)
    stack.me = stack
    shallow, deep = both(stack)
    return x + 1, shallow[1] is stack, deep[1] is deep, deep.me is deep, len(deep)


@program("I10 I11", lambda: [(t(2), Pair), (t(3), Pair)], **DIFFERS)
def named_tuples_with_more(x, cls):
    y = x + 1
    pair = cls(3, 4)
    pair.note = 5
    found = pair.__dict__, pair.note, getattr(pair, "other", 6), hasattr(pair, "left"), pair._asdict()
    return y * 2, found


@program("I10 I11", **DIFFERS)
def named_tuples_with_more_made_here(x):
    y = x + 1

    class Here(collections.namedtuple("Here", "left right")):
        pass

    pair = Here(3, 4)
    pair.note = 5
    return y, pair.__dict__, x + pair.note


@program("I10")
def classes_that_learn_protocols(x):
    y = x + 1
    made = type("Made", (object,), {"__hash__": None})
    made.__iter__ = lambda self: iter((1, 2))
    made.__len__ = lambda self: 2
    counts = isinstance(made(), collections.abc.Iterable), issubclass(made, collections.abc.Sized)
    return y, counts, isinstance(made(), collections.abc.Hashable), isinstance(made(), collections.abc.Container)


@program("I12 I10")
def classes_with_metaclasses(x):
    kinds = torch.Tensor, torch.nn.Parameter, torch.autograd.Function, collections.abc.Sized
    copied = [made is kind for kind in kinds for made in both(kind)]
    return x + 1, copied, copy.deepcopy([torch.Tensor])[0] is torch.Tensor
