"""Iterators written as classes, generator expressions, and what generators are beside their items."""

from tests.conformance.program import program


@program("I8 I10")
def iterator_class(x):
    class Countdown:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    total = 0
    for i in Countdown(4):
        total += i
    return x + total, list(Countdown(2)), next(Countdown(1)), sum(Countdown(3))


@program("I8 I10")
def iter_method_that_is_a_generator(x):
    class Bag:
        def __init__(self, items):
            self.items = items

        def __iter__(self):
            for item in self.items:
                yield item
                yield -item

    return x + sum(Bag([1, 2])), list(Bag([3]))


@program("I8")
def generator_arguments_and_defaults(x):
    def g(a, *, step=1, **more):
        while a < 5:
            yield a
            a += step + len(more)

    return x + sum(g(0)), list(g(1, step=2)), list(g(0, z=1))


@program("I8")
def nested_generator_expressions(x):
    return x + sum(sum(i * j for j in range(i)) for i in range(4))


@program("I8")
def generator_expression_evaluates_its_source_at_once(x):
    items = [1, 2]
    g = (v for v in items)
    items = [100]
    return x + sum(g)


@program("I8")
def late_binding_in_a_generator_expression(x):
    k = 1
    g = (v * k for v in [1, 2])
    k = 10
    return x + sum(g)


@program("I8 I5", differs="torch_differs", why="another message")
def stop_iteration_inside_a_generator(x):
    def g():
        yield 1
        raise StopIteration

    try:
        list(g())
    except RuntimeError as error:
        return x + 1, str(error)


@program("I8")
def generator_types_and_truth(x):
    g = count_up(1)
    return x + 1, bool(g), iter(g) is g, type(g).__name__, hasattr(g, "send")


@program("I8 I15", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def coroutine_made_but_not_run(x):
    async def later():
        return 1

    c = later()
    c.close()
    return x + 1
