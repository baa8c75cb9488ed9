"""Tensors that a program makes of Python numbers, sizes, items, and other tensors' elements."""

import torch

from tests.conformance.program import program, t

FEWER = {"differs": "fewer_breaks", "why": "torch compiles for each size"}
WRONG = {"differs": "torch_differs", "why": "torch does not convert as plain Python does"}


def sizes():
    return [t(3), t(4), t(5)]


def twice():
    return [t(3), t(3, start=4)]


@program("F10", twice)
def of_elements(x):
    return torch.tensor([x[0], x[2]]), torch.tensor([[x[0], 2], [1, x[1]]]), torch.tensor((x[1].double(), 1.5))


@program("F10", lambda: [(torch.tensor([2, 3]), 1.5), (torch.tensor([5, 2]), 2.5)])
def of_elements_of_other_types(i, r):
    return torch.tensor([i[0], i[1]]), torch.tensor([i[0] > 2, i[1] > 2]), torch.tensor([i[0].int(), r])


@program("F10", lambda: [(t(3), torch.tensor([2])), (t(3, start=2), torch.tensor([5]))], **WRONG)
def of_tensors_of_one_element(x, i):
    return torch.tensor([i, 3]), torch.tensor([x[:1], x[1:2]]), torch.as_tensor([x[0], x[1]])


@program("F10 I5", lambda: [t(3), t(3, start=2)], **WRONG)
def of_longer_tensors(x):
    try:
        return torch.tensor([x, x])
    except ValueError as error:
        return str(error), x + 1


@program("F10", sizes)
def of_sizes(x):
    return torch.tensor(x.shape), torch.tensor([len(x), 1]), torch.tensor(x.shape[0]), torch.tensor([x.numel() / 2])


@program("F10", sizes)
def of_sizes_and_given_dtypes(x):
    n = x.shape[0]
    return torch.tensor([n], dtype=torch.float32), torch.tensor(n, dtype=torch.int32), torch.tensor([n == 4, n > 2])


@program("F10", sizes, **FEWER)
def of_sizes_in_other_ways(x):
    n = x.shape[0]
    return torch.as_tensor([n, 2 * n]), x.new_tensor([n, 1.5]), torch.LongTensor([n, 1]), torch.Tensor([n, 2.0])


@program("F10 I5", lambda: [(t(2), 3), (t(2), 200), (t(2), 300)], **WRONG)
def that_do_not_fit(x, n):
    try:
        return x + 1, torch.tensor([n], dtype=torch.uint8)
    except RuntimeError as error:
        return x - 1, str(error)


@program("F10", lambda: [(t(2), 1.5), (t(2), 2.5), (t(2), 1e300)], **WRONG)
def of_numbers_too_large(x, r):
    return torch.tensor([r, 1.0]), torch.tensor([r], dtype=torch.float64), x * torch.tensor(r)


@program("F10", lambda: [(t(2), 2**54 + 3), (t(2), 2**61 + 2**37 + 1), (t(2), 2**60 - 1)], **WRONG)
def of_numbers_beyond_double_precision(x, n):
    return torch.tensor([n, 1.5]), torch.tensor([n]), torch.tensor([n], dtype=torch.float32), x + 1


@program("F10", lambda: [torch.tensor([2**54 + 3, 1]), torch.tensor([2**61 + 2**37 + 1, 1])], **WRONG)
def of_elements_beyond_double_precision(i):
    return torch.tensor([i[0], 1.5]), torch.tensor([i[0], i[1]])


@program("F10", twice)
def of_classes_of_tensors(x):
    return x + 1, torch.Tensor([1.5, 2.0]), torch.LongTensor([[1, 2]]), torch.BoolTensor([True]), torch.IntTensor()


@program("F10", sizes, **WRONG)
def uninitialised(x):
    made = torch.Tensor(2, 3), torch.FloatTensor(2), torch.DoubleTensor(x.shape), torch.Tensor(len(x))
    return x + 1, [(each.shape, each.dtype) for each in made]


@program("F10 I5", lambda: [t(2, grad=True)], **WRONG)
def of_elements_with_history(x):
    return (x * 2).sum(), torch.tensor([x[0], x[1]])


@program("B5 F8", lambda: [t(2), t(3), t(4), t(1)])
def new_of_a_size(x):
    made = x.new(x.shape).fill_(1), x.new(torch.Size([3, 1])).fill_(3), x.new(2, 2).fill_(2), x.new([1, 2]), x.new()
    return made, x.new(x.sum().shape).fill_(4)
