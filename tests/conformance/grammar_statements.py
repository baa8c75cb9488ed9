"""The statements a generated program can have. Part of `grammar`."""

from __future__ import annotations

from tests.conformance.grammar import KINDS, Statement, Writer


def assign(w: Writer) -> None:
    kind = w.pick(("tensor", "tensor", "int", *KINDS))
    value = w.expression(kind)
    known = w.of(kind)
    name = w.pick(known) if known and kind != "function" and w.chance(40) else w.fresh(kind)
    w.put(f"{name} = {value}")
    w.names[name] = kind


def augment(w: Writer) -> None:
    kind = w.pick(("tensor", "int", "ints", "str", "set"))
    operators = {"tensor": ("+=", "*=", "-="), "int": ("+=", "-="), "set": ("|=", "-=")}
    names = w.of(kind)
    if not names:
        return assign(w)
    w.put(f"{w.pick(names)} {w.pick(operators.get(kind, ('+=',)))} {w.expression(kind, 1)}")


def alias(w: Writer) -> None:
    names = [name for name, kind in w.names.items() if kind != "function"]
    source = w.pick(names)
    name = w.fresh(w.names[source])
    w.put(f"{name} = {source}")
    w.names[name] = w.names[source]


def unpack(w: Writer) -> None:
    kinds = [w.pick(("tensor", "int")), w.pick(("int", "str"))]
    values = [w.expression(kind, 1) for kind in kinds]
    names = [w.fresh(kind) for kind in kinds]
    form = w.pick(("{0}, {1} = {2}, {3}", "({0}, {1}) = [{2}, {3}]", "{0}, *_, {1} = {2}, 0, {3}"))
    w.put(form.format(*names, *values))
    w.names.update(zip(names, kinds, strict=True))


def note(w: Writer) -> None:
    w.put(f"log.append({w.expression(w.pick(KINDS[:7]), 1)})")


def change_list(w: Writer) -> None:
    target = w.pick(w.of("ints"))
    value = w.expression("int", 1)
    forms = ("append({})", "insert(0, {})", "extend([{}, 1])", "remove({})", "pop({})", "sort()", "clear()")
    w.put(f"{target}." + w.pick(forms).format(value))


def set_item(w: Writer) -> None:
    target = w.pick(w.of("ints") + w.of("dict"))
    key = w.expression("int" if w.names[target] == "ints" else "str", 0)
    w.put(f"{target}[{key}] = {w.expression('int', 1)}")


def delete_item(w: Writer) -> None:
    target = w.pick(w.of("ints") + w.of("dict"))
    w.put(f"del {target}[{w.expression('int' if w.names[target] == 'ints' else 'str', 0)}]")


def change_dict(w: Writer) -> None:
    target = w.pick(w.of("dict"))
    forms = ("update({0})", "setdefault({1}, {2})", "pop({1}, None)", "pop({1})", "clear()", "popitem()")
    form = w.pick(forms)
    w.put(f"{target}." + form.format(w.expression("dict", 1), w.expression("str", 0), w.expression("int", 0)))


def change_tensor(w: Writer) -> None:
    targets = w.of("tensor")
    if not targets:
        return assign(w)
    forms = ("{}.add_({})", "{}.mul_({})", "{}[0] = {}", "{}[1:] += {}")
    w.put(w.pick(forms).format(w.pick(targets), w.expression("int", 0)))


def change_box(w: Writer) -> None:
    boxes = w.of("box")
    if not boxes:
        return assign(w)
    forms = ("{}.value = {}", "{}.count += {}", "{}.extra = {}", "{}.bump({})")
    form = w.pick(forms)
    w.put(form.format(w.pick(boxes), w.expression("tensor" if "value" in form else "int", 1)))


def change_tensors(w: Writer) -> None:
    targets = w.of("tensors")
    if not targets:
        return assign(w)
    form = w.pick(("{}.append({})", "{}[0] = {}", "{}.insert(0, {})"))
    w.put(form.format(w.pick(targets), w.expression("tensor", 1)))


def change_object(w: Writer) -> None:
    objects = w.of("settings") + w.of("row")
    if not objects:
        return assign(w)
    name = w.pick(objects)
    forms = {
        "settings": ("{}.scale = {}", "{}.notes.append({})", "{}.extra = {}", "del {}.scale"),
        "row": ("{}[0] = {}", "{}.values.append({})", "{}[-1] += {}"),
    }
    w.put(w.pick(forms[w.names[name]]).format(name, w.expression("int", 1)))


def chain(w: Writer) -> None:
    """One value bound to several names, and a swap."""
    first, second = w.fresh("int"), w.fresh("int")
    w.put(f"{first} = {second} = {w.expression('int', 1)}")
    w.put(f"{first}, {second} = {second} + 1, {first}")
    w.names |= {first: "int", second: "int"}


def change_global(w: Writer) -> None:
    w.put(f"TALLY = ({w.expression('int', 1)}) % 13" if w.chance(50) else "TALLY += 1")


def leave_loop(w: Writer) -> None:
    if not w.loops:
        return note(w)
    w.put(f"if {w.expression('bool', 1)}:")
    w.put("    " + w.pick(("break", "continue")))


def raise_error(w: Writer) -> None:
    kind = w.pick(("ValueError", "KeyError"))
    w.put(f"if {w.expression('bool', 1)}:")
    w.put(f"    raise {kind}({w.expression('str', 0)})")


def return_early(w: Writer) -> None:
    value = w.expression("tensor", 0) if w.functions else f"log, {w.expression('tensor', 0)}"
    w.put(f"if {w.expression('bool', 1)}:")
    w.put(f"    return {value}")


def check(w: Writer) -> None:
    w.put(f"assert {w.expression('bool', 1)}, {w.expression('str', 0)}")


def delete_name(w: Writer) -> None:
    names = [name for name in w.names if name not in ("x", "y", "n", "r", "items", "table") and w.depth == 1]
    if not names:
        return note(w)
    name = w.pick(names)
    w.put(f"del {name}")
    del w.names[name]


# --- compound statements ------------------------------------------------------------------------------
def if_else(w: Writer) -> None:
    with w.block(f"if {w.expression('bool')}:"):
        w.body()
    if w.chance(30):
        with w.block(f"elif {w.expression('bool', 1)}:"):
            w.body()
    if w.chance(50):
        with w.block("else:"):
            w.body()


def for_loop(w: Writer) -> None:
    item = w.fresh("int")
    heads = (
        (f"for {item} in range({w.number(0, 3)}):", {item: "int"}),
        (f"for {item} in [{w.expression('int', 0)}, {w.expression('int', 0)}]:", {item: "int"}),
        (f"for {item}, v{item} in enumerate([{w.expression('tensor', 0)}]):", {item: "int", f"v{item}": "tensor"}),
        (f"for {item} in list({w.expression('ints', 1)})[:3]:", {item: "int"}),
        (f"for k{item}, {item} in list(table.items()):", {item: "int", f"k{item}": "str"}),
        (f"for {item} in numbers({w.number(0, 3)}):", {item: "int"}),
        (f"for {item}, v{item} in zip(items[:2], [x, y, x]):", {item: "int", f"v{item}": "tensor"}),
    )
    head, bound = w.pick(heads)
    w.loops += 1
    with w.block(head):
        w.names.update(bound)
        w.body()
    w.loops -= 1
    if w.chance(15):
        with w.block("else:"):
            w.body(1)


def while_loop(w: Writer) -> None:
    turns = w.fresh("turns")
    w.put(f"{turns} = 0")
    w.loops += 1
    with w.block(f"while {turns} < {w.number(1, 3)}:"):
        w.put(f"{turns} += 1")
        w.body()
    w.loops -= 1


def try_except(w: Writer) -> None:
    with w.block("try:"):
        w.body()
        if w.chance(40):
            raise_error(w)
    kinds = w.pick(("ValueError", "KeyError", "(KeyError, IndexError)", "Exception", "ZeroDivisionError"))
    with w.block(f"except {kinds} as error:"):
        w.put("log.append(type(error).__name__)")
        w.body(2)
        if w.chance(15):
            w.put(w.pick(("raise", "raise RuntimeError('again') from error")))
    if w.chance(25):
        with w.block("else:"):
            w.body(1)
    if w.chance(30):
        with w.block("finally:"):
            w.put("log.append('finally')")
            loops, w.loops = w.loops, 0
            w.body(1)
            w.loops = loops


def with_block(w: Writer) -> None:
    both = "Noting(log), torch.no_grad()"
    managers = (
        "torch.no_grad()",
        "Noting(log)",
        "torch.enable_grad()",
        "Noting(log, True)",
        both,
        "torch.set_grad_enabled(False)",
        "torch.profiler.record_function('part')",
        "torch.autocast('cpu', dtype=torch.bfloat16)",
        "torch.inference_mode(), Noting(log)",
        "noted(log, 'block')",
        "contextlib.suppress(ValueError, ZeroDivisionError)",
        "contextlib.nullcontext(3)",
        "contextlib.ExitStack() as stack, noted(log, 'inner')",
    )
    with w.block(f"with {w.pick(managers)}:"):
        w.body()


def print_something(w: Writer) -> None:
    w.put(f"print({w.expression(w.pick(('int', 'str', 'ints', 'bool')), 1)})")


def branch_on_value(w: Writer) -> None:
    with w.block(f"if {w.expression('tensor', 1)}.sum() > {w.number(-3, 3)}:"):
        w.body(2)
    if w.chance(50):
        with w.block("else:"):
            w.body(2)


def read_value(w: Writer) -> None:
    name = w.fresh("int")
    w.put(f"{name} = int({w.expression('tensor', 0)}[0].item()) % 5")
    w.names[name] = "int"


SIMPLE: tuple[Statement, ...] = (
    assign, assign, assign, note, augment, alias, unpack, change_list, set_item, change_dict, change_tensor,
    change_box, change_object, chain,
    change_tensors, change_global, delete_item, leave_loop, leave_loop, check, return_early, raise_error,
    delete_name,
)  # fmt: skip
BREAKING: tuple[Statement, ...] = (print_something, print_something, read_value)
COMPOUND: tuple[Statement, ...] = (
    if_else, for_loop, while_loop, try_except, with_block, for_loop, if_else, try_except, with_block,
)  # fmt: skip
VALUES: tuple[Statement, ...] = (branch_on_value,)
