"""`bytearray`, `array.array` and `memoryview` given, read, changed and handed on."""

import array

import numpy as np
import torch

from tests.conformance.program import program, t

LEFT = "torch.compile leaves what it asks of these to Python"

VIEWS = {"differs": "stricter", "why": "what is viewed may be resized after the view: the frame is left to Python"}


@program(
    "I11",
    lambda: [(t(2), bytearray(b"abc")), (t(2), bytearray(b"abc")), (t(2), bytearray(b"xyz9"))],
    differs="fewer_breaks",
    why=LEFT,
)
def bytearray_read(x, b):
    found = [b[0], b[-1], b[1:3], len(b), 99 in b, b"bc" in b, list(b), bytes(b), b.hex(), b.find(b"c"), sum(b)]
    found += [b.upper(), b.split(b"b"), b.partition(b"b"), b == b"abc", b < b"b", b + b"!", b"<" + b, b * 2, bool(b)]
    found += [b.decode(), b.startswith(b"a"), [n for n in b], max(b), sorted(b), b.isalpha(), repr(b), b.count(b"a")]
    return x + b[0] * len(b), found


@program(
    "I11 O7",
    lambda: [(t(2), bytearray(b"abc")), (t(2), bytearray(b"abc"))],
    differs="fewer_breaks",
    why=LEFT,
)
def bytearray_written(x, b):
    y = x * 2
    b.append(100)
    b.extend(b"ef")
    b[0] = 65
    b[1:3] = b"XYZ"
    del b[-1]
    b += b"!"
    b.reverse()
    return y + b[0], b.pop(), b


@program("I11 O7 I14", lambda: [(t(2), bytearray(b"abc"))])
def bytearray_written_around_a_break(x, b):
    y = x * 2
    b.append(100)
    print(b)
    b[0] = 1
    made = bytearray(b"new")
    made.append(33)
    print(made)
    made.clear()
    return y + b[0], made, b


@program("I11 O7 I5", lambda: [(t(2), bytearray(b"abc"))])
def bytearray_written_before_an_exception(x, b):
    y = x + 1
    b.append(1)
    said = []
    for act in (lambda: b.append(256), lambda: b.append("a"), lambda: b.pop(90), lambda: b[70], lambda: {b: 1}):
        try:
            act()
        except Exception as error:
            said.append((type(error).__name__, str(error)))
    try:
        b.extend([5, 6, 999])
    except ValueError as error:
        said.append(str(error))
    b.append(2)
    return y, b, said


@program("I11 O7", lambda: [(t(2), bytearray(b"ab"), bytearray(b"ab"))])
def two_that_are_alike(x, b, c):
    b.append(1)
    kept = [b, c, b]
    return x + len(b), kept[0] is kept[2], b is c, b == c, kept


@program("I11 O7", lambda: [(lambda b: (t(2), b, b))(bytearray(b"ab"))])
def one_in_two_places(x, b, c):
    b.append(1)
    c.append(2)
    return x + len(b), b is c, c


@program(
    "I11 I3",
    lambda: [(t(2), bytearray(b"abc"))],
    differs="fewer_breaks",
    why=LEFT,
)
def bytearray_changed_while_gone_over(x, b):
    seen = []
    for n in b:
        seen.append(n)
        if len(b) < 6:
            b.append(n + 1)
    return x + len(seen), seen, b


@program("I11", lambda: [(t(2), bytearray(b"abc"), t(2)), (t(2), bytearray(b"abc"), t(2))])
def bytearray_of_unknown_numbers(x, b, y):
    b[0] = int(y.sum().abs()) % 200
    return x + 1, b


@program(
    "I11",
    lambda: [(t(2), array.array("i", [3, 1, 2])), (t(2), array.array("i", [3, 1, 2]))],
    differs="fewer_breaks",
    why=LEFT,
)
def array_read(x, a):
    found = [a[0], a[-1], a[1:], len(a), 2 in a, list(a), a.tolist(), a.typecode, a.itemsize, a.index(1), sum(a)]
    found += [a.count(3), a + a, a * 2, a == array.array("i", [3, 1, 2]), a.tobytes(), max(a), bool(a), repr(a)]
    return x * a[0] + len(a), found


@program(
    "I11 O7",
    lambda: [(t(2), array.array("d", [0.5, 1.5])), (t(2), array.array("d", [0.5, 1.5]))],
    differs="fewer_breaks",
    why=LEFT,
)
def array_written(x, a):
    y = x + 1
    a.append(2.5)
    a[0] = 9
    a.extend([1, 2])
    a.insert(1, 7.0)
    a.remove(1.5)
    del a[-1]
    a.reverse()
    a.byteswap()
    a.byteswap()
    made = array.array("i", range(3))
    made.append(4)
    return y * a[0], a.pop(), a, made, made.tolist()


@program(
    "I11",
    lambda: [(t(2), array.array("i", [1])), (t(2), array.array("l", [1])), (t(2), array.array("i", [1, 2]))],
    differs="stricter",
    why="all that one holds is compared",
)
def arrays_of_other_kinds(x, a):
    return x + a[0], a.typecode, len(a)


@program(
    "I11",
    lambda: [(t(2), memoryview(b"abcdef")), (t(2), memoryview(b"abcdef")), (t(2), memoryview(b"xb"))],
    differs="fewer_breaks",
    why=LEFT,
)
def memoryview_read(x, m):
    part = m[1:4]
    found = [m[0], m[-1], len(m), bytes(part), part.tolist(), m.nbytes, m.format, m.shape, m.readonly, 98 in m]
    found += [m == b"abcdef", list(m), part.hex(), m.itemsize, m.ndim, m.strides, m.contiguous]
    return x + m[0], found


@program("I11 O7", lambda: [(t(2), bytearray(b"abcdef"))], **VIEWS)
def memoryview_of_an_argument(x, b):
    m = memoryview(b)
    y = x + m[1]
    m[0] = 122
    m[1:3] = b"yx"
    part = m[3:]
    m.release()
    part.release()
    b.append(2)
    return y, b


@program("I11", lambda: [(t(2), bytearray(b"abc"))], **VIEWS)
def memoryview_leaves(x, b):
    m = memoryview(b)[1:]
    return x + m[0], m, b


@program("I11 O7", lambda: [(t(2), {"b": bytearray(b"ab"), "a": array.array("b", [1])})])
def kept_in_containers(x, d):
    d["b"].append(3)
    d["c"] = d["b"]
    d["n"] = bytearray(d["b"])
    d["a"].append(2)
    return x + len(d["b"]), d["c"] is d["b"], d


@program("I11", lambda: [(torch.ones(2), bytearray(range(16)))])
def tensor_of_a_buffer(x, b):
    return x + torch.frombuffer(b, dtype=torch.uint8)[:2]


@program("I11 B5", lambda: [(lambda b: (torch.frombuffer(b, dtype=torch.uint8), b))(bytearray(b"abc"))])
def buffer_under_a_tensor(x, b):
    b[0] = 1
    y = x + 1
    x[1] = 7
    return y, b[1], b


@program("I11 B6", lambda: [(lambda a: (np.frombuffer(a, dtype=np.int32), a))(array.array("i", [1, 2, 3]))])
def array_under_an_array(x, a):
    a[0] = 10
    y = x * 2
    x[1] = 7
    return y, a[1], a
