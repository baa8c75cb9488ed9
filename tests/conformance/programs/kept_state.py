"""Attributes of classes, functions and modules, and instance dicts: written, read back, deleted, kept for later."""

import sys
import types

import torch

from tests.conformance.program import program, t


class Counted:
    count = 0
    log = []

    def __init__(self):
        type(self).count += 1
        self.number = Counted.count


class CountedChild(Counted):
    pass


class Registry:
    known = {}
    last = None

    @classmethod
    def add(cls, name, value):
        cls.known[name] = value
        cls.last = name
        return value


def helper(x):
    helper.calls += 1
    return x + helper.calls


helper.calls = 0


def fresh(x):
    fresh.seen = getattr(fresh, "seen", 0) + 1
    return x * fresh.seen


settings = types.ModuleType("settings")
settings.level = 1
this = sys.modules[__name__]
this_level = 1


@program("O7 I10", lambda: [(t(2),), (t(2),), (t(2),)], then=lambda r: Counted.count)
def class_counter(x):
    Counted.count += 1
    return x + Counted.count


@program(
    "O7 I10",
    lambda: [(t(2),), (t(2),)],
    then=lambda r: (Counted.count, vars(CountedChild).get("count")),
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def counter_through_type_of_self(x):
    a, b = Counted(), CountedChild()
    return x + a.number + b.number, a.number, b.number, CountedChild.count, Counted.count


@program("O7 I10", then=lambda r: (Registry.last, sorted(Registry.known)))
def class_method_writes_the_class(x):
    Registry.add("a", 1)
    y = x + Registry.add("b", 2)
    return y, Registry.last


@program(
    "O7 I10",
    then=lambda r: (Counted.extra.tolist(), hasattr(Counted, "gone")),
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def setattr_and_delattr_on_a_class(x):
    setattr(Counted, "extra", x * 2)
    Counted.gone = 1
    before = Counted.gone
    del Counted.gone
    try:
        Counted.gone
    except AttributeError as error:
        text = str(error)
    return Counted.extra + 1, before, text


@program(
    "O7 I10", then=lambda r: Counted.count, differs="fewer_breaks", why="torch.compile leaves more of it to Python"
)
def deleted_class_attribute_of_a_base(x):
    CountedChild.count = 10
    mine = CountedChild.count
    del CountedChild.count
    try:
        del CountedChild.count
    except AttributeError as error:
        text = str(error)
    return x + mine + CountedChild.count, text


@program("O7 I10 I14", then=lambda r: Counted.count)
def class_attribute_across_a_break(x):
    Counted.count = 5
    y = x + Counted.count
    torch._dynamo.graph_break()
    Counted.count += 1
    return y * Counted.count


@program("O7 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def method_put_on_a_class(x):
    def double(self):
        return self.number * 2

    Counted.double = double
    made = Counted()
    Counted.__repr__ = lambda self: "mine"
    return x * made.double(), repr(made)


@program(
    "O7 I10", lambda: [(t(2),), (t(2),)], differs="fewer_breaks", why="torch.compile leaves more of it to Python"
)
def property_put_on_a_class(x):
    Counted.twice = property(lambda self: self.number * 2)
    return x + Counted().twice


def bump(name, n):
    setattr(Counted, name, getattr(Counted, name, 0) + n)


@program(
    "O7 I10", lambda: [(t(2), "a"), (t(2), "b"), (t(2), "a")], then=lambda r: (Counted.a, getattr(Counted, "b", None))
)
def class_attribute_by_name(x, name):
    bump(name, 2)
    bump(name, 3)
    return x + getattr(Counted, name)


@program(
    "O7 F1",
    lambda: [(t(2),), (t(2),), (t(2),)],
    then=lambda r: helper.calls,
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def function_attribute_counter(x):
    return helper(helper(x))


@program(
    "O7 F1",
    lambda: [(t(2),), (t(2),)],
    then=lambda r: fresh.seen,
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def function_attribute_made_at_first_call(x):
    return fresh(fresh(x))


@program(
    "O7 F1",
    then=lambda r: (helper.__dict__, hasattr(helper, "gone")),
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def function_attributes_of_all_kinds(x):
    helper.tensor = x + 1
    helper.gone = 1
    del helper.gone
    helper.__dict__["by_dict"] = 3
    setattr(helper, "by_setattr", [1])
    helper.by_setattr.append(2)
    return helper.tensor * helper.by_dict, helper.by_setattr, vars(helper)["by_dict"]


@program("O7 F1", then=lambda r: (helper.__name__, helper.__doc__, helper.__defaults__))
def function_names_changed(x):
    helper.__name__ = "renamed"
    helper.__doc__ = "what it does"
    return x + 1, helper.__name__, helper.__doc__


@program("O7 F1")
def method_function_attribute(x):
    Counted.__init__.note = "n"
    try:
        Counted().__init__.note = "m"
    except AttributeError as error:
        text = str(error)
    return x + 1, Counted().__init__.note, text


@program("O7 I13", lambda: [(t(2),), (t(2),)], then=lambda r: settings.level)
def module_attribute_counter(x):
    settings.level += 1
    return x + settings.level


@program("O7 I13", then=lambda r: (settings.__dict__.get("fresh"), hasattr(settings, "level")))
def module_attributes_made_and_deleted(x):
    settings.fresh = x + 1
    y = settings.fresh * settings.level
    del settings.level
    try:
        settings.level
    except AttributeError as error:
        text = str(error)
    return y, text, hasattr(settings, "level"), hasattr(settings, "fresh")


@program(
    "O7 I13",
    lambda: [(t(2),), (t(2),)],
    then=lambda r: this_level,
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def module_attribute_and_global_are_one(x):
    global this_level
    this_level += 1
    y = x + this.this_level
    this.this_level = 10
    return y * this_level


@program(
    "O7 I13",
    lambda: [(t(2),), (t(2),)],
    then=lambda r: this_level,
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def globals_dict_written(x):
    globals()["this_level"] = globals()["this_level"] + 1
    globals().update(new_one=5)
    return x * this_level + new_one, "new_one" in globals(), globals().get("nothing", 3)  # noqa: F821


class Statistics(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(2))


@program("B11 O5", lambda: [(t(2), Statistics()), (t(2), Statistics())])
def buffer_seen_after_it_was_set(x, m):
    m.mean = m.mean * 2 + x
    seen = m.mean is m._buffers["mean"], list(m.buffers())[0] * 1, dict(m.named_buffers())["mean"] * 2
    for buffer in m.buffers():
        buffer.add_(5)
    return seen


@program(
    "B11 O5",
    lambda: [(t(2), Statistics(), {"mean": torch.full((2,), 7.0)})] * 2,
    differs="fewer_breaks",
    why="torch ends its graph where load_state_dict asks whether a parameter is lazy",
)
def buffer_loaded_after_it_was_set(x, m, state):
    m.mean = m.mean + x
    m.load_state_dict(state)
    return m.mean * 1
