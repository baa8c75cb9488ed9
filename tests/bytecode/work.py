"""Real work for the standard library. Run as a script it prints what came out; with `--round-trip`, every module
(this one too) runs from code objects that were decoded and assembled again."""

from __future__ import annotations

import sys

ROUND_TRIPPED: list[str] = []


def install_round_trip() -> None:
    """From now on, source modules run from code that went through the bytecode layer; loaded ones load again."""
    import importlib.machinery as machinery
    import importlib.util
    from types import CodeType
    from typing import Any

    from tests.bytecode.programs import round_trip

    def get_code(self: Any, fullname: str) -> CodeType:
        ROUND_TRIPPED.append(fullname)
        path = self.get_filename(fullname)
        return round_trip(compile(self.get_data(path), path, "exec", dont_inherit=True))

    kept = {"__main__", "os", "io", "abc", "codecs", "site", "stat", "posixpath", "types", "sys", "builtins"}
    for name, module in list(sys.modules.items()):
        loader = getattr(module, "__loader__", None)
        unneeded = name.split(".")[0] not in kept | {"importlib", "encodings", "tests", "tracer_core"}
        if unneeded and isinstance(loader, machinery.SourceFileLoader):
            del sys.modules[name]
    machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    importlib.invalidate_caches()


def show(title: str, *values: object) -> None:
    print(f"{title}:", *map(repr, values))


def text_work() -> None:
    import csv
    import difflib
    import io
    import json
    import re
    import shlex
    import string
    import textwrap
    import tokenize

    data = {"a": [1, 2.5, None, True, {"nested": "\u00e9\n"}], "b": {"c": []}}
    for indent in (None, 2):
        for ensure_ascii in (True, False):
            text = json.dumps(data, indent=indent, ensure_ascii=ensure_ascii, sort_keys=True)
            show("json", text, json.loads(text, parse_float=str) == data, json.loads(text) == data)
    show(
        "py json",
        json.decoder.JSONDecoder().decode("[1, 2]"),
        list(json.encoder.JSONEncoder(indent=1).iterencode(data)),
    )
    try:
        json.loads('{"a": [1, }')
    except json.JSONDecodeError as error:
        show("json error", str(error))
    prose = "It was the best of times, it was the worst of times, it was the age of wisdom. " * 3
    show("textwrap", textwrap.wrap(prose, 30), textwrap.shorten(prose, 40), textwrap.indent("a\nb", "> "))
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, ["x", "y"], quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows([{"x": 1, "y": 'a "b"'}, {"x": 2, "y": "c,d"}])
    show(
        "csv",
        sheet.getvalue(),
        list(csv.DictReader(io.StringIO(sheet.getvalue()))),
        csv.Sniffer().sniff("a;b\n1;2\n").delimiter,
    )
    left, right = prose.split(), prose.replace("worst", "best").split()
    show("difflib", list(difflib.unified_diff(left, right))[:20], list(difflib.ndiff(left[:8], right[3:9])))
    show(
        "tokens",
        [each[:2] for each in tokenize.generate_tokens(io.StringIO("def f(a):\n  return f'{a}' + 1\n").readline)],
    )
    show("re", re.sub(r"(?P<w>\w+) of (?:the )?", r"<\g<w>>", prose), re.compile("(a|b)*c{2,3}?(?=d)", re.X).pattern)
    show(
        "shlex", shlex.split('a \'b c\' "d\\"e" f#g', comments=True), string.Template("$a ${b}").substitute(a=1, b=2)
    )


def number_work() -> None:
    import _pydecimal
    import colorsys
    import datetime
    import fractions
    import random
    import statistics

    decimal = _pydecimal
    with decimal.localcontext() as context:
        context.prec = 40
        two = decimal.Decimal(2)
        show("decimal", two.sqrt(), two.ln(), two.exp(), decimal.Decimal("1e-9").quantize(decimal.Decimal("1e-5")))
        show(
            "decimal",
            f"{two / 3:>+20,.3f}",
            divmod(decimal.Decimal(-7), 2),
            two**-5,
            hash(two),
            decimal.Decimal("nan"),
        )
        try:
            decimal.Decimal(1) / 0
        except ZeroDivisionError as error:
            show("decimal error", type(error).__name__, error.args)
    half = fractions.Fraction(1, 2)
    show(
        "fractions",
        half + 1,
        half / 3,
        round(half * 5),
        half**-3,
        fractions.Fraction("3.25").limit_denominator(3),
        half < 0.6,
    )
    numbers = [random.Random(5).gauss(0, 1) for _ in range(20)] + list(range(20))
    show("statistics", statistics.mean(numbers), statistics.pstdev(numbers), statistics.quantiles(numbers, n=5))
    show("statistics", statistics.multimode([1, 1, 2, 2]), statistics.linear_regression(range(20), numbers[:20]))
    generator = random.Random(3)
    items = list(range(12))
    generator.shuffle(items)
    show(
        "random",
        items,
        generator.sample(range(100), 5),
        generator.choices("abc", [1, 2, 3], k=6),
        generator.betavariate(1, 2),
    )
    show("dates", datetime.date(2024, 2, 29) + datetime.timedelta(366), colorsys.rgb_to_hls(0.1, 0.5, 0.7))


def structure_work() -> None:
    import argparse
    import ast
    import collections
    import copy
    import dataclasses
    import enum
    import functools
    import heapq
    import inspect
    import types
    import typing

    @dataclasses.dataclass(order=True, frozen=True)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)

    point = Point(1)
    show(
        "dataclass",
        point,
        dataclasses.replace(point, y=5),
        dataclasses.asdict(point),
        point < Point(3),
        hash(point) == hash(Point(1)),
    )
    try:
        point.x = 3  # type: ignore[misc]
    except dataclasses.FrozenInstanceError as error:
        show("frozen", str(error))

    class Colour(enum.Flag):
        RED = enum.auto()
        BLUE = enum.auto()
        BOTH = RED | BLUE

    show("enum", list(Colour), Colour.BOTH & Colour.RED, Colour(3), ~Colour.RED, enum.IntEnum("E", "a b").b + 1)
    parser = argparse.ArgumentParser(prog="prog", description="Does it.")
    parser.add_argument("--number", "-n", type=int, default=3, choices=range(9), help="how many (%(default)s)")
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run")
    run.add_argument("rest", nargs="*")
    show("argparse", parser.parse_args(["-n4", "run", "a", "b"]), parser.format_help())
    counter = collections.Counter("abracadabra")
    chain = collections.ChainMap({"a": 1}, {"b": 2})
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    show("collections", counter.most_common(2), counter - collections.Counter("aab"), dict(chain), ordered)
    pair = collections.namedtuple("pair", "a b", defaults=[3])
    show("named", pair(1)._replace(b=4), collections.UserDict(a=1), collections.UserList([1, 2])[::-1])
    heap = [5, 3, 8, 1]
    heapq.heapify(heap)
    show(
        "heapq",
        heapq.heappushpop(heap, 4),
        list(heapq.merge([1, 4], [2, 3], key=lambda n: -n)),
        heapq.nsmallest(2, heap),
    )
    tree = ast.parse("for i in x:\n    y = lambda a, *b: [i async for i in b if i]\n    z: int = f'{a!r:>3}'")
    show("ast", ast.dump(tree), ast.unparse(tree), ast.literal_eval("{1: (2, -3.5)}"))

    class Transform(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.copy_location(ast.Name(node.id * 2, node.ctx), node)

    show("ast", ast.unparse(Transform().visit(ast.parse("a + b(c)"))))

    @functools.singledispatch
    def kind(value: object) -> str:
        return "object"

    @kind.register
    def _(value: int) -> str:
        return "int"

    @functools.lru_cache(maxsize=3)
    def fibonacci(n: int) -> int:
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    show(
        "functools",
        kind(1),
        kind(""),
        fibonacci(60),
        fibonacci.cache_info(),
        functools.reduce(lambda a, b: a * b, range(1, 9)),
    )
    show("inspect", str(inspect.signature(kind.register)), inspect.signature(Point).bind(1, y=3).arguments)
    show(
        "typing", typing.get_type_hints(Point), typing.Optional[int], types.SimpleNamespace(a=copy.deepcopy([1, [2]]))
    )  # noqa: UP045


def control_work() -> None:
    import asyncio
    import contextlib
    import traceback
    import weakref

    def numbers(limit: int):  # type: ignore[no-untyped-def]
        received = []
        try:
            for number in range(limit):
                try:
                    received.append((yield number))
                except KeyError as error:
                    received.append(error.args)
        finally:
            print("closing", received)
        return received

    def delegating():  # type: ignore[no-untyped-def]
        got = yield from numbers(4)
        yield got

    generator = delegating()
    show(
        "generator",
        next(generator),
        generator.send("a"),
        generator.throw(KeyError("k")),
        next(generator),
        next(generator),
    )
    early = numbers(3)
    next(early)
    early.close()

    def matched(value: object) -> object:
        match value:
            case {"kind": str(kind), "at": [x, y, *rest], **more}:
                return kind, x, y, rest, more
            case [1 | 2 as first, *_]:
                return first
            case complex(real=re, imag=im) if re > im:
                return re
            case "a" | b"b" | None:
                return "literal"
            case [] | ():
                return "empty"
        return "nothing"

    subjects = [{"kind": "p", "at": (1, 2, 3), "z": 0}, [2, 5], 3 + 1j, 1 + 3j, "a", None, (), {"kind": 1}, 7]
    show("match", [matched(subject) for subject in subjects])

    def grouped(*errors: Exception) -> list[object]:
        log: list[object] = []
        try:
            try:
                raise ExceptionGroup("several", errors)
            except* ValueError as group:
                log.append(group.exceptions)
            except* (TypeError, KeyError) as group:
                log.append(str(group))
                raise RuntimeError("new") from group
        except* OSError:
            log.append("os")
        except* RuntimeError as group:
            log.append(group.exceptions[0].args)
        finally:
            log.append("finally")
        return log

    show("groups", grouped(ValueError(1), TypeError(2), OSError(3)), grouped(OSError(1)), grouped(ValueError()))

    @contextlib.contextmanager
    def managed(name: str):  # type: ignore[no-untyped-def]
        print("enter", name)
        try:
            yield name
        except ZeroDivisionError:
            print("swallowed in", name)
        finally:
            print("exit", name)

    with contextlib.ExitStack() as stack:
        stack.callback(print, "callback")
        for name in "xy":
            with managed(name) as outer, managed(outer * 2):
                if name == "y":
                    stack.enter_context(managed("deep"))
                    1 / 0
    with contextlib.suppress(KeyError), contextlib.nullcontext():
        {}["missing"]

    class Node:
        def __init__(self) -> None:
            self.cell = lambda: (__class__, self)  # type: ignore[name-defined]  # noqa: F821

    node = Node()
    show("cells", node.cell() == (Node, node), weakref.ref(node)() is node)

    async def ticks(limit: int):  # type: ignore[no-untyped-def]
        for number in range(limit):
            await asyncio.sleep(0)
            yield number

    async def program() -> list[object]:
        queue: asyncio.Queue[int] = asyncio.Queue()
        lock = asyncio.Lock()

        async def produce() -> None:
            async for number in ticks(4):
                async with lock:
                    await queue.put(number)

        results: list[object] = []
        async with asyncio.TaskGroup() as group:
            group.create_task(produce())
            results = [await queue.get() for _ in range(4)]
        try:
            async with asyncio.timeout(0.001):
                await asyncio.sleep(5)
        except TimeoutError as error:
            results.append(type(error).__name__)
        results.append([n async for n in ticks(3) if n % 2 == 0])
        results.append(await asyncio.gather(asyncio.sleep(0, "z"), return_exceptions=True))
        return results

    show("asyncio", asyncio.run(program()))

    def deep(level: int) -> None:
        if level == 0:
            with contextlib.nullcontext():
                (
                    [1, 2]
                    .copy()
                    [level + 9]
                )  # fmt: skip
        deep(level - 1)

    try:
        deep(3)
    except IndexError as error:
        try:
            raise ValueError("outer") from error
        except ValueError:
            print(traceback.format_exc())


if __name__ == "__main__":
    if "--round-trip" in sys.argv:
        install_round_trip()
    from tests.bytecode import work

    for part in (work.text_work, work.number_work, work.structure_work, work.control_work):
        part()
    print(*ROUND_TRIPPED, file=sys.stderr)
