"""`if`, `while`, `for`, `break`, `continue`, `else`, conditional expressions, `assert`, `match`."""

from tests.conformance.program import program, t

AFTER_NONE = "torch.compile runs a function as plain Python once a call of it had no operation"


@program("I3")
def while_countdown(x):
    n = 3
    while n:
        x = x + n
        n -= 1
    return x


@program("I3")
def while_true_with_break(x):
    n = 0
    while True:
        n += 1
        if n == 4:
            break
        if n % 2:
            continue
        x = x * n
    return x, n


@program("I3")
def while_else_runs(x):
    n = 2
    while n:
        n -= 1
        x = x + 1
    else:
        x = x * 10
    return x


@program("I3")
def while_else_skipped_by_break(x):
    n = 2
    while n:
        n -= 1
        break
    else:
        x = x * 10
    return x + n


@program("I3", lambda: [(t(2), [1, 2, 3]), (t(2), [1, 5])])
def for_else(x, numbers):
    for number in numbers:
        if number == 2:
            found = True
            break
    else:
        found = False
    return x + found


@program("I3")
def for_over_range(x):
    for i in range(4):
        x = x + i
    for i in range(10, 0, -3):
        x = x - i
    return x, i


@program("I3")
def for_over_an_empty_range(x):
    i = "untouched"
    for i in range(0):
        x = x * 100
    return x + 1, i


@program("I3")
def for_over_enumerate_and_zip(x):
    for i, (a, b) in enumerate(zip([1, 2, 3], (4, 5))):
        x = x + i * a * b
    return x


@program("I3")
def nested_loops_with_continue(x):
    for i in range(3):
        for j in range(3):
            if j == i:
                continue
            if j > i:
                break
            x = x + i * 10 + j
    return x


@program("I3", lambda: [(t(2), [t(2), t(2, start=3)]), (t(2), [t(2), t(2, start=3), t(2, start=5)])])
def for_over_a_list_of_tensors(x, tensors):
    for each in tensors:
        x = x + each
    return x


@program("I3", lambda: [(t(2), {"a": t(2), "b": t(2, start=4)})])
def for_over_dict_items(x, named):
    for name, value in named.items():
        x = x + value * len(name)
    return x, list(named), sum(1 for _ in named.values())


@program("I3", lambda: [t(3, 2)])
def for_over_a_tensor(x):
    total = 0
    for row in x:
        total = total + row
    return total


@program("I3", lambda: [t(3, 2)])
def unpack_a_tensor(x):
    a, b, c = x
    first, *rest = x.unbind(1)
    return a + b + c, first, rest


@program("I3")
def unpacking(x):
    (a, b), c = (1, 2), 3
    d, *e, f = [4, 5, 6, 7]
    *g, h = "xyz"
    [i, j] = range(2)
    return x + a + b + c, d, e, f, g, h, i, j


@program("I3")
def unpack_too_many_values(x):
    try:
        a, b = [1, 2, 3]
    except ValueError as error:
        return x + 1, str(error)


@program("I3")
def unpack_too_few_values(x):
    a, b, *c = [1]
    return x + a


@program("I3")
def swap_and_rotate(x):
    a, b, c = 1, 2, 3
    a, b = b, a
    a, b, c = c, a, b
    return x + a, a, b, c


@program("I3", lambda: [(t(2), 0), (t(2), 5), (t(2), -5)])
def if_elif_else_on_an_int(x, n):
    if n > 0:
        return x + n
    elif n == 0:
        return x * 2
    else:
        return x - n


@program("I3", lambda: [(t(2), None), (t(2), t(2, start=1))], differs="fewer_breaks", why=AFTER_NONE)
def none_or_tensor(x, y):
    if y is None:
        return x
    return x + y


@program("I3", lambda: [(t(2), []), (t(2), [0]), (t(2), "")])
def truth_of_containers(x, value):
    if not value:
        return x + 1
    return x * 2


@program("I3")
def boolean_short_circuit(x):
    log = []

    def note(value):
        log.append(value)
        return value

    a = note(0) or note(2) or note(3)
    b = note(1) and note(0) and note(5)
    return x + a + b, log


@program("I3")
def conditional_expression_chain(x):
    n = x.dim()
    word = "scalar" if n == 0 else "vector" if n == 1 else "matrix"
    return x + len(word), word


@program("I3")
def list_comprehension(x):
    parts = [x * i for i in range(4) if i % 2]
    return parts, len(parts)


@program("I3")
def nested_comprehension(x):
    grid = [[i * j for j in range(3)] for i in range(2)]
    flat = [cell for row in grid for cell in row if cell]
    return x + sum(flat), grid, flat


@program("I3")
def dict_and_set_comprehensions(x):
    squares = {i: i * i for i in range(4)}
    odd = {i for i in squares.values() if i % 2}
    return x + sum(odd), squares, odd


@program("I3")
def comprehension_of_tensors_by_name(x, y):
    named = {name: value + 1 for name, value in zip("ab", (x, y))}
    return named, [value.sum() for value in named.values()]


@program("I3")
def walrus(x):
    if (n := x.shape[1]) > 2:
        x = x + n
    seen = [m := k for k in range(3)]
    return x, n, m, seen


@program("I3")
def comprehension_variable_does_not_leak(x):
    i = "outer"
    doubled = [i * 2 for i in range(3)]
    return x + 1, i, doubled


@program("I3", lambda: [t(2, 3), t(3, 2)])
def assert_holds(x):
    assert x.dim() == 2, "needs a matrix"
    return x + 1


@program("I3 I5", lambda: [t(3)])
def assert_fails(x):
    assert x.dim() == 2, f"needs a matrix, not {x.dim()} dimension"
    return x + 1


@program(
    "I3 I5", lambda: [t(3)], differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python"
)
def assert_without_message(x):
    y = x + 1
    assert not y.shape
    return y


@program("I3", lambda: [(t(2), "add"), (t(2), "mul"), (t(2), "else")])
def match_literals(x, how):
    match how:
        case "add":
            return x + 1
        case "mul" | "times":
            return x * 2
        case _:
            return x


@program("I3", lambda: [(t(2), (1, 2)), (t(2), [3]), (t(2), [1, 2, 3, 4]), (t(2), "ab")])
def match_sequences(x, value):
    match value:
        case [a]:
            return x + a
        case (a, b):
            return x * a + b
        case [first, *rest]:
            return x - first, rest
        case other:
            return x, other


@program(
    "I3",
    lambda: [(t(2), {"op": "scale", "by": 3}), (t(2), {"op": "none"}), (t(2), {"a": 1, "b": 2})],
    differs="fewer_breaks",
    why=AFTER_NONE,
)
def match_mappings(x, value):
    match value:
        case {"op": "scale", "by": k}:
            return x * k
        case {"op": _}:
            return x
        case {"a": a, **rest}:
            return x + a, rest


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


@program("I3", lambda: [(t(2), 0), (t(2), 1), (t(2), 2), (t(2), 3)])
def match_classes(x, which):
    value = (Point(0, 5), Point(1, y=2), 7, "s")[which]
    match value:
        case Point(0, y):
            return x + y
        case Point(x=a, y=b) if a < b:
            return x * a + b
        case int(n):
            return x - n
        case str() as text:
            return x, text


@program("I3", differs="fewer_breaks", why="torch does not raise the UnboundLocalError itself")
def pass_and_del(x):
    a = x + 1
    b = a
    del a
    try:
        print(a)  # noqa: F821
    except UnboundLocalError as error:
        return b, str(error)


@program("I3")
def delete_items(x):
    numbers = list(range(6))
    named = {"a": 1, "b": 2}
    del numbers[0], numbers[-1], numbers[1:3], named["a"]
    return x + 1, numbers, named


@program("I3", lambda: [(t(2), 2), (t(2), 3)])
def loop_count_from_argument(x, n):
    for _ in range(n):
        x = x * 2
    return x


@program("I3", lambda: [(t(2), 4)])
def early_return_in_a_loop(x, n):
    for i in range(100):
        x = x + i
        if i == n:
            return x, i
    return None


@program("I3")
def star_expressions(x):
    a = [1, 2]
    b = {"k": 3}
    return x + 1, [*a, *range(2)], (*a, 9), {*a, 5}, {**b, "z": 4}, [*"ab"]


@program("I3")
def slices_of_sequences(x):
    s = list(range(10))
    s[2:4] = ["a", "b", "c"]
    s[::3] = [-1] * len(s[::3])
    return x + 1, s, s[-3:], s[::-2], s[1:9:4], (1, 2, 3)[::-1], "hello"[1:-1]


@program("I3")
def modify_list_while_iterating(x):
    numbers = [1, 2, 3, 4]
    for number in numbers:
        if number < 3:
            numbers.append(number * 10)
        x = x + number
    return x, numbers


@program("I3 I5")
def grow_dict_while_iterating(x):
    named = {"a": 1}
    for name in named:
        named[name + "x"] = 2
    return x + 1
