"""Text of objects, and builtins that ask objects' special methods."""

import math
import operator
import types

import torch

from tests.conformance.program import program, t


class Rich:
    def __init__(self, v):
        self.v = v

    def __str__(self):
        return f"R{self.v}"

    def __repr__(self):
        return f"<R {self.v}>"

    def __format__(self, spec):
        return f"F{self.v}{spec}"

    def __index__(self):
        return self.v

    def __rmod__(self, other):
        return "reflected"

    def __divmod__(self, other):
        return "divmod", other

    def __pow__(self, other, mod=None):
        return "pow", other, mod

    def __complex__(self):
        return 1j

    def __bytes__(self):
        return b"rich"

    def __ceil__(self):
        return 9

    def __floor__(self):
        return 8

    def __trunc__(self):
        return 7

    def __reversed__(self):
        return iter([3, 2])


class Key:
    def __init__(self, v):
        self.v = v

    def __hash__(self):
        return hash(self.v)

    def __eq__(self, other):
        return isinstance(other, Key) and self.v == other.v


class Calling(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.tag = "made"
        return made

    def greet(cls):
        return cls.__name__


class Made(metaclass=Calling):
    def __init__(self, v):
        self.v = v


@program("I11 I12", differs="fewer_breaks", why="torch.compile does not format objects")
def texts_of_an_object(x):
    r = Rich(3)
    return x + 1, str(r), repr(r), f"{r}", f"{r!r:>8}", f"{r:abc}", f"{r!a}", format(r, "z"), ascii(r)


@program("I2 I11", differs="fewer_breaks", why="torch.compile does not format objects")
def percent_formatting(x):
    r = Rich(3)
    return x + 1, "%s" % r, "%s %r" % (r, r), "%(a)s" % {"a": r}, "%d" % r, "%5.1f%%" % 2.25


@program("I11", differs="torch_differs", why="formatting fails in the compiler")
def str_format(x):
    r = Rich(3)
    return x + 1, "{} {!r} {a:x}".format(r, r, a=r), "{0[1]} {a.v}".format([1, 2], a=r), "{:{w}}".format(1, w=4)


@program("I11 I5", differs="torch_differs", why="formatting errors are not those of Python")
def str_format_that_fails(x):
    said = []
    short, absent, mistyped, two = "{2}", "{a}", "%d", "%s %s"
    for make in (lambda: short.format(1), lambda: absent.format(b=1), lambda: mistyped % "s", lambda: two % (1,)):
        try:
            make()
        except (IndexError, KeyError, TypeError) as error:
            said.append((type(error).__name__, str(error)))
    return x + 1, said


@program("I11")
def containers_of_objects_as_text(x):
    r = Rich(1)
    return x + 1, str([r, 1]), str((r,)), str({"a": r}), f"{[r]}"


@program("I11")
def joined_generator(x):
    return x + 1, ", ".join(str(i) for i in range(3)), b"-".join([b"a", b"b"])


@program("I2 I12")
def builtins_ask_special_methods(x):
    r = Rich(2)
    rounded = math.ceil(r), math.floor(r), math.trunc(r), complex(r), bytes(r), operator.index(r)
    return x + 1, rounded, divmod(r, 3), r**2, pow(r, 2, 3), list(reversed(r)), "ab" * r, [1] * r, range(r)


@program("I10 I11", differs="fewer_breaks", why="torch.compile does not take such keys")
def keys_with_their_own_hash(x):
    d = {Key(1): x}
    d[Key(2)] = x + 1
    s = {Key(1), Key(1), Key(3)}
    return d[Key(1)] + 1, len(d), Key(2) in d, len(s), d.get(Key(9)), [key.v for key in d]


@program("I10", differs="fewer_breaks", why="torch.compile does not trace such a metaclass")
def metaclass_with_call(x):
    made = Made(3)
    return x + made.v, made.tag, Made.greet(), type(made) is Made


@program("I11 I12", differs="fewer_breaks", why="torch.compile does not trace SimpleNamespace")
def simple_namespace(x):
    n = types.SimpleNamespace(a=x, b=2)
    n.c = 3
    same = types.SimpleNamespace(q=1) == types.SimpleNamespace(q=1)
    return n.a + n.b, n, same, repr(types.SimpleNamespace(q=1))


@program("I11")
def dict_written_while_iterated(x):
    d = {"a": 1, "b": 2}
    seen = []
    for key, value in d.items():
        d["b"] = value + 5
        seen.append((key, value))
    return x + 1, seen


@program("I11", differs="stricter", why="what comes next hangs on how Python keeps the keys in memory")
def dict_reshaped_while_iterated(x):
    d = {"a": 1, "b": 2, "c": 3}
    it = iter(d)
    next(it)
    d.popitem()
    d["z"] = 9
    return x + 1, list(it)


@program("I5", differs="fewer_breaks", why="torch.compile does not know these attributes")
def names_in_exceptions(x):
    try:
        Rich(1).missing
    except AttributeError as error:
        said = error.name, type(error.obj).__name__, str(error)
    try:
        missing_name  # noqa: B018, F821
    except NameError as error:
        return x + 1, said, error.name


@program("I5", differs="fewer_breaks", why="torch.compile does not know these attributes")
def notes_and_codes_of_exceptions(x):
    try:
        raise OSError(2, "no")
    except OSError as error:
        error.add_note("a")
        error.add_note("b")
        return x + 1, error.errno, error.strerror, error.__notes__


@program("I11 I12", differs="torch_differs", why="keywords clash with parameters of the compiler")
def keywords_with_any_name(x):
    return x + 1, dict(iterable=1, tx=2, self=3), "{self}".format(self=3), types.SimpleNamespace(tx=1, cls=2)


TELLING = [
    torch.int8,
    torch.device("cpu"),
    torch.strided,
    torch.channels_last,
    torch.per_tensor_affine,
    ...,
    range(3),
]


@program(
    "I11", lambda: [(t(2), value) for value in TELLING], differs="fewer_breaks", why="torch breaks at some of them"
)
def texts_of_values_that_say_themselves(x, v):
    texts = [f"{v}", f"{v!r}", f"{v!a}", str(v), repr(v), "%s %r" % (v, v), "{} {!r}".format(v, v), f"{[v]}"]
    return x + 1, texts, f"{x.dtype} on {x.device}: {x.shape}"
