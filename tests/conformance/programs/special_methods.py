"""Special methods, attribute hooks, descriptors and metaclasses of the user's own."""

import math

from tests.conformance.program import program, t


class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


class Truthy:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        return self.n > 1

    def __len__(self):
        return 0


class Holder:
    def __init__(self, *items):
        self.items = items
        self.asked = []

    def __contains__(self, item):
        self.asked.append(item)
        return item in self.items and "yes"

    def __len__(self):
        return len(self.items)

    def __getitem__(self, at):
        return self.items[at]

    def __reversed__(self):
        return iter(["r", *self.items])


class BadLength:
    def __len__(self):
        return -1


@program("I2 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def index_bool_len_contains(x):
    h, i = Holder(4, 5, 6), Index(1)
    found = [
        [7, 8][i],
        "abc"[Index(0) : i],
        range(5)[i],
        bool(Truthy(1)),
        not Truthy(2),
        bool(h),
        not Holder(),
        5 in h,
        9 not in h,
    ]
    found += [
        list(h),
        list(reversed(h)),
        h[-1],
        h[i:],
        hex(Index(255)),
        bytes(Index(2)),
        [0] * Index(2),
        list(range(Index(3))),
    ]
    found += [
        1 if Truthy(3) else 2,
        Truthy(0) or "or",
        Truthy(5) and "and",
        h.asked,
        any(Truthy(n) for n in (0, 1)),
        tuple(h),
    ]
    for bad in (lambda: len(BadLength()), lambda: bool(BadLength()), lambda: [1][Truthy(1)], lambda: 3 in Index(1)):
        try:
            bad()
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return x[i] + len(found), found


class Hooked:
    registry = []

    def __init_subclass__(cls, **kwargs):
        Hooked.registry.append((cls.__name__, kwargs))

    def __class_getitem__(cls, item):
        return f"{cls.__name__}[{item}]"

    def __getattribute__(self, name):
        if name == "magic":
            return "from getattribute"
        return super().__getattribute__(name)

    def __getattr__(self, name):
        if name.startswith("dyn_"):
            return name[4:]
        raise AttributeError(f"no {name}")


@program("I10")
def attribute_hooks(x):
    h = Hooked()
    h.own = x + 1
    try:
        h.nothing
    except AttributeError as error:
        text = str(error)
    return (
        h.own * 2,
        h.magic,
        h.dyn_a,
        Hooked["q"],
        text,
        getattr(h, "zz", "default"),
        hasattr(h, "dyn_b"),
        hasattr(h, "b"),
    )


class Data:
    def __get__(self, obj, owner):
        return ("data", obj is None)

    def __set__(self, obj, value):
        obj.__dict__["d"] = value


class NonData:
    def __get__(self, obj, owner):
        return ("nondata", owner.__name__)


class OnlySet:
    def __set__(self, obj, value):
        obj.__dict__["s"] = ("set", value)


class Deleting:
    def __delete__(self, obj):
        obj.deleted = True


class Owner:
    d = Data()
    n = NonData()
    s = OnlySet()
    x = Deleting()


@program("I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def descriptor_priorities(x):
    o = Owner()
    before = (o.d, o.n, type(o.s).__name__, Owner.d, Owner.n)
    o.d, o.n, o.s = 1, 2, 3
    del o.x
    try:
        o.x = 1
    except AttributeError as error:
        text = str(error)
    return x + o.n, before, o.d, o.s, o.__dict__, o.deleted, text


class Single(type):
    made = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls.made:
            cls.made[cls] = super().__call__(*args, **kwargs)
        return cls.made[cls]

    def __instancecheck__(cls, other):
        return hasattr(other, "n") or super().__instancecheck__(other)

    def __subclasscheck__(cls, other):
        return other is int

    def __len__(cls):
        return 42

    def __getitem__(cls, item):
        return (cls.__name__, item)

    def __iter__(cls):
        return iter([1, 2])

    def __contains__(cls, item):
        return item == 7

    @property
    def meta_property(cls):
        return cls.__name__

    def __getattr__(cls, name):
        if name == "by_meta":
            return "found"
        raise AttributeError(name)


class One(metaclass=Single):
    def __init__(self, n):
        self.n = n


@program("I10", lambda: [(t(2),), (t(2),)], differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def metaclass_call_and_checks(x):
    a, b = One(x.shape[0]), One(9)
    found = [
        a is b,
        isinstance(Index(3), One),
        isinstance(3, One),
        issubclass(int, One),
        issubclass(One, One),
        len(One),
        One[2],
    ]
    return x + a.n, found, list(One), 7 in One, One.meta_property, One.by_meta, [*One]


class Arithmetic:
    def __init__(self, n):
        self.n = n

    def __radd__(self, other):
        return ("radd", other)

    def __iadd__(self, other):
        self.n += other
        return self

    def __matmul__(self, other):
        return ("matmul", other)

    def __divmod__(self, other):
        return ("divmod", other)

    def __pow__(self, other, mod=None):
        return ("pow", other, mod)

    def __round__(self, digits=None):
        return ("round", digits)

    def __abs__(self):
        return abs(self.n)

    def __int__(self):
        return self.n

    def __float__(self):
        return float(self.n)

    def __trunc__(self):
        return -1

    def __floor__(self):
        return "floor"

    def __complex__(self):
        return complex(self.n, 1)

    def __call__(self, *args):
        return args

    def __neg__(self):
        return "neg"

    def __lt__(self, other):
        return NotImplemented


@program("I2 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def arithmetic_methods(x):
    a = Arithmetic(-3)
    b = a
    b += 1
    found = [
        sum([a]),
        2 + a,
        a @ 2,
        divmod(a, 2),
        a**2,
        pow(a, 2, 5),
        round(a),
        round(a, 1),
        abs(a),
        int(a),
        float(a),
        complex(a),
    ]
    found += [math.floor(a), math.trunc(a), -a, a(1, 2), callable(a), b is a, a.n]
    for bad in (
        lambda: a + 1,
        lambda: a < 1,
        lambda: a - 1,
        lambda: +a,
        lambda: a // 2,
        lambda: a[0],
        lambda: iter(a),
    ):
        try:
            bad()
        except TypeError as error:
            found.append(str(error))
    return x + a.n, found


class Attributes(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Backwards(int):
    __add__ = int.__sub__


class Counting(list):
    __getitem__ = list.count
    __eq__ = list.__ne__
    __lt__ = list.__gt__
    __hash__ = None


@program(
    "F3 I11",
    lambda: [(t(2), Attributes(a=t(2), n=1))] * 2,
    differs="fewer_breaks",
    why="torch leaves a frame that uses such methods to Python",
)
def dict_whose_items_are_attributes(x, d):
    d.a = d.a + x
    d.z = x
    d.n += 1
    del d.z
    return d.a, d["a"], d.n, d.missing, list(d), vars(d), d.a is d["a"]


@program(
    "F3 I11", lambda: [t(2), t(2)], differs="torch_differs", why="torch goes by the names methods have in builtins"
)
def methods_of_builtins_under_other_names(x):
    ones = Counting([1, 1])
    return x + 1, Backwards(3) + 1, ones[1], ones == [1, 1], ones < [2], ones.count(1)
