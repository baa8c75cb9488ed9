"""Programs that generated ones were shrunk to, when they did not do as plain Python does."""

import torch

from tests.conformance.program import program, t


@program(
    "I5", lambda: [t(3), t(3)], differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python"
)
def exception_not_matched_by_its_handler_leaves(x):
    y = x + 1
    try:
        raise ValueError("a")
    except KeyError:
        y = x
    return y


@program(
    "I5 I7",
    lambda: [t(3), t(3)],
    differs="fewer_breaks",
    why="torch leaves a frame that ends in an exception to Python",
)
def exception_from_an_inlined_handler_leaves(x):
    def f(v):
        try:
            del {}["value"]
        except ValueError:
            v = v + 1
        return v

    return f(x + 1)


@program(
    "I5 I14", lambda: [t(3)], differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python"
)
def exception_after_a_value_was_read(x):
    log = []
    try:
        log.append(int(x[0].item()))
        log.append([x + 1][2])
    except ValueError:
        pass
    return log


@program("I8", differs="torch_differs", why="a dropped generator is not closed")
def dropped_generator_runs_its_finally(x):
    log = []

    def g():
        try:
            yield 1
        finally:
            log.append("ends")

    log.append(next(g(), None))
    log.append(2)
    return x + 1, log


@program("I8 I6", differs="torch_differs", why="a dropped generator is not closed")
def dropped_generator_leaves_its_with_block(x):
    log = []

    class Noting:
        def __enter__(self):
            log.append("enter")

        def __exit__(self, *_):
            log.append("exit")

    def g():
        with Noting():
            yield 1
            yield 2

    for v in g():
        log.append(v)
        break
    return x + 1, log


@program("I7 O7", lambda: [(t(3), t(3, start=4)), (t(3), t(3, start=4))])
def argument_in_a_cell_is_rebound(x, y):
    before = x
    fs = [lambda v: v * i for i in range(2)]
    out = [f(x) for f in fs]
    x = y
    return out, before, x


@program("I7 O7 I14", lambda: [(t(3), t(3, start=4))])
def cell_is_deleted_after_a_break(x, y):
    held = x
    print("break")
    out = [held + i for i in range(2)]
    f = lambda: held
    out.append(f())
    del held
    return out


@program("I7 O7", lambda: [(t(3), [1, 2])])
def list_argument_in_a_cell_is_rebound(x, items):
    def read():
        return items

    before = read()
    items = [5]
    before.append(3)
    return x + 1, before, read()


@program(
    "I11 G1",
    lambda: [(t(3), 2), (t(3), 3), (t(3), 4)],
    differs="torch_differs",
    why="format() ignores its second argument",
)
def percent_format_of_an_int_that_varies(x, n):
    return x + n, "%d" % n, "%s and %5.1f" % (n, n), "%x" % (n,), "{:3d}".format(n), format(n, "b"), str(n), repr(n)


@program("I7 O6", lambda: [(t(3), 2)])
def cell_is_deleted_after_a_comprehension(x, n):
    def f(v, depth):
        return v if depth == 0 else f(v + n, depth - 1)

    y = f(x, 2)
    z = [y for _ in range(n)]
    del y
    return z


@program(
    "I7 I14 O6",
    lambda: [(t(3), 2, [1]), (t(3), 3, [1])],
    differs="fewer_breaks",
    why="torch leaves the frame to Python and captures nothing",
)
def cell_made_after_a_break_is_deleted(x, n, items):
    print(n)
    y = x + n
    z = [y for _ in range(n)]
    items.append(n)
    del y
    return z


@program("I2 I11", lambda: [(t(3), 2), (t(3), 3), (t(3), 1)])
def numbers_of_a_comparison_that_varies(x, n):
    above = n > 2
    return x + n, int(above), [int(above), above]


@program(
    "I2",
    lambda: [(t(3), 2), (t(3), 3), (t(3), 1)],
    differs="torch_differs",
    why="it cannot negate a symbolic bool and raises",
)
def a_comparison_that_varies_is_negated(x, n):
    return x + n, -(n > 2), ~(n > 2), +(n > 2)


@program(
    "B5", lambda: [t(3), t(3)], differs="torch_differs", why="a fake tensor is not quantized, and says so when asked"
)
def quantized_and_back(x):
    q = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
    return q.dequantize() * 2, q.dtype, q.is_quantized, q.int_repr()


@program("I12 O5", lambda: [(t(2), bytearray(b"hello"))], differs="torch_differs", why="torch holds the views")
def view_of_memory_dropped_before_it_grows(x, data):
    part = bytes(memoryview(data)[1:3])
    data.append(2)
    view = memoryview(data)
    try:
        data.append(3)
    except BufferError as error:
        print(error)
    del view
    data.append(4)
    return x + 1, part
