"""Methods of builtin bases that `super()` binds, alive where the graph breaks."""

import torch

from tests.conformance.program import program, t


class Tagging(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.tag = len(args)
        return made


class Tagged(metaclass=Tagging):
    def __init__(self, x):
        print("made")
        self.x = x + 1


@program("I9 O6", differs="fewer_breaks", why="torch.compile leaves the function to Python")
def a_metaclass_calls_on_over_a_break(x):
    y = x * 2
    made = Tagged(y)
    return made.x * 3, made.tag


class Loud(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, self.said(value))

    def said(self, value):
        print("set")
        return value + 1

    @classmethod
    def filled(cls, x):
        return super().fromkeys(cls.names(), x)

    @classmethod
    def names(cls):
        print("names")
        return "ab"


@program("I9 O6", differs="torch_differs", why="torch.compile loses the class of a dict over a break")
def a_dict_sets_over_a_break(x):
    held = Loud()
    held["a"] = x * 2
    return held["a"] + 1, held


@program("I9 O6", differs="torch_differs", why="torch.compile loses the class of a dict over a break")
def a_class_method_of_a_builtin_over_a_break(x):
    y = x + 1
    held = Loud.filled(y)
    return held["a"] * 2, list(held), type(held).__name__


class Kept(torch.nn.Module):
    def bind(self):
        return super().__repr__, super().__setattr__, super().__eq__

    def forward(self, x):
        kept = self.bind()
        y = x + 1
        print("here")
        kept[1]("seen", y)
        return y * 2, kept[0](), kept[2](self), [type(each).__name__ for each in kept]


@program("I9 O6", lambda: [(Kept(), t(2))])
def bound_methods_of_bases_are_kept(module, x):
    return module(x), module.seen


class Plain:
    def bind(self):
        return super().__eq__, super().__repr__, super().__hash__


@program("I9 O6")
def bound_methods_of_object_are_kept(x):
    made = Plain()
    kept = made.bind()
    y = x + 1
    print("here")
    return y * 2, kept[0](made), kept[0](3), kept[2]() == hash(made), [type(each).__name__ for each in kept]


LISTS = [[3, 3], [3, 3]]
BOUND = [LISTS[0].index, LISTS[1].count, {3: 5}.get, {3: 5, 4: 4}.pop, [0, 1, 2, 8].__getitem__, "abcd3".__mul__]


@program("I9 G3", lambda: [(t(2), method) for method in BOUND])
def bound_methods_are_told_apart_by_name(x, method):
    return x + 1, method(3)


@program(
    "I9 G3",
    lambda: [(t(2), (5).__add__), (t(2), (5).__sub__), (t(2), (6).__sub__), (t(2), (2.0).__radd__)],
    differs="torch_differs",
    why="torch.compile calls the method of the first call",
)
def bound_slots_are_told_apart(x, method):
    return x * method(3)
