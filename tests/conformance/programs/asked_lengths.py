"""How many items there may be, which `list` and its kin ask before they take them."""

from tests.conformance.program import program


class Sized:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        print("len")
        return self.n

    def __iter__(self):
        print("iter")
        return iter(range(self.n))


class Hinted:
    def __init__(self, hint=2):
        self.left = 3
        self.hint = hint

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left

    def __length_hint__(self):
        print("hint")
        return self.hint


@program("I11 I12", differs="torch_differs", why="torch does not ask how many items there may be")
def list_and_tuple_ask(x):
    return x + 1, list(Sized(2)), list(Hinted()), tuple(Sized(2)), tuple(Hinted())


@program("I11 I12", differs="fewer_breaks", why="torch leaves more of it to Python")
def unpacking_into_a_list_or_call_asks(x):
    return x + 1, [*Sized(2), *Hinted()], max(*Sized(2)), max(*Hinted()), sorted(Sized(3)), sorted(Hinted())


@program("I11", differs="fewer_breaks", why="torch leaves more of it to Python")
def extending_asks(x):
    items = []
    items.extend(Sized(2))
    items.extend(Hinted())
    items += Sized(1)
    items += Hinted()
    return x + len(items), items


@program("I11", differs="torch_differs", why="torch does not ask how many items there may be")
def any_sequence_asks_its_iterator(x):
    class Words(Hinted):
        def __next__(self):
            return str(Hinted.__next__(self))

    items = [5]
    items[:] = Sized(2)
    items[1:] = Hinted()
    return x + 1, items, dict([Sized(2)]), ",".join(Words())


@program("I11 I12", differs="fewer_breaks", why="torch leaves more of it to Python")
def others_do_not_ask(x):
    first, *rest = Sized(3)
    taken = set(Hinted()), frozenset(Hinted()), dict.fromkeys(Sized(2)), sum(Sized(3)), list(zip(Sized(2), Hinted()))
    return x + first, rest, taken, list(map(str, Hinted())), list(enumerate(Hinted()))


@program("I11 I12", differs="torch_differs", why="torch does not ask how many items there may be")
def hints_that_are_none(x):
    got = []
    for hint in ("many", -1, NotImplemented, 2.0, True, None):
        try:
            got.append(list(Hinted(hint)))
        except (TypeError, ValueError) as error:
            got.append((type(error), str(error)))
    return x + 1, got


@program("I11 I12", differs="torch_differs", why="torch does not ask how many items there may be")
def lengths_that_raise(x):
    class Refused(Hinted):
        def __len__(self):
            raise self.hint

    got = []
    for error in (TypeError("no"), ValueError("no")):
        try:
            got.append(list(Refused(error)))
        except Exception as raised:
            got.append((type(raised), str(raised)))
    return x + 1, got
