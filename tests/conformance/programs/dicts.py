"""`dict`, its views, and the mappings of `collections`."""

from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
from types import MappingProxyType

from tests.conformance.program import program, t


@program("I11")
def every_way_to_make_a_dict(x):
    return {"a": x}, dict(a=x + 1), dict([("k", 1), ("l", 2)]), dict({"m": 1}, n=2), dict.fromkeys("ab", 0), dict()


@program("I11")
def get_setdefault_pop(x):
    d = {"a": 1}
    b = d.setdefault("b", [])
    b.append(x + 1)
    again = d.setdefault("b", "not used")
    return d.get("a"), d.get("z"), d.get("z", 3), d.pop("a"), d.pop("q", None), again is b, d


@program("I11 I5", differs="torch_differs", why="KeyError of pop loses its key")
def missing_keys_raise(x):
    d = {"a": 1}
    messages = []
    for action in (lambda: d["z"], lambda: d.pop("y"), lambda: d.__delitem__("w")):
        try:
            action()
        except KeyError as error:
            messages.append(error.args)
    return x + 1, messages


@program("I11 I5", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def missing_key_leaves(x):
    d = {"a": x}
    return d["a"] + 1 + d["b"]


@program("I11")
def update_in_every_form(x):
    d = {"a": 1}
    d.update({"b": 2})
    d.update(c=3)
    d.update([("d", 4)], e=5)
    d |= {"f": x + 1}
    return d, {"a": 0} | {"a": 1, "b": 2}


@program("I11")
def views(x):
    d = {"a": 1, "b": 2}
    keys, values, items = d.keys(), d.values(), d.items()
    d["c"] = 3
    return x + len(keys), list(keys), list(values), list(items), "c" in keys, ("a", 1) in items, 3 in values


@program("I11", then=lambda r: (list(r[0]), list(r[1])))
def views_leave(x):
    d = {"a": x + 1, "b": x}
    return d.keys(), d.values(), d


@program("I11")
def key_views_are_sets(x):
    a, b = {"p": 1, "q": 2}, {"q": 3, "r": 4}
    return x + 1, sorted(a.keys() & b.keys()), sorted(a.keys() | b), sorted(a.keys() - b.keys()), a.keys() ^ b.keys()


@program("I11")
def order_of_insertion(x):
    d = {"b": 1, "a": 2}
    d["c"] = 3
    del d["b"]
    d["b"] = 4
    d["a"] = 5
    return x + 1, list(d), list(reversed(d)), d.popitem(), d


@program("I11")
def clear_and_copy(x):
    d = {"a": [x]}
    e = d.copy()
    e["b"] = 1
    e["a"].append(x + 1)
    f = dict(d)
    d.clear()
    return d, e, f, f["a"] is e["a"]


@program("I11")
def keys_of_many_types(x):
    d = {1: "int", "1": "str", (1, 2): "tuple", None: "none", True: "bool is one", 2.5: "float", b"b": "bytes"}  # noqa: F601
    return x + len(d), d, d[1.0], d[(1, 2)]


@program("I11")
def functions_and_types_as_keys(x):
    d = {int: 1, len: 2, str: 3}
    return x + d[int] + d[len] + d[type("")]


@program("I11", lambda: [(t(2),)])
def tensors_as_keys(x):
    y = x + 1
    d = {x: "x", y: "y"}
    return d[x], d[y], len(d), y in d


@program("I11 I5")
def unhashable_key(x):
    try:
        {[1]: 2}
    except TypeError as error:
        return x + 1, str(error)


@program("I11", differs="torch_differs", why="equal ranges of other bounds are other keys")
def ranges_as_keys(x):
    d = {range(0, 3): 1, (0, 5, 1): 2}
    return x + d.get((0, 3, 1), 5), range(3) in d, range(5) in d, range(0, 6, 2) in {range(0, 5, 2)}


@program("I11 I5")
def unhashable_keys_of_every_kind(x):
    class Plain:
        pass

    d, log = {}, []
    for key in ([], {}, set(), d.keys(), d.items(), Plain().__dict__, (1, [])):
        try:
            d[key] = x
        except TypeError as error:
            log.append(str(error))
    return x + len(d), log


@program("I11")
def dict_comparisons(x):
    return x + 1, {"a": 1, "b": 2} == {"b": 2, "a": 1}, {} == {}, {"a": 1} != {"a": 2}


@program("I11 O7", lambda: [(t(2), {"a": 1, "b": t(2)})])
def input_dict_every_mutation(x, d):
    d["c"] = x + d["b"]
    del d["a"]
    d.setdefault("z", []).append(1)
    d.update(y=d["c"])
    last = d.popitem()
    d["b"] = "replaced"
    return last, d


@program("I11 O7", lambda: [(d := {"a": t(2)}, d, [d])])
def one_dict_by_three_ways(a, b, c):
    a["new"] = b["a"] + 1
    c[0]["other"] = 2
    return a is b, c[0] is b, len(a)


@program("I11 G1", lambda: [({"a": t(2)},), ({"a": t(2), "b": t(2)},), ({"b": t(2), "a": t(2)},)])
def dict_keys_and_order_are_guarded(d):
    total = 0
    for i, key in enumerate(d):
        total = total + d[key] * (i + 1)
    return total


@program("I11 G1", lambda: [({"a": t(2), "n": 1},), ({"a": t(2), "n": 2},)])
def unread_values_do_not_recompile(d):
    return d["a"] + 1


@program("I11")
def nested_dicts(x):
    config = {"model": {"width": 3, "names": ["a", "b"]}}
    config["model"]["width"] += 1
    config["model"]["names"][0] = "z"
    return x * config["model"]["width"], config


@program("I11")
def iterate_and_delete_over_a_copy(x):
    d = {i: i * i for i in range(5)}
    for key in list(d):
        if key % 2:
            del d[key]
    return x + sum(d.values()), d


@program("I11 I5")
def size_changed_during_iteration(x):
    d = {"a": 1}
    try:
        for key in d:
            d.pop(key)
            d["b"] = 1
            d["c"] = 1
    except RuntimeError as error:
        return x + 1, str(error)


@program("I11")
def default_dict(x):
    d = defaultdict(list)
    d["a"].append(x)
    d["a"].append(x + 1)
    d["b"]
    e = defaultdict(int)
    for c in "hello":
        e[c] += 1
    return d, e, "z" in d, d.default_factory is list


@program("I11 I5")
def default_dict_without_factory(x):
    d = defaultdict(None, a=1)
    try:
        d["b"]
    except KeyError as error:
        return x + d["a"], error.args


@program("I11 O7", lambda: [(t(2), defaultdict(lambda: 0, a=1))], then=lambda r: None)
def default_dict_as_argument(x, d):
    d["n"] += 5
    return x + d["n"] + d["a"] + d["fresh"]


@program("I11")
def ordered_dict(x):
    d = OrderedDict([("a", 1), ("b", 2), ("c", 3)])
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    first = d.popitem(last=False)
    return x + first[1], d, list(d), d == OrderedDict(b=2, a=1), d == {"a": 1, "b": 2}


@program("I11 O7", lambda: [(t(2), OrderedDict(a=t(2), b=1))])
def ordered_dict_as_argument(x, d):
    d["c"] = x + d["a"]
    d.move_to_end("a")
    return list(d.keys())


@program("I11", differs="fewer_breaks", why="torch cannot rebuild a value that is alive at the break")
def counter(x):
    c = Counter("abracadabra")
    c.update("aa")
    c.subtract(b=5)
    return x + c["a"], c.most_common(2), c["missing"], sum(c.values()), c + Counter(a=1), c & Counter(a=2), list(c)


@program("I11")
def chain_map(x):
    low, high = {"a": 1, "b": 2}, {"b": 3}
    m = ChainMap(high, low)
    m["c"] = x + 1
    child = m.new_child({"a": 9})
    return m["a"], m["b"], sorted(m), high, child["a"], len(child), m.maps[0] is high


@program("I11")
def deque_methods(x):
    d = deque([1, 2, 3], maxlen=4)
    d.append(4)
    d.append(5)
    d.appendleft(x + 1)
    d.rotate(1)
    last, first = d.pop(), d.popleft()
    d.extend([7, 8])
    d.extendleft([9])
    return d, last, first, d.maxlen, d[0], len(d), d.index(7), d.count(8)


@program("I11 O7", lambda: [(t(2), deque([1, 2]))])
def deque_as_argument(x, d):
    d.append(x + d[0])
    d.popleft()
    d.insert(0, "front")
    d.reverse()
    return len(d)


@program("I11")
def deque_more(x):
    d = deque("abcd")
    d.remove("b")
    e = d.copy()
    e.clear()
    d[1] = "z"
    return x + len(d), d, e, "z" in d, list(reversed(d)), d == deque("azd")


@program("I11 I13", lambda: [(t(2), MappingProxyType({"a": 1}))])
def mapping_proxy(x, m):
    return x + m["a"], list(m), m.get("z", 4), len(m)


class Registry(dict):
    def __missing__(self, key):
        value = self[key] = len(self)
        return value

    def register(self, key):
        return self[key]


@program("I11 I10")
def subclass_of_dict_with_missing(x):
    r = Registry(a=5)
    r.note = "kept"
    return x + r["a"] + r["b"] + r.register("c"), r, "zz" in r


@program("I11 I10 O7", lambda: [(t(2), Registry(a=5))])
def subclass_of_dict_as_argument(x, r):
    r["b"] = x + r["a"]
    r.note = 1
    return len(r)


class Settings(UserDict):
    def __getitem__(self, key):
        return self.data[key.lower()]


@program("I11 I10")
def user_dict(x):
    s = Settings()
    s["width"] = 3
    return x * s["WIDTH"], len(s), "width" in s


@program("I11")
def dict_with_tensor_values_sum(x, y):
    d = {"x": x, "y": y, "z": {"deep": x * y}}
    flat = {**{k: v for k, v in d.items() if k != "z"}, **d["z"]}
    return sum(flat.values()), list(flat)


@program("I11")
def dict_methods_through_the_class(x):
    d = {}
    dict.update(d, a=1)
    dict.__setitem__(d, "b", x + 1)
    return d, dict.get(d, "a"), d.__contains__("a"), d.__len__()


@program("I11")
def enumerate_dict_items(x):
    d = {"a": 1, "b": 2}
    out = [(i, k, v) for i, (k, v) in enumerate(d.items(), start=1)]
    return x + out[1][0], out, dict(zip(d.values(), d.keys())), max(d, key=d.get), sorted(d.items(), reverse=True)
