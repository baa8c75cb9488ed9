"""Keys with a hash and a comparison of their own: asked as often as plain Python asks, and when."""

from collections import Counter, OrderedDict, defaultdict

from tests.conformance.program import program, t

DIFFERS = {"differs": "torch_differs", "why": "torch.compile refuses keys with a hash of their own, or asks again"}
FEWER = {"differs": "fewer_breaks", "why": "torch.compile leaves it to Python, or compiles it more often"}


class Counted:
    """Counts what it is asked; `hashes` of equal numbers collide on purpose."""

    def __init__(self, name, hashes):
        self.name, self.hashes = name, hashes
        self.asked = []

    def __hash__(self):
        self.asked.append("hash")
        return self.hashes

    def __eq__(self, other):
        self.asked.append("eq")
        return isinstance(other, Counted) and self.name == other.name


def counts(*keys):
    return [(key.asked.count("hash"), key.asked.count("eq")) for key in keys]


@program("I11 I10 O6", **DIFFERS)
def each_operation_asks_once(x):
    a, b = Counted("a", 1), Counted("b", 2)
    d = {a: x}
    d[b] = x + 1
    d[a] = x + 2
    d.get(b), d.setdefault(a, 0), a in d, d.pop(b)
    before = counts(a, b)
    print("break")
    return d[a], len(d), before, counts(a, b)


@program("I11 I10 O6", **DIFFERS)
def every_container_leaves_unasked(x):
    keys = [Counted(str(i), i) for i in range(4)]
    made = [
        {keys[0]: x},
        {keys[1], keys[2]},
        frozenset(keys[:2]),
        dict.fromkeys(keys[2:], 1),
        defaultdict(list, {keys[3]: [1]}),
        {(keys[0], 1): x, (2, keys[1]): x},
        OrderedDict([(keys[0], 1)]),
        Counter(keys[:3]),
    ]
    y = x + 1
    before = counts(*keys)
    print("break")
    return y * 2, [len(each) for each in made], before, counts(*keys)


@program("I11 I10 O6", **DIFFERS)
def colliding_keys(x):
    a, b, c = Counted("a", 7), Counted("b", 7), Counted("a", 7)
    d = {a: x + 1, b: 2}
    d[c] = x + 3
    s = {a, b, c}
    before = counts(a, b, c)
    print("break")
    return x * 2, [(key.name, value) for key, value in d.items()], len(s), before, counts(a, b, c)


class Moody:
    def __init__(self):
        self.fails = False

    def __hash__(self):
        if self.fails:
            raise ValueError("not now")
        return 42

    def __eq__(self, other):
        return self is other


@program("I11 I5 O6", **FEWER)
def a_hash_that_raises_later(x):
    key = Moody()
    d, s = {key: x + 1}, {key}
    key.fails = True
    try:
        d[key]
    except ValueError as error:
        said = str(error)
    print("break")
    return x * 2, len(d), len(s), said, list(d.values())


def used(result):
    return result[0], len(result[1]), counts(*result[1]), sorted(key.name for key in result[1])


@program(
    "I11 I10 O7",
    lambda: [({}, t(2)), ({Counted("old", 3): 1}, t(2)), ({Counted("old", 2): 1}, t(2))],
    then=used,
    **FEWER,
)
def a_dict_from_outside(d, x):
    for i in range(3):
        d[Counted(str(i), i)] = x + i
    return x + 1, d


@program("I11 I10 O7", lambda: [(set(), t(2))], then=used, **FEWER)
def a_set_from_outside(s, x):
    for i in range(3):
        s.add(Counted(str(i), i))
    return x + 1, s


class Table(dict):
    def __setitem__(self, key, value):
        raise TypeError("read only")


class Bag(set):
    pass


@program("I11 I10 O6", **DIFFERS)
def subclasses_with_such_keys(x):
    a, b = Counted("a", 1), Counted("b", 2)
    table, bag = Table({a: x}), Bag([a, b])
    before = counts(a, b)
    print("break")
    return x + 1, len(table), len(bag), type(bag).__name__, before, counts(a, b)


@program("I11 I7", **DIFFERS)
def a_comparison_that_reads_what_comes_later(x):
    class Key(int):
        def __hash__(self):
            return 13

        def __eq__(self, other):
            return len(d) > 5

    d = {}
    d = dict.fromkeys([Key(1), Key(2)], x)
    y = x + 1
    print("break")
    return y * 2, len(d)


@program("I13 I11", lambda: [(vars(__import__("builtins")), t(2))], then=lambda r: r[0], **FEWER)
def the_dict_of_builtins(names, x):
    names["made_up_name"] = 3
    y = x + made_up_name  # noqa: F821
    del names["made_up_name"]
    return y, 0
