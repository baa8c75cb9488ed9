"""Questions to tensors that their sizes and dtypes answer."""

import torch

from tests.conformance.program import program, t

BREAKS = "torch.compile breaks at torch.result_type of a tensor"


@program("F10", lambda: [(t(2, 3),), (t(2, 3, dtype=torch.int16),), (t(0, 3, dtype=torch.complex64),)])
def bytes_of_a_tensor(x):
    part = x[0:1]
    return x + 1, x.nbytes, part, part.nbytes


@program(
    "F10 B8",
    lambda: [(t(2, 3),), (t(4, 3),), (t(5, 3),)],
    differs="torch_differs",
    why="torch.compile fails to read nbytes once a size is a symbol",
)
def bytes_of_a_tensor_of_any_size(x):
    return x * x.nbytes if x.nbytes > 40 else x


@program(
    "F10",
    lambda: [(t(2, 3),), (t(2, 3, dtype=torch.int32),), (t(2, dtype=torch.bool),)],
    differs="fewer_breaks",
    why=BREAKS,
)
def result_type_with_numbers(x):
    kinds = [torch.result_type(x, other) for other in (1, 1.5, 2j, True)]
    return x.to(torch.result_type(x, 0.5)), kinds, torch.result_type(3, x), torch.result_type(1, 2.0)


@program(
    "F10", lambda: [(t(2, 3, dtype=torch.int32), t(2, 3, dtype=torch.int64))], differs="fewer_breaks", why=BREAKS
)
def result_type_of_tensors(x, y):
    total = y.sum()
    return x.to(torch.result_type(x, y)), torch.result_type(x, total), torch.result_type(total, x[0, 0])


@program("F10 B4", lambda: [(t(2), 1), (t(2), 5), (t(2), 7), (t(2, dtype=torch.int8), 300)])
def result_type_with_a_number_that_varies(x, n):
    return x * n, torch.result_type(x, n)


@program("F10", lambda: [(t(2),)])
def result_type_refuses_texts(x):
    try:
        torch.result_type(x, "a")
    except TypeError as error:
        said = type(error).__name__
    return x + 1, said
