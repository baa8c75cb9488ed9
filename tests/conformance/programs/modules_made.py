"""Modules that the function makes, of its own classes and of torch's."""

import copy

import torch

from tests.conformance.program import program, t


@program(
    "B11 I10", lambda: [t(2, 3), t(2, 3)], differs="fewer_breaks", why="torch.compile leaves more of it to Python"
)
def module_class_with_state_in_the_function(x):
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0
            self.inner = torch.nn.ReLU()

        def forward(self, v):
            self.calls += 1
            return self.inner(v) * self.calls

    m = Counter()
    return m(m(x) + 1), m.calls, m.training, [name for name, _ in m.named_modules()]


@program("B11 I10", then=lambda made: (made[0](t(2)), made[0].training, made[0].eval().training, made[0].k))
def module_made_in_the_function_leaves_it(x):
    class Scale(torch.nn.Module):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def forward(self, v):
            return v * self.k

    m = Scale(3)
    return m, m(x) + 1


@program("B11")
def modules_without_parameters_made_in_the_function(x):
    net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten(0), torch.nn.Softmax(dim=0))
    return net(x + 1), len(net), repr(net[0])


@program(
    "B11 O9", lambda: [t(2, 3), t(2, 3)], differs="fewer_breaks", why="torch.compile leaves more of it to Python"
)
def linear_layer_made_in_the_function(x):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    y = layer(x)
    return y.shape, y.requires_grad, layer.weight.shape, [n for n, _ in layer.named_parameters()]


@program("B11 O9", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def linear_layer_with_its_draws(x):
    torch.manual_seed(3)
    layer = torch.nn.Linear(3, 2)
    return layer(x).detach(), torch.rand(2)


@program("B11 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def buffers_and_members_of_a_module_made(x):
    class Holder(torch.nn.Module):
        def __init__(self, v):
            super().__init__()
            self.register_buffer("seen", v)
            self.register_buffer("none", None)
            self.act = torch.nn.Tanh()
            self.acts = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Identity()])
            self.table = torch.nn.ModuleDict({"a": torch.nn.Sigmoid()})

        def forward(self, v):
            for act in self.acts:
                v = act(v)
            self.seen = self.seen + 1
            return self.act(v) + self.seen + self.table["a"](v)

    m = Holder(x * 2)
    y = m(x)
    del m.act
    return y, m.seen, [n for n, _ in m.named_buffers()], [n for n, _ in m.named_children()], hasattr(m, "act")


@program("B11 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def hooks_on_a_module_made(x):
    log = []
    m = torch.nn.ReLU()
    m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    m.register_forward_hook(lambda module, args, out: log.append(module.training) or out * 2)
    m.eval()
    return m(x), log


@program("B11 I10 O7", lambda: [(torch.nn.Sequential(torch.nn.ReLU()), t(2, 3))])
def module_made_is_put_into_one_given(net, x):
    y = net(x)
    net.extra = torch.nn.Tanh()
    return net.extra(y), [n for n, _ in net.named_children()]


@program("B11 I12", then=lambda made: (made(t(2, 3)), len(made)))
def module_made_and_copied(x):
    net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
    other = copy.copy(net)
    y = other(x)
    return net if y is not None else other


@program("B11 I5", differs="torch_differs", why="torch.compile returns None")
def module_whose_init_raises(x):
    class Bad(torch.nn.Module):
        def __init__(self):
            self.sub = torch.nn.ReLU()

    try:
        Bad()
    except AttributeError as error:
        return x + 1, str(error)


@program("B11 I10")
def module_made_with_a_parameter_given(x):
    class Scale(torch.nn.Module):
        def __init__(self, v):
            super().__init__()
            self.scale = torch.nn.Parameter(v)

        def forward(self, v):
            return v * self.scale

    m = Scale(x + 1)
    y = m(x)
    return y.detach(), [n for n, _ in m.named_parameters()], y.requires_grad


@program("B11 O6", then=lambda m: (m(t(2, 3)), m.training, [n for n, _ in m.named_modules()]))
def module_made_crosses_a_break(x):
    m = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sequential(torch.nn.Tanh()))
    y = m(x)
    torch._dynamo.graph_break()
    z = m(y) + 1
    m.add_module("last", torch.nn.Identity())
    return m


def small():
    return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())


@program("B11 O7", lambda: [(net := small(), t(2, 3)), (net, t(2, 3)), (small(), t(2, 3))])
def submodules_replaced_and_deleted(net, x):
    y = net(x)
    net.act = torch.nn.Tanh()
    z = net.act(y)
    net.act = net[1]
    w = net.act(z)
    del net.act
    return w.shape, hasattr(net, "act"), [n for n, _ in net.named_children()], len(net)


@program("B11 O7", lambda: [(small(), small(), t(2, 3))], then=lambda made: made)
def parameters_shared_and_replaced(net, other, x):
    before = net[0](x)
    net[0].weight = other[0].weight
    net[0].extra = other[0].bias
    after = net[0](x)
    names = [n for n, _ in net.named_parameters()]
    net[0].extra = None
    return (after - before).shape, net[0].weight is other[0].weight, names, net[0].extra


@program(
    "B11 O7 I5", lambda: [(small(), t(2, 3))], differs="fewer_breaks", why="torch.compile leaves more of it to Python"
)
def what_a_module_refuses_to_register(net, x):
    said = []
    for name, value in (("weight", 3), ("weight", x)):
        try:
            setattr(net[0], name, value)
        except TypeError as error:
            said.append(str(error))
    try:
        del net[0].missing
    except AttributeError as error:
        said.append(str(error))
    net[0].bias = None
    return net[0](x).shape, said, net[0].bias


@program("B11 O7", lambda: [(net := small(), t(2, 3)), (net, t(2, 3))])
def module_with_members_moved(net, x):
    first = net[0]
    del net[0]
    net.append(first)
    return net(x).shape, [n for n, _ in net.named_children()], len(net)
