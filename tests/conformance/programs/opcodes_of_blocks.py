"""Instructions of `try`, `with`, coroutines, loops and classes in uses that other files do not have."""

from tests.conformance.program import program


@program("I1 I5")
def exception_instructions(x):
    log = []
    for kind in (ValueError, KeyError, None):
        try:
            try:
                if kind:
                    raise kind("x")
                log.append("none")
            except ValueError as error:
                log.append(error.args)
            finally:
                log.append("f")
        except (KeyError, TypeError):
            log.append("outer")
    return x + 1, log


@program("I1 I5")
def exception_in_an_else_and_in_a_finally(x):
    log = []
    for where in ("else", "finally"):
        try:
            try:
                pass
            except ValueError:
                log.append("never")
            else:
                if where == "else":
                    raise ValueError("else")
            finally:
                if where == "finally":
                    raise KeyError("finally")
        except (ValueError, KeyError) as error:
            log.append(repr(error))
    return x + 1, log


@program("I1 I6")
def with_targets_of_every_kind(x):
    import contextlib

    class Box:
        pass

    box, items = Box(), [None]
    with contextlib.nullcontext((1, 2)) as (a, b), contextlib.nullcontext(x) as box.v:
        with contextlib.nullcontext(5) as items[0]:
            pass
    return x + a + b, box.v, items


@program(
    "I1 I8 I15",
    differs="stricter",
    why="torch compiles a coroutine for the values there when it is made; they may be others when it runs",
)
def coroutine_driven_by_hand(x):
    async def double(v):
        return v * 2

    async def main():
        return await double(x + 1)

    c = main()
    try:
        c.send(None)
    except StopIteration as stop:
        return stop.value


@program("I1 I8 I15", differs="torch_differs", why="fails inside")
def asyncio_run(x):
    import asyncio

    async def main(v):
        await asyncio.sleep(0)
        async with asyncio.Lock():
            return [i async for i in numbers()] + [v]

    async def numbers():
        for i in range(2):
            yield i

    y = x + 1
    return asyncio.run(main(y))


@program("I1", differs="torch_differs", why="in gives a tensor instead of a bool")
def is_and_contains_operators(x):
    a = [x]
    return x in a if a[0] is x else None, x is not a, "k" not in {"k": 1}, 3 not in range(3), x + 1


@program("I1")
def deletes_of_every_kind(x):
    class Box:
        pass

    box = Box()
    box.a = 1
    d, items, local = {"k": 1}, [1, 2, 3], 5
    del box.a, d["k"], items[0], items[-1:], local
    return x + 1, vars(box), d, items


@program("I1")
def annotated_assignments(x):
    a: int = 1
    b: "not evaluated"  # noqa: F842
    c: list[int] = [a]
    return x + a, c


@program("I1 I3")
def nested_conditionals_and_loops(x):
    out = []
    for i in range(4):
        j = 0
        while True:
            j += 1
            if j > i:
                break
            if (i + j) % 2:
                continue
            for k in (1, 2):
                if k == j:
                    break
            else:
                out.append((i, j))
        else:
            out.append("never")
    return x + len(out), out


@program("I1 I10")
def class_statements_with_everything(x):
    def tag(cls):
        cls.tagged = True
        return cls

    class Meta(type):
        pass

    @tag
    class Local(dict, metaclass=Meta):
        """Docs."""

        n: int = 3
        items_of = [i for i in range(3)]

        def __init__(self, **kw):
            super().__init__(**kw)

        @property
        def size(self):
            return len(self)

    v = Local(a=1)
    return x + v.n, v, v.size, Local.tagged, type(Local).__name__, Local.__doc__, Local.items_of
