"""Functions, generators, classes and closures that a generated program defines inside. Part of `grammar`."""

from __future__ import annotations

from tests.conformance.grammar import Statement, Writer


def reads(w: Writer) -> dict[str, str]:
    """Some names of the enclosing function, read into locals of the inner one; assigning to them stays inside."""
    held: dict[str, str] = {}
    for known, kind in list(w.names.items()):
        if kind == "function":
            if w.chance(50):
                held[known] = kind
        elif kind in ("tensor", "int", "ints", "str", "box") and w.chance(25):
            w.put(f"{known}_in = {known}")
            held[f"{known}_in"] = kind
    return held


def inner_body(w: Writer, bound: dict[str, str], most: int = 2) -> None:
    """The statements of an inner function whose own names are `bound`."""
    outer, loops = dict(w.names), w.loops
    w.loops = 0
    w.functions += 1
    held = reads(w)
    w.names = {**bound, "items": "ints", "table": "dict", **held}
    w.body(most)
    w.functions -= 1
    w.loops = loops
    w.inner = dict(w.names)
    w.names = outer


def returned(w: Writer) -> str:
    """A tensor expression over the names the inner function just written has."""
    outer, w.names = w.names, w.inner
    value = w.expression("tensor", 1)
    w.names = outer
    return value


def inner_function(w: Writer) -> None:
    name, argument = w.fresh("function"), f"v{w.counter}"
    default = w.chance(30)
    head = f"{argument}, k={w.expression('int', 0)}" if default else argument
    with w.block(f"def {name}({head}):"):
        inner_body(w, {argument: "tensor", **({"k": "int"} if default else {})})
        w.put(f"return {returned(w)}")
    w.names[name] = "function"
    called = w.fresh("tensor")
    w.put(f"{called} = {name}({w.expression('tensor', 1)})")
    w.names[called] = "tensor"


def counting_closure(w: Writer) -> None:
    """A closure that writes an outer int, called twice with something in between."""
    counter, name = w.fresh("int"), w.fresh("function")
    w.put(f"{counter} = {w.expression('int', 0)}")
    with w.block(f"def {name}(v):"):
        w.put(f"nonlocal {counter}")
        w.put(f"{counter} = ({counter} + 1) % 9")
        w.put(f"return v + {counter}")
    w.names[counter] = "int"
    w.names[name] = "function"
    first = w.fresh("tensor")
    w.put(f"{first} = {name}({w.expression('tensor', 0)})")
    w.names[first] = "tensor"
    w.body(1)
    w.put(f"log.append({name}({first}))")


def closures_in_a_loop(w: Writer) -> None:
    name, item = w.fresh("functions"), w.fresh("int")
    bound = f"k={item}" if w.chance(50) else "k=0"
    w.put(f"{name} = []")
    with w.block(f"for {item} in range(2):"):
        w.put(f"{name}.append(lambda v, {bound}: v * {item} + k)")
    w.put(f"log.append([f({w.expression('tensor', 0)}) for f in {name}])")


def generator_function(w: Writer) -> None:
    name, item = w.fresh("generator"), w.fresh("int")
    closes = w.chance(30)
    with w.block(f"def {name}(m):"):
        with w.block("try:" if closes else "if True:"):
            with w.block("for j in range(m):"):
                inner_body(w, {"j": "int"}, 1)
                w.put("yield j + 1")
            if w.chance(25):
                w.put(f"yield from list({w.expression('ints', 0)})")
        if closes:
            with w.block("finally:"):
                w.put("log.append('generator ends')")
    # A generator that is dropped half-way runs its `finally` when it is collected; that is left to a program.
    use = w.pick(
        (
            f"log.append(list({name}({w.number(0, 3)})))",
            f"log.append(sum({name}({w.number(0, 3)})))",
            f"log.append(next({name}({w.number(0, 2)}), 'none'))" if not closes else "pass",
        )
    )
    if w.chance(50):
        w.put(use)
        return
    w.loops += not closes
    with w.block(f"for {item} in {name}({w.number(1, 3)}):"):
        w.names[item] = "int"
        w.body(2)
    w.loops -= not closes


def star_function(w: Writer) -> None:
    name = w.fresh("star")
    with w.block(f"def {name}(first, *rest, scale=1, **named):"):
        w.put("return first * scale + sum(rest) + sum(named.values())")
    calls = (
        "{0}({1})",
        "{0}({1}, {2})",
        "{0}({1}, *[{2}, 1], scale={2})",
        "{0}({1}, **dict(a={2}))",
        "{0}(*[{1}, {2}], scale=2, **{{'b': {2}}})",
        "{0}(first={1}, other={2})",
        "{0}(scale={2})",
    )
    result = w.fresh("tensor")
    w.put(f"{result} = " + w.pick(calls).format(name, w.expression("tensor", 0), w.expression("int", 0)))
    w.names[result] = "tensor"


def recursive_function(w: Writer) -> None:
    name, result = w.fresh("function"), w.fresh("tensor")
    with w.block(f"def {name}(v, depth=2):"):
        if w.chance(30):
            w.put("log.append(depth)")
        w.put("if depth == 0:")
        w.put("    " + w.pick(("return v", "return v * 2", "raise ValueError('deep')")))
        w.put(f"return {name}(v + {w.expression('int', 0)}, depth - 1)")
    w.put(f"{result} = {name}({w.expression('tensor', 0)})")
    w.names[result] = "tensor"


def finally_function(w: Writer) -> None:
    """Returns, breaks and raises that pass through `finally`."""
    name, result = w.fresh("function"), w.fresh("tensor")
    leaves = w.pick(("return v + 1", "raise KeyError('f')", "pass", "v = v * 2"))
    with w.block(f"def {name}(v):"):
        with w.block("for j in range(2):"):
            with w.block("try:"):
                w.put(f"if {w.expression('bool', 0)}:")
                w.put(f"    {leaves}")
                w.put(w.pick(("pass", "break", "continue")))
            if w.chance(40):
                with w.block("except KeyError:"):
                    w.put(w.pick(("log.append('caught')", "raise", "return v")))
            with w.block("finally:"):
                w.put(w.pick(("log.append(j)", "v = v + j", "print('finally', j)" if w.breaks else "pass")))
        w.put("return v")
    w.put(f"{result} = {name}({w.expression('tensor', 0)})")
    w.names[result] = "tensor"
    w.names[name] = "function"


def match_statement(w: Writer) -> None:
    subject, kind = w.pick((("ints", "ints"), ("int", "int"), ("dict", "dict")))
    one = {"a": "int"}
    cases: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
        "ints": (("case []:", {}), ("case [a]:", one), ("case [a, *b]:", {**one, "b": "ints"})),
        "int": (("case 0 | 1:", {}), ("case a if a > 2:", one), ("case int():", {})),
        "dict": (("case {'a': a}:", one), ("case {'b': a, **b}:", {**one, "b": "dict"}), ("case {}:", {})),
    }
    with w.block(f"match {w.expression(subject, 1)}:"):
        for head, bound in cases[kind]:
            with w.block(head):
                w.names.update(bound)
                w.body(1)


def walrus(w: Writer) -> None:
    name = w.fresh("int")
    with w.block(f"if ({name} := {w.expression('int', 1)}) > {w.number(0, 2)}:"):
        w.names[name] = "int"
        w.body(2)
    w.names[name] = "int"


def class_inside(w: Writer) -> None:
    """A class made inside, with a method that reads an outer name, a property, and a base of its own."""
    name, result = f"C{w.counter}", w.fresh("tensor")
    base = w.pick(("Box", "object", "Box"))
    with w.block(f"class {name}({base}):"):
        w.put(f"rate = {w.expression('int', 0)}")
        with w.block("def __init__(self, value):"):
            w.put("super().__init__(value)" if base == "Box" else "self.value = value")
            w.put("self.made = True")
        with w.block("def go(self, v):"):
            inner_body(w, {"v": "tensor"}, 1)
            w.put(f"return v * self.rate + {w.pick(('self.value', 'self.half', returned(w)))}")
        w.put("@property")
        with w.block("def half(self):"):
            w.put("return self.value / 2")
    w.put(f"{result} = {name}({w.expression('tensor', 0)}).go({w.expression('tensor', 0)})")
    w.names[result] = "tensor"
    if w.chance(30):
        w.put(f"{name}.rate = {w.expression('int', 0)}")
        w.put(f"log.append({name}(x).go(y))")


def decorated_function(w: Writer) -> None:
    name, result = w.fresh("function"), w.fresh("tensor")
    with w.block(f"def d{name}(f):"):
        w.put("@functools.wraps(f)")
        with w.block("def wrapper(*args, **kwargs):"):
            w.put(w.pick(("log.append(f.__name__)", "pass", "kwargs.setdefault('k', 2)", "args = (args[0] + 1,)")))
            w.put("return f(*args, **kwargs)")
        w.put("return wrapper")
    w.put(f"@d{name}")
    with w.block(f"def {name}(v, k=1):"):
        inner_body(w, {"v": "tensor", "k": "int"}, 1)
        w.put(f"return {returned(w)} * k")
    w.names[name] = "function"
    w.put(f"{result} = {name}({w.expression('tensor', 0)})")
    w.names[result] = "tensor"


def view_and_change(w: Writer) -> None:
    """A view of a tensor, changed in place; both stay alive."""
    view = w.fresh("tensor")
    w.put(f"{view} = {w.expression('tensor', 0)}.view(-1)")
    w.names[view] = "tensor"
    w.put(f"{view}{w.pick(('[1:] += 1', '.mul_(2)', '[0] = 5', '.neg_()'))}")


FUNCTIONS: tuple[Statement, ...] = (
    inner_function, counting_closure, closures_in_a_loop, generator_function, star_function, recursive_function,
    finally_function, match_statement, walrus, view_and_change, class_inside, decorated_function,
)  # fmt: skip
