"""Methods and operators of the mappings of `collections` that other files do not have."""

from collections import ChainMap, Counter, OrderedDict, defaultdict

from tests.conformance.program import program, t


@program("I11", differs="fewer_breaks", why="torch runs it all in plain Python")
def methods_of_a_defaultdict(x):
    d = defaultdict(list, a=[1])
    other = d
    d.update({"b": [2]}, c=[3])
    d.setdefault("a", "never").append(4)
    taken = (d.pop("b"), d.pop("z", None), d.popitem())
    new = defaultdict.fromkeys("xy", 0)
    listed = (list(d.keys()), list(d.values()), list(d.items()), list(reversed(d)))
    d["q"].append(x + 1)
    del d["a"]
    return x + 1, other, taken, new, type(new).__name__, new.default_factory, listed, repr(defaultdict(None, a=1))


@program("I2 I11", differs="fewer_breaks", why="torch runs it all in plain Python")
def operators_of_a_defaultdict(x):
    d = defaultdict(int, a=1)
    joined, reflected = d | {"b": 2}, {"b": 2} | d
    d |= {"c": 3}
    same = d == {"a": 1, "c": 3}
    return x + 1, joined, reflected, type(joined).__name__, type(reflected).__name__, joined["new"], d, same, d != {}


@program("I11")
def missing_called_by_hand(x):
    d = defaultdict(lambda: x * 2)
    made = d.__missing__("k")
    try:
        defaultdict().__missing__("z")
    except KeyError as error:
        return made, d["k"] is made, error.args, Counter().__missing__("q")


@program("I11", differs="fewer_breaks", why="torch runs it all in plain Python")
def default_factory_changes(x):
    d = defaultdict(int)
    d["a"] += 1
    d.default_factory = list
    d["b"].append(x + 1)
    d.default_factory = None
    kept = d.copy()
    try:
        d["c"]
    except KeyError as error:
        d.clear()
        return kept, d, len(d), error.args


@program("I11", differs="fewer_breaks", why="torch runs it all in plain Python")
def methods_of_an_ordered_dict(x):
    d = OrderedDict(a=1, b=x)
    d.update(c=3)
    twin = d.copy()
    d.move_to_end("a")
    new = OrderedDict.fromkeys(["k"], 5)
    out = (d.pop("b"), list(d.items()), list(d.values()), "a" in d, len(d), repr(OrderedDict(a=1)))
    del d["a"]
    d.clear()
    return x + 1, out, d, twin, new


@program("I2 I11")
def operators_of_an_ordered_dict(x):
    a, b = OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)
    joined, reflected = a | {"c": 3}, {"c": 3} | a
    compared = (a == b, a != b, a == {"b": 2, "a": 1}, dict(a) == b)
    a |= {"z": x}
    return x + 1, joined, reflected, type(joined).__name__, type(reflected).__name__, compared, a


@program("I11")
def methods_of_a_counter(x):
    c = Counter("banana")
    twin, keys, values, items = c.copy(), list(c.keys()), list(c.values()), list(c.items())
    asked = (c.get("z"), c.get("a"), c["z"], "a" in c, len(c), list(reversed(c)), c.setdefault("q", 9))
    taken = (c.pop("n"), c.popitem())
    del c["never there"], c["b"]
    kept = dict(c)
    c.clear()
    return x + len(keys), twin, keys, values, items, asked, taken, kept, c, repr(twin)


@program("I2 I11")
def operators_of_counters(x):
    a, b = Counter(a=3, b=1), Counter(a=1, b=2, c=0)
    out = (a + b, a - b, a & b, a | b, +b, -Counter(a=-2, b=1), a != b, a == Counter(b=1, a=3))
    order = (b <= a, b < a, a >= b, a > b, a <= a, a < a, a >= a, a > a)
    c = d = Counter(a=1)
    c += b
    c -= Counter(b=1)
    c |= Counter(z=4)
    c &= Counter(a=1, z=9)
    return x + 1, out, order, c, d is c


@program("I5 I11")
def counter_has_no_fromkeys(x):
    try:
        Counter.fromkeys("ab", 1)
    except NotImplementedError as error:
        return x + 1, str(error)


@program("I11")
def methods_of_a_chain_map(x):
    first, second = {"a": 1}, {"a": 5, "b": x}
    c = ChainMap(first, second)
    listed = (list(c.keys()), list(c.values()), list(c.items()), c.get("z"), c.get("b"), len(c), "b" in c)
    c.update(q=1)
    c.setdefault("w", 2)
    taken = (c.pop("q"), c.popitem())
    twin = c.copy()
    twin["a"] = 100
    new = ChainMap.fromkeys("ab", 0)
    del c["a"]
    return x + 1, listed, taken, first, second, twin, new, c["a"], repr(new), bool(c), "no" if ChainMap() else "yes"


@program("I2 I11")
def operators_of_a_chain_map(x):
    c = ChainMap({"a": 1}, {"b": 2})
    joined, reflected = c | {"c": 3}, {"a": 9, "z": 0} | c
    c |= {"q": x}
    return x + 1, joined, reflected, c, c == {"a": 1, "b": 2}, ChainMap({"a": 1}) == {"a": 1}


@program("I5 I11")
def chain_map_deletes_in_its_first_mapping_alone(x):
    c, messages = ChainMap({}, {"b": 2}), []
    for act in (
        lambda: c.__delitem__("b"),
        lambda: c.pop("b"),
        c.popitem,
        lambda: c.__missing__("k"),
        lambda: c["q"],
    ):
        try:
            act()
        except KeyError as error:
            messages.append(error.args)
    c["b"] = x
    c.clear()
    return x + 1, messages, c["b"]


@program("I2 I5 I11", differs="torch_differs", why="names of types in messages")
def mappings_have_no_order(x):
    messages = []
    for kind in (dict, defaultdict, OrderedDict):
        a, b = kind(), kind()
        for act in (lambda: a < b, lambda: a > b, lambda: a <= b, lambda: a >= b):  # noqa: B023
            try:
                act()
            except TypeError as error:
                messages.append(str(error))
    return x + 1, messages


@program(
    "I11",
    lambda: [(t(2), defaultdict(int, a=1), OrderedDict(b=2), Counter("aab"), ChainMap({"c": 3}, {"d": 4}))],
    differs="fewer_breaks",
    why="torch runs it all in plain Python",
)
def mappings_of_the_caller(x, d, o, c, m):
    d.update(z=1)
    d |= {"y": 2}
    o |= {"w": 1}
    o.update(v=2)
    del o["b"]
    c -= Counter("a")
    c.pop("b")
    m.setdefault("k", x)
    m.pop("c")
    return (
        x + d.pop("a"),
        list(d.items()),
        list(o.values()),
        list(c.items()),
        list(m.keys()),
        m.get("d"),
        o | d,
        d | o,
    )
