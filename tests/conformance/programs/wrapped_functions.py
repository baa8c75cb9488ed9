"""Cached and scripted functions, and functions whose result is assumed to be constant."""

import functools

import torch

from tests.conformance.program import program, t


@functools.lru_cache(maxsize=None)
def cached(n):
    return n * 2


@functools.cache
def cached_with_default(n, k=3):
    return n + k


@torch.jit.script_if_tracing
def scripted_when_tracing(v, n: int):
    return v * n


def doubled(v):
    return v * 2


wrapped_doubled = functools.wraps(doubled)(lambda v: doubled(v) + 1)


@program("F6", lambda: [(t(2), 3), (t(2), 3)])
def lru_cached_function(x, n):
    return x + cached(n) + cached(2)


@program("F6", lambda: [(t(2),)])
def cached_function_with_a_default(x):
    return x + cached_with_default(1) + cached_with_default(n=1, k=4)


@program("F6", lambda: [(t(2),)])
def script_if_tracing(x):
    return scripted_when_tracing(x, 3), scripted_when_tracing(x + 1, n=2)


@program("F6", lambda: [(t(2), cached), (t(2), cached_with_default)])
def cached_function_as_an_argument(x, f):
    return x + f(2), f.__name__


@program("F6", lambda: [(t(2),)])
def wrapped_attribute_followed(x):
    return wrapped_doubled(x), wrapped_doubled.__wrapped__(x), wrapped_doubled.__name__


@torch.jit.script
def scripted(v, n: int):
    return v * n + 1


made_by_hand = []


@functools.lru_cache
def cached_list(n):
    return [n]


@functools.lru_cache
def cached_with_effect(n):
    made_by_hand.append(n)
    return n


@program("F6")
def scripted_function(x):
    return scripted(x, 2), scripted(x, n=3)


@program("F6", lambda: [(t(2), scripted)])
def scripted_function_as_an_argument(x, f):
    return f(x, 4)


@program("F6", differs="torch_differs", why="torch runs the function anew at each call")
def cached_object_is_one_object(x):
    return x + 1, cached_list(1) is cached_list(1), cached_list(1) is cached_list(2)


@program(
    "F6 O7", then=lambda r: list(made_by_hand), differs="torch_differs", why="torch runs the function at each call"
)
def cached_function_acts_once(x):
    return x + cached_with_effect(1) + cached_with_effect(1)


@program("F6", then=lambda r: r[1] is cached)
def cached_function_leaves_the_trace(x):
    return x + cached(2), cached


class Cached:
    @functools.lru_cache(maxsize=4)  # noqa: B019
    def size(self, n):
        return n + 1

    @functools.cached_property
    def table(self):
        return [1, 2]


@program(
    "F6",
    lambda: [(t(2), Cached())],
    differs="fewer_breaks",
    why="torch does not bind a cached method",
)
def cached_method_and_property(x, holder):
    return x + holder.size(2), holder.table, holder.table is holder.table


@program("F6", lambda: [(t(2),)])
def cached_function_made_here(x):
    @functools.lru_cache
    def inner(n):
        return n + 1

    return x + inner(1) + inner(1)


# --- F1 ------------------------------------------------------------------------------------------

TABLE = {"k": 2, "names": ["a"]}
WEIGHT = torch.tensor([1.0, 2.0])


@torch.compiler.assume_constant_result
def constant_number():
    return int(WEIGHT.sum().item())


@torch.compiler.assume_constant_result
def constant_by_argument(name, default=0):
    return TABLE.get(name, default)


@torch.compiler.assume_constant_result
def constant_tensor():
    return WEIGHT


@torch.compiler.assume_constant_result
def constant_that_fails(n):
    raise ValueError("refused", n)


@program("F1", differs="torch_differs", why="torch leaves globals behind, and its guards miss them")
def constant_result_of_what_cannot_be_traced(x):
    return x * constant_number(), constant_number()


@program("F1", differs="torch_differs", why="torch leaves globals behind, and its guards miss them")
def constant_result_by_argument(x):
    names = constant_by_argument("names")
    return x * constant_by_argument("k"), constant_by_argument("z", default=4), names is TABLE["names"]


@program("F1", lambda: [t(2)], differs="torch_differs", why="torch's guard on the result fails at once")
def constant_result_is_a_tensor(x):
    return x * constant_tensor(), constant_tensor() is WEIGHT


@program("F1 I5", differs="torch_differs", why="torch fails inside")
def constant_result_refused(x):
    try:
        return constant_that_fails(3)
    except ValueError as error:
        return x + 1, error.args


@program("F1", differs="torch_differs", why="torch leaves globals behind, and its guards miss them")
def constant_function_as_a_value(x):
    f = constant_number
    return x + f(), f.__name__


@functools.lru_cache
def growing(n):
    return [n]


@program("F6 G1", lambda: [t(2)] * 3, differs="torch_differs", why="torch runs the function anew at each call")
def cached_list_that_grows(x):
    items = growing(1)
    items.append(2)
    return x + len(growing(1)), growing(1)


@functools.lru_cache
def cached_base(n):
    return n + OFFSET


OFFSET = 1


@program("F6 G1", lambda: [t(2)] * 4, differs="torch_differs", why="torch runs the function anew at each call")
def cached_result_stands_until_the_cache_is_cleared(x):
    global OFFSET
    result = x * cached_base(3)
    OFFSET += 1
    if OFFSET == 4:
        cached_base.cache_clear()
    return result


SETTINGS: dict[str, int] = {}


@functools.cache
def cached_setting(name):
    return SETTINGS[name]


@program("F6")
def cache_that_reads_what_was_just_written(x):
    SETTINGS["a"] = 3
    return x + 1, cached_setting("a")


@program("F6")
def recursive_cache_made_inside(x):
    y = x + 1

    @functools.cache
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return y * 2, fib(10)
