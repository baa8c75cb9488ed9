"""A graph break (`p` prints) inside `with` and `try` blocks, and inside the special methods of an object."""

import time

from tests.conformance.program import program


def p(value, *more):
    print("p", value if not hasattr(value, "shape") else tuple(value.shape), *more)
    return value


@program(
    "O6 I14 I6", differs="fewer_breaks", why="torch leaves a frame that breaks in a manager of the user to Python"
)
def in_enter_and_exit(x):
    class Manager:
        def __enter__(self):
            return p(x + 1)

        def __exit__(self, *_):
            p("exit")

    with Manager() as y:
        z = y * 2
    return z


@program("O6 I14 I6")
def in_with_that_returns(x):
    import torch

    def f(v):
        with torch.no_grad():
            return p(v + 1)

    return f(x) * 2


@program("O6 I14 I6 I3", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def in_with_in_a_loop_left_by_break(x):
    import torch

    for i in range(3):
        with torch.no_grad():
            x = x + p(i)
            if i == 1:
                break
    return x


@program("O6 I14 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def in_try_body_handler_else_and_finally(x):
    log = []
    for error in (None, KeyError):
        try:
            log.append(p("body"))
            if error:
                raise error("k")
        except KeyError as caught:
            log.append(p(caught.args))
        else:
            log.append(p("else"))
        finally:
            log.append(p("finally"))
        x = x + 1
    return x, log


@program("O6 I14 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def in_a_finally_that_an_exception_passes(x):
    y = x + 1
    try:
        try:
            raise ValueError("v")
        finally:
            y = p(y * 2)
    except ValueError as error:
        return y, str(error)


@program("O6 I14 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def in_a_nested_handler(x):
    try:
        try:
            raise ValueError("a")
        except ValueError:
            p("first")
            raise KeyError("b")
    except KeyError as error:
        p("second")
        return x + 1, repr(error), repr(error.__context__)


@program("O6 I14 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def in_a_handler_that_reraises(x):
    try:
        try:
            raise ValueError("a")
        except ValueError:
            p("again")
            raise
    except ValueError as error:
        return x + 1, str(error), error.__context__


@program("O6 I14 I5")
def in_the_raised_expression(x):
    y = x + 1
    raise p(ValueError)(p("text"))


@program("O6 I14 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def in_the_matched_exception_type(x):
    y = x + 1
    try:
        raise KeyError("k")
    except p(KeyError):
        return y * 2


class Noisy:
    def __init__(self, v):
        self.v = p(v)

    def __add__(self, other):
        return Noisy(self.v + p(other.v))

    def __eq__(self, other):
        return p(self.v == other.v)

    def __bool__(self):
        return p(True)

    def __len__(self):
        return p(2)

    def __getitem__(self, key):
        return p(self.v + key)

    def __setitem__(self, key, value):
        self.v = p(value)

    def __iter__(self):
        return iter(p([1, 2]))

    def __call__(self, value):
        return p(value) + self.v

    def __contains__(self, value):
        return p(value == self.v)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return p(len(name))

    @property
    def double(self):
        return p(self.v * 2)

    @double.setter
    def double(self, value):
        self.v = p(value)

    @classmethod
    def make(cls):
        return cls(p(5))

    @staticmethod
    def static(v):
        return p(v)


@program(
    "O6 I14 I10", differs="fewer_breaks", why="torch leaves a frame that breaks inside a special method to Python"
)
def in_special_methods(x):
    a, b = Noisy(1), Noisy.make()
    c = a + b
    c[0] = 4
    return x + c.v, a == b, bool(a), len(b), a[1], list(a), a(x), 1 in a


@program(
    "O6 I14 I10", differs="fewer_breaks", why="torch leaves a frame that breaks inside a special method to Python"
)
def in_attribute_hooks(x):
    a = Noisy(2)
    y = x + a.double
    a.double = 7
    return y + a.missing, a.v, Noisy.static(x + 1)


@program(
    "O6 I14 I10 I3", differs="fewer_breaks", why="torch leaves a frame that breaks inside a special method to Python"
)
def in_truth_and_loops_of_an_object(x):
    a = Noisy(2)
    if a:
        x = x + 1
    for v in a:
        x = x + v
    first, second = a
    return x, first, second, not a


@program("O6 I5", differs="fewer_breaks", why="torch leaves a loop that breaks in a try block to Python")
def exception_of_a_break_handled_in_a_loop(x):
    answers = []
    for seconds in ("no", 0):
        try:
            answers.append(time.sleep(seconds))
        except TypeError as error:
            answers.append(str(error))
    return x * 2, answers
