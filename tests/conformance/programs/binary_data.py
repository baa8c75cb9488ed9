"""`bytes`, `bytearray` and `memoryview`: all their methods, errors, and changes of arguments."""

from tests.conformance.program import program, t


@program("I11")
def bytes_methods_of_searching(x):
    b = b"hello world hello"
    found = [b.find(b"lo"), b.rfind(b"lo"), b.index(b"w"), b.rindex(b"h"), b.count(b"l"), b.startswith(b"he")]
    found += [b.endswith((b"x", b"lo")), b"wor" in b, 104 in b, b[0], b[-1], b[2:5], b[::-3]]
    return x + len(found), found


@program("I11")
def bytes_methods_of_changing(x):
    b = b"  Hello,World \t"
    found = [b.strip(), b.lstrip(), b.rstrip(b"\t "), b.lower(), b.upper(), b.swapcase(), b.title(), b.capitalize()]
    found += [b.replace(b"l", b"L", 2), b.split(b","), b.rsplit(b"o", 1), b.partition(b","), b.rpartition(b"o")]
    found += [b"a".center(5, b"*"), b"a".ljust(3), b"a".rjust(3, b"-"), b"-7".zfill(5), b"a\tb".expandtabs(4)]
    found += [b"ab".translate(bytes.maketrans(b"a", b"z")), b"ab".translate(None, b"a"), b",".join([b"a", b"b"])]
    found += [
        b"x\ny\r\n".splitlines(),
        b"x\ny".splitlines(True),
        b"prefix".removeprefix(b"pre"),
        b"a.b".removesuffix(b".b"),
    ]
    return x + len(found), found


@program("I11")
def bytes_questions_and_conversions(x):
    found = [b"ab".isalpha(), b"1".isdigit(), b"a1".isalnum(), b" ".isspace(), b"a".islower(), b"A".isupper()]
    found += [
        b"Ab".istitle(),
        b"a".isascii(),
        b"abc".hex(),
        b"abc".hex("-", 1),
        b"abc".decode(),
        b"abc".decode("ascii"),
    ]
    found += [bytes(3), bytes([1, 2]), bytes("é", "utf-8"), bytes.fromhex("00ff"), int.from_bytes(b"\x01\x00", "big")]
    found += [
        (258).to_bytes(2, "little"),
        list(b"ab"),
        tuple(b"ab"),
        sum(b"ab"),
        b"%d-%s" % (3, b"x"),
        b"a" * 3,
        b"a" + b"b",
    ]
    found += [b"a" < b"b", b"a" == "a", hash(b"a") == hash(b"a"), repr(b"'"), bytes(b"x"), bool(b""), max(b"az")]
    return x + len(found), found


@program("I11 I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def bytes_errors(x):
    found = []
    for run in (
        lambda: b"a"[5],
        lambda: b"a" + "b",
        lambda: b"a".index(b"z"),
        lambda: bytes([300]),
        lambda: bytes("a"),
        lambda: b"\xff".decode("utf-8"),
        lambda: bytes.fromhex("zz"),
        lambda: b"".join(["a"]),
        lambda: bytes(-1),
    ):
        try:
            run()
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return x + len(found), found


@program("I11", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def bytearray_made_and_changed(x):
    b = bytearray(b"abc")
    b.append(100)
    b.extend(b"ef")
    b.insert(0, 65)
    b[1] = 66
    b[2:4] = b"XY"
    del b[-1]
    popped = b.pop()
    b.remove(65)
    b.reverse()
    b += b"!"
    b *= 2
    c = b.copy()
    c.clear()
    return x + len(b), b, popped, c, bytes(b), b.find(b"!"), b.upper(), b == bytes(b), list(b[:2])


@program("I11 O7", lambda: [(t(2), bytearray(b"abc"))])
def bytearray_argument_changed(x, b):
    b.append(100)
    b[0] += 1
    return x + len(b) + b[0], b, b is not None, b.decode()


@program("I11 I5")
def bytearray_errors(x):
    b = bytearray(b"a")
    found = []
    for run in (
        lambda: b.append(256),
        lambda: b.append("a"),
        lambda: b.pop(9),
        lambda: b.remove(1),
        lambda: hash(b),
        lambda: b[7],
    ):
        try:
            run()
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return x + len(found), found


@program("I11", differs="stricter", why="it is left to Python on purpose: no torch program does it")
def memoryview_of_bytes(x):
    m = memoryview(b"abcdef")
    part = m[1:4]
    return (
        x + len(m),
        bytes(part),
        m[0],
        part.tolist(),
        m.nbytes,
        m.readonly,
        m.format,
        m.shape,
        part == b"bcd",
        m.hex(),
    )


@program(
    "I11 O7",
    lambda: [(t(2), bytearray(b"abc"))],
    differs="stricter",
    why="what is viewed may be resized after the view",
)
def memoryview_writes_through(x, b):
    m = memoryview(b)
    m[0] = 122
    m[1:3] = b"yx"
    m.release()
    return x + b[0], b


@program("I11", lambda: [(t(2), b"ab"), (t(2), b"abc"), (t(2), b"ab")])
def bytes_argument(x, b):
    return x * len(b) + b[0], b.upper(), b is b
