"""NumPy's random generators inside traced code: same values, same state afterwards, on every call."""

import numpy as np
import torch

from tests.conformance.program import program, t

MORE = "torch breaks at a draw"
TORCH_WRONG = "torch draws from a stream of its own, or breaks"


def three_times():
    return [t(2), t(2), t(2)]


def generators():
    return [(t(2), np.random.default_rng(1)), (t(2), np.random.default_rng(2))]


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def numbers(x):
    return x + np.random.rand() * np.random.uniform(1, 2), np.random.randint(0, 10), np.random.normal()


@program("O9 B6", three_times, differs="torch_differs", why=TORCH_WRONG)
def arrays(x):
    noise = np.random.normal(0, 1, size=2)
    return x + torch.from_numpy(noise), noise * 2, np.random.randint(0, 5, (2, 2)), np.random.rand(3)


@program("O9 B6", three_times, differs="torch_differs", why=TORCH_WRONG)
def drawn_array_is_changed(x):
    noise = np.random.rand(2)
    noise[0] = 1
    noise *= 2
    return noise, x + torch.as_tensor(noise)


@program("O9 B6", three_times, differs="torch_differs", why=TORCH_WRONG)
def seeded_inside(x):
    np.random.seed(3)
    a = np.random.rand()
    np.random.seed(3)
    return x + a, np.random.rand() == a


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def state_put_back(x):
    state = np.random.get_state()
    a = np.random.random_sample()
    np.random.set_state(state)
    return x + a, np.random.random_sample() == a


@program("O9 B6", three_times)
def permutations_and_choices(x):
    return x + 1, np.random.permutation(5), np.random.choice(5), np.random.choice([1.5, 2.5], size=3)


@program("O9 B6 I4", three_times, differs="fewer_breaks", why=MORE)
def branch_on_a_draw(x):
    return x + 1 if np.random.rand() > 0.5 else x - 1


@program("O9 B6", three_times, differs="torch_differs", why=TORCH_WRONG)
def shuffled_array(x):
    items = np.arange(4)
    np.random.shuffle(items)
    return x + 1, items


@program("O9 B6", generators, differs="fewer_breaks", why=MORE)
def generator_as_argument(x, rng):
    return x * rng.random() + rng.normal(), rng.integers(0, 9), rng.random(3) * 2, rng


@program("O9 B6", lambda: [(t(2), np.random.RandomState(1)), (t(2), np.random.RandomState(2))],
         differs="fewer_breaks", why=MORE)  # fmt: skip
def legacy_generator_as_argument(x, rng):
    return x * rng.rand() + rng.normal(), rng.randint(0, 9), rng.rand(3) * 2, rng.get_state()[2]


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def generator_made_inside(x):
    rng = np.random.default_rng(5)
    return x * rng.random(), rng.integers(0, 100, 3)


@program("O9 B6", three_times, differs="torch_differs", why=TORCH_WRONG)
def draws_around_a_break(x):
    a = np.random.rand(2)
    print("between")
    return x + torch.from_numpy(a * np.random.rand())


@program("O9 B6 I5", three_times, differs="torch_differs", why=TORCH_WRONG)
def draw_that_raises(x):
    a = np.random.rand()
    try:
        np.random.randint(5, 1)
    except ValueError as error:
        return x + a, str(error)
    return x


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def all_streams_together(x):
    import random

    return x * random.random() + np.random.rand() + torch.rand(2), np.random.randn(), random.randint(0, 9)
