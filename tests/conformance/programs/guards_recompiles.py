"""What makes a second compilation, what does not, and when sizes become symbols."""

import torch

from tests.conformance.program import call, program, t


@program("G1 B8", lambda: [t(3), t(4), t(5), t(3)])
def one_varying_size(x):
    return x * 2


@program("B8", lambda: [t(3, 2), t(4, 2), t(4, 3), t(5, 6)])
def sizes_vary_one_after_the_other(x):
    return x.sum(0) + 1


@program("B8", lambda: [t(3), t(1), t(0), t(5), t(7)])
def sizes_one_and_zero_are_special(x):
    return x + 1


@program("B8", lambda: [(t(3), t(3)), (t(4), t(4)), (t(5), t(6)[:5])])
def two_inputs_vary_together(x, y):
    return x + y


@program("B8", lambda: [(t(3), t(2)), (t(4), t(2)), (t(4), t(3)), (t(6), t(7))])
def two_inputs_vary_apart(x, y):
    return x.sum() + y.sum()


@program("B8", lambda: [t(2, 3), t(4, 3), t(6, 3)])
def size_used_in_view(x):
    return x.view(-1, x.size(0)), x.shape[0] * 2


@program("B8", lambda: [t(4), t(6), t(8)])
def size_used_in_loop(x):
    total = 0
    for i in range(x.size(0)):
        total = total + x[i]
    return total


@program("B8", lambda: [t(4), t(6), t(8), t(7)])
def size_used_in_python_branch(x):
    return x.chunk(2) if x.shape[0] % 2 == 0 else x


@program("B8", lambda: [t(4), t(6), t(8)])
def size_used_in_factory(x):
    n = x.shape[0]
    return torch.zeros(n, n + 1), torch.arange(n) + x, torch.full((n,), 2.0)


@program("B8", lambda: [t(4), t(6), t(8)])
def size_returned(x):
    return x + 1, x.shape, x.size(0) + 1, len(x), x.numel()


@program("B8", lambda: [t(3), t(4), t(5)], compile={"dynamic": True})
def dynamic_from_the_start(x):
    return x * x.shape[0]


@program("B8", lambda: [t(3), t(4), t(5)], compile={"dynamic": False})
def dynamic_never(x):
    return x * x.shape[0]


def marked():
    x = t(4, 3)
    torch._dynamo.mark_dynamic(x, 0)
    return [x, t(7, 3)]


@program("B8", marked)
def mark_dynamic(x):
    return x.sum(1) * x.shape[0]


@program("G1", lambda: [t(3), t(3, dtype=torch.float64), t(3, dtype=torch.int32), t(3)])
def dtype_changes(x):
    return x * 2


@program("G1", lambda: [t(3), t(3, grad=True), t(3)])
def requires_grad_changes(x):
    return x * 2


@program("G1", lambda: [t(3, 3), t(3, 3).t(), t(3, 3)])
def strides_change(x):
    return x * 2


@program("G1", lambda: [t(6), t(6), t(12)[::2]])
def storage_view_as_input(x):
    return x * 2


@program("G1", lambda: [t(2, 3), t(6), t(1, 2, 3)])
def rank_changes(x):
    return x * 2


@program("G1", lambda: [t(3), torch.nn.Parameter(t(3)), t(3)])
def parameter_instead_of_tensor(x):
    return x * 2


@program("G1 O3", lambda: [(t(3, grad=True), True), (t(3, grad=True), False), (t(3, grad=True), True)])
def inner_function_under_either_grad_mode(x, flag):
    torch.set_grad_enabled(flag)
    y = x * 2
    torch.set_grad_enabled(True)
    return y


@program("G1", lambda: [(t(3), 1), (t(3), 1), (t(3), 2), (t(3), 3), (t(3), 4)])
def int_argument(x, n):
    return x + n


@program("G1", lambda: [(t(3), 0), (t(3), 1), (t(3), 5), (t(3), 6)])
def int_argument_zero_and_one(x, n):
    return x + n


@program("G1", lambda: [(t(3), 5), (t(3), 6), (t(3), 7)])
def int_argument_as_index(x, n):
    return x[n - 5]


@program("G1", lambda: [(t(3), 5), (t(3), 6), (t(3), 7)])
def int_argument_compared(x, n):
    return x + 1 if n > 5 else x - 1


@program("G1", lambda: [(t(3), 5), (t(3), 6), (t(3), 7)])
def int_argument_unused(x, n):
    return x + 1


@program("G1", lambda: [(t(3), 5), (t(3), 6), (t(3), 7)])
def int_argument_returned(x, n):
    return x + 1, n


@program("G1", lambda: [(t(3), 1.5), (t(3), 1.5), (t(3), 2.5), (t(3), 3.5)])
def float_argument(x, s):
    return x * s


@program("G1", lambda: [(t(3), True), (t(3), False), (t(3), True)])
def bool_argument(x, flag):
    return x + 1 if flag else x - 1


@program("G1", lambda: [(t(3), "a"), (t(3), "b"), (t(3), "a")])
def string_argument(x, s):
    return x + len(s), s


@program("G1", lambda: [(t(3), "a"), (t(3), "b"), (t(3), "c")])
def string_argument_unused(x, s):
    return x + 1


@program("G1", lambda: [(t(3), 1), (t(3), 1.0), (t(3), True), (t(3), None), (t(3), "1")])
def argument_of_many_types(x, v):
    return x + 1, v


@program("G1", lambda: [(t(3), None), (t(3), t(3)), (t(3), None)])
def optional_tensor(x, y):
    return x + 1 if y is None else x + y


@program("G1", lambda: [(t(3), [1, 2]), (t(3), [1, 2]), (t(3), [1, 3]), (t(3), [1, 2, 3])])
def list_of_ints(x, numbers):
    return x + sum(numbers)


@program("G1", lambda: [(t(3), (1, "a")), (t(3), (1, "b")), (t(3), (1,))])
def tuple_argument(x, pair):
    return x + pair[0]


@program("G1", lambda: [(t(3), {"a": 1}), (t(3), {"a": 2}), (t(3), {"b": 1})])
def dict_of_ints(x, d):
    return x + d.get("a", 7)


@program("G1", lambda: [(a := t(3), a), (t(3), t(3)), (a, a)])
def same_tensor_twice(x, y):
    return x + y if x is y else x * y


@program("G1 O7", lambda: [(a := t(3), a), (t(3), t(3, start=1))])
def same_tensor_twice_changed_in_place(x, y):
    x.add_(1)
    return x + y


class Options:
    def __init__(self, k):
        self.k = k
        self.unused = 0


@program("G1", lambda: [(t(3), o := Options(1)), (t(3), o), (t(3), Options(1)), (t(3), Options(2))])
def object_attribute(x, options):
    return x + options.k


def changing_unused():
    def later(o):
        o.unused = 99
        return o

    options = Options(1)
    return [(t(3), options), (t(3), later(options))]


@program("G1", changing_unused)
def unused_attribute_changes(x, options):
    return x + options.k


class Other(Options):
    pass


@program("G1", lambda: [(t(3), Options(1)), (t(3), Other(1))])
def type_of_an_object_changes(x, options):
    return x + options.k, type(options).__name__


@program("G1", lambda: [(t(3), int), (t(3), float), (t(3), int)])
def type_as_argument(x, kind):
    return x + 1 if kind is int else x * 2


@program("G1", lambda: [(t(3), torch.float32), (t(3), torch.float64), (t(3), torch.float32)])
def dtype_as_argument(x, dtype):
    return x.to(dtype) + 1


@program("G1", lambda: [(t(3), torch.device("cpu"))])
def device_as_argument(x, device):
    return x.to(device) + torch.zeros(3, device=device)


@program("G1", lambda: [(t(3), torch.Size([3])), (t(3), torch.Size([3, 1]))])
def size_as_argument(x, size):
    return x.reshape(size)


@program("G1", lambda: [(t(6), slice(0, 2)), (t(6), slice(1, 4)), (t(6), slice(None))])
def slice_as_argument(x, s):
    return x[s] + 1


@program(
    "G1",
    lambda: [(t(3), range(3)), (t(3), range(4))],
    differs="fewer_breaks",
    why="torch does not trace a range of other length again",
)
def range_as_argument(x, r):
    for i in r:
        x = x + i
    return x


GLOBAL_SCALE = 3


def bump_global(x):
    global GLOBAL_SCALE
    GLOBAL_SCALE += 1
    return x


@program("G1 I13", lambda: [t(3), t(3)], then=bump_global)
def global_constant(x):
    return x * GLOBAL_SCALE


@program("G4", lambda: [(t(3), "n%d" % i) for i in range(10)])
def more_versions_than_the_limit(x, name):
    return x + len(name), name + "!"


@program("G4", lambda: [call(t(3), k=i % 3 + 2) for i in range(7)], compile={"dynamic": False})
def versions_are_found_again(x, *, k):
    return x * k


@program("G1", lambda: [t(3), torch.tensor([1.0, 2.0, 3.0]), t(3).to(torch.bfloat16)])
def new_tensors_of_the_same_kind(x):
    return x.abs()


@program("G1", lambda: [torch.tensor(2.0), torch.tensor(3.0), torch.tensor(3)])
def zero_dimensional_tensors(x):
    return x * 2


@program("B8", lambda: [[t(2), t(3)], [t(3), t(4)], [t(5), t(6)]])
def sizes_within_a_list_vary(tensors):
    return tensors[0].sum() + tensors[1].sum()


@program("B8", lambda: [{"a": t(2)}, {"a": t(3)}, {"a": t(4)}])
def size_within_a_dict_varies(d):
    return d["a"] * d["a"].shape[0]


@program("B8 O4", lambda: [t(4, 6)[:, :3], t(5, 6)[:, :3], t(6, 8)[:, :3]])
def strides_vary_with_sizes(x):
    return x.contiguous() + 1


@program("G1", lambda: [(t(3), 2**40), (t(3), 2**41), (t(3), -5)])
def large_and_negative_ints(x, n):
    return x + n % 7


@program("B8", lambda: [(t(8), 2), (t(9), 3), (t(10), 5), (t(12), 4)])
def divisibility(x, n):
    if x.shape[0] % n == 0:
        return x.reshape(n, -1).sum(0)
    return x


@program("B8", lambda: [t(3, 4), t(5, 4), t(7, 4)])
def broadcast_with_symbolic_size(x):
    return x + torch.ones(x.shape[0], 1), x.mean(0, keepdim=True).expand(x.shape[0], -1)


@program("B8", lambda: [t(3), t(4), t(5)])
def cat_and_slice_with_symbolic_size(x):
    return torch.cat([x, x[1:], x[:-1]]), x[x.shape[0] // 2], x[-1]
