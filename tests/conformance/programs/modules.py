"""`nn.Module`s as arguments and as globals."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.conformance.program import program, t


@program(
    "B11",
    lambda: [
        (nn.Linear(3, 4), t(2, 3)),
    ],
)
def linear(m, x):
    return m(x)


@program("B11", lambda: [(nn.Linear(3, 4, bias=False), t(2, 3))])
def linear_without_bias(m, x):
    return m(x).relu()


@program("B11", lambda: [(nn.LayerNorm(3), t(2, 3))])
def layer_norm(m, x):
    return m(x) + x


@program("B11", lambda: [(nn.Embedding(7, 4), torch.tensor([[1, 2], [6, 0]]))])
def embedding(m, tokens):
    return m(tokens)


@program("B11", lambda: [(nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 2)), t(2, 3))])
def sequential(m, x):
    return m(x)


@program("B11", lambda: [(nn.ModuleList([nn.Linear(3, 3) for _ in range(3)]), t(2, 3))])
def module_list(layers, x):
    for layer in layers:
        x = layer(x).tanh()
    return x, len(layers), layers[0] is layers[-3]


@program("B11", lambda: [(nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.ReLU()}), t(2, 3))])
def module_dict(layers, x):
    for name, layer in layers.items():
        x = layer(x)
    return x, list(layers.keys()), "a" in layers


@program("B11", lambda: [(nn.ParameterList([nn.Parameter(t(3)), nn.Parameter(t(3, start=3))]), t(2, 3))])
def parameter_list(weights, x):
    for weight in weights:
        x = x * weight
    return x


@program("B11", lambda: [(nn.Dropout(0.5).eval(), t(2, 3))])
def dropout_in_eval(m, x):
    return m(x) * 2


@program("B11 G1", lambda: [(d := nn.Dropout(0.0).train(), t(2, 3)), (d.eval(), t(2, 3))])
def training_flag_changes(m, x):
    return m(x) + (1 if m.training else 2)


@program("B11", lambda: [(nn.BatchNorm1d(3).eval(), t(2, 3))])
def batch_norm_in_eval(m, x):
    return m(x)


@program("B11 O7", lambda: [(m := nn.BatchNorm1d(3), t(4, 3)), (m, t(4, 3, start=2))])
def batch_norm_in_training(m, x):
    return m(x)


@program("B11", lambda: [(nn.Conv2d(2, 3, 3, padding=1), t(1, 2, 4, 4))])
def convolution(m, x):
    return F.max_pool2d(m(x), 2)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, 2 * width)
        self.second = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)
        self.scale = 0.5
        self.register_buffer("offset", torch.ones(width))

    def forward(self, x, *, twice=False):
        y = self.second(F.gelu(self.first(self.norm(x))))
        return x + y * self.scale * (2 if twice else 1) + self.offset


@program("B11", lambda: [(Block(4), t(2, 4)), (Block(4), t(2, 4))])
def user_module(m, x):
    return m(x)


@program("B11", lambda: [(m := Block(4), t(2, 4)), (m, t(2, 4))])
def user_module_with_keyword(m, x):
    return m(x, twice=True)


@program("B11", lambda: [(nn.Sequential(Block(4), Block(4)), t(2, 4))])
def nested_user_modules(m, x):
    return m(x)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (each.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for each in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=11, width=8, heads=2, layers=2, length=16):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def token_batches():
    gpt = GPT()
    return [(gpt, torch.arange(2 * n).reshape(2, n) % 11) for n in (5, 7, 9)]


@program("B11 B8", token_batches)
def small_gpt_at_three_lengths(model, tokens):
    return model(tokens)


@program("B11", lambda: [(GPT(layers=1), torch.arange(4).reshape(1, 4))])
def small_gpt_loss(model, tokens):
    logits = model(tokens)
    return F.cross_entropy(logits[:, :-1].reshape(-1, 11), tokens[:, 1:].reshape(-1))


class Printing(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x):
        y = self.a(x)
        print(y.shape)
        if y.sum() > 0:
            y = y + 1
        return self.b(y)


@program("B11 I14 I4", lambda: [(Printing(), t(2, 3))])
def module_that_breaks(m, x):
    return m(x) * 2


@program("B11 I14", lambda: [(nn.Sequential(Printing(), Printing()), t(2, 3))])
def sequence_of_modules_that_break(m, x):
    return m(x)


def with_hooks():
    m = nn.Linear(3, 3)
    m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    m.register_forward_hook(lambda module, args, output: output * 2)
    return [(m, t(2, 3))]


@program("B11", with_hooks)
def forward_hooks(m, x):
    return m(x)


@program("B11", lambda: [(nn.Linear(3, 3), t(2, 3))])
def parameters_read_directly(m, x):
    return x @ m.weight.t() + m.bias, [name for name, _ in m.named_parameters()]


@program("B11", lambda: [(Block(4), t(2, 4))])
def walks_over_a_module(m, x):
    total = sum(p.sum() for p in m.parameters())
    return x + total, [n for n, _ in m.named_children()], [n for n, _ in m.named_buffers()], len(list(m.modules()))


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        self.total += x.sum()
        return x + self.calls


@program("B11 O7", lambda: [(m := Counting(), t(2)), (m, t(2)), (m, t(2))])
def module_counts_its_calls(m, x):
    return m(x)


class Reassigning(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(2))
        self.cache = {}

    def forward(self, x):
        self.last = x * 2
        self.cache["x"] = x
        self.note = "seen"
        return self.last + 1


@program("B11 O7", lambda: [(m := Reassigning(), t(2)), (m, t(2, start=3))])
def module_reassigns_attributes(m, x):
    return m(x)


SHARED = nn.Linear(3, 3)


@program("B11 I13")
def module_in_a_global(x):
    return SHARED(x)


@program("B11", lambda: [(lambda m: (nn.Sequential(m, m), t(2, 3)))(nn.Linear(3, 3))])
def one_module_twice(m, x):
    return m(x), m[0] is m[1]


class Dispatching(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x, mode="plain"):
        return getattr(self, f"run_{mode}")(x)

    def run_plain(self, x):
        return self.layer(x)

    def run_twice(self, x):
        return self.layer(self.layer(x))

    @property
    def width(self):
        return self.layer.out_features

    @staticmethod
    def shift(x):
        return x + 1

    @classmethod
    def named(cls):
        return cls.__name__


@program("B11 I10", lambda: [(m := Dispatching(), t(2, 3), "plain"), (m, t(2, 3), "twice")])
def module_methods(m, x, mode):
    return m.shift(m(x, mode)) * m.width, m.named()


@program("B11", lambda: [(nn.MultiheadAttention(4, 2, batch_first=True).eval(), t(2, 3, 4))])
def multihead_attention(m, x):
    out, weights = m(x, x, x, need_weights=True)
    return out, weights


@program("B11 I5", lambda: [(nn.Linear(3, 3), t(2, 3))])
def missing_attribute_of_a_module(m, x):
    try:
        return m.missing
    except AttributeError as error:
        return m(x), str(error)


@program("B11 G1", lambda: [(m := nn.Linear(3, 3), t(2, 3)), (m.requires_grad_(False), t(2, 3))])
def frozen_between_calls(m, x):
    return m(x)


@program("B11 F3", lambda: [(nn.Linear(3, 3), t(2, 3))])
def module_in_no_grad(m, x):
    with torch.no_grad():
        y = m(x)
    return y, m(x)


@program(
    "B11",
    lambda: [(nn.LSTM(3, 4, batch_first=True), t(2, 5, 3))],
    differs="fewer_breaks",
    why="torch does not trace recurrent modules",
)
def lstm(m, x):
    out, (h, c) = m(x)
    return out, h, c
