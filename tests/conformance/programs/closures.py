"""Cells, `nonlocal`, lambdas, decorators, recursion, and functions that leave the trace."""

import functools

from tests.conformance.program import program, t


@program("I7")
def lambda_called_at_once(x):
    return (lambda y: y * 2)(x + 1)


@program("I7")
def nested_function_reads_outer(x):
    n = 3

    def inner():
        return x + n

    return inner()


@program("I7")
def late_binding(x):
    fs = [lambda: i for i in range(3)]
    return x + sum(f() for f in fs)


@program("I7")
def early_binding_by_default(x):
    fs = [lambda y, i=i: y + i for i in range(3)]
    for f in fs:
        x = f(x)
    return x


@program("I7")
def variable_changes_after_capture(x):
    n = 1

    def inner():
        return x * n

    n = 5
    return inner()


@program("I7")
def nonlocal_counter(x):
    n = 0

    def bump():
        nonlocal n
        n += 1
        return n

    bump()
    return x + bump(), n


@program("I7")
def three_levels_of_nonlocal(x):
    a = x

    def outer():
        b = 1

        def inner():
            nonlocal a, b
            a = a + b
            b += 1

        inner()
        inner()
        return b

    return outer(), a


@program("I7", differs="fewer_breaks", why="torch does not raise the NameError itself")
def cell_unbound(x):
    def inner():
        return late + 1

    try:
        inner()
    except NameError as error:
        message = str(error)
    late = x
    return inner(), message


@program("I7", differs="fewer_breaks", why="torch has no handler for one of the instructions")
def delete_a_cell_variable(x):
    n = 1

    def inner():
        return n  # noqa: F821

    first = inner()
    del n
    try:
        inner()
    except NameError as error:
        return x + first, str(error)


def scaled_by(k):
    def wrap(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs) * k

        return wrapper

    return wrap


@scaled_by(3)
def plus_one(x):
    "Adds one."
    return x + 1


@program("I7 F4")
def decorated_function(x):
    return plus_one(x), plus_one.__name__, plus_one.__doc__


@program("I7 F4")
def decorator_applied_inside(x):
    @scaled_by(2)
    def local(y):
        return y - 1

    return local(x), local.__name__


@program("I7")
def recursion(x):
    def power(y, n):
        return y if n == 0 else power(y * 2, n - 1)

    return power(x, 5)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@program("I7", lambda: [(t(2), 5), (t(2), 5)])
def recursion_on_an_int(x, n):
    return x + factorial(n)


@program("I7")
def mutual_recursion(x):
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    return x + even(8), odd(3)


@program("F4 O6", then=lambda f: (f(t(3)), f.__name__, f.__qualname__, f.__defaults__))
def closure_leaves(x):
    y = x.sum()

    def add(z, k=2, *, m=1):
        "Adds what it closed over."
        return z + y * k * m

    return add


@program("F4 O6", then=lambda fs: [fs[0](), fs[0](), fs[1]()])
def two_closures_share_a_cell(x):
    n = 0

    def bump():
        nonlocal n
        n += 1
        return n

    def read():
        return n

    bump()
    return bump, read, x + n


@program("F4 O6", then=lambda f: (f(1), f(2)))
def closure_keeps_state(x):
    seen = [x + 1]

    def remember(value):
        seen.append(value)
        return len(seen)

    remember(0)
    return remember


@program("F4 O6", then=lambda f: f(4))
def recursive_closure_leaves(x):
    k = x.shape[0]

    def down(n):
        return k if n == 0 else down(n - 1) + 1

    down(1)
    return down


@program("F4 O6", then=lambda f: f(t(3)))
def lambda_leaves(x):
    y = x + 1
    return lambda z: z * y.sum()


@program("F4 O6", lambda: [(t(2), [])], then=lambda r: None)
def closure_stored_in_an_input(x, store):
    y = x + 1
    store.append(lambda: y)
    return y


@program("F4", then=lambda f: (f(3), f.__annotations__, f.tag))
def annotated_function_with_attributes(x):
    def f(a: int, b: "str" = "b") -> float:
        return a * 2.0

    f.tag = x + 1
    return f


@program("F8", then=lambda f: f(t(3)))
def partial_leaves(x):
    def f(a, b, c=1):
        return a * 2 + b + c

    return functools.partial(f, x.sum(), c=5)


@program("F8")
def partial_called(x):
    f = functools.partial(lambda a, b, c=0: a + b * c, x, c=2)
    g = functools.partial(f, c=3)
    return f(x + 1), g(x), f.args[0] is x, f.keywords


@program("F8", lambda: [(functools.partial(plus_one), t(2)), (functools.partial(lambda a, b: a - b, 1), t(2))])
def partial_as_argument(f, x):
    return f(x) + 1


@program("I7", lambda: [(lambda y: y + 1, t(2)), (lambda y: y * 2, t(2))])
def function_as_argument(f, x):
    return f(x) * 3


def make_adder(n):
    def add(y):
        return y + n

    return add


@program("I7 G1", lambda: [(make_adder(1), t(2)), (make_adder(2), t(2)), (make_adder(1), t(2))])
def closures_of_one_code_as_arguments(f, x):
    return f(x) * 3


def counter_from(n):
    def step():
        nonlocal n
        n += 1
        return n

    return step


@program("I7 O7", lambda: [(f := counter_from(5), t(2)), (f, t(2))], then=lambda r: None)
def closure_argument_writes_its_cell(step, x):
    return x + step() + step()


def counter_made_once():
    n = 0

    def run(x):
        nonlocal n
        n += 1
        return x + n

    return run


RUN = counter_made_once()


@program("I7 O7", lambda: [t(2), t(2)])
def global_closure_writes_its_cell(x):
    return RUN(x) * RUN(x)


@program("I7")
def immediately_nested_lambdas(x):
    return (lambda a: lambda b: lambda c: a + b * c)(x)(2)(x + 1)


@program("I7")
def comprehension_closes_over_locals(x):
    k = 2
    fs = [lambda v: v * k + j for j in range(2)]
    return [f(x) for f in fs]


@program("I7")
def class_body_reads_outer(x):
    n = 4

    class Local:
        value = n + 1

        def get(self):
            return n

    return x + Local.value, Local().get()


@program("I7")
def function_attributes(x):
    def f():
        f.count += 1
        return f.count

    f.count = 0
    f()
    return x + f(), f.count


@program("I7 F4")
def wraps_inside(x):
    def original(y):
        "Original."
        return y + 1

    @functools.wraps(original)
    def wrapper(y):
        return original(y) * 2

    return wrapper(x), wrapper.__name__, wrapper.__doc__, wrapper.__wrapped__ is original


@program("I7")
def same_function_compared(x):
    def f():
        pass

    g = f
    return x + 1, f is g, f == g, f != (lambda: None), callable(f)


@program("I7 F1")
def functions_in_a_table(x):
    table = {"double": lambda y: y * 2, "inc": lambda y: y + 1, "plus": plus_one}
    for name in ("double", "inc", "plus"):
        x = table[name](x)
    return x


@program("I7")
def closure_over_loop_variable_mutated(x):
    acc = []
    for i in range(3):

        def push(v=i):
            acc.append(v + i)

        push()
    return x + sum(acc), acc
