"""Methods and operators of sequences that other files do not have, and instructions in uses of their own."""

from collections import UserList, UserString, deque

from tests.conformance.program import program, t


@program("I2 I11", differs="torch_differs", why="the result of an operator")
def operators_of_a_deque(x):
    d = deque([1, 2, x], maxlen=4)
    added, twice, reflected = d + deque([5]), d * 2, 2 * d
    compared = (deque([1]) < deque([2]), deque([1]) > deque([2]), deque([1]) <= deque([1]), deque([1]) >= deque([3]))
    del d[0], d[-1]
    return (
        x + 1,
        added,
        twice,
        reflected,
        compared,
        d,
        deque([1]) != deque([1]),
        repr(deque([1], 3)),
        d.count(2),
        d.maxlen,
    )


@program("I2 I11")
def operators_of_tuples_and_texts_of_them(x):
    a = (1, 2)
    return x + 1, 2 * a, a * 0, hash(a) == hash((1, 2)), {a: "k"}[1, 2], repr(a), f"{(1,)}", str(()), repr({"k": [1]})


@program("I5 I11")
def tuples_of_lists_have_no_hash(x):
    try:
        return hash(([],))
    except TypeError as error:
        return x + 1, str(error)


@program("I11 I12", differs="torch_differs", why="a result")
def user_list_and_user_string(x):
    a, s = UserList([1, x]), UserString("ab")
    a.append(3)
    b = a + [4]
    b.reverse()
    return x + 1, a.data, b.data, len(a), a[0], 3 in a, str(s + "c"), s.upper().data, "a" in s, s == "ab"


@program("I1 I2")
def in_place_operators_of_numbers(x):
    a, b, c, d = 17, 17, 2, x
    a %= 5
    b //= 5
    c **= 5
    d %= 3
    d //= 2
    d **= 2
    return d, a, b, c


@program("I1")
def many_names_after_a_starred_one(x):
    *a, b, c, d = range(6)
    e, f, *g, h, i = "abcdef"
    return x + b, a, c, d, e, f, g, h, i


@program("I1 I10")
def names_deleted_in_the_body_of_a_class(x):
    class Local:
        a = 1
        b = a + 1
        del a

    return x + Local.b, hasattr(Local, "a")


@program("I1 I5 I10", differs="fewer_breaks", why="torch runs it all in plain Python")
def names_deleted_that_the_body_of_a_class_has_not(x):
    try:

        class Local:
            del a  # noqa: F821
    except NameError as error:
        return x + 1, str(error)


@program("I2 I11", lambda: [(t(2), deque([1, 2, 3]), (1, 2)), (t(2), deque([4]), (3,))])
def sequences_of_the_caller(x, d, p):
    alias = d
    del d[0]
    out = (d + deque([x]), d * 2, d < deque([9]), 2 * p, hash(p) == hash(tuple(p)), d.count(2))
    return x + len(alias), out, alias
