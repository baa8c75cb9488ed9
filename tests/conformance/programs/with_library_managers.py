"""Context managers of Python's library, around torch calls; traced, or left as plain Python leaves them."""

import contextlib
import decimal
import io
import tempfile
import threading
import warnings

from tests.conformance.program import program, t


@program("I6 I12")
def warnings_caught_and_counted(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = x * 2
        warnings.warn("careful", stacklevel=1)
        z = y + 1
    return z, [str(w.message) for w in caught]


@program("I6 I12", differs="fewer_breaks", why="torch leaves the frame to Python")
def warnings_ignored_around_tensors(x):
    before = len(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x * 2
        z = y.sin()
    return z + 1, len(warnings.filters) == before


@program("I6 I12", differs="fewer_breaks", why="torch leaves the frame to Python")
def warnings_filtered_with_a_break(x):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        y = x * 2
        print("inside")
        z = y.sin()
    return z + 1


@program("I6 I12 I5")
def warnings_as_errors(x):
    y = x + 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            y = y * 2
            warnings.warn("careful", stacklevel=1)
    except UserWarning as error:
        return y + 1, str(error)


@program("I6 I12", differs="fewer_breaks", why="torch leaves the frame to Python")
def output_redirected_around_tensors(x):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        y = x * 2
        print("caught")
        z = y + 1
    print("not caught")
    return z * 3, text.getvalue()


@program("I6 I12", differs="fewer_breaks", why="torch leaves the frame to Python")
def errors_redirected(x):
    import sys

    text = io.StringIO()
    with contextlib.redirect_stderr(text):
        y = x * 2
        print("caught", file=sys.stderr)
    return y * 3, text.getvalue()


LOCK = threading.Lock()
RLOCK = threading.RLock()


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def global_lock(x):
    with LOCK:
        y = x * 2
    return y + 1, LOCK.locked()


@program("I6 I14", differs="fewer_breaks", why="torch leaves the frame to Python")
def global_lock_with_a_break(x):
    y = x + 1
    with LOCK:
        y = y * 2
        print(LOCK.locked())
        y = y + 1
    return y * 3, LOCK.locked()


@program("I6 I5", differs="fewer_breaks", why="torch leaves the frame to Python")
def lock_released_by_an_exception(x):
    try:
        with LOCK:
            y = x * 2
            raise KeyError("k")
    except KeyError:
        pass
    return y + 1, LOCK.locked()


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def reentrant_lock(x):
    with RLOCK:
        y = x + 1
        with RLOCK:
            y = y * 2
    return y + 1


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def lock_made_in_the_function(x):
    lock = threading.Lock()
    with lock:
        y = x * 2
    return y + 1, lock.locked()


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def lock_of_an_object(x):
    class Counter:
        def __init__(self):
            self.lock = threading.Lock()
            self.n = 0

        def add(self, v):
            with self.lock:
                self.n += 1
                return v + self.n

    c = Counter()
    return c.add(c.add(x)), c.n


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def condition_and_semaphore(x):
    condition, semaphore = threading.Condition(), threading.Semaphore(2)
    with condition:
        y = x + 1
    with semaphore:
        y = y * 2
    return y - 1


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def decimal_local_context(x):
    with decimal.localcontext() as context:
        context.prec = 5
        third = decimal.Decimal(1) / 3
        y = x * 2
    return y + 1, str(third), str(decimal.Decimal(1) / 7)


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def temporary_file(x):
    y = x * 2
    with tempfile.TemporaryFile() as file:
        file.write(b"abc")
        y = y + file.tell()
    return y * 2, file.closed


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def temporary_directory(x):
    import os

    y = x * 2
    with tempfile.TemporaryDirectory() as folder:
        there = os.path.isdir(folder)
        y = y + 1
    return y * 2, there, os.path.exists(folder)


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def opened_file(x):
    y = x * 2
    with open(__file__) as file:
        line = file.readline()
        y = y + len(line)
    return y * 2, file.closed


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def string_file(x):
    y = x * 2
    with io.StringIO("abc") as file:
        y = y + len(file.read())
    return y * 2, file.closed


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def closing_a_thing(x):
    class Thing:
        closed = False

        def close(self):
            self.closed = True

    thing = Thing()
    with contextlib.closing(thing) as same:
        y = x + 1
        print(thing.closed)
        z = y * 2
    return z, same is thing, thing.closed


@program("I6 I5")
def exit_stack_that_suppresses(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, 1)
        stack.enter_context(contextlib.suppress(KeyError))
        y = x + 1
        raise KeyError("k")
    return y * 2, log


@program("I6 I14 I5", differs="fewer_breaks", why="torch leaves the frame to Python")
def exit_stack_with_a_break_and_an_exception(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, 1)
        stack.enter_context(contextlib.suppress(KeyError))
        y = x + 1
        print("inside", log)
        y = y * 3
        raise KeyError("k")
    return y * 2, log


@program("I6")
def exit_stack_popped(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, "a")
        kept = stack.pop_all()
        y = x + 1
    log.append("outside")
    kept.close()
    return y * 2, log


@program("I6 I14", differs="torch_differs", why="it fails after the break")
def null_context_with_a_tensor_and_a_break(x):
    with contextlib.nullcontext(x + 1) as y:
        print("inside")
        z = y * 2
    return z - 1


class Timed(contextlib.ContextDecorator):
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *exc):
        self.log.append(exc[0])
        return False


@program("I6 F3 I14", lambda: [(t(2, 3), [])])
def context_decorator_with_a_break(x, log):
    @Timed(log)
    def f(v):
        v = v + 1
        print("inside", log)
        return v * 2

    return f(x) + 1


@contextlib.contextmanager
def local_settings(box, value):
    before = box[0]
    box[0] = value
    try:
        yield before
    finally:
        box[0] = before


@program("I6 I8 I14", lambda: [(t(2, 3), [1])], differs="fewer_breaks", why="torch leaves the frame to Python")
def generator_manager_changes_an_argument_around_a_break(x, box):
    y = x + box[0]
    with local_settings(box, 5) as before:
        y = y * box[0]
        print("inside", before)
        y = y - box[0]
    return y + box[0]


@program(
    "I6 I8 F3 I14",
    lambda: [(t(2, 3), [1])],
    differs="fewer_breaks",
    why="torch leaves the function under the manager to Python",
)
def generator_manager_as_decorator_around_a_break(x, box):
    @local_settings(box, 7)
    def f(v):
        v = v + box[0]
        print("inside")
        return v * box[0]

    return f(x) + box[0]


class Swallow:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.seen = (kind, value, trace is not None)
        return kind is not None and issubclass(kind, self.kinds)


@program("I6 I5")
def swallowing_by_kind(x):
    s = Swallow(KeyError, ValueError)
    with s:
        x = x + 1
        raise ValueError("v")
    return x * 2, s.seen[0].__name__, str(s.seen[1]), s.seen[2]


@program("I6 I5 I14", differs="fewer_breaks", why="torch leaves the frame to Python")
def swallowing_by_kind_after_a_break(x):
    s = Swallow(KeyError, ValueError)
    with s:
        x = x + 1
        print("inside")
        x = x * 3
        raise ValueError("v")
    return x * 2, s.seen[0].__name__, str(s.seen[1]), s.seen[2]


@program("I6 I5 I14", differs="fewer_breaks", why="torch leaves the frame to Python")
def swallowing_what_the_break_raises(x):
    def loud():
        print("raising")
        raise KeyError("k")

    s = Swallow(KeyError)
    with s:
        x = x + 1
        loud()
        x = x * 100
    return x * 2, s.seen[0].__name__, str(s.seen[1]), s.seen[2]


@program("I6 I5 I14", differs="fewer_breaks", why="torch leaves the frame to Python")
def not_swallowing_another_kind(x):
    s = Swallow(KeyError)
    try:
        with s:
            x = x + 1
            print("inside")
            x = x * 3
            raise ValueError("v")
    except ValueError as error:
        return x * 2, str(error), s.seen[0].__name__
