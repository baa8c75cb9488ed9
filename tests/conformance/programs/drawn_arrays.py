"""What programs take out of the arrays that NumPy draws, and what arrays they have it draw from."""

import numpy as np
import torch

from tests.conformance.program import program, t

MORE = "torch.compile breaks at a draw, or compiles once more"
OUTSIDE = "draws, and arrays of constants, are outside the graph: fewer operations are in it"
TORCH_WRONG = "torch draws from a stream of its own, or breaks"


def three_times():
    return [t(3), t(3), t(3)]


@program("O9 B6", three_times, differs="torch_differs", why=TORCH_WRONG)
def one_number(x):
    share = np.random.rand(1).item()
    places = np.random.randint(0, 5, size=3)
    return (
        x * share,
        share,
        x + int(places[0]),
        float(places[1]),
        places[2],
        places[-1].item(),
        np.random.rand(2, 2).item(3),
    )


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def numbers_as_a_list(x):
    return [x * n for n in np.random.permutation(3).tolist()]


@program("O9 B6", three_times, differs="stricter", why=OUTSIDE)
def drawn_from_arrays(x):
    places = np.random.choice(np.arange(10), 4, replace=False)
    odds = np.random.choice([0.0, 1.0], 2, p=np.array([0.25, 0.75]))
    return x + places[0], places, odds, np.random.permutation(np.arange(4)), np.random.permutation(places)


@program("O9 B6", lambda: [np.arange(5.0), np.arange(5.0), np.arange(6.0)])
def drawn_from_arguments(x):
    return np.random.choice(x, 2), np.random.permutation(x), x * 2


@program("O9 B6 O7", three_times, differs="torch_differs", why=TORCH_WRONG)
def changed_before_it_is_read(x):
    noise = np.random.rand(2)
    first, second = noise[0], noise.item(1)
    noise[0] = 4
    return first, second, noise, x + first, noise[0].item(), noise.item(1)


@program("O9 B6 O7", three_times)
def changed_before_it_is_drawn_from(x):
    items = np.arange(4)
    items[0] = 9
    return np.random.permutation(items), np.random.choice(items), x


@program("O9 B6 O7", three_times, differs="torch_differs", why=TORCH_WRONG)
def shuffled(x):
    items = np.arange(6)
    view = items[:3]
    np.random.shuffle(items)
    return x + torch.from_numpy(view), items, view


@program("O9 B6 O7", lambda: [np.arange(5.0), np.arange(5.0)], differs="torch_differs", why=TORCH_WRONG)
def shuffled_argument(x):
    np.random.shuffle(x)
    return x * 2


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def by_a_generator(x):
    rng = np.random.default_rng(3)
    items = rng.permutation(np.arange(5))
    rng.shuffle(items)
    return x * rng.random(1).item(), items, rng.choice(np.arange(4), 2)


@program("O9 B6 I4", three_times, differs="stricter", why=OUTSIDE)
def bounds_of_a_slice(x):
    start = np.random.randint(0, 2)
    return x[start : start + 2] * 2


@program("O9 B6 I4", three_times, differs="torch_differs", why=TORCH_WRONG)
def how_many(x):
    """As SpecAugment draws how many spans it masks."""
    count = max(int(2.5 + np.random.rand(1).item()), 1)
    return x + count, np.random.choice(np.arange(9), count, replace=False)


@program("O9 B6 I5", three_times)
def too_many(x):
    try:
        return np.random.choice(np.arange(2), 3, replace=False)
    except ValueError as error:
        return str(error)


@program("B6", three_times, differs="torch_differs", why="arrays that leave torch.compile own no memory")
def arrays_of_constants(x):
    a, e = np.arange(6), np.array([1.0, -0.0])
    z = np.zeros((2, 3))
    z[0] = 1
    result = x + 1, a, a[1:], e, z, np.eye(2), np.ones((3, 1), dtype=np.float32)
    return result, [array.flags.owndata for array in result[1:]]


@program("B6 O7", three_times, differs="stricter", why=OUTSIDE)
def array_of_constants_is_new(x):
    a = np.zeros(2)
    b = torch.from_numpy(a)
    b.data.add_(1)
    return a, np.zeros(2), x + 1
