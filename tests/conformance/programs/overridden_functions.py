"""Objects and tensor subclasses whose classes override torch's functions by `__torch_function__`."""

import functools

import torch

from tests.conformance.program import program, t

HANDLED = {}


def implements(function):
    def register(implementation):
        HANDLED[function] = implementation
        return implementation

    return register


class Scaled:
    """No tensor, but one of torch's functions may be called on it."""

    def __init__(self, tensor, scale):
        self.tensor = tensor
        self.scale = scale

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(each, (torch.Tensor, Scaled)) for each in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))

    def dense(self):
        return self.tensor * self.scale

    def __mul__(self, other):
        return Scaled(self.tensor, self.scale * other)


@implements(torch.add)
@implements(torch.Tensor.add)
def add(a, b, *, alpha=1):
    a, b = (each.dense() if isinstance(each, Scaled) else each for each in (a, b))
    return torch.add(a, b, alpha=alpha)


@implements(torch.matmul)
@implements(torch.Tensor.matmul)
def matmul(a, b):
    if isinstance(b, Scaled):
        return Scaled(a @ b.tensor, b.scale)
    return Scaled(a.tensor @ b, a.scale)


@implements(torch.cat)
def cat(tensors, dim=0):
    return torch.cat([each.dense() if isinstance(each, Scaled) else each for each in tensors], dim)


@implements(torch.nn.functional.relu)
def relu(scaled, inplace=False):
    return Scaled(torch.relu(scaled.tensor), scaled.scale)


def scaled():
    return [(Scaled(t(3, 3), 2.0), t(3, 3, start=4))]


def shown(result):
    return (type(result).__name__, result.tensor, result.scale) if isinstance(result, Scaled) else result


@program("F11", scaled)
def function_on_an_object(s, x):
    return torch.add(s, x) + torch.add(x, s, alpha=2)


@program("F11", scaled, then=shown)
def operators_on_an_object(s, x):
    return x @ (s * 2)


@program("F11", scaled)
def sum_of_a_tensor_and_an_object(s, x):
    return x + s, x.add(s, alpha=3)


@program("F11", scaled)
def objects_in_a_list(s, x):
    return torch.cat([x, s], dim=1)


@program("F11", scaled, then=shown)
def function_in_python_on_an_object(s, x):
    return torch.nn.functional.relu(s)


@program("F11 I5", scaled)
def function_that_is_not_overridden(s, x):
    try:
        return torch.sub(s, x)
    except TypeError as error:
        return x + 1, "no implementation" in str(error)


class Left:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if any(issubclass(each, Right) for each in types):
            return NotImplemented
        return "left"


class Right:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "right", [each.__name__ for each in types], func is torch.add


class LeftBelow(Left):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "below", [each.__name__ for each in types]


@program("F11", lambda: [t(2)])
def order_of_overrides(x):
    a, b, c = Left(), Right(), LeftBelow()
    return x + 1, torch.add(a, x), torch.add(a, b), torch.add(a, c), torch.add(x, other=b)


# --- subclasses of tensors ------------------------------------------------------------------------------------


class Named(torch.Tensor):
    """Keeps a name and counts what was done, as subclasses with metadata do."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        if isinstance(result, Named):
            first = next((each for each in args if isinstance(each, Named)), None)
            result.label = getattr(first, "label", "new")
            result.depth = getattr(first, "depth", 0) + 1
        return result

    def doubled(self):
        return self * 2

    @property
    def plain(self):
        return self.as_subclass(torch.Tensor)


class Bare(torch.Tensor):
    """Overrides nothing."""


class Sines(torch.Tensor):
    """Gives plain tensors, and computes another function."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.sin:
            func = torch.cos
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def made(cls, **attributes):
    x = t(3, 3).as_subclass(cls)
    vars(x).update(attributes)
    return x


def of(cls, **attributes):
    return lambda: [(made(cls, **attributes), t(3, 3, start=4))]


def seen(result):
    """The class, the values and the metadata of each."""
    if isinstance(result, (tuple, list)):
        return [seen(each) for each in result]
    if not isinstance(result, torch.Tensor):
        return result
    return type(result).__name__, result.as_subclass(torch.Tensor), vars(result).copy()


program_on_subclasses = functools.partial(program, "F11 B2", then=seen)
NAMED = of(Named, label="image", depth=0)


@program_on_subclasses(NAMED)
def metadata_is_handed_on(x, y):
    return torch.sin(x) + y, y - x


@program_on_subclasses(NAMED, differs="fewer_breaks", why="it breaks at as_subclass(torch.Tensor)")
def own_methods_and_properties(x, y):
    return x.doubled(), x.plain + 1, x.label


@program_on_subclasses(of(Bare), differs="torch_differs", why="it fails inside")
def subclass_that_overrides_nothing(x, y):
    return x.sum(dim=0), x @ y, y @ x, torch.cat([y, x]), x[0], x.T


@program_on_subclasses(of(Bare))
def metadata_of_tensors(x, y):
    return x.shape, x.dtype, x.dim(), x.size(0), len(x), y + 1


@program_on_subclasses(of(Bare), differs="fewer_breaks", why="it gives up the function")
def results_that_are_several(x, y):
    return x.max(dim=0), x.split(1), torch.unbind(x), y + 1


@program_on_subclasses(of(Sines))
def another_function_instead(x, y):
    return torch.sin(x), torch.sin(y), x + y


@program_on_subclasses(of(Bare))
def changed_in_place(x, y):
    z = x.add_(y)
    z[0] = 5.0
    return z is x, x, type(z).__name__


@program_on_subclasses(of(Sines))
def changed_in_place_under_an_override(x, y):
    z = x.mul_(y)
    return z is x, x


@program_on_subclasses(of(Bare), differs="fewer_breaks", why="it breaks at as_subclass(torch.Tensor)")
def made_by_as_subclass(x, y):
    z = (y + 1).as_subclass(Bare)
    z.label = "made"
    return z, z * x, x.as_subclass(torch.Tensor) + y


@program_on_subclasses(NAMED)
def attribute_is_set(x, y):
    x.label = "changed"
    return x + 1, y.sin()


@program_on_subclasses(of(Bare))
def classes_asked(x, y):
    return type(x) is Bare, isinstance(x, torch.Tensor), isinstance(y, Bare), torch.is_tensor(x), y + 1


@program("F11 I14", NAMED, then=seen)
def break_between(x, y):
    z = x * y
    print("between")
    return z + x


@program("F11", lambda: [made(Bare), t(3, 3), made(Bare), made(Sines)], then=seen)
def called_with_several_classes(x):
    return torch.sin(x) * 2


@program("F11 B2", lambda: [(torch.nn.Parameter(t(3, 3)).as_subclass(Bare), t(3, 3))], then=seen)
def subclass_with_a_gradient(x, y):
    return (x * y).sum()


@program("F11 B8", lambda: [made(Bare), t(4, 3).as_subclass(Bare), t(5, 3).as_subclass(Bare)], then=seen)
def sizes_of_a_subclass_vary(x):
    return x.sin() * x.shape[0]
