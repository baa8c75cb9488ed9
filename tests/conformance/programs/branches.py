"""Branches on shapes (guarded) and on tensor values (a break at the jump)."""

import torch

from tests.conformance.program import program, t


@program("I4", lambda: [t(2, 3), t(5, 3), t(2, 3)])
def branch_on_a_size(x):
    if x.shape[0] > 3:
        return x + 1
    return x - 1


@program("I4", lambda: [t(3), t(2, 3), t(1, 2, 3)])
def branch_on_dimensions(x):
    if x.dim() == 1:
        return x * 2
    elif x.ndim == 2:
        return x.sum(0)
    return x.flatten()


@program("I4", lambda: [t(3), t(3, dtype=torch.float64), t(3, dtype=torch.int64)])
def branch_on_dtype(x):
    if x.dtype == torch.float32:
        return x + 1
    if x.is_floating_point():
        return x * 2
    return x


@program("I4", lambda: [t(3), t(3, start=7), t(3)])
def branch_on_a_value(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


@program("I4", lambda: [t(3)])
def branch_on_a_value_then_code_after(x):
    if x.sum() > 0:
        y = x + 1
        k = "up"
    else:
        y = x - 1
        k = "down"
    z = y * 3
    return z, k


@program("I4", lambda: [t(3)])
def branch_on_item(x):
    if x[0].item() > 0:
        return x + 1
    return x * 2


@program("I4", lambda: [t(3)])
def while_on_a_value(x):
    n = 0
    while x.sum() < 20:
        x = x + 1
        n += 1
    return x, n


@program("I4", lambda: [t(3)])
def and_or_not_on_values(x):
    if x.sum() > 100 or not (x[0] > 0 and x[1] > 0):
        return x + 1
    return x - 1


@program("I4", lambda: [t(3)])
def conditional_expression_on_a_value(x):
    return x + (1 if x.max() > 1 else 2)


@program("I4", lambda: [t(3)])
def branch_on_a_value_in_an_inlined_call(x):
    def inner(y):
        if y.sum() > 0:
            return y * 2
        return y * 3

    return inner(x + 1) + 4


@program("I4", lambda: [t(3)], differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def branch_in_a_loop(x):
    for i in range(3):
        if x.sum() > i:
            x = x + i
        else:
            x = x - i
    return x


@program("I4", lambda: [t(4), t(5), t(6), t(7)])
def shape_parity(x):
    if x.size(0) % 2 == 0:
        return x.reshape(2, -1)
    return x


@program("I4 B8", lambda: [t(2, 3), t(4, 3), t(6, 3)])
def shape_in_arithmetic(x):
    b, c = x.shape
    return x.view(b * c) / (b + c), b * c


@program("I4", lambda: [(t(3), t(3)), (t(4), t(4)), (t(4), t(5))])
def equal_shapes(x, y):
    if x.shape == y.shape:
        return x + y
    return x.sum() + y.sum()


@program("I4", lambda: [t(3), t(0)])
def empty_tensor(x):
    if x.numel() == 0:
        return x
    return x + 1


@program("I4", lambda: [t(3), t(3, grad=True)])
def branch_on_requires_grad(x):
    if x.requires_grad:
        return x * 2
    return x * 3


@program("I4", lambda: [t(3)])
def bool_of_a_comparison(x):
    flag = bool((x > 0).any())
    return x + 1, flag


@program("I4 I3", lambda: [t(3), t(3, start=1)])
def assert_on_a_value(x):
    assert x.sum() < 1000, "too large"
    return x + 1


@program("I4 I5", lambda: [t(3)], differs="torch_differs", why="becomes a RuntimeError of the graph")
def failed_assert_on_a_value(x):
    y = x + 1
    assert y.sum() > 1000
    return y


@program("I4 I5", lambda: [t(3)])
def truth_of_many_elements_raises(x):
    y = x + 1
    if y:
        return y
    return x


@program("I4", lambda: [t(3)])
def none_is_not_compared_by_value(x):
    y = x + 1
    if y is not None and x is not y:
        return y
    return x


@program(
    "I4",
    lambda: [t(3)],
    differs="fewer_breaks",
    why="torch leaves the resume function that raises UnboundLocalError to Python",
)
def branch_both_sides_assign_different_locals(x):
    if x.sum() > 0:
        a = x + 1
    else:
        b = x - 1
    try:
        return a
    except UnboundLocalError:
        return b * 2


@program("I4", lambda: [t(3)])
def nested_branches_on_values(x):
    if x.sum() > -100:
        if x.max() > 100:
            return x + 1
        return x + 2
    return x + 3


@program("I4", lambda: [t(3)])
def branch_with_values_on_the_stack(x):
    return [x + 1, "a", (x * 2 if x.sum() > 0 else x * 3), {"k": x - 1}]


@program("I4", lambda: [t(3)])
def match_on_a_value(x):
    match x.sum() > 0:
        case True:
            return x + 1
        case _:
            return x - 1


@program("I4", lambda: [(t(2, 2), torch.tensor(True)), (t(2, 2), torch.tensor(False))])
def branch_on_a_bool_tensor(x, flag):
    if flag:
        return x + 1
    return x * 2


@program("I4 B8", lambda: [(t(3), 2), (t(4), 3), (t(5), 4)])
def size_against_argument(x, n):
    if x.size(0) > n:
        return x[:n]
    return x


@program("I4", lambda: [t(2, 3), t(2, 3).t(), t(2, 6)[:, ::2]])
def branch_on_contiguity(x):
    if x.is_contiguous():
        return x.view(-1)
    return x.reshape(-1)


@program("I4", lambda: [t(3)])
def any_and_all_over_value_tests(x):
    return x + any([v > 0 for v in x]), x


@program("I4", lambda: [t(3)], differs="fewer_breaks", why="torch leaves the comprehension that breaks to Python")
def filter_elements_by_value(x):
    kept = [v for v in x if v > 0]
    return kept, len(kept)
