"""What is found in classes and modules: descriptors of classes and metaclasses, properties that refuse, `__del__`."""

import functools
import reprlib
import types

import torch

from tests.conformance.program import program


class OfTheClass:
    """A descriptor that counts how often it is asked."""

    def __init__(self, function):
        self.function = function
        self.asked = 0

    def __get__(self, obj, cls):
        self.asked += 1
        return self.function(cls)


class Described:
    name = OfTheClass(lambda cls: cls.__name__)


@program("I10", differs="torch_differs", why="asks while tracing")
def descriptor_asked_through_the_class(x):
    before = Described.__dict__["name"].asked
    return x + 1, Described.name, Described.name, Described.__dict__["name"].asked - before


class Meta(type):
    @property
    def both(cls):
        return "meta"

    @functools.cached_property
    def cached(cls):
        return 3


class OfMeta(metaclass=Meta):
    both = "class"


@program("I10")
def property_of_the_metaclass_first(x):
    return x + 1, OfMeta.both


@program("I10", differs="torch_differs", why="fails inside")
def cached_property_of_a_metaclass(x):
    try:
        return x + OfMeta.cached
    except TypeError as error:
        return x - 1, str(error)


class Equal(type):
    def __eq__(cls, other):
        return isinstance(other, Equal)


class OfEqual(metaclass=Equal):
    factor = 3

    def times(self, x):
        return x * self.factor


@program("I10", differs="torch_differs", why="fails inside")
def class_without_a_hash(x):
    return OfEqual().times(x) + OfEqual.factor, OfEqual == OfEqual, OfEqual is OfEqual


class Refusing:
    nothing = property()
    written = property(None, lambda self, value: None)


@program("I10 I5", differs="fewer_breaks", why="torch does not trace it")
def properties_that_refuse(x):
    obj, said = Refusing(), []
    for name in ("nothing", "written"):
        for ask in (getattr, lambda o, n: setattr(o, n, 1), delattr):
            try:
                ask(obj, name)
            except AttributeError as error:
                said.append(str(error))
    return x + 1, said


@program("I10 I5", differs="torch_differs", why="says it in other words")
def attributes_that_are_not_there(x):
    class Plain:
        pass

    class Slotted:
        __slots__ = ("y",)

    said = []
    for obj in (Plain(), Slotted()):
        for name in ("y", "z"):
            for ask in (getattr, delattr):
                try:
                    ask(obj, name)
                except AttributeError as error:
                    said.append(str(error))
    return x + 1, said


@program("I10")
def property_called_name(x):
    class Named:
        @property
        def __name__(self):
            return "mine"

    return x + 1, Named().__name__, Named.__name__


class WithFinalizer:
    def __init__(self, seen):
        self.seen = seen

    def __del__(self):
        getattr(self, "seen", []).append("gone")  # torch drops instances that it never initialized


@program("I10", differs="torch_differs", why="does not run it")
def finalizer_of_a_dropped_object(x):
    seen = []
    obj = WithFinalizer(seen)
    del obj
    seen.append("after")
    return x + 1, seen


@program("I10", differs="torch_differs", why="does not run it")
def finalizer_at_the_end_of_an_inner_function(x):
    seen = []

    def inner():
        WithFinalizer(seen).seen.append("made")
        return x * 2

    y = inner()
    seen.append("after")
    return y, seen


class Shown:
    @reprlib.recursive_repr()
    def __repr__(self):
        return "Shown"


@program("I10 I12")
def repr_guarded_against_recursion(x):
    return x + 1, repr(Shown()), f"{Shown()!r}"


marked = functools.partial(torch.add, other=2)
marked.mark = 5


@program("F8", differs="fewer_breaks", why="torch does not trace it")
def partial_of_a_marked_partial(x):
    outer = functools.partial(marked, alpha=2)
    return outer(x), outer.func is marked, outer.keywords, marked.mark


answering = types.ModuleType("answering")


def _answer(name):
    if name == "old":
        raise AttributeError("old is gone")
    if name == "broken":
        raise RuntimeError("no answer")
    return f"{name}!"


answering.__getattr__ = _answer


@program("I13 I5", differs="torch_differs", why="says it in other words")
def module_that_answers(x):
    said = [answering.anything]
    for name in ("old", "broken"):
        try:
            getattr(answering, name)
        except (AttributeError, RuntimeError) as error:
            said.append(f"{type(error).__name__}: {error}")
    return x + 1, said, hasattr(answering, "old"), getattr(answering, "old", 3)


class Forbidding(type):
    def __subclasscheck__(cls, sub):
        raise ZeroDivisionError("asked")


Forbidden = Forbidding("Forbidden", (), {})


@program("I12", differs="fewer_breaks", why="torch does not trace it")
def union_asked_until_one_says_yes(x):
    union = int | Forbidden
    found = issubclass(int, union)
    try:
        issubclass(list, union)
    except ZeroDivisionError as error:
        return x + 1, found, str(error)


@program("I12")
def read_only_dict_backwards(x):
    behind = {"a": 1, "b": 2}
    proxy = types.MappingProxyType(behind)
    return x + 1, list(reversed(proxy))


@program("I13 I14", differs="torch_differs", why="shows variables of its own")
def namespace_after_a_break(x):
    y = x + 1
    print("break")
    return y, sorted(locals()), sorted(vars()), sorted(dir())


class SlottedAndCached:
    __slots__ = ("factor",)

    @functools.cached_property
    def cached(self):
        return 3


@program("I10 I5")
def cached_property_without_a_dict(x):
    try:
        return x + SlottedAndCached().cached
    except TypeError as error:
        return x - 1, str(error)


@program("I10 I5", differs="fewer_breaks", why="torch leaves it to Python")
def super_after_the_argument_is_deleted(x):
    class Plain:
        def method(self):
            del self
            return super()

    try:
        Plain().method()
    except RuntimeError as error:
        return x + 1, str(error)


@program("I11")
def number_too_long_to_write_out(x):
    n = 10**5000
    return x + 1, n % 7, n.bit_length()


class Numbered(type):
    __module__ = 3  # type: ignore[assignment]


OfNumbered = Numbered("OfNumbered", (), {"__module__": 7, "factor": 2})


@program("I10", differs="torch_differs", why="torch fails at the class")
def class_whose_module_is_no_text(x):
    return x * OfNumbered().factor
