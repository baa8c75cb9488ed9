"""`str`, f-strings, `bytes` and formatting."""

from tests.conformance.program import program, t


@program("I11")
def f_strings(x):
    n, name = 3, "w"
    return x + 1, f"{n}", f"{name!r:>6}", f"{n:04d}|{2.5:.3f}|{n=}", f"{name}{{}}", f"{[n, name]}", f"{n:{n}}"


@program("I11")
def f_string_of_a_shape(x):
    return x + 1, f"{x.shape} {tuple(x.shape)} {x.dtype} {x.dim()}"


@program("I11 I14")
def f_string_of_a_tensor(x):
    y = x + 1
    return f"{y}", y


@program("I11 I14")
def str_of_a_tensor_value(x):
    y = x.sum()
    return str(y.item()), f"{y.item():.2f}"


@program("I11", differs="torch_differs", why="format() ignores its second argument")
def percent_and_format(x):
    return x + 1, "%s-%d-%.2f" % ("a", 3, 2.5), "%(k)s" % {"k": 1}, "{} {k} {}".format(1, 3, k=2), format(3, "b")


@program("I11")
def case_methods(x):
    s = "hello World"
    return x + 1, s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase(), s.casefold()


@program("I11")
def split_and_join(x):
    s = "a,b,,c"
    parts = s.split(",")
    lines = "p\nq\r\n".splitlines()
    return x + len(parts), parts, s.split(",", 1), s.rsplit(",", 1), "  a b ".split(), lines, "-".join(parts)


@program("I11")
def strip_and_pad(x):
    s = "  ab "
    return (
        x + 1,
        s.strip(),
        s.lstrip(),
        s.rstrip(),
        "xxaxx".strip("x"),
        "7".zfill(3),
        "a".center(5, "*"),
        "a".ljust(3),
    )


@program("I11")
def find_and_replace(x):
    s = "banana"
    return x + s.find("na"), s.rfind("na"), s.find("z"), s.index("n"), s.count("a"), s.replace("a", "o", 2)


@program("I11")
def prefix_and_suffix(x):
    s = "layer.weight"
    return (
        x + 1,
        s.startswith("layer"),
        s.endswith((".bias", ".weight")),
        s.removeprefix("layer."),
        s.removesuffix("t"),
    )


@program("I11")
def partition(x):
    return x + 1, "a=b=c".partition("="), "a=b=c".rpartition("="), "abc".partition("z")


@program("I11")
def tests_on_characters(x):
    return x + 1, "12".isdigit(), "ab".isalpha(), "a1".isalnum(), " ".isspace(), "Ab".isupper(), "k".isidentifier()


@program("I11")
def indexing_and_iteration(x):
    s = "hello"
    for c in s:
        x = x + ord(c)
    return x, s[0], s[-1], s[1:3], s[::-1], [*s], "ell" in s, len(s)


@program("I11")
def concatenation_and_comparison(x):
    s = "a" + "b" * 3
    s += "c"
    return x + len(s), s, "a" < "b", "ab" == "ab", "a" != "A", max("abc"), sorted("cab")


@program("I11 I5", differs="torch_differs", why="str.index raises without a message")
def string_errors(x):
    messages = []
    for action in (
        lambda: "a" + 1,
        lambda: "abc".index("z"),
        lambda: int("x"),
        lambda: "a"[5],
    ):
        try:
            action()
        except Exception as error:  # noqa: BLE001
            messages.append((type(error).__name__, str(error)))
    return x + 1, messages


@program("I11")
def encode_and_decode(x):
    b = "hé".encode()
    return x + len(b), b, b.decode("utf-8"), bytes([65, 66]), b"ab" + b"c", b"abc"[1], bytearray(b"xy"), b"a".hex()


@program("I11")
def character_codes(x):
    return x + ord("a"), chr(98), repr("it's"), ascii("é"), hex(255), oct(8), bin(5), str(1.0), str(None)


@program("I11")
def translate_and_expand(x):
    table = str.maketrans("ab", "xy")
    return x + 1, "aabb".translate(table), "a\tb".expandtabs(4)


@program("I11", lambda: [(t(2), "relu"), (t(2), "sum"), (t(2), "relu")])
def string_argument_chooses(x, name):
    return getattr(x, name)() + 1


@program("I11")
def build_a_string_in_a_loop(x):
    text = ""
    for i in range(3):
        text += f"{i};"
        x = x + len(text)
    return x, text


@program("I11")
def string_dispatch_table(x):
    for word in "add mul add".split():
        x = {"add": lambda v: v + 1, "mul": lambda v: v * 2}[word](x)
    return x


@program("I11")
def multiline_and_raw(x):
    return (
        x + 1,
        r"\n",
        """a
b""",
        "tab\t",
        "\u00e9",
        "a\
b",
    )


@program(
    "I11",
    lambda: [(t(2), 3), (t(2), 4), (t(2), 5)],
    differs="fewer_breaks",
    why="torch leaves the frame to Python once the argument varies",
)
def f_string_of_an_argument(x, n):
    return x + n, f"n is {n}"


@program("I11")
def join_of_generated_strings(x):
    return x + 1, ", ".join(str(i) for i in range(3)), "".join(map(str, [1, 2])), "".join(reversed("abc"))


class Shout(str):
    def loud(self):
        return self.upper() + "!"


@program("I11 I10")
def subclass_of_str(x):
    s = Shout("hey")
    return x + len(s), s.loud(), s + "a", isinstance(s, str)


@program("I11 I10", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def format_and_str_methods_of_a_class(x):
    class Temperature:
        def __format__(self, spec):
            return f"<{spec}>"

        def __str__(self):
            return "str"

        def __repr__(self):
            return "repr"

    v = Temperature()
    return x + 1, f"{v:abc}", str(v), repr(v), f"{v!s} {v!r}", "%s" % v, [v].__len__()
