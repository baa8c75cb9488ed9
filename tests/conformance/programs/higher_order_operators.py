"""Higher-order operators: control flow on tensors, attention with functions, and the others that torch registers."""

import torch
from torch._higher_order_ops import associative_scan, foreach_map, map, scan, strict_mode
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.wrap import wrap, wrap_with_set_grad_enabled
from torch.nn.attention.flex_attention import AuxRequest, and_masks, create_block_mask, create_mask, flex_attention

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]
QKV = lambda: [(t(1, 2, 8, 4), t(1, 2, 8, 4, start=3), t(1, 2, 8, 4, start=7))]


def shifted(a):
    return a.sin() + 1


def scaled(a):
    return a.cos() * 2


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        for index, parameter in enumerate(self.parameters()):
            parameter.data = t(*parameter.shape, start=index)

    def forward(self, x):
        return torch.cond(x.sum() > 0, self.left, self.right, (x,)) + 1


GATE = Gate()


@program("H2", lambda: [t(2, 3), -t(2, 3).abs()])
def cond_in_a_function(x):
    y = x + 1
    z = torch.cond(y.sum() > 0, shifted, scaled, (y,))
    return z * 3


@program("H2")
def cond_by_keywords(x):
    y = x * 2
    return torch.cond(pred=y.sum() > 0, true_fn=shifted, false_fn=scaled, operands=[y]) + 1


@program("H2")
def cond_twice(x):
    y = torch.cond(x.sum() > 0, shifted, scaled, (x,)) * 2
    z = torch.cond(y.mean() > 0, shifted, scaled, (y,))
    return y - z


@program("H2")
def cond_in_a_loop(x):
    for _ in range(3):
        x = torch.cond(x.sum() > 0, shifted, scaled, (x,)) - 1
    return x


@program("H2")
def cond_with_a_closure(x, y):
    scale = y * 2
    return torch.cond(x.sum() > 0, lambda a: a * scale, lambda a: a - scale, (x + 1,)) + 1


@program("H2", lambda: [t(2, 3), t(4, 3)])
def cond_by_a_size(x):
    y = x * 2
    return torch.cond(x.shape[0] > 3, shifted, scaled, (y,)) + 1


@program("H2", lambda: [t(2, 3), -t(2, 3).abs()])
def cond_in_a_module(x):
    return GATE(x * 2) * 2


@program("H2", G, then=lambda y: y.sum().backward())
def cond_with_gradients(x):
    return torch.cond(x.sum() > 0, shifted, scaled, (x * 2,)) + 1


@program("H2", differs="torch_differs", why="torch wraps the exception in one of its own")
def cond_whose_branches_differ(x):
    try:
        torch.cond(x.sum() > 0, lambda a: a[0], lambda a: a, (x + 1,))
    except Exception as error:
        return x * 2, isinstance(error, RuntimeError)


@program("H2 F12")
def cond_under_vmap(x):
    return torch.vmap(lambda row: torch.cond(row.sum() > 0, shifted, scaled, (row,)))(x + 1) * 2


@program("H3")
def while_loop_counts(x):
    def going(i, a):
        return i < 3

    def step(i, a):
        return i + 1, a * 2 + 1

    i, y = torch.while_loop(going, step, (torch.tensor(0), x + 1))
    return y * 2, i + 1


@program("H5")
def map_over_rows(x, y):
    z = map(lambda row, other: row.sin() + other, x + 1, y[0])
    return z * 2


@program("H5", G, then=lambda y: y.sum().backward())
def map_with_gradients(x):
    return map(lambda row: row.exp() * 2, x * 2) + 1


@program("H4")
def scan_over_rows(x):
    def step(carry, row):
        following = carry * 0.5 + row
        return following, following.sin()

    last, seen = scan(step, x[0] + 1, x * 2)
    return last + 1, seen * 2


@program("H4")
def scan_by_keywords(x):
    last, seen = scan(combine_fn=lambda c, r: (c + r, c * 2), init=x[:, 0] * 1, xs=x + 1, dim=1, reverse=True)
    return last + 1, seen * 2


@program("H4")
def associative_scan_over_rows(x):
    y = associative_scan(torch.add, x + 1, dim=0, combine_mode="generic")
    return y * 2


@program("H17")
def foreach_map_over_lists(x, y):
    a, b = foreach_map(torch.add, [x + 1, y], [y, x])
    return a * b


@program("H9")
def strict_mode_around_a_function(x):
    return strict_mode(lambda a: a.sin() + 1, (x * 2,)) * 2


@program("H8", lambda: [(t(2, 3, dtype=torch.int8), t(3, 2, dtype=torch.int8))])
def out_dtype_of_a_product(x, y):
    z = out_dtype(torch.ops.aten.mm.default, torch.int32, x, y)
    return z + 1


@program("H8", lambda: [(t(2, 3, dtype=torch.int8), t(3, 2, dtype=torch.int8))])
def out_dtype_by_its_namespace(x, y):
    return torch.ops.higher_order.out_dtype(torch.ops.aten.mm.default, torch.int32, x, y) + 1


@program("H6")
def wrap_a_function(x):
    return wrap(shifted, x + 1) * 2


@program("H6")
def wrap_with_a_grad_mode(x):
    return wrap_with_set_grad_enabled(False, shifted, x + 1) * 2


@program("H17")
def hints_around_a_function(x):
    y = torch.ops.higher_order.hints_wrapper(lambda a: shifted(a), (x + 1,), {}, hints={"one": True})
    return y * 2


@program("H17")
def nested_compile_region(x):
    @torch.compiler.nested_compile_region
    def block(a):
        return a.sin() * 2

    return block(block(x + 1)) * 3


@program("H13", QKV)
def flex_attention_of_nothing(q, k, v):
    return flex_attention(q * 2, k, v) + 1


@program("H13", QKV)
def flex_attention_with_scores_changed(q, k, v):
    def closer(score, b, h, i, j):
        return score + (i - j) * 0.1

    return flex_attention(q * 2, k, v, score_mod=closer) + 1


@program("H13", QKV)
def flex_attention_with_a_block_mask(q, k, v):
    mask = create_block_mask(lambda b, h, i, j: i >= j, B=None, H=None, Q_LEN=8, KV_LEN=8, device="cpu")
    return flex_attention(query=q * 2, key=k, value=v, block_mask=mask) + 1


FLEX_BIAS = torch.arange(8.0)
FLEX_MASK = create_block_mask(lambda b, h, i, j: i >= j, B=None, H=None, Q_LEN=8, KV_LEN=8, device="cpu")


@program("H13", QKV)
def flex_attention_with_a_mask_from_outside(q, k, v):
    def biased(score, b, h, i, j):
        return score + FLEX_BIAS[i] * (i - j)

    out, aux = flex_attention(q, k, v, score_mod=biased, block_mask=FLEX_MASK, return_aux=AuxRequest(lse=True))
    return out * 2, aux.lse


@program("H13", QKV)
def flex_attention_with_what_the_call_has(q, k, v):
    strength = k.abs().mean()

    def scaled(score, b, h, i, j):
        return torch.where(h == 0, score * strength, score / q.size(2))

    mask = and_masks(FLEX_MASK.mask_mod, lambda b, h, i, j: i - j < 4)
    local = create_block_mask(mask, None, None, 8, 8, device="cpu", BLOCK_SIZE=4)
    return flex_attention(q, k, v, scaled, local), local.kv_num_blocks


@program("H13")
def mask_created_by_a_function(x):
    mask = create_mask(lambda b, h, i, j: i >= j, 1, 1, 2, 3, device="cpu")
    return torch.where(mask, x * 2, 0)
