"""A graph break (`p` prints) in every position of an expression and of a statement, with values alive around it."""

from tests.conformance.program import program


def p(value, *more):
    print("p", value if not hasattr(value, "shape") else tuple(value.shape), *more)
    return value


@program("O6 I14")
def in_a_binary_operation(x):
    return (x + 1) * p(x * 2) - p(3)


@program("O6 I14")
def on_both_sides(x):
    return p(x + 1) + p(x - 1)


@program("O6 I14")
def in_nested_calls(x):
    return p(p(x + 1) + p(2)) * p(p(3))


@program(
    "O6 I14",
    differs="stricter",
    why="torch takes the index for a number that varies: functions made for other breaks share its memory of names",
)
def in_a_subscript_and_a_slice(x):
    a = [x, x + 1, x + 2, 7]
    return a[p(1)], a[p(0) : p(3) : p(2)], x[p(0)]


@program("O6 I14")
def in_a_store_subscript(x):
    a = {"k": [0, 0]}
    a[p("k")][p(1)] = p(x + 1)
    a["k"][p(0)] += p(5)
    return a


@program("O6 I14")
def in_an_augmented_assignment(x):
    y = x + 1
    y += p(2)
    y *= p(x)
    n = 1
    n -= p(4)
    return y, n


@program("O6 I14")
def in_container_displays(x):
    return [x, p(x + 1)], (p(1), x), {p("a"): x, "b": p(2)}, {p(3), 4}, [*p([1, 2]), x], {**p({"z": 1})}


@program("O6 I14")
def in_an_f_string(x):
    y = x + 1
    return f"{p(1)} and {p('s')!r:>5} {y.shape}", y * 2


@program("O6 I14 I3")
def in_boolean_operators(x):
    a = p(0) or p(2) and p(0) or p(5)
    b = p(1) and x + 1
    return x + a, b


@program("O6 I14 I3")
def in_a_conditional_expression(x):
    y = x + 1 if p(1) > 0 else x - 1
    z = p(x) if x.dim() == 2 else p(0)
    return y, z + (p(1) if p(0) else p(2))


@program(
    "O6 I14 I3",
    differs="stricter",
    why="torch puts the comparison of two constants in a graph: it takes them for numbers that vary",
)
def in_a_chained_comparison(x):
    ok = 0 < p(1) < p(2) < p(2) < p(9)
    return x + ok, p(1) in p([1, 2]), p(None) is None


@program("O6 I14 I3")
def in_an_if_condition(x):
    y = x + 1
    if p(y.shape[0]) > 1:
        y = y * 2
    elif p(True):
        y = y * 3
    return y


@program("O6 I14 I3", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def in_a_while_condition(x):
    n = 0
    while p(n) < 2:
        x = x + n
        n += 1
    return x * 2


@program("O6 I14 I3")
def in_the_iterable_of_a_loop(x):
    for i in p([1, 2]):
        x = x * i
    for i, j in zip(p(range(2)), p("ab")):
        x = x + i
    return x


@program("O6 I14 I3")
def in_the_else_of_a_loop(x):
    for i in range(2):
        x = x + i
    else:
        x = p(x * 2) + 1
    return x


@program("O6 I14 I3")
def in_an_assert(x):
    assert p(x.dim()) == 2, p("not reached")
    return x + 1


@program("O6 I14 I5")
def in_an_assert_message(x):
    y = x + 1
    assert y.dim() == 3, p("three dimensions, please")
    return y


@program("O6 I14 I3")
def in_unpacking(x):
    a, b = p((x + 1, 2))
    c, *d = p([3, 4, 5])
    (e, f), g = p((1, 2)), p(x)
    return a * b, c, d, e + f, g


@program("O6 I14", differs="fewer_breaks", why="torch leaves what follows the class to Python")
def in_attributes(x):
    class Box:
        pass

    box = Box()
    p(box, "made").value = p(x + 1)
    p(1)
    box.value += p(1)
    return box.value


@program("O6 I14 I9")
def in_arguments_of_every_kind(x):
    def f(a, b=0, *rest, c=0, **named):
        return a + b + sum(rest) + c + sum(named.values())

    return f(p(x), p(1), *p([2, 3]), c=p(4), **p({"d": 5})), f(x, b=p(2)), f(*p((x,)))


@program("O6 I14 I9")
def in_a_default_argument(x):
    def f(a, b=p(3)):
        return a * b

    return f(x) + f(x, 1)


@program("O6 I14 I7")
def in_a_decorator(x):
    def twice(f):
        p("decorating")
        return lambda v: f(f(v))

    @twice
    def g(v):
        return v + 1

    return g(x)


@program("O6 I14 I7")
def in_a_closure_that_writes(x):
    total = x * 0

    def add(v):
        nonlocal total
        total = total + p(v)
        return total

    add(x)
    first = add(1)
    return first, total, add(2)


@program("O6 I14 I7")
def in_a_recursive_call(x):
    def down(v, n):
        if n == 0:
            return p(v)
        return down(v + n, n - 1) * p(n)

    return down(x, 3)


@program("O6 I14 I12", differs="fewer_breaks", why="torch leaves the function that breaks to Python")
def in_a_sort_key_and_a_map(x):
    a = sorted([3, 1, 2], key=lambda v: p(-v))
    b = list(map(lambda v: p(v) + 1, [1, 2]))
    return x + sum(a), a, b, max([1, 2], key=p)


@program("O6 I14 I3", differs="fewer_breaks", why="torch leaves a comprehension that breaks to Python")
def in_every_comprehension(x):
    a = [p(i) for i in range(2)]
    b = {p(i): p(x + i).shape for i in range(2)}
    c = {p(i) for i in (1, 1)}
    d = sum(p(i) for i in range(3))
    return x + sum(a) + d, b, c


@program("O6 I14 I3")
def in_a_nested_comprehension(x):
    return [[p(i * j) for j in range(2)] for i in range(2)], x + 1


@program("O6 I14 I3", differs="fewer_breaks", why="torch leaves a comprehension that breaks to Python")
def in_a_comprehension_condition(x):
    k = 1
    return [x + i for i in range(3) if p(i) != k]


@program("O6 I14 I8")
def in_a_generator_body(x):
    def g(n):
        total = x
        for i in range(n):
            total = total + p(i)
            yield total

    return list(g(2)), sum(g(1))


@program("O6 I14 I3")
def in_match(x):
    match p([1, 2]):
        case [a, b] if p(a) == 1:
            return x + p(b)
    return x


@program("O6 I14 I3")
def in_a_walrus(x):
    if (n := p(3)) > 2:
        x = x + n
    return x, [m := p(1), m + 1]


@program("O6 I14 I13")
def around_an_import(x):
    p("before")
    import math

    return x * p(math.floor)(2.5)


@program("O6 I14")
def with_many_values_on_the_stack(x):
    return (x, [x + 1, (x + 2, {"k": [x + 3, p(x + 4)], "l": p(1)}, x + 5), p(2)], p(3))


@program("O6 I14", differs="fewer_breaks", why="torch leaves the frame to Python")
def twice_on_one_line_of_a_method_chain(x):
    return p(x).add(p(1)).mul(p(2)).sum()


@program("O6 I14 O7")
def with_aliases_alive(x):
    a = [x]
    b = a
    c = {"a": a, "b": b}
    p(1)
    a.append(x + 1)
    p(2)
    b.append(x + 2)
    return a, b, c, a is c["b"]


@program("O6 I14 O7", differs="fewer_breaks", why="torch does not go on with an iterator that has started")
def with_iterators_alive(x):
    it = iter([1, 2, 3, 4])
    y = x + next(it)
    p(1)
    z = y + next(it)
    e = enumerate("ab")
    next(e)
    p(2)
    return z, list(it), list(e)


@program("O6 I14 O7", differs="fewer_breaks", why="torch does not raise the UnboundLocalError itself")
def with_an_unbound_local_alive(x):
    if x.dim() == 3:
        late = 1
    p(1)
    y = x + 1
    try:
        return late
    except UnboundLocalError:
        return y
