"""Inlined user functions: every kind of parameter, defaults, recursion, binding errors."""

import torch

from tests.conformance.program import call, program, t


def plain(a, b=2, *, c=3):
    return a + b * c


@program("I9 F1")
def defaults_and_keywords(x):
    return plain(x), plain(x, 5), plain(x, c=1), plain(b=1, a=x), plain(x, 4, c=0)


def only_positional(a, b=1, /, c=2):
    return a * b + c


@program("I9 F1")
def positional_only(x):
    return only_positional(x, 3), only_positional(x, c=5)


@program("I9 F1 I5", differs="fewer_breaks", why="torch does not raise the TypeError of a bad call itself")
def positional_only_by_keyword_raises(x):
    try:
        only_positional(a=x)
    except TypeError as error:
        return x + 1, str(error)


def gather(first, *rest, sep=",", **named):
    return first, rest, sep, named


@program("I9 F1")
def star_and_double_star(x):
    args, kwargs = [1, 2], {"k": x}
    return gather(x), gather(x, *args), gather(*args, **kwargs), gather(0, sep=";", z=x + 1), gather(*"ab", *args)


@program("I9 F1")
def arguments_are_fresh_containers(x):
    def f(*args, **kwargs):
        kwargs["new"] = 1
        return args, kwargs

    given = {"a": x}
    out = f(**given)
    return out, given, x + 1


@program("I9 F1 I5", differs="fewer_breaks", why="torch does not raise the TypeError of a bad call itself")
def binding_errors(x):
    messages = []
    for args, kwargs in [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"a": 2}), ((1, 2), {"b": 1})]:
        try:
            plain(*args, **kwargs)
        except TypeError as error:
            messages.append(str(error))
    return x + 1, messages


@program("I9 F1 I5", differs="fewer_breaks", why="torch does not raise the TypeError of a bad call itself")
def missing_keyword_only(x):
    def f(*, must, other):
        return must

    try:
        f()
    except TypeError as error:
        return x + f(must=1, other=2), str(error)


@program("I9 F1 I5", differs="fewer_breaks", why="torch does not raise the TypeError of a bad call itself")
def duplicate_keyword_through_double_star(x):
    try:
        plain(x, **{"a": 1})
    except TypeError as error:
        return x + 1, str(error)


def remembers(value, seen=[]):
    seen.append(value)
    return len(seen)


@program("I9 F1 O7", lambda: [t(2), t(2)], then=lambda n: None)
def mutable_default(x):
    return x + remembers(1) + remembers(2)


def tensor_default(x, offset=torch.ones(2)):
    return x + offset


@program("I9 F1", lambda: [t(2), t(2)])
def default_that_is_a_tensor(x):
    return tensor_default(x)


@program("I9 F1", differs="torch_differs", why="fails inside")
def defaults_are_evaluated_once(x):
    n = 1

    def f(a, k=n):
        return a + k

    n = 50
    return f(x), f.__defaults__


@program("I9 F1", differs="torch_differs", why="the new defaults are not used")
def default_changed_from_outside(x):
    def f(a, k=1):
        return a + k

    before = f(x)
    f.__defaults__ = (10,)
    return before, f(x)


@program("I9", lambda: [call(t(2)), call(t(2), 5), call(t(2), k=5), call(t(2), 5, flag=True)])
def program_with_defaults(x, k=3, *, flag=False):
    return x * k if flag else x + k


@program("I9", lambda: [call(t(2)), call(t(2), t(2)), call(t(2), t(2), t(2))])
def program_with_star_arguments(*tensors):
    total = tensors[0] * len(tensors)
    for each in tensors[1:]:
        total = total + each
    return total


@program("I9", lambda: [call(a=t(2)), call(a=t(2), b=t(2)), call(b=t(2), a=t(2))])
def program_with_double_star_arguments(**named):
    return {name: value + 1 for name, value in named.items()}, list(named)


@program("I9", lambda: [call(t(2), 1, 2, key=3, other=t(2))])
def program_with_everything(a, b, /, *rest, key, default=5, **named):
    return a * b + sum(rest) + key + default + named["other"], rest, named


@program("I9 I5", lambda: [call(t(2))])
def program_that_forwards_wrong_arguments(x):
    y = x + 1
    return plain(y, 1, 2, 3)


@program("I9")
def deep_call_chain(x):
    def level(v, n):
        return v if n == 0 else level(v + 1, n - 1)

    return level(x, 30)


@program("I9 I5", differs="torch_differs", why="fails inside")
def infinite_recursion_is_caught(x):
    def forever(n):
        return forever(n + 1)

    try:
        forever(0)
    except RecursionError as error:
        return x + 1, type(error).__name__


@program("I9")
def returns_of_every_kind(x):
    def nothing():
        pass

    def bare():
        return

    def several():
        return x, 1, "a"

    return nothing(), bare(), several(), (lambda: None)(), x + 1


@program("I9")
def higher_order_functions(x):
    def compose(*fs):
        def run(v):
            for f in reversed(fs):
                v = f(v)
            return v

        return run

    def twice(f):
        return lambda v: f(f(v))

    return compose(twice(torch.neg), lambda v: v + 1, plain)(x)


@program("I9")
def parameters_reassigned(x):
    def f(a, *rest, **named):
        a = a + 1
        rest = rest + (a,)
        named = {}
        return a, rest, named

    return f(x, 1, k=2), x


@program("I9 O7")
def argument_mutated_by_callee(x):
    def put(target, value):
        target.append(value)
        target = ["rebound"]
        return target

    mine = [x]
    other = put(mine, x + 1)
    return mine, other


@program("I9")
def keyword_evaluation_order(x):
    log = []

    def note(v):
        log.append(v)
        return v

    return plain(note(x), c=note(1), b=note(2)), [v for v in log if isinstance(v, int)]


@program("I9")
def decorators_in_order(x):
    def plus(n):
        return lambda f: lambda v: f(v) + n

    def times(n):
        return lambda f: lambda v: f(v) * n

    @plus(1)
    @times(2)
    def f(v):
        return v

    return f(x)


@program("F5 I14")
def calls_a_skipped_function(x):
    import tempfile

    y = x + 1
    name = tempfile.gettempprefix()
    return y * len(name)


@program("F10")
def functions_of_torch_as_values(x):
    table = {"relu": torch.relu, "sum": torch.Tensor.sum, "method": x.abs}
    return table["relu"](x), table["sum"](x), table["method"](), torch.nn.functional.gelu(x)


@torch.compiler.disable
def disabled(v):
    return v * 7


@program("F10 I14")
def compiler_disable(x):
    return disabled(x + 1) - 1


@torch.compiler.allow_in_graph
def in_graph(v):
    return v * 3 + 1


@program("F10")
def compiler_allow_in_graph(x):
    return in_graph(x) * 2


@program("F10")
def compiler_questions(x):
    return x + 1 if isinstance(x, torch.Tensor) and torch.is_tensor(x) else x, torch.jit.is_scripting()


@torch.compiler.assume_constant_result
def constant_number():
    return 4


@program("F1 F10", differs="torch_differs", why="leaves a global behind")
def assume_constant_result(x):
    return x + constant_number()


@program("F1")
def function_metadata(x):
    return (
        x + plain.__code__.co_argcount,
        plain.__name__,
        plain.__defaults__,
        plain.__kwdefaults__,
        plain.__module__ == __name__,
    )


@program("I9", lambda: [(t(2), plain), (t(2), lambda a: a * 2), (t(2), torch.neg)])
def callback(x, f):
    return f(x) + 1


@program("I9 I7", lambda: [(t(2), [lambda v: v + 1, lambda v: v * 2])])
def list_of_callbacks(x, fs):
    for f in fs:
        x = f(x)
    return x


@program("I9 I12", differs="torch_differs", why="unpacks the keys of a dict in place of its values")
def star_call_with_a_range_and_a_dict_view(x):
    d = {"b": 1, "c": 2}
    return plain(x, **d), max(*d.values()), gather(*range(3), **{k: v for k, v in d.items()})


@program("I9")
def annotations_do_not_matter(x: "int") -> "str":
    def f(a: "undefined" = 1) -> 5:
        return a

    return x + f()


@program("I9")
def nested_definitions_shadow_builtins(x):
    def sum(v):
        return "mine"

    len = lambda v: 9
    return x + len([]), sum([1])
