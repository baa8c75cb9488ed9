"""Numbers, texts and lists made of tensors, and tensors in containers that compare or hash them."""

import torch

from tests.conformance.program import program, t

MORE = "torch breaks, or compiles once more"
TORCH_WRONG = "torch departs from plain Python"


def twice():
    return [t(3), t(3, start=4)]


@program("F10 I4", twice, differs="fewer_breaks", why="torch compiles anew for each list that tolist() gave")
def lists_of_items(x):
    y = x * 2
    return y.tolist(), y[0].item() + 1, x + y.sum().item()


@program("F10", twice, differs="fewer_breaks", why="torch compiles once for the first number and once for all others")
def numbers_of_tensors(x):
    y = x + 1
    return float(y[0]), int(y[1]), bool(y[2] > 0), complex(y[0])


@program("F10", twice)
def number_goes_on(x):
    n = int(x.abs().max())
    return x * n, n + 1, float(n)


@program("F10 I4", twice)
def number_decides(x):
    n = x.sum().item()
    return x + 1 if n > 0 else x - 1


@program("F10", twice)
def number_as_a_size(x):
    n = int(x.abs()[0]) + 1
    return torch.zeros(n), x[:n], list(range(n))


@program("F10", lambda: [t(2, 3), t(4, 3), t(5, 3)])
def sizes_and_lengths(x):
    shape = x.shape
    return (
        len(x), shape[0] * 2, shape + (1,), shape[1:], shape.numel(), list(shape), tuple(shape) == (2, 3),
        torch.Size([1, 2]) + shape, shape.index(3), 3 in shape, x.view(-1).shape[-1], shape[::-1], shape * 2,
    )  # fmt: skip


@program("F10 I3", lambda: [t(2, 3), t(2, 3, start=4)], differs="fewer_breaks", why=MORE)
def iterated(x):
    first, second = x
    rows = iter(x)
    return (
        next(rows) + second,
        [row * 2 for row in x],
        list(x),
        max(x[0], key=lambda v: 0),
        list(zip(x, x, strict=True)),
    )


@program("F10", lambda: [(t(3), 2.5, 3), (t(3), 3.5, 4)])
def tensors_of_mixed_lists(x, r, n):
    return torch.tensor([1, 2.5, True]), torch.tensor([r, n]), torch.tensor([[n, 1], [2, r]]), x * torch.tensor(r)


@program("F10", twice, differs="fewer_breaks", why="torch compiles once for the first number and once for all others")
def tensors_of_items(x):
    return torch.tensor([x[0].item(), 1.0, float(x[1])]), torch.tensor([x[0], x[1]]), torch.stack([x[0], x[1]])


@program("F10 I11", twice)
def keys_and_members(x):
    y = x + 1
    table = {x: "x", y: "y"}
    held = {x, y, x}
    return table[x], table[y], len(held), x in held, y in table, (x + 1) in held, table.get(x * 1, "none")


@program("F10 I11", twice, differs="torch_differs", why=TORCH_WRONG)
def members_of_lists(x):
    y = x + 1
    items = [y, x]
    found = y in items
    try:
        return found, x in items
    except RuntimeError as error:
        return found, str(error)


@program("F10 I11", lambda: [torch.tensor(2.0), torch.tensor(3.0)], differs="torch_differs", why=TORCH_WRONG)
def one_element_in_a_list(x):
    return x in [1.0, 2.0], x in (x + 1, x), [x, x + 1].index(x), [x, x].count(x), x == 2.0


@program("F10 I11", twice, differs="torch_differs", why=TORCH_WRONG)
def texts(x):
    y = x * 2
    return f"{y}", f"{y.sum():.2f}", format(y[0], ".3f"), "%.1f" % y[1], "{:>8.2f}".format(y[2]), str(y.shape)


@program("F10 I11", twice)
def texts_of_shapes_and_types(x):
    return f"{x.shape} {x.dtype} {x.device} {len(x)} {x.ndim}", str(x.size()), repr(x.shape), x + 1


@program("F10", twice)
def equality_of_containers(x):
    return [x] == [x], (x, 1) == (x, 1), {"a": x} == {"a": x}, [x] != [x]


@program("F10", twice, differs="fewer_breaks", why=MORE)
def hashes_and_identities(x):
    y = x.view(-1)
    return hash(x) == id(x), x is x, y is x, x.data_ptr() == y.data_ptr(), id(x) == id(x)


@program("F10 I5", twice)
def numbers_refused(x):
    said = []
    for convert in (float, int, bool):
        try:
            convert(x)
        except (RuntimeError, ValueError, TypeError) as error:
            said.append(str(error))
    return said, x + 1


@program("F10", twice, differs="fewer_breaks", why=MORE)
def rounded_and_divided(x):
    y = x * 2
    return round(y[0].item(), 2), divmod(int(y[1]), 3), abs(float(y[2])), y.round(), max(y.tolist()), sum(y.tolist())


@program("F10 I3", twice, differs="fewer_breaks", why=MORE)
def loop_over_a_list_of_items(x):
    total = 0.0
    for value in (x + 1).tolist():
        total += value
    return x * total


@program("F10", lambda: [torch.tensor([2, 0, 1]), torch.tensor([1, 1, 1])], differs="fewer_breaks", why=MORE)
def tensor_as_an_index(i):
    items = ["a", "b", "c"]
    return items[i[0]], items[int(i[1])], list(range(10))[i[2] : 5], i + 1


@program("F10 I11", twice, differs="torch_differs", why=TORCH_WRONG)
def sorted_tensors(x):
    return sorted([x[1], x[0], x[2]]), min(x[0], x[1]), max([x[0], x[2]])
