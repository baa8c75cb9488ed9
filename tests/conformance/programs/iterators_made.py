"""Iterators made inside: what they are and what they still see when they have left."""

import collections

from tests.conformance.program import program, t

DIFFERS = {"differs": "torch_differs", "why": "iterators leave torch.compile over copies, or not at all"}
FEWER = {"differs": "fewer_breaks", "why": "torch.compile leaves it to Python, or compiles it more often"}


def names_and_rest(result):
    """The type of each iterator that the program gives back, and what is left in it."""
    return [(type(each).__name__, list(each)) for each in result[1:] if hasattr(each, "__next__")]


@program("I11 I12 O6", then=names_and_rest, **DIFFERS)
def backwards_of_every_kind(x):
    mapping = {"a": 1, "b": 2}
    made = (
        reversed([1, 2]),
        reversed((1, 2)),
        reversed("ab"),
        reversed(b"ab"),
        reversed(range(3)),
        reversed(mapping),
        reversed(mapping.items()),
        reversed(collections.deque([1, 2])),
        reversed(collections.OrderedDict(mapping)),
    )
    for each in made:
        next(each)
    return x + 1, *made


@program("I11 I12", differs="torch_differs", why="torch has types of its own")
def types_of_iterators(x):
    empty = ([], (), "", "\xe9", b"", range(0), {}, {}.values(), collections.deque(), collections.OrderedDict())
    kinds = [type(iter(each)).__name__ for each in empty] + [type(reversed(each)).__name__ for each in empty]
    return x + 1, kinds, type(iter({1})).__name__


@program("I11 I12 O6", then=names_and_rest, **FEWER)
def used_up_iterators_keep_their_type(x):
    made = iter([1]), iter((1,)), iter("a"), iter(range(1)), iter({1: 2}.values()), reversed([1]), iter({1})
    for each in made:
        list(each)
    return x + 1, *made


@program("I11 I12 O6", **DIFFERS)
def changes_after_the_break_are_seen(x):
    items = [1, 2, 3, 4]
    forwards, backwards = iter(items), reversed(items)
    next(forwards), next(backwards)
    y = x + 1
    print("break")
    items[1:] = [x, 20, 30, 40]
    return y * 2, list(forwards), list(backwards)


class Announcing(list):
    said = []

    def __iter__(self):
        self.said.append("forwards")
        return super().__iter__()

    def __reversed__(self):
        self.said.append("backwards")
        return super().__reversed__()


class AnnouncingDict(dict):
    def __iter__(self):
        Announcing.said.append("iter")
        return super().__iter__()

    def values(self):
        Announcing.said.append("values")
        return super().values()


@program("I10 I11 O6", **FEWER)
def subclasses_are_asked_once(x):
    many, named = Announcing([1, 2, 3]), AnnouncingDict(a=1, b=2)
    made = iter(many), reversed(many), iter(named), iter(named.values())
    for each in made:
        next(each)
    y = x + 1
    print("break")
    return y * 2, [list(each) for each in made], list(Announcing.said)


@program("I11 I5", **FEWER)
def deques_changed_meanwhile(x):
    said = []
    for change in ("append", "rotate", "reverse", "nothing"):
        d = collections.deque([1, 2, 3])
        forwards, backwards = iter(d), reversed(d)
        next(forwards), next(backwards)
        if change == "append":
            d.append(x)
        elif change != "nothing":
            getattr(d, change)()
        for each in (forwards, backwards):
            try:
                said.append(list(each))
            except RuntimeError as error:
                said.append(str(error))
    return x + 1, said


@program("I11 I5")
def deques_changed_at_an_end(x):
    d = collections.deque([x, x + 1])
    d[0] = x * 2
    for _, each in zip(range(2), d):
        x = x + each
    d += []
    d *= 1
    return x, list(d)


class Meddling:
    """Equal to nothing; being compared empties or fills the list it is in."""

    def __init__(self, target, action):
        self.target, self.action = target, action
        self.asked = 0

    def __eq__(self, other):
        self.asked += 1
        if self.asked > 4:
            return True
        if self.action == "clear":
            self.target.clear()
        elif self.action == "append":
            self.target.append(self)
        return False

    __hash__ = None


@program("I2 I11", **DIFFERS)
def searches_that_change_the_list(x):
    found = []
    for action in ("clear", "append", "nothing"):
        for ask in (
            lambda items: items.count(0),
            lambda items: 0 in items,
            lambda items: items == [0, 0, 0],
            lambda items: items.index(0),
            lambda items: items.remove(0),
            lambda items: items < [0, 0, 0],
        ):
            items = [x]
            items[:] = [Meddling(items, action) for _ in range(3)]
            try:
                found.append(ask(items))
            except (ValueError, TypeError) as error:
                found.append(type(error).__name__)
            found.append(len(items))
    return x + 1, found


class Counted:
    asked = []

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        self.asked.append(self.value)
        return self.value == getattr(other, "value", other)

    __hash__ = None


@program("I2 I11", lambda: [(t(2), 1), (t(2), 2)], **FEWER)
def what_is_compared(x, n):
    a, b = [Counted(i) for i in range(3)], [Counted(i) for i in range(n)]
    equal = tuple(a) == tuple(b), a == b, tuple(a) != tuple(b), collections.deque(a) == collections.deque(b)
    counts = a.count(1), tuple(a).index(2), a.index(1, -2), a.index(n, 0, 3)
    return x + 1, equal, counts, list(Counted.asked)
