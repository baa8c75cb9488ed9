"""Views whose base varies between calls: strides as symbols, where they are bound, and what asks for them."""

import torch

from tests.conformance.program import program, t

ASKS = "torch.compile breaks where a program asks where a tensor starts in its memory"
NBYTES = "torch.compile runs what follows the size of a storage as plain Python"
IDLE = "torch.compile guards strides that say nothing of where elements lie"
SETTLED = "torch.compile compiles anew for each layout of a module's own tensors"


def columns(*widths, start=0, stop=2):
    return [t(4, width)[:, start:stop] for width in widths]


@program("B8 O4", lambda: [(each, t(4, 1)) for each in columns(*range(2, 13), stop=1)])
def a_column_of_matrices(x, y):
    return x * y


@program("B8 O4", lambda: columns(2, 5, 6, 2, 9))
def whole_and_then_columns(x):
    return x * 2, x.is_contiguous()


@program("B8 O4", lambda: [t(4, 10)[:, :width] for width in (3, 4, 5, 7)])
def more_columns_of_one_matrix(x):
    return x.sum(1), x + 1


@program("B8 O4", lambda: [t(rows, rows + 3)[:, :3] for rows in (2, 3, 4, 6)])
def rows_and_base_vary(x):
    return x @ torch.ones(3, 2), x.stride()


@program("B8 O4", lambda: [t(width, width)[:, :2] for width in (3, 4, 5, 6)])
def columns_of_squares(x):
    return x.t() @ x


@program("B8 O4", lambda: [t(3, n).t() for n in (2, 4, 5, 7)])
def transposed(x):
    return x * 2, x.t().view(-1)


@program("B8 O4", lambda: [t(3, 3), t(3, 3).t(), t(3, 3), t(3, 3).t(), t(3, 4)[:, :3]])
def transposed_or_not(x):
    return x * 2, x.is_contiguous()


@program("B8 O4", lambda: [t(3, n)[:, ::2] for n in (3, 4, 5, 8, 9)])
def every_second_column(x):
    return x - 1, x.contiguous()


@program("B8 O4", lambda: [t(40)[::step][:4] for step in (2, 3, 5, 8)])
def steps_vary(x):
    return x.cumsum(0)


@program("B8 O4", lambda: [t(40)[::step][:4] for step in (1, 2, 3, 1, 5)])
def steps_of_one_and_more(x):
    return x * 2


@program("B8 O4", lambda: [t(10, n).narrow(1, n - 4, 2) for n in (4, 5, 7, 9)])
def narrowed(x):
    return x + 1


@program("B8 O4", lambda: [t(4, 2 * n).chunk(2, 1)[1] for n in (2, 3, 4, 5)])
def halves(x):
    return x + x[:, :1]


@program("B8 O4", lambda: [t(8, n, 4)[:, 1] for n in (2, 3, 5, 6)])
def one_step_of_sequences(x):
    return x @ torch.ones(4, 2)


@program("B8 O4", lambda: [t(3).expand(n, 3) for n in (2, 3, 5)])
def expanded(x):
    return x + 1, x.stride()


@program("B8 O4", lambda: [t(100).as_strided((2, 3, 4), (40 + n, 10 + n, 2 + n)) for n in (1, 2, 3, 5)])
def all_strides_vary(x):
    return x.sum(0), x.stride()


@program(
    "B8 O4", lambda: [t(100).as_strided((3, 3), strides) for strides in ((10, 2), (12, 2), (2, 10), (2, 14), (9, 2))]
)
def order_in_memory_turns(x):
    y = x * 2
    return y, y.stride()


@program("B8 O4", lambda: [t(4, 5, n)[:, :, :2].permute(2, 0, 1) for n in (3, 4, 6)])
def permuted(x):
    return x.contiguous().view(2, -1), x + 1


@program("B8 O4", lambda: [t(2, 3, n)[:, :, :4] for n in (4, 5, 7, 8)])
def split_into_heads(x):
    return x.view(2, 3, 2, 2).transpose(1, 2) * 2


@program("B8 O4", lambda: [(t(1, 2, 16, 4)[:, :, :n], t(1, 2, 1, 4)) for n in (2, 3, 5, 8)])
def filled_part_of_a_cache(keys, query):
    return query @ keys.transpose(-1, -2)


@program("B8 O4", lambda: [(t(1, 2, n, 4)[:, :, :2], t(1, 2, 1, 4)) for n in (2, 3, 5, 8)])
def part_of_caches_of_many_sizes(keys, query):
    return query @ keys.transpose(-1, -2)


def two_parts(width):
    base = t(4, width)
    return base[:, :1], base[:, 1:2]


@program("B8 O4", lambda: [two_parts(width) for width in (2, 3, 5, 6)], differs="fewer_breaks", why=NBYTES)
def two_columns_of_one_matrix(x, y):
    return x * y, x.untyped_storage().nbytes() > 0


def three_parts(n):
    base = t(3 * n)
    return base[:n], base[n : 2 * n], base[2 * n :]


@program("B8 O4", lambda: [three_parts(n) for n in (2, 3, 5, 6)])
def three_parts_of_one_tensor(x, y, z):
    return x + y * z


@program("B8 O4 O7", lambda: [(each,) for each in columns(3, 4, 5, 7)])
def columns_written_to(x):
    x.mul_(2)
    x[:, :1].add_(1)
    return x[1:]


@program("B8 O4 O7 I5", lambda: [t(100).as_strided((3, 4), (n, 1)) for n in (4, 5, 6, 2, 7)])
def rows_that_may_overlap(x):
    try:
        x.mul_(2)
    except RuntimeError as error:
        return "refused", str(error)[:30]
    return x + 1


@program("B8 O4", lambda: columns(3, 4, 5, 7))
def strides_asked(x):
    return x * x.stride(0), x.stride(), x.T.stride()


@program("B8 O4", lambda: columns(3, 4, 6, 7, 8))
def branch_on_a_stride(x):
    return x + 1 if x.stride(0) > 5 else x - 1


@program("B8 O4", lambda: columns(2, 3, 4, 6))
def copies_only_where_needed(x):
    y, z = x.contiguous(), x.reshape(-1)
    return y is x, y * 2, z, x.flatten() + 1


@program("B8 O4 I5", lambda: columns(2, 3, 4), differs="torch_differs", why="torch.compile raises its own error")
def viewed_or_refused(x):
    try:
        return x.view(-1) * 2
    except RuntimeError as error:
        return str(error).partition(" (")[0]


@program("B8 O4", lambda: [t(2, 3, n, 4).to(memory_format=torch.channels_last) for n in (3, 4, 5)])
def channels_last(x):
    y = x * 2
    return y, x.is_contiguous(), y.is_contiguous(memory_format=torch.channels_last)


@program("B8 O4", lambda: [t(2, n, 3, 4).to(memory_format=torch.channels_last) for n in (3, 4, 5)])
def channels_last_of_many_channels(x):
    y = x.relu()
    return y, y.is_contiguous(memory_format=torch.channels_last), x.contiguous()


def images_in_either_format():
    formats = (torch.channels_last, torch.contiguous_format)
    return [t(2, 3, n, 5).to(memory_format=formats[n % 2]) for n in (3, 4, 5, 6, 7)]


@program("B8 O4", images_in_either_format)
def channels_last_or_not(x):
    y = torch.nn.functional.max_pool2d(x, 2)
    return y, y.is_contiguous(), y.is_contiguous(memory_format=torch.channels_last)


@program("B8 O4", lambda: [t(2, channels, 5, 5)[:, :3] for channels in (3, 4, 5, 8)])
def some_channels(x):
    return torch.nn.functional.conv2d(x, torch.ones(2, 3, 2, 2)) / 4


@program("B8 O4", lambda: [t(100).as_strided((1, 4), (n, 1)) for n in (4, 5, 6, 9)], differs="fewer_breaks", why=IDLE)
def strides_of_size_1(x):
    return x * 2, x.is_contiguous(), x.reshape(-1)


@program(
    "B8 O4", lambda: [t(100).as_strided((3, 1, 2), (1, n, 3)) for n in (4, 5, 6)], differs="fewer_breaks", why=IDLE
)
def strides_of_size_1_between(x):
    return x * 2, x.view(3, 2)


@program(
    "B8 O4",
    lambda: [t(100).as_strided((3, 1, 2), (1, n, 3)) for n in (4, 5, 6, 7)],
    differs="fewer_breaks",
    why="torch.compile compiles once more",
)
def strides_of_size_1_asked(x):
    y = x * 2
    return y, y.stride(), x.stride()


@program("B8 O4", lambda: [t(4, n)[:, :0] for n in (2, 3, 4)], differs="fewer_breaks", why=IDLE)
def strides_without_elements(x):
    return x * 2, x.sum(1)


@program("B8 O4", lambda: [t(4, n)[:, :0] for n in (2, 3, 4, 5)])
def strides_without_elements_asked(x):
    return x.sum(1), x.stride()


@program("B8 O4", lambda: [t(100).as_strided((2, 1, 4, 4), (16, n, 4, 1)) for n in (16, 1, 17, 1, 16)])
def one_channel_in_either_format(x):
    y = torch.nn.functional.conv2d(x, torch.ones(2, 1, 2, 2))
    return y / 4, y.is_contiguous(), y.stride(), x.to(memory_format=torch.channels_last) is x


@program("B8 O4", lambda: [t(40)[n : n + 4] for n in (0, 1, 2, 5)], differs="fewer_breaks", why=ASKS)
def start_asked(x):
    y = x * 2
    return y + x.storage_offset()


@program(
    "B8 O4",
    lambda: [t(40, n)[n : n + 4, 1:3] for n in (3, 4, 5, 6)],
    differs="torch_differs",
    why="torch.compile keeps the first start",
)
def starts_of_views(x):
    return x + 1, x[1:, 1:].storage_offset(), x.t()[1].storage_offset(), x.as_strided((2,), (1,), 3).storage_offset()


@program("B8 O4", lambda: [t(40, n)[n : n + 4, 1:3] for n in (3, 4, 5, 6)], differs="fewer_breaks", why=ASKS)
def windows_laid_over(x):
    size, strides = (2, 2, 2), (x.stride(0), x.stride(0), x.stride(1))
    return x.as_strided(size, strides, x.storage_offset() + x.stride(0)) * 2


@program("B8 O4", lambda: [t(4, n)[:, 1:3] for n in (4, 5, 6)], compile={"dynamic": True})
def columns_dynamic_from_the_start(x):
    return x + 1, x.stride()


@program("B8 O4", lambda: columns(3, 4, 5), compile={"dynamic": False})
def columns_never_dynamic(x):
    return x + 1, x.stride()


def marked(mark, *widths):
    found = columns(*widths)
    for each in found:
        mark(each, 0)
    return found


@program("B8 O4", lambda: marked(torch._dynamo.mark_dynamic, 3, 4, 5))
def columns_marked_dynamic(x):
    return x * x.stride(0)


@program("B8 O4", lambda: [t(4, 3), t(2, 3, 4), t(2, 3, 5), t(4, 6)[:, :3], t(5, 6)[:, 1:4]])
def ranks_and_strides_change(x):
    return x * 2


@program("B8 B6 O4", lambda: [t(4, n).numpy()[:, :2] for n in (3, 4, 5, 6)])
def columns_of_arrays(a):
    return a * 2, a.T + 1


@program("B8 O4", lambda: [[each, t(5, each.stride(0))[:, 1:3]] for each in columns(3, 4, 6, 7)])
def columns_in_lists(tensors):
    return [each * 2 for each in tensors]


class Scale(torch.nn.Module):
    def __init__(self, weight, factor):
        super().__init__()
        self.weight = torch.nn.Parameter(weight)
        self.register_buffer("factor", factor)

    def forward(self, x):
        return x * self.weight + self.factor


linear = torch.nn.Linear(4, 3)
with torch.no_grad():
    linear.weight.copy_(t(3, 4))
    linear.bias.copy_(t(3))


@program("B8 B11 O4", lambda: [t(5, n)[:, :4] for n in (4, 5, 6, 7)])
def columns_for_a_module(x):
    return linear(x)


@program("B8 B11 O4", lambda: [t(n, n)[:, :4] for n in (4, 5, 6, 7)], compile={"dynamic": True})
def columns_for_a_module_dynamic_from_the_start(x):
    return linear(x)


@program(
    "B8 B11 O4",
    lambda: [(Scale(t(4, n)[:, :2], t(4, n)[:, 1:3]), t(4, 2)) for n in (3, 4, 5)],
    differs="fewer_breaks",
    why=SETTLED,
)
def parameters_that_are_columns(module, x):
    return module(x)


@program("B8 O4", lambda: [t(4, n, grad=True)[:, :2] for n in (3, 4, 5)])
def columns_of_leaves(x):
    return x * 2


@program("B8 O4", lambda: [t(4, n, dtype=torch.complex64)[:, 1:3].conj() for n in (3, 4, 5)])
def columns_conjugated(x):
    return x * 2, x.is_conj()
