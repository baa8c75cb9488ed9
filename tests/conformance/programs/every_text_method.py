"""Methods and operators of `str` and `bytes` that other files do not have."""

from tests.conformance.program import program, t


@program("I11")
def questions_to_a_text(x):
    words = ("Ab", "12", "½", "²", "A b", "a\n", "", "é", "A Title", "abc")
    return x + 1, [
        (
            w.isascii(),
            w.isdecimal(),
            w.isdigit(),
            w.isnumeric(),
            w.islower(),
            w.isupper(),
            w.isprintable(),
            w.istitle(),
        )
        for w in words
    ]


@program("I11", differs="torch_differs", why="the message of the error")
def places_in_a_text(x):
    s = "banana"
    try:
        s.rindex("x")
    except ValueError as error:
        message = str(error)
    return x + s.rindex("an"), s.rindex("an", 0, 4), s.rjust(8), s.rjust(8, "*"), s.rjust(2), message


@program("I11")
def format_map_with_a_mapping_of_ones_own(x):
    class Names(dict):
        def __missing__(self, key):
            return f"<{key}>"

    return x + 1, "{a} {b:>3}".format_map({"a": 1, "b": 2}), "{a} {z}".format_map(Names(a=1))


@program("I2 I11")
def operators_of_texts(x):
    a = "ab"
    b = a
    b *= 2
    b += "c"
    return x + 1, 2 * a, a * 0, -1 * a, a >= "aa", a <= "b", a > "b", a < "b", "%s-%5.2f" % (a, 1), a % (), b, a


@program("I2 I11")
def operators_of_bytes(x):
    a = b"ab"
    return (
        x + 1,
        2 * a,
        a >= b"aa",
        a <= b"b",
        a != b"ab",
        b"%d" % 3,
        str(b"x"),
        f"{a}",
        a[0],
        a[::-1],
        97 in a,
        a.__bytes__(),
    )


@program("I2 I11")
def bytes_on_the_right_of_percent(x):
    try:
        return x, 5 % b"x"
    except TypeError as error:
        return x + 1, str(error)


@program("I2 I11", lambda: [(t(2), "abc"), (t(2), "xyz")])
def text_of_the_caller(x, s):
    return x + len(s), 2 * s, s >= "b", s <= "b", s.isascii(), s.rindex(s[-1]), s.rjust(5, "-"), s.istitle()
