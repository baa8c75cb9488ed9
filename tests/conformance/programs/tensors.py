"""Tensor functions and methods in the graph, views, in-place changes and constant questions."""

import torch
import torch.nn.functional as F

from tests.conformance.program import program, t


@program("F10")
def methods_in_a_chain(x):
    return x.abs().add(1).sqrt().mul(2).clamp(0, 3).sum(dim=1, keepdim=True)


@program("F10")
def functions_of_torch(x, y):
    return torch.add(x, y), torch.where(x > 0, x, y), torch.maximum(x, y), torch.cat([x, y], dim=1)


@program("F10")
def functional(x):
    return F.softmax(x, dim=-1), F.relu(x), F.layer_norm(x, (3,)), F.pad(x, (1, 1))


@program("F10")
def results_with_names(x):
    m = x.max(dim=1)
    values, indices = x.sort(dim=1)
    return m.values, m.indices, values, indices, torch.topk(x, 2)


@program("F10")
def split_chunk_unbind(x):
    a, b = x.split(1)
    c = x.chunk(3, dim=1)
    return a, b, c, x.unbind(), torch.tensor_split(x, 2)


@program("F10")
def indexing_in_every_form(x):
    return x[0], x[-1, 1:], x[:, None], x[..., 0], x[[0, 1], [1, 2]], x[x > 0].sum(), x[torch.tensor([1, 0])], x[None]


@program("F10 O7")
def index_assignment(x):
    x[0] = 1
    x[1, 1:] = x[0, :2]
    x[x > 2] = 0
    x[..., -1] += 5
    return x.sum()


@program("F10 O7")
def index_assignment_on_a_fresh_tensor(x):
    y = torch.zeros(2, 3)
    y[0] = x[1]
    y[:, 1] = 7
    return y


@program("F10")
def views(x):
    return (
        x.view(3, 2),
        x.reshape(-1),
        x.t(),
        x.permute(1, 0),
        x.unsqueeze(0).squeeze(),
        x.flatten(),
        x.expand(2, 2, 3),
    )


@program("F10 O7")
def view_changed_in_place(x):
    y = x.view(-1)
    y[0] = 100
    y.mul_(2)
    return y, x[0, 0]


@program("F10 O7")
def in_place_methods_on_an_input(x):
    x.add_(1).mul_(2)
    x.clamp_(min=0)
    x.zero_()
    x.fill_(3)
    return x


@program("F10 O7")
def copy_into_an_input(x, y):
    x.copy_(y * 2)
    return x + y


@program("F10 O7")
def out_argument(x, y):
    torch.add(x, 1, out=y)
    return y * 2


@program("F10")
def input_returned(x):
    return x


@program("F10")
def input_and_its_view_returned(x):
    return x, x.view(-1), x[0], x + 1


@program("F10")
def same_result_twice(x):
    y = x + 1
    return y, y, [y, {"k": y}]


@program("F10")
def questions_about_a_tensor(x):
    return (
        x + 1,
        x.shape,
        x.size(),
        x.size(-1),
        x.dim(),
        x.ndim,
        x.numel(),
        x.dtype,
        x.device,
        x.layout,
        x.requires_grad,
        x.is_cuda,
        x.is_contiguous(),
        x.stride(),
        x.element_size(),
        x.is_floating_point(),
        x.is_leaf,
        len(x),
    )


@program("F10")
def questions_about_torch(x):
    return (
        x + 1,
        torch.is_tensor(x),
        torch.is_floating_point(x),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.cuda.is_available(),
        torch.finfo(x.dtype).max,
        torch.iinfo(torch.int8).min,
        torch.promote_types(torch.int32, torch.float16),
        torch.result_type(x, 1),
    )


@program("F10")
def conversions(x):
    return (
        x.to(torch.float64),
        x.int(),
        x.half(),
        x.bool(),
        x.long().float(),
        x.type(torch.int16),
        x.type_as(x),
        x.cpu(),
    )


@program("F10")
def factories(x):
    return (
        torch.zeros(2),
        torch.ones_like(x),
        torch.arange(3),
        torch.full((2,), 5),
        torch.eye(2),
        torch.linspace(0, 1, 3),
        torch.empty_like(x).fill_(1),
        x.new_zeros(2),
        torch.tensor([1, 2, 3]),
        torch.tensor(1.5),
        torch.as_tensor([1.0]),
    )


@program("F10")
def factories_with_mixed_data(x):
    a = x.shape[0]
    return torch.tensor([a, 2]), torch.tensor([[1.0, a]]), x * torch.tensor(2)


@program("F10")
def tensor_from_tensors(x):
    return torch.stack([x[0, 0], x[1, 1]]), torch.tensor([1.0, 2.0]) + x[0, :2]


@program("F10")
def random_functions(x):
    return (
        torch.rand(2),
        torch.randn_like(x),
        torch.randint(0, 5, (3,)),
        F.dropout(x, 0.5),
        torch.bernoulli(x.sigmoid()),
    )


@program("F10")
def manual_seed_inside(x):
    torch.manual_seed(5)
    return torch.rand(2) + x[:, :2]


@program("F10")
def einsum_and_products(x, y):
    return (
        torch.einsum("ij,kj->ik", x, y),
        torch.matmul(x, y.T),
        x.mm(y.t()),
        torch.bmm(x[None], y.t()[None]),
        x.T.shape,
    )


@program("F10")
def reductions(x):
    return (
        x.sum(),
        x.mean(0),
        x.prod(1),
        x.std(),
        x.amax(),
        x.argmax(),
        x.any(),
        x.all(),
        x.cumsum(0),
        x.norm(),
        x.logsumexp(0),
    )


@program("F10")
def comparisons_and_selection(x, y):
    return (
        torch.equal(x, x),
        torch.allclose(x, y),
        x.eq(y),
        torch.isclose(x, y),
        x.masked_fill(x > 0, 0),
        x.gather(1, x.long() * 0),
    )


@program("F10 I5")
def data_dependent_shape(x):
    y = x + 1
    return y.nonzero(), torch.unique(y)


@program("F10")
def masks(x):
    return x[x > 0], x.masked_select(x < 0)


@program("F10")
def complex_tensors(x):
    z = torch.complex(x, x + 1)
    return z, z.real, z.abs(), torch.view_as_real(z), z.conj().imag


@program("F10 O7")
def attribute_set_on_a_tensor(x):
    x.note = "tagged"
    y = x + 1
    y.tag = 5
    return y, x.note


@program("F10")
def clone_and_contiguous(x):
    return x.clone(), x.t().contiguous(), x.detach().clone(), x.contiguous() is x


@program("F10")
def iteration_and_length(x):
    rows = list(x)
    return rows, len(rows), [v.sum() for v in x], sum(x), tuple(x[0])


@program("F10 I4", differs="fewer_breaks", why="torch does not capture the comparison before the break")
def membership_of_a_number(x):
    return 0.75 in x, x + 1


@program("F10")
def method_by_name(x):
    total = 0
    for name in ("sin", "cos", "relu"):
        total = total + getattr(x, name)() + getattr(torch, name)(x)
    return total


@program("F10")
def tensor_class_methods(x):
    return torch.Tensor.add(x, 1), torch.Tensor.view(x, -1), torch.Tensor.__add__(x, 2), torch.Tensor.size(x, 0)


@program("F10")
def sizes_as_tuples(x):
    b, c = x.shape
    return (
        x.reshape(x.shape[::-1]),
        x.shape[1:],
        tuple(x.shape),
        list(x.size()),
        x.shape == (2, 3),
        torch.Size([b]) + (c,),
    )


@program("F10 O4", differs="fewer_breaks", why="torch.compile breaks where a program asks where a tensor starts")
def storage_and_pointers(x):
    y = x.view(-1)
    return y.storage_offset(), x[1].storage_offset(), y + 1


@program("F10 I14")
def numpy_and_back(x):
    a = (x + 1).numpy()
    return torch.from_numpy(a) * 2


@program("F10 I14")
def print_of_values(x):
    y = x.sum()
    print(f"{y.item():.1f}")
    return y + 1


@program("F10 O7")
def set_and_resize(x):
    y = torch.zeros(2)
    y.resize_(4).fill_(1)
    y.t_()
    return y, x.unsqueeze_(0).shape


@program(
    "F10 O7",
    lambda: [(a := t(4), a[:2])],
    differs="stricter",
    why="no back end runs a graph that changes inputs sharing memory",
)
def overlapping_inputs(x, y):
    y.add_(10)
    return x + 1


@program(
    "F10 O7",
    lambda: [(a := t(2, 3), [a, a[0]], {"k": a})],
    differs="stricter",
    why="no back end runs a graph that changes inputs sharing memory",
)
def one_storage_three_ways(x, views, named):
    views[1].mul_(2)
    return named["k"].sum(), views[0] is x


@program("F10")
def scalar_tensor_arithmetic(x):
    s = torch.tensor(2.0)
    n = torch.tensor(3)
    return x * s, x + n, s**n, n // 2, s > 1


@program("F10")
def conv_and_pool(x):
    y = x.reshape(1, 1, 2, 3)
    return F.conv2d(y, torch.ones(1, 1, 2, 2)), F.avg_pool2d(y, 2), F.interpolate(y, scale_factor=2)


@program("F10")
def losses(x, y):
    return F.mse_loss(x, y), F.cross_entropy(x, torch.tensor([0, 2])), F.l1_loss(x, y, reduction="none")


@program(
    "B5",
    calls=lambda: [t(2, 3), t(3, 4).T, t(2, 3, 4, 5).to(memory_format=torch.channels_last)],
)
def order_of_dimensions(x):
    y = x + 1
    return y, x.dim_order(), y.dim_order(), y.transpose(0, 1).dim_order()
