"""Graph breaks: where they may stand, and what has to be alive after them."""

import torch

from tests.conformance.program import program, t


@program("I14 O6")
def print_in_the_middle(x):
    y = x + 1
    print("between", y.shape)
    return y * 2


@program("I14 O6")
def print_first_and_last(x):
    print("start")
    y = x + 1
    print("end")
    return y


@program("I14 O6")
def print_a_tensor(x):
    y = x + 1
    print(y)
    return y.sum()


@program("I14 O6", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def print_in_a_loop(x):
    for i in range(3):
        x = x + i
        print("step", i)
    return x * 2


@program("I14 O6", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def print_in_a_loop_over_a_list(x):
    for name in ["a", "b"]:
        x = x + len(name)
        print(name)
    else:
        print("done")
    return x


@program("I14 O6", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def print_in_a_while_loop(x):
    n = 3
    while n:
        x = x * n
        print(n)
        n -= 1
    return x


@program("I14 O6", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def print_in_nested_loops(x):
    for i in range(2):
        for j in range(2):
            x = x + i
            print(i, j)
            x = x * 2
    return x


def inner_prints(y):
    z = y + 1
    print("inner")
    return z * 2


@program("I14")
def break_in_an_inlined_call(x):
    y = x - 1
    z = inner_prints(y)
    return z + y


def middle(y):
    a = y + 1
    b = inner_prints(a)
    return a + b


@program("I14")
def break_two_calls_deep(x):
    y = x * 2
    return middle(y) - y


@program("I14")
def same_breaking_call_twice(x):
    return inner_prints(x) + inner_prints(x + 1)


@program("I14")
def breaking_call_in_a_loop(x):
    for _ in range(3):
        x = inner_prints(x)
    return x


@program("I14 O6")
def break_with_values_on_the_stack(x):
    return [x + 1, inner_prints(x), {"k": x - 1, "v": inner_prints(x + 2)}]


@program("I14 O6")
def break_among_call_arguments(x):
    return torch.add(x + 1, inner_prints(x), alpha=2)


@program("I14 O6 I6")
def break_in_no_grad(x):
    with torch.no_grad():
        y = x + 1
        print(torch.is_grad_enabled())
        y = y * 2
    return y + torch.is_grad_enabled()


@program("I14 O6 I6", lambda: [t(2, 3, grad=True)])
def break_in_no_grad_with_grad_input(x):
    with torch.no_grad():
        y = x + 1
        print("inside")
        z = y * 2
    return y, z, x * z


@program("I14 O6 I6", lambda: [t(2, 3, grad=True)])
def breaking_call_in_no_grad(x):
    with torch.no_grad():
        y = inner_prints(x)
    return y + x


@program("I14 O6 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def break_in_try(x):
    try:
        y = x + 1
        print("in try")
        y = y * 2
    except ValueError:
        y = x
    return y - 1


@program("I14 O6 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def break_in_try_then_raise(x):
    try:
        y = x + 1
        print("in try")
        raise ValueError("bad")
    except ValueError as error:
        return y * 2, str(error)


@program("I14 O6 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def break_in_except(x):
    try:
        raise KeyError("k")
    except KeyError as error:
        y = x + 1
        print("handling", error)
        z = y * 2
    return z


@program("I14 O6 I5")
def break_in_finally(x):
    try:
        y = x + 1
    finally:
        print("finally")
        z = x * 2
    return y + z


@program("I14 O6 I5", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def break_in_try_finally_return(x):
    try:
        print("try")
        return x + 1
    finally:
        print("finally")


@program("I14 O6 I3", differs="fewer_breaks", why="torch leaves the comprehension that breaks to Python")
def break_in_a_comprehension(x):
    return [inner_prints(x + i) for i in range(2)], x * 2


@program("I14 O6 I7")
def break_with_cells_alive(x):
    n = 1

    def bump():
        nonlocal n
        n += 1
        return n

    bump()
    print("now", n)
    bump()
    return x + n, n


@program("I14 O6 F4", then=lambda f: f(t(3)))
def closure_made_before_a_break_returned_after(x):
    y = x + 1

    def add(z):
        return z + y.sum()

    print("closure made")
    return add


@program("I14 O6 O7")
def list_mutated_around_a_break(x):
    log = [x]
    log.append(x + 1)
    print(len(log))
    log.append(log[-1] * 2)
    alias = log
    print(len(log))
    alias.append(3)
    return log, alias


@program("I14 O6 O7", lambda: [(t(2), [1], {"a": [2]})])
def inputs_mutated_around_a_break(x, numbers, named):
    numbers.append(2)
    named["b"] = numbers
    print(numbers, named)
    named["a"].append(x + 1)
    return x * 2


class Counter:
    def __init__(self):
        self.n = 0

    def bump(self):
        self.n += 1
        print("bumped to", self.n)
        return self.n


@program("I14 I10 O7", lambda: [(t(2), Counter())])
def break_in_a_method(x, counter):
    y = x + counter.bump()
    return y * counter.bump(), counter


class Lazy:
    @property
    def value(self):
        print("property read")
        return 3


@program("I14 I10", differs="fewer_breaks", why="torch leaves a frame that breaks in a property to Python")
def break_in_a_property(x):
    lazy = Lazy()
    y = x + lazy.value
    return y * 2


class Steps:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if not self.n:
            raise StopIteration
        self.n -= 1
        print("next", self.n)
        return self.n


@program("I14 I8 I10", differs="fewer_breaks", why="torch leaves a frame that breaks in __next__ to Python")
def break_in_an_iterator(x):
    for n in Steps(3):
        x = x + n
    return x * 2


@torch._dynamo.disable
def left_alone(y):
    return y * 3


@program("I14 F10")
def disabled_function(x):
    y = x + 1
    z = left_alone(y)
    return z - 1


@program("I14 F10")
def explicit_graph_break(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


@program("I14 O6", lambda: [(t(2), 1, 2, 3), (t(2), 1, 2, 4)])
def many_locals_alive(x, a, b, c):
    d, e = a + b, b + c
    f = [d, e]
    print(f)
    g = (a, b, c, d, e)
    return x + sum(g), f, g


@program("I14 O6")
def tensor_alias_across_a_break(x):
    y = x + 1
    z = y
    w = y.view(-1)
    print("alias")
    z.add_(1)
    return y, z, w


@program("I14 O7")
def input_changed_in_place_before_a_break(x):
    x.add_(1)
    print(float(x[0, 0]))
    x.mul_(2)
    return x.sum()


@program("I14 O6")
def tolist_and_item(x):
    values = (x * 4).tolist()
    n = int(x[0, 0].item())
    return x + n, values


@program("I14 O6 I3", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def break_then_break_statement(x):
    for i in range(5):
        print(i)
        if i == 1:
            break
        x = x + 1
    return x, i


@program("I14 O6")
def break_in_a_default_argument_call(x):
    def f(y, scale=2):
        print("f")
        return y * scale

    return f(x) + f(x, 3) + f(x, scale=4)


@program("I14 O6")
def break_in_a_lambda(x):
    f = lambda y: (print("lambda"), y + 1)[1]
    return f(x) * 2


@program("I14 O6 I9")
def break_with_star_arguments(x):
    def f(*args, **kwargs):
        print(len(args), sorted(kwargs))
        return sum(args) + kwargs["z"]

    args = [x, x + 1]
    return f(*args, z=x * 2) - 1


@program("I14 O6")
def conditional_break(x):
    if x.shape[0] == 2:
        print("two rows")
    return x + 1


@program("I14 O6", lambda: [t(2), t(3), t(4)])
def break_with_dynamic_shape(x):
    n = x.shape[0]
    y = x + n
    print("size", n)
    return y.reshape(1, n) * n
