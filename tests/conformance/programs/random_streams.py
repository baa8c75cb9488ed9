"""Python's random generators inside traced code: same values, same state afterwards, on every call."""

import random

import torch

from tests.conformance.program import program, t

CAPTURES_MORE = "torch breaks at a draw"
TORCH_WRONG = "torch draws other numbers or loses the state"
SHARED = random.Random(11)


def twice():
    return [t(2, 3), t(2, 3)]


def three_times():
    return [t(2), t(2), t(2)]


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def scales_by_a_draw(x):
    return x * random.random() + random.uniform(-1, 1)


@program("O9 I3", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draws_in_a_loop(x):
    for _ in range(4):
        x = x + random.gauss(0, 1)
    return x


@program("O9", three_times)
def draws_are_returned_as_numbers(x):
    return x + 1, random.random(), random.randint(3, 9), random.randrange(0, 100, 5), random.getrandbits(16)


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def every_distribution(x):
    drawn = [
        random.triangular(0, 4, 1),
        random.normalvariate(1, 2),
        random.lognormvariate(0, 0.5),
        random.expovariate(2.0),
        random.vonmisesvariate(0.5, 2),
        random.gammavariate(2, 3),
        random.betavariate(1, 2),
        random.paretovariate(3),
        random.weibullvariate(1, 2),
    ]
    return x + sum(drawn), drawn


@program("O9", three_times, differs="stricter", why="torch makes tensors of the resulting numbers")
def float_arithmetic_on_draws_is_not_simplified(x):
    r = random.random()
    return x * 1, r + 0.1 - 0.1 == r, r * 3 - r * 2, (r - 0.5) * 0, -r * 0.0, r / r


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def integer_arithmetic_on_draws(x):
    n = random.randint(2, 40)
    return x + n, n // 3, n % 7, n * n, n / 4, -n, n**2, n - n


@program("O9 I4", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draw_is_compared_and_kept(x):
    r = random.random()
    return x + r, r > 0.5, r < 2


@program("O9 I4", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draw_decides_a_branch_in_a_loop(x):
    for _ in range(3):
        if random.random() < 0.5:
            x = x + 1
        else:
            x = x * 2
    return x


@program("O9", three_times)
def draw_as_an_index(x):
    items = [x, x + 1, x + 2]
    return items[random.randrange(3)]


@program("O9", three_times)
def draw_as_a_size(x):
    return torch.zeros(random.randint(1, 4)) + x.sum()


@program("O9", three_times)
def draw_as_text(x):
    return f"{random.randint(0, 5)}", x + 1


@program("O9", three_times)
def draw_as_a_dict_key(x):
    return {random.randint(0, 5): x + 1}


@program("O9 I3", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draw_as_a_loop_bound(x):
    for i in range(random.randint(0, 3)):
        x = x + i
    return x


@program("O9", three_times)
def choice_of_a_tensor(x):
    return random.choice([x + 1, x + 2]) * 2


@program("O9", three_times)
def choice_of_a_name(x):
    return x + 1 if random.choice(["a", "b"]) == "a" else x - 1


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def choice_of_numbers(x):
    return x * random.choice([1, 2, 3]) + random.choice((0.5, 0.25)), random.choice(range(10))


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def samples_and_choices_of_numbers(x):
    a, b = random.sample(range(100), 2)
    return x + a - b, random.choices([1, 2, 3], k=2), random.choices([0.5, 1.5], weights=[1, 3], k=3)


@program("O9 O7", lambda: [(t(2), [1, 2, 3, 4]), (t(2), [1, 2, 3, 4])], differs="fewer_breaks", why=CAPTURES_MORE)
def shuffles_an_argument(x, items):
    random.shuffle(items)
    return x + items[0]


@program("O9 O7", lambda: [(t(2), [t(1), t(2)]), (t(2), [t(1), t(2)])])
def shuffles_tensors(x, items):
    random.shuffle(items)
    return x + items[0].sum()


@program("O9", lambda: [(t(2), random.Random(1)), (t(2), random.Random(2))], differs="torch_differs", why=TORCH_WRONG)
def generator_as_argument(x, rng):
    y = x * rng.random()
    return y + rng.uniform(0, 2), rng.randint(0, 3), rng


@program("O9", three_times, differs="torch_differs", why=TORCH_WRONG)
def generator_in_a_global(x):
    return x + SHARED.random(), SHARED.gauss(0, 1)


class Noisy:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def __call__(self, x):
        return x + self.rng.random()


@program("O9 I10", lambda: [(t(2), Noisy(3)), (t(2), Noisy(4))], differs="torch_differs", why=TORCH_WRONG)
def generator_in_an_attribute(x, noisy):
    return noisy(noisy(x))


@program(
    "O9",
    lambda: [t(2), t(2)],
    then=lambda r: (r[1].random(), r[1].getstate()),
    differs="fewer_breaks",
    why=CAPTURES_MORE,
)
def generator_made_inside_leaves(x):
    rng = random.Random(7)
    items = [x, x + 1, x + 2]
    rng.shuffle(items)
    return items[0] * rng.random() + rng.choice(items), rng


@program("O9 I14", lambda: [t(2), t(2)], differs="fewer_breaks", why=CAPTURES_MORE)
def generator_made_inside_crosses_a_break(x):
    rng = random.Random("text")
    x = x + rng.random()
    print("between")
    return x + rng.random(), rng.sample([x, 2, "three"], 2)


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def seeded_between_draws(x):
    a = random.random()
    random.seed(42)
    b = random.random()
    random.seed("word")
    return x + a + b, random.random()


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def state_kept_and_put_back(x):
    state = random.getstate()
    a = random.random()
    random.setstate(state)
    return x + a, random.random() == a, a


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def state_looked_at(x):
    state = random.getstate()
    return x + random.random(), state[0], len(state[1])


@program("O9 I5", three_times, differs="torch_differs", why=TORCH_WRONG)
def draw_that_raises_is_caught(x):
    x = x + random.random()
    try:
        random.randint(5, 1)
    except ValueError as error:
        x = x + len(str(error))
    return x + random.random()


@program("O9 I5", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def exception_after_a_draw(x):
    y = x + random.random()
    try:
        raise ValueError(random.randint(1, 3))
    except ValueError as error:
        return y, error.args


@program("O9 O6", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draws_around_prints(x):
    x = x + random.random()
    print("one")
    x = x + random.random()
    print("two")
    return x + random.randint(0, 9)


def noise(x, rng=random):
    return x + rng.random()


@program("O9 I9", three_times, differs="torch_differs", why=TORCH_WRONG)
def draws_in_an_inlined_function(x):
    return noise(noise(x)), noise(x, SHARED)


@program("O9 I8", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draws_in_a_generator(x):
    def numbers():
        while True:
            yield random.random()

    drawn = numbers()
    return x * next(drawn) + next(drawn)


@program("O9 I3", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draws_in_a_comprehension(x):
    weights = [random.random() for _ in range(3)]
    return sum(w * x for w in weights), weights


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def random_and_torch_streams(x):
    return x + torch.rand(2) * random.random()


@program("O9", lambda: [(t(2), 1.0), (t(2), 2.0), (t(2), 3.0)], differs="fewer_breaks", why=CAPTURES_MORE)
def bounds_given_by_an_argument(x, high):
    return x + random.uniform(0, high)


@program("O9", lambda: [t(2), t(3), t(4)], differs="fewer_breaks", why=CAPTURES_MORE)
def bound_given_by_a_size(x):
    return x + random.randint(0, x.shape[0])


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draw_given_to_a_draw(x):
    return x + random.uniform(random.random(), 2)


@program("O9", three_times, differs="torch_differs", why=TORCH_WRONG)
def number_of_any_size(x):
    return x + 1, random.getrandbits(200), random.randint(0, 10**30)


@program("O9", three_times, differs="stricter", why="what the system draws is left to Python")
def draw_and_system_random(x):
    return x + random.random(), random.SystemRandom().random() < 1


@program("O9 I10", three_times)
def subclass_of_the_generator(x):
    class Loaded(random.Random):
        def random(self):
            return 0.25

    return x + Loaded(1).random(), Loaded(2).uniform(0, 4)


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def converted_draws(x):
    r = random.uniform(1, 9)
    return x + int(r), float(random.randint(1, 3)), abs(-r)


@program("O9", three_times, differs="fewer_breaks", why=CAPTURES_MORE)
def draw_in_a_mutation(x):
    x += random.random()
    x[0] = random.random()
    return x
