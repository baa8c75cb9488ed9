"""Views of dicts, and read-only proxies, that something outside keeps; what they show is that dict as it is."""

import collections
import types

from tests.conformance.program import program, t


class Keeps:
    def __init__(self, made):
        self.made = made
        self.keys, self.values, self.items = made.keys(), made.values(), made.items()


def kept(kind=dict):
    return Keeps(kind(a=1, b=2))


@program(
    "I11", lambda: [(t(2), kept()), (t(2), kept(collections.OrderedDict))],
    differs="torch_differs", why="torch.compile makes the views of an OrderedDict those of a dict",
)  # fmt: skip
def kept_views_are_read(x, keeps):
    found = [list(keeps.keys), list(keeps.values), list(keeps.items), len(keeps.keys), "a" in keeps.keys]
    found += [("b", 2) in keeps.items, sorted(keeps.keys & {"a", "z"}), dict(keeps.items), bool(keeps.values)]
    found += [list(reversed(keeps.keys)), keeps.keys == {"a", "b"}, keeps.keys.isdisjoint("z"), repr(keeps.items)]
    return x + sum(keeps.values), found, type(keeps.keys).__name__, type(keeps.values).__name__


@program("I11", lambda: [(t(2), kept()), (t(2), kept(collections.OrderedDict))])
def kept_views_follow_their_dict(x, keeps):
    keeps.made["c"] = 3
    del keeps.made["a"]
    return x + len(keeps.keys), list(keeps.items), keeps.keys.mapping["c"]


def _grows():
    keeps = kept()
    yield t(2), keeps
    keeps.made["c"] = 5
    yield t(2), keeps
    keeps.made["a"] = t(2)
    yield t(2), keeps


@program("I11", _grows, differs="fewer_breaks", why="torch.compile knows no values or items from outside")
def kept_views_are_guarded(x, keeps):
    total = x
    for key, value in keeps.items:
        total = total + value * len(key)
    return total, list(keeps.keys)


@program("I11", lambda: [(t(2), kept())], differs="torch_differs", why="torch.compile hands back the keys of a copy")
def kept_views_are_handed_back(x, keeps):
    keys = keeps.keys
    print("here")
    keeps.made["c"] = 3
    return x + len(keys), keys is keeps.keys, keys, [*keys]


@program(
    "I11", lambda: [(t(2), {"a": t(2), "b": 2}.items()), (t(2), {"a": t(2), "b": 3}.items())],
    differs="fewer_breaks", why="torch.compile knows no values or items from outside",
)  # fmt: skip
def views_as_arguments(x, items):
    return [x * value for _, value in items]


@program(
    "I11", lambda: [(t(2), collections.Counter("abb").items())],
    differs="fewer_breaks", why="torch.compile knows no values or items from outside",
)  # fmt: skip
def views_of_subclasses(x, items):
    return x + sum(count for _, count in items), items.mapping["b"]


@program("I11", differs="torch_differs", why="torch.compile makes the views of an OrderedDict those of a dict")
def views_name_their_kind(x):
    made = [{"a": 1}, collections.OrderedDict(a=1), collections.defaultdict(int, a=1), collections.Counter(a=1)]
    kinds = [[type(view).__name__ for view in (d.keys(), d.values(), d.items())] for d in made]
    return x + 1, kinds, [repr(d.keys()) for d in made]


@program("I11", lambda: [(t(2), types.MappingProxyType({"a": 1, "b": t(2)}))])
def proxies_from_outside_are_read(x, proxy):
    found = [proxy["a"], list(proxy), "b" in proxy, len(proxy), proxy.get("z"), list(proxy.keys())]
    return x * proxy["b"] + proxy["a"], found, proxy


@program("I11", lambda: [(t(2), Keeps.__dict__), (t(2), kept().__dict__.keys())])
def namespaces_of_classes_and_objects(x, held):
    return x + len([name for name in held if name == "made"]), "made" in held


@program(
    "B3", lambda: [(t(3),), (t(4),), (t(5),)], differs="fewer_breaks", why="torch.compile makes a version a size"
)
def questions_about_numbers(x):
    from torch.fx.experimental import symbolic_shapes as shapes

    n = x.shape[0]
    found = [
        shapes.guard_or_false(n == 4),
        shapes.guard_or_true(n > 3),
        shapes.guard_int(n),
        shapes.guard_scalar(n * 2),
    ]
    return (
        x + n,
        found,
        shapes.is_nested_int(n),
        shapes.sym_and(n > 1, n < 5),
        shapes.is_concrete_int(n),
    )
