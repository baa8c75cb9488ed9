"""Classes that inherit from builtin types: made inside, given as arguments, alive across breaks."""

import collections

import torch

from tests.conformance.program import program, t


class Items(list):
    def total(self):
        return sum(self)


class Counting(list):
    def __len__(self):
        return super().__len__() + 100


class Registry(dict):
    def __missing__(self, key):
        self[key] = made = len(self) + 1
        return made


class Upper(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.upper(), value)


class Pair(tuple):
    def __new__(cls, a, b):
        return super().__new__(cls, (a, b))

    @property
    def first(self):
        return self[0]


class Point(collections.namedtuple("Point", "x y")):
    def norm(self):
        return self.x * self.x + self.y * self.y


class Next(collections.namedtuple("Next", "x y")):
    def __new__(cls, x, y=None):
        return super().__new__(cls, x, x + 1 if y is None else y * 2)


class Name(str):
    def shout(self):
        return self.upper() + "!"


class Degrees(int):
    def twice(self):
        return self * 2


class Ordered(collections.OrderedDict):
    def first(self):
        return next(iter(self))


class Defaults(collections.defaultdict):
    pass


class Tags(set):
    def shared(self, other):
        return self & other


class Recent(collections.deque):
    pass


@program("I10 I11", differs="torch_differs", why="the returned object has lost its items")
def list_subclass(x):
    items = Items([x, x + 1])
    items.append(x * 2)
    items += [x]
    return items.total(), items, len(items), items[0], items == [1], isinstance(items, list), bool(items)


@program("I10 I11")
def list_subclass_with_own_length(x):
    items = Counting([1])
    items.append(2)
    return x + len(items), items, [1, 2] == items, items == [1, 2], list(items)


@program("I10 I11 O6")
def list_subclass_alive_across_a_break(x):
    items = Items([1, 2])
    print("break")
    items.append(3)
    return x + items.total(), items


@program("I10 I11", calls=lambda: [(t(2), Items([1, t(2)])), (t(2), Items([2, t(2)]))])
def list_subclass_given(x, items):
    items.append(x + 1)
    items[0] = 5
    return x + len(items)


@program("I10 I11")
def dict_subclass_with_missing(x):
    registry = Registry(a=1)
    registry["b"] += 1
    return x + registry["a"], registry["c"], "b" in registry, registry.get("z"), list(registry), registry


@program("I10 I11")
def dict_subclass_that_overrides_setting(x):
    upper = Upper()
    upper["a"] = x
    upper.update(b=1)
    return upper["A"] + 1, list(upper)


@program("I10 I11", calls=lambda: [(t(2), Registry(a=2)), (t(2), Registry(a=2)), (t(2), Registry(a=3))])
def dict_subclass_given(x, registry):
    registry["n"] = x * 2
    return x + registry["a"] + registry["m"]


@program("I10 I11", calls=lambda: [(t(2), Ordered(a=1, b=2))])
def ordered_dict_subclass_given(x, ordered):
    ordered.move_to_end("a")
    ordered["c"] = x
    return x + ordered["b"], ordered.first()


@program("I10 I11")
def ordered_dict_subclass(x):
    ordered = Ordered(b=x, a=2)
    ordered.move_to_end("b")
    return ordered, ordered.first(), x + 1


@program("I10 I11")
def default_dict_subclass(x):
    made = Defaults(list)
    made["a"].append(x)
    return made, made["q"], x + 1


@program("I10 I11")
def tuple_subclass(x):
    pair = Pair(x, 2)
    a, b = pair
    return a + b, pair.first + pair[1], len(pair), pair + (1,), pair


@program("I10 I11", calls=lambda: [(t(2), Pair(3, torch.ones(2)))])
def tuple_subclass_given(x, pair):
    return x + pair.first + pair[1]


@program("I10 I11")
def named_tuple_subclass(x):
    point = Point(2, 1)
    return x + point.norm(), point._replace(y=3).norm(), point._asdict(), Point._make([1, 2]), point


@program("I10 I11")
def named_tuple_with_own_new(x):
    return Next(x).y + Next(x, x).y + Next(x=x, y=2).y, Next._make([x, x]).y, Next(x, 1)


@program("I10 I11")
def str_subclass(x):
    name = Name("ab")
    return x + len(name), name.shout(), name + "c", f"{name}", name == "ab", {"ab": 1}[name], name


@program("I2 I10 I11")
def int_subclass(x):
    d = Degrees(4)
    return x + d.twice(), d + 1, 1 + d, d == 4, -d, d < 5, [0, 1, 2, 3, 4][d], d


@program("I10 I11", differs="torch_differs", why="the returned object has lost its items")
def set_subclass(x):
    tags = Tags([1, 2])
    tags.add(3)
    return x + len(tags), tags.shared({2, 3}), 3 in tags, tags


@program("I10 I11")
def deque_subclass(x):
    recent = Recent([1, 2, 3], 2)
    recent.append(4)
    return x + recent[0], recent, recent.maxlen


@program("I11 I12", differs="fewer_breaks", why="torch.compile does not trace heapq")
def counter_methods(x):
    c = collections.Counter("abca")
    c["z"] += 2
    c.update("aa")
    return x + c["a"], c.most_common(2), sorted(c.elements()), c["none"], c.total(), c


@program("I2 I11 I12")
def counter_operators(x):
    a, b = collections.Counter("aab"), collections.Counter(a=1, c=2)
    return x + (a + b)["a"], a + b, a - b, a & b, a | b, a == b


@program("I11 I12")
def chain_map_methods(x):
    chained = collections.ChainMap({"a": x}, {"b": 2})
    chained["q"] = 3
    child = chained.new_child({"a": 1})
    return chained["a"] + chained["b"], len(chained), list(chained), "b" in chained, child["a"], child.parents["b"]


@program("I11 I12")
def user_dict(x):
    made = collections.UserDict(a=1)
    made["b"] = x
    return made["b"] + made["a"], len(made), list(made)


@program("I2 I10 I11", differs="fewer_breaks", why="torch.compile gives the function up at one of the calls")
def special_methods_by_name(x):
    items = [1, 2]
    sums = (1).__add__(2), "a".__add__("b"), (1.5).__mul__(2), items.__add__([3]), (1).__add__("a")
    compared = items.__eq__([1, 2]), items.__eq__(3), (2).__eq__(2.0), (1, 2).__lt__((1, 3))
    return x + items.__len__(), items.__getitem__(0), items.__contains__(2), {1: 2}.__getitem__(1), sums, compared


@program("I2 I11")
def list_plus_its_subclass(x):
    return x + 1, [1] + Items([2]), Items([1]) + [2], (1,) + Pair(2, 3), [*Items([1]), 2]


@program("I11 I5")
def subclass_as_key(x):
    made = {Name("k"): 1, Pair(1, 2): 2}
    try:
        made[Items()] = 3
    except TypeError as error:
        return x + made["k"] + made[(1, 2)], str(error)


class KnowsNothingDict(dict):
    def __eq__(self, other):
        return NotImplemented

    __hash__ = None


class KnowsNothingList(list):
    def __eq__(self, other):
        return NotImplemented

    def __lt__(self, other):
        return NotImplemented

    __hash__ = None


@program("I2 I11")
def comparisons_left_to_the_builtin_other(x):
    counter = collections.Counter({1: 1})
    pairs = [
        (counter, {1: 1}),
        ({1: 1}, counter),
        (counter, {1: 2}),
        (counter, 3),
        (KnowsNothingDict(a=1), {"a": 1}),
        ({"a": 1}, KnowsNothingDict(a=1)),
        (KnowsNothingDict(a=1), KnowsNothingDict(a=1)),
        (KnowsNothingList([1]), [1]),
        ([2], KnowsNothingList([1])),
        (KnowsNothingList([1]), (1,)),
        (collections.OrderedDict(a=1), KnowsNothingDict(a=1)),
    ]
    smaller = (KnowsNothingList([1]) < [2], [2] < KnowsNothingList([1]))
    return x + 1, [(a == b, a != b) for a, b in pairs], smaller
