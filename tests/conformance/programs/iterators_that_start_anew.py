"""Iterators inside others go on where they are: a user's own `__iter__` may start anew, count, or not be there."""

import itertools

import torch

from tests.conformance.program import program, t

FEWER = {"differs": "fewer_breaks", "why": "torch.compile leaves it to Python"}
WRONG = {"differs": "torch_differs", "why": "torch.compile leaves out what was taken before the break"}


class Loader:
    """Goes from its start at each `iter`."""

    def __init__(self, count=4):
        self.count, self.at, self.started = count, 0, 0

    def __iter__(self):
        self.at, self.started = 0, self.started + 1
        return self

    def __next__(self):
        if self.at == self.count:
            raise StopIteration
        self.at += 1
        return self.at


class Shelf:
    """Its iterator has no `__iter__`."""

    def __iter__(self):
        return Once()


class Once:
    def __init__(self):
        self.at = 0

    def __next__(self):
        if self.at == 4:
            raise StopIteration
        self.at += 1
        return self.at


def moved(result):
    return [(type(each).__name__, vars(each)) for each in result[1:] if isinstance(each, Loader)]


def with_a_break(x, over):
    seen = []
    for n in over:
        seen.append(n)
        x = x + 1
        if len(seen) == 2:
            print("break")
    return x, seen


def loaders():
    return [(t(2), Loader(), Shelf())]


@program("I12 B4", loaders, then=moved, **FEWER)
def enumerated(x, loader, shelf):
    x, seen = with_a_break(x, enumerate(loader, 5))
    return x, loader, seen, with_a_break(x, enumerate(shelf))[1]


@program("I12 B4", loaders, then=moved, **WRONG)
def zipped(x, loader, shelf):
    return *with_a_break(x, zip(loader, shelf)), loader


@program("I12 B4", lambda: [(t(2), Loader(3))], then=moved, **FEWER)
def zipped_strictly(x, loader):
    return *with_a_break(x, zip("abc", loader, strict=True)), loader


@program("I12 B4", loaders, then=moved, **WRONG)
def mapped(x, loader, shelf):
    return *with_a_break(x, map(lambda a, b: a * b, loader, shelf)), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def filtered(x, loader, shelf):
    x, seen = with_a_break(x, filter(None, loader))
    return x, loader, seen, with_a_break(x, itertools.filterfalse(lambda n: n == 2, shelf))


@program("I12 B4", loaders, then=moved, **FEWER)
def in_chunks(x, loader, shelf):
    return *with_a_break(x, zip(*[iter(loader)] * 2)), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def one_in_another(x, loader, shelf):
    return *with_a_break(x, enumerate(zip(map(str, loader), itertools.islice(shelf, 1, None)))), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def sliced(x, loader, shelf):
    x, seen = with_a_break(x, itertools.islice(loader, 3))
    return x, loader, seen, with_a_break(x, itertools.islice(shelf, 1, None))


@program("I12 B4", loaders, then=moved, **FEWER)
def chained(x, loader, shelf):
    x, seen = with_a_break(x, itertools.chain(loader, shelf, loader))
    return x, loader, seen, with_a_break(x, itertools.chain.from_iterable([shelf, loader]))


@program("I12 B4", loaders, then=moved, **FEWER)
def cycled(x, loader, shelf):
    return *with_a_break(x, itertools.islice(itertools.cycle(loader), 9)), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def taken_and_dropped_while(x, loader, shelf):
    x, seen = with_a_break(x, itertools.takewhile(lambda n: n < 4, loader))
    return x, loader, seen, with_a_break(x, itertools.dropwhile(lambda n: n < 2, shelf))


@program("I12 B4", loaders, then=moved, **FEWER)
def accumulated(x, loader, shelf):
    x, seen = with_a_break(x, itertools.accumulate(loader))
    return x, loader, seen, with_a_break(x, itertools.accumulate(shelf, max, initial=2))


@program("I12 B4", loaders, then=moved, **FEWER)
def starred(x, loader, shelf):
    return *with_a_break(x, itertools.starmap(pow, zip(loader, shelf))), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def compressed(x, loader, shelf):
    return *with_a_break(x, itertools.compress(loader, shelf)), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def in_pairs(x, loader, shelf):
    x, seen = with_a_break(x, itertools.pairwise(loader))
    return x, loader, seen, with_a_break(x, itertools.pairwise(shelf))


@program("I12 B4", loaders, then=moved, **FEWER)
def zipped_to_the_longest(x, loader, shelf):
    return *with_a_break(x, itertools.zip_longest(loader, "ab", shelf)), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def grouped(x, loader, shelf):
    x, seen = with_a_break(x, ((key, list(group)) for key, group in itertools.groupby(loader, lambda n: n // 2)))
    return x, loader, seen


@program("I12 B4", loaders, then=moved, **FEWER)
def forked(x, loader, shelf):
    a, b = itertools.tee(loader)
    return *with_a_break(x, a), list(b), loader


@program("I12 B4", loaders, then=moved, **FEWER)
def by_itself(x, loader, shelf):
    x, seen = with_a_break(x, loader)
    return x, loader, seen, with_a_break(x, shelf)


@program("I8 B4", loaders, then=moved, **FEWER)
def in_a_generator(x, loader, shelf):
    def doubled(over):
        for n in over:
            yield 2 * n

    x, seen = with_a_break(x, doubled(loader))
    return x, loader, seen, with_a_break(x, doubled(enumerate(shelf)))


@program("I8 B4", loaders, then=moved, **FEWER)
def delegated_to(x, loader, shelf):
    def all_of(*each):
        for one in each:
            yield from one

    return *with_a_break(x, all_of(loader, shelf)), loader


def started_outside(make):
    loader = Loader()
    made = make(loader)
    next(made)
    return [(t(2), made, loader)]


@program("I12", lambda: started_outside(lambda loader: zip(loader, "abcd")), then=moved, **FEWER)
def zip_from_outside(x, pairs, loader):
    n, letter = next(pairs)
    return x + n, loader, letter, list(pairs)


@program("I12", lambda: started_outside(lambda loader: zip(Shelf(), loader, strict=True)), then=moved, **FEWER)
def zip_over_what_has_no_iter(x, pairs, loader):
    n, m = next(pairs)
    return x + n * m, loader, list(pairs)


@program("I12", lambda: started_outside(lambda loader: map(lambda n: 2 * n, loader)), then=moved, **FEWER)
def map_from_outside(x, numbers, loader):
    return *with_a_break(x + next(numbers), numbers), loader


@program("I12", lambda: started_outside(lambda loader: filter(None, loader)), then=moved, **FEWER)
def filter_from_outside(x, numbers, loader):
    return x + next(numbers), loader, list(numbers)


@program(
    "I12", lambda: started_outside(lambda loader: itertools.starmap(pow, zip(loader, loader))), then=moved, **FEWER
)
def starmap_from_outside(x, numbers, loader):
    return x + next(numbers), loader, list(numbers)


@program("I12", lambda: started_outside(lambda loader: itertools.compress(loader, [1] * 9)), then=moved, **FEWER)
def compress_from_outside(x, numbers, loader):
    return x + next(numbers), loader, list(numbers)


@program(
    "I12",
    lambda: started_outside(lambda loader: itertools.filterfalse(lambda n: n == 9, loader)),
    then=moved,
    **FEWER,
)
def filterfalse_from_outside(x, numbers, loader):
    return x + next(numbers), loader, list(numbers)


@program("I12", lambda: started_outside(lambda loader: enumerate(loader)), then=moved, **FEWER)
def enumerate_from_outside(x, numbers, loader):
    i, n = next(numbers)
    return x + i * n, loader, list(numbers)


@program("I12 B4", loaders, then=moved, **FEWER)
def handed_out_after_the_trace(x, loader, shelf):
    pairs = zip(loader, shelf)
    next(pairs)
    return x + 1, loader, enumerate(pairs)


@program("I12 B4", loaders, then=lambda r: (moved(r), list(r[2]), moved(r)), **FEWER)
def left_half_way(x, loader, shelf):
    numbers = enumerate(map(str, loader))
    next(numbers)
    torch._dynamo.graph_break()
    next(numbers)
    return x + 1, loader, numbers
