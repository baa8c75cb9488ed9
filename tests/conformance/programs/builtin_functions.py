"""The functions and types of `builtins`, as CPython's documentation lists them."""

import torch

from tests.conformance.program import program, t


@program("I12")
def sum_of_everything(x):
    return sum([x, x + 1, 2]), sum([1, 2], 10), sum([]), sum((1.5, 2)), sum([[1], [2]], []), sum(range(5))


@program("I12")
def min_and_max(x):
    return (
        x + min(3, 1),
        max([1, 5, 2]),
        min("b", "a", key=ord),
        max([], default=7),
        min((2, 1)),
        max(1, 2.0),
        min(1, 1.0),
    )


@program("I12 I5", differs="torch_differs", why="fails with an AssertionError of its own")
def max_of_nothing_raises(x):
    try:
        max([])
    except ValueError as error:
        return x + 1, str(error)


@program("I12")
def any_and_all(x):
    return x + 1, any([0, 1]), any([]), all([]), all([1, 0]), any(i > 2 for i in range(4)), all(c for c in "ab")


@program("I12")
def short_circuit_of_any(x):
    seen = []

    def check(i):
        seen.append(i)
        return i == 1

    return x + any(check(i) for i in range(5)), seen


@program("I12")
def map_and_filter(x):
    return (
        list(map(lambda a: a * 2, [1, 2])),
        list(map(lambda a, b: a + b, [1, 2, 3], [x, x])),
        list(filter(None, [0, 1, "", "a"])),
        list(filter(lambda v: v > 1, (1, 2, 3))),
        [*map(str, range(2))],
    )


@program("I12")
def map_is_lazy(x):
    seen = []
    m = map(lambda v: seen.append(v) or v, [1, 2, 3])
    before = list(seen)
    first = next(m)
    return x + first, before, seen, list(m), seen


@program("I12", then=list)
def map_leaves(x):
    return map(lambda v: v + 1, [x, x * 2])


@program("I12", then=list)
def zip_leaves_half_consumed(x):
    z = zip([1, 2, 3], [x, x + 1, x + 2])
    next(z)
    return z


@program("I12")
def zip_in_every_form(x):
    return x + 1, list(zip()), list(zip([1, 2])), list(zip("ab", range(9))), dict(zip("ab", [1, x]))


@program("I12 I5", differs="torch_differs", why="another message")
def zip_strict(x):
    try:
        list(zip([1, 2], [1], strict=True))
    except ValueError as error:
        return x + len(list(zip([1], [2], strict=True))), str(error)


@program("I12")
def enumerate_in_every_form(x):
    e = enumerate("ab", 5)
    return x + next(e)[0], list(e), list(enumerate([x], start=2)), dict(enumerate("xy"))


@program("I12")
def reversed_and_sorted(x):
    return (
        x + 1,
        list(reversed([1, 2, 3])),
        list(reversed(range(3))),
        sorted((3, 1)),
        [*reversed("ab")],
        sorted({2: 0, 1: 0}),
    )


@program("I12")
def iter_and_next(x):
    it = iter([1, 2])
    a, b, c = next(it), next(it), next(it, "default")
    return x + a + b, c, iter(it) is it


@program("I12 I5")
def next_of_an_empty_iterator(x):
    it = iter(())
    try:
        next(it)
    except StopIteration as error:
        return x + 1, error.args


@program("I12")
def iter_with_sentinel(x):
    values = [3, 2, 1, 0, 5]
    return x + 1, list(iter(lambda: values.pop(0), 0)), values


@program("I12")
def type_conversions(x):
    return (
        x + int("12"),
        int(2.9),
        int(-2.9),
        float("1.5"),
        bool("a"),
        str(12),
        complex(1, 2),
        int("ff", 16),
        bool(None),
    )


@program("I12")
def container_conversions(x):
    return (
        x + 1,
        list("ab"),
        tuple([1]),
        set([1, 1]),
        dict([("a", 1)]),
        frozenset("a"),
        bytes(2),
        list(range(3)),
        tuple(),
    )


@program("I12")
def isinstance_and_issubclass(x):
    return (
        x + 1,
        isinstance(x, torch.Tensor),
        isinstance(1, (str, int)),
        isinstance(True, int),
        isinstance(x, int | float),
        issubclass(bool, int),
        issubclass(torch.nn.Linear, torch.nn.Module),
        isinstance([], list),
        isinstance(None, type(None)),
    )


@program("I12")
def type_of_values(x):
    return x + 1, type(1), type(x) is torch.Tensor, type([]) is list, type(type(1)), type("a").__name__, type(None)


@program("I12")
def hasattr_getattr_setattr_delattr(x):
    class Box:
        pass

    box = Box()
    setattr(box, "a", x + 1)
    has = hasattr(box, "a"), hasattr(box, "b"), hasattr(x, "shape"), hasattr(x, "nothing")
    value = getattr(box, "a"), getattr(box, "z", "default")
    delattr(box, "a")
    return value, has, hasattr(box, "a")


@program("I12")
def callable_id_hash(x):
    return (
        x + 1,
        callable(len),
        callable(1),
        callable(lambda: 0),
        id(x) == id(x),
        hash("a") == hash("a"),
        hash(1) == hash(1.0),
    )


@program("I12")
def len_of_everything(x):
    return x + len([1]), len("abc"), len({}), len(x), len(x.shape), len(range(0, 10, 3)), len((1,)), len({1})


@program("I12 I5", differs="torch_differs", why="another message")
def len_of_an_int_raises(x):
    try:
        len(5)
    except TypeError as error:
        return x + 1, str(error)


@program("I12", differs="fewer_breaks", why="torch does not know pow of a tensor and a number")
def abs_round_pow(x):
    return abs(x), abs(-3), abs(3 + 4j), round(2.5), round(3.5), round(1.25, 1), pow(2, 3), pow(x, 2), divmod(7, 2)


@program("I12", differs="torch_differs", why="format() ignores its second argument")
def number_texts(x):
    return x + 1, bin(6), hex(255), oct(8), chr(97), ord("a"), format(3.14159, ".2f"), format(10, "x"), repr([1])


@program("I12 I14")
def print_in_every_form(x):
    y = x + 1
    print()
    print(1, "a", None, sep="-", end="!\n")
    print(*[1, 2])
    return y * 2


@program("I12")
def slices_built(x):
    return x[slice(0, 1)] + 1, slice(1, 2, 3), slice(None).indices(5)


@program("I12", differs="torch_differs", why="__dict__ is not the same object twice")
def vars_and_dir(x):
    class Box:
        def __init__(self):
            self.a = 1
            self.b = 2

    box = Box()
    return x + box.a, vars(box), sorted(vars(box)), "a" in dir(box), box.__dict__


@program("I12 I13")
def globals_and_locals(x):
    y = 2
    names = sorted(locals())
    return x + y, names, "program" in globals()


@program("I12")
def object_and_super_object(x):
    a, b = object(), object()
    return x + 1, a is b, a == a, a != b, isinstance(a, object)


@program("I12")
def property_builtin_called_directly(x):
    class Box:
        def _get(self):
            return 5

        value = property(_get)

    return x + Box().value


@program("I12", lambda: [(t(2), 3), (t(2), "3"), (t(2), 3.0)])
def dispatch_on_type(x, value):
    if isinstance(value, str):
        return x + int(value)
    if type(value) is int:
        return x * value
    return x - value


@program("I12")
def unpacked_calls_of_builtins(x):
    a = [3, 1, 2]
    return x + max(*a), sorted(*[a], **{"reverse": True}), dict(**{"k": 1}), list(*[(1, 2)]), [*zip(*[a, a])]


@program("I12")
def builtins_as_values(x):
    for f in (abs, float, lambda v: v):
        x = f(x) if f is not float else x
    table = {"min": min, "max": max}
    return x, table["max"](1, 2), [f([1, 2]) for f in (sum, len, tuple)]


@program("I12 I5")
def conversions_that_fail(x):
    messages = []
    for convert, value in ((int, "a"), (float, "b"), (int, None), (int, [])):
        try:
            convert(value)
        except (ValueError, TypeError) as error:
            messages.append(str(error))
    return x + 1, messages


@program("I12 I5", differs="fewer_breaks", why="torch does not raise the TypeError of the call itself")
def calling_what_is_not_callable(x):
    five = 5
    try:
        five(x)
    except TypeError as error:
        return x + 1, str(error)


@program("I12 I5")
def subscript_of_what_has_none(x):
    five = 5
    try:
        five[0]
    except TypeError as error:
        return x + 1, str(error)


@program("I12 I5")
def iterating_what_cannot_be(x):
    try:
        for _ in 5:
            pass
    except TypeError as error:
        return x + 1, str(error)


@program("I12 I15", differs="stricter", why="it is left to Python on purpose: no torch program does it")
def exec_and_eval(x):
    y = x + 1
    n = eval("1 + 2")
    return y * n


@program("I12")
def int_of_tensor_size(x):
    return x + int(x.shape[0]), float(x.shape[1]), bool(x.shape[0]), str(x.shape[0])


@program("I12 I4")
def int_and_float_of_a_tensor(x):
    y = x + 1
    return int(y[0, 0]) + float(y[0, 1]), bool(y[0, 2] > 0), y * 2


@program("I12")
def sum_of_generator_of_tensors(x):
    return sum(x * i for i in range(1, 4)), max(v.dim() for v in (x, x[0]))


@program("I12 I15", differs="fewer_breaks", why="torch cannot rebuild an id that is alive at the break")
def input_is_not_touched_by_id(x):
    a = id(x)
    y = x + 1
    return y, a == id(x), id(y) != a


@program("I12")
def memoryview_and_bytes(x):
    b = bytearray(b"abc")
    b[0] = 120
    b.append(100)
    return x + len(b), bytes(b), b.upper(), b"a,b".split(b",")
