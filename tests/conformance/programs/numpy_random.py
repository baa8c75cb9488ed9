"""numpy arrays beside tensors, and random streams that must stay those of plain Python."""

import random

import numpy as np
import torch

from tests.conformance.program import program, t

CAPTURES_MORE = "torch breaks at a draw"


@program("B6")
def numpy_inside(x):
    a = np.array([1.0, 2.0, 3.0])
    b = a * 2 + np.ones(3)
    return x + torch.from_numpy(b)


@program("B6", lambda: [np.arange(4.0), np.arange(5.0), np.arange(6.0)])
def array_as_argument(a):
    return a * 2 + 1


@program("B6")
def tensor_to_numpy(x):
    return (x + 1).numpy().sum(axis=0)


@program(
    "B6",
    lambda: [(t(3), np.arange(3.0))],
    differs="fewer_breaks",
    why="torch does not read this attribute of an array",
)
def array_and_tensor(x, a):
    return x + torch.as_tensor(a), a.shape, a.dtype


@program("B6", lambda: [(t(3), np.float64(2.5)), (t(3), np.float64(3.5))])
def numpy_scalar_as_argument(x, s):
    return x * float(s)


@program("B6 O7", lambda: [np.arange(4.0)], differs="torch_differs", why="a 0-d array in place of a numpy scalar")
def array_changed_in_place(a):
    a += 1
    a[0] = 100
    return a.sum()


@program("B6", lambda: [np.arange(6).reshape(2, 3)])
def array_methods(a):
    return a.T, a.mean(axis=0), a.reshape(-1), a[0, 1:], a.astype(np.float32), np.concatenate([a, a])


@program("B6", differs="torch_differs", why="a 0-d array in place of a numpy scalar")
def numpy_functions_on_constants(x):
    return x * np.pi, np.sqrt(4.0), int(np.prod([2, 3])), np.float32(1.5), np.int64(3)


@program("B6 I4", lambda: [np.arange(4.0)])
def branch_on_an_array_value(a):
    if a.sum() > 3:
        return a + 1
    return a - 1


@program("O9", lambda: [t(2), t(2)], differs="fewer_breaks", why=CAPTURES_MORE)
def random_module(x):
    return x + random.random(), random.randint(1, 100), random.uniform(0, 1)


@program("O9", lambda: [t(2), t(2)], differs="fewer_breaks", why=CAPTURES_MORE)
def random_choices(x):
    items = [1, 2, 3]
    random.shuffle(items)
    return x + random.choice(items), items, random.sample(range(10), 2)


@program("O9")
def seeded_generator_object(x):
    r = random.Random(3)
    return x + r.random(), r.randint(0, 9)


@program("O9", differs="fewer_breaks", why=CAPTURES_MORE)
def random_seed_inside(x):
    random.seed(5)
    a = random.random()
    random.seed(5)
    return x + a, a == random.random()


@program("O9 I14", differs="fewer_breaks", why=CAPTURES_MORE)
def random_across_a_break(x):
    a = random.random()
    print("between")
    return x + a + random.random()


@program("O9 I4", differs="fewer_breaks", why=CAPTURES_MORE)
def random_decides_a_branch(x):
    if random.random() > 0.5:
        return x + 1
    return x - 1


@program("O9", differs="stricter", why="a draw enters the graph as an input, not as a constant")
def numpy_random(x):
    return x + float(np.random.rand()), np.random.randint(0, 10)


@program("O9", lambda: [t(4), t(4)])
def torch_random_stream(x):
    return torch.rand(2), torch.nn.functional.dropout(x, 0.5), torch.randperm(4)


@program("O9", lambda: [(t(2), torch.Generator().manual_seed(3))], then=lambda r: None)
def torch_generator_as_argument(x, g):
    return x + torch.rand(2, generator=g)


@program("O9", differs="fewer_breaks", why=CAPTURES_MORE)
def random_state_saved_and_restored(x):
    state = random.getstate()
    a = random.random()
    random.setstate(state)
    return x + 1, a == random.random()
