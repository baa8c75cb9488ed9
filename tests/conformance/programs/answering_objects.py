"""Objects, classes and modules that answer lookups with code of their own, which shows when it is run."""

import abc
import operator
import types

from tests.conformance.program import program

asked = []


class Answering:
    def __init__(self, k):
        self.k = k

    def __getattribute__(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)


class AnsweringSlots:
    __slots__ = ("k",)

    def __getattribute__(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)


class AnsweringModule(types.ModuleType):
    def __getattribute__(self, name):
        asked.append(name)
        return types.ModuleType.__getattribute__(self, name)


class AnsweringMeta(type):
    def __getattribute__(cls, name):
        asked.append(name)
        return type.__getattribute__(cls, name)


class Answered(metaclass=AnsweringMeta):
    k = 2


class OtherDict(types.ModuleType):
    @property
    def __dict__(self):
        return "no dict"


class AnsweringDict(dict):
    def __getattribute__(self, name):
        asked.append(name)
        return dict.__getattribute__(self, name)


thing = Answering(3)
slotted = AnsweringSlots()
slotted.k = 2
module = AnsweringModule("answering")
module.k = 2
odd = OtherDict("odd")
odd.k = 4
bare = types.ModuleType.__new__(types.ModuleType)
held = AnsweringDict(a=1)
asked.clear()


def heard():
    names = list(asked)
    asked.clear()
    return names


@program("I10 B2", differs="torch_differs", why="torch runs the code more often than the program")
def object_that_answers_is_asked_once(x):
    k = thing.k
    return x + k, heard()


@program("I10 B2", differs="torch_differs", why="torch runs the code more often than the program")
def object_with_slots_that_answers_is_asked_once(x):
    k = slotted.k
    return x + k, heard()


@program("I10 I13", differs="torch_differs", why="torch runs the code more often than the program")
def module_that_answers_is_asked_once(x):
    k = module.k
    return x + k, heard()


@program("I10 I13", differs="torch_differs", why="torch runs the code more often than the program")
def made_module_that_answers(x):
    made = AnsweringModule("made")
    made.k = 1
    k = made.k
    del made.k
    return x + k, heard()


@program("I10", differs="torch_differs", why="torch runs the code more often than the program")
def class_that_answers_is_asked_once(x):
    k = Answered.k
    return x + k, heard()


@program("I10 B2", differs="torch_differs", why="torch runs the code more often than the program")
def dict_that_answers(x):
    return x + held["a"], len(held), heard()


@program("I10 O6", differs="torch_differs", why="torch runs the code more often than the program")
def objects_that_answer_across_a_break(x):
    parts = [thing, slotted, held, module, Answered]
    x = x + 1
    print(len(parts))
    return x * len(parts), heard()


@program("I13")
def module_with_another_dict(x):
    return x + odd.k, vars(odd)


@program("I13", differs="torch_differs", why="torch fails at a module without a name")
def module_without_a_name(x):
    bare.k = 2
    return x + bare.k, hasattr(bare, "__name__")


class Plain:
    def f(self):
        return "plain"


class Child(Plain):
    def f(self):
        return super(Child, self).f() + " child"


class Stand:
    def __init__(self, of):
        self.of = of

    @property
    def __class__(self):
        print("asked")
        return type(self.of)


class Through:
    def __init__(self, of):
        self._of = of

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) if name == "_of" else getattr(self._of, name)


class Shape(abc.ABC):
    pass


Shape.register(Child)
stand, through = Stand(Child()), Through(Child())


@program("I10", differs="torch_differs", why="torch looks at types alone")
def isinstance_asks_what_an_object_says(x):
    found = [isinstance(each, cls) for each in (stand, through) for cls in (Plain, Child, Stand, Through, int)]
    return x + sum(found), found


@program("I10", differs="torch_differs", why="torch looks at types alone")
def isinstance_asks_what_a_made_object_says(x):
    made = Stand(Child()), Stand(3), Through([])
    return x + 1, [isinstance(each, cls) for each in made for cls in (Plain, int, list, Stand)]


@program("I10")
def isinstance_of_an_abstract_class_asks_too(x):
    return x + 1, isinstance(Through(Child()), Shape), isinstance(through, Shape)


@program("I10", differs="torch_differs", why="torch looks at types alone")
def super_of_what_an_object_says(x):
    return x + 1, Child.f(through), Child.f(Through(Child()))


@program("I10", differs="torch_differs", why="torch looks at types alone")
def super_of_what_does_not_fit(x):
    said = []
    for cls, obj in ((Plain, 3), (Plain, int), (Child, Plain()), (3, int)):
        try:
            super(cls, obj)
        except TypeError as error:
            said.append(str(error))
    return x + 1, said


@program("I10")
def descriptor_that_is_no_function(x):
    class Found:
        __get__ = operator.itemgetter(0)

    class Owner:
        first = Found()

    try:
        return x + Owner.first
    except TypeError as error:
        return x - 1, str(error)


@program("I10", differs="fewer_breaks", why="torch does not make these descriptors")
def class_and_static_methods_as_objects(x):
    def f(cls, k=0):
        return cls, k

    c, s = classmethod(f), staticmethod(f)
    got = [
        c.__get__(0, int)(4),
        c.__get__(0)(4),
        s.__get__(0)(1, 2),
        c.__name__,
        s.__name__,
        c.__wrapped__ is f,
        s(3),
    ]
    got += [callable(c), callable(s), hasattr(c, "__code__"), hasattr(s, "__code__"), hasattr(c, "__call__")]
    for each in (lambda: c(1), lambda: c.__get__(None), lambda: s.__get__(None), lambda: property(f).__get__(None)):
        try:
            each()
        except TypeError as error:
            got.append(str(error))
    try:
        property().__get__(3)
    except AttributeError as error:
        got.append(str(error))
    return x + 1, got, property(lambda each: each + 1).__get__(3)
