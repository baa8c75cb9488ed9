"""Random generators as objects, draws of everything but numbers, and numbers drawn used as programs use them."""

import os
import random
import secrets
import time
import uuid

import numpy as np
import torch

from tests.conformance.program import program, t

MORE = "torch breaks at a draw"
STRICT = "what is drawn when the code runs is not guarded on"
TORCH_WRONG = "torch draws from a stream of its own, or breaks"
GENERATOR = np.random.default_rng(8)
LEGACY = np.random.RandomState(9)


def three_times():
    return [t(3), t(3), t(3)]


# --- NumPy's generators made in the trace ---------------------------------------------------------------------


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def generator_made_with_a_seed(x):
    rng = np.random.default_rng(5)
    return x * rng.random(), rng.integers(0, 100, 3), rng.normal(size=3)


@program(
    "O9 B6",
    three_times,
    then=lambda r: (r[1].random(), r[1].bit_generator.state["state"]),
    differs="fewer_breaks",
    why=MORE,
)
def generator_made_inside_leaves(x):
    rng = np.random.default_rng(5)
    return x + rng.standard_normal(), rng


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def legacy_generator_made_inside(x):
    rng = np.random.RandomState(3)
    return x * rng.rand() + rng.randint(4), rng.permutation(5)


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def generator_made_inside_crosses_a_break(x):
    rng = np.random.default_rng(2)
    x = x + rng.random()
    print("between")
    return x + rng.random(), rng.integers(9)


@program("O9 B6", lambda: [(t(3), 1), (t(3), 2), (t(3), 3)], differs="fewer_breaks", why=MORE)
def generator_made_with_an_argument(x, seed):
    rng = np.random.default_rng(seed)
    return x * rng.random()


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def generator_of_a_generator(x):
    rng = np.random.default_rng(np.random.PCG64(3))
    again = np.random.default_rng(rng)
    return x + rng.random() + again.random(), rng is again


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def generator_without_a_seed(x):
    rng = np.random.default_rng()
    return x + 1, rng.random() < 1


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def generators_in_globals(x):
    return x * GENERATOR.random() + LEGACY.rand(), GENERATOR.choice(5), LEGACY.choice([1.5, 2.5])


@program("O9 B6", three_times, differs="fewer_breaks", why=MORE)
def shuffle_by_a_generator(x):
    items = np.arange(5)
    GENERATOR.shuffle(items)
    return x + 1, items, GENERATOR.permutation(np.arange(3))


# --- draws of tensors and other objects ---------------------------------------------------------------------------


@program("O9", three_times)
def shuffled_list_of_tensors(x):
    items = [x, x + 1, x + 2]
    random.shuffle(items)
    return items[0] * 2, items


@program("O9", three_times)
def sample_of_tensors(x):
    a, b = random.sample([x, x + 1, x * 2], 2)
    return a - b


@program("O9", three_times)
def choices_of_tensors(x):
    return sum(random.choices([x, x + 1, x * 2], weights=[1, 2, 3], k=3))


@program("O9", three_times)
def choice_of_a_function(x):
    return random.choice([torch.sin, torch.cos, torch.relu])(x) + 1


@program("O9", three_times)
def choice_of_layers_by_number(x):
    layers = [lambda y: y + 1, lambda y: y * 2]
    return layers[random.randrange(2)](x) - 1


@program("O9", three_times)
def choice_of_a_key(x):
    ways = {"up": 1, "down": -1}
    return x * ways[random.choice(list(ways))]


@program("O9", three_times)
def choice_of_nothing(x):
    try:
        random.choice([])
    except IndexError as error:
        return x + random.random(), str(error)
    return x


# --- a drawn number as programs use it --------------------------------------------------------------------------


@program("O9 I4", three_times, differs="fewer_breaks", why=MORE)
def dropout_by_layer(x):
    for _ in range(3):
        if random.random() > 0.4:
            x = x * 2
    return x


@program("O9", three_times, differs="fewer_breaks", why=MORE)
def cropped(x):
    start = random.randint(0, 2)
    return x[start:], x[: start + 1], x[start]


@program("O9", three_times)
def sized(x):
    n = random.randrange(1, 4)
    return torch.ones(n, 2), x.repeat(n), x.expand(n, 3)


@program("O9", three_times, differs="fewer_breaks", why=MORE)
def formatted(x):
    r = random.random()
    return f"{r:.3f} {random.randint(1, 6)}", str(r), x + r


@program("O9", three_times)
def bound_of_a_loop(x):
    return [x + i for i in range(random.randint(1, 3))]


@program("O9 B6", lambda: [np.arange(3.0), np.arange(3.0), np.arange(3.0)], differs="stricter", why=STRICT)
def times_an_array(x):
    return x * random.random(), x + random.randint(1, 4), x * np.random.rand()


@program("O9 B6", three_times, differs="torch_differs", why=TORCH_WRONG)
def python_and_numpy_numbers_together(x):
    r = random.random()
    n = np.random.rand()
    return r + n, r * np.float64(2), x + (r - n)


@program("O9", three_times, differs="stricter", why=STRICT)
def maximum_and_sum(x):
    a, b = random.random(), random.random()
    return x + max(a, b), min(a, b), sum([a, b]), sorted([a, b])


@program("O9", three_times, differs="fewer_breaks", why=MORE)
def equal_to_a_number(x):
    return x + 1 if random.randint(0, 1) == 1 else x - 1


@program("O9", three_times, differs="stricter", why=STRICT)
def probability_argument(x):
    return torch.nn.functional.dropout(x, p=random.random()), torch.full((2,), random.random())


@program("O9", three_times, differs="fewer_breaks", why=MORE)
def kept_in_a_global_container(x):
    SEEN.append(random.random())
    return x + SEEN[-1], len(SEEN)


SEEN = []


# --- torch's streams ----------------------------------------------------------------------------------------------


@program("O9", three_times)
def torch_seeded_inside(x):
    torch.manual_seed(3)
    return x + torch.rand(3)


@program("O9", three_times)
def torch_generator_made_inside(x):
    g = torch.Generator().manual_seed(4)
    return x + torch.rand(3, generator=g)


@program("O9", lambda: [(t(3), torch.Generator().manual_seed(i)) for i in range(3)],
         then=lambda r: r[1].get_state().sum())  # fmt: skip
def torch_generator_as_argument(x, g):
    return x + torch.randn(3, generator=g) + torch.randint(0, 9, (3,), generator=g), g


@program("O9", three_times)
def torch_draws_around_breaks(x):
    x = x + torch.rand(3)
    print("one")
    x = x * torch.randn(3)
    print("two")
    return x + torch.randperm(3), torch.bernoulli(torch.full((3,), 0.5)), torch.rand_like(x), x.clone().uniform_()


@program("O9", three_times)
def torch_state_kept_and_put_back(x):
    state = torch.get_rng_state()
    a = torch.rand(3)
    torch.set_rng_state(state)
    return x + a, torch.equal(a, torch.rand(3))


@program("O9 I6", three_times, differs="fewer_breaks", why=MORE)
def torch_forked_stream(x):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        y = x + torch.rand(3)
    return y + torch.rand(3)


@program("O9", three_times)
def seed_of_torch_is_read(x):
    torch.manual_seed(17)
    return x + 1, torch.initial_seed()


@program("O9", three_times, differs="torch_differs", why=TORCH_WRONG)
def all_seeded(x):
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    return x + torch.rand(3) * random.random() + np.random.rand()


@program("O9 I5", three_times, differs="fewer_breaks", why=MORE)
def exception_after_draws_of_all(x):
    y = x + torch.rand(3) * random.random() + np.random.rand()
    if y.shape[0] == 3:
        raise ValueError("after")
    return y


@program("O9 I5", three_times, differs="torch_differs", why=TORCH_WRONG)
def graph_that_raises_after_draws(x):
    y = x * random.random() + torch.rand(3)
    return y[torch.tensor([7])]


@program("O9 I5", three_times, differs="fewer_breaks", why=MORE)
def graph_that_raises_after_draws_is_caught(x):
    try:
        y = x * random.random() + torch.rand(3)
        y = y[torch.tensor([7])]
    except IndexError:
        y = x
    return y + random.random()


# --- the system's streams and clocks ------------------------------------------------------------------------------


@program("O9", three_times)
def secrets_and_uuids(x):
    a, b = uuid.uuid4(), uuid.uuid4()
    return x + 1, a == b, len(secrets.token_hex(4)), len(os.urandom(3)), secrets.randbelow(1)


@program("O9", three_times)
def clock_is_never_constant(x):
    now = time.time_ns()
    return x + 1, os.environ.get("LAST_TIME") != str(now), os.environ.update(LAST_TIME=str(now))


@program("O9", three_times, differs="fewer_breaks", why=MORE)
def random_names_are_told_apart(x):
    name = uuid.uuid4().hex + secrets.token_hex(8)
    return x + 1, os.environ.get("LAST_NAME") != name, os.environ.update(LAST_NAME=name)
