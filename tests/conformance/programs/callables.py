"""Methods, functions wrapped by context managers, caches and scripting, and partials."""

import functools

import torch

from tests.conformance.program import program, t


class Scaler:
    factor = 3

    def __init__(self, n):
        self.n = n
        self.seen = []

    def scale(self, v, by=None):
        """Scales."""
        self.seen.append(by)
        return v * (self.n if by is None else by)

    @classmethod
    def scale_all(cls, v):
        return v * cls.factor

    @staticmethod
    def shift(v, by=1):
        return v + by

    def __call__(self, v):
        return self.scale(v) + 1


class Wider(Scaler):
    factor = 4

    def scale(self, v, by=None):
        return super().scale(v, by) - 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        with torch.no_grad():
            self.linear.weight.copy_(torch.eye(3))
            self.linear.bias.fill_(0.5)

    def forward(self, x):
        return self.twice(x)

    def twice(self, x):
        return self.linear(self.linear(x))

    @torch.no_grad()
    def frozen(self, x):
        return self.linear(x)


# --- F2: methods --------------------------------------------------------------------------------------------


@program("F2", lambda: [(t(2), Scaler(2))])
def bound_method_kept_and_called(x, scaler):
    method = scaler.scale
    return method(x), method(x, by=5), scaler.seen


@program("F2", lambda: [(t(2), Scaler(2))])
def unbound_method_called_with_the_object(x, scaler):
    return Scaler.scale(scaler, x, 4), Scaler.scale_all(x), Scaler.shift(x, by=2), scaler.seen


@program("F2", lambda: [(t(2), Wider(2))])
def method_of_the_base_called_on_a_subclass(x, scaler):
    return Scaler.scale(scaler, x), scaler.scale(x), scaler.scale_all(x), scaler.seen


@program("F2", lambda: [(t(2), Scaler(2).scale), (t(2), Wider(3).scale)])
def method_as_an_argument(x, method):
    return method(x, 2), method.__name__, method.__doc__, method.__func__ is Scaler.scale


@program(
    "F2",
    lambda: [(t(2), Scaler(2), Scaler(2))],
    differs="torch_differs",
    why="torch takes all methods of one function for equal",
)
def methods_compared(x, a, b):
    f = a.scale
    return x + 1, f == a.scale, f == b.scale, f.__self__ is a, f.__self__ is b, f is a.scale


@program("F2", lambda: [(t(2), Scaler(2))], then=lambda r: [f(t(2)) for f in r[1].values()])
def bound_methods_leave_the_trace(x, scaler):
    methods = {"scale": scaler.scale, "call": scaler, "all": scaler.scale_all, "shift": scaler.shift}
    return x + 1, methods


@program("F2", lambda: [(t(2),)], then=lambda r: r[1](t(2)))
def method_of_an_object_made_here_leaves(x):
    scaler = Wider(7)
    return scaler.scale(x), scaler.scale


@program("F2", lambda: [(t(2), Scaler(2))])
def method_hung_on_an_instance(x, scaler):
    import types

    def other(self, v):
        return v - self.n

    scaler.other = types.MethodType(other, scaler)
    return scaler.other(x), scaler.other.__self__ is scaler


@program("F2", lambda: [(t(2), Scaler(2))])
def methods_mapped_and_sorted(x, scaler):
    return list(map(scaler.scale, [x, x + 1])), sorted([3, 1, 2], key=scaler.shift), scaler.seen


@program("F2 B11", lambda: [(t(2, 3), Net())])
def methods_of_a_module(x, net):
    return net(x), net.twice(x), net.forward(x), Net.twice(net, x), net.linear(x)


@program("F2 B11", lambda: [(t(2, 3), Net().twice), (t(2, 3), Net().forward)])
def method_of_a_module_as_an_argument(x, method):
    return method(x) * 2


@program("F2", lambda: [(t(2), Scaler(2))])
def methods_of_builtins_bound_and_unbound(x, scaler):
    items = [3, 1]
    push, words = items.append, "a b"
    push(2)
    list.append(items, 4)
    return x + len(items), items, list.index(items, 1), str.split(words), words.upper(), dict.get({"k": 1}, "k")


@program("F2", lambda: [(t(2), Scaler(2))])
def method_found_by_name(x, scaler):
    return getattr(scaler, "scale")(x), getattr(scaler, "absent", None), hasattr(scaler, "shift")  # noqa: B009


# --- F3: wrapped in a context manager -----------------------------------------------------------------------


@torch.no_grad()
def without_grad(v, k=2):
    """Doc."""
    return v * k, torch.is_grad_enabled()


@torch.enable_grad()
def with_grad(v):
    return v * 2, torch.is_grad_enabled()


@torch.no_grad()
def outer_without_grad(v):
    return with_grad(v)[0], torch.is_grad_enabled()


@torch.inference_mode(False)
def no_inference(v):
    return v + 1


@program("F3", lambda: [(t(2, grad=True),)])
def decorated_function(x):
    y, inside = without_grad(x)
    return y, inside, torch.is_grad_enabled(), (x * 2).requires_grad, y.requires_grad


@program("F3", lambda: [(t(2, grad=True),)])
def decorated_function_with_keywords(x):
    return without_grad(x, k=5)[0], without_grad(v=x)[0], x + 1


@program("F3", lambda: [(t(2, grad=True),)])
def decorated_functions_nested(x):
    y, inside = outer_without_grad(x)
    return y, inside, torch.is_grad_enabled()


@program("F3 B11", lambda: [(t(2, 3, grad=True), Net())])
def decorated_method_of_a_module(x, net):
    y = net.frozen(x)
    return y, net.linear(x), y.requires_grad


@program("F3", lambda: [(t(2, grad=True), without_grad), (t(2, grad=True), with_grad)])
def decorated_function_as_an_argument(x, f):
    return f(x)[0] + 1, f.__name__


@program("F3", lambda: [(t(2, grad=True),)])
def decorated_inside(x):
    @torch.no_grad()
    def inner(v):
        return v * 3

    return inner(x), x * 3


@program("F3", lambda: [(t(2, grad=True),)])
def set_grad_enabled_as_a_decorator(x):
    @torch.set_grad_enabled(False)
    def inner(v):
        return v * 3

    return inner(x), x * 3, torch.is_grad_enabled()


@program(
    "F3 I5",
    lambda: [(t(2, grad=True),)],
    differs="torch_differs",
    why="torch leaves the grad mode switched",
)
def decorated_function_that_raises(x):
    @torch.no_grad()
    def fails(v):
        raise ValueError("inside")

    try:
        fails(x)
    except ValueError as error:
        return x * 2, str(error), torch.is_grad_enabled()


@program("F3 I14", lambda: [(t(2, grad=True),)])
def break_inside_a_decorated_function(x):
    return prints_without_grad(x), x * 2, torch.is_grad_enabled()


@torch.no_grad()
def prints_without_grad(v):
    w = v * 2
    print("inside", torch.is_grad_enabled())
    return w + 1


# --- F6: caches and scripting -------------------------------------------------------------------------------


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


# --- F8: partials -------------------------------------------------------------------------------------------


def combine(a, b=1, *rest, c=2, **more):
    return a * b + c + sum(rest) + sum(more.values())


module_partial = functools.partial(combine, c=5)


@program("F8")
def partial_made_and_called(x):
    f = functools.partial(combine, x)
    return f(), f(2), f(2, 3, c=4), f(b=3, d=6)


@program("F8")
def partial_keywords_overridden(x):
    f = functools.partial(combine, b=3, c=4)
    return f(x), f(x, c=1), f(x, b=2, e=1), f.keywords


@program(
    "F8",
    differs="torch_differs",
    why="torch does not merge a partial of a partial",
)
def partial_of_a_partial(x):
    f = functools.partial(functools.partial(combine, x, 2), c=7)
    return f(), f.func is combine, len(f.args), f.keywords


@program("F8", then=lambda r: (r[0](t(2)), r[0].args, r[0].keywords, type(r[0]).__name__))
def partial_leaves_the_trace(x):
    y = x + 1
    return functools.partial(combine, b=y), y


@program("F8", then=lambda r: (r[1](2), r[1].func.__name__))
def partial_of_a_closure_leaves(x):
    y = x * 2

    def inner(k, n):
        return y * k + n

    return y, functools.partial(inner, n=1)


@program("F8", lambda: [(t(2), functools.partial(combine, b=2)), (t(2), functools.partial(combine, c=9))])
def partial_as_an_argument(x, f):
    return f(x), f.keywords, f.args, f.func is combine


@program("F8")
def partial_in_the_module(x):
    return module_partial(x), module_partial(x, c=1)


@program("F8")
def partial_attributes_asked_for(x):
    f = functools.partial(combine, x)
    return (
        x + 1,
        hasattr(f, "func"),
        hasattr(f, "nothing"),
        hasattr(f, "keywords"),
        callable(f),
        isinstance(f, functools.partial),
    )


@program("F8")
def partial_of_a_torch_function(x):
    f = functools.partial(torch.add, alpha=2)
    g = functools.partial(torch.Tensor.sum, dim=0)
    return f(x, x), g(x), list(map(functools.partial(torch.mul, x), [1, 2]))


@program("F8")
def partial_as_a_decorator(x):
    def tag(f, name):
        @functools.wraps(f)
        def inner(*args):
            return f(*args), name

        return inner

    @functools.partial(tag, name="tagged")
    def double(v):
        return v * 2

    return double(x), double.__name__


@program("F8", lambda: [(t(2), Scaler(2))])
def partial_of_methods_and_classes(x, scaler):
    f = functools.partial(scaler.scale, by=3)
    make = functools.partial(Scaler, 4)
    return f(x), make().scale(x), scaler.seen


class WithPartialMethod:
    def combine(self, v, k, c=0):
        return v * k + c

    double = functools.partialmethod(combine, k=2)


@program(
    "F8 F2",
    lambda: [(t(2), WithPartialMethod())],
    differs="fewer_breaks",
    why="torch does not know partialmethod",
)
def partial_method(x, holder):
    return holder.double(x), holder.double(x, c=1)


@program("F8")
def partial_in_sorted_reduce_and_dict(x):
    add = functools.partial(lambda k, a, b: a + b + k, 1)
    table = {"f": functools.partial(max, 3)}
    return x + functools.reduce(add, [1, 2, 3]), table["f"](2, 5), sorted([2, 3, 1], key=functools.partial(pow, 2))


@program(
    "F8 I5",
    differs="fewer_breaks",
    why="torch leaves a call that fails to Python",
)
def partial_called_wrongly(x):
    f = functools.partial(doubled, x, 1)
    try:
        f()
    except TypeError as error:
        return x + 1, str(error)
