"""Generators: consumed inside, sent to, thrown into, closed, leaving the trace."""

from tests.conformance.program import program, t


def count_up(n):
    for i in range(n):
        yield i


@program("I8")
def generator_in_a_for_loop(x):
    for i in count_up(3):
        x = x + i
    return x


@program("I8")
def generator_of_tensors(x):
    def parts():
        for i in range(3):
            yield x * i

    return sum(parts()), list(parts())


@program("I8")
def generator_expression(x):
    g = (x + i for i in range(3) if i)
    return [v * 2 for v in g], list(g)


@program("I8")
def next_by_hand(x):
    g = count_up(2)
    a, b, c = next(g), next(g), next(g, "done")
    return x + a + b, c


@program("I8 I5")
def exhausted_generator_raises(x):
    g = count_up(1)
    next(g)
    try:
        next(g)
    except StopIteration as stop:
        return x + 1, stop.value


@program("I8")
def return_value_of_a_generator(x):
    def g():
        yield 1
        return "result"

    it = g()
    next(it)
    try:
        next(it)
    except StopIteration as stop:
        return x + 1, stop.value


@program("I8", differs="torch_differs", why="the value of yield from is lost")
def yield_from(x):
    def outer():
        result = yield from inner()
        yield result
        yield from [10, 20]

    def inner():
        yield 1
        yield 2
        return 3

    return x + 1, list(outer())


@program("I8")
def send(x):
    def accumulate():
        total = 0
        while True:
            received = yield total
            if received is None:
                return
            total = total + received

    g = accumulate()
    next(g)
    g.send(x)
    return g.send(x + 1)


@program("I8 I5", differs="torch_differs", why="fails inside")
def throw(x):
    def g():
        try:
            yield 1
        except ValueError as error:
            yield f"caught {error}"
        finally:
            log.append("finally")

    log = []
    it = g()
    next(it)
    caught = it.throw(ValueError("v"))
    rest = list(it)
    return x + 1, caught, rest, log


@program("I8")
def close_runs_finally(x):
    log = []

    def g():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    it = g()
    first = next(it)
    it.close()
    return x + first, log, list(it)


@program("I8")
def loop_left_early(x):
    g = count_up(10)
    for i in g:
        if i == 2:
            break
    return x + next(g)


@program("I8")
def side_effects_interleave(x):
    log = []

    def g():
        for i in range(2):
            log.append(("yield", i))
            yield i

    for i in g():
        log.append(("got", i))
    return x + 1, log


@program("I8")
def infinite_generator(x):
    def naturals():
        n = 0
        while True:
            yield n
            n += 1

    total = 0
    for n in naturals():
        if n > 4:
            break
        total += n
    return x + total


@program("I8")
def generator_pipeline(x):
    def double(source):
        for v in source:
            yield v * 2

    def only_even(source):
        return (v for v in source if v % 4 == 0)

    return x + sum(only_even(double(count_up(5))))


@program("I8")
def recursive_generator(x):
    def walk(tree):
        if isinstance(tree, list):
            for each in tree:
                yield from walk(each)
        else:
            yield tree

    return x + sum(walk([1, [2, [3, 4]], 5]))


@program("I8", then=list, differs="torch_differs", why="leaves as a tuple iterator")
def generator_leaves(x):
    y = x + 1

    def g():
        yield y
        yield y * 2

    return g()


@program("I8", then=list, differs="torch_differs", why="leaves as a tuple iterator")
def half_consumed_generator_leaves(x):
    g = count_up(4)
    y = x + next(g)
    next(g)
    return g


@program(
    "I8 O7",
    lambda: [(t(2), count_up(4))],
    then=lambda r: None,
    differs="fewer_breaks",
    why="torch cannot go on with an iterator it was given",
)
def generator_as_argument(x, g):
    x = x + 1
    for i in g:
        x = x + i
        if i == 1:
            break
    return x


@program("I8")
def unpack_a_generator(x):
    a, b, *c = count_up(4)
    return (
        x + a + b,
        c,
        [*count_up(2)],
        (lambda *v: v)(*count_up(3)),
        dict(zip(count_up(2), "ab")),
        tuple(count_up(2)),
    )


@program("I8")
def builtins_over_generators(x):
    return (
        x + sum(count_up(4)),
        max(count_up(4)),
        sorted(i % 3 for i in range(5)),
        any(i > 1 for i in count_up(3)),
        ",".join(str(i) for i in count_up(2)),
        set(count_up(2)),
        list(enumerate(count_up(2))),
    )


@program("I8 I7")
def generator_with_closure_and_nonlocal(x):
    n = 0

    def g():
        nonlocal n
        for _ in range(3):
            n += 1
            yield n

    return x + sum(g()), n


@program("I8 I14", differs="fewer_breaks", why="torch leaves a frame that breaks in such a loop to Python")
def break_inside_a_generator(x):
    def g():
        for i in range(2):
            print("yielding", i)
            yield x + i

    total = 0
    for v in g():
        total = total + v
    return total


@program("I8 I14", differs="fewer_breaks", why="torch leaves a frame that breaks in such a loop to Python")
def break_between_items(x):
    total = x
    for i in count_up(3):
        total = total + i
        print("got", i)
    return total


@program("I8 I14", then=lambda r: None)
def generator_alive_across_a_break(x):
    g = count_up(4)
    y = x + next(g)
    print("break")
    return y + next(g) + sum(g)


@program("I8 I6")
def generator_inside_with(x):
    import torch

    def g():
        with torch.no_grad():
            yield x * 2

    return list(g()), torch.is_grad_enabled()


@program("I8 I15")
def program_that_is_a_generator_function(x):
    yield x + 1
    yield x * 2


@program("I8", lambda: [t(3, 2)])
def generator_over_tensor_rows(x):
    return sum(row.sum() for row in x)
