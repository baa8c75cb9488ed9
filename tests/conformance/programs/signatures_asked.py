"""What `inspect.signature` and `inspect.getfullargspec` say of functions, as logging helpers ask it at each step."""

import functools
import inspect

import torch

from tests.conformance.program import program, t


def plain(a, b=2, /, c=3, *args, d: int, e=None, **rest) -> float:
    return a


@functools.wraps(plain)
def wrapped(*args, **kwargs):
    return plain(*args, **kwargs)


def told(x):
    return x


told.__signature__ = inspect.signature(plain)


class Logger:
    def log(self, name, value, *, every: int = 1):
        given = inspect.getfullargspec(self.log).args
        return {key: found for key, found in locals_of(name=name, value=value).items() if key in given}

    @classmethod
    def of(cls, kind="mean"):
        return cls()

    @staticmethod
    def write(line="", *lines):
        return line


def locals_of(**named):
    return named


@program("I14")
def the_full_spec_of_a_function(x):
    return x + 1, inspect.getfullargspec(plain)


@program("I14")
def the_parts_of_the_spec(x):
    spec = inspect.getfullargspec(plain)
    y = x * spec.defaults[0]
    return y + len(spec.args), spec.varargs, spec.varkw, spec.kwonlyargs, spec.kwonlydefaults, spec.annotations


@program("I14")
def what_is_wrapped_is_not_followed(x):
    return x + 1, inspect.getfullargspec(wrapped), list(inspect.signature(wrapped).parameters)


@program("I14")
def a_signature_that_is_told(x):
    return x + 1, inspect.getfullargspec(told), str(inspect.signature(told))


@program("I14", lambda: [(t(2), Logger()), (t(2), Logger())])
def methods_show_their_first_parameter(x, logger):
    specs = [inspect.getfullargspec(each).args for each in (logger.log, Logger.log, logger.of, Logger.write)]
    return x * 2, specs, logger.log("loss", 1)


@program("I14", differs="fewer_breaks", why="torch.compile knows no signature of functions made in the trace")
def functions_that_the_trace_made(x):
    def inner(a, b=(1, "two"), *, c: "int" = 3, **more) -> "str":
        return a

    second = lambda *, q=1: q  # noqa: E731
    return x + 1, inspect.getfullargspec(inner), inspect.getfullargspec(second), str(inspect.signature(inner))


@program(
    "I14",
    lambda: [(t(2), 1), (t(2), 2), (t(2), 1)],
    differs="fewer_breaks",
    why="torch.compile knows no signature of functions made in the trace",
)
def a_function_that_is_written_to(x, default):
    def inner(a, b=1):
        return a

    inner.__defaults__ = (default,)
    return x + 1, inspect.getfullargspec(inner).defaults


@program("I14", lambda: [(t(2), plain), (t(2), Logger.write)])
def which_function_is_guarded(x, function):
    return x + len(inspect.getfullargspec(function).args)


@program("I14", differs="stricter", why="the graph ends at what inspect refuses, and Python raises")
def what_is_no_function_has_none(x):
    y = x + 1
    try:
        inspect.getfullargspec(3)
    except TypeError as error:
        return y * 2, str(error), type(error.__cause__)
    return y


@program("I14", lambda: [(t(2), torch.nn.Linear(2, 2))])
def the_forward_of_a_module(x, model):
    names = inspect.getfullargspec(model.forward).args
    return model(x).sum(), names
