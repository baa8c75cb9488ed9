"""Truth values and floats that hang on sizes, where Python reckons with them as with whole numbers or refuses to."""

import operator

from tests.conformance.program import program, t

TYPES = {
    "compile": {"dynamic": True},
    "differs": "torch_differs",
    "why": "torch changes the types of what sizes are compared with",
}


def _results(value, others, functions):
    got = []
    for function in functions:
        for args in ((value, other) for other in others):
            try:
                got.append(function(*args))
            except (TypeError, ValueError) as error:
                got.append(str(error))
    return got


_COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)
_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.and_, operator.or_, operator.xor)


@program("I2 B8", lambda: [t(3), t(5)], **TYPES)
def sizes_compared_with_truths(x):
    n = x.shape[0]
    return x + 1, [n < True, n == True, n >= False, True == n, True <= n, n in (True, False), n != (n > 2)]  # noqa: E712


@program("I2 B8", lambda: [t(3), t(5)], **TYPES)
def truths_of_sizes_compared(x):
    big = x.shape[0] > 4
    return x + 1, _results(big, (True, False, 1, 0, 2.5, big, x.shape[0], "s", None), _COMPARISONS)


@program("I2 B8", lambda: [t(3), t(5)], **TYPES)
def truths_of_sizes_reckoned_with(x):
    big = x.shape[0] > 4
    return x + 1, _results(big, (True, False, 1, 3, big, x.shape[0] == 3, "s", None), _ARITHMETIC)


@program("I2 B8", lambda: [t(3), t(5)], **TYPES)
def sizes_reckoned_with_truths(x):
    n = x.shape[0]
    return x + 1, _results(n, (True, False), _ARITHMETIC), -(n > 2), +(n > 2), ~(n > 9)


@program(
    "I2 I11 B8",
    lambda: [t(3), t(5)],
    compile={"dynamic": True},
    differs="torch_differs",
    why="torch takes floats of sizes as whole numbers",
)
def floats_of_sizes_are_no_indices(x):
    half = x.shape[0] / 2
    said = []
    for use in (lambda v: range(v), lambda v: [7, 8, 9][v], lambda v: "abc"[v:], lambda v: range(0, 4, v)):
        try:
            said.append(use(half))
        except TypeError as error:
            said.append(str(error))
    return x + 1, said


@program("I2", differs="torch_differs", why="torch names the other operators")
def in_place_operators_say_so(x):
    said = []
    nothing, text, number = None, "a", 1.5
    try:
        nothing += 1
    except TypeError as error:
        said.append(str(error))
    try:
        nothing **= 2
    except TypeError as error:
        said.append(str(error))
    try:
        text -= 1
    except TypeError as error:
        said.append(str(error))
    try:
        number <<= 1
    except TypeError as error:
        said.append(str(error))
    try:
        nothing @= number
    except TypeError as error:
        said.append(str(error))
    return x + 1, said


@program("I12")
def evaluated_text_that_python_refuses(x):
    said = []
    for text in ("f(x=1, x=2)", "1 +", "(yield)", "3(4)"):
        try:
            eval(text)
        except (SyntaxError, TypeError) as error:
            said.append(type(error).__name__)
    return x + eval("1 + 2"), said
