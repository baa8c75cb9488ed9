"""Methods, and functions wrapped by context managers."""

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
