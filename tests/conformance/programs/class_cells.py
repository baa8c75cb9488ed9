"""The cell in which methods find their class, as metaclasses hand it on; iterators over what has items by number."""

import pickle

from tests.conformance.program import program


class Numbers:
    def __init__(self, count):
        self.count = count

    def __getitem__(self, index):
        if index < self.count:
            return index * 10
        raise IndexError(index)


@program("I10")
def metaclass_drops_the_class_cell(x):
    class Meta(type):
        def __new__(cls, name, bases, namespace):
            namespace.pop("__classcell__", None)
            return super().__new__(cls, name, bases, namespace)

    class Without(metaclass=Meta):
        pass

    try:

        class With(metaclass=Meta):
            def f(self):
                return __class__
    except RuntimeError as error:
        return x + 1, Without.__name__, str(error)


@program("I10")
def metaclass_puts_something_else_for_the_class_cell(x):
    class Meta(type):
        def __new__(cls, name, bases, namespace, cell):
            namespace["__classcell__"] = cell
            return super().__new__(cls, name, bases, namespace)

    texts = []
    for cell in (None, 0, ""):
        try:

            class Made(metaclass=Meta, cell=cell):
                pass
        except TypeError as error:
            texts.append(str(error))
    return x + 1, texts


@program("I10")
def class_cell_of_another_class(x):
    class Meta(type):
        def __new__(cls, name, bases, namespace):
            made = super().__new__(cls, name, bases, namespace)
            type("Other", (), namespace)
            return made

    try:

        class Made(metaclass=Meta):
            def f(self):
                return __class__
    except TypeError as error:
        return x + 1, str(error)


@program("I10")
def metaclass_sees_the_class_cell(x):
    seen = []

    class Meta(type):
        def __new__(cls, name, bases, namespace):
            seen.append(sorted(namespace))
            return super().__new__(cls, name, bases, namespace)

    class Made(metaclass=Meta):
        def f(self):
            return __class__

    return x + 1, seen, Made().f() is Made


class OrderOfItsOwn(type):
    def mro(cls):
        log.append(cls.__mro__)
        found = super().mro()
        return found


log = []


@program("I10")
def order_of_lookup_asked_while_it_is_found(x):
    log.clear()

    class Made(metaclass=OrderOfItsOwn):
        pass

    return x + 1, log[0], len(Made.__mro__)


@program(
    "I11",
    differs="torch_differs",
    why="torch.compile gives an iterator of its own",
    then=lambda r: [(type(it).__name__, *it.__reduce__()[1:], list(it)) for it in r[1:]],
)
def iterator_by_index_leaves(x):
    started, fresh, ended = iter(Numbers(3)), iter(Numbers(2)), iter(Numbers(0))
    next(started)
    next(ended, None)
    return x + 1, started, fresh, ended


@program(
    "I11",
    differs="torch_differs",
    why="torch.compile gives an iterator of its own",
    then=lambda r: list(pickle.loads(r[1])),
)
def iterator_by_index_is_pickled(x):
    it = iter(Numbers(4))
    next(it)
    return x + 1, pickle.dumps(it), type(it).__name__, list(it), next(it, "end")


@program("I3 O6", differs="fewer_breaks", why="torch.compile leaves the loop to Python")
def break_in_a_loop_by_index(x):
    it = iter(Numbers(4))
    for number in it:
        print(number)
        x = x + number
    return x, next(it, "end")


@program("I3", calls=lambda: [(iter(Numbers(3)),), (iter(Numbers(4)),)], then=lambda r: r[1].__reduce__()[1:])
def iterator_by_index_comes_in(it):
    return next(it) + 1, it
