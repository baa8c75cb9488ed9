"""`copy`, `inspect`, `re`, `logging`, `contextlib`, `enum`, `dataclasses`, `typing`, and others."""

import contextlib
import copy
import dataclasses
import enum
import inspect
import logging
import re
import string
import types
import typing
import warnings

from tests.conformance.program import program, t


@program("I12")
def copy_and_deepcopy(x):
    a = [[1, 2], {"k": [3]}]
    b, c = copy.copy(a), copy.deepcopy(a)
    a[0].append(9)
    return x + 1, a, b, c, b[0] is a[0], c[0] is a[0]


@program("I12")
def copy_of_an_object(x):
    box = types.SimpleNamespace(v=[1])
    other = copy.copy(box)
    other.w = x + 1
    return other.v is box.v, other.w, hasattr(box, "w")


def signed(a, b=2, *args, c, d=4, **kwargs):
    return a


@program("I12")
def signature(x):
    s = inspect.signature(signed)
    return x + len(s.parameters), list(s.parameters), s.parameters["b"].default


@program("I12")
def inspect_questions(x):
    return x + 1, inspect.isfunction(signed), inspect.isclass(Mode), inspect.ismethod(signed)


@program("I12")
def regular_expressions_on_constants(x):
    m = re.match(r"layer(\d+)", "layer12")
    return x + int(m.group(1)), re.sub("a", "b", "banana"), re.findall(r"\d", "a1b2"), bool(re.search("z", "abc"))


@program("I12 I14")
def logging_a_warning(x):
    y = x + 1
    logging.warning("value %d", 3)
    return y * 2


LOGGER = logging.getLogger("conformance")


@program("I12 I14", differs="fewer_breaks", why="a logger that is not enabled does nothing")
def logger_below_its_level(x):
    y = x + 1
    LOGGER.debug("nobody sees this %s", y.shape)
    return y * 2


@program("I12 I14")
def warnings_warn(x):
    y = x + 1
    warnings.warn("careful", UserWarning)
    return y * 2


@program("I12")
def suppress(x):
    with contextlib.suppress(KeyError):
        {}["missing"]
        x = x * 100
    return x + 1


@program("I12")
def null_context_and_exit_stack(x):
    with contextlib.nullcontext(3) as n:
        x = x + n
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, "first registered")
        stack.callback(lambda: log.append("second"))
        x = x * 2
    return x, log


@program("I12")
def enum_members(x):
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    return x + Color.RED.value, Color.BLUE.name, Color(1) is Color.RED, list(Color)[1].name


class Mode(enum.IntEnum):
    A = 1
    B = 5


class Flags(enum.Flag):
    R = 1
    W = 2


@program("I12 I10", lambda: [(t(2), Mode.A), (t(2), Mode.B), (t(2), Mode.A)])
def enum_as_argument(x, mode):
    if mode is Mode.A:
        return x + mode.value
    return x * mode, mode == 5, mode > Mode.A


@program("I12 I10")
def enum_flags(x):
    both = Flags.R | Flags.W
    return x + both.value, Flags.R in both, both & Flags.W == Flags.W, Mode["B"], Mode.A < Mode.B


@program("I12 I10")
def dataclass_functions(x):
    @dataclasses.dataclass
    class Local:
        a: int = 1

    d = Local()
    return x + d.a, dataclasses.is_dataclass(d), [f.name for f in dataclasses.fields(d)]


@program("I12")
def typing_at_run_time(x):
    y = typing.cast(int, 3)
    z: typing.Optional[int] = 4
    return x + y + z, typing.TYPE_CHECKING


@program("I12", differs="fewer_breaks", why="torch cannot rebuild a value that is alive at the break")
def string_constants(x):
    return x + len(string.ascii_lowercase), string.digits, string.Template("$a!").substitute(a=1)


@program("I12")
def bisect_and_heapq(x):
    import bisect
    import heapq

    a = [1, 3, 5]
    bisect.insort(a, 4)
    h = [5, 1, 4]
    heapq.heapify(h)
    heapq.heappush(h, 0)
    return x + bisect.bisect_left(a, 3), a, heapq.heappop(h), heapq.nlargest(2, [1, 9, 3])


@program("I12", differs="stricter", why="the frame can see when objects go")
def weak_references(x):
    import weakref

    class Box:
        pass

    box = Box()
    ref = weakref.ref(box)
    return x + 1, ref() is box


@program("I12 I14")
def time_is_not_traced(x):
    import time

    y = x + 1
    started = time.perf_counter()
    return y * 2, started > 0
